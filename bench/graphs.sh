#!/bin/sh
# Graphs of 100,000 operators through check and the default passes; twice the
# size must take about twice the time. A chain 20,000 deep. The graph passes of
# ResNet-50 and MobileNetV2.
. "$(dirname "$0")/lib.sh"

# Seconds of check and of the default passes on n operators.
graph()
{
	awk -v n="$1" -v deep="${2:-0}" -f "$here/graph.awk" >"$work/g.tn"
	a=$(cpu_seconds "$TENON" check "$work/g.tn") || die "check: exit $?"
	b=$(cpu_seconds "$TENON" opt "$work/g.tn") || die "opt: exit $?"
	awk "BEGIN { printf \"%.2f\", $a + $b }"
}

once=$(graph 50000) || exit 1
twice=$(graph 100000) || exit 1
ratio=$(awk "BEGIN { printf \"%.1f\", $twice / $once }")
row "100,000 operators, check and default passes" "$twice s" "5 s" \
	"$(verdict "$twice < 5")"
row "the same over 50,000 ($once s)" "$ratio times" "below 2.5" \
	"$(verdict "$ratio < 2.5")"
deep=$(graph 20000 1) || exit 1
row "a chain 20,000 deep, check and default passes" "$deep s" works yes

# The last pass that works on the graph.
last=fuse
"$TENON" list passes | grep -qw layout && last=layout

# Milliseconds of the graph passes of an example: the best of five.
passes()
{
	for i in 1 2 3 4 5; do
		"$TENON" opt --time-passes --stop-after=$last \
			"$top/examples/$1/$1.tn" 2>&1 >/dev/null |
			awk 'NF == 8 && $1 != "ms" { sum += $1 }
			     END { printf "%.1f\n", sum }'
	done | sort -n | head -n 1
}

for net in resnet mobilenet; do
	ms=$(passes $net)
	test -n "$ms" || die "opt failed"
	row "$net: graph passes, infer to $last" "$ms ms" "100 ms" \
		"$(verdict "$ms > 0 && $ms < 100")"
done

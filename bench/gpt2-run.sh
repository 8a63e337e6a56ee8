#!/bin/sh
# GPT-2, 12 layers: its passes up to fusion, and 128 tokens forward with random
# weights, with and without `fuse`.
. "$(dirname "$0")/lib.sh"

file=$top/examples/gpt2/gpt2.tn
ms=$("$TENON" opt --time-passes --stop-after=fuse "$file" 2>&1 >/dev/null |
	awk 'NF == 8 && $1 != "ms" { sum += $1 } END { printf "%.1f", sum }')
test -n "$ms" || die "opt failed"
row "GPT-2, 12 layers: graph passes, infer to fuse" "$ms ms" "100 ms" \
	"$(verdict "$ms > 0 && $ms < 100")"

tokens=$(awk 'BEGIN { for (i = 1; i <= 128; i++) printf " %d", i }')

# Milliseconds of a run with THREADS of the engine.
run()
{
	"$TENON" run "$work/$2.tne" --threads="$1" --time \
		-i "ids=1x128xi32=$tokens" -o "$work/$2.npz" 2>&1 |
		awk '/ms a run/ { print $1 }'
}

whole=infer,inline,unroll,fold,simplify,canonical,cse,dce,fuse,lower,schedule,plan
for name in plain fused; do
	passes=$whole
	test $name = fused || passes=$(echo $whole | sed 's/fuse,//')
	"$TENON" build --weights=random:1 --cache=none --passes=$passes \
		"$file" -o "$work/$name.tne" >/dev/null 2>"$work/log" ||
		die "$(cat "$work/log")"
done
a=$(run 1 plain)
b=$(run 1 fused)
c=$(run 2 fused)
"$TENON" compare "$work/plain.npz" "$work/fused.npz" >"$work/log" 2>&1 ||
	die "$(cat "$work/log")"
row "GPT-2 124M, 128 tokens, one thread (not fused: $a ms)" "$b ms" - -
row "the same, two threads" "$c ms" - -

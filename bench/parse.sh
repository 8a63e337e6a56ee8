#!/bin/sh
# How fast text is read: the parser alone, and `tenon check` (parse, names,
# types). A row for each.
. "$(dirname "$0")/lib.sh"
: "${BUILDDIR:=$(dirname "$TENON")}"

text=$work/big.tn
awk -v n=400000 -f "$here/graph.awk" >"$text"
bytes=$(wc -c <"$text")

make -s -C "$BUILDDIR" tests/unit/parse_rate >"$work/log" 2>&1 ||
	die "$(cat "$work/log")"
rate=$("$BUILDDIR/tests/unit/parse_rate" "$text") || die "the text does not parse"
row "parsing $((bytes / 1000000)) MB of text" "$rate MB/s" "20 MB/s" \
	"$(verdict "$rate >= 20")"

spent=$(cpu_seconds "$TENON" check "$text") || die "the text is refused"
row "\`tenon check\` of the same" \
	"$(awk "BEGIN { printf \"%.1f MB/s\", $bytes / 1e6 / $spent }")" - -

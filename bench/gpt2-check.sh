#!/bin/sh
# `tenon check` of GPT-2: the median of 21 runs, process start included.
. "$(dirname "$0")/lib.sh"

file=$top/examples/gpt2/gpt2.tn
i=0
while [ $i -lt 21 ]; do
	seconds "$TENON" check "$file" 2>"$work/log" ||
		die "$(cat "$work/log")"
	i=$((i + 1))
done >"$work/times"
ms=$(median <"$work/times" | awk '{ printf "%.1f", 1000 * $1 }')
row "\`tenon check examples/gpt2/gpt2.tn\`" "$ms ms" "20 ms" \
	"$(verdict "$ms < 20")"

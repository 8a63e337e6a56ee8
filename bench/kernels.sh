#!/bin/sh
# The share of the FMA peak that scheduled kernels reach: one thread, peak and
# kernels measured in one run. Rows for doc/bench.md; exit 1 if a result is
# wrong.
#
#   bench/kernels.sh [COMPILER...]     [gcc and clang, as far as found]
. "$(dirname "$0")/lib.sh"

avx512="-mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx2 -mfma
	-mprefer-vector-width=512"
avx2="-mavx2 -mfma"

# One kernel: name, instruction set, goal in percent, compiler.
measure()
{
	source=$here/kernels/$1.$2.tn
	out=$work/$1.$2.$4
	case $2 in
	avx512) flags=$avx512 width=512 ;;
	*) flags=$avx2 width=256 ;;
	esac
	case $1 in
	conv) kind=-DCONV what="3x3 conv, 64 to 64, 56x56" ;;
	*) kind= what="matmul 128x768x768" ;;
	esac
	"$TENON" emit "$source" --target=c:"$2" -o "$out" 2>"$work/log" ||
		die "$(cat "$work/log")"
	# shellcheck disable=SC2086
	"$4" -std=c11 -O3 -ffp-contract=off -fno-math-errno $flags $kind \
		-DHEADER="\"$1.h\"" -DNAME="$1" -DISA=$width -I"$out" \
		-o "$out/time" "$here/kernels.c" "$out/$1.c" -lm ||
		die "$4 cannot compile $1 for $2"
	figures=$("$out/time") || die "$1 for $2, $4: wrong result"
	share=$(echo "$figures" | awk '{ printf "%.0f", 100 * $2 / $1 }')
	row "$what, $2, $4" \
		"$(echo "$figures" | awk -v share="$share" '{ printf \
		"%s %% (%s of %s GF/s, best %s)", share, $2, $1, $3 }')" \
		"$3 % of FMA peak" "$(verdict "$share >= $3")"
}

if [ $# -eq 0 ]; then
	for compiler in gcc clang; do
		command -v $compiler >/dev/null 2>&1 && set -- "$@" $compiler
	done
fi
for compiler; do
	for isa in avx512 avx2; do
		case $isa in
		avx512) has avx512vl && has avx512dq ;;
		avx2) has avx2 && has fma ;;
		esac || {
			row "kernels, $isa" "this CPU lacks it" - skipped
			continue
		}
		measure matmul $isa 75 "$compiler"
		measure conv $isa 70 "$compiler"
	done
done

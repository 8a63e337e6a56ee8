#!/bin/sh
# Softmax and layernorm as `tenon emit` fuses and schedules them: elements a
# second on one thread, beside a copy of the same elements. The goals are the
# best of oneDNN and ONNX Runtime on AVX2 (Zen 3). Exit 1 if a result is wrong.
#
#   bench/rows.sh [COMPILER...]     [gcc and clang, as far as found]
. "$(dirname "$0")/lib.sh"

# One function: softmax or layernorm, rows, columns, goal, compiler.
measure()
{
	out=$work/$1.$2.$5
	case $1 in
	softmax) kind= params= body="softmax(x, axis=1)" ;;
	*) kind=-DNORM params=", g: f32[$3], b: f32[$3]" \
		body="layernorm(x, g, b)" ;;
	esac
	printf 'tenon 1.0;\nfn rows(x: f32[%s, %s]%s) -> f32[%s, %s] {\n%s\n}\n' \
		"$2" "$3" "$params" "$2" "$3" "  return $body;" >"$work/rows.tn"
	"$TENON" emit "$work/rows.tn" --target=c:avx2 -o "$out" 2>"$work/log" ||
		die "$(cat "$work/log")"
	# shellcheck disable=SC2086
	"$5" -std=c11 -O3 -ffp-contract=off -fno-math-errno -mavx2 -mfma $kind \
		-DHEADER="\"rows.h\"" -DNAME=rows -DROWS="$2" -DCOLUMNS="$3" \
		-I"$out" -o "$out/time" "$here/rows.c" "$out/rows.c" -lm ||
		die "$5 cannot compile $1"
	figures=$("$out/time") || die "$1 $2x$3, $5: wrong result"
	row "$1 ${2}x$3, avx2, $5" \
		"$(echo "$figures" | awk '{ printf \
		"%s Gel/s (best %s; a copy %s)", $2, $3, $1 }')" \
		"$4 Gel/s" \
		"$(verdict "$(echo "$figures" | cut -d' ' -f2) >= $4")"
}

if [ $# -eq 0 ]; then
	for compiler in gcc clang; do
		command -v $compiler >/dev/null 2>&1 && set -- "$@" $compiler
	done
fi
for compiler; do
	if ! has avx2 || ! has fma; then
		row "rows, avx2" "this CPU lacks it" - skipped
		continue
	fi
	measure softmax 1536 128 1.27 "$compiler"
	measure softmax 12 1024 0.90 "$compiler"
	measure softmax 1 50240 1.25 "$compiler"
	measure layernorm 128 768 1.79 "$compiler"
done

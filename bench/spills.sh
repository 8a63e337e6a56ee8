#!/bin/sh
# Counts the vector registers that compilers spill to the stack in the emitted
# kernels of bench/kernels; TAP, one case a kernel and compiler. A spill is a
# move between a vector register and a fixed place of the stack frame.
# Cross-compiles: no CPU flag is needed. 77: skipped, not an x86.
: "${SRCDIR:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${BUILDDIR:=$SRCDIR/build}"
: "${TENON:=$BUILDDIR/tenon}"

case $(uname -m) in
x86_64 | amd64) ;;
*) echo "1..0 # SKIP not an x86" && exit 77 ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/tenon-spills.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Vector moves that name a fixed place of the frame.
spills()
{
	grep -cE '^[[:space:]]+v[a-z0-9]+[[:space:]].*-?[0-9]*\(%r[sb]p\)' "$1"
}

# Spills in a kernel file emitted for an instruction set: a number, or "none"
# with the reason on standard error.
count()
{
	base=$(basename "$1")
	base=${base%%.*}
	case $2 in
	avx512) flags="-mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx2
		-mfma -mprefer-vector-width=512" ;;
	*) flags="-mavx2 -mfma" ;;
	esac
	rm -rf "$work/out"
	# shellcheck disable=SC2086
	if "$TENON" emit "$1" --target=c:"$2" -o "$work/out" 2>"$work/log" &&
	   $3 -std=c11 -O3 -ffp-contract=off -fno-math-errno $flags -S \
		-o "$work/code.s" "$work/out/$base.c" 2>"$work/log"; then
		spills "$work/code.s"
	else
		sed 's/^/# /' "$work/log" >&2
		echo none
	fi
}

number=0 failed=0
report()
{
	number=$((number + 1))
	if [ "$1" = yes ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

# Twice the rows do not fit into 16 registers: the count must see that.
sed 's/split(i, 4)/split(i, 8)/' "$SRCDIR/bench/kernels/matmul.avx2.tn" \
	>"$work/large.avx2.tn"
for compiler in gcc clang; do
	command -v $compiler >/dev/null 2>&1 || continue
	for kernel in "$SRCDIR"/bench/kernels/*.tn; do
		name=$(basename "$kernel" .tn)
		found=$(count "$kernel" "${name#*.}" $compiler)
		[ "$found" = 0 ] && verdict=yes || verdict=no
		report $verdict "$name, $compiler: $found spills"
	done
	found=$(count "$work/large.avx2.tn" avx2 $compiler)
	[ "$found" != none ] && [ "$found" -gt 0 ] && verdict=yes || verdict=no
	report $verdict "a tile too large, $compiler: $found spills"
done
echo "1..$number"
exit $failed

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

number=0 failed=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null 2>&1 || continue
	for kernel in "$SRCDIR"/bench/kernels/*.tn; do
		name=$(basename "$kernel" .tn)
		isa=${name#*.}
		case $isa in
		avx512) flags="-mavx512f -mavx512vl -mavx512bw -mavx512dq
			-mavx2 -mfma -mprefer-vector-width=512" ;;
		*) flags="-mavx2 -mfma" ;;
		esac
		number=$((number + 1))
		out=$work/$name
		rm -rf "$out"
		# shellcheck disable=SC2086
		if "$TENON" emit "$kernel" --target=c:"$isa" -o "$out" \
			2>"$work/log" &&
		   $compiler -std=c11 -O3 -ffp-contract=off \
			-fno-math-errno $flags -S -o "$work/$name.s" \
			"$out/${name%%.*}.c" 2>"$work/log"; then
			count=$(spills "$work/$name.s")
		else
			sed 's/^/# /' "$work/log"
			count=none
		fi
		if [ "$count" = 0 ]; then
			echo "ok $number - $name $compiler"
		else
			echo "not ok $number - $name $compiler: $count spills"
			failed=1
		fi
	done
done
echo "1..$number"
exit $failed

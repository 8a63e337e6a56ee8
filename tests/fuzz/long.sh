#!/bin/sh
# Many random modules: long.sh [FIRST-SEED [COUNT]], 20,000 from seed 1 unless
# said otherwise. Interprets all of them after each pass of each set of passes,
# and compiles one in ten, ten to a module. Says what failed as it comes; the
# last line adds all up. BUILDDIR: where tests/fuzz/fuzz was built [build].
: "${BUILDDIR:=$(dirname "$0")/../../build}"
first=${1:-1}
count=${2:-20000}
here=$(cd "$(dirname "$0")" && pwd) || exit 2
fuzz=$(cd "$BUILDDIR" && pwd)/tests/fuzz/fuzz || exit 2
[ -x "$fuzz" ] || { echo "make tests/fuzz/fuzz first" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 2

# run SEED OPTION...: the modules of m.tn; adds to the sums.
failed=0
run() {
	seed=$1
	shift
	nice "$fuzz" "$@" m.tn >out
	status=$?
	grep -v '^[0-9]* modules' out
	if [ $status -gt 1 ]; then
		echo "FAIL stopped with $status at seed $seed and on: $*"
		failed=$((failed + 1))
	fi
	failed=$((failed + $(sed -n 's/.* \([0-9]*\) failed.*/\1/p' out)))
}

seed=$first
done=0
compiled=0
while [ $done -lt "$count" ]; do
	part=$((count - done))
	[ $part -le 500 ] || part=500
	python3 "$here/generate.py" --seed $seed --count $part >m.tn || exit 2
	run $seed
	python3 "$here/generate.py" --seed $seed --count $((part / 10)) \
		--bundle 10 >m.tn || exit 2
	[ ! -s m.tn ] || run $seed --compile
	compiled=$((compiled + part / 10))
	done=$((done + part))
	seed=$((seed + part))
	echo "# $done of $count, $failed failed"
done
echo "seeds $first to $((seed - 1)): $done interpreted, $compiled compiled, $failed failed"
[ $failed -eq 0 ]

#!/bin/sh
# Runs every benchmark and writes the table to doc/bench.md (or the file named).
. "$(dirname "$0")/lib.sh"

out=${1:-$top/doc/bench.md}
{
	echo "# Measured"
	echo
	echo "Written by \`bench/run.sh\`; bench/README.md says what each row is."
	echo
	echo "CPU: $(cpu), $(getconf _NPROCESSORS_ONLN) cores online."
	for compiler in gcc clang; do
		command -v $compiler >/dev/null 2>&1 &&
			echo "$compiler: $($compiler --version | head -n 1)."
	done
	echo
	echo "| what | measured | goal | met |"
	echo "|---|---|---|---|"
} >"$work/table"
failed=0
for script in parse graphs gpt2-check gpt2-run edit kernels rows onnx-large; do
	TENON=$TENON CC=$CC sh "$here/$script.sh" >>"$work/table" || failed=1
done
echo >>"$work/table"
TENON=$TENON CC=$CC sh "$here/conv.sh" >>"$work/table" || failed=1
cat "$work/table"
test $failed = 0 || die "a benchmark failed; $out is as it was"
cp "$work/table" "$out"

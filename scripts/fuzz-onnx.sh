#!/bin/sh
# Fuzzes the import of ONNX models with libFuzzer, under the sanitizers of
# addresses and of undefined behaviour: fuzz-onnx.sh [SECONDS] [--update], one
# minute unless said otherwise, one process, at the lowest priority.
#
# Starts from the small models of the official tests (onnx-suite.sh gets their
# package), from tests/onnx/corpus and from what earlier runs kept in
# ~/.cache/tenon-fuzz, where their sums are, too. The last lines say what was
# done in this run and in all; --update writes them into doc/onnx.md. Exits 1
# if a fault was found: its input is named, and `onnx_fuzz FILE` shows it again.
#
#   BUILD_DIR  where to build [build-fuzz]
set -eu
. "$(dirname "$0")/lib.sh"
help "$@"

seconds=60
update=no
for word; do
	case $word in
	--update) update=yes ;;
	*[!0-9]* | '') say "usage: fuzz-onnx.sh [SECONDS] [--update]"; exit 2 ;;
	*) seconds=$word ;;
	esac
done
command -v clang >/dev/null 2>&1 || { say "skipped (no clang)"; exit 77; }
python=$(find_python)
build=${BUILD_DIR:-build-fuzz}
case $build in /*) ;; *) build=$top/$build ;; esac
cache=${XDG_CACHE_HOME:-$HOME/.cache}
kept=$cache/tenon-fuzz

# The library with edges counted, and the target.
checks=address,undefined
flags="-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined"
BUILD_DIR=$build CC=${CC:-clang} \
	CFLAGS="$flags -fsanitize=fuzzer-no-link,$checks" "$top/scripts/build.sh"
libs=$(sed -n 's/^LIBS = //p; s/^ZIP_LIBS = //p; s/^JSON_LIBS = //p' \
	"$build/Makefile")
${CC:-clang} $flags -fsanitize=fuzzer,$checks -DTN_FUZZER -I"$top/src" \
	"$top/tests/fuzz/onnx_fuzz.c" "$top/tests/fuzz/onnx_mutate.c" \
	"$build/.libs/libtenon.a" -rdynamic $libs -lm -ldl \
	-o "$build/onnx_fuzz"

# A folder in memory, where there is one.
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/seeds" "$kept/corpus" "$kept/faults" "$top/tests/onnx/corpus"
"$python" "$top/scripts/onnx_seeds.py" "$cache/tenon-suite" "$work/seeds" \
	>"$work/words"

status=0
began=$(date +%s)
TN_FUZZ_FOLDER=$work UBSAN_OPTIONS=print_stacktrace=1 \
	nice -n 19 "$build/onnx_fuzz" -max_total_time="$seconds" \
	-max_len=16384 -timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=512 \
	-dict="$work/words" -artifact_prefix="$kept/faults/" \
	-print_final_stats=1 -verbosity=1 \
	"$kept/corpus" "$work/seeds" "$top/tests/onnx/corpus" \
	>"$work/log" 2>&1 || status=$?
took=$(($(date +%s) - began))
if [ $status -ne 0 ]; then
	grep -E 'ERROR|runtime error|onnx_fuzz:|#[0-9]+ 0x|Test unit' \
		"$work/log" | head -n 40
fi

# Sums over all runs: seconds, executions, faults.
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/log" | tail -n 1)
echo "$took ${runs:-0} $((status != 0)) ${edges:-0}" >>"$kept/runs"
echo "this run: $took s, ${runs:-0} executions, ${edges:-0} edges"
awk '{ s += $1; n += $2; f += $3; if ($4 > e) e = $4 }
	END { printf "all runs: %d minutes, %d executions, %d edges covered, " \
		"%d stopped by a fault\n", s / 60, n, e, f }' "$kept/runs" \
	>"$work/all"
cat "$work/all"
if [ $update = yes ]; then
	"$python" "$top/scripts/page.py" "$top/doc/onnx.md" \
		scripts/fuzz-onnx.sh <"$work/all"
fi
[ $status -eq 0 ]

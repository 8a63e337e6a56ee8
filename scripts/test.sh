#!/bin/sh
# Builds Tenon and runs its whole test suite. The last line adds all up:
# "N passed, N failed, N skipped"; the exit says whether none failed.
#
#   --quick     the plain build alone; else also with sanitizers, without
#               optional libraries, and with clang if it is there
#   -k PATTERN  only tests whose file name holds it
#   -v          name every test
#   --times     say which ten of each build took longest
#
# The parts: text tests (tests/run.py), unit tests (tests/unit, cmocka), other
# scripts (tests/local.mk) and the tests of the runner itself.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$top"

quick=no
options=
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=yes ;;
	-v) options="$options -v" ;;
	--times) options="$options --times 10" ;;
	-k) [ $# -gt 1 ] || { say "-k needs a pattern"; exit 2; }
	    options="$options -k $2"; shift ;;
	*) say "usage: test.sh [--quick] [-v] [--times] [-k PATTERN]"; exit 2 ;;
	esac
	shift
done

need test || exit 1
python=$(find_python)
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT

# build FOLDER CONFIGURE-ARGS: builds there with its unit tests, which counts
# as one test (passed only if no PATTERN chooses among tests).
build() {
	folder=$1
	shift
	rm -f "$folder/check.log"
	if BUILD_DIR=$folder CONFIGURE_ARGS="$*" scripts/build.sh &&
	   make -s --no-print-directory -C "$folder" -j "$jobs" \
		check TESTS= >"$folder/check.log" 2>&1; then
		case $options in
		*-k*) ;;
		*) echo "1 0 0" >>"$counts" ;;
		esac
		return 0
	fi
	[ ! -f "$folder/check.log" ] ||
		grep -E 'error|Error|warning' "$folder/check.log" | head -n 20
	echo "FAIL build in $folder ($*)"
	echo "0 1 0" >>"$counts"
	return 1
}

# asked FOLDER TARGET: what `make TARGET` prints there.
asked() {
	make -s --no-print-directory -C "$1" "$2"
}

# suite FOLDER ARGUMENTS: the text and unit tests with the build there.
suite() {
	folder=$1
	shift
	for program in $(asked "$folder" print-programs); do
		set -- "$@" --also "$program"
	done
	echo "== $folder"
	"$python" tests/run.py --tenon "$folder/tenon" -j "$jobs" $options \
		--cache build/tests/cache --counts "$counts" "$@" || true
}

if build build; then
	set -- --also "python3 tests/selftest/selftest.py"
	for script in $(asked build print-scripts); do
		set -- "$@" --also "$script"
	done
	suite build --timeout 100 "$@"
fi

if [ $quick = no ]; then
	if CFLAGS="-O1 -g" build build-asan --enable-sanitizers \
		--enable-werror; then
		suite build-asan --timeout 240
	fi
	if build build-bare --without-jansson --without-libzip \
		--without-cmocka --without-mpfr \
		--without-nvcc; then
		suite build-bare
	fi
	if ! command -v clang >/dev/null 2>&1; then
		echo "skipped clang (not installed)"
		echo "0 0 1" >>"$counts"
	elif CC=clang build build-clang --enable-werror; then
		suite build-clang --only-also
	fi
fi

awk '{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		if (passed + failed + skipped == 0)
			print "no test has that name"
		exit failed || !passed
	}' "$counts"

#!/bin/sh
# Runs kernels.cu and faults.cu on the stand-in, with each compiler and under
# the sanitizers, and compiles the same kernels.cu with nvcc where there is one.
# The last line is "N passed, N failed, N skipped".
# CC, CXX, NVCC name the compilers; SANITIZE=no leaves the sanitizers out.
set -u

here=$(cd "$(dirname "$0")" && pwd)
emu=$(cd "$here/../../backends/cuda/emu" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM

passed=0 failed=0 skipped=0
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
c_flags="-std=c11 -D_POSIX_C_SOURCE=200809L $warnings -Wstrict-prototypes
	-Wmissing-prototypes -Wswitch-enum -Wpointer-arith -Wvla"
cxx_flags="-std=c++11 -ffp-contract=off -fno-exceptions -Wall -Wextra -Werror"

pass() { passed=$((passed + 1)); echo "ok $1"; }
fail() { failed=$((failed + 1)); echo "not ok $1"; }
skip() { skipped=$((skipped + 1)); echo "skip $1"; }

has() { command -v "$1" >/dev/null 2>&1; }

# Builds $dir/kernels and $dir/faults: build CC CXX LINKER FLAG...
build() {
	cc=$1 cxx=$2 linker=$3
	shift 3
	dir=$work/$label
	mkdir "$dir" || return 1
	for f in "$emu"/tn_emu_*.c "$here/host.c" "$here/faults.c" \
		"$here/check.c"; do
		$cc $c_flags -g "$@" -I"$emu/include" -c "$f" \
			-o "$dir/$(basename "$f" .c).o" || return 1
	done
	for f in kernels faults; do
		$cxx $cxx_flags -g "$@" -I"$emu" -I"$emu/include" \
			-c "$here/${f}_emu.cpp" -o "$dir/${f}_emu.o" || return 1
	done
	$linker "$@" "$dir/host.o" "$dir/check.o" "$dir/kernels_emu.o" \
		"$dir"/tn_emu_*.o -lm -lpthread -o "$dir/kernels" &&
	$linker "$@" "$dir/faults.o" "$dir/check.o" "$dir/faults_emu.o" \
		"$dir"/tn_emu_*.o -lm -lpthread -o "$dir/faults"
}

# Counts the cases of a program; one that ends early is a failure of its own.
count_cases() {
	"$1" >"$work/out" 2>"$work/err"
	status=$?
	while read -r line; do
		case $line in
		"ok "*) pass "$label ${line#ok }" ;;
		"not ok "*) fail "$label ${line#not ok }" ;;
		*) echo "$line" ;;
		esac
	done <"$work/out"
	if [ $status -gt 1 ] || [ -s "$work/err" ]; then
		fail "$label $(basename "$1"): status $status"
		head -n 20 "$work/err"
	fi
}

# Builds and runs one configuration: run LABEL CC CXX LINKER FLAG...
run() {
	label=$1
	shift
	if ! has "${1%% *}" || ! has "${2%% *}"; then
		skip "$label: no $1 or no $2"
	elif ! build "$@"; then
		fail "$label: does not build"
	else
		count_cases "$work/$label/kernels"
		count_cases "$work/$label/faults"
	fi
}

# A sanitizer stops a kernel that leaves its memory: stops KERNEL REPORTS
stops() {
	[ -x "$work/$label/faults" ] || return 0
	if "$work/$label/faults" "$1" >/dev/null 2>"$work/err" ||
		! grep -Eq "$2" "$work/err"; then
		fail "$label $1 is stopped"
		head -n 5 "$work/err"
	else
		pass "$label $1 is stopped"
	fi
}

sanitized() {
	run "$1" "$2" "$3" "$3" -O1 -fsanitize=address,undefined \
		-fno-sanitize-recover=all
	stops past_end heap-buffer-overflow
	stops past_shared use-after-poison
	stops past_local "stack-buffer-overflow|insufficient space"
}

# Compiles for one architecture and links; runs where there is a device.
with_nvcc() {
	label=nvcc-$1
	"$nvcc" -arch="$1" -fmad=false -Werror all-warnings \
		-Xcompiler -Wall,-Wextra,-Werror \
		-c "$here/kernels.cu" -o "$work/$label.o" &&
	$cc $c_flags -isystem "$(dirname "$nvcc")/../include" \
		-c "$here/host.c" -o "$work/host.o" &&
	$cc $c_flags -isystem "$(dirname "$nvcc")/../include" \
		-c "$here/check.c" -o "$work/check.o" &&
	"$nvcc" -arch="$1" "$work/$label.o" "$work/host.o" "$work/check.o" \
		-o "$work/$label" || { fail "$label compiles"; return; }
	pass "$label compiles"
	"$work/$label" >"$work/out" 2>/dev/null
	if [ $? -eq 77 ]; then
		skip "$label runs: no device"
	else
		count_cases "$work/$label"
	fi
}

cc=${CC:-cc} cxx=${CXX:-c++}
run default "$cc" "$cxx" "$cc" -O2
run ucontext "$cc" "$cxx" "$cc" -O2 -DTN_EMU_UCONTEXT
run pic "$cc" "$cxx" "$cxx" -O1 -fPIC
has clang && has clang++ && run clang clang clang++ clang -O2
if [ "${SANITIZE:-yes}" = yes ]; then
	sanitized sanitized "$cc" "$cxx"
	has clang && has clang++ && sanitized clang-sanitized clang clang++
else
	skip "sanitized: not asked for"
fi

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -x "$nvcc" ]; then
	for arch in sm_80 sm_90; do
		with_nvcc $arch
	done
else
	skip "nvcc sm_80: no nvcc"
	skip "nvcc sm_90: no nvcc"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

#!/bin/sh
# Runs the official tests of ONNX: all 1,914 of onnx 1.22.0, which is taken from
# PyPI, pinned by its hash, and read as an archive. Prints what failed and the
# totals; exits 1 if a test of tests/onnx/passing.txt does not pass.
#
#   --target=T   ref or c[:ISA] [ref]
#   -k PATTERN   only tests whose name holds it
#   --sample     the fixed 300 that scripts/test.sh runs
#   --update     write doc/onnx.md and tests/onnx/passing.txt
#   --reasons N  count the N commonest reasons of being out of scope
#   -v           name those, too
#   -j N         tests at a time [2]
#   --slow N     name the N slowest tests
#   --tenon P    the command [build/tenon]
set -eu
. "$(dirname "$0")/lib.sh"
help "$@"

tenon=$top/build/tenon
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tenon-suite
wheel=$cache/onnx-1.22.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
hash=1d0a2bdb15eb2b3cb65c438f3423d9620d14fdce32f92380e6bb1b2e09568ef5

case " $* " in *" --tenon "* | *" --tenon="*) ;;
	*) set -- --tenon "$tenon" "$@" ;;
esac
python=$(find_python)
has_wheel() {
	[ -f "$wheel" ] && echo "$hash  $wheel" | sha256sum -c --quiet 2>/dev/null
}
if ! has_wheel; then
	mkdir -p "$cache"
	"$python" -m pip --disable-pip-version-check -q download \
		onnx==1.22.0 --no-deps --only-binary=:all: --dest "$cache" \
		--platform manylinux_2_28_x86_64 --implementation cp \
		--python-version 3.11 --abi cp311 >&2 || true
	has_wheel || { say "skipped (onnx 1.22.0 cannot be had)"; exit 77; }
fi
exec "$python" "$top/scripts/onnx_suite.py" --top "$top" --wheel "$wheel" "$@"

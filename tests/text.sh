#!/bin/sh
# `make check`'s way to the text tests: run.py over tests/ and examples/.
# Skipped (77) without Python.
: "${SRCDIR:=$(dirname "$0")/..}"
: "${BUILDDIR:=$SRCDIR/build}"
command -v python3 >/dev/null 2>&1 || { echo "no python3"; exit 77; }
exec python3 "$SRCDIR/tests/run.py" --tenon "$BUILDDIR/tenon" \
	--also "python3 $SRCDIR/tests/selftest/selftest.py"

#!/bin/sh
# CUDA, on this processor: sweep.py holds the unmodified kernels, run by the
# stand-in, against the interpreter for one type of each kind. Every type and
# mode: sweep.py --target=cuda --emulate --full. Prints TAP; 77: no C++.
exec python3 "$(dirname "$0")/sweep.py" --target=cuda --emulate "$@"

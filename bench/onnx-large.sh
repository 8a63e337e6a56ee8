#!/bin/sh
# Imports models with weights of SIZE MiB [2048]: in a file beside the model, and
# inside of it (1900 MiB at most: a protobuf message ends at 2 GiB), aligned and
# not. Prints rows of what each takes: seconds, those of reading the files alone,
# and the most memory beyond what is mapped. Exits 1 past 200 MB or 3 s beyond
# reading.
#
#   onnx-large.sh [SIZE]    TENON: the command [build/tenon]
#                           TMPDIR: where the models go, twice their size
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/lib.sh"
exec "$(find_python)" "$here/onnx_large.py" \
	"${TENON:-$top/build/tenon}" "${1:-2048}"

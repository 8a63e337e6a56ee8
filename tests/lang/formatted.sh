#!/bin/sh
# The texts that people read first are as `tenon fmt` writes them.
set -eu
top=${SRCDIR:-$(dirname "$0")/../..}
tenon=${BUILDDIR:-$top/build}/tenon
files=$(find "$top/examples" "$top/grammar" "$top/passes" "$top/tests/lang" \
	-name '*.tn' ! -path '*/data/*')
# shellcheck disable=SC2086
"$tenon" fmt --check $files

#!/bin/sh
# The main job, from nothing: builds Tenon, then compiles a small network
# written by hand and lets it read handwritten digits (examples/digits).
set -eu
. "$(dirname "$0")/lib.sh"
"$top/scripts/build.sh"
build=${BUILD_DIR:-build}
case $build in
/*) ;;
*) build=$top/$build ;;
esac
exec "$top/examples/digits/demo.sh" "$build/tenon" "$@"

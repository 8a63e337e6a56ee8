#!/bin/sh
# What `make install` leaves: a program finds the library by pkg-config, static
# or shared, with the same words, and runs; so does a plug-in, which the command
# loads; the shared library, if it was built, gives away the public names alone.
set -eu
: "${SRCDIR:=$(dirname "$0")/../..}"
: "${BUILDDIR:=$SRCDIR/build}"
CC=${CC:-cc}
skip() { echo "$1"; exit 77; }
for tool in make pkg-config nm $CC; do
	command -v "$tool" >/dev/null 2>&1 || skip "no $tool"
done
grep -q '#define TN_SANITIZED 1' "$BUILDDIR/config.h" && skip "sanitized"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make -s -C "$BUILDDIR" install DESTDIR="$root" >"$root/log" 2>&1 || {
	cat "$root/log"
	exit 1
}
pc=$(find "$root" -name tenon.pc)
PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
lib=$(dirname "$PKG_CONFIG_PATH")
XDG_CACHE_HOME=$root/cache
export XDG_CACHE_HOME

for file in bin/tenon share/man/man1/tenon.1 \
    share/bash-completion/completions include/tenon.h \
    include/tenon-plugin.h; do
	[ -e "$(dirname "$lib")/$file" ] || { echo "no $file"; exit 1; }
done

if [ -e "$lib/libtenon.so" ]; then
	if nm -D --defined-only "$lib/libtenon.so" | grep -v ' tenon_'; then
		echo "names that are not public"
		exit 1
	fi
fi
# Words of pkg-config are to be split.
# shellcheck disable=SC2046
$CC -std=c11 "$SRCDIR/examples/c-api/layer.c" \
	$(pkg-config --cflags --libs tenon) -o "$root/layer"
LD_LIBRARY_PATH=$lib "$root/layer" >"$root/out"
grep -q relu "$root/out"
LD_LIBRARY_PATH=$lib "$root/layer" ref >"$root/out"
LD_LIBRARY_PATH=$lib "$(dirname "$lib")/bin/tenon" --version

# A plug-in needs the installed header alone, and its functions of the command.
# shellcheck disable=SC2046
$CC -std=c11 -shared -fPIC $(pkg-config --cflags tenon) \
	"$SRCDIR/examples/plugins/powers.c" -o "$root/powers.so"
LD_LIBRARY_PATH=$lib "$(dirname "$lib")/bin/tenon" opt --fp=afn \
	--plugin="$root/powers.so" --passes=infer,inline,powers \
	"$SRCDIR/tests/plugins/data/power.tn" >"$root/out"
grep -q 'mul(x, x)' "$root/out"

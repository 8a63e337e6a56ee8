#!/bin/sh
# Builds Tenon out of tree and leaves the command at build/tenon. Installs what
# is missing, and configures only when something has changed.
#
#   BUILD_DIR       where to build, from the top of the sources [build]
#   CONFIGURE_ARGS  passed to configure
#   CC, CFLAGS      the compiler and its flags
set -eu
. "$(dirname "$0")/lib.sh"
cd "$top"
build=${BUILD_DIR:-build}
need build || exit 1

# The scripts of autotools, when one of their sources is newer.
stamp=build-aux/tenon.stamp
fresh=no
if [ ! -f configure ] || { [ -e .git ] && [ ! -f $stamp ]; } ||
   { [ -f $stamp ] && [ -n "$(find configure.ac Makefile.am m4/tenon.m4 \
	src grammar importers passes backends tests examples bench doc \
	\( -name local.mk -o -name configure.ac -o -name Makefile.am \
	   -o -name tenon.m4 \) -newer $stamp)" ]; }; then
	say "autoreconf"
	mkdir -p build-aux
	before=$(mktemp)
	if ! autoreconf --install --force >"$before" 2>&1; then
		cat "$before" >&2
		rm -f "$before"
		exit 1
	fi
	grep -i 'warning' "$before" >&2 || true
	rm -f "$before"
	touch $stamp
	fresh=yes
fi

# Configure, when that or the request is new. One library is built, not two:
# --enable-shared in CONFIGURE_ARGS adds the other.
request="$top ${CC:-} ${CFLAGS:-} ${CONFIGURE_ARGS:-}"
mkdir -p "$build"
if [ $fresh = yes ] || [ ! -f "$build/Makefile" ] ||
   [ "$(cat "$build/request" 2>/dev/null)" != "$request" ]; then
	say "configure $build"
	case $build in
	*/*) configure=$top/configure ;;
	*) configure=../configure ;;
	esac
	(cd "$build" && "$configure" --quiet --disable-shared \
		${CONFIGURE_ARGS:-}) >&2
	echo "$request" >"$build/request"
fi

make -s --no-print-directory -C "$build" -j "$jobs" all >&2

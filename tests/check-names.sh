#!/bin/sh
# File names are plain ASCII without blanks, and no text in the tree names a
# folder of the machine it was written on.
: "${SRCDIR:=$(dirname "$0")/..}"
cd "$SRCDIR" || exit 2
failed=0

trees="src grammar importers passes backends tests examples bench doc scripts
	.ci m4/tenon.m4 configure.ac Makefile.am README.md CHANGELOG.md tenon.pc.in"
list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
find $trees -type f ! -name '*.pyc' 2>/dev/null >"$list"
[ -s "$list" ] || { echo "no files under $SRCDIR" >&2; exit 2; }

if LC_ALL=C grep -n '[^A-Za-z0-9_./+=-]' "$list"; then
	echo "^ rename: letters, digits and _ . + = - only" >&2
	failed=1
fi
pattern='(^|[^A-Za-z0-9_.~$}%])/([w]ork|[r]oot|[h]ome|[U]sers)/[A-Za-z0-9]'
pattern="$pattern|/[t]mp/h-"
if tr '\n' '\0' <"$list" | xargs -0 grep -InE "$pattern"; then
	echo "^ name no folder of one machine" >&2
	failed=1
fi
echo "$(wc -l <"$list") files read"
exit $failed

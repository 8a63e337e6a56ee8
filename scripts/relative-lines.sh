#!/bin/sh
# Rewrites `#line N "SRCDIR/x"` to `#line N "x"` in the files named, in order.
#
#   relative-lines.sh SRCDIR FILE...
set -eu
srcdir=$1
shift
for file; do
	awk -v prefix="\"$srcdir/" '
		/^#line [0-9]+ "/ {
			at = index($0, prefix)
			if (at)
				$0 = substr($0, 1, at) \
				     substr($0, at + length(prefix))
		}
		{ print }' "$file" >"$file.tmp"
	mv -f "$file.tmp" "$file"
done

#!/bin/sh
# Writes the bytes of a file as the inside of a C char array, 0 at the end.
#
#   embed.sh FILE >FILE.inc
#   static const char text[] = {
#   #include "FILE.inc"
#   };
#
# Numbers, not a string literal: C11 promises only 4095 characters of those.
# Bytes above 127 are written '\ooo', so that plain char may have either sign.
set -eu
[ $# -eq 1 ] || { echo "usage: embed.sh FILE" >&2; exit 2; }
[ -r "$1" ] || { echo "embed.sh: cannot read $1" >&2; exit 6; }
echo "/* Made by scripts/embed.sh from $(basename "$1"). */"
od -A n -v -t o1 "$1" | awk '
	{
		for (i = 1; i <= NF; i++)
			printf "%s,", $i < 200 ? "0" $i : "\047\\" $i "\047"
		print ""
	}
	END { print "0" }'

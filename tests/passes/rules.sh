#!/bin/sh
# The library's rules against the interpreter, each a test: those of `simplify`,
# and those that find what imported models spell out.
set -u
src=${SRCDIR:-$(dirname "$0")/../..}
tenon=${BUILDDIR:-build}/tenon
{ "$tenon" check-rules
  "$tenon" check-rules "$src/passes/composites.tn"; } | awk '
/^ok/ { print "ok " ++n " - " $2; next }
/^FAIL/ { print "not ok " ++n " - " $2; print "# " $0; next }
/ passed, / { total += $1 + $3; parts++; next }
{ print "# " $0 }
END {
	print "1.." n
	if (parts != 2 || n != total) exit 1
}'

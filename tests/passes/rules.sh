#!/bin/sh
# The library's rules against the interpreter, each a test.
set -u
tenon=${BUILDDIR:-build}/tenon
"$tenon" check-rules | awk '
/^ok/ { print "ok " ++n " - " $2; next }
/^FAIL/ { print "not ok " ++n " - " $2; print "# " $0; next }
/ passed, / { total = $1 + $3; next }
{ print "# " $0 }
END {
	print "1.." n
	if (!n || n != total) exit 1
}'

#!/bin/sh
# Fails if an object of libtenon.a holds writable data: state in the library
# would tie its users together. Constant tables whose pointers the loader fills
# in (.data.rel.ro) are read-only afterwards and pass.
#
# A build with sanitizers or coverage has the compiler's own: skipped (77).
: "${BUILDDIR:=$(dirname "$0")/../build}"
archive=$BUILDDIR/.libs/libtenon.a

if grep -q '^#define TN_\(SANITIZED\|COVERAGE\) 1' "$BUILDDIR/config.h"; then
	echo "built with sanitizers or coverage"
	exit 77
fi
command -v objdump >/dev/null 2>&1 || { echo "no objdump"; exit 77; }
[ -f "$archive" ] || { echo "$archive is missing"; exit 77; }

# Sections with contents or space: index, name, size; then a line of flags.
objdump -h "$archive" | awk '
	/file format/ { object = $1; sub(/:$/, "", object); objects++; next }
	$1 ~ /^[0-9]+$/ { name = $2; size = $3; next }
	/ALLOC/ {
		if (/READONLY/ || size ~ /^0+$/ || name ~ /^\.data\.rel\.ro/)
			next
		if (name ~ /^\.(init|fini)_array|^\.ctors|^\.dtors/)
			what = "runs code before or after main"
		else
			what = "is writable"
		printf "%s: section %s %s (0x%s bytes)\n", object, name, what,
			size
		failed = 1
	}
	END {
		printf "%d objects read\n", objects
		exit failed || objects == 0
	}' || {
	objdump -t "$archive" | awk '
		/file format/ { object = $1; next }
		/ O \.(data|bss|tdata|tbss|data\.rel|data\.rel\.local)\t/ ||
		/ O \*COM\*\t/ { print object " " $NF }'
	exit 1
}

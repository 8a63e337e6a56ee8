#!/bin/sh
# The reference holds: what doc/*.md shows as ```tenon is accepted, and as
# ```tenon CODE refused with that code; every reserved word, diagnostic range
# and short form is in it; doc/operators.md is what doc/operators writes.
set -eu
top=${SRCDIR:-$(dirname "$0")/../..}
build=${BUILDDIR:-$top/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
count=0

result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		failed=1
		echo "not ok $count - $2"
	fi
}

# A block without header is the middle of a file.
for page in "$top"/doc/*.md; do
	awk -v work="$work" -v page="$(basename "$page" .md)" '
		/^```tenon/ {
			file = sprintf("%s/%s-%03d.tn", work, page, NR)
			print "tenon 1.0;" > file
			print $2 > (file ".code")
			close(file ".code")
			next
		}
		/^```/ { if (file) close(file); file = "" }
		file && !/^tenon 1.0;/ { print > file }' "$page"
done
cp -R "$top/tests/lang/data" "$work/data"
for file in "$work"/*.tn; do
	code=$(cat "$file.code")
	if "$build/tenon" check "$file" >"$work/out" 2>&1; then
		[ -z "$code" ]
	else
		[ -n "$code" ] && grep -q "error\[$code\]" "$work/out"
	fi && status=0 || status=1
	[ $status = 0 ] || sed 's/^/# /' "$work/out"
	result $status "example at line $(basename "$file" .tn)"
done

for word in tenon include dim const struct weight fn if else for while scan \
    with return yield emit in true false inf nan; do
	grep -q "\`.*\b$word\b.*\`\|^    .*\b$word\b" "$top/doc/language.md" ||
		result 1 "language.md lacks '$word'"
done

"$build/doc/operators" "$top/grammar/std.tn" >"$work/operators.md"
cmp "$work/operators.md" "$top/doc/operators.md" && status=0 || status=1
result $status "doc/operators.md is up to date (make doc/operators.md)"
echo "1..$count"
exit $failed

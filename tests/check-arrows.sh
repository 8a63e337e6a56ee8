#!/bin/sh
# Reads the #includes of every source file and fails on an arrow that the plan
# of the house does not have:
#
#   base <- ir <- { grammar, importers, passes, backends } <- driver
#
# A back end may use what all share (backends/*.h), not another back end. The
# driver asks the table of back ends (backends/backend.h) and knows none by
# itself, but the interpreter, which is the meaning of the language.
# Examples and benchmarks see the public header alone. What bison and flex
# write is left out; their sources are read. A folder backends/*/emu is not built
# into the library but sent out with the emitted code: its files name each other
# only, and without a folder of ours.
: "${SRCDIR:=$(dirname "$0")/..}"
cd "$SRCDIR" || exit 2

files=$(find src grammar importers passes backends examples bench -type f \
	\( -name '*.[chly]' -o -name '*.def' \) \
	! -path 'grammar/parse.[ch]' ! -path grammar/scan.c | sort)
[ -n "$files" ] || { echo "no sources under $SRCDIR" >&2; exit 2; }

# File names hold no blanks (check-names.sh), so splitting them is safe.
awk '
	function room(path) {
		sub(/^src\//, "", path)
		if (path ~ /^backends\/[^\/]*\//) {
			sub(/^backends\//, "", path)
			return "backends/" substr(path, 1, index(path, "/") - 1)
		}
		if (path == "tenon.h" || path == "driver/tenon.h")
			return "public"
		return index(path, "/") ? substr(path, 1, index(path, "/") - 1) \
					: path
	}
	function allowed(from, to) {
		if (from == to)
			return 1
		if (from == "driver")
			return to ~ /^(base|ir|grammar|importers|passes|public)$/ ||
			       to ~ /^backends(\/ref)?$/
		if (from == "examples" || from == "bench")
			return to == "public"
		if (from == "ir")
			return to == "base"
		if (from ~ /^backends\//)
			return to ~ /^(base|ir|backends)$/
		if (from ~ /^(grammar|importers|passes|backends)$/)
			return to ~ /^(base|ir)$/
		return 0
	}
	BEGIN {
		known = "^(base|ir|grammar|importers|passes|backends|driver)$"
		for (i = 1; i < ARGC; i++)
			files[ARGV[i]] = 1
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\"")
		name = part[2]
		if (name == "config.h")
			next
		if (name ~ /(^|\/)\.\.?\//) {
			bad(name, "name it from the top of the house")
			next
		}
		if (FILENAME ~ /^backends\/[a-z]+\/emu\//) {
			sent(name)
			next
		}
		from = room(FILENAME)
		to = room(name)
		if (to == name) {
			if (from ~ known || from ~ /^backends\//)
				bad(name, "name it with its folder")
			next
		}
		count++
		if (!allowed(from, to))
			bad(name, from " may not include " to)
	}
	function sent(name, path) {
		path = FILENAME
		sub(/\/emu\/.*/, "/emu/", path)
		if (!((path name) in files))
			bad(name, "is not in " path)
	}
	function bad(name, why) {
		printf "%s:%d: #include \"%s\": %s\n", FILENAME, FNR, name, why
		failed = 1
	}
	END {
		printf "%d includes read\n", count
		exit failed
	}' $files

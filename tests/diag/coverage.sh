#!/bin/sh
# Every diagnostic has a test: lists the codes of src/base/diag/*.def that no
# text test expects, and fails if there are any. What no text can bring about
# has its test in tests/unit, or is named below with the reason.
set -eu
top=${SRCDIR:-$(dirname "$0")/../..}

# Faults of Tenon itself, which only a broken Tenon reports: E0024, E0853, E0862
# and, behind the pipeline of emission, E0902 and E0903.
ours="E0024 E0853 E0862 E0902 E0903"

expected=$(mktemp)
trap 'rm -f "$expected"' EXIT
{
	find "$top/tests" "$top/examples" -name '*.tn' -exec \
		grep -hoE '#! *(stderr-has: *)?(error|warning)(@[0-9]+)?\[[EW][0-9]{4}\]' {} +
	find "$top/tests" -name '*.test' -exec \
		grep -hE '^#! (stderr|output)-has:|^# ' {} + |
		grep -oE '[EW][0-9]{4}'
	grep -hoE 'TN_[EW][0-9]{4}|"[EW][0-9]{4}"' "$top"/tests/unit/*.c "$top"/tests/diag/*.c
} | grep -oE '[EW][0-9]{4}' | sort -u >"$expected"

all=0
missing=0
for code in $(sed -n 's/^DIAG(\([EW][0-9]*\),.*/\1/p' \
    "$top"/src/base/diag/*.def); do
	all=$((all + 1))
	case " $ours " in
	*" $code "*) continue ;;
	esac
	grep -q "^$code$" "$expected" && continue
	if ! grep -rqs "TN_$code\b" "$top/src" "$top/grammar" "$top/passes" \
	    "$top/backends" --include='*.[chyl]'; then
		echo "# $code is reported nowhere"
		continue
	fi
	echo "$code has no test"
	missing=$((missing + 1))
done
echo "# $all codes, $missing without a test"
[ "$missing" = 0 ]

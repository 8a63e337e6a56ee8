# Shell functions of the benchmarks; read by each script with `.`.
#
#   TENON   the command [build/tenon]
#   CC      the C compiler [cc]

top=$(cd "$(dirname "$0")/.." && pwd)
: "${TENON:=$top/build/tenon}"
: "${CC:=cc}"
here=$top/bench
work=$(mktemp -d "${TMPDIR:-/tmp}/tenon-bench.XXXXXX") || exit 6
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

die()
{
	echo "$0: $*" >&2
	exit 1
}

test -x "$TENON" || die "there is no $TENON; scripts/build.sh makes it"

# The CPU's name with its vendor's family and model numbers.
cpu()
{
	awk -F': *' '
	/^model name/ && !name { name = $2 }
	/^cpu family/ && !family { family = $2 }
	/^model[ \t]*:/ && !model { model = $2 }
	END { printf "%s (family %s, model %s)\n", name, family, model }
	' /proc/cpuinfo 2>/dev/null || uname -m
}

# Whether the CPU has a flag.
has()
{
	grep -qw "$1" /proc/cpuinfo 2>/dev/null
}

# The median of the numbers on standard input.
median()
{
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# Seconds of wall time that a command takes, its output thrown away.
seconds()
{
	timed wall "$@"
}

# The same of CPU time, its children's included: the way to measure what one
# thread does on a machine that others use too.
cpu_seconds()
{
	timed cpu "$@"
}

# timed wall | cpu | both COMMAND...
timed()
{
	python3 - "$@" <<'END'
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
print({"wall": "%.4f" % wall, "cpu": "%.4f" % cpu,
       "both": "%.4f %.4f" % (wall, cpu)}[sys.argv[1]])
sys.exit(code)
END
}

# One row of the table: name, measured, goal, whether it is met.
row()
{
	printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4"
}

# "yes" if the test on numbers holds.
verdict()
{
	awk "BEGIN { print ($1) ? \"yes\" : \"no\" }"
}

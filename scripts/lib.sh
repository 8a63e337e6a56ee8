# Shared set-up of the scripts beside it; to be sourced, not run.
#
#   top          the top of the sources        jobs   how many at once
#   need WORD    installs what WORD (build or test) lacks, if it can
#   say TEXT     a message
#   help "$@"    prints the comment on top of the script and exits, if asked to
#
# On Debian and its kin what is missing is installed by apt-get (through sudo
# if not root). Elsewhere the missing packages are named.

top=$(cd "$(dirname "$0")/.." && pwd)
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

say() {
	printf '%s\n' "$*" >&2
}

help() {
	case " $* " in *" -h "* | *" --help "*) ;; *) return 0 ;; esac
	sed -n '2,/^[^#]/s/^#\( \|$\)//p' "$0"
	exit 0
}

# One line a package: when, package, and the probe that makes it needless.
packages() {
	cat <<-'END'
		must  gcc             command -v ${CC:-cc}
		must  libc6-dev       has_header stdio.h
		must  make            command -v make
		git   autoconf        command -v autoreconf
		git   automake        command -v automake
		git   libtool         command -v libtoolize
		git   flex            command -v flex
		git   bison           command -v bison
		git   pkg-config      command -v pkg-config
		want  libjansson-dev  pkg-config --exists jansson
		want  libzip-dev      pkg-config --exists libzip
		want  libcmocka-dev   pkg-config --exists cmocka
		want  libmpfr-dev     pkg-config --exists mpfr
		test  python3         command -v python3
		test  python3-numpy   has_numpy
		test  g++             command -v g++
		test  binutils        command -v objdump
	END
}

has_header() {
	echo "#include <$1>" | ${CC:-cc} -E - >/dev/null 2>&1
}

has_numpy() {
	"$(find_python)" -c 'import numpy'
}

# The Python to use: one that has numpy, else any.
find_python() {
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import numpy' >/dev/null 2>&1 || continue
		echo "$python"
		return
	done
	echo python3
}

# What is missing of the kinds named, one package a line.
missing() {
	packages | while read -r kind package probe; do
		case " $* " in *" $kind "*) ;; *) continue ;; esac
		eval "$probe" >/dev/null 2>&1 </dev/null || echo "$package"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		return 1
	fi
}

install_packages() {
	command -v apt-get >/dev/null 2>&1 || return 1
	log=$(mktemp) || return 1
	apt="env DEBIAN_FRONTEND=noninteractive apt-get -q -y
		-o DPkg::Lock::Timeout=300 --no-install-recommends"
	as_root $apt update >"$log" 2>&1
	if as_root $apt install "$@" >>"$log" 2>&1; then
		rm -f "$log"
		return 0
	fi
	tail -n 5 "$log" >&2
	rm -f "$log"
	return 1
}

# need build | need test. Fails only if Tenon cannot be built without it.
need() {
	kinds="must want"
	[ "$1" = test ] && kinds="$kinds test"
	[ -f "$top/configure" ] && [ ! -e "$top/.git" ] || kinds="$kinds git"
	lacking=$(missing $kinds)
	[ -n "$lacking" ] || return 0
	say "installing:" $lacking
	install_packages $lacking || true
	lacking=$(missing $kinds)
	[ -n "$lacking" ] || return 0
	say "not installed (get them by hand):" $lacking
	[ -z "$(missing must $(echo "$kinds" | grep -ow git))" ]
}

#!/bin/sh
# Convolutions and pools of ResNet-50 and MobileNetV2, batch 1, channels last,
# by the default schedule, on one thread: the share of the FMA peak, and for
# what has few operations a byte of that or the memory bandwidth, whichever is
# the nearer roof, all measured in the same run.
# A section for doc/bench.md; exit 1 if a result is wrong.
#
#   bench/conv.sh [COMPILER [PATTERN]]    [gcc, all shapes]
#   bench/conv.sh --into FILE             its section there, anew
#   SCHEDULE   steps in place of the default ones
#   BLOCK      channels of a block of the weights in place of a vector's; 0: the
#              weights are [K, K, CI, CO]
. "$(dirname "$0")/lib.sh"

avx512="-mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx2 -mfma
	-mprefer-vector-width=512"
avx2="-mavx2 -mfma"

# name kind height width channels results window stride pad
shapes="
stem-7x7-s2 conv 224 224 3 64 7 2 3
3x3-64-56 conv 56 56 64 64 3 1 1
3x3-128-28 conv 28 28 128 128 3 1 1
3x3-256-14 conv 14 14 256 256 3 1 1
3x3-512-7 conv 7 7 512 512 3 1 1
3x3-s2-128-56 conv 56 56 128 128 3 2 1
3x3-s2-256-28 conv 28 28 256 256 3 2 1
3x3-s2-512-14 conv 14 14 512 512 3 2 1
1x1-64-64-56 conv 56 56 64 64 1 1 0
1x1-64-256-56 conv 56 56 64 256 1 1 0
1x1-256-64-56 conv 56 56 256 64 1 1 0
1x1-128-512-28 conv 28 28 128 512 1 1 0
1x1-512-128-28 conv 28 28 512 128 1 1 0
1x1-256-1024-14 conv 14 14 256 1024 1 1 0
1x1-1024-256-14 conv 14 14 1024 256 1 1 0
1x1-512-2048-7 conv 7 7 512 2048 1 1 0
1x1-2048-512-7 conv 7 7 2048 512 1 1 0
1x1-s2-256-512-56 conv 56 56 256 512 1 2 0
1x1-s2-1024-2048-14 conv 14 14 1024 2048 1 2 0
1x1-16-96-112 conv 112 112 16 96 1 1 0
1x1-32-192-28 conv 28 28 32 192 1 1 0
1x1-144-24-56 conv 56 56 144 24 1 1 0
1x1-192-32-28 conv 28 28 192 32 1 1 0
1x1-160-960-7 conv 7 7 160 960 1 1 0
1x1-960-160-7 conv 7 7 960 160 1 1 0
1x1-320-1280-7 conv 7 7 320 1280 1 1 0
dw-3x3-32-112 depthwise 112 112 32 32 3 1 1
dw-3x3-s2-96-112 depthwise 112 112 96 96 3 2 1
dw-3x3-144-56 depthwise 56 56 144 144 3 1 1
dw-3x3-s2-144-56 depthwise 56 56 144 144 3 2 1
dw-3x3-192-28 depthwise 28 28 192 192 3 1 1
dw-3x3-384-14 depthwise 14 14 384 384 3 1 1
dw-3x3-960-7 depthwise 7 7 960 960 3 1 1
max-3x3-s2-64-112 max 112 112 64 64 3 2 1
average-3x3-192-28 average 28 28 192 192 3 1 1
"

# clip NAME VARIABLE SIZE: the lets of a window's bounds on one axis.
clip()
{
	if [ "$pad" = 0 ]; then
		return
	fi
	echo "let start_$1: i64 = $2 * $stride - $pad;"
	echo "let from_$1: i64 = max(0 - start_$1, 0);"
	echo "let to_$1: i64 = min($window, max($3 - start_$1, 0));"
}

# range CELL NAME VARIABLE: the window loop of an axis; sets $at.
range()
{
	if [ "$pad" = 0 ]; then
		echo "for $1 in 0..$window {"
	else
		echo "for $1 in from_$2..to_$2 {"
	fi
}

place()
{
	if [ "$pad" = 0 ]; then
		echo "$2 * $stride + $1"
	else
		echo "start_$2 + $1"
	fi
}

# The module of one shape.
module()
{
	oh=$(((height + 2 * pad - window) / stride + 1))
	ow=$(((width + 2 * pad - window) / stride + 1))
	x="x: f32[$height, $width, $channels]"
	y="f32[$oh, $ow, $results]"
	case $kind in
	conv) f=", f: f32[$window, $window, $channels, $results]"
		[ "$block" = 0 ] || f=", f: f32[$((results / block)),
			$window, $window, $channels, $block]" ;;
	depthwise) f=", f: f32[$window, $window, $channels]" ;;
	*) f= ;;
	esac
	echo "tenon 1.0;"
	echo "@fp(contract)"
	[ -z "$SCHEDULE" ] || echo "@schedule($SCHEDULE)"
	echo "kernel k($x @in${f:+$f @in}, y: $y @out) {"
	echo "for h in 0..$oh { for w in 0..$ow { for c in 0..$results {"
	clip h h "$height"
	clip w w "$width"
	[ "$kind" = max ] && init=-inf || init=0.0
	echo "let mut acc: f32 = $init;"
	range r h
	range s w
	i=$(place r h) j=$(place s w)
	case $kind in
	conv)
		weight="r, s, ci, c"
		[ "$block" = 0 ] ||
			weight="c // $block, r, s, ci, c % $block"
		echo "for ci in 0..$channels {"
		echo "acc += x[$i, $j, ci] * f[$weight]; } }}" ;;
	depthwise)
		echo "acc += x[$i, $j, c] * f[r, s, c]; }}" ;;
	max)
		echo "acc = max(acc, x[$i, $j, c]); }}" ;;
	average)
		echo "acc += x[$i, $j, c]; }}" ;;
	esac
	value=acc
	[ "$kind" = average ] &&
		value="acc / cast(max(to_h - from_h, 0) *
			max(to_w - from_w, 0), f32)"
	echo "y[h, w, c] = $value; }}} }"
	[ -n "$f" ] && call="k(x, f)" || call="k(x)"
	echo "fn main($x$f) -> $y { return $call; }"
}

# measure ISA COMPILER
measure()
{
	case $kind in
	conv) number=0 ;;
	depthwise) number=1 ;;
	max) number=2 ;;
	average) number=3 ;;
	esac
	case $1 in
	avx512) flags=$avx512 bits=512 block=16 ;;
	*) flags=$avx2 bits=256 block=8 ;;
	esac
	block=${BLOCK:-$block}
	[ "$block" = 0 ] || [ $((results % block)) = 0 ] || block=0
	out=$work/out
	rm -rf "$out"
	module >"$work/shape.tn"
	"$TENON" emit "$work/shape.tn" --target=c:"$1" -o "$out" \
		2>"$work/log" || die "$name: $(cat "$work/log")"
	# shellcheck disable=SC2086
	"$2" -std=c11 -O3 -ffp-contract=off -fno-math-errno $flags \
		-DHEADER="\"shape.h\"" -DNAME=shape -DISA=$bits -I"$out" \
		-DH="$height" -DW="$width" -DCI="$channels" -DCO="$results" \
		-DK="$window" -DSTRIDE="$stride" -DPAD="$pad" \
		-DKIND=$number -DBLOCK="$block" -o "$out/time" "$here/conv.c" "$out/shape.c" \
		-lm || die "$2 cannot compile $name for $1"
	"$out/time" || die "$name for $1, $2: wrong result"
}

# share ISA COMPILER: "percent words", or "- this CPU lacks it".
share()
{
	case $1 in
	avx512) has avx512vl && has avx512dq ;;
	*) has avx2 && has fma ;;
	esac || {
		echo "- this CPU lacks it"
		return
	}
	figures=$(measure "$1" "$2") || return 1
	echo "$figures" | awk -v kind="$kind" '{
		share = 100 * $2 / $1; at = $2; of = $1; unit = "GF/s"
		if (kind != "conv" && $4 / $5 > $2 / $1) {
			share = 100 * $4 / $5; at = $4; of = $5; unit = "GB/s"
		}
		printf "%.0f %.0f %% (%.0f of %.0f %s, %.0f us)", share,
			share, at, of, unit, $6 }'
}

# The rows of the shapes that match.
rows()
{
	echo "$shapes" | grep -e "${2:-.}" | while read -r name kind height \
		width channels results window stride pad; do
		[ -n "$name" ] || continue
		wide=$(share avx512 "$1") || exit 1
		narrow=$(share avx2 "$1") || exit 1
		goal=70 what="of FMA peak"
		[ "$kind" = conv ] || goal=50 what="of the nearer roof"
		met=yes
		for one in "${wide%% *}" "${narrow%% *}"; do
			[ "$one" = - ] || [ "$one" -ge $goal ] || met=no
		done
		echo "| $name | ${wide#* } | ${narrow#* } | $goal % $what |" \
			"$met |"
	done
}

section()
{
	echo "## Convolutions and pools"
	echo
	echo "The default schedule, one thread, ${1:-gcc}. Work is what the"
	echo "definition multiplies, without the padding's share."
	echo
	echo "| shape | avx512 | avx2 | goal | met |"
	echo "|---|---|---|---|---|"
	rows "${1:-gcc}" "$2"
}

if [ "$1" = --into ]; then
	section >"$work/section" || exit 1
	sed '/^## Convolutions and pools/,$d' "$2" | sed -e :a -e \
		'/^\n*$/{$d;N;ba' -e '}' >"$work/page"
	{ cat "$work/page"; echo; cat "$work/section"; } >"$2"
else
	section "$1" "$2"
fi

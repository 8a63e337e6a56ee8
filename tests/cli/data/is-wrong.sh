#!/bin/sh
# Exits 0 if bisect finds a rewrite that makes module $1 wrong.
tenon bisect --against=ref "$1" >/dev/null 2>&1
[ $? -eq 1 ]

#!/bin/sh
# The file that --check-each leaves of a module, taken through passes with the
# options that stand before its name, shows the fault again: by the command
# that is named, which runs one pass alone, and with one rewrite.
tenon opt --check-each=4 "$@" 2>first && exit 3
command=$(sed -n 's/.*help: `tenon \(.*\)` shows it again/\1/p' first)
tenon $command 2>second && exit 4
grep -q "pass 'simplify' changes result 'z'" second || exit 5
grep -q "rewrite 1 does it: 'wrong' at 'sub' of 'd'" second

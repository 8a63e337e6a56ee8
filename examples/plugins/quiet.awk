# An external pass: `print` and `assert` are left out of the module.
#
#   tenon opt --passes='infer,inline,external{awk -f quiet.awk}' model.tn
#
# Canonical text has one statement a line, so a line is all there is to look at.
!/^[ \t]*(print|assert)\(/

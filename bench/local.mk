# Automake fragment of bench; see Makefile.am for the lists.

# Automake fragment of importers; see Makefile.am for the lists.

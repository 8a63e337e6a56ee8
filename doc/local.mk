# Automake fragment of doc; see Makefile.am for the lists.

# Automake fragment of examples; see Makefile.am for the lists.

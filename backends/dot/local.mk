# Automake fragment of backends/dot; see Makefile.am for the lists.

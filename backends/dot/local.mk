# Automake fragment of backends/dot; see Makefile.am for the lists.

libtenon_la_SOURCES += \
	backends/dot/dot.c

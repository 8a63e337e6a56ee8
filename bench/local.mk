# Automake fragment of bench; see Makefile.am for the lists. The scripts are
# run by hand, `make bench` runs them all; that the kernels do not spill
# registers is a test.
check_scripts += bench/spills.sh

EXTRA_PROGRAMS = tests/unit/parse_rate
tests_unit_parse_rate_SOURCES = tests/unit/parse_rate.c
tests_unit_parse_rate_LDADD = libtenon.la
CLEANFILES += tests/unit/parse_rate$(EXEEXT)

bench: tenon
	TENON='$(abs_builddir)/tenon' $(SHELL) $(srcdir)/bench/run.sh

.PHONY: bench

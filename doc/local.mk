# Automake fragment of doc; see Makefile.am for the lists.

# doc/operators.md lies in the tree; tests/lang/documents.sh compares.
noinst_PROGRAMS += doc/operators
doc_operators_SOURCES = doc/operators.c

doc/operators.md: doc/operators$(EXEEXT)
	$(AM_V_GEN)doc/operators$(EXEEXT) $(srcdir)/grammar/std.tn >$@.tmp && \
	mv -f $@.tmp $(srcdir)/doc/operators.md

.PHONY: doc/operators.md

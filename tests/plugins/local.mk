# Automake fragment of tests/plugins; see Makefile.am for the lists.

check_PROGRAMS += tests/plugins/inside
tests_plugins_inside_SOURCES = tests/plugins/inside.c

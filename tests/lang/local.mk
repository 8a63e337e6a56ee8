# Automake fragment of tests/lang: programs that print TAP; see tests/local.mk.
check_PROGRAMS += tests/lang/roundtrip tests/diag/builder
tests_lang_roundtrip_SOURCES = tests/lang/roundtrip.c
tests_diag_builder_SOURCES = tests/diag/builder.c

check_scripts += \
	tests/diag/coverage.sh \
	tests/lang/documents.sh \
	tests/lang/formatted.sh \
	tests/lang/kernel_ranges.py \
	tests/lang/schedules.py

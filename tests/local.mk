# Automake fragment of tests; see Makefile.am for the lists.
#
# `make check` runs the unit tests (check_PROGRAMS, see tests/unit/local.mk),
# the scripts of check_scripts (TAP or an exit status alone; 77: skipped), and
# the text tests through text.sh. scripts/test.sh runs the same and adds up the
# single cases.

include $(srcdir)/tests/unit/local.mk
include $(srcdir)/tests/lang/local.mk
include $(srcdir)/tests/fuzz/local.mk
include $(srcdir)/tests/plugins/local.mk

check_scripts += \
	tests/check-arrows.sh \
	tests/check-globals.sh \
	tests/check-names.sh \
	tests/check-pen.sh \
	tests/cli/print.py \
	tests/cuda-emu/run.sh \
	tests/cases/B39-callers-buffers.py \
	tests/cases/B66-deep-chains.py \
	tests/cases/B76-alignment.py \
	tests/cases/B79-many-temporaries.py \
	tests/cases/B81-cache.py \
	tests/diag/attributes.py \
	tests/diag/habits.py \
	tests/events.py \
	tests/faults/interrupt.py \
	tests/faults/run.py \
	tests/onnx/memory.py \
	tests/onnx/models.py \
	tests/onnx/rename.py \
	tests/onnx/sample.py \
	tests/ops/emulated.sh \
	tests/ops/functions.py \
	tests/ops/sweep.py \
	tests/passes/firing.py \
	tests/passes/counts.py \
	tests/passes/prefixes.py \
	tests/passes/layout/blocks.py \
	tests/passes/rules.sh \
	tests/passes/subsets.py \
	tests/passes/windows.py \
	tests/readme.py \
	tests/see.py

TESTS += $(check_PROGRAMS) $(check_scripts) tests/text.sh

AM_TESTS_ENVIRONMENT = \
	SRCDIR='$(abs_srcdir)'; export SRCDIR; \
	BUILDDIR='$(abs_builddir)'; export BUILDDIR;

# What scripts/test.sh runs beside the text tests: the programs with every
# build, the scripts with the first.
print-programs:
	@for program in $(check_PROGRAMS); do \
	    echo "$(abs_builddir)/$$program"; \
	done

print-scripts:
	@for script in $(check_scripts); do \
	    echo "$(abs_srcdir)/$$script"; \
	done

clean-local:
	rm -rf tests/cache

.PHONY: print-programs print-scripts

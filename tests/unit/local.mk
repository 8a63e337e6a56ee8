# Automake fragment of tests/unit: one line a test, its source the name with .c
# behind it. They link with libtenon and cmocka.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_base
check_PROGRAMS += tests/unit/test_diag
check_PROGRAMS += tests/unit/test_elab
check_PROGRAMS += tests/unit/test_grammar
check_PROGRAMS += tests/unit/test_kernel
check_PROGRAMS += tests/unit/test_lower
check_PROGRAMS += tests/unit/test_lower_group
check_PROGRAMS += tests/unit/test_memory
check_PROGRAMS += tests/unit/test_npy
check_PROGRAMS += tests/unit/test_num
check_PROGRAMS += tests/unit/test_plan
check_PROGRAMS += tests/unit/test_plan_parts
check_PROGRAMS += tests/unit/test_recovery
check_PROGRAMS += tests/unit/test_schedule
check_PROGRAMS += tests/unit/test_schedule_nests
check_PROGRAMS += tests/unit/test_sha256
check_PROGRAMS += tests/unit/test_small
check_PROGRAMS += tests/unit/test_tensorfile
check_PROGRAMS += tests/unit/test_dim
check_PROGRAMS += tests/unit/test_ir
check_PROGRAMS += tests/unit/test_analysis
check_PROGRAMS += tests/unit/test_print
check_PROGRAMS += tests/unit/test_verify
check_PROGRAMS += tests/unit/test_eval
check_PROGRAMS += tests/unit/test_eval_move
check_PROGRAMS += tests/unit/test_eval_window
check_PROGRAMS += tests/unit/test_infer
check_PROGRAMS += tests/unit/test_ref
check_PROGRAMS += tests/unit/test_emit_c
check_PROGRAMS += tests/unit/test_emit_c_ops
check_PROGRAMS += tests/unit/test_emit_c_run
check_PROGRAMS += tests/unit/test_emit_c_text
check_PROGRAMS += tests/unit/test_emit_cuda
endif

# It refuses allocations, also those inside the library.
tests_unit_test_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

tests_unit_test_lower_SOURCES = tests/unit/test_lower.c \
	tests/unit/lowering.c tests/unit/lowering.h
tests_unit_test_lower_group_SOURCES = tests/unit/test_lower_group.c \
	tests/unit/lowering.c tests/unit/lowering.h

tests_unit_test_analysis_SOURCES = tests/unit/test_analysis.c \
	tests/unit/ir_kit.c tests/unit/ir_kit.h
tests_unit_test_ir_SOURCES = tests/unit/test_ir.c \
	tests/unit/ir_kit.c tests/unit/ir_kit.h
tests_unit_test_print_SOURCES = tests/unit/test_print.c \
	tests/unit/ir_kit.c tests/unit/ir_kit.h
tests_unit_test_verify_SOURCES = tests/unit/test_verify.c \
	tests/unit/ir_kit.c tests/unit/ir_kit.h

tests_unit_test_plan_SOURCES = tests/unit/test_plan.c \
	tests/unit/plan_kit.c tests/unit/plan_kit.h
tests_unit_test_plan_parts_SOURCES = tests/unit/test_plan_parts.c \
	tests/unit/plan_kit.c tests/unit/plan_kit.h

tests_unit_test_emit_c_SOURCES = \
	tests/unit/test_emit_c.c \
	tests/unit/emit_c_kit.c tests/unit/emit_c_kit.h
tests_unit_test_emit_c_ops_SOURCES = \
	tests/unit/test_emit_c_ops.c \
	tests/unit/emit_c_kit.c tests/unit/emit_c_kit.h
tests_unit_test_emit_c_run_SOURCES = \
	tests/unit/test_emit_c_run.c \
	tests/unit/emit_c_kit.c tests/unit/emit_c_kit.h
tests_unit_test_emit_c_text_SOURCES = \
	tests/unit/test_emit_c_text.c \
	tests/unit/emit_c_kit.c tests/unit/emit_c_kit.h

tests_unit_test_emit_cuda_SOURCES = tests/unit/test_emit_cuda.c \
	tests/unit/emit_cuda_kit.c tests/unit/emit_cuda_kit.h
if HAVE_CMOCKA
if HAVE_MPFR
check_PROGRAMS += tests/unit/test_ulp
tests_unit_test_ulp_LDADD = $(LDADD) $(MPFR_LIBS)
endif
endif

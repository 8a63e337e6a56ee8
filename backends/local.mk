# Automake fragment of backends; see Makefile.am for the lists.

libtenon_la_SOURCES += \
	backends/backend.h \
	backends/backends.c backends/backends.def \
	backends/emission.c backends/emission.h \
	backends/emit.h \
	backends/emit_api.c backends/emit_api.h \
	backends/emit_cast.c \
	backends/emit_check.c \
	backends/emit_dim.c \
	backends/emit_expr.c \
	backends/emit_fill.c \
	backends/emit_header.c \
	backends/emit_host.c backends/emit_host.h \
	backends/emit_launch.c backends/emit_launch.h \
	backends/emit_main.c backends/emit_main.h \
	backends/emit_math.c \
	backends/emit_names.c \
	backends/emit_offset.c \
	backends/emit_plan.c \
	backends/emit_prelude.c \
	backends/emit_print.c backends/emit_print.h \
	backends/emit_small.c \
	backends/emit_stmt.c \
	backends/emit_text.c \
	backends/emit_vec.c \
	backends/emit_vector.c \
	backends/emit_visit.c \
	backends/emit_weights.c backends/emit_weights.h

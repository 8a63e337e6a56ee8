# Automake fragment of grammar; see Makefile.am for the lists.

# Text to syntax tree and back.
libtenon_la_SOURCES += \
	grammar/error.c \
	grammar/fmt.c grammar/fmt.h \
	grammar/fmt_space.c \
	grammar/habit.c grammar/habit.h \
	grammar/lex.c grammar/lex.h \
	grammar/literal.c \
	grammar/node.c grammar/node.h \
	grammar/node_expr.c \
	grammar/parse.c grammar/parse.h \
	grammar/print.c grammar/print.h \
	grammar/print_expr.c \
	grammar/scan.c grammar/scan.h \
	grammar/syntax.c grammar/syntax.h \
	grammar/tree.c grammar/tree.h

BUILT_SOURCES += grammar/parse.h
MAINTAINERCLEANFILES += grammar/parse.c grammar/parse.h grammar/scan.c

# Tree to graph.
libtenon_la_SOURCES += \
	grammar/elab.h \
	grammar/elab_apply.c \
	grammar/elab_attr.c \
	grammar/elab_call.c \
	grammar/elab_const.c \
	grammar/elab_derived.c \
	grammar/elab_dims.c \
	grammar/elab_expr.c \
	grammar/elab_fact.c \
	grammar/elab_flow.c \
	grammar/elab_generic.c \
	grammar/elab_index.c \
	grammar/elab_item.c \
	grammar/elab_kcheck.c \
	grammar/elab_kernel.c \
	grammar/elab_kernel.h \
	grammar/elab_kexpr.c \
	grammar/elab_list.c \
	grammar/elab_pattern.c \
	grammar/elab_plain.c \
	grammar/elab_rule.c \
	grammar/elab_rule.h \
	grammar/elab_sample.c \
	grammar/elab_scope.c \
	grammar/elab_sig.c \
	grammar/elab_stmt.c \
	grammar/elab_struct.c \
	grammar/elab_sugar.c \
	grammar/elab_test.c \
	grammar/elab_text.c \
	grammar/elab_trial.c \
	grammar/elab_unify.c \
	grammar/elab_util.c \
	grammar/elab_weight.c \
	grammar/elaborate.c \
	grammar/elaborate.h

# The library's text, embedded by the driver.
BUILT_SOURCES += grammar/std.tn.inc
EXTRA_DIST += grammar/std.tn grammar/std.tn.inc
MAINTAINERCLEANFILES += grammar/std.tn.inc

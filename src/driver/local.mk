# Automake fragment of src/driver; see Makefile.am for the lists.

include_HEADERS += src/driver/tenon.h src/driver/tenon-plugin.h

libtenon_la_SOURCES += \
	src/driver/bind.c \
	src/driver/bisect.c \
	src/driver/builder.c \
	src/driver/cache.c src/driver/cache.h \
	src/driver/check_each.c \
	src/driver/check_rules.c \
	src/driver/call.c src/driver/call.h \
	src/driver/compile.c \
	src/driver/context.c src/driver/context.h \
	src/driver/derive.c \
	src/driver/diff.c src/driver/diff.h \
	src/driver/difference.c \
	src/driver/engine.c src/driver/engine.h \
	src/driver/engine_file.c \
	src/driver/explain.c src/driver/explain.h \
	src/driver/explain_json.c \
	src/driver/explain_text.c \
	src/driver/composites.c src/driver/composites.h \
	src/driver/foreign.c src/driver/foreign.h \
	src/driver/given.c src/driver/given.h \
	src/driver/list.c \
	src/driver/module.c src/driver/module.h \
	src/driver/native.c src/driver/native.h \
	src/driver/external.c src/driver/external.h \
	src/driver/npy.c src/driver/npy.h \
	src/driver/npz.c \
	src/driver/parse_value.c \
	src/driver/plugin.c src/driver/plugin.h \
	src/driver/plugin_attr.c \
	src/driver/plugin_emit.c \
	src/driver/plugin_graph.c \
	src/driver/plugin_pass.c \
	src/driver/probe.c src/driver/probe.h \
	src/driver/rawarray.c src/driver/rawarray.h \
	src/driver/recipe.c src/driver/recipe.h \
	src/driver/safetensors.c \
	src/driver/reads.c src/driver/reads.h \
	src/driver/reduce.c \
	src/driver/replay.c src/driver/replay.h \
	src/driver/reveal.c \
	src/driver/rule_trial.c src/driver/rule_trial.h \
	src/driver/report.c \
	src/driver/save.c \
	src/driver/shrink.c src/driver/shrink.h \
	src/driver/signature.c src/driver/signature.h \
	src/driver/source.c src/driver/source.h \
	src/driver/scratch.c src/driver/scratch.h \
	src/driver/spawn.c src/driver/spawn.h \
	src/driver/story.c src/driver/story.h \
	src/driver/target.c src/driver/target.h \
	src/driver/tenon.h src/driver/tenon-plugin.h \
	src/driver/tensorfile.c src/driver/tensorfile.h \
	src/driver/tensorfile_impl.h \
	src/driver/tensors.c src/driver/tensors.h \
	src/driver/tests.c \
	src/driver/toolchain.c src/driver/toolchain.h \
	src/driver/toolchain_files.c \
	src/driver/trial.c src/driver/trial.h \
	src/driver/watch.c src/driver/watch.h \
	src/driver/weights.c src/driver/weights.h

tenon_SOURCES += \
	src/driver/command.c src/driver/command.h \
	src/driver/compare.h src/driver/compare_first.c \
	src/driver/compare_put.c src/driver/compare_side.c \
	src/driver/help.c \
	src/driver/interrupt.c src/driver/interrupt.h \
	src/driver/main.c \
	src/driver/options.c src/driver/options.def src/driver/options.h \
	src/driver/verb_compare.c \
	src/driver/verb_compile.c \
	src/driver/verb_rules.c \
	src/driver/verb_run.c \
	src/driver/verb_test.c \
	src/driver/verb_text.c \
	src/driver/verb_trust.c

# The manual page and completion come from the table of options.
dist_man_MANS = doc/tenon.1
bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = doc/tenon.bash
EXTRA_DIST += doc/tenon.bash
DISTCLEANFILES += doc/tenon.1 doc/tenon.bash

doc/tenon.1: tenon$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && ./tenon$(EXEEXT) help --man >$@.tmp && \
	mv -f $@.tmp $@

doc/tenon.bash: tenon$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && \
	./tenon$(EXEEXT) help --completion >$@.tmp && mv -f $@.tmp $@

# The example of the C API is a test: it checks its numbers.
check_PROGRAMS += examples/c-api/layer
examples_c_api_layer_SOURCES = examples/c-api/layer.c
examples_c_api_layer_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/driver

# Engines side by side; what is installed.
check_PROGRAMS += tests/cli/engines
tests_cli_engines_SOURCES = tests/cli/engines.c
check_scripts += tests/cli/install.sh

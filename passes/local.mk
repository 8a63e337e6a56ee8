# Automake fragment of passes; see Makefile.am for the lists.
libtenon_la_SOURCES += \
	passes/canonical.c \
	passes/cse.c \
	passes/dce.c \
	passes/fold.c \
	passes/fold.h \
	passes/fold_known.c \
	passes/fuse.c \
	passes/fuse.h \
	passes/fuse_cost.c \
	passes/fuse_rows.c \
	passes/infer.c \
	passes/inline.c \
	passes/inline.h \
	passes/inline_kernel.c \
	passes/layout.c \
	passes/layout.h \
	passes/layout_cost.c \
	passes/layout_random.c \
	passes/lower.c \
	passes/lower.h \
	passes/lower_contract.c \
	passes/lower_element.c \
	passes/lower_flow.c \
	passes/lower_hash.c \
	passes/lower_index.c \
	passes/lower_kernel.c \
	passes/lower_kit.c \
	passes/lower_layout.c \
	passes/lower_map.c \
	passes/lower_move.c \
	passes/lower_order.c \
	passes/lower_reduce.c \
	passes/lower_resize.c \
	passes/lower_source.c \
	passes/lower_stage.c \
	passes/lower_update.c \
	passes/lower_window.c \
	passes/match.c \
	passes/match.h \
	passes/pass.c \
	passes/pass.h \
	passes/pass_check.c \
	passes/pass_run.c \
	passes/pass_run.h \
	passes/pass_text.c \
	passes/passes.def \
	passes/pipeline.c \
	passes/plan.c \
	passes/plan.h \
	passes/plan_live.c \
	passes/plan_place.c \
	passes/plan_reuse.c \
	passes/precompute.c \
	passes/plan_tell.c \
	passes/schedule.c \
	passes/schedule.h \
	passes/schedule_apart.c \
	passes/schedule_default.c \
	passes/schedule_deps.c \
	passes/schedule_guard.c \
	passes/schedule_join.c \
	passes/schedule_lanes.c \
	passes/schedule_loops.c \
	passes/schedule_pack.c \
	passes/schedule_part.c \
	passes/schedule_peel.c \
	passes/schedule_plan.c \
	passes/schedule_plan.h \
	passes/schedule_rows.c \
	passes/schedule_shrink.c \
	passes/schedule_sums.c \
	passes/schedule_tidy.c \
	passes/schedule_tile.c \
	passes/schedule_windows.c \
	passes/schedule_work.c \
	passes/simplify.c \
	passes/simplify.h \
	passes/sink.c \
	passes/timing.c \
	passes/timing.h \
	passes/unroll.c

# The rules' text, embedded by the driver.
BUILT_SOURCES += passes/rules.tn.inc
EXTRA_DIST += passes/rules.tn passes/rules.tn.inc
MAINTAINERCLEANFILES += passes/rules.tn.inc

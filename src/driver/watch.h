/*
 * What is looked at after each pass: print-changed, dump-dir, check-each.
 *
 *   tn_watch_init(&watch, module, entry, passes);
 *   options.after = tn_watch_after; options.after_data = &watch;
 *   ...tn_pipeline_run...
 *   tn_watch_fini(&watch);
 */
#ifndef TN_DRIVER_WATCH_H
#define TN_DRIVER_WATCH_H

#include "driver/module.h"
#include "driver/probe.h"

struct tn_watch {
	struct tenon_module *module;
	struct tn_fn *entry;
	const char *passes;		/* that are run */
	struct tn_buf before;		/* the text, for print-changed */
	struct tn_probe probe;		/* for check-each */
	struct tn_probe_result *results;	/* of the last state */
	int64_t spent;			/* fuel up to the last pass */
	int base;			/* passes of earlier pipelines */
};

/* Looks at the state before the passes. tn_watch_fini is due in any case. */
enum tn_status tn_watch_init(struct tn_watch *watch,
			     struct tenon_module *module, struct tn_fn *entry,
			     const char *passes);
void tn_watch_fini(struct tn_watch *watch);
/* Whether the settings ask for any of it. */
bool tn_watch_is_asked(const struct tenon_module *module);
enum tn_status tn_watch_after(void *watch,
			      const struct tn_pass_context *context,
			      const struct tn_pass_step *step);

/* check_each.c: the first and the later looks. TN_NO after the report of a
 * result that the pass has changed. */
enum tn_status tn_check_begin(struct tn_watch *watch);
enum tn_status tn_check_pass(struct tn_watch *watch,
			     const struct tn_pass_context *context,
			     const struct tn_pass_step *step);
/* How far floats may move in a pass, relative to the largest of their output:
 * 0 unless it changes the order of sums or has a licence. */
double tn_check_tolerance(const struct tenon_module *module,
			  const struct tn_fn *entry, const char *pass);

#endif

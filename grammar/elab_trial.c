/*
 * Trials: something is elaborated to see what becomes of it, out of sight.
 * Reports go to a sink of their own, instances with faults are not kept, and
 * the function that held the trial goes again.
 */
#include "grammar/elab.h"

bool elab_trial_begin(struct elab_trial *trial, struct tn_elab *e,
		      const char *name)
{
	trial->e = e;
	trial->sink = e->sink;
	trial->module_sink = e->module->sink;
	trial->was_dry = e->is_dry;
	trial->epoch = e->module->epoch;
	trial->fn = tn_graph_fn(e->module, name, TN_FN_INSTANCE);
	if (!trial->fn)
		return false;
	tn_sink_init(&trial->quiet);
	e->sink = e->module->sink = &trial->quiet;
	e->is_dry = true;
	return true;
}

void elab_trial_end(struct elab_trial *trial)
{
	trial->e->is_dry = trial->was_dry;
	trial->e->sink = trial->sink;
	trial->e->module->sink = trial->module_sink;
}

struct tn_fn *elab_trial_keep(struct elab_trial *trial)
{
	tn_sink_fini(&trial->quiet);
	return trial->fn;
}

void elab_trial_drop(struct elab_trial *trial)
{
	tn_sink_fini(&trial->quiet);
	elab_drop_fn(trial->e, trial->fn);
	trial->e->module->epoch = trial->epoch;
}

/*
 * Composites: layer_norm, gelu, attention and others stand in a model as the
 * operators that they are made of. Rules say what they look like; they are
 * applied as those of `simplify` are, but to the model as it was imported, in
 * which operators of the library are calls.
 *
 *   d = x / 1.4142135; e = 1 + erf(d); m = x * e; y = m * 0.5;  ->  y = gelu(x);
 */
#include "driver/composites.h"

#include <string.h>

#include "driver/context.h"
#include "ir/rewrite.h"
#include "passes/simplify.h"

static const char composites_text[] = {
#include "passes/composites.tn.inc"
};

/* What an import may do: rounding of the last digit, the sign of a zero, and
 * what would overflow on the way. */
#define LICENCES "tol, nsz, ninf"

/* ---- What is left over --------------------------------------------------- */

/* From the end, so that what only dead ones read is dead when it comes. */
static void sweep(struct tn_rw *rw, struct tn_block *block)
{
	struct tn_op *op, *before;
	int i;

	for (op = block->last; op; op = before) {
		before = op->prev;
		for (i = 0; i < op->nregions; i++)
			sweep(rw, op->regions[i]);
		if (tn_graph_is_dead(op))
			tn_rw_erase(rw, op);
	}
}

/* ---- The whole ----------------------------------------------------------- */

static enum tn_status apply(struct tenon_module *module,
			    const struct tn_rule_set *rules)
{
	struct tn_rw rw = { .module = module->ir, .pass = "import",
			    .fuel = -1 };
	struct tn_simplify options = {
		.rw = &rw, .rules = rules, .fp = LICENCES, .keeps_constants = true,
		.drops_calls = true
	};
	bool changed = false;

	options.fn = tn_map_find(&module->ir->fn_names,
				 tn_intern_text(module->ir->names, "main"));
	if (!options.fn)
		return TN_OK;
	if (!tn_simplify(&options, &changed))
		return tn_context_nomem(module->context);
	if (changed)
		sweep(&rw, options.fn->body);
	return rw.failed ? tn_context_nomem(module->context) : TN_OK;
}

enum tn_status tn_composites_find(struct tenon_module *module)
{
	struct tenon_context *context = module->context;
	struct tn_rule_set rules;
	enum tn_status status;
	uint32_t file;

	memset(&rules, 0, sizeof(rules));
	tn_vec_init(&rules.rules, sizeof(struct tn_rule *), NULL);
	file = tn_sink_add_source(&context->sink, "composites.tn",
				  composites_text,
				  sizeof(composites_text) - 1);
	if (!file || !tn_elab_rule_source(module->elab, file, &rules))
		status = tn_context_nomem(context);
	else
		status = apply(module, &rules);
	tn_vec_fini(&rules.rules);
	return status;
}

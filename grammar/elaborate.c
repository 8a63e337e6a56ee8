/*
 * The public face of the elaborator: its life and its one run.
 */
#include "grammar/elab.h"

#include <stdlib.h>
#include <string.h>

struct tn_elab *tn_elab_new(const struct tn_elab_options *options)
{
	struct tn_elab *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->options = *options;
	e->sink = options->sink;
	e->names = options->names;
	tn_arena_init(&e->scratch);
	tn_map_init_text(&e->decls);
	tn_map_init_text(&e->library);
	tn_map_init_ptr(&e->included);
	tn_map_init_text(&e->instances);
	tn_map_init_text(&e->structs);
	tn_sink_init(&e->text_sink);
	tn_map_init_text(&e->texts);
	tn_map_init_text(&e->runtime);
	tn_map_init_ptr(&e->ahead);
	tn_map_init_ptr(&e->origins);
	tn_vec_init(&e->order, sizeof(struct decl *), NULL);
	tn_vec_init(&e->edges, sizeof(struct edge), NULL);
	return e;
}

void tn_elab_free(struct tn_elab *e)
{
	if (!e)
		return;
	tn_map_fini(&e->decls);
	tn_map_fini(&e->library);
	tn_map_fini(&e->included);
	tn_map_fini(&e->instances);
	tn_map_fini(&e->structs);
	tn_sink_fini(&e->text_sink);
	tn_map_fini(&e->texts);
	tn_map_fini(&e->runtime);
	tn_map_fini(&e->ahead);
	tn_map_fini(&e->origins);
	tn_vec_fini(&e->order);
	tn_vec_fini(&e->edges);
	tn_arena_fini(&e->scratch);
	free(e);
}

static struct tn_module *no_memory(struct tn_elab *e)
{
	struct tn_span nowhere = {0, 0, 0};

	tn_diag_report(e->options.sink, TN_E0001, nowhere, "out of memory");
	tn_module_free(e->module);
	e->module = NULL;
	return NULL;
}

struct tn_module *tn_elab_run(struct tn_elab *e, struct tn_tree *tree)
{
	e->module = tn_module_new(e->names, e->sink);
	if (!e->module)
		return no_memory(e);
	e->tree = tree;
	if (e->options.nmore && !elab_load_library(e))
		return no_memory(e);
	if (!elab_collect(e, tree, false))
		return no_memory(e);
	elab_items(e);
	if (e->module->failed || e->scratch.failed || e->module->arena.failed)
		return no_memory(e);
	if (e->options.sink->errors == 0)
		e->module->props |= TN_PROP_TYPED;
	return e->module;
}

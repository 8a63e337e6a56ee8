/*
 * Statements of a text of its own in a function at work, for those who build a
 * graph and would say it in the language: importers.
 *
 *   relu(x)            and  m = a @ b; return m, m + c;
 *
 * with values, and sizes for symbols, given by name. A text is parsed once;
 * names in it are its own.
 */
#include <string.h>

#include "grammar/elab.h"

/* The body of `fn text() -> .. { .. }` around the text; NULL after a report. */
static const struct tn_tree_item *parse(struct tn_elab *e, const char *text)
{
	bool is_body = strstr(text, "return ") != NULL;
	size_t len = strlen(text);
	struct tn_span nowhere = {0, 0, 0};
	struct tn_tree *tree;
	const char *whole;
	uint32_t file;

	whole = tn_arena_printf(&e->scratch, "tenon 1.0; fn text() -> f32 { "
				"%s%s%s }", is_body ? "" : "return ", text,
				len && text[len - 1] == ';' ? "" : ";");
	if (!whole)
		return NULL;
	file = tn_sink_add_source(&e->text_sink, "text", whole,
				  strlen(whole));
	if (!file)
		return NULL;
	tree = tn_parse(&e->text_sink, e->names, &e->scratch, file);
	if (tree && !tree->errors && !tree->broken && tree->len == 1)
		return tree->at[0];
	tn_diag_report(e->sink, TN_E0206, nowhere, "not read: %s", text);
	return NULL;
}

static const struct tn_tree_item *find(struct tn_elab *e, const char *text)
{
	const struct tn_tree_item *item = tn_map_find(&e->texts, text);
	const char *key;

	if (item)
		return item;
	item = parse(e, text);
	key = item ? tn_arena_strndup(&e->scratch, text, strlen(text)) : NULL;
	if (!key || !elab_map(e, &e->texts, key, (void *)(uintptr_t)item))
		return NULL;
	return item;
}

static bool give(struct frame *frame, int ngiven, const struct tn_given *given)
{
	struct tn_span nowhere = {0, 0, 0};
	int i;

	for (i = 0; i < ngiven; i++) {
		struct tn_name name = {0};
		struct ev ev;

		name.text = tn_intern_text(frame->e->names, given[i].name);
		if (!name.text)
			return false;
		ev = given[i].value ? ev_value(given[i].value, nowhere) :
			ev_dim(given[i].dim, nowhere);
		frame_bind(frame, name, ev);
	}
	return true;
}

/* The values that the text returned. */
static int take(struct frame *frame, const struct outcome *outcome, int max,
		struct tn_value **out)
{
	int i;

	if (outcome->nvalues > max)
		return -1;
	for (i = 0; i < outcome->nvalues; i++) {
		out[i] = elab_to_value(frame, &outcome->values[i], ELAB_ANY);
		if (!out[i] || tn_type_is_poison(out[i]->type))
			return -1;
	}
	return outcome->nvalues;
}

static int run(struct tn_elab *e, struct tn_block *block,
	       const struct tn_text *text, int max, struct tn_value **out)
{
	const struct tn_tree_item *item = find(e, text->text);
	struct outcome outcome = {0};
	struct frame frame;
	int count = -1;

	if (!item)
		return -1;
	frame_init(&frame, e, NULL, NULL, block->fn);
	tn_builder_init(&frame.b, block);
	frame.is_text = true;
	if (give(&frame, text->ngiven, text->given) &&
	    elab_block(&frame, &item->u.sig->body, BLOCK_FN, NULL, 0,
		       &outcome))
		count = take(&frame, &outcome, max, out);
	frame_fini(&frame);
	return e->sink->errors ? -1 : count;
}

int tn_elab_text(struct tn_elab *e, struct tn_block *block,
		 const struct tn_text *text, int max, struct tn_value **out,
		 struct tn_buf *why)
{
	struct tn_sink quiet, *sink = e->sink;
	struct tn_sink *module_sink = e->module->sink;
	const struct tn_diag *diag;
	int count;

	tn_sink_init(&quiet);
	e->sink = e->module->sink = &quiet;
	count = run(e, block, text, max, out);
	if (count < 0 && quiet.diags.len) {
		diag = tn_vec_ptr(&quiet.diags, 0);
		tn_buf_put(why, diag->message);
	} else if (count < 0) {
		tn_buf_put(why, "out of memory");
	}
	if (quiet.failed)
		e->module->failed = true;
	e->sink = sink;
	e->module->sink = module_sink;
	tn_sink_fini(&quiet);
	return count;
}

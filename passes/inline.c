/*
 * inline: bodies of functions and composites take the place of calls.
 *
 *   h = relu(z);            ->    h__1 = 0.0;  h = max(z, h__1);
 *
 * In: an entry whose calls go to plain functions and instances. Out: an entry
 * of primitives; other functions are dropped from the module, since nothing
 * calls them, and so are the tests and generic functions whose text does.
 * Lowering needs all of this, so it is done even when the fuel is out.
 * Composites that the target claims stay calls, and so do fused
 * groups, unless they are called with other sizes than their text names. The
 * callee's declared sizes are bound to the argument's shapes at each call.
 */
#include "passes/inline.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

/* Operators that all copied bodies may have together. */
#define MAX_COPIED (1 << 20)

struct inliner {
	struct tn_pass_context *context;
	const struct tn_dim **dims;	/* by symbol number */
	const struct tn_dim **outer;	/* of the function around */
	size_t cap;			/* room; copies make symbols */
	struct tn_op *next;		/* where the walk goes on */
	struct tn_map guards;		/* hash -> number in the entry + 1 */
	struct tn_map around;		/* copied call -> struct sizes * */
	int64_t copied;
	bool changed;
};

/* What the symbols of a function stood for when its body was copied. Calls in
 * it of instances, which are made for the sizes of the function around them,
 * are bound by these too. */
struct sizes {
	int n;
	const struct tn_dim **dims;
};

/* Room for all symbols; new ones are not bound. */
static bool make_room(struct inliner *in)
{
	size_t n = (size_t)in->context->module->dims.nsyms + 1;
	const struct tn_dim **dims, **outer;

	if (n <= in->cap)
		return true;
	n *= 2;
	dims = calloc(n, sizeof(*dims));
	outer = calloc(n, sizeof(*outer));
	if (!dims || !outer) {
		free(dims);
		free(outer);
		return false;
	}
	if (in->cap) {
		memcpy(dims, in->dims, in->cap * sizeof(*dims));
		memcpy(outer, in->outer, in->cap * sizeof(*outer));
	}
	free(in->dims);
	free(in->outer);
	in->dims = dims;
	in->outer = outer;
	in->cap = n;
	return true;
}

/* Adds what the shapes of the arguments say of the callee's symbols. */
static void bind_dims(struct inliner *in, const struct tn_op *op)
{
	struct tn_module *module = in->context->module;
	const struct tn_block *body = op->callee->body;
	const struct tn_type *param, *arg;
	int i, k;

	for (i = 0; i < body->nparams; i++) {
		param = body->params[i]->type;
		arg = tn_graph_in(op, i)->type;
		for (k = 0; k < param->rank; k++)
			tn_dim_unify(&module->dims, param->dims[k],
				     arg->dims[k], in->dims);
	}
}

static size_t dims_bytes(const struct inliner *in)
{
	return (size_t)in->context->module->dims.nsyms * sizeof(*in->dims);
}

/* True if a symbol stands for anything but itself. */
static bool renames(const struct inliner *in)
{
	const struct tn_vec *syms = &in->context->module->dims.syms;
	int i;

	for (i = 0; i < in->context->module->dims.nsyms; i++)
		if (in->dims[i] &&
		    in->dims[i] != tn_vec_ptr(syms, (size_t)i))
			return true;
	return false;
}

/* A group is lowered with the sizes that its own text names: one that is
 * called with others, as a function inlined for some sizes does, is opened. */
static bool fits_group(const struct tn_op *op)
{
	const struct tn_block *body = op->callee->body;
	int i;

	for (i = 0; i < body->nparams; i++)
		if (!tn_type_same_shape(body->params[i]->type,
					tn_graph_in(op, i)->type))
			return false;
	return true;
}

static bool is_kept(const struct inliner *in, const struct tn_op *op)
{
	const struct tn_target *target = in->context->target;

	if (op->code != TN_OP_call)
		return true;
	if (op->callee->kind == TN_FN_FUSED)
		return fits_group(op);
	if (!target || !target->claims || op->callee->kind !=
	    TN_FN_INSTANCE || !target->claims(op->callee->name))
		return false;
	tn_rw_miss(in->context->rw, "inline", op, NULL,
		   "the target computes %s by itself", op->callee->name);
	return true;
}

/* True if the entry asks the same already. */
static bool has_guard(struct inliner *in, const struct tn_guard *guard)
{
	const struct tn_vec *guards = &in->context->entry->guards;
	uint64_t hash = tn_hash_mix((uint64_t)guard->kind,
				    (uintptr_t)guard->a);
	const void *key;
	const struct tn_guard *other;
	size_t number;

	key = (const void *)(uintptr_t)tn_hash_mix(hash, (uintptr_t)guard->b);
	number = (size_t)(uintptr_t)tn_map_find(&in->guards, key);
	if (number) {
		other = tn_vec_at(guards, number - 1);
		return other->kind == guard->kind && other->a == guard->a &&
			other->b == guard->b;
	}
	if (!tn_map_set(&in->guards, key,
			(void *)(uintptr_t)(guards->len + 1)))
		in->context->rw->failed = true;
	return false;
}

/* Guards of the callee hold for the caller, with its sizes. */
static bool copy_guards(struct inliner *in, const struct tn_fn *callee)
{
	struct tn_dim_pool *pool = &in->context->module->dims;
	struct tn_guard guard;
	size_t i;

	for (i = 0; i < callee->guards.len; i++) {
		guard = *(struct tn_guard *)tn_vec_at(&callee->guards, i);
		guard.a = tn_dim_subst(pool, guard.a, in->dims);
		guard.b = tn_dim_subst(pool, guard.b, in->dims);
		if (!guard.a || !guard.b)
			return false;
		if (!has_guard(in, &guard) &&
		    !tn_rw_guard(in->context->rw, in->context->entry, &guard))
			return false;
	}
	return !in->context->rw->failed;
}

/* The body in front of the call, with the sizes bound so far. */
static bool copy_body(struct inliner *in, struct tn_op *op)
{
	return copy_guards(in, op->callee) &&
		tn_rw_open(in->context->rw, op, in->dims);
}

/* Groups in a copied body name the sizes of the function that they are from:
 * those from `op` up to `end` are opened with the sizes of this call. */
static bool open_groups(struct inliner *in, struct tn_op *op,
			const struct tn_op *end)
{
	struct tn_op *next;
	int i;

	for (; op != end; op = next) {
		next = op->next;
		for (i = 0; i < op->nregions; i++)
			if (!open_groups(in, op->regions[i]->first, NULL))
				return false;
		if (op->code != TN_OP_call ||
		    op->callee->kind != TN_FN_FUSED)
			continue;
		if (!make_room(in))
			return false;
		memcpy(in->dims, in->outer, dims_bytes(in));
		bind_dims(in, op);
		if (!copy_body(in, op) || !tn_rw_close(in->context->rw, op))
			return false;
	}
	return true;
}

/* False after a report: calls of calls of calls come to too much. */
static bool is_affordable(struct inliner *in, const struct tn_op *op)
{
	struct tn_diag *diag;

	in->copied += tn_pass_count(op->callee->body);
	if (in->copied <= MAX_COPIED)
		return true;
	diag = tn_diag_report(in->context->module->sink, TN_E0854, op->span,
			      "the bodies of all calls come to more than %d "
			      "operators", MAX_COPIED);
	tn_diag_help(in->context->module->sink, diag,
		     "write repetition as `for` or `scan`");
	return false;
}

static struct sizes *keep_sizes(struct inliner *in)
{
	struct tn_module *module = in->context->module;
	struct sizes *sizes = tn_arena_alloc(&module->arena, sizeof(*sizes));

	if (!sizes)
		return NULL;
	sizes->n = module->dims.nsyms;
	sizes->dims = tn_arena_copy(&module->arena, in->dims,
				    dims_bytes(in) + sizeof(*in->dims));
	return sizes->dims ? sizes : NULL;
}

/* Symbols that no argument binds are those of the function around. */
static void bind_around(struct inliner *in, const struct tn_op *op)
{
	const struct sizes *sizes = tn_map_find(&in->around, op);
	int i;

	if (!sizes || op->callee->kind != TN_FN_INSTANCE)
		return;
	for (i = 0; i < sizes->n; i++)
		if (!in->dims[i])
			in->dims[i] = sizes->dims[i];
}

/* Calls and launches in a body that was copied for other sizes. */
static bool adapt(struct inliner *in, struct tn_op *op, const struct tn_op *end,
		  struct sizes *sizes)
{
	struct tn_kernel *kernel;
	int i;

	for (; op != end; op = op->next) {
		if (op->code == TN_OP_call &&
		    !tn_map_set(&in->around, op, sizes))
			return false;
		if (op->code == TN_OP_launch) {
			kernel = tn_inline_kernel(op->kernel, sizes->dims);
			if (!kernel)
				return false;
			tn_rw_set_kernel(in->context->rw, op, kernel);
		}
		for (i = 0; i < op->nregions; i++)
			if (!adapt(in, op->regions[i]->first, NULL, sizes))
				return false;
	}
	return true;
}

/* What a library operator does happens where the user called it: the ops from
 * `first` up to `end`, and what is in them. */
static void claim_places(struct tn_rw *rw, struct tn_op *first,
			 const struct tn_op *end, struct tn_span span)
{
	struct tn_op *op;
	int i;

	for (op = first; op != end; op = op->next) {
		tn_rw_set_span(rw, op, span);
		for (i = 0; i < op->nregions; i++)
			claim_places(rw, op->regions[i]->first, NULL, span);
	}
}

static bool inline_call(struct inliner *in, struct tn_op *op)
{
	struct tn_block *block = op->block;
	struct tn_op *before = op->prev;

	if (!make_room(in) || !is_affordable(in, op))
		return false;
	tn_rw_note(in->context->rw, "inline", op);
	memset(in->dims, 0, dims_bytes(in));
	bind_dims(in, op);
	bind_around(in, op);
	if (!copy_body(in, op))
		return false;
	if (renames(in)) {
		struct sizes *sizes;

		if (!make_room(in))
			return false;
		sizes = keep_sizes(in);
		if (!sizes || !adapt(in, before ? before->next : block->first,
				     op, sizes))
			return false;
		memcpy(in->outer, in->dims, dims_bytes(in));
		if (!open_groups(in, before ? before->next : block->first,
				 op->prev))
			return false;
	}
	if (op->callee->is_library)
		claim_places(in->context->rw, before ? before->next :
			     block->first, op, op->span);
	if (!tn_rw_close(in->context->rw, op))
		return false;
	in->changed = true;
	in->next = before ? before->next : block->first;
	return true;
}

static bool inline_block(struct inliner *in, struct tn_block *block)
{
	struct tn_op *op = block->first;
	bool good;
	int i;

	while (op) {
		if (is_kept(in, op)) {
			for (i = 0; i < op->nregions; i++)
				if (!inline_block(in, op->regions[i]))
					return false;
			op = op->next;
			continue;
		}
		tn_pass_part(in->context, op->callee->name);
		good = inline_call(in, op);
		tn_pass_part_end(in->context);
		if (!good)
			return false;
		op = in->next;
	}
	return true;
}

/* ---- What goes with the functions ------------------------------------ */

static bool is_letter(char c)
{
	return tn_ascii_is_word(c) || (unsigned char)c > 127;
}

/* True if a word of the text is one of `names`. */
static bool mentions(const char *text, const struct tn_map *names)
{
	const char *start;

	while (*text) {
		if (!is_letter(*text)) {
			text++;
			continue;
		}
		for (start = text; is_letter(*text); text++)
			;
		if (tn_map_find_n(names, start, (size_t)(text - start)))
			return true;
	}
	return false;
}

/* True if the item's text may call functions: behind annotations, a test, a
 * rule, a generic `fn` or `op`. */
static bool is_caller(const struct tn_item *item)
{
	static const char *const words[] = { "test ", "fn ", "op ", "rule " };
	const char *text = item->u.text;
	size_t i;

	if (item->kind != TN_ITEM_TEXT)
		return false;
	while (*text == '@') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

struct dropping {
	const struct tn_fn *entry;
	struct tn_map names;	/* of what went */
	struct tn_map makers;	/* of weights, and what these call */
	bool failed;
};

/* Functions that the block calls are kept, too. */
static bool keep_called(struct dropping *d, const struct tn_block *block,
			struct tn_vec *list)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (op->callee && !tn_map_has(&d->makers, op->callee) &&
		    (!tn_map_set(&d->makers, op->callee, d) ||
		     !tn_vec_push_ptr(list, op->callee)))
			return false;
		for (i = 0; i < op->nregions; i++)
			if (!keep_called(d, op->regions[i], list))
				return false;
	}
	return true;
}

/* What makes weights stays, called or not. */
static void find_makers(struct dropping *d)
{
	const struct tn_vec *fns = &d->entry->module->fns;
	struct tn_vec list;
	struct tn_fn *fn;
	size_t i;

	tn_vec_init(&list, sizeof(struct tn_fn *), NULL);
	for (i = 0; i < fns->len; i++) {
		fn = tn_vec_ptr(fns, i);
		if (fn->makes_weight && !tn_map_has(&d->makers, fn) &&
		    (!tn_map_set(&d->makers, fn, d) ||
		     !tn_vec_push_ptr(&list, fn)))
			d->failed = true;
	}
	for (i = 0; i < list.len && !d->failed; i++) {
		fn = tn_vec_ptr(&list, i);
		d->failed = !keep_called(d, fn->body, &list);
	}
	tn_vec_fini(&list);
}

/* True if the item goes; its name is noted. */
static bool is_dropped(void *data, const struct tn_item *item)
{
	struct dropping *d = data;

	if (item->kind == TN_ITEM_FN ?
	    item->u.fn == d->entry || item->u.fn->kind != TN_FN_PLAIN ||
	    tn_map_has(&d->makers, item->u.fn) :
	    !is_caller(item) || !mentions(item->u.text, &d->names))
		return false;
	if (item->name && !tn_map_set(&d->names, item->name, d))
		d->failed = true;
	return true;
}

/* Functions that nothing calls any more leave the module, and what mentions
 * them, until all that is left has what it names. */
static bool drop_items(struct inliner *in)
{
	struct dropping d = { .entry = in->context->entry };
	size_t gone;

	tn_map_init_text(&d.names);
	tn_map_init_ptr(&d.makers);
	find_makers(&d);
	do {
		gone = tn_rw_drop_items(in->context->rw, is_dropped, &d);
		in->changed = in->changed || gone > 0;
	} while (gone > 0 && !d.failed);
	tn_map_fini(&d.makers);
	tn_map_fini(&d.names);
	return !d.failed;
}

static bool inline_all(struct inliner *in)
{
	return make_room(in) && inline_block(in, in->context->entry->body) &&
		drop_items(in);
}

enum tn_pass_result tn_pass_inline(struct tn_pass_context *context)
{
	struct inliner in = { .context = context };
	uint32_t errors = context->module->sink->errors;
	bool good;

	tn_map_init_ptr(&in.guards);
	tn_map_init_ptr(&in.around);
	good = inline_all(&in);
	tn_map_fini(&in.guards);
	tn_map_fini(&in.around);
	free(in.dims);
	free(in.outer);
	if (!good) {
		if (context->module->sink->errors == errors)
			context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return in.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}

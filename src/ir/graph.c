/*
 * The graph's nodes: making, linking and unlinking them.
 *
 * Every list is doubly linked, so each step takes time in proportion to what
 * it touches. Arrays that grow (parameters, regions, annotations) have room
 * for the next power of two.
 */
#include "ir/graph_edit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"

/* Notes that memory ran out. */
static void *failed(struct tn_module *module)
{
	module->failed = true;
	return NULL;
}

static void *make(struct tn_module *module, size_t count, size_t size)
{
	void *memory = tn_arena_array(&module->arena, count, size);

	return memory ? memory : failed(module);
}

/* The graph is another one from here on. Detached ops are not part of it. */
static void touch(const struct tn_block *block)
{
	if (block)
		block->fn->module->epoch++;
}

/* The array with room for one more than `count` elements; NULL: no memory. */
static void *grow(struct tn_module *module, void *array, int count,
		  size_t size)
{
	void *larger;

	if (count > 0 && (count & (count - 1)) != 0)
		return array;
	larger = make(module, count ? (size_t)count * 2 : 1, size);
	if (larger && count)
		memcpy(larger, array, (size_t)count * size);
	return larger;
}

/* ---- Names ----------------------------------------------------------- */

/* Length of the base if the name has the form base__n, else 0. */
static size_t base_len(const char *name)
{
	size_t len = strlen(name), at = len;

	while (at > 0 && tn_ascii_is_digit(name[at - 1]))
		at--;
	if (at == len || at < 3 || name[at - 1] != '_' || name[at - 2] != '_')
		return 0;
	return at - 2;
}

static bool is_body_param(const struct tn_value *value)
{
	return value->block && !value->block->parent;
}

/* Names of values inside a function may not hide weights and dims, which its
 * text may mention. */
static bool is_taken(const struct tn_fn *fn, const struct tn_value *value,
		     const char *name)
{
	const struct tn_value *holder = tn_map_find(&fn->names, name);

	if (holder)
		return holder != value;
	if (is_body_param(value))
		return false;
	return tn_map_has(&fn->module->weight_names, name) ||
	       tn_map_has(&fn->module->dim_names, name);
}

/* The next free base__n, n at least `least`; NULL: no memory. */
static const char *make_name(struct tn_fn *fn, const struct tn_value *value,
			     const char *base, uintptr_t least)
{
	uintptr_t count = (uintptr_t)tn_map_find(&fn->name_counts, base);
	struct tn_buf text;
	const char *name = NULL;

	count = count < least ? least : count;
	tn_buf_init(&text);
	do {
		tn_buf_clear(&text);
		tn_buf_putf(&text, "%s__%llu", base,
			    (unsigned long long)count++);
	} while (!text.failed && is_taken(fn, value, tn_buf_text(&text)));
	if (!text.failed)
		name = tn_intern_text(fn->module->names, tn_buf_text(&text));
	tn_buf_fini(&text);
	if (name && !tn_map_set(&fn->name_counts, base, (void *)count))
		return NULL;
	return name;
}

/* Gives the old name of a value free; a made one that was the last of its
 * base may be made again. */
static void drop_name(struct tn_fn *fn, struct tn_value *value)
{
	size_t len;
	char base[64];
	uintptr_t count;

	if (!value->name || tn_map_find(&fn->names, value->name) != value)
		return;
	tn_map_set(&fn->names, value->name, NULL);
	len = base_len(value->name);
	if (!len || len >= sizeof(base))
		return;
	memcpy(base, value->name, len);
	base[len] = '\0';
	count = (uintptr_t)tn_map_find(&fn->name_counts, base);
	if (count && strtoul(value->name + len + 2, NULL, 10) == count - 1)
		tn_map_set(&fn->name_counts, base, (void *)(count - 1));
}

bool tn_graph_name(struct tn_fn *fn, struct tn_value *value, const char *wish)
{
	struct tn_intern *names = fn->module->names;
	const char *name = NULL, *base = "t";
	size_t len = wish ? base_len(wish) : 0;

	fn->module->epoch++;
	drop_name(fn, value);
	if (wish)
		base = len ? tn_intern_add(names, wish, len) :
			     tn_intern_text(names, wish);
	if (base && wish && !is_taken(fn, value, wish))
		name = tn_intern_text(names, wish);
	value->is_named = name && !len;
	if (base && !name)
		name = make_name(fn, value, base, wish && !len);
	if (!name || !tn_map_set(&fn->names, name, value)) {
		failed(fn->module);
		return false;
	}
	value->name = name;
	return true;
}

/* ---- Functions, blocks, parameters ----------------------------------- */

static bool enter_fn(struct tn_module *module, struct tn_fn *fn)
{
	module->epoch++;
	if (!tn_vec_push_ptr(&module->fns, fn))
		return false;
	return fn->kind != TN_FN_PLAIN ||
	       tn_map_set(&module->fn_names, fn->name, fn);
}

struct tn_fn *tn_graph_fn(struct tn_module *module, const char *name,
			  enum tn_fn_kind kind)
{
	struct tn_fn *fn = make(module, 1, sizeof(*fn));

	if (!fn)
		return NULL;
	fn->name = tn_intern_text(module->names, name);
	fn->kind = kind;
	fn->module = module;
	fn->number = (int)module->fns.len;
	tn_vec_init(&fn->guards, sizeof(struct tn_guard), &module->arena);
	tn_map_init_text(&fn->names);
	tn_map_init_text(&fn->name_counts);
	fn->body = tn_graph_block(fn, NULL);
	if (!fn->name || !fn->body || !enter_fn(module, fn))
		return failed(module);
	return fn;
}

struct tn_weight *tn_graph_weight(struct tn_module *module, const char *name,
				  const struct tn_type *type,
				  struct tn_span span)
{
	struct tn_weight *weight = make(module, 1, sizeof(*weight));
	struct tn_value *value = make(module, 1, sizeof(*value));

	module->epoch++;
	if (!weight || !value)
		return NULL;
	weight->name = tn_intern_text(module->names, name);
	weight->type = value->type = type;
	weight->family = -1;
	weight->span = value->span = span;
	weight->value = value;
	weight->number = (int)module->weights.len;
	value->name = weight->name;
	value->id = ++module->nvalues;
	value->is_named = true;
	if (!weight->name || !tn_vec_push_ptr(&module->weights, weight) ||
	    !tn_map_set(&module->weight_names, weight->name, weight))
		return failed(module);
	return weight;
}

bool tn_graph_derive(struct tn_weight *weight, struct tn_fn *maker,
		     struct tn_weight *const *sources)
{
	struct tn_module *module = maker->module;
	size_t n = (size_t)maker->body->nparams;

	module->epoch++;
	weight->sources = make(module, n + 1, sizeof(*weight->sources));
	if (!weight->sources)
		return false;
	if (n)
		memcpy(weight->sources, sources, n * sizeof(*sources));
	weight->nsources = (int)n;
	weight->maker = maker;
	maker->makes_weight = true;
	return true;
}

struct tn_block *tn_graph_block(struct tn_fn *fn, struct tn_op *parent)
{
	struct tn_block *block = make(fn->module, 1, sizeof(*block)), **regions;

	if (!block)
		return NULL;
	block->fn = fn;
	block->parent = parent;
	if (!parent)
		return block;
	regions = grow(fn->module, parent->regions, parent->nregions,
		       sizeof(struct tn_block *));
	if (!regions)
		return NULL;
	parent->regions = regions;
	regions[parent->nregions++] = block;
	touch(parent->block);
	return block;
}

struct tn_value *tn_graph_param(struct tn_block *block, const char *name,
				const struct tn_type *type)
{
	struct tn_module *module = block->fn->module;
	struct tn_value *value = make(module, 1, sizeof(*value)), **params;

	if (!value)
		return NULL;
	params = grow(module, block->params, block->nparams,
		      sizeof(struct tn_value *));
	if (!params)
		return NULL;
	value->id = ++module->nvalues;
	value->type = type;
	value->block = block;
	value->index = block->nparams;
	block->params = params;
	params[block->nparams++] = value;
	return tn_graph_name(block->fn, value, name) ? value : NULL;
}

/* ---- Uses ------------------------------------------------------------ */

static void link_use(struct tn_use *use, struct tn_value *value)
{
	use->value = value;
	use->prev = NULL;
	use->next = value->uses;
	if (value->uses)
		value->uses->prev = use;
	value->uses = use;
}

static void unlink_use(struct tn_use *use)
{
	if (use->prev)
		use->prev->next = use->next;
	else
		use->value->uses = use->next;
	if (use->next)
		use->next->prev = use->prev;
	use->next = use->prev = NULL;
}

void tn_graph_set_operand(struct tn_op *op, int index, struct tn_value *value)
{
	assert(index >= 0 && index < op->nin);
	touch(op->block);
	unlink_use(&op->in[index]);
	link_use(&op->in[index], value);
}

void tn_graph_replace_uses(struct tn_value *from, struct tn_value *to)
{
	struct tn_use *use = from->uses, *last = NULL;

	if (from == to || !use)
		return;
	for (; use; use = use->next) {
		touch(use->op->block);
		use->value = to;
		last = use;
	}
	last->next = to->uses;
	if (to->uses)
		to->uses->prev = last;
	to->uses = from->uses;
	from->uses = NULL;
}

/* ---- Operators ------------------------------------------------------- */

static bool make_operands(struct tn_module *module, struct tn_op *op,
			  struct tn_value *const *in)
{
	int i;

	if (!op->nin)
		return true;
	op->in = make(module, (size_t)op->nin, sizeof(*op->in));
	if (!op->in)
		return false;
	for (i = 0; i < op->nin; i++) {
		op->in[i].op = op;
		op->in[i].index = i;
		link_use(&op->in[i], in[i]);
	}
	return true;
}

static bool make_results(struct tn_module *module, struct tn_op *op)
{
	int i;

	if (!op->nout)
		return true;
	op->out = make(module, (size_t)op->nout, sizeof(*op->out));
	for (i = 0; op->out && i < op->nout; i++) {
		struct tn_value *value = make(module, 1, sizeof(*value));

		if (!value)
			return false;
		value->id = ++module->nvalues;
		value->op = op;
		value->index = i;
		value->span = op->span;
		op->out[i] = value;
	}
	return op->out != NULL;
}

static bool make_attrs(struct tn_module *module, struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	int i;

	op->nattrs = info->nattrs;
	if (!op->nattrs)
		return true;
	op->attrs = make(module, (size_t)op->nattrs, sizeof(*op->attrs));
	for (i = 0; op->attrs && i < op->nattrs; i++) {
		op->attrs[i].name = info->attrs[i].name;
		op->attrs[i].kind = info->attrs[i].kind;
	}
	return op->attrs != NULL;
}

struct tn_op *tn_graph_op(struct tn_fn *fn, enum tn_opcode code, int nin,
			  struct tn_value *const *in, int nout,
			  struct tn_span span)
{
	struct tn_op *op = make(fn->module, 1, sizeof(*op));

	if (!op)
		return NULL;
	op->id = ++fn->module->nops;
	op->code = code;
	op->nin = nin;
	op->nout = nout;
	op->span = span;
	if (!make_results(fn->module, op) || !make_attrs(fn->module, op) ||
	    !make_operands(fn->module, op, in))
		return NULL;
	return op;
}

bool tn_graph_set_regions(struct tn_op *op, int nregions,
			  struct tn_block *const *regions)
{
	int i;

	if (!nregions)
		return true;
	op->regions = make(regions[0]->fn->module, (size_t)nregions,
			   sizeof(struct tn_block *));
	if (!op->regions)
		return false;
	op->nregions = nregions;
	for (i = 0; i < nregions; i++) {
		op->regions[i] = regions[i];
		regions[i]->parent = op;
	}
	return true;
}

void tn_graph_insert(struct tn_block *block, struct tn_op *op,
		     struct tn_op *before)
{
	int i;

	assert(!op->block && (!before || before->block == block));
	touch(block);
	op->block = block;
	op->next = before;
	op->prev = before ? before->prev : block->last;
	if (op->prev)
		op->prev->next = op;
	else
		block->first = op;
	if (before)
		before->prev = op;
	else
		block->last = op;
	for (i = 0; i < op->nout; i++)
		if (!op->out[i]->name)
			tn_graph_name(block->fn, op->out[i], NULL);
}

static void unlink_op(struct tn_op *op)
{
	struct tn_block *block = op->block;

	if (!block)
		return;
	if (op->prev)
		op->prev->next = op->next;
	else
		block->first = op->next;
	if (op->next)
		op->next->prev = op->prev;
	else
		block->last = op->prev;
	op->next = op->prev = NULL;
	op->block = NULL;
}

static void release_names(struct tn_fn *fn, int count,
			  struct tn_value *const *values)
{
	int i;

	for (i = 0; i < count; i++)
		if (values[i]->name &&
		    tn_map_find(&fn->names, values[i]->name) == values[i])
			tn_map_set(&fn->names, values[i]->name, NULL);
}

static void release(struct tn_fn *fn, struct tn_op *op);

static void release_block(struct tn_fn *fn, struct tn_block *block)
{
	struct tn_op *op;

	for (op = block->last; op; op = op->prev)
		release(fn, op);
	release_names(fn, block->nparams, block->params);
}

/* Gives back the uses and names of an op and of its regions. */
static void release(struct tn_fn *fn, struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++)
		unlink_use(&op->in[i]);
	op->nin = 0;
	if (fn)
		release_names(fn, op->nout, op->out);
	for (i = 0; i < op->nregions; i++)
		release_block(op->regions[i]->fn, op->regions[i]);
}

void tn_graph_remove(struct tn_op *op)
{
	struct tn_fn *fn = op->block ? op->block->fn : NULL;
	int i;

	for (i = 0; i < op->nout; i++)
		assert(!op->out[i]->uses);
	touch(op->block);
	unlink_op(op);
	release(fn, op);
}

struct tn_attr *tn_graph_attr(const struct tn_op *op, const char *name)
{
	int i;

	for (i = 0; i < op->nattrs; i++)
		if (op->attrs[i].name && strcmp(op->attrs[i].name, name) == 0)
			return &op->attrs[i];
	return NULL;
}

/* ---- What nobody reads ----------------------------------------------- */

/* A launch that only raises, or whose result has a size that it sets. */
static bool is_felt_launch(const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nout; i++)
		if (tn_type_has_runtime(op->out[i]->type))
			return true;
	return op->nout == 0;
}

static bool is_felt(const struct tn_op *op)
{
	const struct tn_op *inner;
	int i;

	if (op->code == TN_OP_launch)
		return is_felt_launch(op);
	if (tn_op_has(op->code, TN_FLAG_EFFECT | TN_FLAG_SIZES))
		return true;
	for (i = 0; i < op->nregions; i++)
		for (inner = op->regions[i]->first; inner; inner = inner->next)
			if (is_felt(inner))
				return true;
	return false;
}

bool tn_graph_is_dead(const struct tn_op *op)
{
	int i;

	if (op->code == TN_OP_return || op->code == TN_OP_yield)
		return false;
	for (i = 0; i < op->nout; i++)
		if (op->out[i]->uses)
			return false;
	return !is_felt(op);
}

/* ---- Annotations ----------------------------------------------------- */

const struct tn_annot *tn_annots_find(const struct tn_annots *annots,
				      const char *name)
{
	int i;

	for (i = 0; i < annots->count; i++)
		if (strcmp(annots->list[i].name, name) == 0)
			return &annots->list[i];
	return NULL;
}

bool tn_annots_add(struct tn_module *module, struct tn_annots *annots,
		   const char *name, const char *args, struct tn_span span)
{
	size_t count = (size_t)annots->count;
	struct tn_annot *list = make(module, count + 1, sizeof(*list));

	if (!list)
		return false;
	if (count)
		memcpy(list, annots->list, count * sizeof(*list));
	list[count].name = tn_intern_text(module->names, name);
	list[count].span = span;
	if (args)
		list[count].args = tn_arena_strndup(&module->arena, args,
						    strlen(args));
	if (!list[count].name || (args && !list[count].args)) {
		failed(module);
		return false;
	}
	annots->list = list;
	annots->count++;
	return true;
}

bool tn_guard_holds(const struct tn_guard *guard, int64_t a, int64_t b)
{
	switch (guard->kind) {
	case TN_GUARD_EQ:
		return a == b;
	case TN_GUARD_LE:
		return a <= b;
	case TN_GUARD_DIVIDES:
		break;
	}
	return b != 0 && tn_num_floormod(a, b) == 0;
}

/*
 * Analyses of a function: where each operator stands, who reads a value, until
 * when, and how many bytes it has.
 */
#include "ir/analysis.h"

#include <stdlib.h>
#include <string.h>

void tn_analyses_init(struct tn_analyses *analyses, const struct tn_fn *fn)
{
	*analyses = (struct tn_analyses){ .fn = fn };
}

void tn_analyses_fini(struct tn_analyses *analyses)
{
	int i;

	for (i = 0; i < TN_ANALYSIS_COUNT; i++)
		free(analyses->arrays[i].data);
	tn_analyses_init(analyses, analyses->fn);
}

/* ---- Order --------------------------------------------------------------- */

static int64_t number_block(struct tn_position *order,
			    const struct tn_block *block, int64_t step)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		order[op->id].step = order[op->id].end = step++;
		for (i = 0; i < op->nregions; i++)
			step = number_block(order, op->regions[i], step);
		if (op->nregions)
			order[op->id].end = step++;
	}
	return step;
}

/* Element 0, which no op has, says how many steps there are. */
static bool find_order(struct tn_analyses *analyses, void *data)
{
	struct tn_position *order = data;

	order[0].step = number_block(order, analyses->fn->body, 1) - 1;
	return true;
}

bool tn_order_dominates(const struct tn_position *order,
			const struct tn_op *a, const struct tn_op *b)
{
	if (order[a->id].step >= order[b->id].step)
		return false;
	while (b && b->block != a->block)
		b = b->block->parent;
	return b && b != a;
}

/* ---- Values -------------------------------------------------------------- */

struct walk {
	int64_t *values;
	const struct tn_position *order;
	void (*value)(struct walk *walk, const struct tn_value *value);
	void (*op)(struct walk *walk, const struct tn_op *op);
};

/* All ops of the block and its regions, and the values that they make. */
static void walk_block(struct walk *walk, const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (i = 0; walk->value && i < block->nparams; i++)
		walk->value(walk, block->params[i]);
	for (op = block->first; op; op = op->next) {
		if (walk->op)
			walk->op(walk, op);
		for (i = 0; walk->value && i < op->nout; i++)
			walk->value(walk, op->out[i]);
		for (i = 0; i < op->nregions; i++)
			walk_block(walk, op->regions[i]);
	}
}

static void count_reads(struct walk *walk, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++)
		walk->values[tn_graph_in(op, i)->id]++;
}

static bool find_readers(struct tn_analyses *analyses, void *data)
{
	struct walk walk = { .values = data, .op = count_reads };

	walk_block(&walk, analyses->fn->body);
	return true;
}

/* The block in which the value's bytes are set: of a carry that around its
 * loop. */
static const struct tn_block *home(const struct tn_value *value)
{
	if (value->op)
		return value->op->block;
	return value->block && value->block->parent ?
		value->block->parent->block : value->block;
}

/* The outermost loop around `op` that does not contain the value's home: what
 * it reads from outside is read again by its next turn. */
static const struct tn_op *outer_loop(const struct tn_op *op,
				      const struct tn_value *value)
{
	const struct tn_block *block = op->block, *end = home(value);
	const struct tn_op *found = NULL, *parent;

	for (; block != end && block->parent; block = parent->block) {
		parent = block->parent;
		if (tn_op_is_loop(parent->code))
			found = parent;
	}
	return found;
}

static void note_reads(struct walk *walk, const struct tn_op *op)
{
	const struct tn_value *value;
	const struct tn_op *loop;
	int64_t step;
	int i;

	for (i = 0; i < op->nin; i++) {
		value = tn_graph_in(op, i);
		loop = outer_loop(op, value);
		step = loop ? walk->order[loop->id].end :
			      walk->order[op->id].step;
		if (walk->values[value->id] < step)
			walk->values[value->id] = step;
	}
}

static bool find_life(struct tn_analyses *analyses, void *data)
{
	struct walk walk = {
		.values = data, .op = note_reads,
		.order = tn_analyses_order(analyses)
	};

	if (walk.order)
		walk_block(&walk, analyses->fn->body);
	return walk.order != NULL;
}

static void note_bytes(struct walk *walk, const struct tn_value *value)
{
	walk->values[value->id] = tn_type_max_bytes(NULL, value->type);
}

static bool find_bytes(struct tn_analyses *analyses, void *data)
{
	struct walk walk = { .values = data, .value = note_bytes };

	walk_block(&walk, analyses->fn->body);
	return true;
}

/* ---- The cache ----------------------------------------------------------- */

static const struct {
	const char *name;
	bool by_op;
	size_t size;
	bool (*find)(struct tn_analyses *analyses, void *data);
} kinds[TN_ANALYSIS_COUNT] = {
	[TN_ANALYSIS_ORDER] = {
		"order", true, sizeof(struct tn_position), find_order
	},
	[TN_ANALYSIS_READERS] = {
		"readers", false, sizeof(int64_t), find_readers
	},
	[TN_ANALYSIS_LIFE] = { "life", false, sizeof(int64_t), find_life },
	[TN_ANALYSIS_BYTES] = { "bytes", false, sizeof(int64_t), find_bytes }
};

const char *tn_analysis_name(enum tn_analysis analysis)
{
	return kinds[analysis].name;
}

static bool holds(const struct tn_analyses *analyses,
		  enum tn_analysis analysis)
{
	const struct tn_analysis_array *array = &analyses->arrays[analysis];

	return array->is_known &&
		array->epoch == analyses->fn->module->epoch;
}

/* The array, computed now if need be; NULL: out of memory. */
static const void *find(struct tn_analyses *analyses,
			enum tn_analysis analysis)
{
	struct tn_analysis_array *array = &analyses->arrays[analysis];
	const struct tn_module *module = analyses->fn->module;
	size_t len = kinds[analysis].by_op ? module->nops : module->nvalues;
	void *data;

	if (holds(analyses, analysis))
		return array->data;
	data = calloc(len + 1, kinds[analysis].size);
	if (!data || !kinds[analysis].find(analyses, data)) {
		free(data);
		return NULL;
	}
	free(array->data);
	*array = (struct tn_analysis_array){
		.data = data, .len = len + 1, .epoch = module->epoch,
		.is_known = true
	};
	return data;
}

const struct tn_position *tn_analyses_order(struct tn_analyses *analyses)
{
	return find(analyses, TN_ANALYSIS_ORDER);
}

int64_t tn_analyses_steps(struct tn_analyses *analyses)
{
	const struct tn_position *order = tn_analyses_order(analyses);

	return order ? order[0].step : -1;
}

const int64_t *tn_analyses_readers(struct tn_analyses *analyses)
{
	return find(analyses, TN_ANALYSIS_READERS);
}

const int64_t *tn_analyses_life(struct tn_analyses *analyses)
{
	return find(analyses, TN_ANALYSIS_LIFE);
}

const int64_t *tn_analyses_bytes(struct tn_analyses *analyses)
{
	return find(analyses, TN_ANALYSIS_BYTES);
}

/* ---- What is kept -------------------------------------------------------- */

unsigned tn_analyses_known(const struct tn_analyses *analyses)
{
	unsigned known = 0;
	int i;

	for (i = 0; i < TN_ANALYSIS_COUNT; i++)
		if (holds(analyses, (enum tn_analysis)i))
			known |= 1u << i;
	return known;
}

void tn_analyses_keep(struct tn_analyses *analyses, unsigned set)
{
	int i;

	for (i = 0; i < TN_ANALYSIS_COUNT; i++)
		if (set & 1u << i)
			analyses->arrays[i].epoch =
				analyses->fn->module->epoch;
}

/* Alike as far as both go; what only one has is nothing. */
static bool same(const struct tn_analysis_array *a,
		 const struct tn_analysis_array *b, size_t size)
{
	const struct tn_analysis_array *longer = a->len > b->len ? a : b;
	size_t least = size * (a->len < b->len ? a->len : b->len), i;
	const unsigned char *rest = longer->data;

	if (memcmp(a->data, b->data, least))
		return false;
	for (i = least; i < size * longer->len; i++)
		if (rest[i])
			return false;
	return true;
}

enum tn_analysis tn_analyses_check(const struct tn_analyses *analyses,
				   bool *failed)
{
	struct tn_analyses fresh;
	int i;

	tn_analyses_init(&fresh, analyses->fn);
	*failed = false;
	for (i = 0; i < TN_ANALYSIS_COUNT && !*failed; i++) {
		if (!holds(analyses, (enum tn_analysis)i))
			continue;
		*failed = !find(&fresh, (enum tn_analysis)i);
		if (!*failed && !same(&analyses->arrays[i], &fresh.arrays[i],
				      kinds[i].size))
			break;
	}
	tn_analyses_fini(&fresh);
	return *failed ? TN_ANALYSIS_COUNT : (enum tn_analysis)i;
}

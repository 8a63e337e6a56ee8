/*
 * Places made up for a rule, to try it at: types, attributes and constants
 * drawn from a seed, and the left side as a function of the rest.
 *
 *   rule   pad_pad<T: any>(x: T[*P], p: pairs, q: pairs) : pad(pad(x, p), q)
 *   seed   T = i8, P = [3, 0], p = [[1, 0], [0, 2]], q = [[0, 0], [1, 1]]
 *   gives  fn (x: i8[3, 0]) { a = pad(x, p); return pad(a, q); }
 *
 * Sizes come from 0, 1, 2, 3, 5, 16 and 17. Most draws of attributes fit no
 * operator: then there is no function, and the next seed is tried.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "grammar/elab_rule.h"
#include "ir/graph_edit.h"
#include "ir/rewrite.h"

/* Most elements of an operand. */
#define MAX_COUNT 4096

struct sampler {
	struct frame frame;
	const struct tn_rule *rule;
	uint64_t state;
	const struct tn_rule_place *place;
	int rank;			/* wished of a pack */
	int shape;			/* digits left */
	const struct tn_dim *last;	/* size that was drawn */
	const struct tn_type *types[TN_RULE_VARS];
	struct tn_attr attrs[TN_RULE_VARS];
};

static int pick(struct sampler *s, int count)
{
	return count > 0 ? (int)(tn_random(&s->state) % (uint64_t)count) : 0;
}

static struct tn_dim_pool *pool_of(struct sampler *s)
{
	return &s->frame.e->module->dims;
}

static const struct tn_param *param_at(const struct sampler *s, int i)
{
	const struct elab_rule *text = s->rule->source;

	return text->before->item->u.sig->params.at[i];
}

/* ---- What `where` asks -------------------------------------------------- */

/* The fact that `where` asks of the name, if `wanted` is true for it. */
static const char *asked(const struct tn_expr *where, const char *name,
			 bool (*wanted)(int fact))
{
	const struct tn_args *args;
	const char *found;

	if (!where)
		return NULL;
	if (where->kind == TN_EXPR_CALL) {
		args = &where->u.call.args;
		if (args->len && args->at[0]->value &&
		    args->at[0]->value->kind == TN_EXPR_NAME &&
		    args->at[0]->value->u.name == name &&
		    wanted(elab_fact_find(where->u.call.name)))
			return where->u.call.name;
		return NULL;
	}
	if (where->kind != TN_EXPR_UNARY && where->kind != TN_EXPR_BINARY)
		return NULL;
	found = asked(where->u.binary.left, name, wanted);
	return found ? found : asked(where->u.binary.right, name, wanted);
}

static bool is_all_one(int fact)
{
	return fact >= 0 && fact == elab_fact_find("all_one");
}

/* ---- Types ------------------------------------------------------------- */

static void bind_generics(struct sampler *s, int dtype)
{
	const struct elab_rule *text = s->rule->source;
	const struct tn_generics *list = &text->item->u.rule.sig->generics;
	enum tn_dtype fits[TN_DTYPE_COUNT];
	struct ev ev;
	uint32_t i;
	int count, k;

	for (i = 0; i < list->len; i++) {
		const struct tn_generic *generic = list->at[i];

		for (k = count = 0; k < TN_DTYPE_COUNT; k++)
			if (elab_class_has(generic->class_name.text,
					   (enum tn_dtype)k))
				fits[count++] = (enum tn_dtype)k;
		ev = ev_poison(generic->name.span);
		ev.kind = EV_ELEM;
		ev.u.elem = fits[(dtype + (int)i) % (count ? count : 1)];
		frame_bind(&s->frame, generic->name, ev);
	}
}

/* A symbol of the sample: one that it has, or a new one. */
static const struct tn_dim *any_symbol(struct sampler *s)
{
	struct tn_dim_pool *pool = pool_of(s);
	struct tn_sym sym = { .lo = pick(s, 2), .hi = 64, .mod = 1 };

	if (s->last && pick(s, 3) == 0)
		return s->last;
	sym.name = tn_arena_printf(&s->frame.e->module->arena, "n__%d",
				   pool->nsyms);
	s->last = sym.name ? tn_dim_new_sym(pool, &sym) : NULL;
	return s->last;
}

static const struct tn_dim *any_size(struct sampler *s)
{
	static const int64_t sizes[] = { 1, 2, 3, 5, 0, 16, 17 };
	int count = s->rank > 2 ? 4 : 7, digit = s->shape % 4;

	if (s->place->is_symbolic && pick(s, 2))
		return any_symbol(s);
	if (s->shape > 1) {
		s->shape /= 4;
		return tn_dim_const(pool_of(s), digit);
	}
	if (s->last && pick(s, 3) == 0)
		return s->last;
	s->last = tn_dim_const(pool_of(s), pick(s, 8) == 0 ? 0 :
						 sizes[pick(s, count)]);
	return s->last;
}

static bool add_pack(struct sampler *s, const struct tn_name *pack,
		     const struct tn_dim **dims, int *rank)
{
	const struct bind *bind = frame_find(&s->frame, pack->text);
	const struct elab_rule *text = s->rule->source;
	struct ev made[TN_MAX_RANK];
	int count = s->rank, i;
	bool is_ones = asked(text->where, pack->text, is_all_one) != NULL;

	if (bind && bind->ev.kind == EV_LIST)
		count = bind->ev.u.list.len;
	if (*rank + count > TN_MAX_RANK)
		return false;
	for (i = 0; i < count; i++) {
		if (!bind)
			made[i] = ev_dim(is_ones ?
					 tn_dim_const(pool_of(s), 1) :
					 any_size(s), pack->span);
		dims[(*rank)++] = bind ? bind->ev.u.list.at[i].u.dim :
					 made[i].u.dim;
	}
	if (!bind)
		frame_bind(&s->frame, *pack,
			   ev_list(s->frame.e, made, count, pack->span));
	return true;
}

static const struct tn_dim *size_of(struct sampler *s,
				    const struct tn_expr *size)
{
	struct tn_name name = {size->u.name, size->span};

	if (size->kind == TN_EXPR_NAME &&
	    !frame_find(&s->frame, size->u.name))
		frame_bind(&s->frame, name, ev_dim(any_size(s), size->span));
	return elab_dim(&s->frame, size);
}

static const struct tn_type *sample_type(struct sampler *s,
					 const struct tn_tree_type *type)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int rank = 0, i;
	int64_t count = 1;
	uint32_t k;

	for (k = 0; k < type->shape.len; k++) {
		const struct tn_extent *extent = type->shape.at[k];

		if (!extent->size) {
			if (!add_pack(s, &extent->pack, dims, &rank))
				return NULL;
			continue;
		}
		if (rank == TN_MAX_RANK)
			return NULL;
		dims[rank] = size_of(s, extent->size);
		if (!dims[rank++])
			return NULL;
	}
	for (i = 0; i < rank; i++) {
		if (!tn_dim_is_const(dims[i]) && !s->place->is_symbolic)
			return NULL;
		if (tn_dim_is_const(dims[i]))
			count *= dims[i]->value;
		if (count > MAX_COUNT)
			return NULL;
	}
	return tn_type_get(s->frame.e->module, elab_elem(&s->frame, type),
			   rank, dims);
}

/* ---- Attributes -------------------------------------------------------- */

/* The type of an operand, the first one most often. */
static const struct tn_type *any_type(struct sampler *s)
{
	int i, at = pick(s, 4) ? 0 : pick(s, s->rule->nvars);

	for (i = 0; i < s->rule->nvars; i++, at++)
		if (s->types[at % s->rule->nvars])
			return s->types[at % s->rule->nvars];
	return NULL;
}

static const int64_t *some_ints(struct sampler *s, int count, bool is_perm)
{
	int64_t *ints = elab_array(s->frame.e, (size_t)count + 1,
				   sizeof(*ints));
	int64_t kept, least = pick(s, 2);
	int i, k;

	for (i = 0; ints && i < count; i++)
		ints[i] = is_perm ? i : least + pick(s, 3);
	for (i = count - 1; ints && is_perm && i > 0; i--) {
		k = pick(s, i + 1);
		kept = ints[i];
		ints[i] = ints[k];
		ints[k] = kept;
	}
	return ints;
}

/* The same of symbols: as they are, all of them as one, one more in front,
 * the first two as one, zeros. */
static void some_symbols(struct sampler *s, const struct tn_type *type,
			 const struct tn_dim **dims, int *count)
{
	const struct tn_dim *product = tn_dim_const(pool_of(s), 1);
	int way = pick(s, 5), i;

	*count = 0;
	if (way == 2 && type->rank < TN_MAX_RANK)
		dims[(*count)++] = any_size(s);
	for (i = 0; i < type->rank; i++) {
		product = tn_dim_mul(pool_of(s), product, type->dims[i]);
		if (way == 1 && i + 1 < type->rank)
			continue;
		if (way == 3 && i == 0 && type->rank > 1)
			continue;
		dims[(*count)++] = way == 4 ? tn_dim_const(pool_of(s), 0) :
			way == 1 || (way == 3 && i == 1) ? product :
			type->dims[i];
	}
}

/* Sizes that might be a shape, a start or a stop. */
static void some_sizes(struct sampler *s, const struct tn_type *type,
		       const struct tn_dim **dims, int *count)
{
	int way = pick(s, 5), i;
	int64_t left = 1, divisor;

	*count = type->rank;
	for (i = 0; i < type->rank; i++) {
		left *= type->dims[i]->value;
		dims[i] = way == 0 ? tn_dim_const(pool_of(s), pick(s, 2)) :
			  way == 1 ? tn_dim_const(pool_of(s), pick(s, 4)) :
				     type->dims[i];
	}
	if (way == 2 && type->rank < TN_MAX_RANK) {
		memmove(dims + 1, dims, (size_t)type->rank * sizeof(*dims));
		dims[0] = any_size(s);
		*count = type->rank + 1;
	}
	if (way < 3)
		return;
	for (*count = 0; left > 1 && *count < 4; left /= divisor) {
		divisor = 1 + pick(s, 6);
		if (left % divisor)
			divisor = left;
		dims[(*count)++] = tn_dim_const(pool_of(s), divisor);
	}
	if (left == 0)
		dims[(*count)++] = tn_dim_const(pool_of(s), 0);
}

static bool sample_dims(struct sampler *s, const char *word,
			const struct tn_type *type, struct tn_attr *out)
{
	const struct tn_dim **dims;
	int count = type->rank, i;
	int zeros = pick(s, 2) ? 4 : 0;

	dims = elab_array(s->frame.e, 2 * TN_MAX_RANK + 2, sizeof(*dims));
	if (!dims)
		return false;
	if (strcmp(word, "dims") == 0) {
		if (s->place->is_symbolic)
			some_symbols(s, type, dims, &count);
		else
			some_sizes(s, type, dims, &count);
		*out = tn_attr_dims(out->name, count, dims);
		return true;
	}
	if (count > 2 && pick(s, 2))
		count -= 2;
	for (i = 0; i < 2 * count; i++)
		dims[i] = tn_dim_const(pool_of(s), i < zeros ? 0 : pick(s, 3));
	*out = tn_attr_pairs(out->name, count, dims);
	return true;
}

/* An attribute of the kind that the word declares; false: it is left out. */
static bool sample_attr(struct sampler *s, const struct tn_param *param,
			struct tn_attr *out)
{
	static const double numbers[] = { 0, 1, -1, 0.5, 2, -3.25, 1e-3 };
	static const char *const strings[] = { "tanh", "none", "valid", "all",
					       "linear", "nearest" };
	const struct tn_type *type = any_type(s);
	const char *word = param->type->name.text;
	int count;

	out->name = param->name.text;
	if (!type || (param->init && pick(s, 2)))
		return false;
	count = pick(s, 4) ? type->rank : pick(s, type->rank + 1);
	if (strcmp(word, "perm") == 0)
		*out = tn_attr_ints(out->name, type->rank,
				    some_ints(s, type->rank, true));
	else if (strcmp(word, "ints") == 0)
		*out = tn_attr_ints(out->name, count,
				    some_ints(s, count, pick(s, 2)));
	else if (strcmp(word, "int") == 0)
		*out = tn_attr_int(out->name, pick(s, type->rank + 2) -
				   (pick(s, 4) == 0));
	else if (strcmp(word, "float") == 0)
		*out = tn_attr_float(out->name, numbers[pick(s, 7)]);
	else if (strcmp(word, "flag") == 0 || strcmp(word, "bool") == 0)
		*out = tn_attr_bool(out->name, pick(s, 2));
	else if (strcmp(word, "string") == 0)
		*out = tn_attr_string(out->name, strings[pick(s, 6)]);
	else if (strcmp(word, "elem") == 0 || strcmp(word, "dtype") == 0)
		*out = tn_attr_dtype(out->name,
				     (enum tn_dtype)pick(s, TN_bool + 1));
	else if (strcmp(word, "dim") == 0)
		*out = tn_attr_dim(out->name, any_size(s));
	else
		return sample_dims(s, word, type, out);
	return true;
}

/* ---- Constants --------------------------------------------------------- */

static double const_number(struct sampler *s, const char *fact)
{
	static const double any[] = { 0, 1, -1, 2, 0.5, -3, 7, 1.5, -0.25 };
	double x = any[pick(s, 9)];

	if (strcmp(fact, "power_of_two") == 0)
		return ldexp(pick(s, 2) ? 1 : -1, pick(s, 8) - 4);
	if (strcmp(fact, "positive") == 0)
		return fabs(x) + 1;
	return strcmp(fact, "nonzero") == 0 && x == 0 ? 3 : x;
}

static struct tn_value *sample_const(struct sampler *s, const char *fact,
				     const struct tn_type *type)
{
	struct tn_value *value = NULL;
	int64_t shape[TN_MAX_RANK], i;
	struct tn_tensor tensor;
	double all = const_number(s, fact);
	bool is_splat = pick(s, 2);
	int k;

	for (k = 0; k < type->rank; k++) {
		if (!tn_dim_is_const(type->dims[k]))
			return NULL;
		shape[k] = type->dims[k]->value;
	}
	if (!tn_tensor_init(&tensor, type->dtype, type->rank, shape))
		return NULL;
	for (i = 0; i < tn_tensor_count(&tensor); i++)
		tn_tensor_set_f64(&tensor, i, is_splat ? all :
				  const_number(s, fact));
	value = tn_build_const(&s->frame.b, &tensor, s->rule->span);
	tn_tensor_fini(&tensor);
	return value;
}

/* ---- The function ------------------------------------------------------ */

static bool draw_all(struct sampler *s, int dtype)
{
	const struct tn_param *param;
	int i;

	bind_generics(s, dtype);
	for (i = 0; i < s->rule->nvars; i++) {
		param = param_at(s, i);
		if (s->rule->vars[i].is_attr)
			continue;
		s->types[i] = sample_type(s, param->type);
		if (!s->types[i] || tn_type_is_poison(s->types[i]))
			return false;
	}
	for (i = 0; i < s->rule->nvars; i++) {
		param = param_at(s, i);
		if (!s->rule->vars[i].is_attr)
			continue;
		s->attrs[i].is_set = sample_attr(s, param, &s->attrs[i]);
		if (s->attrs[i].is_set)
			frame_bind(&s->frame, param->name,
				   elab_attr_ev(s->frame.e, &s->attrs[i],
						param->span));
	}
	return true;
}

/* Parameters and constants of the function, in the places of the rule's. */
static bool make_values(struct sampler *s, struct tn_rule_match *match)
{
	const struct elab_rule *text = s->rule->source;
	const char *fact;
	int i;

	for (i = 0; i < s->rule->nvars; i++) {
		if (s->rule->vars[i].is_attr) {
			match->attrs[i] = s->attrs[i].is_set ? &s->attrs[i] :
							       NULL;
			continue;
		}
		fact = asked(text->where, s->rule->vars[i].name,
			     elab_fact_is_const);
		match->values[i] = fact ?
			sample_const(s, fact, s->types[i]) :
			tn_graph_param(s->frame.b.fn->body,
				       s->rule->vars[i].name, s->types[i]);
		if (!match->values[i])
			return false;
	}
	return true;
}

/* The left side's operators instead of the call that made them. */
static bool write_out(struct sampler *s, const struct tn_fn *side,
		      const struct tn_rule_match *match)
{
	struct tn_fn *fn = s->frame.b.fn;
	struct tn_rw rw = {.module = fn->module, .fuel = -1};
	struct tn_map map;
	bool good = true;
	int i, param = 0;

	tn_graph_remove(fn->body->last);
	tn_map_init_ptr(&map);
	for (i = 0; i < s->rule->nvars; i++)
		if (!s->rule->vars[i].is_attr)
			good &= tn_map_set(&map, side->body->params[param++],
					   match->values[i]);
	good = good && tn_rw_clone(&rw, side->body, fn->body, NULL, &map,
				   NULL);
	tn_map_fini(&map);
	fn->nresults = side->nresults;
	fn->result_names = side->result_names;
	fn->result_types = side->result_types;
	return good;
}

static bool sample(struct sampler *s, int dtype)
{
	const struct elab_rule *text = s->rule->source;
	struct tn_rule_match match = {.root = NULL};
	struct tn_fn *side;

	if (!draw_all(s, dtype) || !make_values(s, &match))
		return false;
	side = elab_rule_side(&s->frame, text->before, s->rule, &match);
	return side && side->nresults == 1 && write_out(s, side, &match);
}

struct tn_fn *tn_elab_rule_sample(struct tn_elab *e,
				  const struct tn_rule *rule,
				  const struct tn_rule_place *place)
{
	const struct elab_rule *text = rule->source;
	struct sampler s = {
		.rule = rule, .place = place, .rank = place->rank,
		.shape = place->shape,
		.state = place->seed * UINT64_C(0x9e3779b97f4a7c15) + 1
	};
	struct elab_trial trial;
	bool good;

	if (!elab_trial_begin(&trial, e, "sample"))
		return NULL;
	frame_init(&s.frame, e, NULL, text->before, trial.fn);
	good = sample(&s, place->dtype);
	frame_fini(&s.frame);
	elab_trial_end(&trial);
	if (good)
		return elab_trial_keep(&trial);
	elab_trial_drop(&trial);
	return NULL;
}

void tn_elab_rule_drop(struct tn_elab *e, struct tn_fn *fn)
{
	elab_drop_fn(e, fn);
}

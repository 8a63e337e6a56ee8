/*
 * Types of control flow: calls bind the dims of the callee to sizes of the
 * arguments; regions give back what their first values promise.
 */
#include "ir/infer_rules.h"

#include <stdlib.h>

/* ---- Calls --------------------------------------------------------------- */

struct call {
	struct tn_infer *inf;
	const struct tn_fn *callee;
	const struct tn_dim **map;	/* by symbol number */
	int nsyms;
	bool ok;
};

static const struct tn_type *param_type(const struct call *call, int i)
{
	return call->callee->body->params[i]->type;
}

static bool bad_argument(struct call *call, int i)
{
	struct tn_infer *inf = call->inf;
	struct tn_diag *diag = tn_infer_report(inf, TN_E0321,
			"argument %d of '%s' does not fit: %s wants %s", i + 1,
			call->callee->name,
			call->callee->body->params[i]->name,
			tn_infer_type_text(inf->module, param_type(call, i)));
	const struct tn_type *type = tn_infer_in(inf, i);
	int at;

	for (at = 0; at < type->rank; at++)
		tn_infer_note_dim(inf, diag, type->dims[at]);
	return false;
}

static bool check_arguments(struct call *call)
{
	struct tn_infer *inf = call->inf;
	int i;

	if (inf->op->nin != call->callee->body->nparams)
		return tn_infer_fail(inf, TN_E0501, "'%s' takes %d arguments, "
				     "not %d", call->callee->name,
				     call->callee->body->nparams,
				     inf->op->nin);
	for (i = 0; i < inf->op->nin; i++) {
		const struct tn_type *want = param_type(call, i);
		const struct tn_type *have = tn_infer_in(inf, i);

		if (!want || tn_type_is_poison(want))
			return false;
		if (want->dtype != have->dtype || want->rank != have->rank ||
		    want->encoding != have->encoding)
			return bad_argument(call, i);
	}
	return true;
}

static void bind_plain(struct call *call)
{
	int i;

	for (i = 0; i < call->inf->op->nin; i++) {
		const struct tn_type *want = param_type(call, i);
		int at;

		for (at = 0; at < want->rank; at++) {
			const struct tn_dim *dim = want->dims[at];

			if (dim->kind == TN_DIM_SYM &&
			    !call->map[dim->sym->number])
				call->map[dim->sym->number] =
					tn_infer_in(call->inf, i)->dims[at];
		}
	}
}

static void count_unbound(void *data, const struct tn_dim *dim)
{
	struct call *call = data;

	if (!call->map[dim->sym->number])
		call->ok = false;
}

static bool is_bound(struct call *call, const struct tn_dim *dim)
{
	call->ok = true;
	tn_dim_each_sym(dim, count_unbound, call);
	return call->ok;
}

static void bind_derived(struct call *call)
{
	int i;

	for (i = 0; i < call->inf->op->nin; i++) {
		const struct tn_type *want = param_type(call, i);
		int at;

		for (at = 0; at < want->rank; at++) {
			if (!is_bound(call, want->dims[at]))
				tn_dim_unify(&call->inf->module->dims,
					     want->dims[at],
					     tn_infer_in(call->inf,
							 i)->dims[at],
					     call->map);
		}
	}
}

static bool check_bound_sizes(struct call *call)
{
	struct tn_infer *inf = call->inf;
	int i;

	for (i = 0; i < inf->op->nin; i++) {
		const struct tn_type *want = param_type(call, i);
		int at;

		for (at = 0; at < want->rank; at++) {
			const struct tn_dim *dim =
				tn_dim_subst(&inf->module->dims,
					     want->dims[at], call->map);

			if (!tn_infer_made(inf, dim))
				return false;
			if (!tn_infer_same(inf, dim,
					   tn_infer_in(inf, i)->dims[at]))
				return bad_argument(call, i);
		}
	}
	return true;
}

/* The size given to a symbol keeps its bounds and divisibility. */
static void check_symbol(void *data, const struct tn_dim *dim)
{
	struct call *call = data;
	struct tn_infer *inf = call->inf;
	const struct tn_sym *sym = dim->sym;
	const struct tn_dim *value = call->map[sym->number];
	struct tn_diag *diag;

	if (!call->ok || !value || value == dim)
		return;
	call->ok = tn_infer_le(inf, tn_infer_const(inf, sym->lo), value) &&
		   (sym->hi == INT64_MAX ||
		    tn_infer_le(inf, value, tn_infer_const(inf, sym->hi))) &&
		   (sym->mod <= 1 ||
		    tn_infer_divides(inf, value,
				     tn_infer_const(inf, sym->mod)));
	if (call->ok)
		return;
	diag = tn_infer_report(inf, TN_E0322,
			       "'%s' takes %s in [%lld, %lld], not %s",
			       call->callee->name, sym->name,
			       (long long)sym->lo, (long long)sym->hi,
			       tn_infer_dim_text(inf, value));
	if (sym->mod > 1)
		tn_diag_note(inf->module->sink, diag,
			     "%s is a multiple of %lld", sym->name,
			     (long long)sym->mod);
	tn_infer_note_dim(inf, diag, dim);
	tn_infer_note_dim(inf, diag, value);
}

static bool check_bounds(struct call *call)
{
	int i;

	call->ok = true;
	for (i = 0; i < call->inf->op->nin; i++) {
		const struct tn_type *want = param_type(call, i);
		int at;

		for (at = 0; at < want->rank; at++)
			tn_dim_each_sym(want->dims[at], check_symbol, call);
	}
	return call->ok;
}

/* Guards of the callee hold for the sizes given here. */
static bool inherit_guard(struct call *call, const struct tn_guard *guard)
{
	struct tn_infer *inf = call->inf;
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_dim *a = tn_dim_subst(pool, guard->a, call->map);
	const struct tn_dim *b = tn_dim_subst(pool, guard->b, call->map);
	bool ok = false;

	if (!tn_infer_made(inf, a) || !tn_infer_made(inf, b))
		return false;
	switch (guard->kind) {
	case TN_GUARD_EQ:
		ok = a == b || (!(tn_dim_is_const(a) && tn_dim_is_const(b)) &&
				tn_infer_guard(inf, TN_GUARD_EQ, a, b));
		break;
	case TN_GUARD_LE:
		ok = tn_infer_le(inf, a, b);
		break;
	case TN_GUARD_DIVIDES:
		ok = tn_infer_divides(inf, a, b);
		break;
	}
	return ok || tn_infer_fail(inf, TN_E0321, "'%s' cannot work on these "
				   "sizes: %s against %s", call->callee->name,
				   tn_infer_dim_text(inf, a),
				   tn_infer_dim_text(inf, b));
}

static bool inherit_guards(struct call *call)
{
	const struct tn_vec *guards = &call->callee->guards;
	size_t i;

	if (call->callee == call->inf->fn)
		return true;
	for (i = 0; i < guards->len; i++) {
		struct tn_guard guard = *(struct tn_guard *)
			tn_vec_at(guards, i);

		if (!inherit_guard(call, &guard))
			return false;
	}
	return true;
}

static bool give_results(struct call *call)
{
	struct tn_infer *inf = call->inf;
	int i;

	if (!call->callee->result_types)
		return false;
	if (inf->op->nout != call->callee->nresults)
		return tn_infer_fail(inf, TN_E0325, "'%s' gives %d results, "
				     "not %d", call->callee->name,
				     call->callee->nresults, inf->op->nout);
	for (i = 0; i < inf->op->nout; i++) {
		const struct tn_type *type = call->callee->result_types[i];

		if (!type || tn_type_is_poison(type))
			return false;
		type = tn_type_subst(inf->module, type, call->map);
		if (!type)
			return tn_infer_made(inf, NULL);
		inf->op->out[i]->type = type;
	}
	return true;
}

static bool infer_call(struct tn_infer *inf)
{
	struct call call = {
		.inf = inf, .callee = inf->op->callee,
		.nsyms = inf->module->dims.nsyms,
	};
	bool ok;

	if (!call.callee)
		return false;
	call.map = calloc((size_t)call.nsyms + 1, sizeof(*call.map));
	if (!call.map) {
		inf->module->failed = true;
		return false;
	}
	ok = check_arguments(&call);
	if (ok) {
		bind_plain(&call);
		bind_derived(&call);
		ok = check_bound_sizes(&call) && check_bounds(&call) &&
		     inherit_guards(&call) && give_results(&call);
	}
	free(call.map);
	return ok;
}

/* ---- Regions ------------------------------------------------------------- */

static const struct tn_op *yield_of(const struct tn_op *op, int region)
{
	const struct tn_op *last;

	if (region >= op->nregions || !op->regions[region])
		return NULL;
	last = op->regions[region]->last;
	return last && last->code == TN_OP_yield ? last : NULL;
}

/* Same type, dims if need be by guards; no report. */
static bool same_type(struct tn_infer *inf, const struct tn_type *a,
		      const struct tn_type *b)
{
	int i;

	if (a == b)
		return true;
	if (!a || !b || a->dtype != b->dtype || a->rank != b->rank ||
	    a->encoding != b->encoding)
		return false;
	for (i = 0; i < a->rank; i++) {
		if (!tn_infer_same(inf, a->dims[i], b->dims[i]))
			return false;
	}
	return true;
}

static bool is_poison(const struct tn_type *type)
{
	return !type || tn_type_is_poison(type);
}

static bool is_condition(const struct tn_type *type)
{
	return type->dtype == TN_bool && type->rank == 0;
}

static bool bad_value(struct tn_infer *inf, const char *what, int i,
		      const struct tn_type *want, const struct tn_value *have)
{
	struct tn_diag *diag = tn_infer_report(inf, TN_E0323,
			"%s %d of '%s' is %s, not %s", what, i + 1,
			inf->info->name,
			tn_infer_type_text(inf->module, have->type),
			tn_infer_type_text(inf->module, want));

	if (have->span.file)
		tn_diag_also(inf->module->sink, diag, have->span, "%s",
			     tn_infer_type_text(inf->module, have->type));
	return false;
}

static bool bad_count(struct tn_infer *inf, int have, int want)
{
	return tn_infer_fail(inf, TN_E0323, "the body of '%s' gives %d "
			     "value%s, not %d", inf->info->name, have,
			     have == 1 ? "" : "s", want);
}

static bool infer_if(struct tn_infer *inf)
{
	const struct tn_op *yes = yield_of(inf->op, 0);
	const struct tn_op *no = yield_of(inf->op, 1);
	int i;

	if (!is_condition(tn_infer_in(inf, 0)))
		return tn_infer_fail(inf, TN_E0327, "the condition of 'if' "
				     "must be one bool, not %s",
				     tn_infer_type_text(inf->module,
						tn_infer_in(inf, 0)));
	if (!yes || !no)
		return false;
	if (yes->nin != no->nin || inf->op->nout != yes->nin)
		return bad_count(inf, yes->nin != no->nin ? no->nin :
				 inf->op->nout, yes->nin);
	for (i = 0; i < yes->nin; i++) {
		const struct tn_value *a = tn_graph_in(yes, i);
		const struct tn_value *b = tn_graph_in(no, i);

		if (is_poison(a->type) || is_poison(b->type))
			return false;
		if (!same_type(inf, a->type, b->type))
			return bad_value(inf, "value", i, a->type, b);
		inf->op->out[i]->type = a->type;
	}
	return true;
}

/* The first `count` values of a yield are carries of operand types. */
static bool check_carries(struct tn_infer *inf, const struct tn_op *yield,
			  int count)
{
	int i;

	for (i = 0; i < count; i++) {
		const struct tn_type *want = tn_infer_in(inf, i);
		const struct tn_value *have = tn_graph_in(yield, i);

		if (is_poison(have->type))
			return false;
		if (!same_type(inf, want, have->type))
			return bad_value(inf, "carry", i, want, have);
		inf->op->out[i]->type = want;
	}
	return true;
}

static bool infer_for(struct tn_infer *inf)
{
	const struct tn_op *yield = yield_of(inf->op, 0);
	const struct tn_dim *from = tn_infer_attr(inf, "from")->u.dim;
	const struct tn_dim *to = tn_infer_attr(inf, "to")->u.dim;

	if (!yield || !tn_infer_made(inf, from) || !tn_infer_made(inf, to))
		return false;
	if (yield->nin != inf->op->nin || inf->op->nout != inf->op->nin)
		return bad_count(inf, yield->nin, inf->op->nin);
	return check_carries(inf, yield, inf->op->nin);
}

static bool infer_while(struct tn_infer *inf)
{
	const struct tn_op *test = yield_of(inf->op, 0);
	const struct tn_op *yield = yield_of(inf->op, 1);
	const struct tn_type *type;

	if (!test || !yield)
		return false;
	if (test->nin != 1)
		return bad_count(inf, test->nin, 1);
	type = tn_graph_in(test, 0)->type;
	if (is_poison(type))
		return false;
	if (!is_condition(type))
		return tn_infer_fail(inf, TN_E0327, "the condition of 'while' "
				     "must be one bool, not %s",
				     tn_infer_type_text(inf->module, type));
	if (yield->nin != inf->op->nin || inf->op->nout != inf->op->nin)
		return bad_count(inf, yield->nin, inf->op->nin);
	return check_carries(inf, yield, inf->op->nin);
}

/* ---- scan ---------------------------------------------------------------- */

static bool check_scan(struct tn_infer *inf, int *carries, int *axis)
{
	struct tn_attr *attr = tn_infer_attr(inf, "carries");
	int i;

	if (attr->u.i < 0 || attr->u.i >= inf->op->nin)
		return tn_infer_fail(inf, TN_E0501, "'scan' needs at least "
				     "one input to slice");
	*carries = (int)attr->u.i;
	if (!tn_infer_axis(inf, "axis", tn_infer_in(inf, *carries)->rank,
			   axis))
		return false;
	for (i = *carries; i < inf->op->nin; i++) {
		if (!tn_infer_rank_min(inf, i, *axis + 1))
			return false;
		if (!tn_infer_match(inf, tn_infer_in(inf,
						     *carries)->dims[*axis],
				    tn_infer_in(inf, i)->dims[*axis],
				    "inputs, ", *axis))
			return false;
	}
	return true;
}

static bool stack_emit(struct tn_infer *inf, int result,
		       const struct tn_value *emit, const struct tn_dim *length)
{
	struct tn_attr *attr = tn_infer_attr(inf, "out_axis");
	int at = (int)attr->u.i;

	if (is_poison(emit->type))
		return false;
	if (attr->u.i < 0 || attr->u.i > emit->type->rank)
		return tn_infer_fail(inf, TN_E0314, "out_axis=%lld of 'scan' "
				     "is not in [0, %d]",
				     (long long)attr->u.i, emit->type->rank);
	inf->rank = 0;
	return tn_infer_push_axes(inf, emit->type, 0, at) &&
	       tn_infer_push(inf, length) &&
	       tn_infer_push_axes(inf, emit->type, at, emit->type->rank) &&
	       tn_infer_result(inf, result, emit->type->dtype);
}

static bool infer_scan(struct tn_infer *inf)
{
	const struct tn_op *yield = yield_of(inf->op, 0);
	int carries = 0, axis = 0;
	int i;

	if (!yield || !check_scan(inf, &carries, &axis))
		return false;
	if (yield->nin < carries || yield->nin != inf->op->nout)
		return bad_count(inf, yield->nin, inf->op->nout);
	if (!check_carries(inf, yield, carries))
		return false;
	for (i = carries; i < yield->nin; i++) {
		if (!stack_emit(inf, i, tn_graph_in(yield, i),
				tn_infer_in(inf, carries)->dims[axis]))
			return false;
	}
	return true;
}

static const struct tn_type *slice_type(struct tn_op *op,
					const struct tn_type *type, int axis)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int rank = 0;
	int i;

	if (is_poison(type) || axis < 0 || axis >= type->rank)
		return tn_type_poison(op->block->fn->module);
	for (i = 0; i < type->rank; i++) {
		if (i != axis)
			dims[rank++] = type->dims[i];
	}
	return tn_type_get(op->block->fn->module, type->dtype, rank, dims);
}

void tn_infer_region_params(struct tn_op *op)
{
	int shift = op->code == TN_OP_for;
	int carries = op->nin, axis = 0;
	int r;

	if (op->code == TN_OP_scan) {
		carries = (int)tn_graph_attr(op, "carries")->u.i;
		axis = (int)tn_graph_attr(op, "axis")->u.i;
	}
	for (r = 0; r < op->nregions; r++) {
		struct tn_block *region = op->regions[r];
		int i;

		for (i = 0; i + shift < region->nparams && i < op->nin;
		     i++) {
			const struct tn_type *type = op->in[i].value->type;

			if (i >= carries)
				type = slice_type(op, type, axis < 0 ?
						  axis + type->rank : axis);
			region->params[i + shift]->type = type;
		}
	}
}

/* ---- Ends ---------------------------------------------------------------- */

static bool infer_return(struct tn_infer *inf)
{
	const struct tn_fn *fn = inf->fn;
	int i;

	if (!fn->result_types)
		return true;
	if (inf->op->nin != fn->nresults)
		return tn_infer_fail(inf, TN_E0325, "'%s' declares %d "
				     "result%s, not %d", fn->name,
				     fn->nresults,
				     fn->nresults == 1 ? "" : "s",
				     inf->op->nin);
	for (i = 0; i < fn->nresults; i++) {
		if (is_poison(fn->result_types[i]) ||
		    same_type(inf, fn->result_types[i], tn_infer_in(inf, i)))
			continue;
		return tn_infer_fail(inf, TN_E0325, "result %d of '%s' is %s, "
				     "declared %s", i + 1, fn->name,
				     tn_infer_type_text(inf->module,
							tn_infer_in(inf, i)),
				     tn_infer_type_text(inf->module,
						fn->result_types[i]));
	}
	return true;
}

static bool infer_assert(struct tn_infer *inf)
{
	return tn_dtype_is(tn_infer_in(inf, 0)->dtype, TN_KIND_B) ||
	       tn_infer_fail(inf, TN_E0302, "'assert' is not defined for %s",
			     tn_dtype_name(tn_infer_in(inf, 0)->dtype));
}

TN_INFER_RULE(flow)
{
	enum tn_opcode code = inf->op->code;

	if (code == TN_OP_call)
		return infer_call(inf);
	if (code == TN_OP_if)
		return infer_if(inf);
	if (code == TN_OP_for)
		return infer_for(inf);
	if (code == TN_OP_while)
		return infer_while(inf);
	if (code == TN_OP_scan)
		return infer_scan(inf);
	if (code == TN_OP_return)
		return infer_return(inf);
	if (code == TN_OP_assert)
		return infer_assert(inf);
	return true;
}

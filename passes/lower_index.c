/*
 * Lookups and scatters.
 *
 * In: indices that only run time knows. Out: for lookups, requests to the
 * element generator: first the indices, then the data at the clamped indices,
 * with the flag raised for those out of range. For scatters, a nest that
 * copies the data and one that walks the updates in row-major order, drops
 * what is out of range and raises the flag. Sums and products of halves are
 * scattered in f32 and rounded once: casts around the scatter see to that.
 */
#include "passes/lower.h"
#include "ir/builder.h"

#include <string.h>

/* Length of the tuples of gather_nd and scatter_nd. */
static int tuple_length(const struct tn_op *op)
{
	const struct tn_type *type = tn_graph_in(op, 1)->type;

	return (int)type->dims[type->rank - 1]->value;
}

static bool is_tuple(const struct tn_op *op)
{
	return tn_op_has(op->code, TN_FLAG_TUPLES);
}

int tn_lower_gather_requests(const struct tn_op *op)
{
	return (is_tuple(op) ? tuple_length(op) : 1) + 1;
}

/* The axis of the data that index component q is meant for. */
static int64_t data_axis(const struct tn_op *op, int q)
{
	return is_tuple(op) ? q : tn_lower_attr_int(op, "axis");
}

/* The index as i64; a u64 beyond that stays out of range, at the far end. */
static const struct tn_kexpr *place(struct tn_lower *lw,
				    const struct tn_kexpr *got)
{
	if (got && got->dtype == TN_u64)
		got = tn_lower_binary(lw, TN_OP_min, got,
				      tn_kexpr_int(lw->kernel, TN_u64,
						   INT64_MAX));
	return tn_lower_let(lw, "at", tn_lower_cast(lw, TN_i64, got));
}

static const struct tn_kexpr *clamped(struct tn_lower *lw,
				      const struct tn_kexpr *got,
				      const struct tn_dim *n)
{
	const struct tn_kexpr *at = place(lw, got), *good;

	good = tn_lower_within(lw, at, n);
	tn_lower_raise(lw, tn_lower_unary(lw, TN_OP_not, good),
		       TN_RAISED_INDEX);
	return tn_lower_clamp(lw, at, n);
}

/* Where component q of the indices is, for the result at `index`. */
static void index_index(struct tn_lower *lw, const struct tn_op *op, int q,
			const struct tn_kexpr *const *index,
			const struct tn_kexpr **out)
{
	int rank = tn_graph_in(op, 1)->type->rank;
	int64_t first = tn_op_has(op->code, TN_FLAG_TUPLES | TN_FLAG_ALONG) ?
		0 : tn_lower_attr_int(op, "axis");
	int i;

	for (i = 0; i < rank - is_tuple(op); i++)
		out[i] = index[first + i];
	if (is_tuple(op))
		out[rank - 1] = tn_lower_int(lw, q);
}

/* The axes of the data that the indices do not speak of. */
static void rest_index(const struct tn_op *op,
		       const struct tn_kexpr *const *index,
		       const struct tn_kexpr **out)
{
	int rank = tn_graph_in(op, 0)->type->rank;
	int other = tn_graph_in(op, 1)->type->rank, i;
	int64_t axis = is_tuple(op) ? 0 : tn_lower_attr_int(op, "axis");

	if (is_tuple(op)) {
		for (i = tuple_length(op); i < rank; i++)
			out[i] = index[other - 1 + i - tuple_length(op)];
		return;
	}
	if (tn_op_has(op->code, TN_FLAG_ALONG))
		other = 1;
	for (i = 0; i < rank; i++)
		if (i != axis)
			out[i] = index[i < axis ? i : i - 1 + other];
}

const struct tn_value *tn_lower_gather_request(
	struct tn_lower *lw, const struct tn_op *op, int q,
	const struct tn_kexpr *const *index,
	const struct tn_kexpr *const *got, const struct tn_kexpr **out)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	int n = tn_lower_gather_requests(op) - 1, i;

	if (q < n) {
		index_index(lw, op, q, index, out);
		return tn_graph_in(op, 1);
	}
	rest_index(op, index, out);
	for (i = 0; i < n; i++) {
		int64_t axis = data_axis(op, i);

		out[axis] = tn_lower_let(lw, "row",
					 clamped(lw, got[i],
						 type->dims[axis]));
	}
	return tn_graph_in(op, 0);
}

const struct tn_kexpr *tn_lower_gather_finish(
	struct tn_lower *lw, const struct tn_op *op,
	const struct tn_kexpr *const *got)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	int n = tn_lower_gather_requests(op) - 1, i;
	const struct tn_kexpr *expr = got[n];

	for (i = 0; i < n; i++) {
		const struct tn_dim *dim = type->dims[data_axis(op, i)];
		int64_t lo, hi;

		tn_dim_bounds(dim, &lo, &hi);
		if (lo < 1)
			expr = tn_lower_select(lw,
				tn_lower_binary(lw, TN_OP_lt,
						tn_lower_int(lw, 0),
						tn_lower_dim(lw, dim)),
				expr, tn_lower_number(lw, type->dtype, 0));
	}
	return expr;
}

/* The map that joins old and new; none for "set". */
static enum tn_opcode combine_of(const struct tn_op *op)
{
	const char *text = tn_lower_attr_text(op, "combine");

	if (strcmp(text, "set") == 0)
		return TN_OP_none;
	return tn_op_find(text);
}

bool tn_lower_is_half_scatter(const struct tn_op *op)
{
	enum tn_dtype dtype;
	enum tn_opcode code;

	if (!tn_op_has(op->code, TN_FLAG_SCATTERS))
		return false;
	dtype = op->out[0]->type->dtype;
	code = combine_of(op);
	return (dtype == TN_f16 || dtype == TN_bf16) &&
		code != TN_OP_none && !tn_op_has(code, TN_FLAG_EXACT);
}

void tn_lower_widen_scatter(struct tn_lower *lw, struct tn_op *op)
{
	struct tn_value *in[3], *result = NULL;
	struct tn_builder builder;
	struct tn_op *wide;
	int i;

	tn_rw_before(lw->rw, op, &builder);
	for (i = 0; i < 3; i++)
		in[i] = i == 1 ? tn_graph_in(op, i) :
			tn_build_cast(&builder, tn_graph_in(op, i), TN_f32,
				      op->span);
	wide = in[0] && in[2] ?
		tn_build_op(&builder, op->code, 3, in, op->nattrs, op->attrs,
			    op->span) : NULL;
	if (wide)
		result = tn_build_cast(&builder, wide->out[0],
				       op->out[0]->type->dtype, op->span);
	if (result)
		tn_rw_replace(lw->rw, op, &result);
	else
		lw->failed = true;
}

static void copy_data(struct tn_lower *lw, const struct tn_op *op,
		      struct tn_kbuf *out)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	size_t mark = tn_lower_mark(lw);

	tn_lower_for_layout(lw, op->out[0]->type, out->layout, index);
	tn_lower_store(lw, out, index,
		       tn_lower_element(lw, tn_graph_in(op, 0), index));
	tn_lower_close(lw, mark);
}

/* Opens `if` all components of the index are in range, else raises. */
static void open_target(struct tn_lower *lw, const struct tn_op *op,
			const struct tn_kexpr *const *index,
			const struct tn_kexpr **target)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	int n = tn_lower_gather_requests(op) - 1, q;
	const struct tn_kexpr *good = NULL;

	for (q = 0; q < n; q++) {
		const struct tn_kexpr *at[TN_MAX_RANK], *here;
		int64_t axis = data_axis(op, q);

		index_index(lw, op, q, index, at);
		target[axis] = place(lw, tn_lower_element(
			lw, tn_graph_in(op, 1), at));
		here = tn_lower_within(lw, target[axis], type->dims[axis]);
		good = good ? tn_lower_binary(lw, TN_OP_and, good, here)
			    : here;
	}
	if (!good)
		return;
	good = tn_lower_let(lw, "good", good);
	tn_lower_raise(lw, tn_lower_unary(lw, TN_OP_not, good),
		       TN_RAISED_INDEX);
	tn_lower_if(lw, good);
}

static void put_update(struct tn_lower *lw, const struct tn_op *op,
		       struct tn_kbuf *out,
		       const struct tn_kexpr *const *index,
		       const struct tn_kexpr *const *target)
{
	enum tn_opcode combine = combine_of(op);
	const struct tn_kexpr *value, *old;

	value = tn_lower_element(lw, tn_graph_in(op, 2), index);
	if (combine != TN_OP_none) {
		old = tn_lower_load(lw, out, target);
		value = tn_lower_binary(lw, combine, old, value);
	}
	tn_lower_store(lw, out, target, value);
}

/* How many axes of the update, from the left, the indices depend on. */
static int index_axes(const struct tn_op *op)
{
	int rank = tn_graph_in(op, 1)->type->rank;

	if (tn_op_has(op->code, TN_FLAG_TUPLES | TN_FLAG_ALONG))
		return rank - is_tuple(op);
	return rank + (int)tn_lower_attr_int(op, "axis");
}

/* True if turns of the loop over this axis of the update may meet. */
static bool is_dependent(const struct tn_op *op, int axis)
{
	int first = is_tuple(op) ? 0 : (int)tn_lower_attr_int(op, "axis");

	if (tn_op_has(op->code, TN_FLAG_ALONG))
		return axis == first;
	return axis >= first && axis < index_axes(op);
}

static void open_axes(struct tn_lower *lw, const struct tn_type *type,
		      int from, int to, const struct tn_kexpr **index)
{
	static const char *const names[] = { "i", "j", "k", "l", "m", "n" };
	int i;

	for (i = from; i < to; i++)
		if (!index[i])
			index[i] = tn_lower_for_dim(lw, names[i < 6 ? i : 5],
						    type->dims[i]);
}

/* On a grid the loops whose turns never meet come first; else the nest is
 * row-major. Either way updates of one element keep their order. */
void tn_lower_index(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_type *type = tn_graph_in(op, 2)->type;
	const struct tn_kexpr *index[TN_MAX_RANK] = { NULL };
	const struct tn_kexpr *target[TN_MAX_RANK];
	struct tn_kbuf *out = tn_lower_out(lw, op, 0);
	size_t mark = tn_lower_mark(lw);
	int n = index_axes(op), i;

	if (!out)
		return;
	if (out->role != TN_KBUF_INOUT)
		copy_data(lw, op, out);
	for (i = 0; i < type->rank && tn_lower_is_grid(lw); i++)
		if (!is_dependent(op, i))
			open_axes(lw, type, i, i + 1, index);
	open_axes(lw, type, 0, n, index);
	open_target(lw, op, index, target);
	open_axes(lw, type, n, type->rank, index);
	rest_index(op, index, target);
	put_update(lw, op, out, index, target);
	tn_lower_close(lw, mark);
}

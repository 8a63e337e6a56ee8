/*
 * Sorting, and nonzero.
 *
 * In: an anchor of class ORDER. Out: for sort, argsort and topk a nest over
 * the rows; in each a stable merge sort, from the bottom up, of the places
 * 0..n of a row, held twice in @arena so that rows are independent. Runs of
 * `width` places are merged from one side to the other, and sides change.
 *
 *   for p in 0..P { if width < n {
 *     for m in 0..(n + 2 * width - 1) // (2 * width) { merge two runs }
 *     side = 1 - side; width = width + width; } }
 */
#include "base/num.h"
#include "passes/lower.h"

/* What the parts of a sort share. */
struct sort {
	const struct tn_op *op;
	int64_t axis;
	bool descending;
	const struct tn_dim *n;
	struct tn_kbuf *places;	/* i64[2, ..]: the operand's shape twice */
	struct tn_kvar *side, *width;
	const struct tn_kexpr *index[TN_MAX_RANK];	/* of the row */
};

static const struct tn_kexpr *sum(struct tn_lower *lw,
				  const struct tn_kexpr *a,
				  const struct tn_kexpr *b)
{
	return tn_kexpr_add(lw->kernel, a, b);
}

/* Index into `places` on a side, at k of the row. */
static void places_index(const struct sort *sort,
			 const struct tn_kexpr *side,
			 const struct tn_kexpr *k,
			 const struct tn_kexpr **out)
{
	int i;

	out[0] = side;
	for (i = 0; i < sort->places->rank - 1; i++)
		out[1 + i] = i == sort->axis ? k : sort->index[i];
}

static const struct tn_kexpr *place_at(struct tn_lower *lw,
				       const struct sort *sort,
				       const struct tn_kexpr *k)
{
	const struct tn_kexpr *index[TN_MAX_RANK + 1];

	places_index(sort, tn_lower_get(lw, sort->side), k, index);
	return tn_lower_let(lw, "place", tn_kexpr_load(
		lw->kernel, sort->places, sort->places->rank, index));
}

/* The element of the row at a place. */
static const struct tn_kexpr *key_at(struct tn_lower *lw,
				     const struct sort *sort,
				     const struct tn_kexpr *place)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	int i;

	for (i = 0; i < sort->places->rank - 1; i++)
		index[i] = i == sort->axis ? place : sort->index[i];
	return tn_lower_let(lw, "key", tn_lower_element(
		lw, tn_graph_in(sort->op, 0), index));
}

/* a before b, were b not there already: NaN is the greatest. */
static const struct tn_kexpr *is_less(struct tn_lower *lw,
				      const struct tn_kexpr *a,
				      const struct tn_kexpr *b)
{
	const struct tn_kexpr *less, *number, *nan;

	if (!a)
		return NULL;
	less = tn_lower_binary(lw, TN_OP_lt, a, b);
	if (!tn_dtype_is(a->dtype, TN_KIND_F))
		return less;
	number = tn_lower_binary(lw, TN_OP_eq, a, a);
	nan = tn_lower_unary(lw, TN_OP_not,
			     tn_lower_binary(lw, TN_OP_eq, b, b));
	return tn_lower_binary(lw, TN_OP_or, less,
			       tn_lower_binary(lw, TN_OP_and, number, nan));
}

/* places[1 - side, k] = places[side, from]; from = from + 1 */
static void take(struct tn_lower *lw, const struct sort *sort,
		 struct tn_kvar *from, const struct tn_kexpr *k)
{
	const struct tn_kexpr *index[TN_MAX_RANK + 1], *place;

	place = place_at(lw, sort, tn_lower_get(lw, from));
	places_index(sort, tn_kexpr_sub(lw->kernel, tn_lower_int(lw, 1),
					tn_lower_get(lw, sort->side)), k,
		     index);
	tn_lower_store(lw, sort->places, index, place);
	tn_lower_set(lw, from, sum(lw, tn_lower_get(lw, from),
				   tn_lower_int(lw, 1)));
}

/* right = the next place comes from the right run. */
static void decide(struct tn_lower *lw, const struct sort *sort,
		   struct tn_kvar *i, struct tn_kvar *j,
		   const struct tn_kexpr *mid, const struct tn_kexpr *end,
		   struct tn_kvar *right)
{
	const struct tn_kexpr *a, *b;
	size_t mark = tn_lower_mark(lw);
	struct tn_kstmt *branch;

	tn_lower_if(lw, tn_lower_binary(lw, TN_OP_lt, tn_lower_get(lw, j),
					end));
	branch = tn_lower_if(lw, tn_lower_binary(
		lw, TN_OP_lt, tn_lower_get(lw, i), mid));
	a = key_at(lw, sort, place_at(lw, sort, tn_lower_get(lw, i)));
	b = key_at(lw, sort, place_at(lw, sort, tn_lower_get(lw, j)));
	tn_lower_set(lw, right, sort->descending ? is_less(lw, a, b)
						 : is_less(lw, b, a));
	tn_lower_else(lw, branch);
	tn_lower_set(lw, right, tn_kexpr_int(lw->kernel, TN_bool, 1));
	tn_lower_close(lw, mark);
}

/* Merges runs m of `width` places. */
static void merge(struct tn_lower *lw, const struct sort *sort,
		  const struct tn_kexpr *width, const struct tn_kexpr *two)
{
	const struct tn_kexpr *n = tn_lower_dim(lw, sort->n);
	const struct tn_kexpr *m, *start, *mid, *end, *k, *blocks;
	struct tn_kvar *i, *j, *right;
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_kstmt *branch;

	blocks = sum(lw, n, tn_kexpr_sub(lw->kernel, two,
					 tn_lower_int(lw, 1)));
	m = tn_lower_for(lw, "m", tn_lower_int(lw, 0),
			 tn_kexpr_fdiv(lw->kernel, blocks, two));
	start = tn_lower_let(lw, "start", tn_kexpr_mul(lw->kernel, m, two));
	mid = tn_lower_let(lw, "mid", tn_lower_binary(
		lw, TN_OP_min, sum(lw, start, width), n));
	end = tn_lower_let(lw, "end", tn_lower_binary(
		lw, TN_OP_min, sum(lw, start, two), n));
	i = tn_lower_mut(lw, "left", start);
	j = tn_lower_mut(lw, "right", mid);
	k = tn_lower_for(lw, "k", start, end);
	right = tn_lower_mut(lw, "take", tn_kexpr_int(lw->kernel, TN_bool, 0));
	decide(lw, sort, i, j, mid, end, right);
	inner = tn_lower_mark(lw);
	branch = tn_lower_if(lw, tn_lower_get(lw, right));
	take(lw, sort, j, k);
	tn_lower_else(lw, branch);
	take(lw, sort, i, k);
	tn_lower_close(lw, inner);
	tn_lower_close(lw, mark);
}

/* Passes that rows of any length the dim allows may need. */
static int64_t passes(const struct tn_dim *n)
{
	int64_t lo, hi, count = 0;

	tn_dim_bounds(n, &lo, &hi);
	while (count < 62 && (INT64_C(1) << count) < hi)
		count++;
	return count;
}

static void sort_row(struct tn_lower *lw, struct sort *sort)
{
	const struct tn_kexpr *index[TN_MAX_RANK + 1], *k, *width, *two;
	const struct tn_kexpr *n = tn_lower_dim(lw, sort->n);
	const struct tn_kexpr *zero = tn_lower_int(lw, 0);
	size_t mark = tn_lower_mark(lw);

	k = tn_lower_for(lw, "k", zero, n);
	places_index(sort, zero, k, index);
	tn_lower_store(lw, sort->places, index, k);
	tn_lower_close(lw, mark);
	sort->side = tn_lower_mut(lw, "side", zero);
	sort->width = tn_lower_mut(lw, "width", tn_lower_int(lw, 1));
	tn_lower_for(lw, "p", zero, tn_lower_int(lw, passes(sort->n)));
	width = tn_lower_let(lw, "w", tn_lower_get(lw, sort->width));
	tn_lower_if(lw, tn_lower_binary(lw, TN_OP_lt, width, n));
	two = tn_lower_let(lw, "both", sum(lw, width, width));
	merge(lw, sort, width, two);
	tn_lower_set(lw, sort->side, tn_kexpr_sub(
		lw->kernel, tn_lower_int(lw, 1),
		tn_lower_get(lw, sort->side)));
	tn_lower_set(lw, sort->width, two);
	tn_lower_close(lw, mark);
}

static bool open_places(struct tn_lower *lw, struct sort *sort)
{
	const struct tn_type *type = tn_graph_in(sort->op, 0)->type;
	const struct tn_dim *dims[TN_MAX_RANK + 1];
	int i;

	dims[0] = tn_lower_dim_int(lw, 2);
	for (i = 0; i < type->rank; i++)
		dims[1 + i] = type->dims[i];
	if (!dims[0])
		return false;
	sort->places = tn_lower_scratch(lw, "places", TN_i64, type->rank + 1,
					dims);
	return sort->places;
}

/* Hands on the first `count` places of the sorted row. */
static void write_row(struct tn_lower *lw, const struct sort *sort,
		      const struct tn_dim *count)
{
	const struct tn_kexpr *index[TN_MAX_RANK], *k, *place, *key;
	const struct tn_op *op = sort->op;
	const struct tn_value *last = op->out[op->nout - 1];
	size_t mark = tn_lower_mark(lw);
	int i;

	k = tn_lower_for(lw, "k", tn_lower_int(lw, 0),
			 tn_lower_dim(lw, count));
	for (i = 0; i < last->type->rank; i++)
		index[i] = i == sort->axis ? k : sort->index[i];
	place = place_at(lw, sort, k);
	if (!tn_op_has(op->code, TN_FLAG_ARG)) {
		key = key_at(lw, sort, place);
		tn_lower_finish(lw, op, 0, index, key);
	}
	if (tn_op_has(op->code, TN_FLAG_ARG) || op->nout > 1)
		tn_lower_finish(lw, op, op->nout - 1, index,
				tn_lower_cast(lw, last->type->dtype, place));
	tn_lower_close(lw, mark);
}

static void lower_sort(struct tn_lower *lw, const struct tn_op *op)
{
	static const char *const names[] = { "i", "j", "l", "q", "r", "s" };
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	struct sort sort = { .op = op };
	size_t mark = tn_lower_mark(lw);
	int i;

	sort.axis = tn_lower_attr_int(op, "axis");
	if (sort.axis < 0)
		sort.axis += type->rank;
	sort.n = type->dims[sort.axis];
	sort.descending = tn_lower_attr_bool(op, "descending") ||
		tn_lower_attr_bool(op, "largest");
	if (type->rank + 1 > TN_MAX_RANK || !open_places(lw, &sort)) {
		tn_lower_unfit(lw);
		return;
	}
	for (i = 0; i < type->rank; i++)
		if (i != sort.axis)
			sort.index[i] = tn_lower_for_dim(
				lw, names[i < 6 ? i : 5], type->dims[i]);
	sort_row(lw, &sort);
	write_row(lw, &sort, op->out[0]->type->dims[sort.axis]);
	tn_lower_close(lw, mark);
}

/* The most elements that the result may hold, and whether it always does. */
static bool room_of(const struct tn_dim *size, const struct tn_dim *n,
		    int64_t *room)
{
	int64_t lo, hi;

	tn_dim_bounds(size, &lo, room);
	tn_dim_bounds(n, &lo, &hi);
	return *room >= hi;
}

static void lower_nonzero(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_dim *size = op->out[0]->type->dims[0];
	const struct tn_dim *n = tn_graph_in(op, 0)->type->dims[0];
	struct tn_kbuf *out = tn_lower_out(lw, op, 0);
	const struct tn_kexpr *i, *x, *at, *fits;
	struct tn_kvar *count;
	int64_t room;
	bool always = room_of(size, n, &room);

	if (!out || size->kind != TN_DIM_SYM) {
		tn_lower_unfit(lw);
		return;
	}
	count = tn_lower_mut(lw, "count", tn_lower_int(lw, 0));
	i = tn_lower_for_dim(lw, "i", n);
	x = tn_lower_element(lw, tn_graph_in(op, 0), &i);
	if (x && x->dtype != TN_bool)
		x = tn_lower_unary(lw, TN_OP_not, tn_lower_binary(
			lw, TN_OP_eq, x, tn_lower_number(lw, x->dtype, 0)));
	tn_lower_if(lw, x);
	at = tn_lower_get(lw, count);
	if (!always) {
		fits = tn_lower_binary(lw, TN_OP_lt, at,
				       tn_lower_int(lw, room));
		tn_lower_raise(lw, tn_lower_unary(lw, TN_OP_not, fits),
			       TN_RAISED_INDEX);
		tn_lower_if(lw, fits);
	}
	tn_lower_store(lw, out, &at, tn_lower_cast(lw, out->dtype, i));
	tn_lower_set(lw, count, sum(lw, at, tn_lower_int(lw, 1)));
	tn_lower_close(lw, 0);
	if (!tn_kstmt_size(lw->kernel, lw->block, size->sym,
			   tn_lower_get(lw, count)))
		lw->failed = true;
}

void tn_lower_order(struct tn_lower *lw, const struct tn_op *op)
{
	if (tn_op_has(op->code, TN_FLAG_SIZES))
		lower_nonzero(lw, op);
	else
		lower_sort(lw, op);
}

/*
 * Groups with several anchors: a nest for each, and nests of maps between.
 *
 * In: a group of several anchors, or of one whose result has another shape, with
 * one result. Out: nests in the order of the text. What one reads of another lies in a buffer of the kernel,
 * @arena, of the value's whole size: a schedule that joins the nests makes it
 * as small as what one turn needs (schedule.h).
 *
 *   m = max(x); e = exp(x - m); s = sum(e); y = e / s      along the last axis
 *   ->  alloc m, e, s;
 *       for i { .. m[i] = acc }         for i { for j { e[i, j] = .. } }
 *       for i { .. s[i] = acc }         for i { for j { y[i, j] = .. } }
 *
 * Kept in a buffer are
 * - exits: what an anchor and the maps that follow it alone make;
 * - what maps make for a contraction or window, which read it many times;
 * - what is dear and read by more than one operator.
 * All else is computed where it is read. A buffer has the order of its value,
 * @layout. What maps make, element by element, of a kept value that nobody else
 * reads takes its buffer over.
 */
#include "passes/lower.h"

#define DEAR 8		/* operations that are worth a buffer */
#define CALL 16		/* those of a function of the C library */

struct stages {
	struct tn_lower *lw;
	struct tn_map kept;	/* value -> its anchor, or its maker */
	struct tn_map costs;	/* value -> operations, of those computed */
	struct tn_map last;	/* value -> number of the last anchor behind */
	struct tn_map regions;	/* value -> the anchor in whose nest it is made
				 * element by element */
	struct tn_map ends;	/* anchor -> the op that its nest follows */
	struct tn_map nests;	/* value -> the kept value in whose nest all of
				 * its readers are; itself: in several */
	struct tn_map homes;	/* op -> anchor or kept value of its nest; none:
				 * it is computed in several */
	struct tn_map done;	/* marks of the nests that are made */
	struct tn_map owners;	/* buffer -> the value that it holds now */
};

/* True if all readers of the value in the group, of which there is one at
 * least, are `op`. */
static bool is_read_by(const struct stages *s, const struct tn_value *value,
		       const struct tn_op *op)
{
	const struct tn_use *use;
	bool is_read = false;

	for (use = value->uses; use; use = use->next) {
		if (!tn_lower_in_group(s->lw, use->op))
			continue;
		if (use->op != op)
			return false;
		is_read = true;
	}
	return is_read;
}

static void set(struct stages *s, struct tn_map *map,
		const struct tn_value *value, const void *to)
{
	if (!tn_map_set(map, value, (void *)(uintptr_t)to))
		s->lw->failed = true;
}

static intptr_t number_of(const struct tn_map *map,
			  const struct tn_value *value)
{
	return (intptr_t)tn_map_find(map, value);
}

static bool is_kept(const struct stages *s, const struct tn_value *value)
{
	return tn_map_has(&s->kept, value);
}

static bool is_map(const struct tn_op *op)
{
	return tn_ops[op->code].op_class == TN_CLASS_MAP;
}

static const struct tn_value *result_of(const struct stages *s)
{
	const struct tn_lower_result *result = tn_vec_at(&s->lw->results, 0);

	return result->value;
}

/* ---- What is kept -------------------------------------------------------- */

static void number_anchors(struct stages *s)
{
	const struct tn_op *op;
	intptr_t n = 0, last, one;
	int i;

	for (op = s->lw->group->first; op; op = op->next) {
		last = 0;
		for (i = 0; i < op->nin; i++) {
			one = number_of(&s->last, tn_graph_in(op, i));
			if (one > last)
				last = one;
		}
		if (tn_lower_is_anchor(s->lw, op))
			last = ++n;
		for (i = 0; i < op->nout; i++)
			set(s, &s->last, op->out[i], (void *)last);
	}
}

/* True if the op may be made where the anchor's elements are: it is a map of
 * its space, or moves the elements of the group's result about, and what it
 * reads was there before or is made there too. */
static bool is_in_region(const struct stages *s, const struct tn_op *op,
			 const struct tn_op *anchor)
{
	intptr_t number = number_of(&s->last, anchor->out[0]);
	int i;

	if (op->nout != 1 || number_of(&s->last, op->out[0]) != number)
		return false;
	if (!(is_map(op) && tn_type_same_shape(op->out[0]->type,
					       anchor->out[0]->type)) &&
	    !(tn_lower_is_permuted(op) && op->out[0] == result_of(s)))
		return false;
	for (i = 0; i < op->nin; i++)
		if (number_of(&s->last, tn_graph_in(op, i)) == number &&
		    tn_map_find(&s->regions, tn_graph_in(op, i)) != anchor)
			return false;
	return true;
}

static bool is_in(const struct stages *s, const struct tn_op *op,
		  const struct tn_op *anchor)
{
	return op->nout == 1 &&
		tn_map_find(&s->regions, op->out[0]) == anchor;
}

static bool is_read_outside(const struct stages *s,
			    const struct tn_value *value,
			    const struct tn_op *anchor)
{
	const struct tn_use *use;

	for (use = value->uses; use; use = use->next)
		if (tn_lower_in_group(s->lw, use->op) &&
		    !is_in(s, use->op, anchor))
			return true;
	return false;
}

/* True if nothing outside of the region reads it ahead of its last exit. */
static bool is_whole(const struct stages *s, const struct tn_op *anchor,
		     const struct tn_op *last)
{
	const struct tn_op *op;
	int i;

	for (op = anchor->next; op && op != last; op = op->next)
		for (i = 0; i < op->nin && !is_in(s, op, anchor); i++)
			if (tn_map_find(&s->regions, tn_graph_in(op, i)) ==
			    anchor)
				return false;
	return true;
}

/* The region of the anchor, and the values in it that are read elsewhere. If
 * those readers stand between them the anchor stays alone. */
static void find_exits(struct stages *s, const struct tn_op *anchor)
{
	const struct tn_op *op, *last = anchor;

	set(s, &s->regions, anchor->out[0], anchor);
	for (op = anchor->next; op; op = op->next)
		if (is_in_region(s, op, anchor))
			set(s, &s->regions, op->out[0], anchor);
	for (op = anchor; op; op = op->next)
		if (is_in(s, op, anchor) &&
		    is_read_outside(s, op->out[0], anchor))
			last = op;
	if (!is_whole(s, anchor, last)) {
		for (op = anchor->next; op; op = op->next)
			if (is_in(s, op, anchor))
				set(s, &s->regions, op->out[0], NULL);
		last = anchor;
	}
	for (op = anchor; op; op = op->next)
		if (is_in(s, op, anchor) &&
		    is_read_outside(s, op->out[0], anchor))
			set(s, &s->kept, op->out[0], anchor);
	if (!tn_map_set(&s->ends, anchor, (void *)(uintptr_t)last))
		s->lw->failed = true;
}

/* What the value moves, through any number of movements. */
static const struct tn_value *moved(const struct stages *s,
				    const struct tn_value *value)
{
	while (tn_lower_in_group(s->lw, value->op) &&
	       tn_ops[value->op->code].op_class == TN_CLASS_MOVE &&
	       value->op->nin == 1)
		value = tn_graph_in(value->op, 0);
	return value;
}

static void keep_factors(struct stages *s, const struct tn_op *anchor)
{
	const struct tn_value *value;
	int i;

	if (tn_ops[anchor->code].op_class != TN_CLASS_CONTRACT &&
	    tn_ops[anchor->code].op_class != TN_CLASS_WINDOW)
		return;
	for (i = 0; i < anchor->nin; i++) {
		value = moved(s, tn_graph_in(anchor, i));
		if (tn_lower_in_group(s->lw, value->op) &&
		    is_map(value->op) && !is_kept(s, value))
			set(s, &s->kept, value, value->op);
	}
}

static void weigh(struct stages *s, const struct tn_op *op)
{
	intptr_t cost = tn_op_calls(op->code) ? CALL : 1;
	int i;

	for (i = 0; i < op->nin; i++)
		if (!is_kept(s, tn_graph_in(op, i)))
			cost += number_of(&s->costs, tn_graph_in(op, i));
	set(s, &s->costs, op->out[0],
	    (void *)(cost < INT32_MAX ? cost : INT32_MAX));
}

/* The kept value in whose nest `op` is computed. */
static const void *nest_of(const struct stages *s, const struct tn_op *op)
{
	const struct tn_op *anchor;

	if (op->nout != 1)
		return op;
	anchor = tn_map_find(&s->regions, op->out[0]);
	if (anchor)
		return anchor;
	return is_kept(s, op->out[0]) ? op->out[0] :
		tn_map_find(&s->nests, op->out[0]);
}

/* True if the op reads each element of the value many times. */
static bool is_stretching(const struct tn_op *op,
			  const struct tn_value *value)
{
	return is_map(op) &&
		!tn_type_same_shape(op->out[0]->type, value->type);
}

/* Readers before values: keeps what is dear and read in several nests, or over
 * an axis that it lacks. */
static void share(struct stages *s, const struct tn_op *op)
{
	const struct tn_value *value = op->out[0];
	const struct tn_use *use;
	const void *nest = NULL, *other;
	bool several = false, stretches = false;

	for (use = value->uses; use; use = use->next) {
		if (!tn_lower_in_group(s->lw, use->op))
			continue;
		other = nest_of(s, use->op);
		several |= nest && other != nest;
		stretches |= is_stretching(use->op, value);
		nest = other;
	}
	set(s, &s->nests, value, several ? value : nest);
	if ((several || stretches) && is_map(op) && !is_kept(s, value) &&
	    !tn_map_find(&s->regions, value) && value->type->rank &&
	    number_of(&s->costs, value) >= DEAR)
		set(s, &s->kept, value, op);
}

static void settle(struct stages *s, const struct tn_op *op)
{
	const void *nest = nest_of(s, op);

	if (nest != (const void *)op->out[0] || is_kept(s, op->out[0]))
		if (!tn_map_set(&s->homes, op, (void *)(uintptr_t)nest))
			s->lw->failed = true;
}

/* False if the group does not come apart in nests. */
static bool choose(struct stages *s)
{
	struct tn_lower *lw = s->lw;
	const struct tn_value *result;
	const struct tn_op *op;

	if (lw->results.len != 1)
		return false;
	result = result_of(s);
	if (!tn_lower_in_group(lw, result->op) ||
	    !is_read_by(s, result, lw->group->last))
		return false;
	number_anchors(s);
	for (op = lw->group->first; op && !lw->failed; op = op->next)
		if (tn_lower_is_anchor(lw, op)) {
			if (op->nout != 1)
				return false;
			find_exits(s, op);
		}
	for (op = lw->group->first; op && !lw->failed; op = op->next) {
		if (tn_lower_is_anchor(lw, op))
			keep_factors(s, op);
		else if (op->nout == 1)
			weigh(s, op);
	}
	if (!is_kept(s, result))
		set(s, &s->kept, result, result->op);
	for (op = lw->group->last; op && !lw->failed; op = op->prev)
		if (op->nout == 1) {
			share(s, op);
			settle(s, op);
		}
	return !lw->failed;
}

/* ---- Nests --------------------------------------------------------------- */

/* True if the nest of `value` works element by element. */
static bool is_pointwise(const struct stages *s, const struct tn_value *value)
{
	const void *home = tn_map_find(&s->homes, value->op);
	const struct tn_op *op;

	for (op = s->lw->group->first; op; op = op->next)
		if (tn_map_find(&s->homes, op) == home &&
		    !(is_map(op) && tn_type_same_shape(op->out[0]->type,
						       value->type)))
			return false;
	return true;
}

/* True if the nest of `value` is the last that reads `from`. */
static bool dies_in(const struct stages *s, const struct tn_value *from,
		    const struct tn_value *value)
{
	const void *home = tn_map_find(&s->homes, value->op), *other;
	const struct tn_use *use;

	for (use = from->uses; use; use = use->next) {
		if (!tn_lower_in_group(s->lw, use->op))
			continue;
		other = tn_map_find(&s->homes, use->op);
		if (!other || (other != home && !tn_map_has(&s->done, other)))
			return false;
	}
	return true;
}

/* The buffer of a value that dies in the nest of `value`, or NULL. */
static struct tn_kbuf *inherited(const struct stages *s,
				 const struct tn_value *value)
{
	const struct tn_value *from;
	struct tn_kstmt *stmt;

	if (!is_pointwise(s, value))
		return NULL;
	for (stmt = s->lw->kernel->body.first;
	     stmt && stmt->kind == TN_KSTMT_ALLOC; stmt = stmt->next) {
		from = tn_map_find(&s->owners, stmt->buf);
		if (from && from->type == value->type &&
		    from->layout == value->layout && dies_in(s, from, value))
			return stmt->buf;
	}
	return NULL;
}

/* NULL: unfit, as no number says its bytes, or failed. */
static struct tn_kbuf *buffer_of(struct stages *s,
				 const struct tn_value *value, bool is_anchor)
{
	const struct tn_type *type;
	struct tn_kbuf *buf = is_anchor ? NULL : inherited(s, value);

	type = tn_layout_physical(s->lw->module, value->layout, value->type);
	if (!buf && type) {
		buf = tn_lower_scratch(s->lw, value->name, type->dtype,
				       type->rank, type->dims);
		if (buf)
			buf->layout = value->layout;
	}
	if (buf ? !tn_map_set(&s->owners, buf, (void *)(uintptr_t)value) :
	    !s->lw->unfit)
		s->lw->failed = true;
	return buf;
}

/* One more result of the nest that is made next, and where it is stored. */
static void expect(struct stages *s, const struct tn_value *value,
		   struct tn_kbuf *buf)
{
	struct tn_lower_result *result = tn_vec_push(&s->lw->results);

	if (!result) {
		s->lw->failed = true;
		return;
	}
	result->value = value;
	result->buf = buf;
}

/* The nest of what was expected, as `by` makes it. */
static void make(struct stages *s, const struct tn_op *by, bool is_anchor)
{
	struct tn_lower *lw = s->lw;
	struct tn_lower_result *result;
	size_t i;

	lw->home = tn_map_find(&s->homes, by);
	if (is_anchor)
		tn_lower_anchor(lw, by);
	else
		tn_lower_nest(lw, tn_vec_at(&lw->results, 0));
	for (i = 0; i < lw->results.len; i++) {
		result = tn_vec_at(&lw->results, i);
		if (!result->is_done)
			tn_lower_unfit(lw);
		if (!tn_map_set(&lw->bufs, result->value, result->buf))
			lw->failed = true;
	}
	if (!tn_map_set(&s->done, lw->home, s))
		lw->failed = true;
	lw->results.len = 0;
}

static void make_all(struct stages *s, struct tn_kbuf *out,
		     const struct tn_value *result)
{
	struct tn_lower *lw = s->lw;
	const struct tn_op *op, *by;
	struct tn_kbuf *buf;
	bool is_anchor;

	for (op = lw->group->first; op && !lw->unfit && !lw->failed;
	     op = op->next) {
		by = op->nout == 1 ? tn_map_find(&s->kept, op->out[0]) : NULL;
		if (!by)
			continue;
		is_anchor = tn_lower_is_anchor(lw, by);
		buf = result == op->out[0] ? out :
			buffer_of(s, op->out[0], is_anchor);
		if (buf)
			expect(s, op->out[0], buf);
		if (buf && (!is_anchor || tn_map_find(&s->ends, by) == op))
			make(s, by, is_anchor);
	}
}

void tn_lower_stages(struct tn_lower *lw)
{
	struct stages s = { .lw = lw };
	struct tn_lower_result result;

	tn_map_init_ptr(&s.kept);
	tn_map_init_ptr(&s.costs);
	tn_map_init_ptr(&s.last);
	tn_map_init_ptr(&s.regions);
	tn_map_init_ptr(&s.ends);
	tn_map_init_ptr(&s.nests);
	tn_map_init_ptr(&s.homes);
	tn_map_init_ptr(&s.done);
	tn_map_init_ptr(&s.owners);
	lw->homes = &s.homes;
	if (choose(&s)) {
		result = *(struct tn_lower_result *)tn_vec_at(&lw->results, 0);
		lw->results.len = 0;
		make_all(&s, result.buf, result.value);
	} else {
		tn_lower_unfit(lw);
	}
	lw->homes = NULL;
	tn_map_fini(&s.kept);
	tn_map_fini(&s.costs);
	tn_map_fini(&s.last);
	tn_map_fini(&s.regions);
	tn_map_fini(&s.ends);
	tn_map_fini(&s.nests);
	tn_map_fini(&s.homes);
	tn_map_fini(&s.done);
	tn_map_fini(&s.owners);
}

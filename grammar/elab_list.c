/*
 * Lists of numbers and sizes: arithmetic, and orders. They are attributes;
 * nothing of them is left in the graph.
 *
 *   [1, 2] + [[3, 4], [5, 6]]   ->  [[4, 5], [7, 8]]
 *   permute([B, C, H], [2, 0, 1])  ->  [H, B, C]
 */
#include "grammar/elab.h"
#include "grammar/habit.h"

/* Calls and lists inside each other. */
#define MAX_DEPTH 4

static bool is_dim_operator(enum tn_infix op)
{
	return op == TN_INFIX_ADD || op == TN_INFIX_SUB ||
	       op == TN_INFIX_MUL || op == TN_INFIX_FLOORDIV ||
	       op == TN_INFIX_MOD;
}

static int length(const struct ev *ev)
{
	return ev->kind == EV_LIST ? ev->u.list.len : -1;
}

static const struct ev *item(const struct ev *ev, int i)
{
	return ev->kind == EV_LIST ? &ev->u.list.at[i] : ev;
}

static bool combine(struct frame *frame, enum tn_infix op, const struct ev *a,
		    const struct ev *b, int depth, struct ev *out)
{
	int count = length(a) < 0 ? length(b) : length(a), i;
	struct ev *at;

	if (count < 0) {
		if (a->kind != EV_DIM || b->kind != EV_DIM)
			return false;
		*out = ev_dim(elab_dim_binary(frame, op, a->u.dim, b->u.dim,
					      out->span), out->span);
		return out->u.dim != NULL;
	}
	if (depth == MAX_DEPTH ||
	    (length(a) >= 0 && length(b) >= 0 && length(a) != length(b)))
		return false;
	at = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
			    sizeof(*at));
	for (i = 0; at && i < count; i++) {
		at[i].span = out->span;
		if (!combine(frame, op, item(a, i), item(b, i), depth + 1,
			     &at[i]))
			return false;
	}
	*out = at ? ev_list(frame->e, at, count, out->span) :
		    ev_poison(out->span);
	return true;
}

bool elab_list_binary(struct frame *frame, enum tn_infix op,
		      const struct ev *left, const struct ev *right,
		      struct tn_span span, struct ev *out)
{
	if (!is_dim_operator(op) ||
	    (left->kind != EV_LIST && right->kind != EV_LIST))
		return false;
	out->span = span;
	return combine(frame, op, left, right, 0, out);
}

/* ---- Orders ------------------------------------------------------------ */

/* The list that the call is given at the place, or NULL. */
static const struct ev *list_arg(struct call *call, int place)
{
	struct actual *actual = call_arg(call, "", place);

	return actual && actual->ev.kind == EV_LIST ? &actual->ev : NULL;
}

/* Given a tensor, it may be an operator of that name elsewhere that is meant. */
static struct ev wrong(struct frame *frame, struct call *call,
		       const char *what)
{
	const char *help = list_arg(call, 0) ? NULL :
					       tn_habit_call(call->name);
	struct tn_diag *diag;

	diag = tn_diag_report(frame->e->sink, TN_E0210, call->span,
			      "'%s' wants %s", call->name, what);
	if (help)
		tn_diag_help(frame->e->sink, diag, "%s", help);
	return ev_poison(call->span);
}

/* permute(list, p): element p[i] at place i. */
struct ev elab_permute(struct frame *frame, struct call *call)
{
	const struct ev *list = list_arg(call, 0), *perm = list_arg(call, 1);
	struct ev at[TN_MAX_RANK];
	int64_t from;
	int i;

	if (call->len != 2 || !list || !perm ||
	    perm->u.list.len > TN_MAX_RANK)
		return wrong(frame, call, "a list and an order");
	for (i = 0; i < perm->u.list.len; i++) {
		if (!ev_int(&perm->u.list.at[i], &from) || from < 0 ||
		    from >= list->u.list.len)
			return wrong(frame, call, "places in the list");
		at[i] = list->u.list.at[from];
	}
	return ev_list(frame->e, at, perm->u.list.len, call->span);
}

/* inverse(p): the order that undoes p. */
struct ev elab_inverse(struct frame *frame, struct call *call)
{
	const struct ev *perm = list_arg(call, 0);
	struct ev at[TN_MAX_RANK];
	bool seen[TN_MAX_RANK] = {false};
	int64_t to;
	int i;

	if (call->len != 1 || !perm || perm->u.list.len > TN_MAX_RANK)
		return wrong(frame, call, "an order");
	for (i = 0; i < perm->u.list.len; i++) {
		if (!ev_int(&perm->u.list.at[i], &to) || to < 0 ||
		    to >= perm->u.list.len || seen[to])
			return wrong(frame, call, "each place once");
		seen[to] = true;
		at[to] = ev_dim(tn_dim_const(&frame->e->module->dims, i),
				call->span);
	}
	return ev_list(frame->e, at, perm->u.list.len, call->span);
}

/* ---- Parts ------------------------------------------------------------- */

/* The number behind the list, from 0 to its length. */
static bool count_arg(struct call *call, const struct ev *list, int *out)
{
	struct actual *actual = call_arg(call, "", 1);
	int64_t count;

	if (call->len != 2 || !list || !actual ||
	    !ev_int(&actual->ev, &count) || count < 0 ||
	    count > list->u.list.len)
		return false;
	*out = (int)count;
	return true;
}

/* take(list, n): the first n. */
struct ev elab_take(struct frame *frame, struct call *call)
{
	const struct ev *list = list_arg(call, 0);
	int count;

	if (!count_arg(call, list, &count))
		return wrong(frame, call, "a list and a number of items");
	return ev_list(frame->e, list->u.list.at, count, call->span);
}

/* drop(list, n): all but the first n. */
struct ev elab_drop(struct frame *frame, struct call *call)
{
	const struct ev *list = list_arg(call, 0);
	int count;

	if (!count_arg(call, list, &count))
		return wrong(frame, call, "a list and a number of items");
	return ev_list(frame->e, list->u.list.at + count,
		       list->u.list.len - count, call->span);
}

static struct ev sides(struct frame *frame, struct call *call, int side)
{
	const struct ev *list = list_arg(call, 0), *pair;
	struct ev at[TN_MAX_RANK];
	int i;

	if (call->len != 1 || !list || list->u.list.len > TN_MAX_RANK)
		return wrong(frame, call, "a list of pairs");
	for (i = 0; i < list->u.list.len; i++) {
		pair = &list->u.list.at[i];
		if (pair->kind != EV_LIST || pair->u.list.len != 2)
			return wrong(frame, call, "a list of pairs");
		at[i] = pair->u.list.at[side];
	}
	return ev_list(frame->e, at, list->u.list.len, call->span);
}

/* lows([[1, 2], [3, 4]]): [1, 3]. */
struct ev elab_lows(struct frame *frame, struct call *call)
{
	return sides(frame, call, 0);
}

/* highs([[1, 2], [3, 4]]): [2, 4]. */
struct ev elab_highs(struct frame *frame, struct call *call)
{
	return sides(frame, call, 1);
}

/* union([2, 0], [0, 1]): the axes in either, in order, [0, 1, 2]. */
struct ev elab_union(struct frame *frame, struct call *call)
{
	const struct ev *in[2] = { list_arg(call, 0), list_arg(call, 1) };
	struct ev at[TN_MAX_RANK];
	bool has[TN_MAX_RANK] = {false};
	int64_t axis;
	int i, k, count = 0;

	if (call->len != 2 || !in[0] || !in[1])
		return wrong(frame, call, "two lists of axes");
	for (k = 0; k < 2; k++)
		for (i = 0; i < in[k]->u.list.len; i++) {
			if (!ev_int(&in[k]->u.list.at[i], &axis) || axis < 0 ||
			    axis >= TN_MAX_RANK)
				return wrong(frame, call, "axes");
			has[axis] = true;
		}
	for (i = 0; i < TN_MAX_RANK; i++)
		if (has[i])
			at[count++] = ev_dim(tn_dim_const(
				&frame->e->module->dims, i), call->span);
	return ev_list(frame->e, at, count, call->span);
}

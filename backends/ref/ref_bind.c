/*
 * Binding: what the shapes of the arguments say of the dims. Plain symbols
 * take their size first; expressions are then compared, or solved for their
 * one unknown symbol. Bounds and guards are checked last.
 */
#include "backends/ref/ref_impl.h"

#include "base/num.h"

#include <inttypes.h>

/* Symbols of a dim that have no value yet. */
struct unknown {
	const int64_t *dims;
	const struct tn_sym *sym;
	int count;
};

static void see_unknown(void *data, const struct tn_dim *dim)
{
	struct unknown *unknown = data;

	if (unknown->dims[dim->sym->number] < 0 &&
	    unknown->sym != dim->sym) {
		unknown->sym = dim->sym;
		unknown->count++;
	}
}

static struct unknown unknown_of(const int64_t *dims, const struct tn_dim *dim)
{
	struct unknown unknown = { .dims = dims };

	tn_dim_each_sym(dim, see_unknown, &unknown);
	return unknown;
}

static const struct tn_value *param(const struct tn_ref_frame *frame, int i)
{
	return frame->fn->body->params[i];
}

static bool wrong_size(struct tn_ref_frame *frame, int i, int axis,
		       const struct tn_dim *dim, int64_t want, int64_t have)
{
	struct tn_buf text;
	bool is_symbol = dim->kind == TN_DIM_SYM && dim->sym->span.file;

	tn_buf_init(&text);
	tn_dim_print(&text, dim);
	tn_ref_fail(frame->ref, TN_BAD_INPUT,
		    is_symbol ? dim->sym->span : param(frame, i)->span,
		    "axis %d of '%s' has size %" PRId64 ", but %s is %" PRId64,
		    axis, param(frame, i)->name, have, tn_buf_text(&text),
		    want);
	tn_buf_fini(&text);
	return false;
}

/* Symbols in parameter types belong to this call, not to the caller. */
static void forget(void *data, const struct tn_dim *dim)
{
	int64_t *dims = data;

	dims[dim->sym->number] = -1;
}

static void forget_params(struct tn_ref_frame *frame)
{
	int i;

	for (i = 0; i < frame->fn->body->nparams; i++) {
		const struct tn_type *type = param(frame, i)->type;
		int at;

		for (at = 0; at < type->rank; at++)
			tn_dim_each_sym(type->dims[at], forget, frame->dims);
	}
}

static bool check_param(struct tn_ref_frame *frame, int i,
			const struct tn_tensor *in)
{
	const struct tn_type *type = param(frame, i)->type;

	if (in->dtype != type->dtype)
		return tn_ref_fail(frame->ref, TN_BAD_INPUT,
				   param(frame, i)->span,
				   "'%s' is %s, not %s", param(frame, i)->name,
				   tn_dtype_name(type->dtype),
				   tn_dtype_name(in->dtype));
	if (in->rank != type->rank)
		return tn_ref_fail(frame->ref, TN_BAD_INPUT,
				   param(frame, i)->span,
				   "'%s' has %d axes, not %d",
				   param(frame, i)->name, type->rank,
				   in->rank);
	return true;
}

static void bind_symbols(struct tn_ref_frame *frame, int nin,
			 const struct tn_tensor *const *in)
{
	int i;

	for (i = 0; i < nin; i++) {
		const struct tn_type *type = param(frame, i)->type;
		int at;

		for (at = 0; at < type->rank; at++) {
			const struct tn_dim *dim = type->dims[at];

			if (dim->kind == TN_DIM_SYM &&
			    frame->dims[dim->sym->number] < 0)
				frame->dims[dim->sym->number] =
					in[i]->shape[at];
		}
	}
}

/* The value of the one unknown symbol with dim == size: exact where the dim is
 * linear in it, and checked in any case. */
static bool solve(int64_t *dims, const struct tn_dim *dim,
		  const struct tn_sym *sym, int64_t size)
{
	int64_t *slot = &dims[sym->number], zero, one, rest, found;

	*slot = 0;
	if (!tn_dim_eval(dim, dims, &zero))
		goto none;
	*slot = 1;
	if (!tn_dim_eval(dim, dims, &one) || one == zero ||
	    !tn_num_sub(size, zero, &rest) || rest % (one - zero) != 0)
		goto none;
	*slot = rest / (one - zero);
	if (*slot >= 0 && tn_dim_eval(dim, dims, &found) && found == size)
		return true;
none:
	*slot = -1;
	return false;
}

struct adoption {
	int64_t *dims;
	const int64_t *outer;
	struct tn_vec numbers;	/* int, of the symbols that got a value */
	bool failed;		/* out of memory */
};

static void adopt(void *data, const struct tn_dim *dim)
{
	struct adoption *adoption = data;
	int number = dim->sym->number, *slot;

	if (adoption->dims[number] >= 0 || adoption->outer[number] < 0)
		return;
	slot = tn_vec_push(&adoption->numbers);
	if (!slot) {
		adoption->failed = true;
		return;
	}
	*slot = number;
	adoption->dims[number] = adoption->outer[number];
}

/* Gives the unknown symbols of the dim the caller's values, if the size is what
 * these make; false: no memory. */
static bool adopt_size(struct tn_ref_frame *frame, const struct tn_dim *dim,
		       int64_t size)
{
	struct adoption adoption = { .dims = frame->dims,
				     .outer = frame->outer };
	int64_t have;
	size_t i;

	tn_vec_init(&adoption.numbers, sizeof(int), NULL);
	tn_dim_each_sym(dim, adopt, &adoption);
	if (!tn_dim_eval(dim, frame->dims, &have) || have != size)
		for (i = 0; i < adoption.numbers.len; i++)
			frame->dims[*(int *)tn_vec_at(&adoption.numbers, i)] =
				-1;
	tn_vec_fini(&adoption.numbers);
	return !adoption.failed || tn_ref_no_memory(frame->ref);
}

/* A function made for one place, as those of groups and of composites are, has
 * sizes of its caller that its parameters alone need not tell, N * M. */
static bool bind_outer(struct tn_ref_frame *frame, int nin,
		       const struct tn_tensor *const *in)
{
	const struct tn_type *type;
	int i, at;

	for (i = 0; i < nin; i++) {
		type = param(frame, i)->type;
		for (at = 0; at < type->rank; at++)
			if (!adopt_size(frame, type->dims[at],
					in[i]->shape[at]))
				return false;
	}
	return true;
}

/* Solves what can be solved until nothing more is found. */
static void bind_derived(struct tn_ref_frame *frame, int nin,
			 const struct tn_tensor *const *in)
{
	bool again = true;

	while (again) {
		int i;

		again = false;
		for (i = 0; i < nin; i++) {
			const struct tn_type *type = param(frame, i)->type;
			int at;

			for (at = 0; at < type->rank; at++) {
				struct unknown unknown =
					unknown_of(frame->dims, type->dims[at]);

				if (unknown.count == 1 &&
				    solve(frame->dims, type->dims[at],
					  unknown.sym, in[i]->shape[at]))
					again = true;
			}
		}
	}
}

static bool check_sizes(struct tn_ref_frame *frame, int nin,
			const struct tn_tensor *const *in)
{
	int i;

	for (i = 0; i < nin; i++) {
		const struct tn_type *type = param(frame, i)->type;
		int at;

		for (at = 0; at < type->rank; at++) {
			int64_t want = -1;

			if (!tn_dim_eval(type->dims[at], frame->dims, &want) ||
			    want != in[i]->shape[at])
				return wrong_size(frame, i, at, type->dims[at],
						  want, in[i]->shape[at]);
		}
	}
	return true;
}

static bool check_bounds(struct tn_ref *ref, const struct tn_sym *sym,
			 int64_t value)
{
	if (value < sym->lo || value > sym->hi)
		return tn_ref_fail(ref, TN_BAD_INPUT, sym->span,
				   "%s is %" PRId64 ", but is declared in "
				   "[%" PRId64 ", %" PRId64 "]", sym->name,
				   value, sym->lo, sym->hi);
	if (sym->mod > 1 && value % sym->mod != 0)
		return tn_ref_fail(ref, TN_BAD_INPUT, sym->span,
				   "%s is %" PRId64 ", but must be a multiple "
				   "of %" PRId64, sym->name, value, sym->mod);
	return true;
}

struct bounds {
	struct tn_ref_frame *frame;
	bool ok;
};

static void see_bounds(void *data, const struct tn_dim *dim)
{
	struct bounds *bounds = data;
	int64_t value = bounds->frame->dims[dim->sym->number];

	if (!bounds->ok || dim->sym->is_runtime)
		return;
	if (value < 0)
		bounds->ok = tn_ref_fail(bounds->frame->ref, TN_BAD_INPUT,
				dim->sym->span, "the size %s is not known "
				"from the inputs", dim->sym->name);
	else
		bounds->ok = check_bounds(bounds->frame->ref, dim->sym, value);
}

static bool check_types(struct tn_ref_frame *frame)
{
	struct bounds bounds = { frame, true };
	const struct tn_fn *fn = frame->fn;
	int i;

	for (i = 0; i < fn->body->nparams; i++) {
		const struct tn_type *type = param(frame, i)->type;
		int at;

		for (at = 0; at < type->rank; at++)
			tn_dim_each_sym(type->dims[at], see_bounds, &bounds);
	}
	for (i = 0; fn->result_types && i < fn->nresults; i++) {
		const struct tn_type *type = fn->result_types[i];
		int at;

		for (at = 0; type && at < type->rank; at++)
			tn_dim_each_sym(type->dims[at], see_bounds, &bounds);
	}
	return bounds.ok;
}

static bool check_guard(struct tn_ref_frame *frame,
			const struct tn_guard *guard)
{
	static const char *const words[] = {
		"must equal", "must not exceed", "must be a multiple of"
	};
	int64_t a, b;
	struct tn_buf left, right;

	if (!tn_dim_eval(guard->a, frame->dims, &a) ||
	    !tn_dim_eval(guard->b, frame->dims, &b))
		return tn_ref_fail(frame->ref, TN_BAD_INPUT, guard->span,
				   "a size leaves the 64-bit range");
	if (tn_guard_holds(guard, a, b))
		return true;
	tn_buf_init(&left);
	tn_buf_init(&right);
	tn_dim_print(&left, guard->a);
	tn_dim_print(&right, guard->b);
	tn_ref_fail(frame->ref, TN_BAD_INPUT, guard->span,
		    "%s = %" PRId64 " %s %s = %" PRId64, tn_buf_text(&left), a,
		    words[guard->kind], tn_buf_text(&right), b);
	tn_buf_fini(&left);
	tn_buf_fini(&right);
	return false;
}

bool tn_ref_bind(struct tn_ref_frame *frame, int nin,
		 const struct tn_tensor *const *in)
{
	size_t at;
	int i;

	if (nin != frame->fn->body->nparams)
		return tn_ref_fail(frame->ref, TN_BAD_INPUT, frame->fn->span,
				   "'%s' takes %d inputs, not %d",
				   frame->fn->name, frame->fn->body->nparams,
				   nin);
	for (i = 0; i < nin; i++) {
		if (!check_param(frame, i, in[i]))
			return false;
	}
	if (frame->ref->depth > 1)
		forget_params(frame);
	bind_symbols(frame, nin, in);
	if (frame->outer && !bind_outer(frame, nin, in))
		return false;
	bind_derived(frame, nin, in);
	if (!check_sizes(frame, nin, in) || !check_types(frame))
		return false;
	for (at = 0; at < frame->fn->guards.len; at++) {
		if (!check_guard(frame, tn_vec_at(&frame->fn->guards, at)))
			return false;
	}
	return true;
}

bool tn_ref_bind_size(struct tn_ref_frame *frame, const struct tn_op *op,
		      int64_t size)
{
	const struct tn_sym *sym = op->out[0]->type->dims[0]->sym;

	if (!sym)
		return true;
	frame->dims[sym->number] = size;
	return check_bounds(frame->ref, sym, size);
}

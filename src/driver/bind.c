/*
 * Dims of a call: each input's sizes are held against its declared type, which
 * fixes symbols one by one; what no input fixes comes from the caller. Then
 * bounds, divisibility and the function's guards are checked.
 */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "driver/call.h"
#include "driver/tensors.h"

static const struct tn_sym *symbol(const struct tenon_call *call, int i)
{
	const struct tn_dim *dim = tn_vec_ptr(
		&call->engine->signature.ir->dims.syms, (size_t)i);

	return dim->sym;
}

static int nsyms(const struct tenon_call *call)
{
	return call->engine->signature.ir->dims.nsyms;
}

static struct tn_sink *sink(const struct tenon_call *call)
{
	return &call->engine->context->sink;
}

static void note_declared(const struct tenon_call *call,
			  struct tn_diag *diag, const struct tn_type *type)
{
	struct tn_buf text;

	tn_buf_init(&text);
	tn_type_print(&text, type);
	tn_diag_note(sink(call), diag, "declared is %s", tn_buf_text(&text));
	tn_buf_fini(&text);
}

/* The input's element type and rank. */
static enum tn_status check_type(const struct tenon_call *call, int i)
{
	const struct tn_port *port = &call->engine->signature.inputs[i];
	const struct tn_tensor *tensor = &call->inputs[i].tensor;
	struct tn_buf text;
	struct tn_diag *diag;

	if (tensor->dtype == port->type->dtype &&
	    tensor->rank == port->type->rank)
		return TN_OK;
	tn_buf_init(&text);
	tn_tensors_put_type(&text, tensor);
	diag = tn_context_report(call->engine->context, TN_E0013,
				 "input '%s' is %s", port->name,
				 tn_buf_text(&text));
	note_declared(call, diag, port->type);
	tn_diag_help(sink(call), diag, "inputs are not converted");
	tn_buf_fini(&text);
	return TN_BAD_INPUT;
}

/* ---- Solving ----------------------------------------------------------------- */

struct solver {
	struct tenon_call *call;
	const struct tn_dim **map;	/* by symbol */
};

static struct tn_dim_pool *pool(const struct solver *s)
{
	return &s->call->engine->signature.ir->dims;
}

/* Takes over what the map gained since, as fixed by `from`. */
static bool take(struct solver *s, const char *from)
{
	bool changed = false;
	int i;

	for (i = 0; i < nsyms(s->call); i++) {
		if (!s->map[i] || s->call->bound[i])
			continue;
		s->call->bound[i] = true;
		s->call->dims[i] = s->map[i]->value;
		s->call->from[i] = from;
		changed = true;
	}
	return changed;
}

/* Bounds are checked later, so that a size beyond them is named. */
static void bind_symbol(struct solver *s, int number,
			const struct tn_dim *size)
{
	if (!s->map[number])
		s->map[number] = size;
}

static bool solve_input(struct solver *s, int i)
{
	const struct tn_port *port = &s->call->engine->signature.inputs[i];
	const struct tn_tensor *tensor = &s->call->inputs[i].tensor;
	const struct tn_dim *size, *dim;
	bool changed = false;
	int k;

	for (k = 0; k < tensor->rank; k++) {
		dim = port->type->dims[k];
		if (tn_dim_is_const(dim))
			continue;
		size = tn_dim_const(pool(s), tensor->shape[k]);
		if (size && dim->kind == TN_DIM_SYM)
			bind_symbol(s, dim->sym->number, size);
		else if (size)
			(void)tn_dim_unify(pool(s), dim, size, s->map);
		changed |= take(s, port->name);
	}
	return changed;
}

static bool is_given(const struct tenon_call *call, int i)
{
	return call->inputs[i].state == TN_INPUT_LENT ||
	       call->inputs[i].state == TN_INPUT_OWNED;
}

static void solve(struct solver *s)
{
	int ninputs = s->call->engine->signature.ninputs, i;
	bool changed = true;

	while (changed) {
		changed = false;
		for (i = 0; i < ninputs; i++)
			if (is_given(s->call, i))
				changed |= solve_input(s, i);
	}
	for (i = 0; i < nsyms(s->call); i++)
		if (!s->call->bound[i] && s->call->asked[i])
			s->map[i] = tn_dim_const(pool(s),
						 s->call->wish[i]);
	if (take(s, "--dim"))
		solve(s);
}

/* ---- Checking ---------------------------------------------------------------- */

static struct tn_diag *dim_report(const struct tenon_call *call, int i,
				  const char *text)
{
	const struct tn_sym *sym = symbol(call, i);
	struct tn_diag *diag;

	diag = tn_diag_report(sink(call), TN_E0014, sym->span, "dim '%s' %s",
			      sym->name, text);
	if (call->from[i])
		tn_diag_note(sink(call), diag, "%s %s fixes it",
			     strcmp(call->from[i], "--dim") ? "input" :
			     "option", call->from[i]);
	return diag;
}

static enum tn_status check_sym(const struct tenon_call *call, int i)
{
	const struct tn_sym *sym = symbol(call, i);
	int64_t value = call->dims[i];
	bool is_outside = value < sym->lo || value > sym->hi;
	struct tn_diag *diag;
	char text[160];

	if (is_outside)
		snprintf(text, sizeof(text), "is %lld, outside [%lld, %lld]",
			 (long long)value, (long long)sym->lo,
			 (long long)sym->hi);
	else if (sym->mod > 1 && tn_num_floormod(value, sym->mod))
		snprintf(text, sizeof(text),
			 "is %lld, no multiple of %lld", (long long)value,
			 (long long)sym->mod);
	else if (call->asked[i] && call->wish[i] != value)
		snprintf(text, sizeof(text), "is %lld, but --dim says %lld",
			 (long long)value, (long long)call->wish[i]);
	else
		return TN_OK;
	diag = dim_report(call, i, text);
	if (is_outside && !sym->span.file)
		tn_diag_help(sink(call), diag, "a size of an imported model: "
			     "--bounds=%s=LOW:HIGH gives it others", sym->name);
	return TN_BAD_INPUT;
}

struct used {
	const struct tenon_call *call;
	int unbound;		/* a symbol, or -1 */
};

static void see(void *data, const struct tn_dim *sym)
{
	struct used *used = data;
	int number = sym->sym->number;

	if (!used->call->bound[number] &&
	    !used->call->engine->signature.runtime[number])
		used->unbound = number;
}

/* Shows an input that does not have its declared shape, and what fixed the
 * dims in that. */
static enum tn_status misfit(const struct tenon_call *call, int i)
{
	const struct tn_port *port = &call->engine->signature.inputs[i];
	struct tn_diag *diag;
	struct tn_buf text;
	int k;

	tn_buf_init(&text);
	tn_tensors_put_type(&text, &call->inputs[i].tensor);
	diag = tn_context_report(call->engine->context, TN_E0013,
				 "input '%s' is %s", port->name,
				 tn_buf_text(&text));
	tn_buf_fini(&text);
	note_declared(call, diag, port->type);
	for (k = 0; k < nsyms(call); k++)
		if (call->bound[k] && call->from[k] &&
		    strcmp(call->from[k], port->name))
			tn_diag_note(sink(call), diag, "%s = %lld by %s",
				     symbol(call, k)->name,
				     (long long)call->dims[k],
				     call->from[k]);
	return TN_BAD_INPUT;
}

/* A given input in whose shape the symbol stands, or -1. */
static int input_with(const struct tenon_call *call, int number)
{
	const struct tn_signature *s = &call->engine->signature;
	struct used used = { call, -1 };
	int i, k;

	for (i = 0; i < s->ninputs; i++) {
		used.unbound = -1;
		for (k = 0; k < s->inputs[i].type->rank; k++)
			tn_dim_each_sym(s->inputs[i].type->dims[k], see,
					&used);
		if (is_given(call, i) && used.unbound == number)
			return i;
	}
	return -1;
}

static enum tn_status check_known(const struct tenon_call *call,
				  const struct tn_type *type)
{
	struct used used = { call, -1 };
	struct tn_diag *diag;
	int k, i;

	for (k = 0; k < type->rank; k++)
		tn_dim_each_sym(type->dims[k], see, &used);
	if (used.unbound < 0)
		return TN_OK;
	i = input_with(call, used.unbound);
	if (i >= 0)
		return misfit(call, i);
	diag = tn_diag_report(sink(call), TN_E0015,
			      symbol(call, used.unbound)->span,
			      "no input fixes dim '%s'",
			      symbol(call, used.unbound)->name);
	tn_diag_help(sink(call), diag, "give it with --dim %s=SIZE",
		     symbol(call, used.unbound)->name);
	return TN_BAD_INPUT;
}

/* The sizes of an input against its type, once all dims are known. */
static enum tn_status check_sizes(const struct tenon_call *call, int i)
{
	const struct tn_port *port = &call->engine->signature.inputs[i];
	const struct tn_tensor *tensor = &call->inputs[i].tensor;
	int64_t want;
	int k;

	for (k = 0; k < tensor->rank; k++)
		if (!tn_dim_eval(port->type->dims[k], call->dims, &want) ||
		    want != tensor->shape[k])
			break;
	if (k == tensor->rank)
		return TN_OK;
	return misfit(call, i);
}

static enum tn_status check_guard(const struct tenon_call *call,
				  const struct tn_guard *guard)
{
	static const char *const words[] = { "equals", "is at most",
					     "is divided by" };
	struct tn_buf a, b;
	int64_t x, y;

	if (!tn_dim_eval(guard->a, call->dims, &x) ||
	    !tn_dim_eval(guard->b, call->dims, &y))
		x = INT64_MAX, y = 0;
	if (tn_guard_holds(guard, x, y))
		return TN_OK;
	tn_buf_init(&a);
	tn_buf_init(&b);
	tn_dim_print(&a, guard->a);
	tn_dim_print(&b, guard->b);
	tn_diag_report(sink(call), TN_E0020, guard->span,
		       "these sizes are refused: it is required that %s "
		       "(here %lld) %s %s (here %lld)", tn_buf_text(&a),
		       (long long)x, words[guard->kind], tn_buf_text(&b),
		       (long long)y);
	tn_buf_fini(&a);
	tn_buf_fini(&b);
	return TN_BAD_INPUT;
}

static void see_any(void *data, const struct tn_dim *sym)
{
	struct used *used = data;

	if (!used->call->bound[sym->sym->number])
		used->unbound = sym->sym->number;
}

/* True if a guard speaks of dims that only the run will tell. */
static bool is_late(const struct tenon_call *call,
		    const struct tn_guard *guard)
{
	struct used used = { call, -1 };

	tn_dim_each_sym(guard->a, see_any, &used);
	tn_dim_each_sym(guard->b, see_any, &used);
	return used.unbound >= 0;
}

static enum tn_status check_all(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	enum tn_status status = TN_OK;
	int i;

	for (i = 0; i < s->ninputs && !status; i++)
		status = check_known(call, s->inputs[i].type);
	for (i = 0; i < s->noutputs && !status; i++)
		status = check_known(call, s->outputs[i].type);
	for (i = 0; i < s->ninputs && !status; i++)
		if (is_given(call, i))
			status = check_sizes(call, i);
	for (i = 0; i < nsyms(call) && !status; i++)
		if (call->bound[i])
			status = check_sym(call, i);
	for (i = 0; i < s->nguards && !status; i++)
		if (!is_late(call, &s->guards[i]))
			status = check_guard(call, &s->guards[i]);
	return status;
}

enum tn_status tn_call_bind(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	struct solver solver = { .call = call };
	int i, n = nsyms(call);
	enum tn_status status;

	for (i = 0; i < s->ninputs; i++) {
		if (call->inputs[i].state == TN_INPUT_NONE) {
			struct tn_diag *diag = tn_context_report(
				call->engine->context, TN_E0012,
				"no value for input '%s'", s->inputs[i].name);

			note_declared(call, diag, s->inputs[i].type);
			tn_diag_help(sink(call), diag,
				     "give it with -i %s=VALUE",
				     s->inputs[i].name);
			return TN_USAGE;
		}
		status = is_given(call, i) ? check_type(call, i) : TN_OK;
		if (status)
			return status;
	}
	solver.map = call->map;
	for (i = 0; i < n; i++) {
		call->map[i] = NULL;
		call->bound[i] = false;
		call->from[i] = NULL;
		call->dims[i] = symbol(call, i)->lo;
	}
	solve(&solver);
	return check_all(call);
}

/*
 * The bench for the lowering; lowering.h says what it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lowering.h"

#include <math.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/graph_edit.h"
#include "ir/kernel_eval.h"
#include "ir/verify.h"
#include "passes/schedule.h"

const struct tn_span nowhere;
enum tn_target_par bench_par = TN_PAR_THREADS;

void bench_open(struct bench *t)
{
	int i;

	memset(t, 0, sizeof(*t));
	tn_intern_init(&t->names);
	tn_sink_init(&t->sink);
	tn_map_init_ptr(&t->tensors);
	t->module = tn_module_new(&t->names, &t->sink);
	assert_non_null(t->module);
	t->fn = tn_graph_fn(t->module, tn_intern_text(&t->names, "main"),
			    TN_FN_PLAIN);
	assert_non_null(t->fn);
	assert_non_null(t->fn->body);
	tn_builder_init(&t->b, t->fn->body);
	t->target = (struct tn_target){ .par = bench_par, .name = "test",
					.vector_bytes = 32,
					.threads_per_block = 4 };
	t->seed = 12345;
	for (i = 0; i < NDIMS; i++)
		t->dims[i] = -1;
}

void bench_close(struct bench *t)
{
	int i;

	for (i = 0; i < t->npool; i++)
		tn_tensor_fini(&t->pool[i]);
	tn_map_fini(&t->tensors);
	tn_module_free(t->module);
	tn_sink_fini(&t->sink);
	tn_intern_fini(&t->names);
}

static uint64_t bench_random(struct bench *t)
{
	t->seed ^= t->seed >> 12;
	t->seed ^= t->seed << 25;
	t->seed ^= t->seed >> 27;
	return t->seed * 0x2545f4914f6cdd1du;
}

static struct tn_tensor *bench_tensor(struct bench *t)
{
	assert_true(t->npool < NVALUES);
	return &t->pool[t->npool++];
}

static void bench_bind(struct bench *t, const struct tn_value *value,
		       struct tn_tensor *tensor)
{
	assert_true(tn_map_set(&t->tensors, value, tensor));
}

struct tn_tensor *bench_of(struct bench *t,
				  const struct tn_value *value)
{
	struct tn_tensor *tensor = tn_map_find(&t->tensors, value);

	if (!tensor)
		print_message("no tensor for %s\n", value->name);
	assert_non_null(tensor);
	return tensor;
}

const struct tn_dim *bench_int(struct bench *t, int64_t value)
{
	return tn_dim_const(&t->module->dims, value);
}

const struct tn_dim *bench_sym(struct bench *t, const char *name,
				      int64_t lo, int64_t hi, int64_t value)
{
	struct tn_sym sym = { .name = tn_intern_text(&t->names, name),
			      .lo = lo, .hi = hi, .mod = 1 };
	const struct tn_dim *dim = tn_dim_new_sym(&t->module->dims, &sym);

	assert_non_null(dim);
	assert_true(dim->sym->number < NDIMS);
	t->dims[dim->sym->number] = value;
	return dim;
}

static struct tn_tensor *bench_shape(struct bench *t,
				     const struct tn_type *type)
{
	struct tn_eval eval = { .dims = t->dims };
	struct tn_tensor *tensor = bench_tensor(t);
	int64_t shape[TN_MAX_RANK];
	int i;

	for (i = 0; i < type->rank; i++) {
		const struct tn_dim *dim = type->dims[i];

		if (dim->kind == TN_DIM_SYM && dim->sym->is_runtime &&
		    t->dims[dim->sym->number] < 0)
			shape[i] = dim->sym->hi;
		else
			assert_true(tn_dim_eval(dim, eval.dims, &shape[i]));
	}
	assert_true(tn_tensor_init(tensor, type->dtype, type->rank, shape));
	return tensor;
}

struct tn_value *bench_param(struct bench *t, const char *name,
				    enum tn_dtype dtype, int rank,
				    const struct tn_dim *const *dims)
{
	struct tn_value *value;

	value = tn_graph_param(t->fn->body, tn_intern_text(&t->names, name),
			       tn_type_get(t->module, dtype, rank, dims));
	assert_non_null(value);
	bench_bind(t, value, bench_shape(t, value->type));
	return value;
}

/* A parameter of constant sizes with whole numbers in [lo, hi], quarters for
 * floats. */
struct tn_value *bench_in(struct bench *t, const char *name,
				 enum tn_dtype dtype, int rank,
				 const int64_t *sizes, int lo, int hi)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_value *value;
	struct tn_tensor *tensor;
	int64_t i, n;
	int k;

	for (k = 0; k < rank; k++)
		dims[k] = bench_int(t, sizes[k]);
	value = bench_param(t, name, dtype, rank, dims);
	tensor = bench_of(t, value);
	n = tn_tensor_count(tensor);
	for (i = 0; i < n; i++) {
		uint64_t r = bench_random(t) >> 33;

		if (tn_dtype_is(dtype, TN_KIND_F))
			tn_tensor_set_f64(tensor, i, lo + (double)
				(r % (uint64_t)((hi - lo) * 64 + 1)) / 64);
		else
			tn_tensor_set_i64(tensor, i, lo + (int64_t)
				(r % (uint64_t)(hi - lo + 1)));
	}
	return value;
}

/* Sprinkles NaN, infinities, zeros and extreme integers. */
void bench_special(struct bench *t, const struct tn_value *value)
{
	static const double floats[] = { NAN, INFINITY, -INFINITY, 0.0 };
	static const int64_t ints[] = { INT64_MIN, INT64_MAX, 0, -1 };
	struct tn_tensor *tensor = bench_of(t, value);
	int64_t i, n = tn_tensor_count(tensor);

	for (i = 0; i < n; i++) {
		uint64_t r = bench_random(t) >> 40;
		int bits = tn_dtype_bytes(tensor->dtype) * 8;

		if (r % 5)
			continue;
		r = r / 5 % 4;
		if (tn_dtype_is(tensor->dtype, TN_KIND_F))
			tn_tensor_set_f64(tensor, i, floats[r]);
		else if (tensor->dtype != TN_bool)
			tn_tensor_set_i64(tensor, i, r < 2 ?
					  ints[r] >> (64 - bits) : ints[r]);
	}
}

struct tn_value *bench_op(struct bench *t, enum tn_opcode code,
				 int nin, struct tn_value *const *in,
				 int nattrs, const struct tn_attr *attrs)
{
	struct tn_op *op = tn_build_op(&t->b, code, nin, in, nattrs, attrs,
				       nowhere);

	if (t->b.failed || !op) {
		struct tn_buf text;

		tn_buf_init(&text);
		tn_sink_render(&t->sink, &text, false);
		print_message("%s\n", tn_buf_text(&text));
		tn_buf_fini(&text);
	}
	assert_non_null(op);
	assert_false(t->b.failed);
	return op->nout ? op->out[0] : NULL;
}

struct tn_value *bench_op1(struct bench *t, enum tn_opcode code,
				  struct tn_value *a, int nattrs,
				  const struct tn_attr *attrs)
{
	return bench_op(t, code, 1, &a, nattrs, attrs);
}

struct tn_value *bench_op2(struct bench *t, enum tn_opcode code,
				  struct tn_value *a, struct tn_value *b,
				  int nattrs, const struct tn_attr *attrs)
{
	struct tn_value *in[2];

	in[0] = a;
	in[1] = b;
	return bench_op(t, code, 2, in, nattrs, attrs);
}

void bench_return(struct bench *t, int n, struct tn_value *const *out)
{
	struct tn_fn *fn = t->b.fn;
	size_t count = (size_t)n;
	int i;

	fn->nresults = n;
	fn->result_names = tn_arena_array(&t->module->arena, count,
					  sizeof(*fn->result_names));
	fn->result_types = tn_arena_array(&t->module->arena, count,
					  sizeof(*fn->result_types));
	assert_true(fn->result_names && fn->result_types);
	for (i = 0; i < n; i++)
		fn->result_types[i] = out[i]->type;
	bench_op(t, TN_OP_return, n, out, 0, NULL);
}

/* ---- Running ----------------------------------------------------------- */

static void run_reference(struct bench *t, const struct tn_block *block);

static void run_one(struct bench *t, const struct tn_op *op)
{
	struct tn_eval eval = { .dims = t->dims };
	const struct tn_tensor *in[64];
	struct tn_tensor out[8];
	int i;

	for (i = 0; i < op->nin; i++)
		in[i] = bench_of(t, tn_graph_in(op, i));
	memset(out, 0, sizeof(out));
	if (!tn_eval_op(&eval, op, in, out))
		print_message("reference failed: %s\n", tn_ops[op->code].name);
	assert_false(eval.failed);
	t->flags |= eval.flags;
	for (i = 0; i < op->nout; i++) {
		struct tn_tensor *tensor = bench_tensor(t);

		*tensor = out[i];
		bench_bind(t, op->out[i], tensor);
	}
}

static void run_reference(struct bench *t, const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (op->code == TN_OP_return)
			continue;
		if (op->code == TN_OP_call) {
			const struct tn_block *body = op->callee->body;

			for (i = 0; i < op->nin; i++)
				bench_bind(t, body->params[i],
					   bench_of(t, tn_graph_in(op, i)));
			run_reference(t, body);
			for (i = 0; i < op->nout; i++)
				bench_bind(t, op->out[i], bench_of(
					t, tn_graph_in(body->last, i)));
			continue;
		}
		run_one(t, op);
	}
}

static void run_launch(struct bench *t, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	void *buffers[64];
	int in = 0, out = 0, i;
	struct tn_buf why;

	for (i = 0; i < kernel->nparams; i++) {
		enum tn_kbuf_role role = kernel->params[i]->role;
		struct tn_tensor *tensor;

		if (role == TN_KBUF_OUT)
			tensor = bench_shape(t, op->out[out]->type);
		else
			tensor = bench_of(t, tn_graph_in(op, in++));
		if (role != TN_KBUF_IN)
			bench_bind(t, op->out[out++], tensor);
		if (role == TN_KBUF_OUT && tensor->data)
			memset(tensor->data, 0x5a,
			       (size_t)tn_tensor_bytes(tensor));
		buffers[i] = tensor->data;
	}
	assert_int_equal(in, op->nin);
	assert_int_equal(out, op->nout);
	tn_buf_init(&why);
	if (!tn_kernel_eval(kernel, t->dims, buffers, &t->flags, &why)) {
		tn_kernel_print(&why, kernel);
		print_message("%s\n", tn_buf_text(&why));
		fail_msg("a kernel failed");
	}
	tn_buf_fini(&why);
	for (i = 0; i < op->nout; i++) {
		const struct tn_type *type = op->out[i]->type;
		struct tn_tensor *tensor = bench_of(t, op->out[i]);

		if (type->rank == 1 && type->dims[0]->kind == TN_DIM_SYM &&
		    type->dims[0]->sym->is_runtime)
			tensor->shape[0] =
				t->dims[type->dims[0]->sym->number];
	}
}

/* Copies bytes into the carry's own buffer, as a back end would. */
static void copy_into(struct tn_tensor *to, const struct tn_tensor *from)
{
	assert_int_equal(tn_tensor_bytes(to), tn_tensor_bytes(from));
	if (to->data != from->data)
		memmove(to->data, from->data, (size_t)tn_tensor_bytes(to));
}

static void open_carries(struct bench *t, const struct tn_op *op,
			 struct tn_value *const *params)
{
	int i;

	for (i = 0; i < op->nin; i++) {
		struct tn_tensor *carry = bench_shape(t, params[i]->type);

		copy_into(carry, bench_of(t, tn_graph_in(op, i)));
		bench_bind(t, params[i], carry);
	}
}

/* The order of the copies must not matter: they are done from the last. */
static void close_turn(struct bench *t, const struct tn_block *body,
		       struct tn_value *const *params)
{
	int i;

	for (i = body->last->nin - 1; i >= 0; i--)
		copy_into(bench_of(t, params[i]),
			  bench_of(t, tn_graph_in(body->last, i)));
}

static void run_for(struct bench *t, const struct tn_op *op)
{
	struct tn_block *body = op->regions[0];
	int64_t from, to;
	int i;

	assert_true(tn_dim_eval(tn_graph_attr(op, "from")->u.dim, t->dims,
				&from));
	assert_true(tn_dim_eval(tn_graph_attr(op, "to")->u.dim, t->dims,
				&to));
	open_carries(t, op, body->params + 1);
	for (; from < to; from++) {
		struct tn_tensor *turn = bench_shape(t, body->params[0]->type);

		tn_tensor_set_i64(turn, 0, from);
		bench_bind(t, body->params[0], turn);
		bench_run(t, body);
		close_turn(t, body, body->params + 1);
	}
	for (i = 0; i < op->nout; i++)
		bench_bind(t, op->out[i], bench_of(t, body->params[1 + i]));
}

static void run_while(struct bench *t, const struct tn_op *op)
{
	struct tn_block *test = op->regions[0], *body = op->regions[1];
	int i, turns = 0;

	open_carries(t, op, body->params);
	for (i = 0; i < op->nin; i++)
		bench_bind(t, test->params[i], bench_of(t, body->params[i]));
	for (;;) {
		bench_run(t, test);
		if (!tn_tensor_get_i64(bench_of(t, tn_graph_in(test->last, 0)),
				       0))
			break;
		assert_true(++turns < 1000);
		bench_run(t, body);
		close_turn(t, body, body->params);
	}
	for (i = 0; i < op->nout; i++)
		bench_bind(t, op->out[i], bench_of(t, body->params[i]));
}

static void run_if(struct bench *t, const struct tn_op *op)
{
	bool yes = tn_tensor_get_i64(bench_of(t, tn_graph_in(op, 0)), 0);
	struct tn_block *body = op->regions[yes ? 0 : 1];
	int i;

	bench_run(t, body);
	for (i = 0; i < op->nout; i++) {
		struct tn_tensor *out = bench_shape(t, op->out[i]->type);

		copy_into(out, bench_of(t, tn_graph_in(body->last, i)));
		bench_bind(t, op->out[i], out);
	}
}

void bench_run(struct bench *t, const struct tn_block *block)
{
	const struct tn_op *op;

	for (op = block->first; op; op = op->next) {
		if (op->code == TN_OP_launch)
			run_launch(t, op);
		else if (op->code == TN_OP_for)
			run_for(t, op);
		else if (op->code == TN_OP_while)
			run_while(t, op);
		else if (op->code == TN_OP_if)
			run_if(t, op);
		else if (op->code == TN_OP_const || op->code == TN_OP_reshape)
			run_one(t, op);
		else
			assert_true(op->code == TN_OP_yield ||
				    op->code == TN_OP_return);
	}
}

void bench_lower(struct bench *t)
{
	struct tn_rw rw = { .module = t->module, .pass = "lower",
			    .fuel = -1 };
	struct tn_pass_context context = {
		.module = t->module, .rw = &rw, .target = &t->target,
		.entry = tn_module_entry(t->module, NULL)
	};
	struct tn_buf faults;
	size_t i;

	if (tn_pass_lower(&context) != TN_PASS_CHANGED) {
		tn_buf_init(&faults);
		tn_sink_render(&t->sink, &faults, false);
		print_message("%s\n", tn_buf_text(&faults));
		fail_msg("lower failed");
	}
	tn_buf_init(&faults);
	for (i = 0; i < t->module->kernels.len; i++)
		if (!tn_kernel_verify(tn_vec_ptr(&t->module->kernels, i),
				      &faults))
			tn_kernel_print(&faults, tn_vec_ptr(
				&t->module->kernels, i));
	tn_verify_module(t->module, TN_PROP_TYPED | TN_PROP_KERNELS, &faults);
	if (faults.len)
		print_message("%s\n", tn_buf_text(&faults));
	assert_int_equal(faults.len, 0);
	tn_buf_fini(&faults);
}

static bool same_element(const struct bench *t, const struct tn_tensor *a,
			 const struct tn_tensor *b, int64_t i)
{
	size_t bytes = (size_t)tn_dtype_bytes(a->dtype);
	double x, y;

	if (!memcmp((const char *)a->data + (size_t)i * bytes,
		    (const char *)b->data + (size_t)i * bytes, bytes))
		return true;
	if (!tn_dtype_is(a->dtype, TN_KIND_F))
		return false;
	x = tn_tensor_get_f64(a, i);
	y = tn_tensor_get_f64(b, i);
	if (x != x || y != y)
		return x != x && y != y;
	return fabs(x - y) <= t->tolerance * (1 + fabs(x)) ||
		(x == 0 && y == 0);
}

static void compare(const struct bench *t, const struct tn_value *value,
		    const struct tn_tensor *want, const struct tn_tensor *have)
{
	int64_t i, n = tn_tensor_count(want);
	size_t k;

	assert_int_equal(n, tn_tensor_count(have));
	for (i = 0; i < n; i++)
		if (!same_element(t, want, have, i)) {
			struct tn_buf text;

			tn_buf_init(&text);
			for (k = 0; k < t->module->kernels.len; k++)
				tn_kernel_print(&text, tn_vec_ptr(
					&t->module->kernels, k));
			print_message("%s[%lld]: want %g, have %g\n%s\n",
				      value->name, (long long)i,
				      tn_tensor_get_f64(want, i),
				      tn_tensor_get_f64(have, i),
				      tn_buf_text(&text));
			tn_buf_fini(&text);
			fail_msg("a result differs");
		}
}

/* Lowers, runs, compares with what the reference gave; then schedules for the
 * target and compares again. */
void bench_check(struct bench *t)
{
	struct tn_tensor *want[16];
	struct tn_op *end = t->fn->body->last;
	uint32_t flags;
	int i, pass;

	run_reference(t, t->fn->body);
	flags = t->flags;
	for (i = 0; i < end->nin; i++)
		want[i] = bench_of(t, tn_graph_in(end, i));
	bench_lower(t);
	if (t->nkernels)
		assert_int_equal(t->module->kernels.len, t->nkernels);
	end = t->fn->body->last;
	for (pass = 0; pass < 2; pass++) {
		size_t k;

		t->flags = 0;
		bench_run(t, t->fn->body);
		assert_int_equal(t->flags, flags);
		for (i = 0; i < end->nin; i++)
			compare(t, tn_graph_in(end, i), want[i],
				bench_of(t, tn_graph_in(end, i)));
		for (k = 0; k < t->module->kernels.len && pass == 0; k++)
			assert_true(tn_schedule_default(
				tn_vec_ptr(&t->module->kernels, k),
				&t->target));
	}
	bench_close(t);
}

/*
 * What is known of values at import. Each operator that is made is followed
 * once: where all its operands are known elements, it is evaluated; where they
 * are sizes, movement arranges them and arithmetic is done on them.
 *
 *   Concat(Gather(Shape(x), 0), [-1])   is known to be   B, -1
 */
#include <string.h>

#include "importers/onnx/onnx.h"
#include "ir/eval.h"
#include "ir/known.h"

/* Operators inside of called ones are followed to this depth. */
#define DEPTH 8

/* What the operands of a call are, by parameter. */
struct follow {
	struct tn_onnx_job *job;
	struct tn_map *known;	/* value -> struct tn_onnx_known * */
	int depth;
};

/* ---- Facts ----------------------------------------------------------------- */

static bool shape_of(const struct tn_type *type, int64_t *shape,
		     int64_t *count)
{
	struct tn_tensor probe = { .dtype = type->dtype, .rank = type->rank };
	int i;

	if (tn_type_is_poison(type) || type->dtype >= TN_DTYPE_COUNT ||
	    !tn_type_is_static(type))
		return false;
	for (i = 0; i < type->rank; i++)
		shape[i] = probe.shape[i] = type->dims[i]->value;
	*count = tn_tensor_count(&probe);
	return *count >= 0 && *count <= ONNX_KNOWN;
}

static bool has_sizes(enum tn_dtype dtype)
{
	return dtype == TN_i64 || dtype == TN_i32 || dtype == TN_bool;
}

/* The tensor, copied into the arena of the import. */
static struct tn_onnx_known *of_tensor(struct tn_onnx_job *job,
				       const struct tn_tensor *from)
{
	struct tn_onnx_known *k = tn_arena_alloc(&job->arena, sizeof(*k));
	int64_t bytes = tn_tensor_bytes(from), i;

	if (!k)
		return NULL;
	k->count = tn_tensor_count(from);
	k->tensor = tn_arena_copy(&job->arena, from, sizeof(*from));
	if (!k->tensor)
		return NULL;
	k->tensor->owned = false;
	k->tensor->data = tn_arena_alloc(&job->arena, (size_t)bytes + 1);
	if (!k->tensor->data)
		return NULL;
	if (bytes)
		memcpy(k->tensor->data, from->data, (size_t)bytes);
	if (!has_sizes(from->dtype))
		return k;
	k->dims = tn_arena_array(&job->arena, (size_t)k->count + 1,
				 sizeof(*k->dims));
	for (i = 0; k->dims && i < k->count; i++)
		k->dims[i] = tn_dim_const(&job->module->dims,
					  tn_tensor_get_i64(from, i));
	return k;
}

/* The sizes, and the tensor if all are numbers. */
static struct tn_onnx_known *of_dims(struct tn_onnx_job *job,
				     const struct tn_type *type,
				     int64_t count,
				     const struct tn_dim **dims)
{
	struct tn_onnx_known *k = tn_arena_alloc(&job->arena, sizeof(*k));
	struct tn_tensor tensor;
	int64_t shape[TN_MAX_RANK], i;

	for (i = 0; i < count; i++)
		if (!dims[i])
			return NULL;
	if (!k)
		return NULL;
	k->count = count;
	k->dims = dims;
	for (i = 0; i < count && tn_dim_is_const(dims[i]); i++)
		;
	if (i < count || !shape_of(type, shape, &count) ||
	    !tn_tensor_init(&tensor, type->dtype, type->rank, shape))
		return k;
	for (i = 0; i < count; i++)
		tn_tensor_set_i64(&tensor, i, dims[i]->value);
	k = of_tensor(job, &tensor);
	tn_tensor_fini(&tensor);
	return k;
}

static const struct tn_onnx_known *of_weight(struct tn_onnx_job *job,
					     const struct tn_value *value)
{
	const struct tn_weight *weight =
		tn_map_find(&job->module->weight_names, value->name);

	if (!weight || weight->value != value || !weight->data.data ||
	    tn_tensor_count(&weight->data) > ONNX_KNOWN)
		return NULL;
	return of_tensor(job, &weight->data);
}

/* All is known of a tensor without elements. */
static const struct tn_onnx_known *of_nothing(struct tn_onnx_job *job,
					      const struct tn_type *type)
{
	struct tn_tensor tensor;
	struct tn_onnx_known *k;
	int64_t shape[TN_MAX_RANK], count;

	if (!shape_of(type, shape, &count) || count ||
	    !tn_tensor_init(&tensor, type->dtype, type->rank, shape))
		return NULL;
	k = of_tensor(job, &tensor);
	tn_tensor_fini(&tensor);
	return k;
}

static const struct tn_onnx_known *find(struct follow *f,
					const struct tn_value *value)
{
	const struct tn_onnx_known *k = tn_map_find(f->known, value);

	if (k || value->op)
		return k;
	k = value->block ? of_nothing(f->job, value->type) :
		of_weight(f->job, value);
	if (k && !tn_map_set(f->known, value, (void *)(uintptr_t)k))
		f->job->module->failed = true;
	return k;
}

const struct tn_onnx_known *tn_onnx_known(struct tn_onnx_job *job,
					  const struct tn_value *value)
{
	struct follow f = { .job = job, .known = &job->known };

	return value ? find(&f, value) : NULL;
}

static bool set(struct follow *f, const struct tn_value *value,
		const struct tn_onnx_known *k)
{
	if (k && !tn_map_set(f->known, value, (void *)(uintptr_t)k))
		f->job->module->failed = true;
	return k != NULL;
}

/* ---- Elements --------------------------------------------------------------- */

static bool has_symbols(const struct tn_op *op)
{
	int i, j;

	for (i = 0; i < op->nattrs; i++) {
		const struct tn_attr *attr = &op->attrs[i];

		if (!attr->is_set)
			continue;
		if (attr->kind == TN_ATTR_DIM && attr->u.dim &&
		    !tn_dim_is_const(attr->u.dim))
			return true;
		for (j = 0; (attr->kind == TN_ATTR_DIMS ||
			     attr->kind == TN_ATTR_PAIRS) && j < attr->count;
		     j++)
			if (!tn_dim_is_const(attr->u.dims[j]))
				return true;
	}
	return false;
}

/* Evaluates the op on tensors; the results are the caller's. */
static bool evaluate(const struct tn_op *op,
		     const struct tn_tensor *const *in,
		     struct tn_tensor *out)
{
	struct tn_eval eval = {0};
	int i;

	memset(out, 0, (size_t)op->nout * sizeof(*out));
	if (has_symbols(op) || !tn_eval_op(&eval, op, in, out))
		return false;
	for (i = 0; eval.flags && i < op->nout; i++)
		tn_tensor_fini(&out[i]);
	return !eval.flags;
}

static bool elements(struct follow *f, const struct tn_op *op)
{
	const struct tn_tensor *in[16];
	const struct tn_onnx_known *k;
	struct tn_tensor out[2];
	bool ok = true;
	int i;

	if (op->nin > 16 || op->nout > 2)
		return false;
	for (i = 0; i < op->nin; i++) {
		k = find(f, tn_graph_in(op, i));
		if (!k || !k->tensor)
			return false;
		in[i] = k->tensor;
	}
	if (!evaluate(op, in, out))
		return false;
	for (i = 0; i < op->nout; i++) {
		ok &= set(f, op->out[i], of_tensor(f->job, &out[i]));
		tn_tensor_fini(&out[i]);
	}
	return ok;
}

/* ---- Movement of sizes ------------------------------------------------------ */

/* The operands that hold what is moved: all, but of a lookup the first. */
static int moved(const struct tn_op *op)
{
	return tn_ops[op->code].op_class == TN_CLASS_INDEX ? 1 : op->nin;
}

/* A tensor of the numbers from `base` on, in the place of operand i. */
static bool numbers(const struct tn_op *op, int i, int64_t base,
		    struct tn_tensor *out)
{
	const struct tn_type *type = tn_graph_in(op, i)->type;
	int64_t shape[TN_MAX_RANK], count, k;

	if (!shape_of(type, shape, &count) ||
	    !tn_tensor_init(out, TN_i64, type->rank, shape))
		return false;
	for (k = 0; k < count; k++)
		tn_tensor_set_i64(out, k, base + k);
	return true;
}

/* The element of number `at` among those of the operands. */
static const struct tn_dim *pick(struct follow *f, const struct tn_op *op,
				 int64_t at)
{
	const struct tn_onnx_known *k;
	int i;

	for (i = 0; i < moved(op); i++) {
		k = find(f, tn_graph_in(op, i));
		if (at < k->count)
			return k->dims[at];
		at -= k->count;
	}
	return NULL;
}

static bool arrange(struct follow *f, const struct tn_op *op,
		    const struct tn_tensor *places)
{
	int64_t count = tn_tensor_count(places), i;
	const struct tn_dim **dims;

	dims = tn_arena_array(&f->job->arena, (size_t)count + 1,
			      sizeof(*dims));
	for (i = 0; dims && i < count; i++)
		dims[i] = pick(f, op, tn_tensor_get_i64(places, i));
	return dims && set(f, op->out[0], of_dims(f->job, op->out[0]->type,
						  count, dims));
}

/* The op as if its elements were places. */
static bool evaluate_places(struct follow *f, const struct tn_op *op,
			    const struct tn_tensor *const *in,
			    struct tn_tensor *out)
{
	struct tn_value result = *op->out[0], *list[1];
	struct tn_op copy = *op;

	list[0] = &result;
	copy.out = list;
	result.type = tn_type_get(f->job->module, TN_i64, result.type->rank,
				  result.type->dims);
	return result.type && evaluate(&copy, in, out);
}

/* Movement is done on the places of elements, then of the sizes there. */
static bool movement(struct follow *f, const struct tn_op *op)
{
	struct tn_tensor in[8], out[1];
	const struct tn_tensor *views[8];
	const struct tn_onnx_known *k;
	int64_t base = 0;
	bool ok = true;
	int i, made = 0;

	if (op->nin > 8 || op->nout != 1 || op->code == TN_OP_pad)
		return false;
	for (i = 0; ok && i < op->nin; i++) {
		k = find(f, tn_graph_in(op, i));
		ok = k && (i < moved(op) ? k->dims != NULL :
			   k->tensor != NULL);
		if (ok && i >= moved(op)) {
			views[i] = k->tensor;
			continue;
		}
		ok = ok && numbers(op, i, base, &in[i]);
		if (!ok)
			break;
		made = i + 1;
		views[i] = &in[i];
		base += k->count;
	}
	ok = ok && evaluate_places(f, op, views, out);
	if (ok) {
		ok = arrange(f, op, out);
		tn_tensor_fini(out);
	}
	for (i = 0; i < made; i++)
		tn_tensor_fini(&in[i]);
	return ok;
}

/* ---- Arithmetic on sizes ---------------------------------------------------- */

/* The place in an operand of the element that stretches to `at`. */
static int64_t stretched(const struct tn_type *from, const struct tn_type *to,
			 int64_t at)
{
	int64_t place = 0, stride = 1, index;
	int i, shift = to->rank - from->rank;

	for (i = to->rank - 1; i >= 0; i--) {
		index = at % to->dims[i]->value;
		at /= to->dims[i]->value;
		if (i < shift)
			continue;
		if (!tn_dim_is(from->dims[i - shift], 1))
			place += index * stride;
		stride *= from->dims[i - shift]->value;
	}
	return place;
}

static bool map(struct follow *f, const struct tn_op *op)
{
	const struct tn_type *type = op->out[0]->type;
	const struct tn_onnx_known *k[3];
	const struct tn_dim **dims, *in[3];
	int64_t shape[TN_MAX_RANK], count, at;
	int i;

	if (op->nin > 3 || op->nout != 1 || !has_sizes(type->dtype) ||
	    !shape_of(type, shape, &count))
		return false;
	for (i = 0; i < op->nin; i++) {
		k[i] = find(f, tn_graph_in(op, i));
		if (!k[i] || !k[i]->dims)
			return false;
	}
	dims = tn_arena_array(&f->job->arena, (size_t)count + 1,
			      sizeof(*dims));
	for (at = 0; dims && at < count; at++) {
		for (i = 0; i < op->nin; i++)
			in[i] = k[i]->dims[stretched(
				tn_graph_in(op, i)->type, type, at)];
		dims[at] = tn_known_map(f->job->module, op, in);
	}
	return dims && set(f, op->out[0],
			   of_dims(f->job, type, count, dims));
}

/* prod and sum of all sizes. */
static bool reduction(struct follow *f, const struct tn_op *op)
{
	const struct tn_onnx_known *k = find(f, tn_graph_in(op, 0));
	struct tn_dim_pool *pool = &f->job->module->dims;
	const struct tn_dim **out;
	int64_t shape[TN_MAX_RANK], count, i;

	if (!k || !k->dims || (op->code != TN_OP_prod && op->code != TN_OP_sum) ||
	    !shape_of(op->out[0]->type, shape, &count) || count != 1)
		return false;
	out = tn_arena_array(&f->job->arena, 1, sizeof(*out));
	if (!out)
		return false;
	out[0] = tn_dim_const(pool, op->code == TN_OP_prod);
	for (i = 0; out[0] && i < k->count; i++)
		out[0] = op->code == TN_OP_prod ?
			tn_dim_mul(pool, out[0], k->dims[i]) :
			tn_dim_add(pool, out[0], k->dims[i]);
	return set(f, op->out[0], of_dims(f->job, op->out[0]->type, 1, out));
}

/* ---- Any operator ------------------------------------------------------------ */

static void follow(struct follow *f, const struct tn_op *op);

/* A body is followed with what its operands are known to be. */
static void call(struct follow *f, const struct tn_op *op)
{
	const struct tn_block *body = op->callee->body;
	struct follow inner = { .job = f->job, .depth = f->depth + 1 };
	struct tn_map known;
	const struct tn_op *at;
	int i;

	if (f->depth >= DEPTH || body->nparams != op->nin)
		return;
	tn_map_init_ptr(&known);
	inner.known = &known;
	for (i = 0; i < op->nin; i++)
		set(&inner, body->params[i], find(f, tn_graph_in(op, i)));
	for (at = body->first; at; at = at->next)
		follow(&inner, at);
	at = body->last;
	for (i = 0; at && at->code == TN_OP_return && i < op->nout; i++)
		if (op->out[i]->type == tn_graph_in(at, i)->type)
			set(f, op->out[i], find(&inner, tn_graph_in(at, i)));
	tn_map_fini(&known);
}

static void literal(struct follow *f, const struct tn_op *op)
{
	const struct tn_dim **dims;

	if (op->code == TN_OP_const) {
		if (tn_tensor_count(op->literal) <= ONNX_KNOWN)
			set(f, op->out[0], of_tensor(f->job, op->literal));
		return;
	}
	dims = tn_arena_array(&f->job->arena, 1, sizeof(*dims));
	if (!dims || !has_sizes(op->out[0]->type->dtype))
		return;
	dims[0] = tn_graph_attr(op, "value")->u.dim;
	set(f, op->out[0], of_dims(f->job, op->out[0]->type, 1, dims));
}

static bool is_small(const struct tn_op *op)
{
	int64_t shape[TN_MAX_RANK], count;
	int i;

	for (i = 0; i < op->nout; i++)
		if (!shape_of(op->out[i]->type, shape, &count))
			return false;
	return op->nout > 0;
}

/* Whether something is known of all operands. */
static bool may_know(struct follow *f, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++)
		if (!find(f, tn_graph_in(op, i)))
			return false;
	return true;
}

static void follow(struct follow *f, const struct tn_op *op)
{
	enum tn_op_class class = tn_ops[op->code].op_class;

	if (op->nregions || !is_small(op) || !may_know(f, op) ||
	    tn_op_has(op->code, TN_FLAG_RANDOM | TN_FLAG_SIZES))
		return;
	if (op->code == TN_OP_call && op->callee) {
		call(f, op);
	} else if (op->code == TN_OP_const || op->code == TN_OP_dim) {
		literal(f, op);
	} else if (class != TN_CLASS_FLOW && class != TN_CLASS_CUSTOM &&
		   !elements(f, op)) {
		if (class == TN_CLASS_MAP)
			map(f, op);
		else if (class == TN_CLASS_MOVE || class == TN_CLASS_INDEX)
			movement(f, op);
		else if (class == TN_CLASS_REDUCE)
			reduction(f, op);
	}
}

void tn_onnx_note(struct tn_onnx_job *job, const struct tn_op *op)
{
	struct follow f = { .job = job, .known = &job->known };

	follow(&f, op);
}

/* ---- Questions ---------------------------------------------------------------- */

static const struct tn_onnx_known *of_input(struct tn_onnx *n, int i)
{
	struct tn_value *value = tn_onnx_in(n, i);

	return value ? tn_onnx_known(n->job, value) : NULL;
}

bool tn_onnx_ints(struct tn_onnx *n, int i, int max, int64_t *out, int *count)
{
	const struct tn_onnx_known *k = of_input(n, i);
	int64_t at;

	if (!k || !k->tensor || k->count > max ||
	    tn_dtype_is(k->tensor->dtype, TN_KIND_F))
		return false;
	for (at = 0; at < k->count; at++)
		out[at] = tn_tensor_get_i64(k->tensor, at);
	*count = (int)k->count;
	return true;
}

bool tn_onnx_sizes(struct tn_onnx *n, int i, int max,
		   const struct tn_dim **out, int *count)
{
	const struct tn_onnx_known *k = of_input(n, i);

	if (!k || !k->dims || k->count > max)
		return false;
	if (k->count)
		memcpy(out, k->dims, (size_t)k->count * sizeof(*out));
	*count = (int)k->count;
	return true;
}

bool tn_onnx_floats(struct tn_onnx *n, int i, int max, double *out,
		    int *count)
{
	const struct tn_onnx_known *k = of_input(n, i);
	int64_t at;

	if (!k || !k->tensor || k->count > max)
		return false;
	for (at = 0; at < k->count; at++)
		out[at] = tn_tensor_get_f64(k->tensor, at);
	*count = (int)k->count;
	return true;
}

/*
 * Making kernels: expressions, statements, buffers, in the module's arena.
 *
 * In: operands of the same kernel. Out: nodes, or NULL when out of memory.
 * Index arithmetic folds as it is made, so that lowered kernels read as a
 * person would write them: i * 1 + 0 is i.
 */
#include "ir/kernel.h"

#include "base/num.h"
#include "ir/layout.h"

static struct tn_arena *arena_of(struct tn_kernel *kernel)
{
	return &kernel->module->arena;
}

struct tn_kernel *tn_kernel_new(struct tn_module *module, const char *name)
{
	struct tn_kernel *kernel;

	kernel = tn_arena_alloc(&module->arena, sizeof *kernel);
	if (!kernel)
		return NULL;
	kernel->module = module;
	kernel->name = tn_intern_text(module->names, name);
	if (!kernel->name || !tn_vec_push_ptr(&module->kernels, kernel)) {
		module->failed = true;
		return NULL;
	}
	kernel->number = (int)module->kernels.len - 1;
	return kernel;
}

static struct tn_kbuf *buffer(struct tn_kernel *kernel, const char *name,
			      enum tn_dtype dtype, int rank,
			      const struct tn_dim *const *dims)
{
	struct tn_kbuf *buf = tn_arena_alloc(arena_of(kernel), sizeof *buf);
	size_t bytes = (size_t)rank * sizeof *dims;

	if (!buf)
		return NULL;
	buf->name = tn_intern_text(kernel->module->names, name);
	buf->dtype = dtype;
	buf->rank = rank;
	buf->dims = rank ? tn_arena_copy(arena_of(kernel), dims, bytes) : NULL;
	if (!buf->name || (rank && !buf->dims))
		return NULL;
	return buf;
}

/* The parameter list doubles when its length reaches a power of two. */
static bool room_for_param(struct tn_kernel *kernel)
{
	size_t n = (size_t)kernel->nparams;
	struct tn_kbuf **params;
	size_t i;

	if (n & (n - 1))
		return true;
	params = tn_arena_array(arena_of(kernel), n ? 2 * n : 1,
				sizeof *params);
	if (!params)
		return false;
	for (i = 0; i < n; i++)
		params[i] = kernel->params[i];
	kernel->params = params;
	return true;
}

struct tn_kbuf *tn_kernel_param(struct tn_kernel *kernel, const char *name,
				enum tn_dtype dtype, int rank,
				const struct tn_dim *const *dims,
				enum tn_kbuf_role role)
{
	struct tn_kbuf *buf = buffer(kernel, name, dtype, rank, dims);

	if (!buf || !room_for_param(kernel))
		return NULL;
	kernel->params[kernel->nparams++] = buf;
	buf->role = role;
	buf->space = TN_SPACE_GLOBAL;
	return buf;
}

struct tn_kbuf *tn_kernel_local(struct tn_kernel *kernel, const char *name,
				enum tn_dtype dtype, int rank,
				const struct tn_dim *const *dims,
				enum tn_kspace space)
{
	struct tn_kbuf *buf = buffer(kernel, name, dtype, rank, dims);

	if (!buf)
		return NULL;
	buf->role = TN_KBUF_LOCAL;
	buf->space = space;
	return buf;
}

struct tn_kvar *tn_kernel_var(struct tn_kernel *kernel, const char *name,
			      enum tn_dtype dtype)
{
	struct tn_kvar *var = tn_arena_alloc(arena_of(kernel), sizeof *var);

	if (!var)
		return NULL;
	var->name = tn_intern_text(kernel->module->names, name);
	var->dtype = dtype;
	return var->name ? var : NULL;
}

const struct tn_type *tn_kbuf_value_type(struct tn_module *module,
					 const struct tn_kbuf *buf)
{
	const struct tn_type *type;

	type = tn_type_get(module, buf->dtype, buf->rank, buf->dims);
	return type ? tn_layout_logical(module, buf->layout, type) : NULL;
}

/* The product of the constant extents and `unit`; *all: none is symbolic. */
static bool constant_product(const struct tn_kbuf *buf, int64_t unit,
			     int64_t *out, bool *all)
{
	int i;

	*out = unit;
	*all = true;
	for (i = 0; i < buf->rank; i++) {
		if (!tn_dim_is_const(buf->dims[i]))
			*all = false;
		else if (buf->dims[i]->value < 0 ||
			 !tn_num_mul(*out, buf->dims[i]->value, out))
			return false;
	}
	return true;
}

bool tn_kbuf_count(const struct tn_kbuf *buf, int64_t *count)
{
	bool all;

	return constant_product(buf, 1, count, &all) && all;
}

bool tn_kbuf_bytes(const struct tn_kbuf *buf, int64_t *bytes)
{
	bool all;

	return constant_product(buf, tn_dtype_bytes(buf->dtype), bytes,
				&all) && all;
}

bool tn_kbuf_fits(const struct tn_kbuf *buf)
{
	int64_t bytes;
	bool all;

	if (!constant_product(buf, tn_dtype_bytes(buf->dtype), &bytes, &all))
		return false;
	return buf->space == TN_SPACE_GLOBAL ||
		buf->space == TN_SPACE_ARENA ||
		(all && bytes <= TN_KBUF_LIMIT);
}

bool tn_kloop_fits(const struct tn_kexpr *from, const struct tn_kexpr *to,
		   int64_t step)
{
	int64_t last = INT64_MAX / 2, distance;

	if (to->kind == TN_KEXPR_INT)
		last = to->i;
	return tn_num_add(last, step, &last) &&
		(from->kind != TN_KEXPR_INT || to->kind != TN_KEXPR_INT ||
		 tn_num_sub(to->i, from->i, &distance));
}

static struct tn_kexpr *expr(struct tn_kernel *kernel,
			     enum tn_kexpr_kind kind, enum tn_dtype dtype)
{
	struct tn_kexpr *e = tn_arena_alloc(arena_of(kernel), sizeof *e);

	if (!e)
		return NULL;
	e->kind = kind;
	e->dtype = dtype;
	return e;
}

const struct tn_kexpr *tn_kexpr_int(struct tn_kernel *kernel,
				    enum tn_dtype dtype, int64_t value)
{
	struct tn_kexpr *e = expr(kernel, TN_KEXPR_INT, dtype);

	if (e)
		e->i = value;
	return e;
}

const struct tn_kexpr *tn_kexpr_float(struct tn_kernel *kernel,
				      enum tn_dtype dtype, double value)
{
	struct tn_kexpr *e = expr(kernel, TN_KEXPR_FLOAT, dtype);

	if (e)
		e->f = value;
	return e;
}

const struct tn_kexpr *tn_kexpr_var(struct tn_kernel *kernel,
				    struct tn_kvar *var)
{
	struct tn_kexpr *e;

	if (!var)
		return NULL;
	e = expr(kernel, TN_KEXPR_VAR, var->dtype);
	if (e)
		e->var = var;
	return e;
}

const struct tn_kexpr *tn_kexpr_dim(struct tn_kernel *kernel,
				    const struct tn_dim *dim)
{
	struct tn_kexpr *e;

	if (!dim)
		return NULL;
	if (tn_dim_is_const(dim))
		return tn_kexpr_int(kernel, TN_i64, dim->value);
	e = expr(kernel, TN_KEXPR_DIM, TN_i64);
	if (e)
		e->dim = dim;
	return e;
}

static const struct tn_kexpr *with_args(struct tn_kernel *kernel,
					struct tn_kexpr *e, int nargs,
					const struct tn_kexpr *const *args)
{
	int i;

	for (i = 0; i < nargs; i++)
		if (!args[i])
			return NULL;
	if (!e)
		return NULL;
	e->nargs = nargs;
	if (nargs == 0)
		return e;
	e->args = tn_arena_copy(arena_of(kernel), args,
				(size_t)nargs * sizeof *args);
	return e->args ? e : NULL;
}

const struct tn_kexpr *tn_kexpr_load(struct tn_kernel *kernel,
				     struct tn_kbuf *buf, int nindex,
				     const struct tn_kexpr *const *index)
{
	struct tn_kexpr *e;

	if (!buf)
		return NULL;
	e = expr(kernel, TN_KEXPR_LOAD, buf->dtype);
	if (e)
		e->buf = buf;
	return with_args(kernel, e, nindex, index);
}

const struct tn_kexpr *tn_kexpr_op(struct tn_kernel *kernel,
				   enum tn_opcode code, enum tn_dtype dtype,
				   int nargs,
				   const struct tn_kexpr *const *args)
{
	struct tn_kexpr *e = expr(kernel, TN_KEXPR_OP, dtype);

	if (e)
		e->code = code;
	return with_args(kernel, e, nargs, args);
}

bool tn_kexpr_is_int(const struct tn_kexpr *e, int64_t value)
{
	return e && e->kind == TN_KEXPR_INT && e->i == value;
}

/* An integer or a dim as a dim; NULL for anything else. */
static const struct tn_dim *as_dim(struct tn_kernel *kernel,
				   const struct tn_kexpr *e)
{
	if (e->kind == TN_KEXPR_INT)
		return tn_dim_const(&kernel->module->dims, e->i);
	return e->kind == TN_KEXPR_DIM ? e->dim : NULL;
}

/* Arithmetic on sizes alone is a size, in normal form; else NULL. */
static const struct tn_kexpr *
fold_dims(struct tn_kernel *kernel, const struct tn_kexpr *a,
	  const struct tn_kexpr *b,
	  const struct tn_dim *(*join)(struct tn_dim_pool *,
				       const struct tn_dim *,
				       const struct tn_dim *))
{
	const struct tn_dim *x, *y, *z;

	if (a->kind != TN_KEXPR_DIM && b->kind != TN_KEXPR_DIM)
		return NULL;
	x = as_dim(kernel, a);
	y = as_dim(kernel, b);
	z = x && y ? join(&kernel->module->dims, x, y) : NULL;
	return z ? tn_kexpr_dim(kernel, z) : NULL;
}

static bool both_int(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	return a->kind == TN_KEXPR_INT && b->kind == TN_KEXPR_INT;
}

static const struct tn_kexpr *index_op(struct tn_kernel *kernel,
				       enum tn_opcode code,
				       const struct tn_kexpr *a,
				       const struct tn_kexpr *b)
{
	struct tn_kexpr *e = expr(kernel, TN_KEXPR_OP, TN_i64);
	const struct tn_kexpr *args[2];

	args[0] = a;
	args[1] = b;
	if (e) {
		e->code = code;
		e->is_index = true;
	}
	return with_args(kernel, e, 2, args);
}

/* x + c1 + c2 is x + (c1 + c2), so that offsets stay one constant. */
static bool constant_tail(const struct tn_kexpr *e, const struct tn_kexpr **x,
			  int64_t *c)
{
	if (e->kind != TN_KEXPR_OP || !e->is_index || e->code != TN_OP_add ||
	    e->args[1]->kind != TN_KEXPR_INT)
		return false;
	*x = e->args[0];
	*c = e->args[1]->i;
	return true;
}

const struct tn_kexpr *tn_kexpr_add(struct tn_kernel *kernel,
				    const struct tn_kexpr *a,
				    const struct tn_kexpr *b)
{
	const struct tn_kexpr *size;
	const struct tn_kexpr *x;
	int64_t sum;

	if (!a || !b)
		return NULL;
	size = fold_dims(kernel, a, b, tn_dim_add);
	if (size)
		return size;
	if (tn_kexpr_is_int(b, 0))
		return a;
	if (tn_kexpr_is_int(a, 0))
		return b;
	if (both_int(a, b) && tn_num_add(a->i, b->i, &sum))
		return tn_kexpr_int(kernel, TN_i64, sum);
	if (a->kind == TN_KEXPR_INT)
		return tn_kexpr_add(kernel, b, a);
	if (b->kind == TN_KEXPR_INT && constant_tail(a, &x, &sum) &&
	    tn_num_add(sum, b->i, &sum))
		return tn_kexpr_add(kernel, x,
				    tn_kexpr_int(kernel, TN_i64, sum));
	return index_op(kernel, TN_OP_add, a, b);
}

const struct tn_kexpr *tn_kexpr_sub(struct tn_kernel *kernel,
				    const struct tn_kexpr *a,
				    const struct tn_kexpr *b)
{
	const struct tn_kexpr *size;
	int64_t sum;

	if (!a || !b)
		return NULL;
	size = fold_dims(kernel, a, b, tn_dim_sub);
	if (size)
		return size;
	if (tn_kexpr_is_int(b, 0))
		return a;
	if (both_int(a, b) && tn_num_sub(a->i, b->i, &sum))
		return tn_kexpr_int(kernel, TN_i64, sum);
	return index_op(kernel, TN_OP_sub, a, b);
}

const struct tn_kexpr *tn_kexpr_mul(struct tn_kernel *kernel,
				    const struct tn_kexpr *a,
				    const struct tn_kexpr *b)
{
	const struct tn_kexpr *size;
	int64_t product;

	if (!a || !b)
		return NULL;
	size = fold_dims(kernel, a, b, tn_dim_mul);
	if (size)
		return size;
	if (tn_kexpr_is_int(a, 1) || tn_kexpr_is_int(b, 0))
		return b;
	if (tn_kexpr_is_int(b, 1) || tn_kexpr_is_int(a, 0))
		return a;
	if (both_int(a, b) && tn_num_mul(a->i, b->i, &product))
		return tn_kexpr_int(kernel, TN_i64, product);
	if (a->kind == TN_KEXPR_INT)
		return index_op(kernel, TN_OP_mul, b, a);
	return index_op(kernel, TN_OP_mul, a, b);
}

const struct tn_kexpr *tn_kexpr_fdiv(struct tn_kernel *kernel,
				     const struct tn_kexpr *a,
				     const struct tn_kexpr *b)
{
	const struct tn_kexpr *size;

	if (!a || !b)
		return NULL;
	size = fold_dims(kernel, a, b, tn_dim_floordiv);
	if (size)
		return size;
	if (tn_kexpr_is_int(b, 1) || tn_kexpr_is_int(a, 0))
		return a;
	if (both_int(a, b) && b->i > 0)
		return tn_kexpr_int(kernel, TN_i64,
				    tn_num_floordiv(a->i, b->i));
	return index_op(kernel, TN_OP_fdiv, a, b);
}

const struct tn_kexpr *tn_kexpr_mod(struct tn_kernel *kernel,
				    const struct tn_kexpr *a,
				    const struct tn_kexpr *b)
{
	const struct tn_kexpr *size;

	if (!a || !b)
		return NULL;
	size = fold_dims(kernel, a, b, tn_dim_mod);
	if (size)
		return size;
	if (tn_kexpr_is_int(b, 1))
		return tn_kexpr_int(kernel, TN_i64, 0);
	if (both_int(a, b) && b->i > 0)
		return tn_kexpr_int(kernel, TN_i64,
				    tn_num_floormod(a->i, b->i));
	return index_op(kernel, TN_OP_mod, a, b);
}

void tn_kstmt_insert(struct tn_kblock *block, struct tn_kstmt *stmt,
		     struct tn_kstmt *before)
{
	stmt->parent = block;
	stmt->next = before;
	stmt->prev = before ? before->prev : block->last;
	if (stmt->prev)
		stmt->prev->next = stmt;
	else
		block->first = stmt;
	if (before)
		before->prev = stmt;
	else
		block->last = stmt;
}

void tn_kstmt_remove(struct tn_kstmt *stmt)
{
	struct tn_kblock *block = stmt->parent;

	if (stmt->prev)
		stmt->prev->next = stmt->next;
	else
		block->first = stmt->next;
	if (stmt->next)
		stmt->next->prev = stmt->prev;
	else
		block->last = stmt->prev;
	stmt->next = stmt->prev = NULL;
	stmt->parent = NULL;
}

static struct tn_kstmt *statement(struct tn_kernel *kernel,
				  struct tn_kblock *block,
				  enum tn_kstmt_kind kind)
{
	struct tn_kstmt *stmt;

	if (!block)
		return NULL;
	stmt = tn_arena_alloc(arena_of(kernel), sizeof *stmt);
	if (!stmt)
		return NULL;
	stmt->kind = kind;
	stmt->step = 1;
	tn_kstmt_insert(block, stmt, NULL);
	return stmt;
}

struct tn_kstmt *tn_kstmt_loop(struct tn_kernel *kernel,
			       struct tn_kblock *block,
			       enum tn_kloop_kind kind, struct tn_kvar *var,
			       const struct tn_kexpr *from,
			       const struct tn_kexpr *to)
{
	struct tn_kstmt *stmt;

	if (!var || !from || !to)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_LOOP);
	if (!stmt)
		return NULL;
	stmt->loop = kind;
	stmt->var = var;
	stmt->from = from;
	stmt->to = to;
	return stmt;
}

struct tn_kstmt *tn_kstmt_let(struct tn_kernel *kernel,
			      struct tn_kblock *block, struct tn_kvar *var,
			      const struct tn_kexpr *value)
{
	struct tn_kstmt *stmt;

	if (!var || !value)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_LET);
	if (stmt) {
		stmt->var = var;
		stmt->value = value;
	}
	return stmt;
}

struct tn_kstmt *tn_kstmt_set(struct tn_kernel *kernel,
			      struct tn_kblock *block, struct tn_kvar *var,
			      const struct tn_kexpr *value, bool accumulate)
{
	struct tn_kstmt *stmt;

	if (!var || !value)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_SET);
	if (stmt) {
		var->is_mutable = true;
		stmt->var = var;
		stmt->value = value;
		stmt->accumulate = accumulate;
	}
	return stmt;
}

struct tn_kstmt *tn_kstmt_alloc(struct tn_kernel *kernel,
				struct tn_kblock *block, struct tn_kbuf *buf)
{
	struct tn_kstmt *stmt;

	if (!buf)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_ALLOC);
	if (stmt)
		stmt->buf = buf;
	return stmt;
}

struct tn_kstmt *tn_kstmt_store(struct tn_kernel *kernel,
				struct tn_kblock *block, struct tn_kbuf *buf,
				int nindex,
				const struct tn_kexpr *const *index,
				const struct tn_kexpr *value, bool accumulate)
{
	struct tn_kstmt *stmt;
	int i;

	for (i = 0; i < nindex; i++)
		if (!index[i])
			return NULL;
	if (!buf || !value)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_STORE);
	if (!stmt)
		return NULL;
	stmt->buf = buf;
	stmt->nindex = nindex;
	stmt->value = value;
	stmt->accumulate = accumulate;
	if (nindex == 0)
		return stmt;
	stmt->index = tn_arena_copy(arena_of(kernel), index,
				    (size_t)nindex * sizeof *index);
	return stmt->index ? stmt : NULL;
}

struct tn_kstmt *tn_kstmt_if(struct tn_kernel *kernel,
			     struct tn_kblock *block,
			     const struct tn_kexpr *cond)
{
	struct tn_kstmt *stmt;

	if (!cond)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_IF);
	if (stmt)
		stmt->value = cond;
	return stmt;
}

struct tn_kstmt *tn_kstmt_raise(struct tn_kernel *kernel,
				struct tn_kblock *block,
				const struct tn_kexpr *cond, uint32_t flags)
{
	struct tn_kstmt *stmt;

	if (!cond)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_RAISE);
	if (stmt) {
		stmt->value = cond;
		stmt->flags = flags;
	}
	return stmt;
}

struct tn_kstmt *tn_kstmt_size(struct tn_kernel *kernel,
			       struct tn_kblock *block,
			       const struct tn_sym *sym,
			       const struct tn_kexpr *value)
{
	struct tn_kstmt *stmt;

	if (!sym || !value)
		return NULL;
	stmt = statement(kernel, block, TN_KSTMT_SIZE);
	if (stmt) {
		stmt->sym = sym;
		stmt->value = value;
	}
	return stmt;
}

struct tn_kstmt *tn_kstmt_barrier(struct tn_kernel *kernel,
				  struct tn_kblock *block)
{
	return statement(kernel, block, TN_KSTMT_BARRIER);
}

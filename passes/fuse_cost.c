/*
 * What pays: bytes that need not move against what is lost.
 *
 * In: two groups over the same rows. A value handed from one to the other
 * costs a write and a read of all of it while they are two kernels. As one
 * they keep a block of its rows close by, if a row has room there; in return
 * the rows are all that threads can share, and a contraction reads what its
 * rows have in common again for each block of them.
 *
 * Sizes are taken at the tuning points of dims, the largest of each.
 */
#include "passes/fuse.h"

#include "base/num.h"
#include "ir/infer.h"

#define ROWS 16			/* of a contraction: fewer leave threads idle */
#define SHORT_ROW 16384		/* elements that one thread does in no time */
#define STACK_SHARE 4		/* a row gets that part of the stack */
#define STACK_BYTES 262144	/* where no target says it */
#define NEAR_BYTES 524288

/* ---- Sizes --------------------------------------------------------------- */

static int64_t likely_of(const struct tn_sym *sym)
{
	int64_t likely = sym->nopt ? sym->opt[0] : sym->hi;
	int i;

	for (i = 1; i < sym->nopt; i++)
		if (sym->opt[i] > likely)
			likely = sym->opt[i];
	return likely;
}

/* Product of the axes from..to; INT64_MAX where that is beyond numbers. */
static int64_t likely_count(const struct tn_fuser *f,
			    const struct tn_type *type, int from, int to)
{
	int64_t count = 1, one;
	int i;

	for (i = from; i < to; i++)
		if (!tn_dim_eval(type->dims[i], f->likely, &one) ||
		    !tn_num_mul(count, one, &count))
			return INT64_MAX;
	return count;
}

static int64_t most_bytes(const struct tn_type *type, int from)
{
	int64_t bytes = tn_dtype_bytes(type->dtype), lo, hi;
	int i;

	for (i = from; i < type->rank; i++) {
		tn_dim_bounds(type->dims[i], &lo, &hi);
		if (!tn_num_mul(bytes, hi, &bytes))
			return INT64_MAX;
	}
	return bytes;
}

/* Room for a row of what is handed on. */
static int64_t stack_room(const struct tn_fuser *f)
{
	const struct tn_target *target = f->context->target;

	return (target && target->stack_bytes ? target->stack_bytes :
		STACK_BYTES) / STACK_SHARE;
}

static int64_t near_room(const struct tn_fuser *f)
{
	const struct tn_target *target = f->context->target;

	return target ? target->near_bytes : NEAR_BYTES;
}

bool tn_fuse_sizes(struct tn_fuser *f)
{
	const struct tn_dim_pool *pool = &f->context->module->dims;
	const struct tn_dim *dim;
	size_t i;

	f->likely = tn_arena_array(&f->arena, pool->syms.len + 1,
				   sizeof(*f->likely));
	for (i = 0; f->likely && i < pool->syms.len; i++) {
		dim = tn_vec_ptr(&pool->syms, i);
		f->likely[i] = likely_of(dim->sym);
	}
	return f->likely != NULL;
}

/* ---- What is lost -------------------------------------------------------- */

/* Bytes of the operand that all turns of the last row axis read: those of the
 * axes that are no rows. */
static int64_t shared_bytes(const struct tn_fuser *f, const struct tn_op *op,
			    int k, int rows)
{
	const struct tn_type *type = tn_graph_in(op, k)->type;
	struct tn_einsum sum;
	int64_t bytes = tn_dtype_bytes(type->dtype), one;
	const char *why;
	int i, n;

	if (!tn_einsum_of(op, &sum, &why))
		return INT64_MAX;
	for (i = 0; i < type->rank; i++) {
		for (n = 0; n < rows && sum.out[n] != sum.index[k][i]; n++)
			;
		if (n == rows - 1)
			return 0;
		if (n < rows)
			continue;
		one = likely_count(f, type, i, i + 1);
		if (!tn_num_mul(bytes, one, &bytes))
			return INT64_MAX;
	}
	return bytes;
}

static bool refuse(struct tn_buf *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool refuse(struct tn_buf *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tn_buf_vputf(why, format, args);
	va_end(args);
	return false;
}

/* A contraction makes rows in blocks: what it reads for each of them must stay
 * close. */
static bool pays_contract(const struct tn_fuser *f, const struct tn_op *op,
			  int rows, struct tn_buf *why)
{
	const struct tn_value *value = op->out[0];
	int64_t count = likely_count(f, value->type, 0, rows), bytes;
	int k;

	if (count < ROWS)
		return refuse(why, "%lld rows are too few to share out",
			      (long long)count);
	for (k = 0; k < op->nin; k++) {
		bytes = shared_bytes(f, op, k, rows);
		if (bytes > near_room(f))
			return refuse(why, "'%s' would be read again for each "
				      "block of rows, %lld bytes",
				      tn_graph_in(op, k)->name,
				      (long long)bytes);
	}
	return true;
}

bool tn_fuse_pays(const struct tn_fuser *f,
		  const struct tn_fuse_group *producer, int rows,
		  struct tn_buf *why)
{
	const struct tn_type *type = producer->root->out[0]->type;
	const struct tn_fuse_member *m;
	int64_t bytes = most_bytes(type, rows), room = stack_room(f);

	if (bytes > room)
		return refuse(why, "a row of '%s' may be %lld bytes, and there "
			      "is room for %lld",
			      producer->root->out[0]->name, (long long)bytes,
			      (long long)room);
	if (likely_count(f, type, 0, rows) < 2 &&
	    likely_count(f, type, rows, type->rank) > SHORT_ROW)
		return refuse(why, "there is one long row, and threads would "
			      "not share it");
	for (m = producer->first; m; m = m->next)
		if (tn_fuse_is_contract(m->op) &&
		    !pays_contract(f, m->op, rows, why))
			return false;
	return true;
}

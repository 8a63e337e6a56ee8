/*
 * Kernels as text, and equality through it.
 *
 * In: a kernel. Out: the canonical text, which the parser reads back to the
 * same kernel. Infix on i64 is index arithmetic; the wrapping operators of the
 * language on i64 are written as calls, add(a, b). Sizes print as dims.
 */
#include "ir/kernel.h"

#include <string.h>

#include "base/num.h"
#include "ir/infix.h"
#include "ir/layout.h"
#include "ir/print.h"

struct printer {
	struct tn_buf *buf;
	struct tn_map numbers;	/* var or buf -> number + 1, if anonymous */
	bool anonymous;
	int depth;
};

static void put_expr(struct printer *p, const struct tn_kexpr *e, int tight);

static void put_name(struct printer *p, const char *name, const void *key)
{
	size_t number;

	if (!p->anonymous) {
		tn_print_name(p->buf, name);
		return;
	}
	number = (size_t)tn_map_find(&p->numbers, key);
	if (!number) {
		number = p->numbers.len + 1;
		if (!tn_map_set(&p->numbers, key, (void *)number))
			p->buf->failed = true;
	}
	tn_buf_putf(p->buf, "v%zu", number);
}

/* The sign of an operator that is written infix: bits of integers and powers
 * are calls. */
static const struct tn_infix_info *find_infix(const struct tn_kexpr *e)
{
	const struct tn_infix_info *sign;
	int i;

	for (i = 0; i < TN_INFIX_COUNT; i++) {
		sign = &tn_infixes[i];
		if (sign->op != e->code || e->nargs != 2 ||
		    (sign->how & (TN_INFIX_SWAPS | TN_INFIX_NEGATES)))
			continue;
		if (sign->how & TN_INFIX_LOGICAL)
			return e->dtype == TN_bool ? sign : NULL;
		if (sign->how & TN_INFIX_COMPARES)
			return sign;
		if (sign->level < tn_infixes[TN_INFIX_ADD].level ||
		    (sign->how & TN_INFIX_RIGHT))
			return NULL;
		return e->dtype != TN_i64 || e->is_index ? sign : NULL;
	}
	return NULL;
}

static void put_args(struct printer *p, int n,
		     const struct tn_kexpr *const *args)
{
	int i;

	for (i = 0; i < n; i++) {
		if (i)
			tn_buf_put(p->buf, ", ");
		put_expr(p, args[i], 0);
	}
}

static void put_op(struct printer *p, const struct tn_kexpr *e, int tight)
{
	const struct tn_infix_info *sign = find_infix(e);
	bool compares = sign && (sign->how & TN_INFIX_COMPARES);

	if (!sign) {
		tn_buf_putf(p->buf, "%s(", tn_ops[e->code].name);
		put_args(p, e->nargs, e->args);
		if (tn_ops[e->code].drule == TN_DRULE_ELEM)
			tn_buf_putf(p->buf, ", %s", tn_dtype_name(e->dtype));
		tn_buf_putc(p->buf, ')');
		return;
	}
	if (sign->level < tight)
		tn_buf_putc(p->buf, '(');
	put_expr(p, e->args[0], sign->level + compares);
	tn_buf_putf(p->buf, " %s ", sign->text);
	put_expr(p, e->args[1], sign->level + 1);
	if (sign->level < tight)
		tn_buf_putc(p->buf, ')');
}

static void put_int(struct printer *p, const struct tn_kexpr *e)
{
	if (e->dtype == TN_bool) {
		tn_buf_put(p->buf, e->i ? "true" : "false");
		return;
	}
	if (tn_dtype_holds(e->dtype, TN_KIND_U))
		tn_buf_putf(p->buf, "%llu", (unsigned long long)e->i);
	else
		tn_buf_putf(p->buf, "%lld", (long long)e->i);
	if (e->dtype != TN_i64)
		tn_buf_putf(p->buf, "_%s", tn_dtype_name(e->dtype));
}

static void put_float(struct printer *p, const struct tn_kexpr *e)
{
	char text[40];
	bool special = e->f != e->f || e->f - e->f != 0;

	if (e->dtype == TN_f64)
		tn_num_print_f64(e->f, text);
	else
		tn_num_print_f32((float)e->f, text);
	if (special && e->dtype != TN_f32) {
		tn_buf_putf(p->buf, "cast(%s, %s)", text,
			    tn_dtype_name(e->dtype));
		return;
	}
	tn_buf_put(p->buf, text);
	if (e->dtype != TN_f32)
		tn_buf_putf(p->buf, "_%s", tn_dtype_name(e->dtype));
}

static void put_dim(struct printer *p, const struct tn_dim *dim, int tight)
{
	bool atom = dim->kind == TN_DIM_SYM || dim->kind == TN_DIM_CONST ||
		dim->kind == TN_DIM_MIN || dim->kind == TN_DIM_MAX;

	if (tight && !atom)
		tn_buf_putc(p->buf, '(');
	tn_dim_print(p->buf, dim);
	if (tight && !atom)
		tn_buf_putc(p->buf, ')');
}

static void put_access(struct printer *p, const struct tn_kbuf *buf, int n,
		       const struct tn_kexpr *const *index)
{
	put_name(p, buf->name, buf);
	if (n == 0)
		return;
	tn_buf_putc(p->buf, '[');
	put_args(p, n, index);
	tn_buf_putc(p->buf, ']');
}

static void put_expr(struct printer *p, const struct tn_kexpr *e, int tight)
{
	switch (e->kind) {
	case TN_KEXPR_INT:
		put_int(p, e);
		break;
	case TN_KEXPR_FLOAT:
		put_float(p, e);
		break;
	case TN_KEXPR_VAR:
		put_name(p, e->var->name, e->var);
		break;
	case TN_KEXPR_DIM:
		put_dim(p, e->dim, tight);
		break;
	case TN_KEXPR_LOAD:
		put_access(p, e->buf, e->nargs, e->args);
		break;
	case TN_KEXPR_OP:
		put_op(p, e, tight);
		break;
	}
}

static void put_buf_type(struct printer *p, const struct tn_kbuf *buf)
{
	int i;

	tn_buf_put(p->buf, tn_dtype_name(buf->dtype));
	if (buf->rank == 0)
		return;
	tn_buf_putc(p->buf, '[');
	for (i = 0; i < buf->rank; i++) {
		if (i)
			tn_buf_put(p->buf, ", ");
		tn_dim_print(p->buf, buf->dims[i]);
	}
	tn_buf_putc(p->buf, ']');
}

static const char *const binds[] = {
	[TN_BIND_THREADS] = "threads", [TN_BIND_GRID_X] = "grid.x",
	[TN_BIND_GRID_Y] = "grid.y", [TN_BIND_GRID_Z] = "grid.z",
	[TN_BIND_BLOCK_X] = "block.x", [TN_BIND_BLOCK_Y] = "block.y",
	[TN_BIND_BLOCK_Z] = "block.z", [TN_BIND_WARP] = "warp"
};

static const char *const spaces[] = {
	[TN_SPACE_GLOBAL] = "global", [TN_SPACE_REG] = "reg",
	[TN_SPACE_STACK] = "stack", [TN_SPACE_SHARED] = "shared",
	[TN_SPACE_ARENA] = "arena"
};

static const char *const roles[] = {
	[TN_KBUF_IN] = "in", [TN_KBUF_OUT] = "out",
	[TN_KBUF_INOUT] = "inout", [TN_KBUF_LOCAL] = "local"
};

static void put_block(struct printer *p, const struct tn_kblock *block);

static void put_loop(struct printer *p, const struct tn_kstmt *s)
{
	switch (s->loop) {
	case TN_LOOP_FOR:
		tn_buf_put(p->buf, "for ");
		break;
	case TN_LOOP_PAR:
		tn_buf_putf(p->buf, "par(%s", binds[s->bind]);
		if (s->min)
			tn_buf_putf(p->buf, ", min=%lld",
				    (long long)s->min);
		tn_buf_put(p->buf, ") ");
		break;
	case TN_LOOP_VEC:
		tn_buf_put(p->buf, "vec ");
		break;
	case TN_LOOP_UNROLL:
		tn_buf_put(p->buf, "unroll ");
		break;
	}
	put_name(p, s->var->name, s->var);
	tn_buf_put(p->buf, " in ");
	put_expr(p, s->from, 0);
	tn_buf_put(p->buf, "..");
	put_expr(p, s->to, 0);
	if (s->step != 1)
		tn_buf_putf(p->buf, " step %lld", (long long)s->step);
	tn_buf_putc(p->buf, ' ');
	put_block(p, &s->body);
}

static void put_assign(struct printer *p, const struct tn_kstmt *s)
{
	tn_buf_put(p->buf, s->accumulate ? " += " : " = ");
	put_expr(p, s->value, 0);
	tn_buf_putc(p->buf, ';');
}

static void put_let(struct printer *p, const struct tn_kstmt *s)
{
	tn_buf_put(p->buf, s->var->is_mutable ? "let mut " : "let ");
	put_name(p, s->var->name, s->var);
	tn_buf_putf(p->buf, ": %s", tn_dtype_name(s->var->dtype));
	put_assign(p, s);
}

static void put_stmt(struct printer *p, const struct tn_kstmt *s)
{
	switch (s->kind) {
	case TN_KSTMT_LOOP:
		put_loop(p, s);
		break;
	case TN_KSTMT_LET:
		put_let(p, s);
		break;
	case TN_KSTMT_SET:
		put_name(p, s->var->name, s->var);
		put_assign(p, s);
		break;
	case TN_KSTMT_ALLOC:
		tn_buf_put(p->buf, "alloc ");
		put_name(p, s->buf->name, s->buf);
		tn_buf_put(p->buf, ": ");
		put_buf_type(p, s->buf);
		tn_buf_putf(p->buf, " @%s;", spaces[s->buf->space]);
		break;
	case TN_KSTMT_STORE:
		put_access(p, s->buf, s->nindex, s->index);
		put_assign(p, s);
		break;
	case TN_KSTMT_IF:
		tn_buf_put(p->buf, "if ");
		put_expr(p, s->value, 0);
		tn_buf_putc(p->buf, ' ');
		put_block(p, &s->body);
		if (s->orelse.first) {
			tn_buf_put(p->buf, " else ");
			put_block(p, &s->orelse);
		}
		break;
	case TN_KSTMT_BARRIER:
		tn_buf_put(p->buf, "barrier();");
		break;
	case TN_KSTMT_RAISE:
		tn_buf_put(p->buf, "raise(");
		put_expr(p, s->value, 0);
		tn_buf_putf(p->buf, ", %u);", (unsigned)s->flags);
		break;
	case TN_KSTMT_SIZE:
		tn_buf_putf(p->buf, "size(%s, ", s->sym->name);
		put_expr(p, s->value, 0);
		tn_buf_put(p->buf, ");");
		break;
	}
}

static void put_block(struct printer *p, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	tn_buf_put(p->buf, "{\n");
	p->depth++;
	for (s = block->first; s; s = s->next) {
		tn_buf_pad(p->buf, ' ', 2 * (size_t)p->depth);
		put_stmt(p, s);
		tn_buf_putc(p->buf, '\n');
	}
	p->depth--;
	tn_buf_pad(p->buf, ' ', 2 * (size_t)p->depth);
	tn_buf_putc(p->buf, '}');
}

static void put_annots(struct tn_buf *buf, const struct tn_annots *annots)
{
	int i;

	for (i = 0; i < annots->count; i++) {
		tn_buf_putf(buf, "@%s", annots->list[i].name);
		if (annots->list[i].args)
			tn_buf_putf(buf, "(%s)", annots->list[i].args);
		tn_buf_putc(buf, '\n');
	}
}

static void put_kernel(struct printer *p, const struct tn_kernel *kernel)
{
	int i;

	tn_buf_put(p->buf, "kernel ");
	if (!p->anonymous)
		tn_print_name(p->buf, kernel->name);
	tn_buf_putc(p->buf, '(');
	for (i = 0; i < kernel->nparams; i++) {
		if (i)
			tn_buf_put(p->buf, ", ");
		put_name(p, kernel->params[i]->name, kernel->params[i]);
		tn_buf_put(p->buf, ": ");
		put_buf_type(p, kernel->params[i]);
		if (kernel->params[i]->layout)
			tn_buf_putf(p->buf, " @layout(%s)",
				    kernel->params[i]->layout->text);
		tn_buf_putf(p->buf, " @%s", roles[kernel->params[i]->role]);
	}
	tn_buf_put(p->buf, ") ");
	put_block(p, &kernel->body);
	tn_buf_putc(p->buf, '\n');
}

void tn_kernel_print(struct tn_buf *buf, const struct tn_kernel *kernel)
{
	struct printer p = { .buf = buf };

	put_annots(buf, &kernel->annots);
	put_kernel(&p, kernel);
}

void tn_kexpr_print(struct tn_buf *buf, const struct tn_kexpr *expr)
{
	struct printer p = { .buf = buf };

	put_expr(&p, expr, 0);
}

void tn_kernel_print_shape(struct tn_buf *buf,
			   const struct tn_kernel *kernel)
{
	struct printer p = { .buf = buf, .anonymous = true };

	tn_map_init_ptr(&p.numbers);
	put_annots(buf, &kernel->annots);
	put_kernel(&p, kernel);
	tn_map_fini(&p.numbers);
}

bool tn_kernel_same(const struct tn_kernel *a, const struct tn_kernel *b)
{
	struct tn_buf x, y;
	bool same;

	tn_buf_init(&x);
	tn_buf_init(&y);
	tn_kernel_print_shape(&x, a);
	tn_kernel_print_shape(&y, b);
	if (x.failed || y.failed)
		a->module->failed = true;
	same = !x.failed && !y.failed && x.len == y.len &&
		!memcmp(x.data, y.data, x.len);
	tn_buf_fini(&x);
	tn_buf_fini(&y);
	return same;
}

/*
 * The verifier of kernels: every fault, one a line.
 *
 * In: a kernel, scheduled or not. Checks that names are declared before they
 * are used, ranks and element types agree, only writable buffers are written,
 * vec and unroll extents and @reg and @stack sizes are constants, sizes fit.
 */
#include "ir/kernel_check.h"
#include "ir/kernel_loop.h"

struct verifier {
	const struct tn_kernel *kernel;
	struct tn_map scope;	/* declared vars and bufs */
	struct tn_buf *faults;
	bool good;
};

static void fault(struct verifier *v, const char *name, const char *what)
{
	v->good = false;
	tn_buf_putf(v->faults, "kernel %s: '%s' %s\n", v->kernel->name, name,
		    what);
}

/* Without memory the module has failed, and what is found is of no worth. */
static void declare(struct verifier *v, const void *key)
{
	if (tn_map_set(&v->scope, key, v))
		return;
	v->kernel->module->failed = true;
	v->good = false;
}

static void check_expr(struct verifier *v, const struct tn_kexpr *e);

static void check_access(struct verifier *v, const struct tn_kbuf *buf,
			 int n, const struct tn_kexpr *const *index)
{
	int i;

	if (!tn_map_has(&v->scope, buf))
		fault(v, buf->name, "is used outside its scope");
	if (n != buf->rank)
		fault(v, buf->name, "has another number of axes");
	for (i = 0; i < n; i++) {
		check_expr(v, index[i]);
		if (index[i]->dtype != TN_i64)
			fault(v, buf->name, "is indexed by other than i64");
	}
}

static void check_op(struct verifier *v, const struct tn_kexpr *e)
{
	const struct tn_op_info *info = &tn_ops[e->code];
	int i;

	if (info->op_class != TN_CLASS_MAP)
		fault(v, info->name, "is no operator of scalars");
	if (e->nargs != info->nin_min)
		fault(v, info->name, "has a wrong number of operands");
	if (e->is_index && e->dtype != TN_i64)
		fault(v, info->name, "is index arithmetic on other than i64");
	for (i = 0; i < e->nargs; i++)
		check_expr(v, e->args[i]);
	for (i = info->drule == TN_DRULE_SELECT; i < e->nargs; i++)
		if (info->drule == TN_DRULE_SAME &&
		    e->args[i]->dtype != e->dtype)
			fault(v, info->name, "mixes element types");
}

static void check_expr(struct verifier *v, const struct tn_kexpr *e)
{
	switch (e->kind) {
	case TN_KEXPR_INT:
	case TN_KEXPR_FLOAT:
	case TN_KEXPR_DIM:
		break;
	case TN_KEXPR_VAR:
		if (!tn_map_has(&v->scope, e->var))
			fault(v, e->var->name, "is used outside its scope");
		break;
	case TN_KEXPR_LOAD:
		check_access(v, e->buf, e->nargs, e->args);
		break;
	case TN_KEXPR_OP:
		check_op(v, e);
		break;
	}
}

static void check_block(struct verifier *v, const struct tn_kblock *block);

static void check_loop(struct verifier *v, const struct tn_kstmt *s)
{
	check_expr(v, s->from);
	check_expr(v, s->to);
	if (s->step < 1)
		fault(v, s->var->name, "has a step below 1");
	else if (!tn_kloop_fits(s->from, s->to, s->step))
		fault(v, s->var->name, "leaves the 64-bit numbers");
	if (s->var->dtype != TN_i64)
		fault(v, s->var->name, "is a loop variable of another type");
	if (s->loop == TN_LOOP_UNROLL && !tn_kloop_is_const(s))
		fault(v, s->var->name, "is unrolled with unknown bounds");
	else if (s->loop == TN_LOOP_UNROLL &&
		 tn_kloop_turns(s) > TN_KLOOP_WRITTEN)
		fault(v, s->var->name, "is unrolled with too many turns");
	if (s->min && (s->min < 0 || s->loop != TN_LOOP_PAR ||
		       s->bind != TN_BIND_THREADS))
		fault(v, s->var->name, "has a least number of turns and no "
		      "threads");
	declare(v, s->var);
	check_block(v, &s->body);
}

static void check_alloc(struct verifier *v, const struct tn_kbuf *buf)
{
	bool fixed = buf->space == TN_SPACE_REG ||
		buf->space == TN_SPACE_STACK || buf->space == TN_SPACE_SHARED;
	int i;

	for (i = 0; i < buf->rank; i++)
		if (fixed && !tn_dim_is_const(buf->dims[i]))
			fault(v, buf->name, "needs constant extents");
	if (buf->space == TN_SPACE_GLOBAL)
		fault(v, buf->name, "is allocated without a space");
	if (!tn_kbuf_fits(buf))
		fault(v, buf->name, "is too large for its space");
	declare(v, buf);
}

static void check_store(struct verifier *v, const struct tn_kstmt *s)
{
	check_access(v, s->buf, s->nindex, s->index);
	check_expr(v, s->value);
	if (s->buf->role == TN_KBUF_IN)
		fault(v, s->buf->name, "is an input and is written");
	if (s->value->dtype != s->buf->dtype)
		fault(v, s->buf->name, "is given another element type");
}

static void check_assign(struct verifier *v, const struct tn_kstmt *s)
{
	check_expr(v, s->value);
	if (s->value->dtype != s->var->dtype)
		fault(v, s->var->name, "is given another element type");
	if (s->kind == TN_KSTMT_LET)
		declare(v, s->var);
	else if (!tn_map_has(&v->scope, s->var))
		fault(v, s->var->name, "is set outside its scope");
}

static void check_stmt(struct verifier *v, const struct tn_kstmt *s)
{
	switch (s->kind) {
	case TN_KSTMT_LOOP:
		check_loop(v, s);
		break;
	case TN_KSTMT_LET:
	case TN_KSTMT_SET:
		check_assign(v, s);
		break;
	case TN_KSTMT_ALLOC:
		check_alloc(v, s->buf);
		break;
	case TN_KSTMT_STORE:
		check_store(v, s);
		break;
	case TN_KSTMT_IF:
	case TN_KSTMT_RAISE:
		check_expr(v, s->value);
		if (s->value->dtype != TN_bool)
			fault(v, "condition", "is not a bool");
		check_block(v, &s->body);
		check_block(v, &s->orelse);
		break;
	case TN_KSTMT_SIZE:
		check_expr(v, s->value);
		break;
	case TN_KSTMT_BARRIER:
		break;
	}
}

static void check_block(struct verifier *v, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (s->parent != block)
			fault(v, "statement", "is linked to another block");
		check_stmt(v, s);
	}
}

static void check_access_range(void *data, const struct tn_kaccess *access)
{
	struct verifier *v = data;

	if (access->verdict == TN_KACCESS_OUTSIDE)
		fault(v, access->buf->name, "is indexed out of bounds");
}

/* What somebody wrote and took upon himself is not looked at; what Tenon made
 * may hold what is not proved, but nothing that is wrong. */
static void check_ranges(struct verifier *v)
{
	const struct tn_kernel *kernel = v->kernel;

	if (!kernel->comment && tn_annots_find(&kernel->annots, "unchecked"))
		return;
	if (!tn_kernel_check(kernel, check_access_range, v))
		v->good = false;
}

bool tn_kernel_verify(const struct tn_kernel *kernel, struct tn_buf *faults)
{
	struct verifier v = { .kernel = kernel, .faults = faults,
			      .good = true };
	int i;

	tn_map_init_ptr(&v.scope);
	for (i = 0; i < kernel->nparams; i++) {
		if (!tn_kbuf_fits(kernel->params[i]))
			fault(&v, kernel->params[i]->name,
			      "is too large to address");
		declare(&v, kernel->params[i]);
	}
	check_block(&v, &kernel->body);
	if (v.good)
		check_ranges(&v);
	tn_map_fini(&v.scope);
	return v.good;
}

/*
 * Witnesses: runs what stands around a place at the corners of its loops.
 *
 * In: loops, lets and conditions, an index and an extent. Every size takes
 * its least and its largest value, alone and all together, unless a guard at
 * the entry refuses them; every loop its first and its last turn. A corner counts only if its loops have turns and
 * all its conditions are known to hold, so that the access is really made.
 */
#include "ir/kernel_witness.h"

#include "base/num.h"
#include "ir/kernel_affine.h"
#include "ir/kernel_loop.h"
#include "ir/kernel_walk.h"

/* Sizes that are varied alone. */
#define MAX_SIZES 16
/* Loops whose last turn is tried too. */
#define MAX_LOOPS 10
/* Outermost loops of which turns next to these are tried. */
#define NEAR_LOOPS 2

struct trial {
	struct tn_dim_pool *pool;
	const struct tn_vec *guards;	/* or NULL */
	const struct tn_vec *open;
	const struct tn_kexpr *index;
	const struct tn_dim *extent;
	int64_t *sizes;		/* by number of the symbol */
	struct tn_map values;	/* tn_kvar -> int64_t *, what is known */
	struct tn_arena arena;
	int64_t *budget;
	int64_t found;
};

/* ---- Values ---- */

/* Sizes that the kernel itself may set are not known. */
static bool size_of(const struct trial *t, const struct tn_dim *dim,
		    int64_t *value)
{
	return !tn_dim_has_runtime(dim) && tn_dim_eval(dim, t->sizes, value);
}

static bool value_of(const struct trial *t, const struct tn_kexpr *e,
		     int64_t *value);

static bool compare(const struct tn_kexpr *e, int64_t a, int64_t b,
		    int64_t *value)
{
	if (e->code == TN_OP_min)
		*value = a < b ? a : b;
	else if (e->code == TN_OP_max)
		*value = a > b ? a : b;
	else if (e->code == TN_OP_lt)
		*value = a < b;
	else if (e->code == TN_OP_le)
		*value = a <= b;
	else if (e->code == TN_OP_eq)
		*value = a == b;
	else
		return false;
	return true;
}

/* and, or: one side may be enough. */
static bool logic(const struct trial *t, const struct tn_kexpr *e,
		  int64_t *value)
{
	int64_t decides = e->code == TN_OP_or, a = !decides, b = !decides;
	bool has_a = value_of(t, e->args[0], &a);
	bool has_b = value_of(t, e->args[1], &b);

	*value = decides;
	if ((has_a && a == decides) || (has_b && b == decides))
		return true;
	*value = !decides;
	return has_a && has_b;
}

static bool value_of_op(const struct trial *t, const struct tn_kexpr *e,
			int64_t *value)
{
	int64_t a, b;

	if (e->code == TN_OP_not && e->dtype == TN_bool) {
		if (!value_of(t, e->args[0], &a))
			return false;
		*value = !a;
		return true;
	}
	if (e->code == TN_OP_select)
		return value_of(t, e->args[0], &a) &&
			value_of(t, e->args[a ? 1 : 2], value);
	if (e->nargs != 2)
		return false;
	if (e->dtype == TN_bool &&
	    (e->code == TN_OP_and || e->code == TN_OP_or))
		return logic(t, e, value);
	if (!value_of(t, e->args[0], &a) || !value_of(t, e->args[1], &b))
		return false;
	if (!e->is_index)
		return compare(e, a, b, value);
	return (e->code != TN_OP_fdiv && e->code != TN_OP_mod) || a >= 0 ?
		tn_kexpr_fold(e->code, a, b, value) : false;
}

/* Of i64 and bool; false: not known. */
static bool value_of(const struct trial *t, const struct tn_kexpr *e,
		     int64_t *value)
{
	const int64_t *held;

	if (e->dtype != TN_i64 && e->dtype != TN_bool)
		return false;
	if (e->kind == TN_KEXPR_INT)
		*value = e->i;
	if (e->kind == TN_KEXPR_DIM)
		return size_of(t, e->dim, value);
	if (e->kind == TN_KEXPR_OP)
		return value_of_op(t, e, value);
	if (e->kind != TN_KEXPR_VAR)
		return e->kind == TN_KEXPR_INT;
	held = tn_map_find(&t->values, e->var);
	if (held)
		*value = *held;
	return held != NULL;
}

/* ---- Corners ---- */

static bool assign(struct trial *t, const struct tn_kvar *var, int64_t value)
{
	int64_t *held = tn_map_find(&t->values, var);

	if (!held) {
		held = tn_arena_alloc(&t->arena, sizeof *held);
		if (!held || !tn_map_set(&t->values, var, held))
			return false;
	}
	*held = value;
	return true;
}

static void pass_let(struct trial *t, const struct tn_kstmt *let)
{
	int64_t value;

	if (let->var->is_mutable || !value_of(t, let->value, &value))
		(void)tn_map_set(&t->values, let->var, NULL);
	else
		(void)assign(t, let->var, value);
}

static bool is_outside(struct trial *t)
{
	int64_t extent;

	if (!value_of(t, t->index, &t->found))
		return false;
	return t->found < 0 ||
		(size_of(t, t->extent, &extent) && t->found >= extent);
}

static bool run(struct trial *t, size_t at, int loops);

/* The first turns and the last ones: `near` more than one of each. */
static int64_t next_turn(int64_t turn, int64_t n, int64_t near)
{
	if (turn < near || turn >= n - 1 - near)
		return turn + 1;
	return n - 1 - near;
}

static bool run_loop(struct trial *t, size_t at, const struct tn_kstmt *loop,
		     int loops)
{
	int64_t from, to, n, k, near = loops < NEAR_LOOPS ? 2 : 0;

	if (!value_of(t, loop->from, &from) || !value_of(t, loop->to, &to) ||
	    !tn_num_sub(to, from, &n) || n <= 0)
		return false;
	n = tn_kloop_count(from, to, loop->step);
	for (k = 0; k < n; k = next_turn(k, n, near)) {
		if (assign(t, loop->var, from + k * loop->step) &&
		    run(t, at + 1, loops + 1))
			return true;
		if (loops >= MAX_LOOPS)
			break;
	}
	return false;
}

/* From there on inwards; true if the index ends up outside. */
static bool run(struct trial *t, size_t at, int loops)
{
	const struct tn_kopen *open;
	int64_t holds;

	for (; at < t->open->len; at++) {
		if (--*t->budget < 0)
			return false;
		open = tn_vec_at(t->open, at);
		if (!open->stmt) {
			if (!value_of(t, open->cond, &holds) ||
			    !holds != !open->holds)
				return false;
		} else if (open->stmt->kind == TN_KSTMT_LOOP) {
			return run_loop(t, at, open->stmt, loops);
		} else {
			pass_let(t, open->stmt);
		}
	}
	return is_outside(t);
}

/* ---- Sizes ---- */

static int64_t end_of(const struct tn_sym *sym, bool high)
{
	int64_t mod = sym->mod < 1 ? 1 : sym->mod, up;

	if (high)
		return tn_num_floordiv(sym->hi, mod) * mod;
	if (!tn_num_add(sym->lo, mod - 1, &up))
		return sym->lo;
	return tn_num_floordiv(up, mod) * mod;
}

/* Whether the entry lets these sizes in, as far as it is known. */
static bool are_admitted(const struct trial *t)
{
	const struct tn_guard *guard;
	int64_t a, b;
	size_t i;

	for (i = 0; t->guards && i < t->guards->len; i++) {
		guard = tn_vec_at(t->guards, i);
		if (size_of(t, guard->a, &a) && size_of(t, guard->b, &b) &&
		    !tn_guard_holds(guard, a, b))
			return false;
	}
	return true;
}

/* All sizes at one end, but for `odd` (or -1) at the other. */
static bool try_sizes(struct trial *t, bool high, int odd)
{
	const struct tn_dim *dim;
	int i;

	for (i = 0; i < t->pool->nsyms; i++) {
		dim = tn_vec_ptr(&t->pool->syms, (size_t)i);
		t->sizes[i] = end_of(dim->sym, i == odd ? !high : high);
	}
	return are_admitted(t) && run(t, 0, 0);
}

static bool try_all(struct trial *t)
{
	int i;

	if (try_sizes(t, false, -1) || try_sizes(t, true, -1))
		return true;
	for (i = 0; i < t->pool->nsyms && i < MAX_SIZES; i++)
		if (try_sizes(t, false, i) || try_sizes(t, true, i))
			return true;
	return false;
}

/* ---- Text ---- */

struct telling {
	struct trial *trial;
	struct tn_buf *buf;
	struct tn_map told;
};

static void tell(struct telling *telling, const void *key, const char *name,
		 int64_t value)
{
	if (tn_map_has(&telling->told, key) ||
	    !tn_map_set(&telling->told, key, telling))
		return;
	tn_buf_putf(telling->buf, "%s%s = %lld",
		    telling->told.len > 1 ? ", " : "", name,
		    (long long)value);
}

static void tell_sym(void *data, const struct tn_dim *sym)
{
	struct telling *telling = data;

	tell(telling, sym->sym, sym->sym->name,
	     telling->trial->sizes[sym->sym->number]);
}

static void tell_size(void *data, const struct tn_kexpr *e)
{
	if (e->kind == TN_KEXPR_DIM)
		tn_dim_each_sym(e->dim, tell_sym, data);
}

/* The sizes in the bounds of a loop. */
static void tell_bounds(struct telling *telling, const struct tn_kvar *var)
{
	struct tn_kvisitor visitor = { tell_size, NULL, telling };
	const struct tn_vec *all = telling->trial->open;
	const struct tn_kopen *open;
	size_t i;

	for (i = 0; i < all->len; i++) {
		open = tn_vec_at(all, i);
		if (!tn_kstmt_is_loop(open->stmt) || open->stmt->var != var)
			continue;
		tn_kexpr_visit(open->stmt->from, &visitor);
		tn_kexpr_visit(open->stmt->to, &visitor);
	}
}

static void tell_expr(void *data, const struct tn_kexpr *e)
{
	struct telling *telling = data;
	const int64_t *value;

	tell_size(data, e);
	if (e->kind != TN_KEXPR_VAR)
		return;
	value = tn_map_find(&telling->trial->values, e->var);
	if (!value)
		return;
	tell_bounds(telling, e->var);
	tell(telling, e->var, e->var->name, *value);
}

static const char *text_of(struct trial *t)
{
	struct telling telling = { .trial = t };
	struct tn_kvisitor visitor = { tell_expr, NULL, &telling };
	const char *text;
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_map_init_ptr(&telling.told);
	telling.buf = &buf;
	tn_dim_each_sym(t->extent, tell_sym, &telling);
	tn_kexpr_visit(t->index, &visitor);
	text = buf.failed ? NULL :
		tn_arena_printf(t->pool->arena, "%s", tn_buf_text(&buf));
	tn_map_fini(&telling.told);
	tn_buf_fini(&buf);
	return text;
}

bool tn_kwitness_find(const struct tn_kernel *kernel,
		      const struct tn_vec *open, const struct tn_kexpr *index,
		      const struct tn_dim *extent, int64_t *budget,
		      struct tn_kwitness *out)
{
	struct tn_dim_pool *pool = &kernel->module->dims;
	struct trial t = { .pool = pool, .guards = kernel->guards,
			   .open = open, .index = index, .extent = extent,
			   .budget = budget };
	bool found;

	tn_arena_init(&t.arena);
	tn_map_init_ptr(&t.values);
	t.sizes = tn_arena_array(&t.arena, (size_t)pool->nsyms + 1,
				 sizeof *t.sizes);
	found = t.sizes && try_all(&t);
	if (found) {
		out->value = t.found;
		out->text = text_of(&t);
		found = out->text != NULL;
	}
	tn_map_fini(&t.values);
	tn_arena_fini(&t.arena);
	return found;
}

/*
 * The small tools of the lowering: names, scopes, loops, expressions.
 *
 * In: the kernel under construction. Out: nodes in it. A NULL among the
 * operands gives NULL, and the arena of the module remembers why, so calls
 * nest and one check at the end of the kernel is enough.
 */
#include "passes/lower.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"

void tn_lower_unfit(struct tn_lower *lw)
{
	lw->unfit = true;
}

/* Letters, digits and underscores of `wish`, not starting with a digit. */
static const char *plain_name(struct tn_lower *lw, const char *wish)
{
	char text[64];
	size_t n = 0, i;

	for (i = 0; wish[i] && n < sizeof(text) - 1; i++)
		text[n++] = tn_ascii_is_word(wish[i]) ? wish[i] : '_';
	if (n == 0 || tn_ascii_is_digit(text[0]))
		text[0] = 'v';
	text[n ? n : 1] = '\0';
	return tn_intern_text(lw->module->names, text);
}

/* `wish`, else `wish__n` for the least n not in `taken`. */
static const char *fresh_name(struct tn_lower *lw, struct tn_map *taken,
			      const char *wish)
{
	const char *base = plain_name(lw, wish);
	const char *name = base;
	size_t n = base ? (size_t)tn_map_find(taken, base) : 0;
	size_t tries;

	for (tries = n ? n : 1; name && tn_map_has(taken, name); tries++) {
		char text[96];

		snprintf(text, sizeof(text), "%s__%zu", base, tries);
		name = tn_intern_text(lw->module->names, text);
	}
	if (!name || !tn_map_set(taken, name, (void *)1) ||
	    (name != base && !tn_map_set(taken, base, (void *)tries))) {
		lw->failed = true;
		return NULL;
	}
	return name;
}

const char *tn_lower_name(struct tn_lower *lw, const char *wish)
{
	return fresh_name(lw, &lw->taken, wish);
}

const char *tn_lower_kernel_name(struct tn_lower *lw, const char *wish)
{
	return fresh_name(lw, &lw->kernel_names, wish);
}

/* A variable with an unused name. */
static struct tn_kvar *new_var(struct tn_lower *lw, const char *wish,
			       enum tn_dtype dtype)
{
	const char *name = tn_lower_name(lw, wish);

	return name ? tn_kernel_var(lw->kernel, name, dtype) : NULL;
}

/* Takes room in the kernel's scratch, for the largest sizes. */
static bool take_scratch(struct tn_lower *lw, struct tn_kbuf *buf)
{
	const struct tn_type *type = tn_type_get(lw->module, buf->dtype,
						 buf->rank, buf->dims);
	int64_t bytes = type ? tn_type_max_bytes(lw->module, type) : -1;
	int64_t *total = &lw->kernel->scratch_bytes;

	buf->arena_offset = *total;
	return bytes >= 0 && tn_num_add(*total, bytes, total) &&
		tn_num_align(*total, 64, total);
}

struct tn_kbuf *tn_lower_scratch(struct tn_lower *lw, const char *wish,
				 enum tn_dtype dtype, int rank,
				 const struct tn_dim *const *dims)
{
	struct tn_kblock *body = &lw->kernel->body;
	const char *name = tn_lower_name(lw, wish);
	struct tn_kbuf *buf;
	struct tn_kstmt *alloc, *before = body->first;

	if (!name)
		return NULL;
	buf = tn_kernel_local(lw->kernel, name, dtype, rank, dims,
			      TN_SPACE_ARENA);
	if (!buf || !take_scratch(lw, buf)) {
		tn_lower_unfit(lw);
		return NULL;
	}
	while (before && before->kind == TN_KSTMT_ALLOC)
		before = before->next;
	alloc = tn_kstmt_alloc(lw->kernel, body, buf);
	if (!alloc) {
		lw->failed = true;
		return NULL;
	}
	tn_kstmt_remove(alloc);
	tn_kstmt_insert(body, alloc, before);
	return buf;
}

void tn_lower_may_contract(struct tn_lower *lw, const struct tn_op *op)
{
	struct tn_annots *annots = &lw->kernel->annots;

	if (!tn_annots_find(annots, "fp") &&
	    !tn_annots_add(lw->module, annots, "fp", "contract", op->span))
		lw->failed = true;
}

size_t tn_lower_mark(const struct tn_lower *lw)
{
	return lw->scopes.len;
}

static void open_scope(struct tn_lower *lw, struct tn_kblock *block)
{
	struct tn_lower_scope *scope = tn_vec_push(&lw->scopes);

	if (!scope) {
		lw->failed = true;
		return;
	}
	scope->block = lw->block;
	scope->nknown = lw->known.len;
	if (block)
		lw->block = block;
	else
		lw->failed = true;
}

static void forget(struct tn_lower *lw, size_t nknown)
{
	while (lw->known.len > nknown) {
		struct tn_lower_known *known;

		known = tn_vec_ptr(&lw->known, lw->known.len - 1);
		if (!tn_map_set(&lw->latest, known->value, known->before))
			lw->failed = true;
		tn_vec_pop(&lw->known);
	}
}

void tn_lower_close(struct tn_lower *lw, size_t mark)
{
	while (lw->scopes.len > mark) {
		struct tn_lower_scope *scope;

		scope = tn_vec_at(&lw->scopes, lw->scopes.len - 1);
		lw->block = scope->block;
		forget(lw, scope->nknown);
		tn_vec_pop(&lw->scopes);
	}
}

const struct tn_kexpr *tn_lower_for(struct tn_lower *lw, const char *wish,
				    const struct tn_kexpr *from,
				    const struct tn_kexpr *to)
{
	struct tn_kvar *var = new_var(lw, wish, TN_i64);
	struct tn_kstmt *loop;

	loop = tn_kstmt_loop(lw->kernel, lw->block, TN_LOOP_FOR, var, from, to);
	open_scope(lw, loop ? &loop->body : NULL);
	return tn_kexpr_var(lw->kernel, var);
}

const struct tn_kexpr *tn_lower_for_dim(struct tn_lower *lw,
					const char *wish,
					const struct tn_dim *dim)
{
	if (dim && tn_dim_is(dim, 1))
		return tn_lower_int(lw, 0);
	return tn_lower_for(lw, wish, tn_lower_int(lw, 0),
			    tn_lower_dim(lw, dim));
}

void tn_lower_for_type(struct tn_lower *lw, const struct tn_type *type,
		       const struct tn_kexpr **index)
{
	tn_lower_for_layout(lw, type, NULL, index);
}

struct tn_kstmt *tn_lower_if(struct tn_lower *lw, const struct tn_kexpr *cond)
{
	struct tn_kstmt *stmt = tn_kstmt_if(lw->kernel, lw->block, cond);

	open_scope(lw, stmt ? &stmt->body : NULL);
	return stmt;
}

void tn_lower_else(struct tn_lower *lw, struct tn_kstmt *stmt)
{
	tn_lower_close(lw, lw->scopes.len - 1);
	open_scope(lw, stmt ? &stmt->orelse : NULL);
}

const struct tn_kexpr *tn_lower_let(struct tn_lower *lw, const char *wish,
				    const struct tn_kexpr *value)
{
	struct tn_kvar *var;

	if (!value || value->kind == TN_KEXPR_INT ||
	    value->kind == TN_KEXPR_FLOAT || value->kind == TN_KEXPR_DIM ||
	    (value->kind == TN_KEXPR_VAR && !value->var->is_mutable))
		return value;
	var = new_var(lw, wish, value->dtype);
	if (!tn_kstmt_let(lw->kernel, lw->block, var, value))
		return NULL;
	return tn_kexpr_var(lw->kernel, var);
}

struct tn_kvar *tn_lower_mut(struct tn_lower *lw, const char *wish,
			     const struct tn_kexpr *value)
{
	struct tn_kvar *var;

	if (!value)
		return NULL;
	var = new_var(lw, wish, value->dtype);
	if (!tn_kstmt_let(lw->kernel, lw->block, var, value))
		return NULL;
	var->is_mutable = true;
	return var;
}

void tn_lower_set(struct tn_lower *lw, struct tn_kvar *var,
		  const struct tn_kexpr *value)
{
	if (!tn_kstmt_set(lw->kernel, lw->block, var, value, false))
		lw->failed = true;
}

void tn_lower_store(struct tn_lower *lw, struct tn_kbuf *buf,
		    const struct tn_kexpr *const *index,
		    const struct tn_kexpr *value)
{
	const struct tn_kexpr *at[TN_MAX_RANK];

	if (buf)
		tn_lower_place(lw, buf, index, at);
	if (!buf || !tn_kstmt_store(lw->kernel, lw->block, buf, buf->rank,
				    at, value, false))
		lw->failed = true;
}

void tn_lower_raise(struct tn_lower *lw, const struct tn_kexpr *cond,
		    uint32_t flags)
{
	if (!tn_kstmt_raise(lw->kernel, lw->block, cond, flags))
		lw->failed = true;
}

const struct tn_kexpr *tn_lower_int(struct tn_lower *lw, int64_t value)
{
	return tn_kexpr_int(lw->kernel, TN_i64, value);
}

const struct tn_kexpr *tn_lower_dim(struct tn_lower *lw,
				    const struct tn_dim *dim)
{
	return tn_kexpr_dim(lw->kernel, dim);
}

const struct tn_kexpr *tn_lower_get(struct tn_lower *lw, struct tn_kvar *var)
{
	return tn_kexpr_var(lw->kernel, var);
}

const struct tn_kexpr *tn_lower_number(struct tn_lower *lw,
				       enum tn_dtype dtype, int64_t value)
{
	if (tn_dtype_is(dtype, TN_KIND_F))
		return tn_kexpr_float(lw->kernel, dtype, (double)value);
	return tn_kexpr_int(lw->kernel, dtype, value);
}

/* The least value of an integer type, or the greatest. */
static int64_t extreme(enum tn_dtype dtype, bool highest)
{
	int bits = tn_dtype_bytes(dtype) * 8;

	if (tn_dtype_is(dtype, TN_KIND_U)) {
		if (!highest)
			return 0;
		return bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1);
	}
	return highest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
}

const struct tn_kexpr *tn_lower_identity(struct tn_lower *lw,
					 enum tn_identity identity,
					 enum tn_dtype dtype)
{
	bool highest = identity == TN_IDENTITY_HIGHEST;

	switch (identity) {
	case TN_IDENTITY_NONE:
	case TN_IDENTITY_0:
		return tn_lower_number(lw, dtype, 0);
	case TN_IDENTITY_1:
		return tn_lower_number(lw, dtype, 1);
	case TN_IDENTITY_LOWEST:
	case TN_IDENTITY_HIGHEST:
		break;
	}
	if (tn_dtype_is(dtype, TN_KIND_F))
		return tn_kexpr_float(lw->kernel, dtype,
				      highest ? HUGE_VAL : -HUGE_VAL);
	return tn_kexpr_int(lw->kernel, dtype, extreme(dtype, highest));
}

const struct tn_kexpr *tn_lower_unary(struct tn_lower *lw,
				      enum tn_opcode code,
				      const struct tn_kexpr *a)
{
	if (!a)
		return NULL;
	return tn_kexpr_op(lw->kernel, code, a->dtype, 1, &a);
}

const struct tn_kexpr *tn_lower_binary(struct tn_lower *lw,
				       enum tn_opcode code,
				       const struct tn_kexpr *a,
				       const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[2];
	bool is_test = tn_ops[code].drule == TN_DRULE_BOOL;

	if (!a || !b)
		return NULL;
	args[0] = a;
	args[1] = b;
	return tn_kexpr_op(lw->kernel, code, is_test ? TN_bool : a->dtype, 2,
			   args);
}

const struct tn_kexpr *tn_lower_select(struct tn_lower *lw,
				       const struct tn_kexpr *cond,
				       const struct tn_kexpr *a,
				       const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[3];

	if (!cond || !a || !b)
		return NULL;
	args[0] = cond;
	args[1] = a;
	args[2] = b;
	return tn_kexpr_op(lw->kernel, TN_OP_select, a->dtype, 3, args);
}

const struct tn_kexpr *tn_lower_cast(struct tn_lower *lw, enum tn_dtype dtype,
				     const struct tn_kexpr *a)
{
	if (!a || a->dtype == dtype)
		return a;
	return tn_kexpr_op(lw->kernel, TN_OP_cast, dtype, 1, &a);
}

enum tn_dtype tn_lower_wide(enum tn_dtype dtype)
{
	return dtype == TN_f16 || dtype == TN_bf16 ? TN_f32 : dtype;
}

const struct tn_kexpr *tn_lower_clamp(struct tn_lower *lw,
				      const struct tn_kexpr *i,
				      const struct tn_dim *n)
{
	const struct tn_kexpr *last;

	last = tn_kexpr_sub(lw->kernel, tn_lower_dim(lw, n),
			    tn_lower_int(lw, 1));
	if (n && tn_dim_is(n, 1))
		return tn_lower_int(lw, 0);
	return tn_lower_binary(lw, TN_OP_max,
			       tn_lower_binary(lw, TN_OP_min, i, last),
			       tn_lower_int(lw, 0));
}

const struct tn_kexpr *tn_lower_within(struct tn_lower *lw,
				       const struct tn_kexpr *i,
				       const struct tn_dim *n)
{
	return tn_lower_binary(lw, TN_OP_and,
			       tn_lower_binary(lw, TN_OP_le,
					       tn_lower_int(lw, 0), i),
			       tn_lower_binary(lw, TN_OP_lt, i,
					       tn_lower_dim(lw, n)));
}

const struct tn_dim *tn_lower_dim_int(struct tn_lower *lw, int64_t value)
{
	return tn_dim_const(&lw->module->dims, value);
}

int64_t tn_lower_attr_int(const struct tn_op *op, const char *name)
{
	const struct tn_attr *attr = tn_graph_attr(op, name);

	return attr && attr->is_set ? attr->u.i : 0;
}

bool tn_lower_attr_bool(const struct tn_op *op, const char *name)
{
	const struct tn_attr *attr = tn_graph_attr(op, name);

	return attr && attr->is_set && attr->u.b;
}

const char *tn_lower_attr_text(const struct tn_op *op, const char *name)
{
	const struct tn_attr *attr = tn_graph_attr(op, name);

	return attr && attr->is_set ? attr->u.s : "";
}

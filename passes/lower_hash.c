/*
 * A hash of a kernel that does not depend on names, so that equal kernels are
 * found without comparing each with each. Equality itself is tn_kernel_same.
 */
#include "passes/lower.h"

static uint64_t mix_pointer(uint64_t hash, const void *pointer)
{
	return tn_hash_mix(hash, (uint64_t)(uintptr_t)pointer);
}

static uint64_t hash_buf(uint64_t hash, const struct tn_kbuf *buf)
{
	int i;

	hash = tn_hash_mix(hash, (uint64_t)buf->dtype);
	hash = tn_hash_mix(hash, (uint64_t)buf->role);
	for (i = 0; i < buf->rank; i++)
		hash = mix_pointer(hash, buf->dims[i]);
	return hash;
}

static uint64_t hash_expr(uint64_t hash, const struct tn_kexpr *e)
{
	int i;

	hash = tn_hash_mix(hash, (uint64_t)e->kind * 64 + (uint64_t)e->dtype);
	switch (e->kind) {
	case TN_KEXPR_INT:
		return tn_hash_mix(hash, (uint64_t)e->i);
	case TN_KEXPR_FLOAT:
		return tn_hash_mix(hash, tn_hash_bytes(&e->f, sizeof(e->f)));
	case TN_KEXPR_VAR:
		return hash;
	case TN_KEXPR_DIM:
		return mix_pointer(hash, e->dim);
	case TN_KEXPR_LOAD:
		hash = hash_buf(hash, e->buf);
		break;
	case TN_KEXPR_OP:
		hash = tn_hash_mix(hash, (uint64_t)e->code);
		break;
	}
	for (i = 0; i < e->nargs; i++)
		hash = hash_expr(hash, e->args[i]);
	return hash;
}

static uint64_t hash_block(uint64_t hash, const struct tn_kblock *block)
{
	const struct tn_kstmt *stmt;
	int i;

	for (stmt = block->first; stmt; stmt = stmt->next) {
		hash = tn_hash_mix(hash, (uint64_t)stmt->kind);
		if (stmt->from)
			hash = hash_expr(hash, stmt->from);
		if (stmt->to)
			hash = hash_expr(hash, stmt->to);
		if (stmt->buf)
			hash = hash_buf(hash, stmt->buf);
		for (i = 0; i < stmt->nindex; i++)
			hash = hash_expr(hash, stmt->index[i]);
		if (stmt->value)
			hash = hash_expr(hash, stmt->value);
		hash = hash_block(hash, &stmt->body);
		hash = hash_block(hash, &stmt->orelse);
	}
	return hash;
}

uint64_t tn_lower_hash(const struct tn_kernel *kernel)
{
	uint64_t hash = (uint64_t)kernel->nparams;
	int i;

	for (i = 0; i < kernel->nparams; i++)
		hash = hash_buf(hash, kernel->params[i]);
	return hash_block(hash, &kernel->body);
}

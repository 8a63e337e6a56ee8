/*
 * Attributes: put in the order of the row, defaults filled in, kinds made
 * right, scalars replicated, axes counted from 0.
 */
#include "ir/infer_rules.h"

#include "base/num.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
	[TN_ATTR_INT] = "an integer",
	[TN_ATTR_FLOAT] = "a float",
	[TN_ATTR_BOOL] = "true or false",
	[TN_ATTR_STRING] = "a string",
	[TN_ATTR_DTYPE] = "an element type",
	[TN_ATTR_INTS] = "a list of integers",
	[TN_ATTR_DIM] = "a size",
	[TN_ATTR_DIMS] = "a list of sizes",
	[TN_ATTR_PAIRS] = "a list of pairs [low, high]",
};

struct tn_attr *tn_infer_attr(struct tn_infer *inf, const char *name)
{
	int i = 0;

	while (strcmp(inf->info->attrs[i].name, name) != 0)
		i++;
	return &inf->op->attrs[i];
}

/* ---- Kinds -------------------------------------------------------------- */

static bool dims_from_ints(struct tn_infer *inf, struct tn_attr *attr)
{
	const struct tn_dim **dims = tn_arena_array(&inf->module->arena,
			(size_t)attr->count + 1, sizeof(*dims));
	int i;

	if (!dims)
		return false;
	for (i = 0; i < attr->count; i++) {
		dims[i] = tn_infer_const(inf, attr->u.ints[i]);
		if (!dims[i])
			return false;
	}
	attr->u.dims = dims;
	return true;
}

static bool ints_from_dims(struct tn_infer *inf, struct tn_attr *attr)
{
	int64_t *ints = tn_arena_array(&inf->module->arena,
				       (size_t)attr->count + 1, sizeof(*ints));
	int i;

	if (!ints)
		return false;
	for (i = 0; i < attr->count; i++) {
		if (!attr->u.dims[i] || !tn_dim_is_const(attr->u.dims[i]))
			return false;
		ints[i] = attr->u.dims[i]->value;
	}
	attr->u.ints = ints;
	return true;
}

static bool to_list(struct tn_infer *inf, struct tn_attr *attr)
{
	struct tn_arena *arena = &inf->module->arena;

	attr->count = 1;
	if (attr->kind == TN_ATTR_INT) {
		attr->u.ints = tn_arena_copy(arena, &attr->u.i,
					     sizeof(attr->u.i));
		attr->kind = TN_ATTR_INTS;
	} else {
		attr->u.dims = tn_arena_copy(arena, &attr->u.dim,
					     sizeof(attr->u.dim));
		attr->kind = TN_ATTR_DIMS;
	}
	return attr->u.ints != NULL;
}

static bool to_scalar(struct tn_infer *inf, struct tn_attr *attr,
		      enum tn_attr_kind want)
{
	if (attr->kind == TN_ATTR_DIM && want == TN_ATTR_INT) {
		if (!tn_dim_is_const(attr->u.dim))
			return false;
		attr->u.i = attr->u.dim->value;
	} else if (attr->kind == TN_ATTR_INT && want == TN_ATTR_DIM) {
		attr->u.dim = tn_infer_const(inf, attr->u.i);
		if (!attr->u.dim)
			return false;
	} else if (attr->kind == TN_ATTR_INT && want == TN_ATTR_FLOAT) {
		attr->u.f = (double)attr->u.i;
	} else {
		return false;
	}
	attr->kind = want;
	return true;
}

/* Makes the attribute of kind `want` if that loses nothing. */
static bool convert(struct tn_infer *inf, struct tn_attr *attr,
		    enum tn_attr_kind want)
{
	bool is_list = want == TN_ATTR_INTS || want == TN_ATTR_DIMS ||
		       want == TN_ATTR_PAIRS;

	if (attr->kind == want)
		return true;
	if (!is_list)
		return to_scalar(inf, attr, want);
	if ((attr->kind == TN_ATTR_INT || attr->kind == TN_ATTR_DIM) &&
	    !to_list(inf, attr))
		return false;
	if (attr->kind == want)
		return true;
	if (attr->kind == TN_ATTR_INTS) {
		if (!dims_from_ints(inf, attr))
			return false;
	} else if (attr->kind == TN_ATTR_DIMS || attr->kind == TN_ATTR_PAIRS) {
		if (want == TN_ATTR_INTS && !ints_from_dims(inf, attr))
			return false;
	} else {
		return false;
	}
	attr->kind = want;
	return true;
}

/* ---- Defaults ----------------------------------------------------------- */

static bool parse_int(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool parse_float(const char *text, double *out)
{
	bool is_negative = *text == '-';

	if (!tn_num_parse_f64(text + is_negative, out))
		return false;
	if (is_negative)
		*out = -*out;
	return true;
}

static bool parse_default(struct tn_attr *attr,
			  const struct tn_attr_info *info)
{
	attr->kind = info->kind;
	switch (info->kind) {
	case TN_ATTR_INT:
	case TN_ATTR_INTS:
	case TN_ATTR_DIM:
	case TN_ATTR_DIMS:
	case TN_ATTR_PAIRS:
		attr->kind = TN_ATTR_INT;
		return parse_int(info->fallback, &attr->u.i);
	case TN_ATTR_FLOAT:
		return parse_float(info->fallback, &attr->u.f);
	case TN_ATTR_BOOL:
		attr->u.b = strcmp(info->fallback, "true") == 0;
		return attr->u.b || strcmp(info->fallback, "false") == 0;
	case TN_ATTR_STRING:
		attr->u.s = info->fallback;
		return true;
	case TN_ATTR_DTYPE:
		attr->u.dtype = tn_dtype_find(info->fallback);
		return attr->u.dtype != TN_DTYPE_COUNT;
	}
	return false;
}

static bool fill(struct tn_infer *inf, struct tn_attr *attr,
		 const struct tn_attr_info *info)
{
	if (!info->fallback)
		return tn_infer_fail(inf, TN_E0504, "'%s' needs %s=, %s",
				     inf->info->name, info->name,
				     kind_names[info->kind]);
	attr->name = info->name;
	if (info->fallback[0] == '\0' && info->kind != TN_ATTR_STRING) {
		attr->kind = info->kind;
		return true;
	}
	attr->is_set = parse_default(attr, info);
	return attr->is_set && convert(inf, attr, info->kind);
}

static bool complete(struct tn_infer *inf, struct tn_attr *attr,
		     const struct tn_attr_info *info)
{
	if (!attr->is_set)
		return fill(inf, attr, info);
	if (convert(inf, attr, info->kind))
		return true;
	return tn_infer_fail(inf, TN_E0503, "%s= of '%s' takes %s", info->name,
			     inf->info->name, kind_names[info->kind]);
}

/* ---- Order of the row ---------------------------------------------------- */

static bool is_in_order(const struct tn_infer *inf)
{
	int i;

	if (inf->op->nattrs != inf->info->nattrs)
		return false;
	for (i = 0; i < inf->op->nattrs; i++) {
		const char *name = inf->op->attrs[i].name;

		if (!name || strcmp(name, inf->info->attrs[i].name) != 0)
			return false;
	}
	return true;
}

static bool unknown(struct tn_infer *inf, const char *name)
{
	const char *names[16];
	const char *near;
	struct tn_diag *diag;
	size_t count = 0;
	int i;

	for (i = 0; i < inf->info->nattrs && count < 16; i++)
		names[count++] = inf->info->attrs[i].name;
	near = tn_diag_nearest(name, names, count);
	diag = tn_infer_report(inf, TN_E0502, "'%s' has no attribute '%s'",
			       inf->info->name, name);
	if (near)
		tn_diag_help(inf->module->sink, diag, "did you mean '%s'?",
			     near);
	return false;
}

static bool put_in_order(struct tn_infer *inf)
{
	struct tn_attr *attrs;
	int count = inf->info->nattrs;
	int i;

	if (is_in_order(inf))
		return true;
	attrs = tn_arena_array(&inf->module->arena, (size_t)count + 1,
			       sizeof(*attrs));
	if (!attrs) {
		inf->module->failed = true;
		return false;
	}
	for (i = 0; i < inf->op->nattrs; i++) {
		const struct tn_attr *attr = &inf->op->attrs[i];
		int at = 0;

		if (!attr->name)
			continue;
		while (at < count &&
		       strcmp(attr->name, inf->info->attrs[at].name) != 0)
			at++;
		if (at == count)
			return unknown(inf, attr->name);
		attrs[at] = *attr;
	}
	inf->op->attrs = attrs;
	inf->op->nattrs = count;
	return true;
}

bool tn_infer_attrs(struct tn_op *op)
{
	struct tn_infer inf = {
		.op = op, .fn = op->block->fn, .module = op->block->fn->module,
		.info = &tn_ops[op->code],
	};
	int i;

	if (op->code == TN_OP_call || op->code == TN_OP_launch)
		return true;
	if (!put_in_order(&inf))
		return false;
	for (i = 0; i < op->nattrs; i++) {
		if (!complete(&inf, &op->attrs[i], &inf.info->attrs[i]))
			return false;
	}
	return true;
}

/* ---- Values -------------------------------------------------------------- */

static bool fit_axis(struct tn_infer *inf, const char *name, int rank,
		     int64_t *axis)
{
	int64_t given = *axis;

	if (given < 0)
		*axis += rank;
	if (*axis >= 0 && *axis < rank)
		return true;
	if (rank == 0)
		return tn_infer_fail(inf, TN_E0314, "%s=%lld of '%s': the "
				     "operand has no axes", name,
				     (long long)given, inf->info->name);
	return tn_infer_fail(inf, TN_E0314, "%s=%lld of '%s' is not in "
			     "[-%d, %d]", name, (long long)given,
			     inf->info->name, rank, rank - 1);
}

bool tn_infer_axis(struct tn_infer *inf, const char *name, int rank, int *axis)
{
	struct tn_attr *attr = tn_infer_attr(inf, name);

	if (!fit_axis(inf, name, rank, &attr->u.i))
		return false;
	*axis = (int)attr->u.i;
	return true;
}

static int64_t *new_ints(struct tn_infer *inf, struct tn_attr *attr, int count)
{
	int64_t *ints = tn_arena_array(&inf->module->arena,
				       (size_t)count + 1, sizeof(*ints));

	if (!ints) {
		inf->module->failed = true;
		return NULL;
	}
	attr->is_set = true;
	return ints;
}

bool tn_infer_axes(struct tn_infer *inf, const char *name, int rank)
{
	struct tn_attr *attr = tn_infer_attr(inf, name);
	int count = attr->is_set ? attr->count : rank;
	bool was_set = attr->is_set, seen[TN_MAX_RANK] = { false };
	int64_t *axes;
	int i;

	if (count > rank)
		return tn_infer_fail(inf, TN_E0314, "%s= of '%s' names %d "
				     "axes of %d", name, inf->info->name,
				     count, rank);
	axes = new_ints(inf, attr, count);
	if (!axes)
		return false;
	for (i = 0; i < count; i++) {
		axes[i] = was_set ? attr->u.ints[i] : i;
		if (!fit_axis(inf, name, rank, &axes[i]))
			return false;
		if (seen[axes[i]])
			return tn_infer_fail(inf, TN_E0314, "%s= of '%s' names "
					     "axis %lld twice", name,
					     inf->info->name,
					     (long long)axes[i]);
		seen[axes[i]] = true;
	}
	attr->u.ints = axes;
	attr->count = count;
	return true;
}

static bool wrong_length(struct tn_infer *inf, const char *name, int have,
			 int want)
{
	return tn_infer_fail(inf, TN_E0506, "%s= of '%s' needs %d entries, "
			     "one an axis, or one number; it has %d", name,
			     inf->info->name, want, have);
}

bool tn_infer_ints(struct tn_infer *inf, const char *name, int count,
		   int64_t least)
{
	struct tn_attr *attr = tn_infer_attr(inf, name);
	const int64_t *given = attr->u.ints;
	int64_t *ints;
	int i;

	if (attr->count != count && attr->count != 1)
		return wrong_length(inf, name, attr->count, count);
	ints = new_ints(inf, attr, count);
	if (!ints)
		return false;
	for (i = 0; i < count; i++) {
		ints[i] = given[attr->count == 1 ? 0 : i];
		if (ints[i] < least)
			return tn_infer_fail(inf, TN_E0505, "%s= of '%s' must "
					     "be at least %lld, not %lld",
					     name, inf->info->name,
					     (long long)least,
					     (long long)ints[i]);
	}
	attr->u.ints = ints;
	attr->count = count;
	return true;
}

static bool check_pad(struct tn_infer *inf, const char *name,
		      const struct tn_dim *dim)
{
	const struct tn_dim *zero = tn_infer_const(inf, 0);

	if (!tn_infer_made(inf, zero))
		return false;
	if (tn_infer_le(inf, zero, dim))
		return true;
	return tn_infer_fail(inf, TN_E0505, "%s= of '%s' must not be "
			     "negative: %s; `slice` crops", name,
			     inf->info->name, tn_infer_dim_text(inf, dim));
}

bool tn_infer_pairs(struct tn_infer *inf, const char *name, int count)
{
	struct tn_attr *attr = tn_infer_attr(inf, name);
	const struct tn_dim **dims;
	int i;

	if (attr->count != 2 * count && attr->count != 1)
		return wrong_length(inf, name, attr->count / 2, count);
	dims = tn_arena_array(&inf->module->arena, 2 * (size_t)count + 1,
			      sizeof(*dims));
	if (!dims) {
		inf->module->failed = true;
		return false;
	}
	for (i = 0; i < 2 * count; i++) {
		dims[i] = attr->u.dims[attr->count == 1 ? 0 : i];
		if (!tn_infer_made(inf, dims[i]) ||
		    !check_pad(inf, name, dims[i]))
			return false;
	}
	attr->u.dims = dims;
	attr->count = 2 * count;
	return true;
}

bool tn_infer_word(struct tn_infer *inf, const char *name,
		   const char *const *words)
{
	struct tn_attr *attr = tn_infer_attr(inf, name);
	struct tn_diag *diag;
	struct tn_buf buf;
	int i;

	for (i = 0; words[i]; i++) {
		if (strcmp(words[i], attr->u.s) == 0)
			return true;
	}
	diag = tn_infer_report(inf, TN_E0505, "%s= of '%s' cannot be \"%s\"",
			       name, inf->info->name, attr->u.s);
	tn_buf_init(&buf);
	for (i = 0; words[i]; i++)
		tn_buf_putf(&buf, "%s\"%s\"", i ? ", " : "", words[i]);
	tn_diag_help(inf->module->sink, diag, "one of %s", tn_buf_text(&buf));
	tn_buf_fini(&buf);
	return false;
}

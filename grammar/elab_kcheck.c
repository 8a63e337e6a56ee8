/*
 * What is said of indices of kernels that leave their buffers, or that nothing
 * shows to stay inside.
 */
#include "grammar/elab_kernel.h"

#include "ir/kernel_check.h"

static struct tn_span place_of(const struct kctx *k,
			       const struct tn_kaccess *access)
{
	const struct tn_expr *expr = tn_map_find(&k->places, access->where);

	return expr ? expr->u.index.at[access->axis]->span : k->kernel->span;
}

/* "it runs from 1 to N", as far as it is known. */
static void put_range(struct tn_buf *out, const struct tn_kaccess *access)
{
	tn_buf_put(out, "it ");
	if (!access->lo && !access->hi)
		tn_buf_put(out, "may be anything, for all that is known here");
	else if (access->lo == access->hi)
		tn_buf_put(out, "is ");
	else if (access->lo && access->hi)
		tn_buf_put(out, "runs from ");
	else
		tn_buf_put(out, access->lo ? "is at least " : "is at most ");
	if (access->lo)
		tn_dim_print(out, access->lo);
	if (access->lo && access->hi && access->lo != access->hi)
		tn_buf_put(out, " to ");
	if (access->hi && access->lo != access->hi)
		tn_dim_print(out, access->hi);
	if (access->lo != access->hi && (!access->lo || !access->hi))
		tn_buf_putf(out, "; nothing bounds it from %s",
			    access->lo ? "above" : "below");
}

/* "axis 0 of 'x', which has N elements" */
static void put_axis(struct tn_buf *out, const struct tn_kaccess *access)
{
	tn_buf_putf(out, "axis %d of '%s', which has ", access->axis,
		    access->buf->name);
	tn_dim_print(out, access->buf->dims[access->axis]);
	tn_buf_put(out, tn_dim_is(access->buf->dims[access->axis], 1) ?
		   " element" : " elements");
}

static void report_outside(struct kctx *k, const struct tn_kaccess *access,
			   const char *index, const char *axis,
			   const char *range)
{
	bool is_plain = access->index->kind == TN_KEXPR_INT;
	struct tn_sink *sink = k->e->sink;
	struct tn_diag *diag;

	if (is_plain && access->index->i < 0 &&
	    !tn_dim_is_const(access->buf->dims[access->axis])) {
		tn_diag_report(sink, TN_E0803, place_of(k, access),
			       "index %s of '%s' is negative", index,
			       access->buf->name);
		return;
	}
	diag = tn_diag_report(sink, TN_E0803, place_of(k, access),
			      is_plain ? "index %s is outside of %s" :
			      "index `%s` goes outside of %s", index, axis);
	if (is_plain)
		return;
	if (access->lo || access->hi)
		tn_diag_note(sink, diag, "%s", range);
	tn_diag_note(sink, diag, "%s%s it is %lld",
		     *access->witness.text ? "with " : "in every turn",
		     access->witness.text, (long long)access->witness.value);
}

static void report_unknown(struct kctx *k, const struct tn_kaccess *access,
			   const char *index, const char *axis,
			   const char *range)
{
	bool is_short = access->index->kind != TN_KEXPR_OP;
	struct tn_sink *sink = k->e->sink;
	struct tn_buf extent;
	struct tn_diag *diag;

	diag = tn_diag_report(sink, TN_E0805, place_of(k, access),
			      "index `%s` is not proved to be inside of %s",
			      index, axis);
	tn_diag_note(sink, diag, "%s", range);
	tn_buf_init(&extent);
	tn_dim_print(&extent, access->buf->dims[access->axis]);
	tn_diag_help(sink, diag, "clamp it to what the axis has, min(max(%s, "
		     "0), %s - 1), guard the access with `if`, or annotate "
		     "the kernel @unchecked", is_short ? index : "..",
		     tn_buf_text(&extent));
	tn_buf_fini(&extent);
}

static void report(void *data, const struct tn_kaccess *access)
{
	struct tn_buf index, axis, range;
	struct kctx *k = data;

	if (access->verdict == TN_KACCESS_INSIDE ||
	    k->e->module->arena.failed)
		return;
	tn_buf_init(&index);
	tn_buf_init(&axis);
	tn_buf_init(&range);
	tn_kexpr_print(&index, access->index);
	put_axis(&axis, access);
	put_range(&range, access);
	(access->verdict == TN_KACCESS_OUTSIDE ? report_outside :
	 report_unknown)(k, access, tn_buf_text(&index), tn_buf_text(&axis),
			 tn_buf_text(&range));
	tn_buf_fini(&index);
	tn_buf_fini(&axis);
	tn_buf_fini(&range);
}

void elab_kernel_check(struct kctx *k)
{
	if (!tn_kernel_settle(k->kernel) ||
	    !tn_kernel_check(k->kernel, report, k))
		k->e->module->failed = true;
}

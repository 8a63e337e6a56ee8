/*
 * What handlers ask of their node, and how they say an operator.
 */
#include <stdarg.h>
#include <string.h>

#include "base/num.h"
#include "importers/onnx/onnx.h"
#include "ir/graph_edit.h"
#include "ir/print.h"

/* Names in one text. */
#define GIVEN 64

/* ---- Messages ---------------------------------------------------------------- */

static struct tn_diag *report(struct tn_onnx *n, enum tn_code code,
			      const char *format, va_list args)
{
	const char *name = n->node->name;
	const char *text = tn_arena_vprintf(&n->job->arena, format, args);

	n->failed = true;
	return tn_diag_report(n->job->host->sink, code, n->span,
			      "%s%s%s%s: %s", n->node->op ? n->node->op : "?",
			      name && name[0] ? " '" : "",
			      name && name[0] ? name : "",
			      name && name[0] ? "'" : "",
			      text ? text : "out of memory");
}

/* What has failed says no more, nor what stands around too many nodes. */
static bool is_silent(struct tn_onnx *n)
{
	n->failed |= n->job->is_over;
	return n->failed;
}

void tn_onnx_report(struct tn_onnx *n, enum tn_code code, const char *format,
		    ...)
{
	va_list args;

	if (is_silent(n))
		return;
	va_start(args, format);
	report(n, code, format, args);
	va_end(args);
	n->job->is_bad = true;
}

void tn_onnx_refuse(struct tn_onnx *n, const char *format, ...)
{
	va_list args;

	if (is_silent(n))
		return;
	va_start(args, format);
	report(n, TN_E1004, format, args);
	va_end(args);
	n->job->is_unsupported = true;
}

/* Operators that an operand is made of, at most, for a message. */
#define MADE_OF 256
/* Inputs that a message names. */
#define NAMED 3

/* The inputs of the graph that a value is made of. */
struct origins {
	const struct tn_value *list[MADE_OF];
	int count;
	struct tn_buf names;
	int nnames;
};

static void add_origin(struct origins *o, const struct tn_value *value)
{
	int i;

	for (i = 0; i < o->count; i++)
		if (o->list[i] == value)
			return;
	if (o->count < MADE_OF)
		o->list[o->count++] = value;
}

static void find_origins(struct tn_onnx *n, struct origins *o)
{
	const struct tn_value *value;
	int at, i;

	for (at = 0; at < o->count; at++) {
		value = o->list[at];
		for (i = 0; value->op && i < value->op->nin; i++)
			add_origin(o, tn_graph_in(value->op, i));
		if (value->op || value->block != n->job->fn->body ||
		    o->nnames == NAMED)
			continue;
		tn_buf_putf(&o->names, "%s--fix=%s=VALUE",
			    o->nnames++ ? ", " : "", value->name);
	}
}

/* The few numbers among the operands that nobody knows: of the kind. */
static void add_unknown(struct tn_onnx *n, struct origins *o, unsigned kind)
{
	const struct tn_value *value;
	int i;

	for (i = 0; i < n->nin; i++) {
		value = n->in[i]->kind == ONNX_TENSOR ? n->in[i]->v : NULL;
		if (value && value->type->dtype < TN_DTYPE_COUNT &&
		    tn_dtype_is(value->type->dtype, kind) &&
		    value->type->rank < 2 && !tn_onnx_known(n->job, value))
			add_origin(o, value);
	}
}

/* Whole numbers decide a shape, or if there are none, others. */
static void help_fix(struct tn_onnx *n, struct tn_diag *diag)
{
	struct origins o = { .count = 0 };

	tn_buf_init(&o.names);
	add_unknown(n, &o, TN_KIND_ANY & ~(unsigned)TN_KIND_F);
	if (!o.count)
		add_unknown(n, &o, TN_KIND_F);
	find_origins(n, &o);
	if (o.nnames)
		tn_diag_help(n->job->host->sink, diag, "it can be given at "
			     "import: %s", tn_buf_text(&o.names));
	tn_buf_fini(&o.names);
}

void tn_onnx_unknown(struct tn_onnx *n, const char *format, ...)
{
	struct tn_diag *diag;
	va_list args;

	if (is_silent(n))
		return;
	va_start(args, format);
	diag = report(n, TN_E1004, format, args);
	va_end(args);
	n->job->is_unsupported = true;
	help_fix(n, diag);
}

/* ---- Inputs ------------------------------------------------------------------- */

bool tn_onnx_has(const struct tn_onnx *n, int i)
{
	return i < n->nin && n->in[i]->kind != ONNX_ABSENT;
}

struct tn_value *tn_onnx_in(struct tn_onnx *n, int i)
{
	if (!tn_onnx_has(n, i)) {
		tn_onnx_report(n, TN_E1012, "input %d is missing", i);
		return NULL;
	}
	if (n->in[i]->kind == ONNX_POISON) {
		n->failed = true;
		return NULL;
	}
	if (n->in[i]->kind != ONNX_TENSOR) {
		tn_onnx_refuse(n, "input %d is no tensor", i);
		return NULL;
	}
	if (!tn_onnx_make(n->job, n->in[i])) {
		n->failed = true;
		return NULL;
	}
	return n->in[i]->v;
}

/* ---- Sizes --------------------------------------------------------------------- */

struct tn_dim_pool *tn_onnx_pool(const struct tn_onnx *n)
{
	return &n->job->module->dims;
}

const struct tn_dim *tn_onnx_number(const struct tn_onnx *n, int64_t value)
{
	return tn_dim_const(tn_onnx_pool(n), value);
}

const char *tn_onnx_fresh(struct tn_onnx *n)
{
	struct tn_onnx_job *job = n->job;
	const char *name;

	do {
		name = tn_arena_printf(&job->arena, "found_%d",
				       ++job->nfresh);
		name = name ? tn_intern_text(job->module->names, name) : NULL;
	} while (name && (tn_map_has(&job->module->dim_names, name) ||
			  tn_map_has(&job->fn->names, name)));
	return name ? name : "found";
}

struct tn_value *tn_onnx_counted(struct tn_onnx *n, struct tn_value *count,
				 const struct tn_dim *most)
{
	struct tn_value *is = count ? tn_onnx_text(n, "iota([%d], axis=0) < "
					"cast(%v, i64)", most, count) : NULL;

	return is ? tn_onnx_places(n, is, most) : NULL;
}

struct tn_value *tn_onnx_length(struct tn_onnx *n, int i,
				struct tn_value *count)
{
	struct tn_onnx_job *job = n->job;
	const char *name = i < n->nout ? n->node->outputs.at[i] : "";
	struct tn_value *out = NULL;
	struct tn_buf quoted;
	int64_t lo, hi;

	name = tn_arena_printf(&job->arena, "%s_0", name);
	if (!name || !count)
		return NULL;
	tn_onnx_bounds(job, name, &lo, &hi);
	name = tn_intern_text(job->module->names, name);
	if (!name || tn_map_has(&job->module->dim_names, name) ||
	    tn_map_has(&job->fn->names, name))
		name = tn_onnx_fresh(n);
	tn_buf_init(&quoted);
	tn_print_name(&quoted, name);
	if (!quoted.failed)
		out = tn_onnx_text(n, "n = cast(%v, i64); assert(n <= %i, "
			"message=\"the length is beyond its bounds\"); "
			"dim %s in [0, %i]; i: i64[%s] = nonzero(iota([%i]) < "
			"n); return i", count, hi, tn_buf_text(&quoted), hi,
			tn_buf_text(&quoted), hi);
	tn_buf_fini(&quoted);
	return out;
}

int tn_onnx_axis(struct tn_onnx *n, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank) {
		tn_onnx_report(n, TN_E1012, "axis %lld of %d axes",
			       (long long)axis, rank);
		return -1;
	}
	return (int)(axis < 0 ? axis + rank : axis);
}

static bool are_known(int rank, const struct tn_dim *const *dims)
{
	int i;

	for (i = 0; i < rank; i++)
		if (!dims[i])
			return false;
	return true;
}

bool tn_onnx_result(struct tn_onnx *n, int i, enum tn_dtype *dtype,
		    int *rank, const struct tn_dim **dims)
{
	const char *name = (size_t)i < n->node->outputs.len ?
		n->node->outputs.at[i] : "";

	*dtype = TN_POISON;
	if (!name[0])
		return false;
	if (tn_onnx_declared(n->job, tn_map_find(&n->scope->infos, name),
			     dtype, rank, dims) && are_known(*rank, dims))
		return true;
	return tn_onnx_shape_dims(n->job, tn_map_find(&n->scope->hints, name),
				  rank, dims) && are_known(*rank, dims);
}

/* ---- Texts ---------------------------------------------------------------------- */

struct saying {
	struct tn_onnx *n;
	struct tn_buf text;
	struct tn_given given[GIVEN];
	int count;
	bool failed;
};

static void put_given(struct saying *s, struct tn_value *value,
		      const struct tn_dim *dim)
{
	struct tn_given *given = &s->given[s->count];
	char name[16] = "g00";

	if ((!value && !dim) || s->count == GIVEN) {
		s->failed = true;
		return;
	}
	name[1] = (char)('0' + s->count / 10);
	name[2] = (char)('0' + s->count % 10);
	given->name = tn_intern_text(s->n->job->module->names, name);
	given->value = value;
	given->dim = dim;
	s->count++;
	tn_buf_put(&s->text, name);
}

static void put_dim(struct saying *s, const struct tn_dim *dim)
{
	if (dim && tn_dim_is_const(dim))
		tn_buf_putf(&s->text, "%lld", (long long)dim->value);
	else
		put_given(s, NULL, dim);
}

static void put_float(struct tn_buf *buf, double value)
{
	char text[40];

	if ((double)(float)value == value)
		tn_num_print_f32((float)value, text);
	else
		tn_num_print_f64(value, text);
	tn_buf_put(buf, text);
}

static void put_ints(struct tn_buf *buf, int count, const int64_t *ints)
{
	int i;

	tn_buf_putc(buf, '[');
	for (i = 0; i < count; i++)
		tn_buf_putf(buf, "%s%lld", i ? ", " : "", (long long)ints[i]);
	tn_buf_putc(buf, ']');
}

static void put_dims(struct saying *s, int count,
		     const struct tn_dim *const *dims)
{
	int i;

	tn_buf_putc(&s->text, '[');
	for (i = 0; i < count; i++) {
		tn_buf_put(&s->text, i ? ", " : "");
		if (dims[i])
			put_dim(s, dims[i]);
		else
			tn_buf_putc(&s->text, '_');
	}
	tn_buf_putc(&s->text, ']');
}

static void put_pairs(struct saying *s, int count,
		      const struct tn_dim *const *lo,
		      const struct tn_dim *const *hi)
{
	int i;

	tn_buf_putc(&s->text, '[');
	for (i = 0; i < count; i++) {
		tn_buf_put(&s->text, i ? ", [" : "[");
		put_dim(s, lo[i]);
		tn_buf_put(&s->text, ", ");
		put_dim(s, hi[i]);
		tn_buf_putc(&s->text, ']');
	}
	tn_buf_putc(&s->text, ']');
}

static void put_argument(struct saying *s, char kind, va_list *args)
{
	const struct tn_dim *const *dims;
	int count;

	switch (kind) {
	case 'v':
		put_given(s, va_arg(*args, struct tn_value *), NULL);
		break;
	case 'd':
		put_dim(s, va_arg(*args, const struct tn_dim *));
		break;
	case 'i':
		tn_buf_putf(&s->text, "%lld",
			    (long long)va_arg(*args, int64_t));
		break;
	case 'f':
		put_float(&s->text, va_arg(*args, double));
		break;
	case 's':
		tn_buf_put(&s->text, va_arg(*args, const char *));
		break;
	case 't':
		tn_buf_put(&s->text,
			   tn_dtype_name(va_arg(*args, enum tn_dtype)));
		break;
	case 'I':
		count = va_arg(*args, int);
		put_ints(&s->text, count, va_arg(*args, const int64_t *));
		break;
	case 'D':
		count = va_arg(*args, int);
		put_dims(s, count, va_arg(*args, const struct tn_dim *const *));
		break;
	case 'P':
		count = va_arg(*args, int);
		dims = va_arg(*args, const struct tn_dim *const *);
		put_pairs(s, count, dims,
			  va_arg(*args, const struct tn_dim *const *));
		break;
	default:
		tn_buf_putc(&s->text, kind);
		break;
	}
}

static void put_text(struct saying *s, const char *text, va_list *args)
{
	for (; *text; text++) {
		if (*text != '%' || !text[1] || strchr(" ,)", text[1]))
			tn_buf_putc(&s->text, *text);
		else
			put_argument(s, *++text, args);
	}
}

/* Ops behind `before` are the node's. */
static void adopt(struct tn_onnx *n, struct tn_op *before)
{
	struct tn_op *op = before ? before->next : n->scope->block->first;

	for (; op; op = op->next) {
		op->span = n->span;
		tn_onnx_note(n->job, op);
	}
}

/* The first symbols of two inputs that meet, axis by axis from the last one, and
 * are not one; false: there are none. */
static bool symbols_that_meet(const struct tn_onnx *n,
			      const struct tn_dim **a, const struct tn_dim **b)
{
	const struct tn_type *x, *y;
	int i, k, axis;

	for (i = 0; i < n->nin; i++)
		for (k = i + 1; k < n->nin; k++) {
			if (n->in[i]->kind != ONNX_TENSOR || !n->in[i]->v ||
			    n->in[k]->kind != ONNX_TENSOR || !n->in[k]->v)
				continue;
			x = n->in[i]->v->type;
			y = n->in[k]->v->type;
			for (axis = 1; axis <= x->rank && axis <= y->rank;
			     axis++) {
				*a = x->dims[x->rank - axis];
				*b = y->dims[y->rank - axis];
				if (*a != *b && (*a)->sym && (*b)->sym)
					return true;
			}
		}
	return false;
}

/* What the language says of a text, and a way out if sizes do not fit. */
static void tell(struct tn_onnx *n, const char *why)
{
	struct tn_sink *sink = n->job->host->sink;
	const struct tn_dim *a, *b;

	tn_onnx_report(n, TN_E1012, "%s", why);
	if (strstr(why, "cannot combine") && sink->diags.len &&
	    symbols_that_meet(n, &a, &b))
		tn_diag_help(sink, tn_vec_ptr(&sink->diags,
					      sink->diags.len - 1),
			     "if '%s' and '%s' are one size, say so: "
			     "--bounds=%s=%s", a->sym->name, b->sym->name,
			     b->sym->name, a->sym->name);
}

static bool say(struct saying *s, int count, struct tn_value **out)
{
	struct tn_onnx *n = s->n;
	struct tn_op *before = n->scope->block->last;
	struct tn_text text = { tn_buf_text(&s->text), s->count, s->given };
	struct tn_buf why;
	int got = -1;

	tn_buf_init(&why);
	if (!s->failed && !s->text.failed)
		got = n->job->host->text(n->job->host->host, n->scope->block,
					 &text, count, out, &why);
	if (got < 0 && !n->failed && (why.len || s->text.failed))
		tell(n, why.len ? tn_buf_text(&why) : "out of memory");
	n->failed |= got < 0;
	tn_buf_fini(&why);
	adopt(n, before);
	return got == count;
}

bool tn_onnx_texts(struct tn_onnx *n, int count, struct tn_value **out,
		   const char *text, ...)
{
	struct saying s = { .n = n };
	va_list args;
	bool ok = false;

	va_start(args, text);
	tn_buf_init(&s.text);
	if (!n->failed) {
		put_text(&s, text, &args);
		ok = say(&s, count, out);
	}
	tn_buf_fini(&s.text);
	va_end(args);
	n->failed |= !ok;
	return ok;
}

static struct tn_value *one_text(struct tn_onnx *n, const char *text,
				 va_list *args)
{
	struct saying s = { .n = n };
	struct tn_value *out = NULL;

	tn_buf_init(&s.text);
	if (!n->failed) {
		put_text(&s, text, args);
		if (!say(&s, 1, &out))
			out = NULL;
	}
	tn_buf_fini(&s.text);
	n->failed |= !out;
	return out;
}

struct tn_value *tn_onnx_text(struct tn_onnx *n, const char *text, ...)
{
	struct tn_value *out;
	va_list args;

	va_start(args, text);
	out = one_text(n, text, &args);
	va_end(args);
	return out;
}

void tn_onnx_is(struct tn_onnx *n, const char *text, ...)
{
	struct tn_value *out;
	va_list args;

	va_start(args, text);
	out = one_text(n, text, &args);
	va_end(args);
	tn_onnx_give(n, 0, out);
}

/* ---- Results --------------------------------------------------------------------- */

void tn_onnx_give(struct tn_onnx *n, int i, struct tn_value *value)
{
	struct tn_onnx_value *out;

	if (!value || n->failed) {
		n->failed = true;
		return;
	}
	if (i >= n->nout)
		return;
	out = tn_onnx_new(n->job, ONNX_TENSOR, NULL);
	if (!out) {
		n->failed = true;
		return;
	}
	out->v = value;
	n->out[i] = out;
}

/* ---- Rows of text ------------------------------------------------------------------ */

static void put_default(struct saying *s, const char *name, size_t len,
			const char *fallback, size_t fallback_len)
{
	const char *key = tn_arena_strndup(&s->n->job->arena, name, len);
	const struct onnx_attr *attr = key ? tn_onnx_attr(s->n, key) : NULL;
	const int64_t *list;

	if (!attr)
		tn_buf_putn(&s->text, fallback, fallback_len);
	else if (*fallback == '[' && tn_onnx_list(s->n, key, &list) >= 0)
		put_ints(&s->text, (int)attr->ints.len, list);
	else if (memchr(fallback, '.', fallback_len))
		put_float(&s->text, tn_onnx_float(s->n, key, 0));
	else if (*fallback != '[')
		tn_buf_putf(&s->text, "%lld",
			    (long long)tn_onnx_int(s->n, key, 0));
}

/* x0, x1.. are given, {name:default} replaced. */
void tn_onnx_row_text(struct tn_onnx *n)
{
	struct saying s = { .n = n };
	const char *at = n->row->text, *colon, *end;
	struct tn_value *out = NULL;
	int i;

	tn_buf_init(&s.text);
	for (; *at; at++) {
		if (*at != '{') {
			tn_buf_putc(&s.text, *at);
			continue;
		}
		end = strchr(at, '}');
		colon = strchr(at, ':');
		put_default(&s, at + 1, (size_t)(colon - at - 1), colon + 1,
			    (size_t)(end - colon - 1));
		at = end;
	}
	for (i = 0; i < n->nin && i < 10; i++) {
		char name[4] = "x0";

		if (!tn_onnx_has(n, i))
			continue;
		name[1] = (char)('0' + i);
		s.given[s.count].name =
			tn_intern_text(n->job->module->names, name);
		s.given[s.count].value = tn_onnx_in(n, i);
		s.failed |= !s.given[s.count++].value;
	}
	if (!n->failed && !s.failed && say(&s, 1, &out))
		tn_onnx_give(n, 0, out);
	n->failed |= !out;
	tn_buf_fini(&s.text);
}

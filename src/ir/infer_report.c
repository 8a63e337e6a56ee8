/*
 * Reports of inference: what was written, the types of all operands, and
 * where the dims in question were declared.
 */
#include "ir/infer_rules.h"

#include <stdarg.h>

const char *tn_infer_type_text(struct tn_module *module,
			       const struct tn_type *type)
{
	struct tn_buf buf;
	const char *text = NULL;

	tn_buf_init(&buf);
	tn_type_print(&buf, type);
	if (!buf.failed)
		text = tn_arena_strndup(&module->arena, tn_buf_text(&buf),
					buf.len);
	tn_buf_fini(&buf);
	return text ? text : "?";
}

const char *tn_infer_dim_text(struct tn_infer *inf, const struct tn_dim *dim)
{
	struct tn_buf buf;
	const char *text = NULL;

	tn_buf_init(&buf);
	tn_dim_print(&buf, dim);
	if (!buf.failed)
		text = tn_arena_strndup(&inf->module->arena,
					tn_buf_text(&buf), buf.len);
	tn_buf_fini(&buf);
	return text ? text : "?";
}

static bool is_inside(struct tn_span inner, struct tn_span outer)
{
	return inner.file == outer.file && inner.file != 0 &&
	       inner.begin >= outer.begin && inner.end <= outer.end;
}

static void show_operands(struct tn_infer *inf, struct tn_diag *diag)
{
	struct tn_sink *sink = inf->module->sink;
	int shown = inf->op->nin < 6 ? inf->op->nin : 6;
	int i;

	for (i = 0; i < shown; i++) {
		const struct tn_value *value = inf->op->in[i].value;
		const char *text =
			tn_infer_type_text(inf->module, value->type);

		if (is_inside(value->span, inf->op->span))
			tn_diag_also(sink, diag, value->span, "%s", text);
		else
			tn_diag_note(sink, diag, "operand %d, `%s`: %s",
				     i + 1, value->name ? value->name : "_",
				     text);
	}
	if (shown < inf->op->nin)
		tn_diag_note(sink, diag, "and %d more operands",
			     inf->op->nin - shown);
}

static struct tn_diag *report(struct tn_infer *inf, enum tn_code code,
			      const char *format, va_list args)
{
	const char *text =
		tn_arena_vprintf(&inf->module->arena, format, args);
	struct tn_diag *diag =
		tn_diag_report(inf->module->sink, code, inf->op->span, "%s",
			       text ? text : "out of memory");

	show_operands(inf, diag);
	return diag;
}

struct tn_diag *tn_infer_report(struct tn_infer *inf, enum tn_code code,
				const char *format, ...)
{
	va_list args;
	struct tn_diag *diag;

	va_start(args, format);
	diag = report(inf, code, format, args);
	va_end(args);
	return diag;
}

bool tn_infer_fail(struct tn_infer *inf, enum tn_code code,
		   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(inf, code, format, args);
	va_end(args);
	return false;
}

struct note {
	struct tn_infer *inf;
	struct tn_diag *diag;
};

static void note_symbol(void *data, const struct tn_dim *dim)
{
	struct note *note = data;
	struct tn_sink *sink = note->inf->module->sink;
	const struct tn_sym *sym = dim->sym;

	if (sym->span.file)
		tn_diag_also(sink, note->diag, sym->span,
			     "%s in [%lld, %lld] is declared here", sym->name,
			     (long long)sym->lo, (long long)sym->hi);
	else
		tn_diag_note(sink, note->diag, "%s is in [%lld, %lld]",
			     sym->name, (long long)sym->lo,
			     (long long)sym->hi);
}

void tn_infer_note_dim(struct tn_infer *inf, struct tn_diag *diag,
		       const struct tn_dim *dim)
{
	struct note note = { inf, diag };

	tn_dim_each_sym(dim, note_symbol, &note);
}

/*
 * The words of an `assert`: an attribute of the operator, and after lowering
 * an annotation of the kernel that it became, @message("..").
 */
#include <string.h>

#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/print.h"

bool tn_message_keep(struct tn_kernel *kernel, const struct tn_op *op)
{
	const struct tn_attr *attr = tn_graph_attr(op, "message");
	struct tn_module *module = kernel->module;
	struct tn_buf quoted;
	const char *args;
	bool ok;

	if (!attr || !attr->is_set || !attr->u.s[0])
		return true;
	tn_buf_init(&quoted);
	tn_print_string(&quoted, attr->u.s);
	args = quoted.failed ? NULL :
		tn_arena_strndup(&module->arena, tn_buf_text(&quoted),
				 quoted.len);
	ok = args && tn_annots_add(module, &kernel->annots,
				   tn_intern_text(module->names, "message"),
				   args, op->span);
	tn_buf_fini(&quoted);
	return ok;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = strchr(digits, c);

	return c && at ? (int)(at - digits) : -1;
}

/* What stands behind a backslash in canonical text, where only control
 * characters are written by number; the text behind it. */
static const char *put_escape(struct tn_buf *out, const char *at)
{
	int code = 0;

	if (at[0] != 'u' || at[1] != '{') {
		tn_buf_putc(out, *at == 'n' ? '\n' : *at == 't' ? '\t' :
			    *at == 'r' ? '\r' : *at);
		return *at ? at + 1 : at;
	}
	for (at += 2; hex_digit(*at) >= 0; at++)
		code = (code * 16 + hex_digit(*at)) & 0xff;
	tn_buf_putc(out, (char)code);
	return *at == '}' ? at + 1 : at;
}

static const char *unquoted(struct tn_arena *arena, const char *text)
{
	struct tn_buf out;
	const char *copy;

	tn_buf_init(&out);
	for (text += *text == '"'; *text && *text != '"'; ) {
		if (*text == '\\')
			text = put_escape(&out, text + 1);
		else
			tn_buf_putc(&out, *text++);
	}
	copy = out.failed ? NULL :
		tn_arena_strndup(arena, tn_buf_text(&out), out.len);
	if (!copy)
		arena->failed = true;
	tn_buf_fini(&out);
	return copy;
}

const char *tn_message_of(struct tn_arena *arena, const struct tn_op *op)
{
	const struct tn_annot *annot = NULL;
	const struct tn_attr *attr;

	if (op->code == TN_OP_assert) {
		attr = tn_graph_attr(op, "message");
		return attr && attr->is_set && attr->u.s[0] ? attr->u.s :
			NULL;
	}
	if (op->code == TN_OP_launch)
		annot = tn_annots_find(&op->kernel->annots, "message");
	return annot && annot->args ? unquoted(arena, annot->args) : NULL;
}

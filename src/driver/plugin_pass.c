/*
 * Passes of plug-ins: one run, and what it may do to the graph.
 *
 * All changes go through the rewriter. What a plug-in asks for is checked
 * first, so that a mistake of its is a message and not a broken graph; what
 * only the whole graph can tell (a value read before it is computed) is left to
 * the verifier, which runs after each such pass.
 */
#include <stdarg.h>
#include <string.h>

#include "driver/plugin.h"
#include "ir/builder.h"

struct tenon_pass {
	struct tn_pass_context *context;
	const struct tn_plugin_pass *of;
	bool has_failed;
};

static const struct tn_span nowhere;

/* The first mistake counts; nothing is done after it. */
static void fail(struct tenon_pass *pass, const struct tn_op *op,
		 const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void fail(struct tenon_pass *pass, const struct tn_op *op,
		 const char *format, ...)
{
	struct tn_module *module;
	struct tn_buf text;
	va_list args;

	if (!pass || pass->has_failed)
		return;
	pass->has_failed = true;
	module = pass->context->module;
	if (module->arena.failed) {
		module->failed = true;
		return;
	}
	tn_buf_init(&text);
	va_start(args, format);
	tn_buf_vputf(&text, format, args);
	va_end(args);
	tn_diag_report(module->sink, TN_E0044, op ? op->span : nowhere,
		       "pass '%s' of plug-in %s: %s", pass->of->pass.name,
		       pass->of->plugin->table->name, tn_buf_text(&text));
	if (text.failed)
		module->sink->failed = true;
	tn_buf_fini(&text);
}

static bool is_off(const struct tenon_pass *pass)
{
	return !pass || pass->has_failed;
}

enum tn_pass_result tn_plugin_run(struct tn_pass_context *context)
{
	struct tenon_pass pass = { .context = context,
				   .of = context->pass->data };
	int64_t spent = context->rw->spent;
	uint64_t epoch = context->module->epoch;
	bool changed;

	pass.of->row->run(&pass);
	changed = context->module->epoch != epoch;
	if (changed && context->rw->spent == spent)
		fail(&pass, NULL, "it changed the graph and did not ask "
		     "tenon_pass_spend before");
	if (pass.has_failed || context->module->failed || context->rw->failed)
		return TN_PASS_FAILED;
	return changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}

/* ---- Asking ------------------------------------------------------------- */

const char *tenon_pass_fn(const struct tenon_pass *pass)
{
	return pass ? pass->context->entry->name : NULL;
}

struct tenon_op *tenon_pass_first(const struct tenon_pass *pass)
{
	return is_off(pass) ? NULL :
		tn_plugin_out_op(pass->context->entry->body->first);
}

int64_t tenon_pass_option(const struct tenon_pass *pass, int64_t fallback)
{
	const char *option = pass ? pass->of->row->option : NULL;

	return option ? tn_pass_option(pass->context, option, fallback) :
		fallback;
}

bool tenon_pass_may(const struct tenon_pass *pass, const char *words)
{
	const struct tn_rule rule = { .licence = TN_RULE_FP, .fp = words };
	const struct tn_annot *fp;

	if (!pass || !words)
		return false;
	fp = tn_annots_find(&pass->context->entry->annots, "fp");
	return tn_rule_is_licensed(&rule, pass->context->options->fp) ||
	       (fp && tn_rule_is_licensed(&rule, fp->args));
}

/* ---- Telling ------------------------------------------------------------ */

/* Events and bisect keep the words as long as the module. */
static const char *keep(struct tenon_pass *pass, const char *text)
{
	return tn_intern_text(pass->context->module->names, text);
}

bool tenon_pass_spend(struct tenon_pass *pass, const char *what,
		      const struct tenon_op *op)
{
	if (is_off(pass) || !op) {
		fail(pass, NULL, "tenon_pass_spend without an operator");
		return false;
	}
	what = keep(pass, what ? what : pass->of->pass.name);
	return what && tn_rw_spend(pass->context->rw, what, tn_plugin_op(op));
}

void tenon_pass_miss(struct tenon_pass *pass, const char *what,
		     const struct tenon_op *op, const char *why)
{
	if (is_off(pass) || !op || !why)
		return;
	tn_rw_miss(pass->context->rw, what ? what : pass->of->pass.name,
		   tn_plugin_op(op), NULL, "%s", why);
}

void tenon_pass_fail(struct tenon_pass *pass, const struct tenon_op *op,
		     const char *why)
{
	fail(pass, tn_plugin_op(op), "%s", why ? why : "it gave up");
}

/* ---- Building ----------------------------------------------------------- */

/* What is known of a primitive that a plug-in may build, or none. */
static enum tn_opcode primitive(struct tenon_pass *pass,
				const struct tn_op *before, const char *name)
{
	enum tn_opcode code = name ? tn_op_find(name) : TN_OP_none;

	if (code != TN_OP_none && tn_ops[code].op_class != TN_CLASS_FLOW &&
	    code != TN_OP_const)
		return code;
	fail(pass, before, "there is no primitive '%s' to build",
	     name ? name : "");
	return TN_OP_none;
}

/* Inference reports what is wrong with an operator; this says whose it is. */
static struct tenon_value *make(struct tenon_pass *pass, struct tn_op *before,
				enum tn_opcode code, int count,
				struct tn_value *const *inputs, int nattrs,
				const struct tn_attr *attrs)
{
	struct tn_builder builder;
	struct tn_op *op;

	tn_rw_before(pass->context->rw, before, &builder);
	op = tn_build_op(&builder, code, count, inputs, nattrs, attrs,
			 before->span);
	if (op && !builder.failed)
		return tn_plugin_out(op->out[0]);
	if (!pass->context->module->failed)
		fail(pass, before, "it built '%s' of what cannot be",
		     tn_ops[code].name);
	pass->has_failed = true;
	return NULL;
}

struct tenon_value *tenon_build(struct tenon_pass *pass,
				struct tenon_op *before, const char *name,
				int count, struct tenon_value *const *inputs,
				const char *attributes)
{
	struct tn_op *at = tn_plugin_op(before);
	struct tn_attr attrs[TN_PLUGIN_ATTRS];
	struct tn_value *in[64];
	enum tn_opcode code;
	int nattrs, i;

	if (is_off(pass) || !before)
		return NULL;
	code = primitive(pass, at, name);
	if (code == TN_OP_none)
		return NULL;
	for (i = 0; i < count && i < 64; i++) {
		in[i] = tn_plugin_value(inputs[i]);
		if (!in[i])
			break;
	}
	nattrs = tn_plugin_attrs(&pass->context->module->arena, &tn_ops[code],
				 attributes, attrs);
	if (count < 0 || i < count || nattrs < 0) {
		fail(pass, at, nattrs < 0 ? "attributes of '%s' that cannot "
		     "be read" : "no value, or too many, for '%s'", name);
		return NULL;
	}
	return make(pass, at, code, count, in, nattrs, attrs);
}

struct tenon_value *tenon_build_number(struct tenon_pass *pass,
				       struct tenon_op *before,
				       const struct tenon_value *like,
				       double number)
{
	struct tn_builder builder;
	struct tn_tensor tensor;
	uint64_t room = 0;

	if (is_off(pass) || !before || !like)
		return NULL;
	tn_tensor_view(&tensor, tn_plugin_value(like)->type->dtype, 0, NULL,
		       &room);
	tn_tensor_set_f64(&tensor, 0, number);
	tn_rw_before(pass->context->rw, tn_plugin_op(before), &builder);
	return tn_plugin_out(tn_build_const(&builder, &tensor,
					    tn_plugin_op(before)->span));
}

struct tenon_value *tenon_build_shaped(struct tenon_pass *pass,
				       struct tenon_op *before,
				       const char *name,
				       struct tenon_value *value,
				       const struct tenon_value *like)
{
	struct tn_value *in = tn_plugin_value(value);
	const struct tn_type *type;
	enum tn_opcode code;
	struct tn_attr attr;

	if (is_off(pass) || !before || !value || !like)
		return NULL;
	code = primitive(pass, tn_plugin_op(before), name);
	if (code == TN_OP_none)
		return NULL;
	type = tn_plugin_value(like)->type;
	attr = tn_attr_dims("shape", type->rank, type->dims);
	return make(pass, tn_plugin_op(before), code, 1, &in, 1, &attr);
}

/* ---- Changing ----------------------------------------------------------- */

/* Ends of blocks stay; what is defined must be defined by something. */
static bool is_end(const struct tn_op *op)
{
	return op->code == TN_OP_return || op->code == TN_OP_yield;
}

void tenon_replace_all(struct tenon_pass *pass, struct tenon_op *op,
		       int count, struct tenon_value *const *values)
{
	struct tn_op *node = tn_plugin_op(op);
	struct tn_value *with[64];
	int i;

	if (is_off(pass) || !op)
		return;
	if (count != node->nout || count > 64 || is_end(node)) {
		fail(pass, node, "'%s' has %d results, not %d",
		     tenon_op_name(op), node->nout, count);
		return;
	}
	for (i = 0; i < count; i++) {
		with[i] = tn_plugin_value(values[i]);
		if (with[i] && with[i]->type == node->out[i]->type &&
		    with[i]->op != node)
			continue;
		fail(pass, node, "another type, or no value, in place of '%s'",
		     node->out[i]->name);
		return;
	}
	tn_rw_replace(pass->context->rw, node, with);
}

void tenon_replace(struct tenon_pass *pass, struct tenon_op *op,
		   struct tenon_value *value)
{
	tenon_replace_all(pass, op, 1, &value);
}

void tenon_erase(struct tenon_pass *pass, struct tenon_op *op)
{
	struct tn_op *node = tn_plugin_op(op);
	int i;

	if (is_off(pass) || !op)
		return;
	for (i = 0; i < node->nout; i++)
		if (node->out[i]->uses)
			break;
	if (i < node->nout || is_end(node))
		fail(pass, node, "'%s' is still read, or ends its block",
		     i < node->nout ? node->out[i]->name : tenon_op_name(op));
	else
		tn_rw_erase(pass->context->rw, node);
}

void tenon_set_input(struct tenon_pass *pass, struct tenon_op *op, int i,
		     struct tenon_value *value)
{
	struct tn_op *node = tn_plugin_op(op);
	struct tn_value *with = tn_plugin_value(value);

	if (is_off(pass) || !op)
		return;
	if (i < 0 || i >= node->nin || !with ||
	    with->type != tn_graph_in(node, i)->type)
		fail(pass, node, "another type, or no value, as input %d of "
		     "'%s'", i, tenon_op_name(op));
	else
		tn_rw_set_operand(pass->context->rw, node, i, with);
}

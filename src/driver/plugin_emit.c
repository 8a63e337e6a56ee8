/*
 * Back ends of plug-ins: one emission.
 */
#include <stdarg.h>
#include <string.h>

#include "backends/emit.h"
#include "driver/plugin.h"

struct tenon_emission {
	struct tn_emission *out;
	const struct tn_fn *entry;
	const struct tn_plugin_target *of;
	struct tn_buf *file;		/* or NULL: none yet */
	struct tn_names names;
	bool has_failed;
};

static void fail(struct tenon_emission *out, const struct tn_op *op,
		 const char *why)
{
	static const struct tn_span nowhere;

	if (out->has_failed)
		return;
	out->has_failed = true;
	tn_diag_report(out->entry->module->sink, TN_E0044,
		       op ? op->span : nowhere,
		       "target %s of plug-in %s: %s%s%s", out->of->row->name,
		       out->of->plugin->table->name, op ?
		       tenon_op_name(tn_plugin_out_op(op)) : "",
		       op ? ": " : "", why);
}

enum tn_status tn_plugin_emit(const struct tn_module *module,
			      const struct tn_fn *entry, const char *name,
			      const struct tn_target *target,
			      struct tn_emission *out)
{
	struct tenon_emission run = { .out = out, .entry = entry,
				      .of = target->backend->data };
	enum tn_status status;

	(void)module;
	status = run.of->row->has_weights ?
		tn_emission_begin(out, entry, name) :
		tn_emission_open(out, name);
	if (status)
		return status;
	tn_names_init(&run.names, &out->arena);
	run.of->row->emit(&run);
	tn_names_fini(&run.names);
	if (!run.has_failed && !out->count)
		fail(&run, NULL, "it wrote no file");
	if (run.has_failed)
		return out->failed ? TN_IO : TN_UNSUPPORTED;
	return tn_emission_end(out) ? TN_OK : TN_IO;
}

const char *tenon_emission_name(const struct tenon_emission *out)
{
	return out ? out->out->name : NULL;
}

const char *tenon_emission_fn(const struct tenon_emission *out)
{
	return out ? out->entry->name : NULL;
}

int tenon_emission_inputs(const struct tenon_emission *out)
{
	return out ? out->entry->body->nparams : 0;
}

struct tenon_value *tenon_emission_input(const struct tenon_emission *out,
					 int i)
{
	return i >= 0 && i < tenon_emission_inputs(out) ?
		tn_plugin_out(out->entry->body->params[i]) : NULL;
}

struct tenon_op *tenon_emission_first(const struct tenon_emission *out)
{
	return out ? tn_plugin_out_op(out->entry->body->first) : NULL;
}

const char *tenon_emission_identifier(struct tenon_emission *out,
				      const struct tenon_value *value)
{
	const char *name = out && value ?
		tn_names_get(&out->names, value, tenon_value_name(value)) :
		NULL;

	if (out && value && !name)
		out->out->failed = out->has_failed = true;
	return name ? name : "";
}

/* An ending is letters, digits, `_`, `-`, `.`: it names no folder. */
static bool is_ending(const char *text)
{
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
		"XYZ0123456789_-.";

	return text && *text && strspn(text, plain) == strlen(text) &&
	       strcmp(text, ".weights");
}

/* Whether the emission has a file with that ending. */
static bool has_file(const struct tenon_emission *out, const char *ending)
{
	size_t n = strlen(out->out->name);
	int i;

	for (i = 0; i < out->out->count; i++)
		if (!strcmp(out->out->files[i].name + n, ending))
			return true;
	return false;
}

void tenon_emission_file(struct tenon_emission *out, const char *ending)
{
	if (!out || out->has_failed)
		return;
	if (!is_ending(ending) || has_file(out, ending) ||
	    out->out->count == TN_EMISSION_FILES - 1)
		fail(out, NULL, "no ending of a new file");
	else
		out->file = tn_emission_file(out->out, ending);
	if (out->out->failed)
		out->has_failed = true;
}

void tenon_emission_put(struct tenon_emission *out, const char *text)
{
	if (!out || out->has_failed)
		return;
	if (!out->file)
		fail(out, NULL, "text before tenon_emission_file");
	else if (text)
		tn_buf_put(out->file, text);
}

void tenon_emission_printf(struct tenon_emission *out, const char *format, ...)
{
	va_list args;

	if (!out || out->has_failed)
		return;
	if (!out->file) {
		fail(out, NULL, "text before tenon_emission_file");
		return;
	}
	va_start(args, format);
	tn_buf_vputf(out->file, format, args);
	va_end(args);
}

int64_t tenon_emission_offset(const struct tenon_emission *out,
			      const struct tenon_value *value)
{
	return out && value && out->of->row->has_weights ?
		tn_weights_offset(&out->out->weights,
				  tn_plugin_value(value)) : -1;
}

void tenon_emission_fail(struct tenon_emission *out,
			 const struct tenon_op *op, const char *why)
{
	if (out)
		fail(out, tn_plugin_op(op), why ? why : "it gave up");
}

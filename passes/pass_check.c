/*
 * What the module is said to be, held against the verifiers: before the first
 * pass, after each, and for what a pass needs.
 */
#include "passes/pass_run.h"

#include "ir/verify.h"

static const struct {
	unsigned prop;
	const char *name;
} prop_names[] = {
	{ TN_PROP_TYPED, "typed" }, { TN_PROP_FLAT, "flat" },
	{ TN_PROP_CORE, "core" },
	{ TN_PROP_CANONICAL, "canonical" }, { TN_PROP_FUSED, "fused" },
	{ TN_PROP_KERNELS, "kernels" }, { TN_PROP_PLACED, "placed" }
};

static const struct tn_span nowhere;

static enum tn_status missing_prop(struct tn_module *module,
				   const struct tn_pass *pass,
				   unsigned missing)
{
	struct tn_diag *diag;
	size_t i;
	int k;

	for (i = 0; i < sizeof prop_names / sizeof *prop_names; i++)
		if (prop_names[i].prop & missing)
			break;
	diag = tn_diag_report(module->sink, TN_E0852, nowhere,
			      "pass '%s' needs a module that is %s",
			      pass->name, prop_names[i].name);
	for (k = 0; k < tn_npasses; k++)
		if (tn_passes[k].gives & prop_names[i].prop)
			tn_diag_help(module->sink, diag,
				     "run '%s' before it", tn_passes[k].name);
	return TN_USAGE;
}

static void report_faults(const struct tn_pass_context *context,
			  enum tn_code code, const char *what,
			  const struct tn_buf *faults)
{
	struct tn_sink *sink = context->module->sink;
	struct tn_diag *diag = tn_diag_report(sink, code, nowhere, "%s", what);

	tn_diag_note(sink, diag, "%s", tn_buf_text(faults));
}

/* Places are believed in by code that writes memory: their faults have a code
 * of their own. The structure is sound. */
static enum tn_status verify_places(const struct tn_pass_context *context)
{
	enum tn_status status = TN_OK;
	struct tn_buf faults;

	tn_buf_init(&faults);
	if (!tn_verify_placed(context->entry, &faults))
		status = faults.len ? TN_BUG : TN_IO;
	if (status == TN_BUG)
		report_faults(context, TN_E0862, "the memory plan is unsound",
			      &faults);
	tn_buf_fini(&faults);
	return status;
}

enum tn_status tn_pass_check_props(const struct tn_pass_context *context,
				   const struct tn_pass *pass)
{
	const char *owner = pass ? pass->owner : NULL;
	unsigned props = context->module->props;
	struct tn_buf faults, what;
	enum tn_status status;

	tn_buf_init(&faults);
	tn_buf_init(&what);
	status = tn_verify_entry(context->module, context->entry,
				 props & ~(unsigned)TN_PROP_PLACED, &faults);
	if (pass)
		tn_buf_putf(&what, "the module is not valid after '%s'%s%s",
			    pass->name, owner ? " of plug-in " : "",
			    owner ? owner : "");
	else
		tn_buf_put(&what, "the module is not valid before the passes");
	if (status == TN_BUG)
		report_faults(context, owner ? TN_E0045 : TN_E0853,
			      tn_buf_text(&what), &faults);
	if (status == TN_BUG && owner)
		status = TN_BAD_INPUT;
	tn_buf_fini(&faults);
	tn_buf_fini(&what);
	if (!status && (props & TN_PROP_PLACED))
		status = verify_places(context);
	return status;
}

enum tn_status tn_pass_check_claim(const struct tn_pass_context *context,
				   enum tn_pass_result result, uint64_t epoch,
				   const char *pass)
{
	if (result != TN_PASS_SAME || epoch == context->module->epoch)
		return TN_OK;
	tn_diag_report(context->module->sink, TN_E0853, nowhere,
		       "'%s' changed the module and says it did not", pass);
	return TN_BUG;
}

/* Text written by hand or by an earlier run may have the properties already:
 * their verifiers tell, one by one. Leaves in *missing what does not hold. */
static enum tn_status find_missing(const struct tn_pass_context *context,
				   unsigned *missing)
{
	struct tn_module *module = context->module;
	enum tn_status status = TN_OK;
	struct tn_buf faults;
	unsigned prop;
	size_t i;

	for (i = 0; i < sizeof prop_names / sizeof *prop_names; i++) {
		prop = prop_names[i].prop & *missing;
		if (!prop || status == TN_IO)
			continue;
		tn_buf_init(&faults);
		status = tn_verify_entry(module, context->entry, prop,
					 &faults);
		tn_buf_fini(&faults);
		if (status)
			continue;
		module->props |= prop;
		*missing &= ~prop;
	}
	return status == TN_IO ? TN_IO : TN_OK;
}

enum tn_status tn_pass_check_needs(const struct tn_pass_context *context,
				   const struct tn_pass *pass)
{
	unsigned missing = pass->needs & ~context->module->props;
	enum tn_status status = find_missing(context, &missing);

	if (status || !missing)
		return status;
	return missing_prop(context->module, pass, missing);
}

enum tn_status tn_pass_check_analyses(const struct tn_pass_context *context,
				      const char *pass)
{
	enum tn_analysis wrong;
	bool failed;

	wrong = tn_analyses_check(context->analyses, &failed);
	if (failed)
		return TN_IO;
	if (wrong == TN_ANALYSIS_COUNT)
		return TN_OK;
	tn_diag_report(context->module->sink, TN_E0853, nowhere,
		       "'%s' says that it keeps the analysis '%s', and does "
		       "not", pass, tn_analysis_name(wrong));
	return TN_BUG;
}

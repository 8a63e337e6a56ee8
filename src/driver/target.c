/*
 * Targets by name, and whether they run here.
 */
#include "driver/target.h"

#include <string.h>

#include "driver/plugin.h"

/* Most targets that a suggestion is looked for among. */
#define NAMES 64

const struct tn_backend *tn_target_backend(const struct tenon_context *context,
					   int i)
{
	if (i < tn_nbackends)
		return tn_backends[i];
	return tn_plugin_backend(context, (size_t)(i - tn_nbackends));
}

const struct tn_target *tn_target_interpreter(void)
{
	int i;

	for (i = 0; i < tn_nbackends; i++)
		if (tn_backends[i]->is_interpreter)
			return tn_backends[i]->targets[0];
	return NULL;
}

/* The back end that `name` begins with, and the part behind the colon; NULL:
 * none does. */
static const struct tn_backend *find(const struct tenon_context *context,
				     const char *name, const char **isa)
{
	size_t n = strcspn(name, ":");
	const struct tn_backend *backend;
	int i;

	*isa = name[n] ? name + n + 1 : "";
	if (name[n] && !**isa)
		return NULL;
	for (i = 0; (backend = tn_target_backend(context, i)); i++)
		if (strlen(backend->name) == n &&
		    !strncmp(backend->name, name, n))
			return backend;
	return NULL;
}

static const struct tn_target *find_target(const struct tn_backend *backend,
					   const char *isa)
{
	int i;

	if (backend->find)
		return backend->find(isa);
	for (i = 0; *isa && backend->targets[i]; i++)
		if (!strcmp(backend->targets[i]->isa, isa))
			break;
	return backend->targets[i];
}

/* There is no such target; which one may have been meant. */
static enum tn_status no_target(struct tenon_context *context,
				const char *name)
{
	const struct tn_backend *backend;
	const char *names[NAMES];
	size_t count = 0;
	int i, k;

	for (i = 0; (backend = tn_target_backend(context, i)); i++) {
		if (count < NAMES)
			names[count++] = backend->name;
		for (k = 0; backend->targets[k] && count < NAMES; k++)
			names[count++] = backend->targets[k]->name;
	}
	tn_context_suggest(context,
			   tn_context_report(context, TN_E0005,
					     "there is no target '%s'", name),
			   name, names, count,
			   "`tenon list targets` names them");
	return TN_USAGE;
}

enum tn_status tn_target_pick(struct tenon_context *context,
			      struct tn_target *out)
{
	const char *name = context->settings.target, *isa;
	const struct tn_backend *backend = find(context, name, &isa);
	const struct tn_target *found = backend ? find_target(backend, isa) :
		NULL;

	if (!found)
		return no_target(context, name);
	*out = *found;
	return TN_OK;
}

bool tenon_target_emulates(const struct tenon_context *context,
			   const char *target)
{
	const struct tn_backend *backend;
	const char *isa;

	if (!context || !target)
		return false;
	backend = find(context, target, &isa);
	return backend && backend->emulated;
}

enum tn_status tn_target_check(struct tenon_context *context,
			       const char *target, const char *isa,
			       const char *subject)
{
	const struct tn_backend *backend;
	struct tn_diag *diag;
	struct tn_buf why;
	const char *rest;

	backend = find(context, target, &rest);
	if (!backend || (!strcmp(isa, TN_ISA_EMULATED) && !backend->emulated)) {
		tn_context_report(context, TN_E0017, "%s: built for %s, which "
				  "this version cannot run", subject, target);
		return TN_UNSUPPORTED;
	}
	if (!strcmp(isa, TN_ISA_EMULATED) || !backend->runs)
		return TN_OK;
	tn_buf_init(&why);
	if (backend->runs(isa, &why)) {
		tn_buf_fini(&why);
		return TN_OK;
	}
	diag = tn_context_report(context, TN_E0017, "%s: built for %s, but %s",
				 subject, target, tn_buf_text(&why));
	tn_diag_help(&context->sink, diag, "%s", backend->elsewhere);
	tn_buf_fini(&why);
	return TN_UNSUPPORTED;
}

/* ---- Listing ------------------------------------------------------------ */

/* What can be emulated runs here. */
static void put_one(struct tn_buf *out, bool json,
		    const struct tn_target *target)
{
	const struct tn_backend *backend = target->backend;
	struct tn_buf words, why;
	bool runs;

	tn_buf_init(&words);
	tn_buf_init(&why);
	backend->describe(target, &words);
	runs = !backend->runs || backend->emulated ||
		backend->runs(target->isa, &why);
	if (!json) {
		tn_buf_putf(out, "%-12s %s%s%s\n", target->name,
			    tn_buf_text(&words), runs ? "" : "; ",
			    runs ? "" : tn_buf_text(&why));
	} else {
		tn_buf_put(out, "{\"name\":");
		tn_buf_put_json(out, target->name);
		tn_buf_put(out, ",\"summary\":");
		tn_buf_put_json(out, tn_buf_text(&words));
		tn_buf_putf(out, ",\"runs_here\":%s}\n", runs ? "true" :
			    "false");
	}
	if (words.failed || why.failed)
		out->failed = true;
	tn_buf_fini(&words);
	tn_buf_fini(&why);
}

void tn_target_list(const struct tenon_context *context, struct tn_buf *out,
		    bool json)
{
	const struct tn_backend *backend;
	int i, k;

	for (i = 0; (backend = tn_target_backend(context, i)); i++)
		for (k = 0; backend->targets[k]; k++)
			put_one(out, json, backend->targets[k]);
}

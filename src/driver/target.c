/*
 * Targets by name, and whether they run here.
 */
#include "driver/target.h"

#include <stdio.h>
#include <string.h>

#include "backends/c/c.h"
#include "backends/cuda/cuda.h"

/* Most targets that a suggestion is looked for among. */
#define NAMES 64

static enum tn_status check_gpu(struct tenon_context *context,
				const char *target, const char *isa,
				const char *subject)
{
	struct tn_diag *diag;
	struct tn_buf why;

	tn_buf_init(&why);
	if (tn_target_has_gpu(isa, &why)) {
		tn_buf_fini(&why);
		return TN_OK;
	}
	diag = tn_context_report(context, TN_E0017, "%s: %s: %s", subject,
				 target, tn_buf_text(&why));
	tn_diag_help(&context->sink, diag, "--emulate makes the same kernels "
		     "run on this CPU");
	tn_buf_fini(&why);
	return TN_UNSUPPORTED;
}

enum tn_status tn_target_check(struct tenon_context *context,
			       const char *target, const char *isa,
			       const char *subject)
{
	struct tn_diag *diag;
	const char *lacks;

	if (!strcmp(isa, TN_ISA_EMULATED))
		return TN_OK;
	if (!strncmp(isa, "sm_", 3))
		return check_gpu(context, target, isa, subject);
	if (tn_target_c_runs(isa, &lacks))
		return TN_OK;
	diag = tn_context_report(context, TN_E0017, "%s: built for %s, but "
				 "this CPU lacks %s", subject, target, lacks);
	tn_diag_help(&context->sink, diag, "build it here, or anywhere with "
		     "--target=c:generic");
	return TN_UNSUPPORTED;
}

/* Fills `out` from the row found, if any. */
static bool fill(const struct tn_target *found, struct tn_target *out)
{
	if (found)
		*out = *found;
	return found != NULL;
}

static const struct tn_target *find_c(const char *name)
{
	return tn_target_c(name[0] && strcmp(name, "native") ? name : NULL);
}

/* The part behind the colon of `name` if that begins with `kind`; or NULL. */
static const char *part(const char *name, const char *kind)
{
	size_t n = strlen(kind);

	if (strncmp(name, kind, n))
		return NULL;
	if (!name[n])
		return "";
	return name[n] == ':' && name[n + 1] ? name + n + 1 : NULL;
}

/* There is no such target; which one may have been meant. */
static enum tn_status no_target(struct tenon_context *context,
				const char *name)
{
	const char *names[NAMES] = { "ref", "c", "cuda", "c:native" };
	size_t count = 4, i;

	for (i = 0; tn_targets_c[i] && count < NAMES; i++)
		names[count++] = tn_targets_c[i]->name;
	for (i = 0; tn_targets_cuda[i] && count < NAMES; i++)
		names[count++] = tn_targets_cuda[i]->name;
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
	const char *name = context->settings.target, *rest;

	if (!strcmp(name, "ref")) {
		*out = (struct tn_target){ .kind = TN_TARGET_REF,
					   .name = "ref", .isa = "" };
		return TN_OK;
	}
	rest = part(name, "cuda");
	if (rest && fill(tn_target_cuda(rest), out))
		return TN_OK;
	rest = part(name, "c");
	if (rest && fill(find_c(rest), out))
		return TN_OK;
	return no_target(context, name);
}

static void put_one(struct tn_buf *out, bool json, const char *name,
		    const char *words, const char *lacks)
{
	if (!json) {
		tn_buf_putf(out, "%-12s %s%s%s\n", name, words,
			    lacks ? "; this CPU lacks " : "",
			    lacks ? lacks : "");
		return;
	}
	tn_buf_putf(out, "{\"name\":\"%s\",\"summary\":", name);
	tn_buf_put_json(out, words);
	tn_buf_putf(out, ",\"runs_here\":%s}\n", lacks ? "false" : "true");
}

void tn_target_list(struct tn_buf *out, bool json)
{
	const char *lacks;
	char words[64];
	size_t i;

	put_one(out, json, "ref", "the interpreter", NULL);
	for (i = 0; tn_targets_c[i]; i++) {
		tn_target_c_runs(tn_targets_c[i]->isa, &lacks);
		snprintf(words, sizeof(words), "C, vectors of %d bytes",
			 tn_targets_c[i]->vector_bytes);
		put_one(out, json, tn_targets_c[i]->name, words, lacks);
	}
	for (i = 0; tn_targets_cuda[i]; i++) {
		snprintf(words, sizeof(words), "CUDA for GPUs of %s, or with "
			 "--emulate", tn_targets_cuda[i]->isa);
		put_one(out, json, tn_targets_cuda[i]->name, words, NULL);
	}
}

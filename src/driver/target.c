/*
 * Targets by name, and what this CPU can run.
 */
#include "driver/target.h"

#include <stdio.h>
#include <string.h>

#include "backends/c/c.h"

static const struct {
	const char *name, *target, *words;
} gpus[] = {
	{ "sm_80", "cuda:sm_80", "NVIDIA Ampere" },
	{ "sm_90", "cuda:sm_90", "NVIDIA Hopper" }
};

#define COUNT(table) (sizeof table / sizeof *table)

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define IS_X86 true
#else
#define HAS(feature) false
#define IS_X86 false
#endif
#if defined(__aarch64__)
#define IS_ARM true
#else
#define IS_ARM false
#endif

bool tn_target_runs(const char *isa, const char **lacks)
{
	*lacks = NULL;
	if (!strcmp(isa, "sse2") && !IS_X86)
		*lacks = "SSE2";
	if (!strcmp(isa, "neon") && !IS_ARM)
		*lacks = "NEON";
	if (!strcmp(isa, "avx2") || !strcmp(isa, "avx512")) {
		if (!HAS("avx2"))
			*lacks = "AVX2";
		else if (!HAS("fma"))
			*lacks = "FMA";
	}
	if (!*lacks && !strcmp(isa, "avx512")) {
		if (!HAS("avx512f"))
			*lacks = "AVX-512F";
		else if (!HAS("avx512vl"))
			*lacks = "AVX-512VL";
		else if (!HAS("avx512bw"))
			*lacks = "AVX-512BW";
		else if (!HAS("avx512dq"))
			*lacks = "AVX-512DQ";
	}
	return !*lacks;
}

static bool fill_c(const char *name, struct tn_target *out)
{
	const struct tn_target *found;

	found = tn_target_c(name[0] && strcmp(name, "native") ? name : NULL);
	if (found)
		*out = *found;
	return found != NULL;
}

static bool fill_cuda(const char *name, struct tn_target *out)
{
	size_t i;

	for (i = 0; i < COUNT(gpus); i++)
		if (!name[0] || !strcmp(gpus[i].name, name))
			break;
	if (i == COUNT(gpus))
		return false;
	*out = (struct tn_target){
		.kind = TN_TARGET_CUDA, .name = gpus[i].target,
		.isa = gpus[i].name, .threads_per_block = 256,
		.shared_bytes = 49152, .stack_bytes = 16384
	};
	return true;
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

enum tn_status tn_target_pick(struct tenon_context *context,
			      struct tn_target *out)
{
	static const char *const names[] = {
		"ref", "c", "cuda", "c:generic", "c:sse2", "c:avx2",
		"c:avx512", "c:neon", "c:native", "cuda:sm_80",
		"cuda:sm_90"
	};
	const char *name = context->settings.target, *rest;

	if (!strcmp(name, "ref")) {
		*out = (struct tn_target){ .kind = TN_TARGET_REF,
					   .name = "ref", .isa = "" };
		return TN_OK;
	}
	rest = part(name, "cuda");
	if (rest && fill_cuda(rest, out))
		return TN_OK;
	rest = part(name, "c");
	if (rest && fill_c(rest, out))
		return TN_OK;
	tn_context_suggest(context,
			   tn_context_report(context, TN_E0005,
					     "there is no target '%s'", name),
			   name, names, COUNT(names),
			   "`tenon list targets` names them");
	return TN_USAGE;
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
		tn_target_runs(tn_targets_c[i]->isa, &lacks);
		snprintf(words, sizeof(words), "C, vectors of %d bytes",
			 tn_targets_c[i]->vector_bytes);
		put_one(out, json, tn_targets_c[i]->name, words, lacks);
	}
	for (i = 0; i < COUNT(gpus); i++)
		put_one(out, json, gpus[i].target, gpus[i].words, NULL);
}

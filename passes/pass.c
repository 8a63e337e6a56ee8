/*
 * The list of passes, and what they call: options, walks over blocks.
 */
#include "passes/pass.h"

#include <stdlib.h>
#include <string.h>

#define TYPED TN_PROP_TYPED
#define FLAT TN_PROP_FLAT
#define CORE TN_PROP_CORE
#define CANONICAL TN_PROP_CANONICAL
#define FUSED TN_PROP_FUSED
#define KERNELS TN_PROP_KERNELS
#define PLACED TN_PROP_PLACED
#define KEEPS(analysis) TN_KEEPS(analysis)
#define ALL TN_KEEPS_ALL

const struct tn_pass tn_passes[] = {
#define PASS(id, name, needs, gives, breaks, keeps, option, summary) \
	{ name, summary, option, needs, gives, breaks, keeps, tn_pass_##id, \
	  false, false, NULL, NULL },
#include "passes/passes.def"
#undef PASS
};

const int tn_npasses = (int)(sizeof tn_passes / sizeof *tn_passes);

const struct tn_pass *tn_pass_find(const char *name)
{
	int i;

	for (i = 0; i < tn_npasses; i++)
		if (!strcmp(tn_passes[i].name, name))
			return &tn_passes[i];
	return NULL;
}

int64_t tn_pass_option(const struct tn_pass_context *context,
		       const char *key, int64_t fallback)
{
	const char *at = context->arguments;
	size_t n = strlen(key);

	while (at && (at = strstr(at, key))) {
		if ((at == context->arguments || strchr(" ,", at[-1])) &&
		    at[n] == '=')
			return strtoll(at + n + 1, NULL, 10);
		at += n;
	}
	return fallback;
}

const char *tn_pass_word(const struct tn_pass_context *context,
			 const char *key)
{
	const char *at = context->arguments;
	size_t n = strlen(key);

	if (!at || strncmp(at, key, n) || at[n] != '=')
		return NULL;
	at += n + 1;
	return tn_arena_strndup(&context->module->arena, at, strlen(at));
}

bool tn_pass_walk(struct tn_block *block,
		  bool (*visit)(void *data, struct tn_op *op), void *data)
{
	struct tn_op *op, *next;
	struct tn_block **regions;
	int i, n;

	for (op = block->first; op; op = next) {
		next = op->next;
		regions = op->regions;
		n = op->nregions;
		if (!visit(data, op))
			return false;
		for (i = 0; i < n; i++)
			if (!tn_pass_walk(regions[i], visit, data))
				return false;
	}
	return true;
}

int64_t tn_pass_count(const struct tn_block *block)
{
	const struct tn_op *op;
	int64_t count = 0;
	int i;

	for (op = block->first; op; op = op->next) {
		count++;
		for (i = 0; i < op->nregions; i++)
			count += tn_pass_count(op->regions[i]);
	}
	return count;
}

void tn_pass_part(const struct tn_pass_context *context, const char *name)
{
	tn_timing_begin(context->options->timing, name);
}

void tn_pass_part_end(const struct tn_pass_context *context)
{
	tn_timing_end(context->options->timing);
}

void tn_pass_too_large(struct tn_module *module, const struct tn_value *value)
{
	struct tn_diag *diag;
	struct tn_buf type;

	tn_buf_init(&type);
	tn_type_print(&type, value->type);
	diag = tn_diag_report(module->sink, TN_E0861, value->span,
			      "'%s' of type %s is too large to place",
			      value->name, tn_buf_text(&type));
	tn_diag_help(module->sink, diag,
		     "lower the upper bounds of its dims");
	tn_buf_fini(&type);
}

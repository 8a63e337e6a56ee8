/*
 * What compiling made of a module, in a screen: signature, kernels, memory,
 * weights.
 */
#include <stdlib.h>

#include "driver/module.h"
#include "driver/signature.h"
#include "driver/target.h"
#include "ir/kernel.h"

struct tally {
	struct tn_buf *out;
	int launches, flow, ops;
	struct tn_map seen;	/* kernels shown */
	struct tn_map counts;	/* kernel -> launches of it */
};

static bool count_op(void *data, struct tn_op *op)
{
	struct tally *t = data;
	intptr_t n;

	t->ops++;
	if (op->nregions)
		t->flow++;
	if (op->code != TN_OP_launch)
		return true;
	t->launches++;
	n = (intptr_t)tn_map_find(&t->counts, op->kernel);
	return tn_map_set(&t->counts, op->kernel, (void *)(n + 1));
}

static void put_size(struct tn_buf *out, int64_t bytes)
{
	if (bytes < 10000)
		tn_buf_putf(out, "%lld bytes", (long long)bytes);
	else if (bytes < 10000000)
		tn_buf_putf(out, "%.1f kB", (double)bytes / 1e3);
	else
		tn_buf_putf(out, "%.1f MB", (double)bytes / 1e6);
}

static bool show_kernel(void *data, struct tn_op *op)
{
	struct tally *t = data;
	const struct tn_kernel *kernel = op->kernel;
	long times;

	if (op->code != TN_OP_launch || tn_map_has(&t->seen, kernel))
		return true;
	times = (long)(intptr_t)tn_map_find(&t->counts, kernel);
	tn_buf_putf(t->out, "  %s", kernel->name);
	if (times > 1)
		tn_buf_putf(t->out, " (%ld launches)", times);
	if (kernel->scratch_bytes) {
		tn_buf_put(t->out, ", scratch ");
		put_size(t->out, kernel->scratch_bytes);
	}
	tn_buf_putc(t->out, '\n');
	if (kernel->comment) {
		const char *at = kernel->comment;

		tn_buf_put(t->out, "      ");
		for (; *at; at++) {
			tn_buf_putc(t->out, *at);
			if (*at == '\n' && at[1])
				tn_buf_put(t->out, "      ");
		}
		if (at > kernel->comment && at[-1] != '\n')
			tn_buf_putc(t->out, '\n');
	}
	return tn_map_set(&t->seen, kernel, t);
}

static void put_weights(struct tn_buf *out, const struct tn_module *ir)
{
	const struct tn_weight *weight;
	int64_t total = 0, bytes;
	size_t i;

	for (i = 0; i < ir->weights.len; i++) {
		weight = tn_vec_ptr(&ir->weights, i);
		bytes = tn_type_max_bytes((struct tn_module *)(uintptr_t)ir,
					  weight->type);
		total += bytes > 0 ? bytes : 0;
	}
	tn_buf_putf(out, "weights: %zu, ", ir->weights.len);
	put_size(out, total);
	tn_buf_putc(out, '\n');
}

static enum tn_status describe(struct tenon_module *module,
			       const struct tn_target *target,
			       struct tn_fn *entry, struct tn_buf *out)
{
	struct tally t = { .out = out };
	struct tn_signature signature;

	if (!tn_signature_of(&module->arena, entry, &signature))
		return TN_IO;
	tn_signature_print(&signature, out);
	tn_map_init_ptr(&t.seen);
	tn_map_init_ptr(&t.counts);
	tn_pass_walk(entry->body, count_op, &t);
	tn_buf_putf(out, "\ntarget: %s\n", target->name);
	put_weights(out, module->ir);
	tn_buf_put(out, "arena: ");
	put_size(out, entry->arena_bytes);
	tn_buf_put(out, " for the largest sizes\n");
	tn_buf_putf(out, "guards at entry: %zu\n", entry->guards.len);
	tn_buf_putf(out, "kernels: %zu, launches: %d\n", t.counts.len,
		    t.launches);
	tn_pass_walk(entry->body, show_kernel, &t);
	tn_map_fini(&t.seen);
	tn_map_fini(&t.counts);
	return TN_OK;
}

enum tenon_status tenon_module_explain(struct tenon_module *module,
				       char **out)
{
	struct tn_target target;
	enum tn_status status;
	struct tn_fn *entry;
	struct tn_buf buf;

	*out = NULL;
	if (!module)
		return TENON_USAGE;
	status = tn_target_pick(module->context, &target);
	entry = status ? NULL : tn_module_pick(module);
	if (!status && !entry)
		status = TN_BAD_INPUT;
	if (!status)
		status = tn_module_lower(module, entry, &target);
	tn_buf_init(&buf);
	if (!status)
		status = describe(module, &target, entry, &buf);
	if (!status)
		return tn_context_text(module->context, &buf, out);
	tn_buf_fini(&buf);
	return tn_context_end(module->context, status);
}

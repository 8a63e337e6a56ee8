/*
 * The two sides of a comparison: what a file holds, as tensors with names.
 */
#include <string.h>

#include "driver/compare.h"

enum compare_kind compare_side_kind(const char *path)
{
	if (command_ends_with(path, ".npy") || command_ends_with(path, ".npz") ||
	    command_ends_with(path, ".safetensors"))
		return COMPARE_TENSORS;
	return tenon_engine_is(path) ? COMPARE_ENGINE : COMPARE_MODULE;
}

/* ---- Opening ------------------------------------------------------------- */

static enum tenon_status make(const struct command *command,
			      struct tenon_context *context, bool revealed,
			      struct compare_side *side)
{
	enum tenon_status status, timed;

	status = tenon_context_set(context, "target", side->target ?
				   side->target : "c");
	if (status == TENON_OK)
		status = tenon_parse_file(context, side->path, &side->module);
	if (status == TENON_OK && revealed)
		status = tenon_module_reveal(side->module, &side->shown,
					     &side->nshown);
	if (status == TENON_OK)
		status = tenon_engine_make(side->module, &side->engine);
	if (!side->module)
		return status;
	timed = command_timing(command, side->module);
	return status == TENON_OK ? timed : status;
}

static enum tenon_status run(const struct command *command,
			     struct compare_side *side)
{
	enum tenon_status status = tenon_call_new(side->engine, &side->call);

	if (status == TENON_OK)
		status = command_inputs(command, side->call);
	if (status == TENON_OK)
		status = tenon_call_run(side->call);
	side->raised = status == TENON_NO;
	return side->raised ? TENON_OK : status;
}

enum tenon_status compare_side_open(const struct command *command,
				    struct tenon_context *context,
				    bool revealed, struct compare_side *side)
{
	enum tenon_status status;

	if (side->kind == COMPARE_TENSORS)
		return tenon_archive_open(context, side->path,
					  &side->archive);
	if (side->kind == COMPARE_ENGINE)
		status = tenon_engine_load(context, side->path,
					   &side->engine);
	else
		status = make(command, context, revealed, side);
	return status == TENON_OK ? run(command, side) : status;
}

void compare_side_close(struct compare_side *side)
{
	tenon_archive_close(side->archive);
	tenon_call_free(side->call);
	tenon_engine_free(side->engine);
	tenon_module_free(side->module);
	side->archive = NULL;
	side->call = NULL;
	side->engine = NULL;
	side->module = NULL;
}

/* ---- Tensors ------------------------------------------------------------- */

int compare_side_count(const struct compare_side *side)
{
	return side->archive ? (int)tenon_archive_count(side->archive) :
		tenon_engine_outputs(side->engine);
}

const char *compare_side_name(const struct compare_side *side, int i)
{
	return side->archive ? tenon_archive_name(side->archive, (size_t)i) :
		tenon_engine_output_name(side->engine, i);
}

enum tenon_status compare_side_get(const struct compare_side *side, int i,
				   struct tenon_tensor *out)
{
	if (side->archive)
		return tenon_archive_find(side->archive,
					  compare_side_name(side, i), out);
	*out = *tenon_call_output(side->call, i);
	out->is_owned = false;
	return TENON_OK;
}

int compare_side_find(const struct compare_side *side, const char *name)
{
	int n = compare_side_count(side), i;

	for (i = 0; i < n; i++)
		if (!strcmp(compare_side_name(side, i), name))
			return i;
	return n == 1 && !compare_side_name(side, 0)[0] ? 0 : -1;
}

/*
 * Plug-ins: loading, checking, and rows of ours made of theirs.
 */
#include "driver/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "driver/external.h"
#include "driver/target.h"

#define ENTRY "tenon_plugin"

_Static_assert(TENON_TYPED == (int)TN_PROP_TYPED &&
	       TENON_FLAT == (int)TN_PROP_FLAT &&
	       TENON_CORE == (int)TN_PROP_CORE &&
	       TENON_CANONICAL == (int)TN_PROP_CANONICAL &&
	       TENON_FUSED == (int)TN_PROP_FUSED &&
	       TENON_KERNELS == (int)TN_PROP_KERNELS &&
	       TENON_PLACED == (int)TN_PROP_PLACED &&
	       TENON_STAGE_TEXT == (int)TN_STAGE_TEXT &&
	       TENON_STAGE_CORE == (int)TN_STAGE_CORE &&
	       TENON_STAGE_PLACED == (int)TN_STAGE_PLACED,
	       "tenon-plugin.h has the numbers of the library");

#define PROPS (TENON_TYPED | TENON_FLAT | TENON_CORE | TENON_CANONICAL | \
	       TENON_FUSED | TENON_KERNELS | TENON_PLACED)

const struct tn_plugin *tn_plugin_at(const struct tenon_context *context,
				     size_t i)
{
	return i < context->plugins.len ?
		tn_vec_ptr(&context->plugins, i) : NULL;
}

const struct tn_backend *tn_plugin_backend(const struct tenon_context *context,
					   size_t i)
{
	return i < context->backends.len ?
		tn_vec_ptr(&context->backends, i) : NULL;
}

/* ---- What cannot be ----------------------------------------------------- */

static enum tn_status refuse(struct tenon_context *context, enum tn_code code,
			     const char *plugin, const char *what,
			     const char *name)
{
	tn_context_report(context, code, "plug-in %s: %s '%s'", plugin, what,
			  name);
	return TN_BAD_INPUT;
}

/* Words that text of pipelines and targets can hold. */
static bool is_word(const char *name)
{
	size_t i;

	if (!name || !tn_ascii_is_letter(name[0]))
		return false;
	for (i = 0; name[i]; i++)
		if (!tn_ascii_is_word(name[i]) && name[i] != '-')
			return false;
	return i < 64;
}

static bool has_pass(const struct tenon_context *context, const char *name)
{
	size_t i;

	if (!strcmp(name, "all") || !strcmp(name, "default") ||
	    !strcmp(name, "none") || !strcmp(name, TN_EXTERNAL))
		return true;
	for (i = 0; i < context->passes.len; i++) {
		const struct tn_pass *pass = tn_vec_ptr(&context->passes, i);

		if (!strcmp(pass->name, name))
			return true;
	}
	return tn_pass_find(name) != NULL;
}

static bool has_backend(const struct tenon_context *context, const char *name)
{
	const struct tn_backend *backend;
	int i;

	for (i = 0; (backend = tn_target_backend(context, i)); i++)
		if (!strcmp(backend->name, name))
			return true;
	return false;
}

static enum tn_status check_table(struct tenon_context *context,
				  const struct tenon_plugin *table,
				  const char *path)
{
	size_t i;

	if (table->abi != TENON_PLUGIN_ABI) {
		tn_context_report(context, TN_E0042, "plug-in %s: built for "
				  "version %u of tenon-plugin.h, this is %d",
				  path, table->abi, TENON_PLUGIN_ABI);
		return TN_BAD_INPUT;
	}
	if (!is_word(table->name))
		return refuse(context, TN_E0041, path, "no word as a name:",
			      table->name ? table->name : "");
	if (table->npasses < 0 || (table->npasses && !table->passes) ||
	    table->nbackends < 0 || (table->nbackends && !table->backends))
		return refuse(context, TN_E0041, path,
			      "no rows where it counts some:", table->name);
	for (i = 0; i < context->plugins.len; i++)
		if (!strcmp(tn_plugin_at(context, i)->table->name,
			    table->name))
			return refuse(context, TN_E0043, path,
				      "there is one already named",
				      table->name);
	return TN_OK;
}

static enum tn_status check_row(struct tenon_context *context,
				const struct tn_plugin *plugin,
				const char *kind, const char *name,
				bool is_whole)
{
	if (is_word(name) && is_whole)
		return TN_OK;
	return refuse(context, TN_E0041, plugin->table->name, kind,
		      name ? name : "");
}

/* ---- Rows --------------------------------------------------------------- */

static enum tn_status add_pass(struct tenon_context *context,
			       const struct tn_plugin *plugin,
			       const struct tenon_plugin_pass *row)
{
	enum tn_status status = check_row(context, plugin,
		"a pass without a name, `run`, or known properties:",
		row->name, row->run && !((row->needs | row->gives |
					  row->breaks) & ~(unsigned)PROPS));
	struct tn_plugin_pass *made;

	if (status)
		return status;
	if (has_pass(context, row->name))
		return refuse(context, TN_E0043, plugin->table->name,
			      "there is a pass already named", row->name);
	made = tn_arena_alloc(&context->arena, sizeof(*made));
	if (!made)
		return TN_IO;
	made->plugin = plugin;
	made->row = row;
	made->pass = (struct tn_pass){
		.name = row->name, .summary = row->summary ? row->summary : "",
		.option = row->option ? row->option : "",
		.needs = row->needs, .gives = row->gives,
		.breaks = row->breaks | TN_PROP_PLACED, .run = tn_plugin_run,
		.is_foreign = true, .owner = plugin->table->name, .data = made
	};
	return tn_vec_push_ptr(&context->passes, &made->pass) ? TN_OK : TN_IO;
}

static void describe(const struct tn_target *target, struct tn_buf *out)
{
	const struct tn_plugin_target *made = target->backend->data;

	tn_buf_putf(out, "%s (plug-in %s)", made->row->summary ?
		    made->row->summary : made->row->name,
		    made->plugin->table->name);
}

static void fill_target(struct tn_plugin_target *made)
{
	const struct tenon_plugin_backend *row = made->row;

	made->backend = (struct tn_backend){
		.name = row->name, .stage = (enum tn_stage)row->stage,
		.has_weights = row->has_weights, .targets = made->targets,
		.describe = describe, .emit = tn_plugin_emit, .data = made
	};
	made->target = (struct tn_target){
		.backend = &made->backend, .name = row->name, .isa = "",
		.par = row->has_threads ? TN_PAR_THREADS : TN_PAR_NONE,
		.vector_bytes = row->vector_bytes,
		.vector_registers = row->vector_registers,
		.stack_bytes = 256 * 1024, .near_bytes = 512 * 1024
	};
	made->targets[0] = &made->target;
	made->targets[1] = NULL;
}

static enum tn_status add_backend(struct tenon_context *context,
				  const struct tn_plugin *plugin,
				  const struct tenon_plugin_backend *row)
{
	enum tn_status status = check_row(context, plugin,
		"a back end without a name, `emit`, or known stage:",
		row->name, row->emit && row->vector_bytes >= 0 &&
		row->vector_bytes <= 256 && (int)row->stage >= 0 &&
		row->stage <= TENON_STAGE_PLACED);
	struct tn_plugin_target *made;

	if (status)
		return status;
	if (has_backend(context, row->name))
		return refuse(context, TN_E0043, plugin->table->name,
			      "there is a target already named", row->name);
	made = tn_arena_alloc(&context->arena, sizeof(*made));
	if (!made)
		return TN_IO;
	made->plugin = plugin;
	made->row = row;
	fill_target(made);
	return tn_vec_push_ptr(&context->backends, &made->backend) ?
		TN_OK : TN_IO;
}

/* All of a table or nothing. */
static enum tn_status add(struct tenon_context *context,
			  const struct tenon_plugin *table, void *handle,
			  const char *path)
{
	size_t npasses = context->passes.len, ntargets = context->backends.len;
	enum tn_status status = check_table(context, table, path);
	struct tn_plugin *plugin = NULL;
	int i;

	if (!status)
		plugin = tn_arena_alloc(&context->arena, sizeof(*plugin));
	if (!status && !plugin)
		status = TN_IO;
	if (plugin)
		*plugin = (struct tn_plugin){
			.table = table, .handle = handle, .owner = context,
			.path = handle ? tn_arena_strndup(&context->arena,
				path, strlen(path)) : NULL
		};
	for (i = 0; !status && i < table->npasses; i++)
		status = add_pass(context, plugin, &table->passes[i]);
	for (i = 0; !status && i < table->nbackends; i++)
		status = add_backend(context, plugin, &table->backends[i]);
	if (!status && !tn_vec_push_ptr(&context->plugins, plugin))
		status = TN_IO;
	while (status && context->passes.len > npasses)
		tn_vec_pop(&context->passes);
	while (status && context->backends.len > ntargets)
		tn_vec_pop(&context->backends);
	return status;
}

enum tenon_status tenon_context_plugin(struct tenon_context *context,
				       const struct tenon_plugin *table)
{
	if (!context || !table)
		return TENON_USAGE;
	return tn_context_end(context, add(context, table, NULL,
					   "of the program"));
}

/* ---- Files -------------------------------------------------------------- */

/* A path with a folder: a bare name is looked for elsewhere by the loader. The
 * loader has no word of its own for a want of memory; asked a second time, it
 * lets go of its message. */
static void *open_file(struct tenon_context *context, const char *path,
		       enum tn_status *status)
{
	const char *full = strchr(path, '/') ? path :
		tn_arena_printf(&context->arena, "./%s", path), *why;
	void *handle;

	*status = TN_IO;
	if (!full)
		return NULL;
	errno = 0;
	handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		return handle;
	*status = errno == ENOMEM ? TN_IO : TN_BAD_INPUT;
	why = dlerror();
	if (*status == TN_BAD_INPUT)
		tn_context_report(context, TN_E0040, "plug-in %s: %s", path,
				  why ? why : "the loader refuses it");
	(void)dlerror();
	return NULL;
}

enum tn_status tn_plugin_load(struct tenon_context *context, const char *path)
{
	const struct tenon_plugin *table;
	enum tn_status status;
	void *handle = open_file(context, path, &status);

	if (!handle)
		return status;
	table = dlsym(handle, ENTRY);
	if (table)
		status = add(context, table, handle, path);
	else
		status = refuse(context, TN_E0041, path, "it has no table",
				ENTRY);
	if (status)
		dlclose(handle);
	return status;
}

enum tn_status tn_plugin_share(struct tenon_context *context,
			       const struct tenon_context *from)
{
	const struct tn_vec *all[] = { &from->plugins, &from->passes,
				       &from->backends };
	struct tn_vec *to[] = { &context->plugins, &context->passes,
				&context->backends };
	size_t i;
	int k;

	for (k = 0; k < 3; k++)
		for (i = 0; i < all[k]->len; i++)
			if (!tn_vec_push_ptr(to[k], tn_vec_ptr(all[k], i)))
				return TN_IO;
	return TN_OK;
}

void tn_plugin_close(struct tenon_context *context)
{
	const struct tn_plugin *plugin;

	while (context->plugins.len) {
		plugin = tn_plugin_at(context, context->plugins.len - 1);
		if (plugin->handle && plugin->owner == context)
			dlclose(plugin->handle);
		tn_vec_pop(&context->plugins);
	}
	tn_vec_fini(&context->plugins);
	tn_vec_fini(&context->passes);
	tn_vec_fini(&context->backends);
}

/*
 * Plug-ins of a context: tables read from shared objects or handed over by the
 * program, checked, and turned into what the rest of the house knows: struct
 * tn_pass, struct tn_backend, texts of the language.
 */
#ifndef TN_DRIVER_PLUGIN_H
#define TN_DRIVER_PLUGIN_H

#include "backends/backend.h"
#include "driver/context.h"
#include "driver/tenon-plugin.h"
#include "passes/pass.h"

struct tn_plugin {
	const struct tenon_plugin *table;
	void *handle;			/* of dlopen, or NULL; */
	const char *path;		/* of its file, or NULL */
	const struct tenon_context *owner;	/* who closes it */
};

/* A row of a table made one of ours. */
struct tn_plugin_pass {
	struct tn_pass pass;		/* its data is this */
	const struct tn_plugin *plugin;
	const struct tenon_plugin_pass *row;
};

struct tn_plugin_target {
	struct tn_backend backend;	/* its data is this */
	struct tn_target target;
	const struct tn_target *targets[2];
	const struct tn_plugin *plugin;
	const struct tenon_plugin_backend *row;
};

/* Loads the file. TN_BAD_INPUT after a report; TN_IO: no memory. */
enum tn_status tn_plugin_load(struct tenon_context *context, const char *path);
/* The plug-ins of `from`, which must outlive the context. */
enum tn_status tn_plugin_share(struct tenon_context *context,
			       const struct tenon_context *from);
void tn_plugin_close(struct tenon_context *context);
/* Plug-in `i` from 0, or NULL. */
const struct tn_plugin *tn_plugin_at(const struct tenon_context *context,
				     size_t i);
/* Back end `i` of all plug-ins from 0, or NULL. */
const struct tn_backend *tn_plugin_backend(const struct tenon_context *context,
					   size_t i);

/* plugin_pass.c, plugin_emit.c: what the rows made of a table run. */
enum tn_pass_result tn_plugin_run(struct tn_pass_context *context);
enum tn_status tn_plugin_emit(const struct tn_module *module,
			      const struct tn_fn *entry, const char *name,
			      const struct tn_target *target,
			      struct tn_emission *out);
/* plugin_attr.c: attributes written as text, for an op of that row; -1: they
 * cannot be read. What is made lies in the arena. */
#define TN_PLUGIN_ATTRS 8
int tn_plugin_attrs(struct tn_arena *arena, const struct tn_op_info *info,
		    const char *text, struct tn_attr *out);

/* Handles are our nodes under another name. */
static inline struct tenon_op *tn_plugin_out_op(const struct tn_op *op)
{
	return (struct tenon_op *)(uintptr_t)op;
}
static inline struct tn_op *tn_plugin_op(const struct tenon_op *op)
{
	return (struct tn_op *)(uintptr_t)op;
}
static inline struct tenon_value *tn_plugin_out(const struct tn_value *value)
{
	return (struct tenon_value *)(uintptr_t)value;
}
static inline struct tn_value *tn_plugin_value(const struct tenon_value *value)
{
	return (struct tn_value *)(uintptr_t)value;
}

#endif

/*
 * What the user says of the sizes and inputs of a model for its import.
 *
 *   --bounds=N=1:8,M=N
 *   --fix="axes=2xi64=0 1"   --length=x=3,opt=0   --shape=x_0=2x?,y=4
 */
#include "driver/given.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "driver/call.h"
#include "driver/tensors.h"

/* One option at work. */
struct reading {
	struct tenon_module *module;
	const char *option, *wanted;
};

static enum tn_status malformed(const struct reading *r, const char *text,
				size_t len)
{
	struct tenon_context *context = r->module->context;

	tn_diag_help(&context->sink,
		     tn_context_report(context, TN_E0004,
				       "'%.*s' is no value of %s", (int)len,
				       text, r->option), "it takes %s",
		     r->wanted);
	return TN_USAGE;
}

/* NAME of "NAME=..", and what stands behind; NULL: there is none. */
static const char *name_of(const struct reading *r, const char *text,
			   size_t len, const char **rest)
{
	const char *equal = memchr(text, '=', len);

	if (!equal || equal == text)
		return NULL;
	*rest = equal + 1;
	return tn_arena_strndup(&r->module->arena, text,
				(size_t)(equal - text));
}

/* Decimal digits, all of `len`. */
static bool number(const char *text, size_t len, int64_t *out)
{
	char copy[12];
	uint64_t value;

	if (len == 0 || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (!tn_num_parse_u64(copy, &value) || value > INT32_MAX)
		return false;
	*out = (int64_t)value;
	return true;
}

/* ---- Bounds -------------------------------------------------------------- */

/* "N=1:8", "N=4", or "N=M", the same size. */
static bool read_bound(const struct reading *r, const char *text, size_t len,
		       struct tn_import_dim *out)
{
	const char *at, *colon;
	size_t left;

	*out = (struct tn_import_dim){ .name = name_of(r, text, len, &at) };
	if (!out->name)
		return false;
	left = len - (size_t)(at - text);
	colon = memchr(at, ':', left);
	if (!colon && left && (*at < '0' || *at > '9')) {
		out->same = tn_arena_strndup(&r->module->arena, at, left);
		return out->same != NULL;
	}
	if (!colon)
		return number(at, left, &out->lo) &&
		       (out->hi = out->lo, true);
	return number(at, (size_t)(colon - at), &out->lo) &&
	       number(colon + 1, left - (size_t)(colon + 1 - at), &out->hi) &&
	       out->lo <= out->hi;
}

static enum tn_status read_bounds(struct tenon_module *module,
				  struct tn_import *import)
{
	struct reading r = { module, "bounds",
			     "NAME=LOW:HIGH, NAME=SIZE or NAME=OTHER" };
	const char *text = module->context->settings.bounds;
	size_t len;

	for (; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (import->ndims == TN_GIVEN_MOST ||
		    !read_bound(&r, text, len, &import->dims[import->ndims]))
			return malformed(&r, text, len);
		import->ndims++;
	}
	return TN_OK;
}

/* Bounds of a size that the model has not would be without effect. */
static enum tn_status bounds_are_of(struct tenon_module *module,
				    const struct tn_import *import)
{
	const char *names[TN_GIVEN_MOST] = {0}, *name;
	const struct tn_dim *dim;
	int i, k, n = module->ir->dims.nsyms;

	for (k = 0; k < import->ndims; k++) {
		if (import->dims[k].is_used)
			continue;
		name = import->dims[k].name;
		for (i = 0; i < n; i++) {
			dim = tn_vec_ptr(&module->ir->dims.syms, (size_t)i);
			names[i % TN_GIVEN_MOST] = dim->sym->name;
		}
		tn_context_suggest(module->context,
				   tn_context_report(module->context, TN_E0011,
						     "--bounds: there is no "
						     "dim '%s'", name), name,
				   names, (size_t)(n < TN_GIVEN_MOST ? n : TN_GIVEN_MOST),
				   "`tenon import` shows them");
		return TN_USAGE;
	}
	return TN_OK;
}

/* ---- Lengths and shapes -------------------------------------------------- */

static bool read_length(const struct reading *r, const char *text, size_t len,
			struct tn_import_length *out)
{
	const char *rest;

	out->is_used = false;
	out->name = name_of(r, text, len, &rest);
	return out->name && number(rest, len - (size_t)(rest - text),
				   &out->length);
}

/* "2x?x3"; nothing is a scalar. */
static bool read_shape(const struct reading *r, const char *text, size_t len,
		       struct tn_import_shape *out)
{
	const char *at, *end = text + len;
	size_t n;

	out->is_used = false;
	out->rank = 0;
	out->name = name_of(r, text, len, &at);
	if (!out->name)
		return false;
	for (; at < end; at += n + (at + n < end)) {
		n = strcspn(at, "x,");
		if (n > (size_t)(end - at))
			n = (size_t)(end - at);
		if (out->rank == TN_MAX_RANK || at + n + 1 == end)
			return false;
		if (n == 1 && *at == '?')
			out->sizes[out->rank] = -1;
		else if (!number(at, n, &out->sizes[out->rank]))
			return false;
		out->rank++;
	}
	return true;
}

static enum tn_status read_lengths(struct tenon_module *module,
				   struct tn_import *import)
{
	static const char wanted[] = "NAME=N";
	struct reading r = { module, "length", wanted };
	const char *text = module->context->settings.lengths;
	size_t len;

	for (; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (import->nlengths == TN_GIVEN_MOST ||
		    !read_length(&r, text, len,
				 &import->lengths[import->nlengths]))
			return malformed(&r, text, len);
		import->nlengths++;
	}
	return TN_OK;
}

static enum tn_status read_shapes(struct tenon_module *module,
				  struct tn_import *import)
{
	struct reading r = { module, "shape", "NAME=2x3, ? for a free size" };
	const char *text = module->context->settings.shapes;
	size_t len;

	for (; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (import->nshapes == TN_GIVEN_MOST ||
		    !read_shape(&r, text, len,
				&import->shapes[import->nshapes]))
			return malformed(&r, text, len);
		import->nshapes++;
	}
	return TN_OK;
}

/* ---- Values --------------------------------------------------------------- */

/* @PATH, or @PATH=KEY: the last = splits. */
static enum tn_status read_file(const struct reading *r, const char *at,
				struct tn_tensor *out)
{
	struct tenon_context *context = r->module->context;
	char *path = tn_arena_strndup(&r->module->arena, at, strlen(at));
	char *equals = path ? strrchr(path, '=') : NULL;
	const char *key = NULL;
	struct tn_tensorfile *file;
	enum tn_status status;
	struct tn_tensor view;
	struct tn_buf why;

	if (!path)
		return TN_IO;
	if (equals && equals[1] && !strchr(equals, '/')) {
		*equals = '\0';
		key = equals + 1;
	}
	tn_buf_init(&why);
	file = tn_tensorfile_open(path, &status, &why);
	if (file && !key)
		key = tn_tensorfile_count(file) ?
			tn_tensorfile_key(file, 0) : "";
	if (file)
		status = tn_tensorfile_find(file, key, TN_POISON, &view, &why);
	if (!status && !tn_tensors_copy(&view, out))
		status = TN_IO;
	if (status && why.len)
		tn_context_report(context, status == TN_IO ? TN_E0002 :
				  TN_E0022, "%s", tn_buf_text(&why));
	tn_buf_fini(&why);
	tn_tensorfile_close(file);
	return status;
}

static enum tn_status read_fix(const struct reading *r, const char *text,
			       size_t len, struct tn_import_fix *out)
{
	const char *value, *rest;

	out->is_used = false;
	out->name = name_of(r, text, len, &rest);
	if (!out->name)
		return malformed(r, text, len);
	value = tn_arena_strndup(&r->module->arena, rest,
				 len - (size_t)(rest - text));
	if (!value)
		return TN_IO;
	return value[0] == '@' ? read_file(r, value + 1, &out->value) :
		tn_call_parse(r->module->context, out->name, value,
			      &out->value);
}

static enum tn_status read_fixes(struct tenon_module *module,
				 struct tn_import *import)
{
	struct reading r = { module, "fix", "NAME=VALUE" };
	const char *text = module->context->settings.fixes;
	enum tn_status status;
	size_t len;

	for (; text && *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (import->nfixes == TN_GIVEN_MOST)
			return malformed(&r, text, len);
		status = read_fix(&r, text, len,
				  &import->fixes[import->nfixes]);
		if (status)
			return status;
		import->nfixes++;
	}
	return TN_OK;
}

/* ---- All of it ------------------------------------------------------------ */

static enum tn_status twice(struct tenon_module *module, const char *option,
			    const char *name)
{
	tn_context_report(module->context, TN_E0004, "--%s says two things of "
			  "'%s'", option, name);
	return TN_USAGE;
}

/* Nothing is said twice. */
static enum tn_status check_once(struct tenon_module *module,
				 const struct tn_import *import)
{
	int i, k;

	for (i = 0; i < import->nfixes; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(import->fixes[i].name,
				    import->fixes[k].name))
				return twice(module, "fix",
					     import->fixes[i].name);
	for (i = 0; i < import->nlengths; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(import->lengths[i].name,
				    import->lengths[k].name))
				return twice(module, "length",
					     import->lengths[i].name);
	for (i = 0; i < import->nshapes; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(import->shapes[i].name,
				    import->shapes[k].name))
				return twice(module, "shape",
					     import->shapes[i].name);
	return TN_OK;
}

enum tn_status tn_given_read(struct tenon_module *module,
			     struct tn_import *import, struct tn_given_lists *given)
{
	enum tn_status status;

	import->dims = given->dims;
	import->fixes = given->fixes;
	import->lengths = given->lengths;
	import->shapes = given->shapes;
	status = read_bounds(module, import);
	if (!status)
		status = read_lengths(module, import);
	if (!status)
		status = read_shapes(module, import);
	if (!status)
		status = read_fixes(module, import);
	if (!status)
		status = check_once(module, import);
	if (status)
		tn_given_fini(import);
	return status;
}

void tn_given_fini(struct tn_import *import)
{
	int i;

	for (i = 0; i < import->nfixes; i++)
		tn_tensor_fini(&import->fixes[i].value);
}

static enum tn_status without_effect(struct tenon_module *module,
				     const char *option, const char *name)
{
	tn_context_report(module->context, TN_E0011, "--%s: there is no input "
			  "'%s' that could have one", option, name);
	return TN_USAGE;
}

enum tn_status tn_given_check(struct tenon_module *module,
			      const struct tn_import *import)
{
	enum tn_status status = bounds_are_of(module, import);
	int i;

	if (status)
		return status;
	for (i = 0; i < import->nfixes; i++)
		if (!import->fixes[i].is_used)
			return without_effect(module, "fix",
					      import->fixes[i].name);
	for (i = 0; i < import->nlengths; i++)
		if (!import->lengths[i].is_used)
			return without_effect(module, "length",
					      import->lengths[i].name);
	for (i = 0; i < import->nshapes; i++)
		if (!import->shapes[i].is_used)
			return without_effect(module, "shape",
					      import->shapes[i].name);
	return TN_OK;
}

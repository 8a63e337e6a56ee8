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

/* An option, of which one entry is read at a time. */
struct option {
	struct tenon_module *module;
	const char *name, *wanted;
	const char *text;	/* of all entries, or NULL */
	char end;		/* stands between them */
	int *count;
	char *entries;		/* each begins with a tn_import_said */
	size_t size;
	/* Fills an entry; false: malformed, or `status` says what it is after
	 * a report. */
	bool (*read)(struct option *o, const char *text, size_t len,
		     void *out);
	enum tn_status status;
};

static enum tn_status malformed(const struct option *o, const char *text,
				size_t len)
{
	struct tenon_context *context = o->module->context;

	tn_diag_help(&context->sink,
		     tn_context_report(context, TN_E0004,
				       "'%.*s' is no value of %s", (int)len,
				       text, o->name), "it takes %s",
		     o->wanted);
	return TN_USAGE;
}

static enum tn_status read_option(struct option *o)
{
	const char ends[] = { o->end, '\0' };
	const char *text = o->text;
	size_t len;

	for (; text && *text; text += len + (text[len] == o->end)) {
		len = strcspn(text, ends);
		if (*o->count == TN_GIVEN_MOST ||
		    !o->read(o, text, len,
			     o->entries + (size_t)*o->count * o->size))
			return o->status ? o->status :
				malformed(o, text, len);
		++*o->count;
	}
	return TN_OK;
}

static const struct tn_import_said *said(const struct option *o, int i)
{
	return (const void *)(o->entries + (size_t)i * o->size);
}

/* NAME of "NAME=..", and what stands behind; NULL: there is none. */
static const char *name_of(const struct option *o, const char *text,
			   size_t len, const char **rest)
{
	const char *equal = memchr(text, '=', len);

	if (!equal || equal == text)
		return NULL;
	*rest = equal + 1;
	return tn_arena_strndup(&o->module->arena, text,
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
static bool read_bound(struct option *o, const char *text, size_t len,
		       void *entry)
{
	struct tn_import_dim *out = entry;
	const char *at, *colon;
	size_t left;

	*out = (struct tn_import_dim){ .said.name = name_of(o, text, len,
							    &at) };
	if (!out->said.name)
		return false;
	left = len - (size_t)(at - text);
	colon = memchr(at, ':', left);
	if (!colon && left && (*at < '0' || *at > '9')) {
		out->same = tn_arena_strndup(&o->module->arena, at, left);
		return out->same != NULL;
	}
	if (!colon)
		return number(at, left, &out->lo) &&
		       (out->hi = out->lo, true);
	return number(at, (size_t)(colon - at), &out->lo) &&
	       number(colon + 1, left - (size_t)(colon + 1 - at), &out->hi) &&
	       out->lo <= out->hi;
}

/* Bounds of a size that the model has not would be without effect. */
static enum tn_status bounds_are_of(struct tenon_module *module,
				    const struct tn_import *import)
{
	const char *names[TN_GIVEN_MOST] = {0}, *name;
	const struct tn_dim *dim;
	int i, k, n = module->ir->dims.nsyms;

	for (k = 0; k < import->ndims; k++) {
		if (import->dims[k].said.is_used)
			continue;
		name = import->dims[k].said.name;
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

static bool read_length(struct option *o, const char *text, size_t len,
			void *entry)
{
	struct tn_import_length *out = entry;
	const char *rest;

	*out = (struct tn_import_length){ .said.name = name_of(o, text, len,
							       &rest) };
	return out->said.name && number(rest, len - (size_t)(rest - text),
					&out->length);
}

/* "2x?x3"; nothing is a scalar. */
static bool read_shape(struct option *o, const char *text, size_t len,
		       void *entry)
{
	struct tn_import_shape *out = entry;
	const char *at, *end = text + len;
	size_t n;

	*out = (struct tn_import_shape){ .said.name = name_of(o, text, len,
							      &at) };
	if (!out->said.name)
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

/* ---- Values --------------------------------------------------------------- */

/* @PATH, or @PATH=KEY. */
static enum tn_status read_file(const struct option *o, const char *at,
				struct tn_tensor *out)
{
	struct tenon_context *context = o->module->context;
	char *path = tn_arena_strndup(&o->module->arena, at, strlen(at));
	const char *key = path ? tn_tensorfile_split(path) : NULL;
	struct tn_tensorfile *file;
	enum tn_status status;
	struct tn_tensor view;
	struct tn_buf why;

	if (!path)
		return TN_IO;
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

static bool read_fix(struct option *o, const char *text, size_t len,
		     void *entry)
{
	struct tn_import_fix *out = entry;
	const char *value, *rest;

	*out = (struct tn_import_fix){ .said.name = name_of(o, text, len,
							    &rest) };
	if (!out->said.name)
		return false;
	value = tn_arena_strndup(&o->module->arena, rest,
				 len - (size_t)(rest - text));
	if (!value)
		o->status = TN_IO;
	else if (value[0] == '@')
		o->status = read_file(o, value + 1, &out->value);
	else
		o->status = tn_call_parse(o->module->context, out->said.name,
					  value, &out->value);
	return !o->status;
}

/* ---- All of it ------------------------------------------------------------ */

/* --bounds is the first: it is of sizes, the others of inputs. */
#define OPTIONS 4

static void list_options(struct tenon_module *module, struct tn_import *import,
			 struct option out[OPTIONS])
{
	const struct tn_settings *settings = &module->context->settings;

	out[0] = (struct option){
		module, "bounds", "NAME=LOW:HIGH, NAME=SIZE or NAME=OTHER",
		settings->bounds, ',', &import->ndims, (char *)import->dims,
		sizeof(*import->dims), read_bound, TN_OK };
	out[1] = (struct option){
		module, "length", "NAME=N", settings->lengths, ',',
		&import->nlengths, (char *)import->lengths,
		sizeof(*import->lengths), read_length, TN_OK };
	out[2] = (struct option){
		module, "shape", "NAME=2x3, ? for a free size",
		settings->shapes, ',', &import->nshapes,
		(char *)import->shapes, sizeof(*import->shapes), read_shape,
		TN_OK };
	out[3] = (struct option){
		module, "fix", "NAME=VALUE", settings->fixes, '\n',
		&import->nfixes, (char *)import->fixes,
		sizeof(*import->fixes), read_fix, TN_OK };
}

/* Nothing is said twice. */
static enum tn_status check_once(const struct option *o)
{
	int i, k;

	for (i = 0; i < *o->count; i++)
		for (k = 0; k < i; k++) {
			if (strcmp(said(o, i)->name, said(o, k)->name) != 0)
				continue;
			tn_context_report(o->module->context, TN_E0004,
					  "--%s says two things of '%s'",
					  o->name, said(o, i)->name);
			return TN_USAGE;
		}
	return TN_OK;
}

enum tn_status tn_given_read(struct tenon_module *module,
			     struct tn_import *import,
			     struct tn_given_lists *given)
{
	struct option options[OPTIONS];
	enum tn_status status = TN_OK;
	int i;

	import->dims = given->dims;
	import->fixes = given->fixes;
	import->lengths = given->lengths;
	import->shapes = given->shapes;
	list_options(module, import, options);
	for (i = 0; i < OPTIONS && !status; i++)
		status = read_option(&options[i]);
	for (i = 1; i < OPTIONS && !status; i++)
		status = check_once(&options[i]);
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

static enum tn_status check_used(const struct option *o)
{
	int i;

	for (i = 0; i < *o->count; i++) {
		if (said(o, i)->is_used)
			continue;
		tn_context_report(o->module->context, TN_E0011, "--%s: there "
				  "is no input '%s' that could have one",
				  o->name, said(o, i)->name);
		return TN_USAGE;
	}
	return TN_OK;
}

enum tn_status tn_given_check(struct tenon_module *module,
			      struct tn_import *import)
{
	enum tn_status status = bounds_are_of(module, import);
	struct option options[OPTIONS];
	int i;

	list_options(module, import, options);
	for (i = 1; i < OPTIONS && !status; i++)
		status = check_used(&options[i]);
	return status;
}

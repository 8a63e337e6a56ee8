/*
 * Machine code in this process; see native.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memfd_create */
#endif
#include "driver/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GLUE_VERSION 1
#define GLUE_SYMBOL "tenon_engine_glue"

/* The table in the object; glue_text below declares the same. */
struct glue {
	int version;
	unsigned long ctx_bytes;
	int (*init)(void *ctx, const void *weights, unsigned long size);
	/* 0 done; 1 done, raised; 2 a dim or guard refused; 3 otherwise.
	 * info: fault, op, flags as the emitted header explains them. */
	int (*run)(const void *ctx, int threads, const void *const *inputs,
		   int64_t *dims, void *const *outputs, void *workspace,
		   int *info);
	const char *(*place)(int op);
};

/* @ is the prefix of the emitted names. */
static const char glue_text[] =
	"/* Entry of an engine: how Tenon calls the code beside this. */\n"
	"#include \"@.h\"\n\n"
	"struct glue {\n"
	"\tint version;\n"
	"\tunsigned long ctx_bytes;\n"
	"\tint (*init)(void *, const void *, unsigned long);\n"
	"\tint (*run)(const void *, int, const void *const *, int64_t *,\n"
	"\t\t   void *const *, void *, int *);\n"
	"\tconst char *(*place)(int);\n"
	"};\n\n"
	"static int init(void *ctx, const void *weights, unsigned long size)\n"
	"{\n"
	"\treturn @_init((struct @_ctx *)ctx, weights, size) != @_OK;\n"
	"}\n\n"
	"static int run(const void *ctx, int threads, const void *const *in,\n"
	"\t       int64_t *dims, void *const *out, void *work, int *info)\n"
	"{\n"
	"\tstruct @_ctx c = *(const struct @_ctx *)ctx;\n"
	"\tstruct @_report report = { -1, -1, 0 };\n"
	"\tint status;\n\n"
	"\tc.threads = threads;\n"
	"\tc.report = &report;\n"
	"\tstatus = @_run(&c, in, dims, out, work);\n"
	"\tinfo[0] = report.fault;\n"
	"\tinfo[1] = report.op;\n"
	"\tinfo[2] = (int)report.flags;\n"
	"\treturn status == @_OK ? 0 : status == @_RAISED ? 1 :\n"
	"\t\tstatus == @_BAD_DIM ? 2 : 3;\n"
	"}\n\n"
	"extern const struct glue " GLUE_SYMBOL ";\n"
	"const struct glue " GLUE_SYMBOL " = {\n"
	"\t1, sizeof(struct @_ctx), init, run, @_place\n"
	"};\n";

void tn_native_glue(struct tn_buf *out, const char *prefix)
{
	const char *at;

	for (at = glue_text; *at; at++) {
		if (*at == '@')
			tn_buf_put(out, prefix);
		else
			tn_buf_putc(out, *at);
	}
}

struct tn_native {
	void *handle;		/* of dlopen */
	const struct glue *glue;
	void *ctx;
};

static bool write_whole(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* Loads through anonymous memory. */
static void *open_memory(const void *object, size_t size)
{
	int fd = memfd_create("tenon", MFD_CLOEXEC);
	void *handle = NULL;
	char path[64];

	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write_whole(fd, object, size))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	return handle;
}

/* Loads through a temporary file, where /proc or memfd is not to be had. */
static void *open_temporary(const void *object, size_t size)
{
	const char *folder = getenv("TMPDIR");
	void *handle = NULL;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/tenonXXXXXX", folder && folder[0] ?
		 folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return NULL;
	if (write_whole(fd, object, size))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	unlink(path);
	return handle;
}

/* The threads of OpenMP outlive an engine, so their code has to stay. */
static void hold_openmp(void)
{
	static const char *const names[] = { "libgomp.so.1", "libomp.so.5",
					     "libomp.so" };
	void *handle;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		handle = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD |
				RTLD_NODELETE);
		if (handle)
			dlclose(handle);
	}
	(void)dlerror();
}

static enum tn_status refuse(struct tenon_context *context)
{
	const char *why = dlerror();

	tn_context_report(context, TN_E0016, "the engine's code cannot be "
			  "loaded: %s", why ? why : "no reason given");
	return TN_BAD_INPUT;
}

static enum tn_status start(struct tn_native *native,
			    struct tenon_context *context,
			    const void *weights, size_t weights_size)
{
	native->glue = dlsym(native->handle, GLUE_SYMBOL);
	if (!native->glue || native->glue->version != GLUE_VERSION) {
		tn_context_report(context, TN_E0016,
				  "the engine's code has no entry that this "
				  "version of Tenon knows");
		return TN_BAD_INPUT;
	}
	native->ctx = calloc(1, native->glue->ctx_bytes + 1);
	if (!native->ctx)
		return TN_IO;
	if (native->glue->init(native->ctx, weights, weights_size)) {
		tn_context_report(context, TN_E0016,
				  "the engine's weights are not those that "
				  "its code was made for");
		return TN_BAD_INPUT;
	}
	return TN_OK;
}

struct tn_native *tn_native_load(struct tenon_context *context,
				 const void *object, size_t object_size,
				 const void *weights, size_t weights_size,
				 enum tn_status *status)
{
	struct tn_native *native = calloc(1, sizeof(*native));

	*status = TN_IO;
	if (!native)
		return NULL;
	native->handle = open_memory(object, object_size);
	if (!native->handle)
		native->handle = open_temporary(object, object_size);
	if (native->handle)
		hold_openmp();
	*status = native->handle ? start(native, context, weights,
					 weights_size) : refuse(context);
	if (*status == TN_OK)
		return native;
	tn_native_free(native);
	return NULL;
}

void tn_native_free(struct tn_native *native)
{
	if (!native)
		return;
	free(native->ctx);
	if (native->handle)
		dlclose(native->handle);
	free(native);
}

enum tn_status tn_native_run(struct tn_native *native, int threads,
			     const void *const *inputs, int64_t *dims,
			     void *const *outputs, void *workspace,
			     struct tn_native_report *report)
{
	int info[3] = { -1, -1, 0 };
	int status = native->glue->run(native->ctx, threads, inputs, dims,
				       outputs, workspace, info);

	report->fault = info[0];
	report->flags = (unsigned)info[2];
	report->place = info[1] >= 0 ? native->glue->place(info[1]) : NULL;
	switch (status) {
	case 0:
		return TN_OK;
	case 1:
		return TN_NO;
	case 2:
		return TN_BAD_INPUT;
	default:
		return TN_BUG;
	}
}

/*
 * Machine code in this process; see native.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memfd_create, CPU_COUNT */
#endif
#include "driver/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GLUE_VERSION 3
#define GLUE_SYMBOL "tenon_engine_glue"

/* The table in the object; glue_text below declares the same. */
struct glue {
	int version;
	unsigned long ctx_bytes;
	/* 0 done; 1 other weights; 2 the device failed. */
	int (*init)(void *ctx, const void *weights, unsigned long size);
	/* 0 done; 1 done, raised; 2 a dim or guard refused; 3 the device
	 * failed, *why says how. info: fault, op, flags as the emitted header
	 * explains them. */
	int (*run)(const void *ctx, const struct tn_native_call *call,
		   int *info, const char **why);
	const char *(*place)(int op);
	const char *(*reason)(int op);
	void (*fini)(void *ctx);
};

/* @ is the prefix of the emitted names. */
static const char glue_text[] =
	"/* Entry of an engine: how Tenon calls the code beside this. */\n"
	"#include \"@.h\"\n\n"
	"struct call {\n"
	"\tint threads;\n"
	"\tconst void *const *inputs;\n"
	"\tint64_t *dims;\n"
	"\tvoid *const *outputs;\n"
	"\tvoid *workspace;\n"
	"\tvoid (*print)(void *, const char *, const char *, int,\n"
	"\t\t      const int64_t *, const void *);\n"
	"\tvoid *print_data;\n"
	"};\n\n"
	"struct glue {\n"
	"\tint version;\n"
	"\tunsigned long ctx_bytes;\n"
	"\tint (*init)(void *, const void *, unsigned long);\n"
	"\tint (*run)(const void *, const struct call *, int *,\n"
	"\t\t   const char **);\n"
	"\tconst char *(*place)(int);\n"
	"\tconst char *(*reason)(int);\n"
	"\tvoid (*fini)(void *);\n"
	"};\n\n"
	"static int init(void *ctx, const void *weights, unsigned long size)\n"
	"{\n"
	"\tint status = @_init((struct @_ctx *)ctx, weights, size);\n\n"
	"\treturn status == @_OK ? 0 : status == @_BAD_WEIGHTS ? 1 : 2;\n"
	"}\n\n"
	"static void print(void *data, const struct @_printed *value)\n"
	"{\n"
	"\tconst struct call *call = (const struct call *)data;\n\n"
	"\tcall->print(call->print_data, value->label, value->dtype,\n"
	"\t\t    value->rank, value->shape, value->data);\n"
	"}\n\n"
	"static int run(const void *ctx, const struct call *call, int *info,\n"
	"\t       const char **why)\n"
	"{\n"
	"\tstruct @_ctx c = *(const struct @_ctx *)ctx;\n"
	"\tstruct @_report report;\n"
	"\tstruct call hook = *call;\n"
	"\tint status;\n\n"
	"\tc.threads = call->threads;\n"
	"\tc.report = &report;\n"
	"\tc.print = call->print ? print : 0;\n"
	"\tc.print_data = &hook;\n"
	"\tstatus = @_run(&c, call->inputs, call->dims, call->outputs,\n"
	"\t\t       call->workspace);\n"
	"\tinfo[0] = report.fault;\n"
	"\tinfo[1] = report.op;\n"
	"\tinfo[2] = (int)report.flags;\n"
	"\t*why = WHY(report);\n"
	"\treturn status == @_OK ? 0 : status == @_RAISED ? 1 :\n"
	"\t\tstatus == @_BAD_DIM ? 2 : 3;\n"
	"}\n\n"
	"static void fini(void *ctx)\n"
	"{\n"
	"\tFINI((struct @_ctx *)ctx);\n"
	"}\n\n"
	"extern const struct glue " GLUE_SYMBOL ";\n"
	"const struct glue " GLUE_SYMBOL " = {\n"
	"\t3, sizeof(struct @_ctx), init, run, @_place, @_reason, fini\n"
	"};\n";

static void put_named(struct tn_buf *out, const char *text,
		      const char *prefix)
{
	for (; *text; text++) {
		if (*text == '@')
			tn_buf_put(out, prefix);
		else
			tn_buf_putc(out, *text);
	}
}

void tn_native_glue(struct tn_buf *out, const char *prefix,
		    const char *top)
{
	put_named(out, top, prefix);
	put_named(out, glue_text, prefix);
}

struct tn_native {
	void *handle;		/* of dlopen */
	const struct glue *glue;
	void *ctx;
	bool is_init;		/* ctx has to be ended */
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

/*
 * The path of the descriptor, spelled as no other object's in this process
 * is: the loader takes a path that it has seen for the object that it has
 * loaded by it, whatever file the descriptor is now. Bits of the file's number
 * stand in the path as "/" and "/.", which lead nowhere else.
 */
static bool spell_path(int fd, char *out, size_t size)
{
	struct stat info;
	size_t at, bit;

	if (fstat(fd, &info))
		return false;
	at = (size_t)snprintf(out, size, "/proc/self/fd");
	for (bit = 0; bit < 64 && at + 24 < size; bit++) {
		out[at++] = '/';
		if ((uint64_t)info.st_ino >> bit & 1)
			out[at++] = '.';
	}
	snprintf(out + at, size - at, "/%d", fd);
	return true;
}

/* Loads through anonymous memory. */
static void *open_memory(const void *object, size_t size)
{
	int fd = memfd_create("tenon", MFD_CLOEXEC);
	void *handle = NULL;
	char path[256];

	if (fd < 0)
		return NULL;
	if (write_whole(fd, object, size) &&
	    spell_path(fd, path, sizeof(path)))
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
	switch (native->glue->init(native->ctx, weights, weights_size)) {
	case 0:
		native->is_init = true;
		return TN_OK;
	case 1:
		tn_context_report(context, TN_E0016,
				  "the engine's weights are not those that "
				  "its code was made for");
		return TN_BAD_INPUT;
	default:
		tn_context_report(context, TN_E0019, "CUDA: the weights "
				  "cannot be put onto the device");
		return TN_IO;
	}
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
	if (native->is_init)
		native->glue->fini(native->ctx);
	free(native->ctx);
	if (native->handle)
		dlclose(native->handle);
	free(native);
}

int tn_native_threads(void)
{
	long host = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set))
		return CPU_COUNT(&set);
	return host > 0 && host < 4096 ? (int)host : 1;
}

enum tn_status tn_native_run(struct tn_native *native,
			     const struct tn_native_call *call,
			     struct tn_native_report *report)
{
	const struct glue *glue = native->glue;
	int info[3] = { -1, -1, 0 };
	const char *why = NULL;
	int status = glue->run(native->ctx, call, info, &why);

	report->why = why;
	report->fault = info[0];
	report->op = info[1];
	report->flags = (unsigned)info[2];
	report->place = info[1] >= 0 ? glue->place(info[1]) : NULL;
	report->reason = info[1] >= 0 ? glue->reason(info[1]) : NULL;
	switch (status) {
	case 0:
		return TN_OK;
	case 1:
		return TN_NO;
	case 2:
		return TN_BAD_INPUT;
	default:
		return TN_IO;
	}
}

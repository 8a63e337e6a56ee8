/*
 * The C compiler and the files it needs.
 */
#include "driver/toolchain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "driver/cache.h"
#include "driver/native.h"
#include "driver/spawn.h"

#define MAX_ARGS 48
#define GLUE_FILE "tenon_glue.c"

/* One compilation under way. */
struct build {
	struct tenon_context *context;
	const struct tn_emission *emission;
	const struct tn_target *target;
	struct tn_arena arena;
	struct tn_buf glue;
	const char *folder;		/* where the sources are put */
	bool is_kept;
	const char *args[MAX_ARGS];
	int nargs, nflags;		/* flags come first */
	int openmp;			/* number of that argument */
};

/* ---- Weights -------------------------------------------------------------------- */

struct copy {
	char *at;
	size_t left;
};

static bool put_bytes(void *data, const void *bytes, size_t size)
{
	struct copy *copy = data;

	if (size > copy->left)
		return false;
	memcpy(copy->at, bytes, size);
	copy->at += size;
	copy->left -= size;
	return true;
}

enum tn_status tn_toolchain_weights(struct tenon_context *context,
				    const struct tn_emission *emission,
				    void **bytes, size_t *size)
{
	struct copy copy;

	*bytes = NULL;
	*size = (size_t)emission->weights.size;
	if (!*size)
		return TN_OK;
	if (posix_memalign(bytes, 64, *size)) {
		*bytes = NULL;
		return tn_context_nomem(context);
	}
	copy = (struct copy){ *bytes, *size };
	if (tn_weights_write(&emission->weights, put_bytes, &copy))
		return TN_OK;
	free(*bytes);
	*bytes = NULL;
	return tn_context_nomem(context);
}

/* ---- Files ------------------------------------------------------------------------ */

static enum tn_status write_file(struct tenon_context *context,
				 const char *folder, const char *name,
				 const void *data, size_t size)
{
	struct tn_buf path;
	int error;

	tn_buf_init(&path);
	tn_buf_putf(&path, "%s/%s", folder, name);
	error = path.failed ? ENOMEM :
		tn_file_write(tn_buf_text(&path), data, size);
	if (error)
		tn_context_file(context, TN_E0023, tn_buf_text(&path),
				error);
	tn_buf_fini(&path);
	return error ? TN_IO : TN_OK;
}

static enum tn_status write_emitted(struct tenon_context *context,
				    const struct tn_emission *emission,
				    const struct tn_emitted *file,
				    const char *folder)
{
	enum tn_status status;
	void *bytes;
	size_t size;

	if (!file->is_weights)
		return write_file(context, folder, file->name,
				  tn_buf_text(&file->text), file->text.len);
	status = tn_toolchain_weights(context, emission, &bytes, &size);
	if (!status)
		status = write_file(context, folder, file->name, bytes,
				    size);
	free(bytes);
	return status;
}

enum tn_status tn_toolchain_write(struct tenon_context *context,
				  const struct tn_emission *emission,
				  const char *folder)
{
	enum tn_status status = TN_OK;
	int error = tn_file_mkdirs(folder), i;

	if (error)
		return tn_context_file(context, TN_E0023, folder, error);
	for (i = 0; i < emission->count && !status; i++)
		status = write_emitted(context, emission,
				       &emission->files[i], folder);
	return status;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t len = strlen(name), n = strlen(ending);

	return len > n && !strcmp(name + len - n, ending);
}

/* The example program of the folder is not part of the object. */
static bool is_source(const char *name)
{
	return ends_with(name, ".h") ||
	       (ends_with(name, ".c") && !ends_with(name, "_main.c"));
}

static bool is_compiled(const char *name)
{
	return is_source(name) && ends_with(name, ".c");
}

/* ---- Arguments -------------------------------------------------------------------- */

static void add(struct build *b, const char *arg)
{
	if (b->nargs < MAX_ARGS - 1)
		b->args[b->nargs++] = arg;
}

/* Adds words separated by blanks; copies live in the arena. */
static void add_words(struct build *b, const char *words)
{
	size_t len;

	for (; *words; words += len) {
		words += strspn(words, " ");
		len = strcspn(words, " ");
		if (len)
			add(b, tn_arena_strndup(&b->arena, words, len));
	}
}

static void add_flags(struct build *b)
{
	add_words(b, b->context->settings.cc);
	add_words(b, "-std=c11 -O3 -fPIC -shared -w -ffp-contract=off "
		  "-fno-math-errno");
	add_words(b, tn_target_c_flags(b->target));
	b->openmp = b->nargs;
	add(b, "-fopenmp");
	b->nflags = b->nargs;
}

static void add_files(struct build *b, const char *object)
{
	int i;

	for (i = 0; i < b->emission->count; i++)
		if (is_compiled(b->emission->files[i].name))
			add(b, tn_file_join(&b->arena, b->folder,
					    b->emission->files[i].name));
	add(b, tn_file_join(&b->arena, b->folder, GLUE_FILE));
	add(b, "-o");
	add(b, object);
	add(b, "-lm");
}

/* ---- The key ------------------------------------------------------------------------ */

static void add_text(struct tn_sha256 *sha, const char *text, size_t size)
{
	uint64_t n = size;

	tn_sha256_add(sha, &n, sizeof(n));
	tn_sha256_add(sha, text, size);
}

/* The compiler as found, with what it says of itself. */
static enum tn_status add_compiler(struct build *b, struct tn_sha256 *sha)
{
	const char *argv[] = { b->args[0], "--version", NULL };
	struct tn_buf path, version;
	struct tn_diag *diag;
	int error = ENOENT, status;

	tn_buf_init(&path);
	tn_buf_init(&version);
	if (b->args[0] && tn_spawn_find(b->args[0], &path))
		error = tn_spawn(argv, &version, &status);
	add_text(sha, tn_buf_text(&path), path.len);
	add_text(sha, tn_buf_text(&version), version.len);
	tn_buf_fini(&path);
	tn_buf_fini(&version);
	if (!error)
		return TN_OK;
	if (error == ENOMEM)
		return tn_context_nomem(b->context);
	diag = tn_context_report(b->context, TN_E0008,
				 "the C compiler '%s' cannot be run: %s",
				 b->args[0] ? b->args[0] : "",
				 strerror(error));
	tn_diag_help(&b->context->sink, diag, "name one with --cc, or use "
		     "--target=ref, which needs none");
	return TN_COMPILER;
}

static enum tn_status make_key(struct build *b, unsigned char key[32])
{
	const struct tn_emitted *file;
	enum tn_status status;
	struct tn_sha256 sha;
	int i;

	tn_sha256_init(&sha);
	add_text(&sha, TENON_VERSION, strlen(TENON_VERSION));
	for (i = 0; i < b->nflags; i++)
		add_text(&sha, b->args[i], strlen(b->args[i]));
	status = add_compiler(b, &sha);
	for (i = 0; i < b->emission->count; i++) {
		file = &b->emission->files[i];
		if (!is_source(file->name))
			continue;
		add_text(&sha, file->name, strlen(file->name));
		add_text(&sha, tn_buf_text(&file->text), file->text.len);
	}
	add_text(&sha, tn_buf_text(&b->glue), b->glue.len);
	tn_sha256_end(&sha, key);
	return status;
}

/* ---- Compiling ------------------------------------------------------------------------ */

static enum tn_status make_folder(struct build *b)
{
	const char *tmp = getenv("TMPDIR");
	char *path;

	b->folder = b->context->settings.keep;
	if (b->folder) {
		b->is_kept = true;
		return TN_OK;
	}
	path = tn_arena_printf(&b->arena, "%s/tenonXXXXXX", tmp && tmp[0] ?
			       tmp : "/tmp");
	if (!path)
		return TN_IO;
	if (!mkdtemp(path))
		return tn_context_file(b->context, TN_E0023, path, errno);
	b->folder = path;
	return TN_OK;
}

static void remove_file(struct build *b, const char *name)
{
	char *path = tn_file_join(&b->arena, b->folder, name);

	if (path)
		unlink(path);
}

static void remove_folder(struct build *b)
{
	int i;

	if (!b->folder || b->is_kept)
		return;
	for (i = 0; i < b->emission->count; i++)
		remove_file(b, b->emission->files[i].name);
	remove_file(b, GLUE_FILE);
	remove_file(b, "engine.so");
	rmdir(b->folder);
}

static enum tn_status write_sources(struct build *b)
{
	enum tn_status status = TN_OK;
	int i;

	if (b->is_kept)
		status = tn_toolchain_write(b->context, b->emission,
					    b->folder);
	for (i = 0; !b->is_kept && i < b->emission->count && !status; i++)
		if (is_source(b->emission->files[i].name))
			status = write_emitted(b->context, b->emission,
					       &b->emission->files[i],
					       b->folder);
	return status ? status : write_file(b->context, b->folder, GLUE_FILE,
					    tn_buf_text(&b->glue),
					    b->glue.len);
}

/* The compiler's words, cut to some lines. */
static void note_output(struct build *b, struct tn_diag *diag,
			const struct tn_buf *output)
{
	const char *at = tn_buf_text(output);
	size_t len;
	int lines;

	for (lines = 0; *at && lines < 12; lines++) {
		len = strcspn(at, "\n");
		tn_diag_note(&b->context->sink, diag, "%.*s", (int)(len <
			     200 ? len : 200), at);
		at += len + (at[len] == '\n');
	}
}

static enum tn_status run_compiler(struct build *b)
{
	struct tn_buf output;
	struct tn_diag *diag;
	int error, code = 0;

	if (b->arena.failed)
		return TN_IO;
	tn_buf_init(&output);
	error = tn_spawn(b->args, &output, &code);
	if (!error && code) {
		/* A compiler without OpenMP: one thread then. */
		b->args[b->openmp] = "-fno-openmp";
		tn_buf_clear(&output);
		error = tn_spawn(b->args, &output, &code);
	}
	if (!error && !code) {
		tn_buf_fini(&output);
		return TN_OK;
	}
	diag = tn_context_report(b->context, TN_E0007,
				 error ? "%s: %s" : "%s failed%s",
				 b->args[0], error ? strerror(error) : "");
	note_output(b, diag, &output);
	tn_buf_fini(&output);
	return TN_COMPILER;
}

static enum tn_status compile(struct build *b, struct tn_buf *object)
{
	const char *so;
	char *data;
	size_t size;
	int error;
	enum tn_status status = make_folder(b);

	if (status)
		return status;
	so = tn_file_join(&b->arena, b->folder, "engine.so");
	if (!so)
		return TN_IO;
	add_files(b, so);
	status = b->is_kept && (error = tn_file_mkdirs(b->folder)) ?
		tn_context_file(b->context, TN_E0023, b->folder, error) :
		write_sources(b);
	if (!status)
		status = run_compiler(b);
	if (status)
		return status;
	error = tn_file_read(so, &data, &size);
	if (error)
		return tn_context_file(b->context, TN_E0002, so, error);
	tn_buf_putn(object, data, size);
	free(data);
	return object->failed ? TN_IO : TN_OK;
}

static enum tn_status find_or_compile(struct build *b, struct tn_buf *object)
{
	unsigned char key[32];
	enum tn_status status = make_key(b, key);

	if (status)
		return status;
	if (!b->context->settings.keep &&
	    tn_cache_get(b->context, key, object))
		return TN_OK;
	status = compile(b, object);
	if (!status)
		tn_cache_put(b->context, key, object->data, object->len);
	return status;
}

enum tn_status tn_toolchain_c(struct tenon_context *context,
			      const struct tn_emission *emission,
			      const struct tn_target *target,
			      struct tn_buf *object)
{
	struct build b = { .context = context, .emission = emission,
			   .target = target };
	enum tn_status status;

	tn_arena_init(&b.arena);
	tn_buf_init(&b.glue);
	tn_native_glue(&b.glue, emission->name);
	add_flags(&b);
	status = b.glue.failed || b.arena.failed ? TN_IO :
		find_or_compile(&b, object);
	remove_folder(&b);
	tn_buf_fini(&b.glue);
	tn_arena_fini(&b.arena);
	return status;
}

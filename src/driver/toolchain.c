/*
 * Compilers: recipes carried out in a folder, or their result out of the cache.
 */
#include "driver/toolchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "driver/cache.h"
#include "driver/native.h"
#include "driver/recipe.h"
#include "driver/scratch.h"
#include "driver/spawn.h"

#define MAX_ARGS 64
#define SIGNALLED 128	/* codes from here: ended by a signal */

/* One compilation under way. */
struct build {
	struct tenon_context *context;
	const struct tn_emission *emission;
	const struct tn_build *build;
	struct tn_arena arena;
	struct tn_buf glue, recipe;
	const char *folder;		/* where the sources are put */
	bool is_kept;
	bool is_plain;			/* without OpenMP */
};

/* ---- Commands ---------------------------------------------------------- */

/* A word of a recipe as the command gets it. */
static const char *expand(struct build *b, const char *word, size_t len)
{
	const char *mark = memchr(word, TN_RECIPE_FOLDER, len);
	size_t before;

	if (mark) {
		before = (size_t)(mark - word);
		return tn_arena_printf(&b->arena, "%.*s%s%.*s", (int)before,
				       word, b->folder,
				       (int)(len - before - 1), mark + 1);
	}
	if (b->is_plain && len == strlen(TN_BUILD_OPENMP) &&
	    !strncmp(word, TN_BUILD_OPENMP, len))
		return "-fno-openmp";
	return tn_arena_strndup(&b->arena, word, len);
}

/* The words of the line at `text`; behind the line. Words past the room are
 * dropped, which a compiler notices. */
static const char *split(struct build *b, const char *text,
			 const char *args[MAX_ARGS])
{
	size_t len;
	int n = 0;

	for (; *text && *text != '\n'; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " \n");
		if (len && n < MAX_ARGS - 1)
			args[n++] = expand(b, text, len);
	}
	args[n] = NULL;
	return text + (*text == '\n');
}

/* ---- The key ------------------------------------------------------------------------ */

static void add_text(struct tn_sha256 *sha, const char *text, size_t size)
{
	uint64_t n = size;

	tn_sha256_add(sha, &n, sizeof(n));
	tn_sha256_add(sha, text, size);
}

static enum tn_status no_compiler(struct build *b, const char *name,
				  int error)
{
	struct tn_diag *diag;

	if (error == ENOMEM)
		return tn_context_nomem(b->context);
	diag = tn_context_report(b->context, TN_E0008,
				 "the %s compiler '%s' cannot be run: %s",
				 b->build->language, name, strerror(error));
	tn_diag_help(&b->context->sink, diag, "%s", b->build->help);
	return TN_COMPILER;
}

/* The compiler as found, with what it says of itself. */
static enum tn_status add_compiler(struct build *b, const char *name,
				   struct tn_sha256 *sha)
{
	const char *argv[] = { name, "--version", NULL };
	struct tn_buf path, version;
	int error = ENOENT, status;

	tn_buf_init(&path);
	tn_buf_init(&version);
	if (name && tn_spawn_find(name, &path))
		error = tn_spawn(argv, &version, &status);
	if (path.failed || version.failed)
		error = ENOMEM;
	add_text(sha, tn_buf_text(&path), path.len);
	add_text(sha, tn_buf_text(&version), version.len);
	tn_buf_fini(&path);
	tn_buf_fini(&version);
	return error ? no_compiler(b, name ? name : "", error) : TN_OK;
}

/* The compilers of all commands. */
static enum tn_status add_compilers(struct build *b, struct tn_sha256 *sha)
{
	enum tn_status status = TN_OK;
	const char *at = tn_buf_text(&b->recipe), *args[MAX_ARGS];

	b->folder = "";
	while (*at && !status) {
		at = split(b, at, args);
		status = b->arena.failed ? TN_IO :
			add_compiler(b, args[0], sha);
	}
	b->folder = NULL;
	return status;
}

static enum tn_status make_key(struct build *b, unsigned char key[32])
{
	const struct tn_emitted *file;
	enum tn_status status;
	struct tn_sha256 sha;
	int i;

	tn_sha256_init(&sha);
	add_text(&sha, TENON_VERSION, strlen(TENON_VERSION));
	add_text(&sha, tn_buf_text(&b->recipe), b->recipe.len);
	status = add_compilers(b, &sha);
	for (i = 0; i < b->emission->count; i++) {
		file = &b->emission->files[i];
		if (!tn_recipe_uses(b->build, &b->emission->files[i]))
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
	const char *path;
	int error;

	b->folder = b->context->settings.keep;
	if (b->folder) {
		b->is_kept = true;
		return TN_OK;
	}
	error = tn_scratch_make(&b->arena, &path);
	if (error)
		return tn_context_file(b->context, TN_E0023, path, error);
	b->folder = path;
	return TN_OK;
}

static void remove_file(struct build *b, const char *name)
{
	char *path = tn_file_join(&b->arena, b->folder, name);

	if (path)
		unlink(path);
}

/* Folders that stand in the names of files, the inner ones first. */
static void remove_parents(struct build *b, const char *name)
{
	char *path = tn_file_join(&b->arena, b->folder, name);
	size_t least = strlen(b->folder);
	char *slash;

	while (path && (slash = strrchr(path, '/')) &&
	       (size_t)(slash - path) > least) {
		*slash = '\0';
		if (rmdir(path))
			return;
	}
}

static void remove_folder(struct build *b)
{
	const char *name;
	int i;

	if (!b->folder || b->is_kept)
		return;
	for (i = 0; i < b->emission->count; i++)
		remove_file(b, b->emission->files[i].name);
	for (i = 0; (name = tn_recipe_product(b->build, i)); i++)
		remove_file(b, name);
	for (i = 0; i < b->emission->count; i++)
		remove_parents(b, b->emission->files[i].name);
	rmdir(b->folder);
}

static enum tn_status write_sources(struct build *b)
{
	const struct tn_emitted *file;
	enum tn_status status = TN_OK;
	int i;

	if (b->is_kept)
		status = tn_toolchain_write(b->context, b->emission,
					    b->folder);
	for (i = 0; !b->is_kept && i < b->emission->count && !status; i++) {
		file = &b->emission->files[i];
		if (tn_recipe_uses(b->build, &b->emission->files[i]))
			status = tn_toolchain_put(b->context, b->folder,
						  file->name,
						  tn_buf_text(&file->text),
						  file->text.len);
	}
	return status ? status : tn_toolchain_put(b->context, b->folder,
						  TN_BUILD_GLUE,
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

/* Runs the commands in order until one fails; *name is that one's. */
static int run_commands(struct build *b, struct tn_buf *output,
			const char **name, int *code)
{
	const char *at = tn_buf_text(&b->recipe), *args[MAX_ARGS];
	int error = 0;

	*code = 0;
	tn_buf_clear(output);
	while (*at && !error && !*code) {
		at = split(b, at, args);
		*name = args[0];
		error = b->arena.failed ? ENOMEM :
			tn_spawn(args, output, code);
	}
	return error;
}

static enum tn_status run_compilers(struct build *b)
{
	const char *name = "";
	struct tn_buf output;
	struct tn_diag *diag;
	int error, code;

	tn_buf_init(&output);
	error = run_commands(b, &output, &name, &code);
	if (!error && code && code < SIGNALLED &&
	    strstr(tn_buf_text(&b->recipe), TN_BUILD_OPENMP)) {
		/* A compiler without OpenMP: one thread then. */
		b->is_plain = true;
		error = run_commands(b, &output, &name, &code);
	}
	if (!error && !code) {
		tn_buf_fini(&output);
		return TN_OK;
	}
	if (error == ENOMEM) {
		tn_buf_fini(&output);
		return tn_context_nomem(b->context);
	}
	diag = tn_context_report(b->context, TN_E0007,
				 error ? "%s: %s" : "%s failed%s", name,
				 error ? strerror(error) : "");
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
	so = tn_file_join(&b->arena, b->folder, TN_BUILD_OBJECT);
	if (!so)
		return TN_IO;
	status = b->is_kept && (error = tn_file_mkdirs(b->folder)) ?
		tn_context_file(b->context, TN_E0023, b->folder, error) :
		write_sources(b);
	if (!status)
		status = run_compilers(b);
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

enum tn_status tn_toolchain_compile(struct tenon_context *context,
				    const struct tn_emission *emission,
				    const struct tn_target *target,
				    struct tn_buf *object)
{
	struct build b = { .context = context, .emission = emission,
			   .build = tn_recipe_find(context, target) };
	enum tn_status status;

	if (!b.build)
		return TN_UNSUPPORTED;

	if (context->hold)
		context->hold(context->hold_data, true);
	tn_arena_init(&b.arena);
	tn_buf_init(&b.glue);
	tn_buf_init(&b.recipe);
	tn_native_glue(&b.glue, emission->name, b.build->glue);
	status = tn_recipe_put(context, emission, target, &b.recipe);
	if (!status)
		status = b.glue.failed ? TN_IO : find_or_compile(&b, object);
	remove_folder(&b);
	tn_buf_fini(&b.glue);
	tn_buf_fini(&b.recipe);
	tn_arena_fini(&b.arena);
	if (context->hold)
		context->hold(context->hold_data, false);
	return status;
}

/*
 * The commands of a build with the settings put in; see recipe.h. The texts
 * are those of the back end's row (struct tn_build).
 */
#include "driver/recipe.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "driver/spawn.h"

/* Compilers by the word that stands for them: the setting, and where the
 * program is if it has its usual name and is not on PATH. */
static const struct {
	const char *word;
	size_t setting;
	const char *usual, *folder;
} tools[] = {
	{ "cc", offsetof(struct tn_settings, cc), "cc", NULL },
	{ "cxx", offsetof(struct tn_settings, cxx), "c++", NULL },
	{ "nvcc", offsetof(struct tn_settings, nvcc), "nvcc",
	  "/usr/local/cuda/bin/" }
};
#define NTOOLS (sizeof(tools) / sizeof(*tools))

const struct tn_build *tn_recipe_find(const struct tenon_context *context,
				      const struct tn_target *target)
{
	const struct tn_backend *backend = target->backend;

	return backend->emulated && context->settings.emulate ?
		backend->emulated : backend->native;
}

const char *tn_recipe_product(const struct tn_build *build, int i)
{
	static const char *const all[] = { TN_BUILD_GLUE, TN_BUILD_OBJECT };

	return i < 2 ? all[i] : build->products[i - 2];
}

/* Whether the folder has the program; its path is put then. */
static bool put_from(struct tn_buf *out, const char *folder, const char *name)
{
	struct tn_buf path;
	bool has;

	tn_buf_init(&path);
	tn_buf_putf(&path, "%s%s", folder, name);
	has = access(tn_buf_text(&path), X_OK) == 0;
	if (has)
		tn_buf_put(out, tn_buf_text(&path));
	tn_buf_fini(&path);
	return has;
}

/* The program that the word at `text` stands for; the word's length. */
static size_t put_tool(struct tn_buf *out, const struct tn_settings *settings,
		       const char *text)
{
	size_t len = strcspn(text, " \n"), i;
	struct tn_buf found;
	const char *name;
	bool is_there;

	for (i = 0; i < NTOOLS - 1; i++)
		if (strlen(tools[i].word) == len &&
		    !strncmp(tools[i].word, text, len))
			break;
	memcpy(&name, (const char *)settings + tools[i].setting,
	       sizeof(name));
	tn_buf_init(&found);
	is_there = !tools[i].folder || strcmp(name, tools[i].usual) ||
		tn_spawn_find(name, &found);
	tn_buf_fini(&found);
	if (is_there || !put_from(out, tools[i].folder, name))
		tn_buf_put(out, name);
	return len;
}

enum tn_status tn_recipe_put(struct tenon_context *context,
			     const struct tn_emission *emission,
			     const struct tn_target *target,
			     struct tn_buf *out)
{
	const struct tn_build *build = tn_recipe_find(context, target);
	const char *at;

	if (!build)
		return TN_UNSUPPORTED;
	for (at = build->recipe; *at; at++) {
		if (*at == '$')
			at += put_tool(out, &context->settings, at + 1);
		else if (*at == '&')
			tn_buf_put(out, target->backend->flags(target));
		else if (*at == '@')
			tn_buf_put(out, emission->name);
		else
			tn_buf_putc(out, *at == '%' ? TN_RECIPE_FOLDER : *at);
	}
	return out->failed ? TN_IO : TN_OK;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t len = strlen(name), n = strlen(ending);

	return len > n && !strcmp(name + len - n, ending);
}

/* The example program of a folder is not part of the object. */
bool tn_recipe_uses(const struct tn_build *build,
		    const struct tn_emitted *file)
{
	int i;

	if (file->is_weights || ends_with(file->name, "_main.c"))
		return false;
	for (i = 0; build->sources[i]; i++)
		if (ends_with(file->name, build->sources[i]))
			return true;
	return false;
}

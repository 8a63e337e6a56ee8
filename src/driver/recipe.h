/*
 * How emitted code becomes a shared object: commands as text.
 *
 *   recipe = { command "\n" }      words are split by blanks
 *
 * In a word, TN_RECIPE_FOLDER stands for the folder that the emitted files lie
 * in, so that the text is the same wherever that is and may be part of a key.
 * The object is TN_BUILD_OBJECT; the first word of a command is the compiler.
 */
#ifndef TN_DRIVER_RECIPE_H
#define TN_DRIVER_RECIPE_H

#include "backends/backend.h"
#include "driver/context.h"

#define TN_RECIPE_FOLDER '\1'

/* How the target is built by the settings; NULL: it is not. */
const struct tn_build *tn_recipe_find(const struct tenon_context *context,
				      const struct tn_target *target);
/* Appends the recipe of the target, by the settings. */
enum tn_status tn_recipe_put(struct tenon_context *context,
			     const struct tn_emission *emission,
			     const struct tn_target *target,
			     struct tn_buf *out);
/* Whether the recipe compiles or includes that file. */
bool tn_recipe_uses(const struct tn_build *build,
		    const struct tn_emitted *file);
/* What the recipe makes on the way, relative to the folder: name `i` from 0;
 * NULL: no more. */
const char *tn_recipe_product(const struct tn_build *build, int i);

#endif

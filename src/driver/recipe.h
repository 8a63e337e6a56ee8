/*
 * How emitted code becomes a shared object: commands as text.
 *
 *   recipe = { command "\n" }      words are split by blanks
 *
 * In a word, TN_RECIPE_FOLDER stands for the folder that the emitted files lie
 * in, so that the text is the same wherever that is and may be part of a key.
 * The object is TN_RECIPE_OBJECT; the first word of a command is the compiler.
 */
#ifndef TN_DRIVER_RECIPE_H
#define TN_DRIVER_RECIPE_H

#include "backends/emission.h"
#include "driver/context.h"
#include "ir/target.h"

#define TN_RECIPE_FOLDER '\1'
#define TN_RECIPE_GLUE "tenon_glue.c"
#define TN_RECIPE_OBJECT "engine.so"
/* The word that a compiler may refuse, for want of OpenMP. */
#define TN_RECIPE_OPENMP "-fopenmp"

/* Appends the recipe of the target, by the settings. */
enum tn_status tn_recipe_put(struct tenon_context *context,
			     const struct tn_emission *emission,
			     const struct tn_target *target,
			     struct tn_buf *out);
/* Whether the recipe compiles or includes that file of the emission. */
bool tn_recipe_uses(const struct tn_emission *emission,
		    const struct tn_target *target, int file);
/* Adds what the recipe makes on the way, relative to the folder: name `i`
 * from 0; NULL: no more. */
const char *tn_recipe_product(int i);

#endif

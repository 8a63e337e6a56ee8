/* What people write who come from other languages, and what is written here. */
#ifndef TN_GRAMMAR_HABIT_H
#define TN_GRAMMAR_HABIT_H

#include "base/diag.h"

/* Help for a word, or NULL: one that is called, a field of a value, a name, an
 * argument, a token that the grammar has no use for, a character. */
const char *tn_habit_call(const char *word);
const char *tn_habit_field(const char *word);
const char *tn_habit_name(const char *word);
const char *tn_habit_argument(const char *word);
const char *tn_habit_token(const char *word);
const char *tn_habit_character(const char *bytes);

#endif

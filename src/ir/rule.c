/*
 * Licences of rules: words between commas.
 */
#include "ir/rule.h"

#include <string.h>

#include "base/ascii.h"

/* The next word of the list, or NULL at its end. */
static const char *next_word(const char **list, size_t *len)
{
	const char *at = *list, *word;

	while (*at && !tn_ascii_is_word(*at))
		at++;
	word = at;
	while (tn_ascii_is_word(*at))
		at++;
	*len = (size_t)(at - word);
	*list = at;
	return *len ? word : NULL;
}

static bool has_word(const char *list, const char *word, size_t len)
{
	const char *at;
	size_t n;

	while ((at = next_word(&list, &n)))
		if (n == len && memcmp(at, word, len) == 0)
			return true;
	return false;
}

const char *tn_rule_find_unknown(const char *words, size_t *len)
{
	const char *word;

	while ((word = next_word(&words, len)))
		if (!has_word(TN_RULE_WORDS, word, *len))
			return word;
	return NULL;
}

bool tn_rule_is_licensed(const struct tn_rule *rule, const char *granted)
{
	const char *wanted = rule->fp ? rule->fp : "", *word;
	size_t len;

	if (rule->licence == TN_RULE_EXACT)
		return true;
	if (!granted)
		return false;
	if (has_word(granted, "fast", 4))
		return true;
	if (rule->licence == TN_RULE_TOL)
		return has_word(granted, "tol", 3);
	while ((word = next_word(&wanted, &len)))
		if (!has_word(granted, word, len))
			return false;
	return true;
}

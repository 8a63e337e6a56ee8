/*
 * The table of operators.
 */
#include <string.h>

#include "importers/onnx/table.h"

static const struct tn_onnx_row rows[] = {
#define TEXT(domain, op, since, text) { domain, op, since, NULL, text, NULL },
#define DO(domain, op, since, handler) \
	{ domain, op, since, tn_onnx_do_##handler, NULL, NULL },
#define NO(domain, op, why) { domain, op, 1, NULL, NULL, why },
#include "importers/onnx/onnx.def"
#undef TEXT
#undef DO
#undef NO
};

const struct tn_onnx_row *tn_onnx_row(const char *domain, const char *op,
				      int64_t version)
{
	const struct tn_onnx_row *best = NULL;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].op, op) && !strcmp(rows[i].domain, domain) &&
		    rows[i].since <= version &&
		    (!best || rows[i].since > best->since))
			best = &rows[i];
	return best;
}

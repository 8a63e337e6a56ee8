/* Shape rules of matmul and einsum, through their normal form. */
#include "ir/infer_rules.h"

#include <stdio.h>

static bool push_labels(struct tn_infer *inf, const struct tn_einsum *spec)
{
	int i;

	for (i = 0; i < spec->out_rank; i++) {
		if (!tn_infer_push(inf, spec->extent[spec->out[i]]))
			return false;
	}
	return true;
}

/* Every axis has the extent of its label; batch axes of matmul stretch. */
static bool check_extents(struct tn_infer *inf, const struct tn_einsum *spec,
			  int nstretch)
{
	char what[32];
	int i;

	for (i = 0; i < spec->noperands; i++) {
		int at;

		for (at = 0; at < spec->rank[i]; at++) {
			int label = spec->index[i][at];
			const struct tn_dim *dim = tn_infer_in(inf, i)->dims[at];

			if (label < nstretch && tn_dim_is(dim, 1))
				continue;
			snprintf(what, sizeof(what), "operand %d, ", i + 1);
			if (!tn_infer_match(inf, spec->extent[label], dim,
					    what, at))
				return false;
		}
	}
	return true;
}

TN_INFER_RULE(matmul)
{
	struct tn_einsum spec;
	const char *why;
	int a = tn_infer_in(inf, 0)->rank, b = tn_infer_in(inf, 1)->rank;
	int batch = (a > b ? a : b) - 2;

	if (!tn_einsum_of(inf->op, &spec, &why))
		return tn_infer_fail(inf, TN_E0310, "'matmul': %s", why);
	return check_extents(inf, &spec, batch > 0 ? batch : 0) &&
	       push_labels(inf, &spec) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

TN_INFER_RULE(einsum)
{
	struct tn_einsum spec;
	const char *why;

	if (!tn_einsum_of(inf->op, &spec, &why))
		return tn_infer_fail(inf, TN_E0507, "einsum \"%s\": %s",
				     tn_infer_attr(inf, "spec")->u.s, why);
	return check_extents(inf, &spec, 0) && push_labels(inf, &spec) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

/*
 * Attributes of nodes: found by name, held against the kind that is asked for.
 *
 * A writer may leave out a number that is 0, and an old one the kind; so what is
 * there decides only where no kind is said.
 */
#include <string.h>

#include "importers/onnx/onnx.h"

/* AttributeProto.AttributeType. */
enum kind { NONE, FLOAT, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS };

static const char *const kinds[] = {
	"of no kind", "a float", "an integer", "a string", "a tensor",
	"a graph", "a list of floats", "a list of integers",
	"a list of strings"
};
#define NKINDS ((int64_t)(sizeof(kinds) / sizeof(*kinds)))

/* ---- Finding ------------------------------------------------------------------ */

static const struct onnx_attr *find(const struct onnx_attr_list *attrs,
				    const char *name)
{
	size_t i;

	for (i = 0; i < attrs->len; i++)
		if (attrs->at[i].name && !strcmp(attrs->at[i].name, name))
			return &attrs->at[i];
	return NULL;
}

/* An attribute may name one of the node that calls its function. */
const struct onnx_attr *tn_onnx_attr(const struct tn_onnx *n, const char *name)
{
	const struct onnx_attr *attr = NULL;
	const struct onnx_function *function;

	while (n) {
		attr = find(&n->node->attrs, name);
		if (attr && (!attr->ref || !attr->ref[0]))
			return attr;
		if (!attr)
			return NULL;
		name = attr->ref;
		function = n->scope->function;
		n = n->scope->caller;
		if (n && function && !find(&n->node->attrs, name))
			return find(&function->defaults, name);
	}
	return NULL;
}

bool tn_onnx_check_attrs(struct tn_onnx *n)
{
	const struct onnx_attr_list *attrs = &n->node->attrs;
	size_t i;

	for (i = 0; i < attrs->len; i++) {
		const char *name = attrs->at[i].name;

		if (!name || !name[0])
			tn_onnx_report(n, TN_E1012,
				       "attribute %d has no name", (int)i);
		else if (find(attrs, name) != &attrs->at[i])
			tn_onnx_report(n, TN_E1012,
				       "attribute '%s' is given twice", name);
	}
	return !n->failed;
}

/* ---- Kinds ---------------------------------------------------------------------- */

static enum kind kind_of(const struct onnx_attr *attr)
{
	if (attr->type.v > 0 && attr->type.v < NKINDS)
		return (enum kind)attr->type.v;
	if (attr->f.is_set)
		return FLOAT;
	if (attr->i.is_set)
		return INT;
	if (attr->s.is_set)
		return STRING;
	if (attr->t)
		return TENSOR;
	if (attr->g)
		return GRAPH;
	if (attr->floats.len)
		return FLOATS;
	if (attr->ints.len)
		return INTS;
	return attr->strings.len ? STRINGS : NONE;
}

/* The attribute, if it is of this kind; NULL, after a report if it is of
 * another. */
static const struct onnx_attr *of_kind(struct tn_onnx *n, const char *name,
				       enum kind wanted)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, name);
	enum kind kind = attr ? kind_of(attr) : NONE;

	if (!attr || kind == wanted || kind == NONE)
		return attr;
	tn_onnx_report(n, TN_E1012, "attribute '%s' is %s, not %s", name,
		       kinds[kind], kinds[wanted]);
	return NULL;
}

int64_t tn_onnx_int(struct tn_onnx *n, const char *name, int64_t fallback)
{
	const struct onnx_attr *attr = of_kind(n, name, INT);

	return attr && attr->i.is_set ? attr->i.v : attr ? 0 : fallback;
}

int tn_onnx_small(struct tn_onnx *n, const char *name, int fallback)
{
	int64_t value = tn_onnx_int(n, name, fallback);

	if (value >= -1 && value <= ONNX_KNOWN)
		return (int)value;
	tn_onnx_report(n, TN_E1012, "attribute '%s' is %lld", name,
		       (long long)value);
	return fallback;
}

double tn_onnx_float(struct tn_onnx *n, const char *name, double fallback)
{
	const struct onnx_attr *attr = of_kind(n, name, FLOAT);

	return attr && attr->f.is_set ? (double)attr->f.v :
		attr ? 0 : fallback;
}

const char *tn_onnx_string(struct tn_onnx *n, const char *name,
			   const char *fallback)
{
	const struct onnx_attr *attr = of_kind(n, name, STRING);
	const char *text;

	if (!attr || !attr->s.is_set)
		return fallback;
	text = tn_arena_strndup(&n->job->arena, (const char *)attr->s.v.at,
				wire_size(&attr->s.v));
	return text ? text : fallback;
}

int tn_onnx_list(struct tn_onnx *n, const char *name, const int64_t **out)
{
	const struct onnx_attr *attr = of_kind(n, name, INTS);

	if (!attr || attr->ints.len > ONNX_KNOWN)
		return -1;
	*out = attr->ints.at;
	return (int)attr->ints.len;
}

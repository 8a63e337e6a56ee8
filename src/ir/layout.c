/*
 * Layouts: making, reading, comparing; see layout.h.
 */
#include "ir/layout.h"

#include <string.h>

#include "base/ascii.h"
#include "base/num.h"

/* ---- Bijections ------------------------------------------------------- */

/* Why the parts are no bijection of that many axes; NULL: they are. */
static const char *fault_of(int rank, int nparts,
			    const struct tn_layout_part *parts)
{
	int64_t cut[TN_MAX_RANK] = {0};
	int seen[TN_MAX_RANK] = {0};
	int i;

	if (rank > TN_MAX_RANK || nparts > TN_MAX_RANK)
		return "it has more than 16 axes";
	for (i = 0; i < nparts; i++) {
		const struct tn_layout_part *part = &parts[i];
		int bit = 1 << part->piece;

		if (part->axis < 0 || part->axis >= rank)
			return "it names an axis that is not there";
		if (part->piece != TN_LAYOUT_WHOLE && part->n < 2)
			return "a block has at least 2 elements";
		if (seen[part->axis] & (bit | 1) || (bit & 1 &&
						     seen[part->axis]))
			return "it names an axis twice";
		if (seen[part->axis] && cut[part->axis] != part->n)
			return "the pieces of an axis have one size";
		seen[part->axis] |= bit;
		cut[part->axis] = part->n;
	}
	for (i = 0; i < rank; i++) {
		if (!seen[i])
			return "it leaves an axis out";
		if (seen[i] != 1 << TN_LAYOUT_WHOLE &&
		    seen[i] != (1 << TN_LAYOUT_BLOCK | 1 << TN_LAYOUT_LANE))
			return "it names one piece of an axis without the "
				"other";
	}
	return NULL;
}

void tn_layout_print(struct tn_buf *buf, int nparts,
		     const struct tn_layout_part *parts, int shift)
{
	static const char *const signs[] = { "", "//", "%" };
	int i;

	for (i = 0; i < nparts; i++) {
		tn_buf_putf(buf, "%s%d", i ? ", " : "", parts[i].axis + shift);
		if (parts[i].piece != TN_LAYOUT_WHOLE)
			tn_buf_putf(buf, " %s %lld", signs[parts[i].piece],
				    (long long)parts[i].n);
	}
}

/* The canonical text, interned: the key of a layout. */
static const char *text_of(struct tn_module *module, int nparts,
			   const struct tn_layout_part *parts)
{
	const char *text = NULL;
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_layout_print(&buf, nparts, parts, 0);
	if (!buf.failed)
		text = tn_intern_text(module->names, tn_buf_text(&buf));
	tn_buf_fini(&buf);
	return text;
}

static struct tn_layout *make(struct tn_module *module, int rank, int nparts,
			      const struct tn_layout_part *parts,
			      const char *text)
{
	struct tn_layout *layout;

	layout = tn_arena_alloc(&module->arena, sizeof(*layout));
	if (!layout)
		return NULL;
	layout->rank = rank;
	layout->nparts = nparts;
	layout->text = text;
	layout->parts = tn_arena_copy(&module->arena, parts,
				      ((size_t)nparts + 1) * sizeof(*parts));
	if (!layout->parts ||
	    !tn_map_set(&module->layouts, text, layout))
		return NULL;
	return layout;
}

const struct tn_layout *tn_layout_get(struct tn_module *module, int rank,
				      int nparts,
				      const struct tn_layout_part *parts)
{
	struct tn_layout_part list[TN_MAX_RANK + 1] = {{0}};
	struct tn_layout *layout = NULL;
	const char *text;

	memcpy(list, parts, (size_t)nparts * sizeof(*parts));
	text = text_of(module, nparts, list);
	if (text)
		layout = tn_map_find(&module->layouts, text);
	if (text && !layout)
		layout = make(module, rank, nparts, list, text);
	if (!layout)
		module->failed = true;
	return layout;
}

const struct tn_layout *tn_layout_stacked(struct tn_module *module,
					  const struct tn_layout *layout)
{
	struct tn_layout_part parts[TN_MAX_RANK + 1];
	int i;

	if (layout->nparts >= TN_MAX_RANK)
		return NULL;
	parts[0] = (struct tn_layout_part){ 0, TN_LAYOUT_WHOLE, 1 };
	for (i = 0; i < layout->nparts; i++) {
		parts[i + 1] = layout->parts[i];
		parts[i + 1].axis++;
	}
	return tn_layout_get(module, layout->rank + 1, layout->nparts + 1,
			     parts);
}

/* ---- Reading ---------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
	while (*at == ' ')
		at++;
	return at;
}

/* A number of few digits; NULL: there is none. */
static const char *read_number(const char *at, int64_t *number)
{
	const char *from = at = skip_blanks(at);

	for (*number = 0; tn_ascii_is_digit(*at) && at - from < 10; at++)
		*number = *number * 10 + (*at - '0');
	return at > from && !tn_ascii_is_digit(*at) ? skip_blanks(at) : NULL;
}

/* One of `1`, `1 // 16`, `1 % 16`; NULL: something else. */
static const char *read_part(const char *at, struct tn_layout_part *part)
{
	int64_t axis;

	part->piece = TN_LAYOUT_WHOLE;
	part->n = 1;
	at = read_number(at, &axis);
	if (!at || axis > TN_MAX_RANK)
		return NULL;
	part->axis = (int)axis;
	if (strncmp(at, "//", 2) == 0)
		part->piece = TN_LAYOUT_BLOCK;
	else if (*at == '%')
		part->piece = TN_LAYOUT_LANE;
	else
		return at;
	return read_number(at + (part->piece == TN_LAYOUT_BLOCK ? 2 : 1),
			   &part->n);
}

/* The axes are those that the list names. */
static int rank_of(int nparts, const struct tn_layout_part *parts)
{
	int i, rank = 0;

	for (i = 0; i < nparts; i++)
		if (parts[i].axis >= rank)
			rank = parts[i].axis + 1;
	return rank;
}

const struct tn_layout *tn_layout_parse(struct tn_module *module,
					const char *text, const char **why)
{
	struct tn_layout_part parts[TN_MAX_RANK] = {{0}};
	const char *at = text ? skip_blanks(text) : "";
	int n = 0;

	*why = NULL;
	while (*at) {
		if (n == TN_MAX_RANK) {
			*why = "it has more than 16 axes";
			return NULL;
		}
		at = read_part(at, &parts[n++]);
		if (!at || (*at && *at != ',')) {
			*why = "its entries are axes, `1`, or their pieces, "
				"`1//16` and `1%16`";
			return NULL;
		}
		if (*at == ',')
			at = skip_blanks(at + 1);
	}
	*why = fault_of(rank_of(n, parts), n, parts);
	if (*why)
		return NULL;
	return tn_layout_get(module, rank_of(n, parts), n, parts);
}

/* ---- Types ------------------------------------------------------------ */

static bool divides(struct tn_module *module, const struct tn_dim *dim,
		    int64_t n)
{
	const struct tn_dim *rest;

	rest = tn_dim_mod(&module->dims, dim, tn_dim_const(&module->dims, n));
	return rest && tn_dim_is(rest, 0);
}

const char *tn_layout_misfit(struct tn_module *module,
			     const struct tn_layout *layout,
			     const struct tn_type *type)
{
	int i;

	if (type->dtype == TN_ENCODED)
		return "a block encoding has an order of its own";
	if (layout->rank != type->rank)
		return "the value has another number of axes";
	for (i = 0; i < layout->nparts; i++)
		if (layout->parts[i].piece == TN_LAYOUT_BLOCK &&
		    !divides(module, type->dims[layout->parts[i].axis],
			     layout->parts[i].n))
			return "a block does not divide its axis";
	return NULL;
}

static const struct tn_dim *extent(struct tn_module *module,
				   const struct tn_layout_part *part,
				   const struct tn_type *type)
{
	const struct tn_dim *dim = type->dims[part->axis];

	if (part->piece == TN_LAYOUT_WHOLE)
		return dim;
	if (part->piece == TN_LAYOUT_LANE)
		return tn_dim_const(&module->dims, part->n);
	return tn_dim_floordiv(&module->dims, dim,
			       tn_dim_const(&module->dims, part->n));
}

const struct tn_type *tn_layout_physical(struct tn_module *module,
					 const struct tn_layout *layout,
					 const struct tn_type *type)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int i;

	if (!layout)
		return type;
	for (i = 0; i < layout->nparts; i++) {
		dims[i] = extent(module, &layout->parts[i], type);
		if (!dims[i])
			return NULL;
	}
	return tn_type_get(module, type->dtype, layout->nparts, dims);
}

const struct tn_type *tn_layout_logical(struct tn_module *module,
					const struct tn_layout *layout,
					const struct tn_type *physical)
{
	const struct tn_dim *dims[TN_MAX_RANK] = {NULL};
	int i;

	if (!layout)
		return physical;
	if (layout->nparts != physical->rank)
		return NULL;
	for (i = 0; i < layout->nparts; i++) {
		const struct tn_layout_part *part = &layout->parts[i];

		if (part->piece == TN_LAYOUT_LANE &&
		    !tn_dim_is(physical->dims[i], part->n))
			return NULL;
		if (part->piece == TN_LAYOUT_BLOCK)
			dims[part->axis] = tn_dim_mul(
				&module->dims, physical->dims[i],
				tn_dim_const(&module->dims, part->n));
		else if (part->piece == TN_LAYOUT_WHOLE)
			dims[part->axis] = physical->dims[i];
	}
	for (i = 0; i < layout->rank; i++)
		if (!dims[i])
			return NULL;
	return tn_type_get(module, physical->dtype, layout->rank, dims);
}

/* ---- Comparing -------------------------------------------------------- */

int tn_layout_parts(const struct tn_layout *layout,
		    const struct tn_type *type, struct tn_layout_part *parts)
{
	int count = layout ? layout->nparts : type->rank;
	int i, n = 0;

	for (i = 0; i < count; i++) {
		struct tn_layout_part part = { i, TN_LAYOUT_WHOLE, 1 };
		bool is_all;

		if (layout)
			part = layout->parts[i];
		is_all = tn_dim_is(type->dims[part.axis], part.n);
		if (is_all && part.piece != TN_LAYOUT_LANE)
			continue;
		if (is_all)
			part = (struct tn_layout_part){ part.axis,
							TN_LAYOUT_WHOLE, 1 };
		parts[n++] = part;
	}
	return n;
}

bool tn_layout_part_same(const struct tn_layout_part *a,
			 const struct tn_layout_part *b)
{
	return a->axis == b->axis && a->piece == b->piece && a->n == b->n;
}

bool tn_layout_same(const struct tn_type *type, const struct tn_layout *a,
		    const struct tn_layout *b)
{
	struct tn_layout_part x[TN_MAX_RANK], y[TN_MAX_RANK];
	int n, i;

	if (a == b)
		return true;
	n = tn_layout_parts(a, type, x);
	if (tn_layout_parts(b, type, y) != n)
		return false;
	for (i = 0; i < n; i++)
		if (!tn_layout_part_same(&x[i], &y[i]))
			return false;
	return true;
}

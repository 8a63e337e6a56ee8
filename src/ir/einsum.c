/*
 * Contractions in normal form: a label for each axis.
 *
 *   einsum "bik,bkj->bij"   index [[0,1,2],[0,2,3]]  out [0,1,3]
 *   matmul of [B,I,K] and [K,J] is "bik,kj->bij"
 *
 * Letters get labels in order of first occurrence; the axes that `...` stands
 * for get labels of their own, shared right-aligned among operands.
 */
#include "ir/infer.h"

#include <string.h>

#include "base/ascii.h"

#define MAX_LABELS 32
#define MAX_OPERANDS 8

struct spec {
	struct tn_einsum *out;
	int letter[128];	/* label + 1 of an ASCII letter */
	int times[128];		/* occurrences in operands */
	int dots;		/* axes of the widest `...` */
	int dot_label[TN_MAX_RANK];	/* from the right, label + 1 */
	const char *why;
};

static int new_label(struct tn_einsum *out)
{
	if (out->nlabels == MAX_LABELS)
		return -1;
	out->extent[out->nlabels] = NULL;
	return out->nlabels++;
}

/* An axis of the operand gets the label; a literal 1 gives way. */
static void put_axis(struct tn_einsum *out, int operand, int axis, int label,
		     const struct tn_dim *dim)
{
	out->index[operand][axis] = label;
	if (!out->extent[label] || tn_dim_is(out->extent[label], 1))
		out->extent[label] = dim;
}

static bool fail(struct spec *spec, const char *why)
{
	spec->why = why;
	return false;
}

static int letter_label(struct spec *spec, char c)
{
	int at = (unsigned char)c;

	if (!spec->letter[at])
		spec->letter[at] = new_label(spec->out) + 1;
	return spec->letter[at] - 1;
}

/* Number of letters up to the end of this part; *dots: holds `...`. */
static int count_letters(const char *text, bool *dots)
{
	int count = 0;

	*dots = false;
	for (; *text && *text != ',' && *text != '-'; text++) {
		if (tn_ascii_is_letter(*text))
			count++;
		else if (*text == '.')
			*dots = true;
	}
	return count;
}

static bool read_dots(struct spec *spec, const char **text, int operand,
		      const struct tn_type *type, int *axis, int width)
{
	int i;

	if (strncmp(*text, "...", 3) != 0)
		return fail(spec, "a lone `.`; three stand for more axes");
	*text += 2;
	for (i = 0; i < width; i++) {
		int right = width - 1 - i;

		if (!spec->dot_label[right])
			spec->dot_label[right] = new_label(spec->out) + 1;
		if (!spec->dot_label[right])
			return fail(spec, "more than 32 indices");
		put_axis(spec->out, operand, *axis,
			 spec->dot_label[right] - 1, type->dims[*axis]);
		(*axis)++;
	}
	if (width > spec->dots)
		spec->dots = width;
	return true;
}

static bool read_operand(struct spec *spec, const char **text, int operand,
			 const struct tn_type *type)
{
	bool dots, seen_dots = false;
	int letters = count_letters(*text, &dots), axis = 0;

	spec->out->rank[operand] = type->rank;
	if (dots ? letters > type->rank : letters != type->rank)
		return fail(spec, "an operand has another number of letters "
			    "than axes");
	for (; **text && **text != ',' && **text != '-'; (*text)++) {
		if (**text == ' ')
			continue;
		if (**text == '.' && !seen_dots) {
			seen_dots = true;
			if (!read_dots(spec, text, operand, type, &axis,
				       type->rank - letters))
				return false;
		} else if (tn_ascii_is_letter(**text)) {
			int label = letter_label(spec, **text);

			if (label < 0)
				return fail(spec, "more than 32 indices");
			spec->times[(unsigned char)**text]++;
			put_axis(spec->out, operand, axis, label,
				 type->dims[axis]);
			axis++;
		} else {
			return fail(spec, "only letters, `,`, `...` and `->` "
				    "may stand in it");
		}
	}
	return true;
}

static bool put_out(struct spec *spec, int label)
{
	struct tn_einsum *out = spec->out;
	int i;

	if (out->out_rank == TN_MAX_RANK)
		return fail(spec, "the result has more than 16 axes");
	for (i = 0; i < out->out_rank; i++) {
		if (out->out[i] == label)
			return fail(spec, "a letter stands twice in the "
				    "result");
	}
	out->out[out->out_rank++] = label;
	return true;
}

static bool put_out_dots(struct spec *spec)
{
	int right;

	for (right = spec->dots - 1; right >= 0; right--) {
		if (!put_out(spec, spec->dot_label[right] - 1))
			return false;
	}
	return true;
}

/* Without `->`: `...`, then letters that occur once, in order of the
 * alphabet. */
static bool implicit_result(struct spec *spec)
{
	int c;

	if (!put_out_dots(spec))
		return false;
	for (c = 'A'; c <= 'z'; c++) {
		if (spec->times[c] == 1 && !put_out(spec, spec->letter[c] - 1))
			return false;
	}
	return true;
}

static bool read_result(struct spec *spec, const char *text)
{
	bool seen_dots = false;

	for (; *text; text++) {
		if (*text == ' ')
			continue;
		if (strncmp(text, "...", 3) == 0 && !seen_dots) {
			seen_dots = true;
			text += 2;
			if (!put_out_dots(spec))
				return false;
		} else if (!tn_ascii_is_letter(*text)) {
			return fail(spec, "the result may hold letters and "
				    "`...` only");
		} else if (!spec->letter[(unsigned char)*text]) {
			return fail(spec, "a letter of the result stands in "
				    "no operand");
		} else if (!put_out(spec,
				    spec->letter[(unsigned char)*text] - 1)) {
			return false;
		}
	}
	if (spec->dots && !seen_dots)
		return fail(spec, "`...` is missing in the result");
	return true;
}

static bool read_spec(struct spec *spec, const struct tn_op *op,
		      const char *text)
{
	int i;

	for (i = 0; i < op->nin; i++) {
		if (i > 0 && *text++ != ',')
			return fail(spec, "fewer parts than operands");
		if (!read_operand(spec, &text, i, op->in[i].value->type))
			return false;
	}
	if (*text == ',')
		return fail(spec, "more parts than operands");
	if (*text == '\0')
		return implicit_result(spec);
	if (strncmp(text, "->", 2) != 0)
		return fail(spec, "`->` goes before the result");
	return read_result(spec, text + 2);
}

/* numpy's rules: vectors have no batch, batch axes align at the right. */
static bool read_matmul(struct spec *spec, const struct tn_op *op)
{
	struct tn_einsum *out = spec->out;
	const struct tn_type *a = op->in[0].value->type;
	const struct tn_type *b = op->in[1].value->type;
	int abatch = a->rank > 2 ? a->rank - 2 : 0;
	int bbatch = b->rank > 2 ? b->rank - 2 : 0;
	int batch = abatch > bbatch ? abatch : bbatch;
	int row = -1, column = -1, inner;
	int i;

	if (a->rank < 1 || b->rank < 1)
		return fail(spec, "a scalar has no axis to sum over");
	out->rank[0] = a->rank;
	out->rank[1] = b->rank;
	for (i = 0; i < batch; i++) {
		int label = new_label(out);

		out->out[out->out_rank++] = label;
		if (i >= batch - abatch)
			put_axis(out, 0, i - (batch - abatch), label,
				 a->dims[i - (batch - abatch)]);
		if (i >= batch - bbatch)
			put_axis(out, 1, i - (batch - bbatch), label,
				 b->dims[i - (batch - bbatch)]);
	}
	if (a->rank > 1) {
		row = new_label(out);
		put_axis(out, 0, a->rank - 2, row, a->dims[a->rank - 2]);
		out->out[out->out_rank++] = row;
	}
	if (b->rank > 1) {
		column = new_label(out);
		put_axis(out, 1, b->rank - 1, column, b->dims[b->rank - 1]);
		out->out[out->out_rank++] = column;
	}
	inner = new_label(out);
	put_axis(out, 0, a->rank - 1, inner, a->dims[a->rank - 1]);
	put_axis(out, 1, b->rank > 1 ? b->rank - 2 : 0, inner,
		 b->dims[b->rank > 1 ? b->rank - 2 : 0]);
	return true;
}

bool tn_einsum_of(const struct tn_op *op, struct tn_einsum *out,
		  const char **why)
{
	struct spec spec = { .out = out };
	bool ok;

	memset(out, 0, sizeof(*out));
	out->noperands = op->nin;
	if (op->nin > MAX_OPERANDS) {
		*why = "more than 8 operands";
		return false;
	}
	if (op->code == TN_OP_matmul)
		ok = read_matmul(&spec, op);
	else
		ok = read_spec(&spec, op, op->attrs[0].u.s);
	*why = spec.why;
	return ok;
}

/*
 * Dims as the language writes them; the text reads back as the same dim.
 *
 *   2*B*S - S // 4 + (S + 1) % 3 - 7        min(S, 2*(S // 3))
 */
#include "ir/dim.h"
#include "ir/dim_node.h"
#include "ir/print.h"

static bool is_quotient(const struct tn_dim *dim)
{
	return dim->kind == TN_DIM_FLOORDIV || dim->kind == TN_DIM_MOD;
}

static void print_in_brackets(struct tn_buf *buf, const struct tn_dim *dim)
{
	tn_buf_putc(buf, '(');
	tn_dim_print(buf, dim);
	tn_buf_putc(buf, ')');
}

static void print_factor(struct tn_buf *buf, const struct tn_dim *atom)
{
	if (is_quotient(atom))
		print_in_brackets(buf, atom);
	else
		tn_dim_print(buf, atom);
}

/* `magnitude` is the coefficient without its sign, which has been printed. */
static void print_term(struct tn_buf *buf, const struct tn_dim_term *term,
		       uint64_t magnitude, bool bare)
{
	int i;

	if (!term->natoms || magnitude != 1) {
		tn_buf_putf(buf, "%llu", (unsigned long long)magnitude);
		bare = false;
	}
	if (bare && term->natoms == 1) {
		tn_dim_print(buf, term->atoms[0]);
		return;
	}
	for (i = 0; i < term->natoms; i++) {
		if (i || magnitude != 1)
			tn_buf_putc(buf, '*');
		print_factor(buf, term->atoms[i]);
	}
}

static void print_sum(struct tn_buf *buf, const struct tn_dim *dim)
{
	int i;

	for (i = 0; i < dim->nterms; i++) {
		const struct tn_dim_term *term = &dim->terms[i];
		bool minus = term->coef < 0;
		uint64_t magnitude = minus ? 0 - (uint64_t)term->coef :
					     (uint64_t)term->coef;

		if (i)
			tn_buf_put(buf, minus ? " - " : " + ");
		else if (minus)
			tn_buf_putc(buf, '-');
		print_term(buf, term, magnitude, i || !minus);
	}
}

static void print_quotient(struct tn_buf *buf, const struct tn_dim *dim)
{
	const struct tn_dim *a = dim->a, *b = dim->b;
	bool plain = b->kind == TN_DIM_SYM || b->kind == TN_DIM_MIN ||
		     b->kind == TN_DIM_MAX ||
		     (b->kind == TN_DIM_CONST && b->value >= 0);

	if (a->kind == TN_DIM_SUM && a->nterms > 1)
		print_in_brackets(buf, a);
	else
		tn_dim_print(buf, a);
	tn_buf_put(buf, dim->kind == TN_DIM_MOD ? " % " : " // ");
	if (plain)
		tn_dim_print(buf, b);
	else
		print_in_brackets(buf, b);
}

static void print_choice(struct tn_buf *buf, const struct tn_dim *dim)
{
	tn_buf_put(buf, dim->kind == TN_DIM_MIN ? "min(" : "max(");
	tn_dim_print(buf, dim->a);
	tn_buf_put(buf, ", ");
	tn_dim_print(buf, dim->b);
	tn_buf_putc(buf, ')');
}

void tn_dim_print(struct tn_buf *buf, const struct tn_dim *dim)
{
	switch (dim->kind) {
	case TN_DIM_CONST:
		tn_buf_putf(buf, "%lld", (long long)dim->value);
		break;
	case TN_DIM_SYM:
		tn_print_name(buf, dim->sym->name);
		break;
	case TN_DIM_SUM:
		print_sum(buf, dim);
		break;
	case TN_DIM_FLOORDIV:
	case TN_DIM_MOD:
		print_quotient(buf, dim);
		break;
	case TN_DIM_MIN:
	case TN_DIM_MAX:
		print_choice(buf, dim);
		break;
	}
}

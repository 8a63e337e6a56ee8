/*
 * A rule at a place where its pattern fits: are the types those it is for,
 * does its `where` hold, is its left side the very graph that was found, and
 * what is its right side there?
 *
 *   rule   x: T[*P], p: perm, q: perm
 *   match  x = f32[2, 3] value, p = [1, 0], q = [1, 0], root = transpose
 *   gives  fn (x: f32[2, 3]) { y = transpose(x, perm=[0, 1]); return y; }
 *
 * Everything is tried out of sight: a report only means that the rule is not
 * for this place, and the module's epoch does not move.
 */
#include <string.h>

#include "grammar/elab_rule.h"

/* ---- Types and conditions ---------------------------------------------- */

static const struct tn_param *param_of(const struct elab_rule *text, int i)
{
	return text->before->item->u.sig->params.at[i];
}

static bool bind_values(struct frame *frame, const struct tn_rule *rule,
			const struct tn_rule_match *match)
{
	const struct elab_rule *text = rule->source;
	const struct tn_param *param;
	int i;

	for (i = 0; i < rule->nvars; i++) {
		param = param_of(text, i);
		if (rule->vars[i].is_attr)
			continue;
		if (!match->values[i] ||
		    !elab_unify(frame, &text->item->u.rule.sig->generics,
				param->type, match->values[i]->type,
				param->span, "a match"))
			return false;
		frame_bind(frame, param->name,
			   ev_value(match->values[i], param->span));
	}
	return true;
}

static bool bind_attrs(struct frame *frame, const struct tn_rule *rule,
		       const struct tn_rule_match *match)
{
	const struct elab_rule *text = rule->source;
	const struct tn_param *param;
	int i;

	for (i = 0; i < rule->nvars; i++) {
		param = param_of(text, i);
		if (!rule->vars[i].is_attr)
			continue;
		if (match->attrs[i] && match->attrs[i]->is_set)
			frame_bind(frame, param->name,
				   elab_attr_ev(frame->e, match->attrs[i],
						param->span));
		else if (!param->init)
			return false;
	}
	return true;
}

/* a == b, a <= b, a < b of sizes, if that is certain. */
static bool compare_dims(enum tn_infix op, const struct tn_dim *a,
			 const struct tn_dim *b, struct tn_dim_pool *pool)
{
	const struct tn_dim *one = tn_dim_const(pool, 1);

	if (op == TN_INFIX_EQ)
		return a == b;
	if (op == TN_INFIX_LE)
		return tn_dim_proves_le(pool, a, b);
	return op == TN_INFIX_LT && one &&
	       tn_dim_proves_le(pool, tn_dim_add(pool, a, one), b);
}

static bool holds(struct frame *frame, const struct tn_expr *expr);

static bool holds_compare(struct frame *frame, const struct tn_expr *expr)
{
	struct ev a = elab_expr(frame, expr->u.binary.left, ELAB_ANY);
	struct ev b = elab_expr(frame, expr->u.binary.right, ELAB_ANY);
	enum tn_infix op = (enum tn_infix)expr->op;
	struct ev out;

	if (ev_is_poison(&a) || ev_is_poison(&b))
		return false;
	if (a.kind != EV_DIM || b.kind != EV_DIM) {
		out = elab_binary(frame, op, &a, &b, ELAB_ANY, expr->span);
		return out.kind == EV_BOOL && out.u.truth;
	}
	if (op == TN_INFIX_GT || op == TN_INFIX_GE)
		return compare_dims(op == TN_INFIX_GT ? TN_INFIX_LT :
							TN_INFIX_LE,
				    b.u.dim, a.u.dim,
				    &frame->e->module->dims);
	if (op == TN_INFIX_NE)
		return tn_dim_is_const(a.u.dim) && tn_dim_is_const(b.u.dim) &&
		       a.u.dim != b.u.dim;
	return compare_dims(op, a.u.dim, b.u.dim, &frame->e->module->dims);
}

static bool holds(struct frame *frame, const struct tn_expr *expr)
{
	enum tn_infix op = (enum tn_infix)expr->op;
	struct ev out;
	int fact;

	if (expr->kind == TN_EXPR_CALL) {
		fact = elab_fact_find(expr->u.call.name);
		if (fact >= 0)
			return elab_fact_holds(frame, fact,
					       &expr->u.call.args);
	}
	if (expr->kind == TN_EXPR_UNARY && op == TN_INFIX_NOT)
		return !holds(frame, expr->u.binary.left);
	if (expr->kind == TN_EXPR_BINARY && op == TN_INFIX_AND)
		return holds(frame, expr->u.binary.left) &&
		       holds(frame, expr->u.binary.right);
	if (expr->kind == TN_EXPR_BINARY && op == TN_INFIX_OR)
		return holds(frame, expr->u.binary.left) ||
		       holds(frame, expr->u.binary.right);
	if (expr->kind == TN_EXPR_BINARY)
		return holds_compare(frame, expr);
	out = elab_expr(frame, expr, ELAB_ANY);
	return out.kind == EV_BOOL && out.u.truth;
}

/* ---- Sides ------------------------------------------------------------- */

struct tn_fn *elab_rule_side(struct frame *frame, struct decl *side,
			     const struct tn_rule *rule,
			     const struct tn_rule_match *match)
{
	struct call call = {.name = rule->name, .span = rule->span,
			    .name_span = rule->span, .want = ELAB_ANY};
	struct tn_block *block = frame->b.block;
	struct actual *actual;
	struct ev out;
	int i;

	call.at = tn_arena_array(&frame->e->scratch, (size_t)rule->nvars + 1,
				 sizeof(*call.at));
	for (i = 0; call.at && i < rule->nvars; i++) {
		actual = &call.at[call.len];
		if (rule->vars[i].is_attr &&
		    (!match->attrs[i] || !match->attrs[i]->is_set))
			continue;
		actual->name = rule->vars[i].name;
		actual->name_span = rule->span;
		actual->ev = rule->vars[i].is_attr ?
			elab_attr_ev(frame->e, match->attrs[i], rule->span) :
			ev_value(match->values[i], rule->span);
		call.len++;
	}
	if (!call.at)
		return NULL;
	out = elab_call_decl(frame, side, &call);
	if (out.kind != EV_VALUE || !block->last ||
	    block->last->code != TN_OP_call)
		return NULL;
	return block->last->callee;
}

/* ---- The left side against the graph ----------------------------------- */

/* Values of the side and of the graph that were found alike. */
struct pairs {
	const struct tn_rule *rule;
	const struct tn_rule_match *match;
	int count;
	const struct tn_value *made[2 * TN_RULE_NODES];
	const struct tn_value *found[2 * TN_RULE_NODES];
};

/* The value that parameter `index` of the side stands for. */
static const struct tn_value *param_value(const struct pairs *pairs, int index)
{
	int i;

	for (i = 0; i < pairs->rule->nvars; i++)
		if (!pairs->rule->vars[i].is_attr && index-- == 0)
			return pairs->match->values[i];
	return NULL;
}

static bool same_bits(const struct tn_tensor *a, int64_t i,
		      const struct tn_tensor *b, int64_t j)
{
	size_t size = (size_t)tn_dtype_bytes(a->dtype);

	return memcmp((const char *)a->data + (size_t)i * size,
		      (const char *)b->data + (size_t)j * size, size) == 0;
}

/* A literal of a rule is a scalar that stands for any shape. */
static bool same_literal(const struct tn_tensor *made,
			 const struct tn_tensor *found)
{
	int64_t count = found ? tn_tensor_count(found) : 0, i;

	if (!found || made->dtype != found->dtype ||
	    tn_tensor_count(made) != 1)
		return false;
	for (i = 0; i < count; i++)
		if (!same_bits(made, 0, found, i))
			return false;
	return count > 0;
}

static bool same_value(struct pairs *pairs, const struct tn_value *made,
		       const struct tn_value *found);

static bool same_attrs(const struct tn_op *a, const struct tn_op *b)
{
	int i;

	if (a->nattrs != b->nattrs)
		return false;
	for (i = 0; i < a->nattrs; i++)
		if (strcmp(a->attrs[i].name, b->attrs[i].name) != 0 ||
		    !tn_attr_same(&a->attrs[i], &b->attrs[i]))
			return false;
	return true;
}

static bool same_operands(struct pairs *pairs, const struct tn_op *made,
			  const struct tn_op *found)
{
	int mark = pairs->count, i;

	for (i = 0; i < made->nin; i++)
		if (!same_value(pairs, tn_graph_in(made, i),
				tn_graph_in(found, i)))
			break;
	if (i == made->nin)
		return true;
	pairs->count = mark;
	return (tn_ops[made->code].flags & TN_FLAG_COMMUTES) &&
	       made->nin == 2 &&
	       same_value(pairs, tn_graph_in(made, 0),
			  tn_graph_in(found, 1)) &&
	       same_value(pairs, tn_graph_in(made, 1), tn_graph_in(found, 0));
}

static bool same_op(struct pairs *pairs, const struct tn_op *made,
		    const struct tn_op *found)
{
	if (!found || made->code != found->code ||
	    made->nin != found->nin || made->nregions || found->nregions ||
	    !same_attrs(made, found))
		return false;
	if (made->code == TN_OP_call &&
	    (!found->callee || made->callee->name != found->callee->name))
		return false;
	return same_operands(pairs, made, found);
}

static bool same_value(struct pairs *pairs, const struct tn_value *made,
		       const struct tn_value *found)
{
	int i;

	for (i = 0; i < pairs->count; i++)
		if (pairs->made[i] == made)
			return pairs->found[i] == found;
	if (!made->op)
		return param_value(pairs, made->index) == found;
	if (made->op->literal && made->type != found->type)
		return made->type->rank == 0 && found->op &&
		       same_literal(made->op->literal, found->op->literal);
	if (made->type != found->type || made->index != found->index)
		return false;
	if (made->op->literal)
		return found->op && same_literal(made->op->literal,
						 found->op->literal);
	if (pairs->count == 2 * TN_RULE_NODES ||
	    !same_op(pairs, made->op, found->op))
		return false;
	pairs->made[pairs->count] = made;
	pairs->found[pairs->count++] = found;
	return true;
}

static const struct tn_value *result_of(const struct tn_fn *fn)
{
	return tn_graph_in(fn->body->last, 0);
}

static bool is_found(const struct tn_fn *before, const struct tn_rule *rule,
		     const struct tn_rule_match *match)
{
	struct pairs pairs = {.rule = rule, .match = match};

	return before->nresults == 1 && match->root->nout == 1 &&
	       same_value(&pairs, result_of(before), match->root->out[0]);
}

/* ---- The whole --------------------------------------------------------- */

static struct tn_fn *try_rule(struct frame *frame, const struct tn_rule *rule,
			      const struct tn_rule_match *match,
			      enum tn_rule_refusal *why)
{
	const struct elab_rule *text = rule->source;
	struct tn_fn *before, *after;

	*why = TN_RULE_UNFIT;
	if (!bind_values(frame, rule, match) ||
	    !bind_attrs(frame, rule, match))
		return NULL;
	if (text->where && !holds(frame, text->where)) {
		*why = TN_RULE_WHERE;
		return NULL;
	}
	before = elab_rule_side(frame, text->before, rule, match);
	if (!before || !is_found(before, rule, match))
		return NULL;
	*why = TN_RULE_TYPE;
	after = elab_rule_side(frame, text->after, rule, match);
	if (!after || after->nresults != 1 ||
	    result_of(after)->type != match->root->out[0]->type)
		return NULL;
	return after;
}

struct tn_fn *elab_rule_instance(void *data, const struct tn_rule *rule,
				 const struct tn_rule_match *match,
				 enum tn_rule_refusal *why)
{
	struct tn_elab *e = data;
	const struct elab_rule *text = rule->source;
	struct elab_trial trial;
	struct tn_fn *after;
	struct frame frame;

	*why = TN_RULE_UNFIT;
	if (!elab_trial_begin(&trial, e, "trial"))
		return NULL;
	frame_init(&frame, e, NULL, text->before, trial.fn);
	after = try_rule(&frame, rule, match, why);
	frame_fini(&frame);
	elab_trial_end(&trial);
	elab_trial_drop(&trial);
	return after;
}

/*
 * Rules as data: the left side becomes a pattern over operators, both sides
 * become generic functions, to be made at the types where the rule may fit.
 *
 *   rule r<T: float>(x: T[*P], w: T[K, C], ..)
 *       : conv(x * 2.0, w, ..a) => conv(x, w * 2.0, ..a);
 *
 *   pattern   OP conv [a__stride= a__pad= ..]
 *               OP mul (VAR x, NUMBER 2)
 *               VAR w
 *   before    fn r<T: float>(x, w, a__stride: ints, ..) { return conv(..); }
 *   after     fn r<T: float>(x, w, a__stride: ints, ..) { return conv(..); }
 *
 * `..a` stands for the attributes that the call leaves open: it becomes a
 * parameter for each, on both sides.
 */
#include "grammar/elab.h"

#include <string.h>

#include "grammar/elab_rule.h"

struct compiler {
	struct tn_elab *e;
	const struct decl *decl;
	struct tn_vec vars;		/* struct tn_rule_var */
	struct tn_vec params;		/* struct tn_param *, with those of .. */
	struct tn_map rests;		/* name of `..a` -> struct rest * */
	struct tn_map locals;		/* name -> struct tn_pattern * */
	int nnodes;
	bool is_bad;			/* reported */
};

/* What a `..a` stands for. */
struct rest {
	int count;
	const char **names;		/* attributes */
	const char **params;		/* a__NAME */
};

static void *bad(struct compiler *c, struct tn_span span, const char *what)
{
	if (!c->is_bad && !c->e->broken)
		tn_diag_report(c->e->sink, TN_E0217, span,
			       "rule '%s': %s", c->decl->name, what);
	c->is_bad = true;
	return NULL;
}

static void *alloc(struct compiler *c, size_t count, size_t size)
{
	return elab_array(c->e, count ? count : 1, size);
}

static struct tn_pattern *node_new(struct compiler *c, struct tn_span span,
				   enum tn_pattern_kind kind)
{
	struct tn_pattern *node;

	if (c->nnodes == TN_RULE_NODES)
		return bad(c, span, "its left side has too many operators");
	node = alloc(c, 1, sizeof(*node));
	if (!node)
		return NULL;
	node->kind = kind;
	node->number = c->nnodes++;
	node->code = TN_OP_none;
	node->var = -1;
	return node;
}

static int find_var(const struct compiler *c, const char *name)
{
	const struct tn_rule_var *vars = c->vars.data;
	size_t i;

	for (i = 0; i < c->vars.len; i++)
		if (vars[i].name == name)
			return (int)i;
	return -1;
}

/* ---- Parameters -------------------------------------------------------- */

static bool add_var(struct compiler *c, struct tn_param *param, bool is_attr)
{
	struct tn_rule_var *var = elab_push(c->e, &c->vars);

	if (!var || !elab_push_ptr(c->e, &c->params, param))
		return false;
	var->name = param->name.text;
	var->is_attr = is_attr;
	if (c->vars.len > TN_RULE_VARS)
		return bad(c, param->span, "it has too many parameters");
	return true;
}

static bool add_params(struct compiler *c)
{
	const struct tn_params *params = &c->decl->item->u.rule.sig->params;
	uint32_t i;

	for (i = 0; i < params->len; i++)
		if (!add_var(c, params->at[i],
			     elab_is_attribute(params->at[i])))
			return false;
	return true;
}

/* The word that declares an attribute of the kind as a parameter. */
static const char *kind_word(enum tn_attr_kind kind)
{
	switch (kind) {
	case TN_ATTR_INT:
		return "int";
	case TN_ATTR_FLOAT:
		return "float";
	case TN_ATTR_BOOL:
		return "flag";
	case TN_ATTR_STRING:
		return "string";
	case TN_ATTR_DTYPE:
		return "elem";
	case TN_ATTR_INTS:
		return "ints";
	case TN_ATTR_DIM:
		return "dim";
	case TN_ATTR_DIMS:
		return "dims";
	case TN_ATTR_PAIRS:
		break;
	}
	return "pairs";
}

static struct tn_expr *name_expr(struct compiler *c, const char *name,
				 struct tn_span span)
{
	struct tn_expr *expr = alloc(c, 1, sizeof(*expr));

	if (!expr)
		return NULL;
	expr->kind = TN_EXPR_NAME;
	expr->span = span;
	expr->u.name = name;
	return expr;
}

/* a__NAME: KIND = none */
static bool add_rest_param(struct compiler *c, const struct tn_arg *arg,
			   const struct tn_attr_info *info, const char *name)
{
	struct tn_param *param = alloc(c, 1, sizeof(*param));
	struct tn_tree_type *type = alloc(c, 1, sizeof(*type));

	if (!param || !type)
		return false;
	type->name.text = elab_intern(c->e, kind_word(info->kind));
	type->name.span = type->span = arg->span;
	param->name.text = name;
	param->name.span = param->span = arg->span;
	param->type = type;
	param->init = name_expr(c, elab_intern(c->e, "none"), arg->span);
	return type->name.text && param->init && add_var(c, param, true);
}

/* ---- Operators --------------------------------------------------------- */

/* The operator or library function that a call names. */
static bool find_callee(struct compiler *c, const struct tn_expr *expr,
			struct tn_pattern *node)
{
	const char *name = expr->u.call.name;
	struct decl *decl = elab_find(c->e, name, c->decl->is_library);
	enum tn_opcode code = tn_op_find(name);

	if (elab_sugar_find(name)) {
		bad(c, expr->span, "its left side has a short form; write the "
		    "operators that it stands for");
		return false;
	}
	node->code = code;
	if (code != TN_OP_none && tn_ops[code].op_class != TN_CLASS_FLOW)
		return true;
	node->code = TN_OP_call;
	node->callee = name;
	return decl != NULL;
}

static bool is_given(const struct tn_args *args, const char *name)
{
	uint32_t i;

	for (i = 0; i < args->len; i++)
		if (args->at[i]->kind == TN_ARG_NAMED &&
		    args->at[i]->name.text &&
		    strcmp(args->at[i]->name.text, name) == 0)
			return true;
	return false;
}

/* `..a` takes what the call does not give. */
static bool open_rest(struct compiler *c, const struct tn_args *args,
		      const struct tn_arg *arg, enum tn_opcode code,
		      struct tn_vec *attrs)
{
	const struct tn_op_info *info = &tn_ops[code];
	struct rest *rest = alloc(c, 1, sizeof(*rest));
	struct tn_pattern_attr *attr;
	const char *name;
	int i;

	if (code == TN_OP_call)
		return bad(c, arg->span, "`..` captures attributes of "
			   "primitives only");
	if (tn_map_has(&c->rests, arg->name.text))
		return bad(c, arg->span, "`..` captures one operator's "
			   "attributes under one name");
	if (!rest)
		return false;
	rest->names = alloc(c, (size_t)info->nattrs, sizeof(*rest->names));
	rest->params = alloc(c, (size_t)info->nattrs, sizeof(*rest->params));
	if (!rest->names || !rest->params ||
	    !elab_map(c->e, &c->rests, arg->name.text, rest))
		return false;
	for (i = 0; i < info->nattrs; i++) {
		if (is_given(args, info->attrs[i].name))
			continue;
		name = tn_arena_printf(&c->e->scratch, "%s__%s",
				       arg->name.text, info->attrs[i].name);
		name = name ? elab_intern(c->e, name) : NULL;
		attr = elab_push(c->e, attrs);
		if (!name || !attr ||
		    !add_rest_param(c, arg, &info->attrs[i], name))
			return false;
		attr->name = info->attrs[i].name;
		attr->var = find_var(c, name);
		rest->names[rest->count] = info->attrs[i].name;
		rest->params[rest->count++] = name;
	}
	return true;
}

/* An attribute that is a parameter alone binds it; any other is compared when
 * the left side is made. */
static bool take_attr(struct compiler *c, const char *name,
		      const struct tn_expr *value, struct tn_vec *attrs)
{
	const struct tn_rule_var *vars = c->vars.data;
	struct tn_pattern_attr *attr;
	int var;

	if (value->kind != TN_EXPR_NAME)
		return true;
	var = find_var(c, value->u.name);
	if (var < 0 || !vars[var].is_attr)
		return true;
	attr = elab_push(c->e, attrs);
	if (!attr)
		return false;
	attr->name = name;
	attr->var = var;
	return true;
}

static struct tn_pattern *compile(struct compiler *c,
				  const struct tn_expr *expr);

static bool take_operand(struct compiler *c, const struct tn_expr *expr,
			 struct tn_vec *args)
{
	struct tn_pattern *node = compile(c, expr);

	return node && elab_push_ptr(c->e, args, node);
}

static bool is_attr_name(const struct compiler *c, const struct tn_expr *expr)
{
	const struct tn_rule_var *vars = c->vars.data;
	int var = expr->kind == TN_EXPR_NAME ? find_var(c, expr->u.name) : -1;

	return var >= 0 && vars[var].is_attr;
}

/* As elab_primitive reads its arguments: operands while there is room and
 * the argument is one, then attributes in the order of the row. */
static bool take_positional(struct compiler *c, const struct tn_pattern *node,
			    const struct tn_expr *expr, struct tn_vec *args,
			    struct tn_vec *attrs, int *next)
{
	const struct tn_op_info *info = &tn_ops[node->code];
	bool room = node->code == TN_OP_call || info->nin_max < 0 ||
		    (int)args->len < info->nin_max;
	uint32_t i;

	if (room && info->nin_max < 0 && expr->kind == TN_EXPR_LIST &&
	    args->len == 0) {
		for (i = 0; i < expr->u.list.len; i++)
			if (!take_operand(c, expr->u.list.at[i], args))
				return false;
		return true;
	}
	if (room && !is_attr_name(c, expr) && expr->kind != TN_EXPR_LIST &&
	    expr->kind != TN_EXPR_ELEM && expr->kind != TN_EXPR_STRING)
		return take_operand(c, expr, args);
	if (node->code == TN_OP_call || *next >= info->nattrs)
		return bad(c, expr->span, "attributes of what it matches are "
			   "named, f(x, axis=k)");
	return take_attr(c, info->attrs[(*next)++].name, expr, attrs);
}

static bool take_args(struct compiler *c, const struct tn_expr *expr,
		      struct tn_pattern *node, struct tn_vec *args,
		      struct tn_vec *attrs)
{
	const struct tn_args *given = &expr->u.call.args;
	int next = 0;
	uint32_t i;
	bool good = true;

	for (i = 0; good && i < given->len; i++) {
		const struct tn_arg *arg = given->at[i];

		if (arg->kind == TN_ARG_REST)
			good = open_rest(c, given, arg, node->code, attrs);
		else if (arg->kind == TN_ARG_NAMED)
			good = take_attr(c, arg->name.text, arg->value, attrs);
		else
			good = take_positional(c, node, arg->value, args,
					       attrs, &next);
	}
	return good;
}


static struct tn_pattern *compile_call(struct compiler *c,
				       const struct tn_expr *expr)
{
	struct tn_pattern *node = node_new(c, expr->span, TN_PATTERN_OP);
	struct tn_vec args, attrs;

	if (!node)
		return NULL;
	tn_vec_init(&args, sizeof(struct tn_pattern *), &c->e->scratch);
	tn_vec_init(&attrs, sizeof(struct tn_pattern_attr), &c->e->scratch);
	if (!find_callee(c, expr, node) ||
	    !take_args(c, expr, node, &args, &attrs))
		return bad(c, expr->span, "its left side cannot be matched");
	node->nargs = (int)args.len;
	node->args = args.data;
	node->nattrs = (int)attrs.len;
	node->attrs = attrs.data;
	return node;
}

static struct tn_pattern *node_of(struct compiler *c, struct tn_span span,
				  enum tn_opcode code, int nargs,
				  const struct tn_expr *const *operands)
{
	struct tn_pattern *node = node_new(c, span, TN_PATTERN_OP);
	const struct tn_pattern **args = alloc(c, (size_t)nargs,
					       sizeof(*args));
	int i;

	if (!node || !args)
		return NULL;
	node->code = code;
	node->nargs = nargs;
	node->args = args;
	for (i = 0; i < nargs; i++) {
		args[i] = compile(c, operands[i]);
		if (!args[i])
			return NULL;
	}
	return node;
}

static struct tn_pattern *compile_infix(struct compiler *c,
					const struct tn_expr *expr)
{
	enum tn_infix op = (enum tn_infix)expr->op;
	const struct tn_expr *in[2] = { expr->u.binary.left,
					expr->u.binary.right };
	bool swap = in[1] && tn_infix_has(op, TN_INFIX_SWAPS);
	const struct tn_expr *swapped[2];

	if (tn_infixes[op].op == TN_OP_none ||
	    tn_infix_has(op, TN_INFIX_NEGATES))
		return bad(c, expr->span, "this operator cannot be matched; "
			   "write the calls that it stands for");
	swapped[0] = in[swap];
	swapped[1] = in[!swap];
	return node_of(c, expr->span, tn_infixes[op].op, in[1] ? 2 : 1,
		       swapped);
}

static struct tn_pattern *compile_number(struct compiler *c,
					 const struct tn_expr *expr)
{
	struct tn_pattern *node = node_new(c, expr->span, TN_PATTERN_NUMBER);

	if (!node)
		return NULL;
	if (expr->kind == TN_EXPR_BOOL)
		node->value = expr->u.truth;
	else if (expr->kind == TN_EXPR_FLOAT)
		node->value = expr->u.real.value;
	else
		node->value = (double)expr->u.integer.value;
	if (expr->kind != TN_EXPR_BOOL && expr->negative)
		node->value = -node->value;
	return node;
}

/* A float parameter where a value is due: what it is the constant tells. */
static struct tn_pattern *compile_parameter(struct compiler *c,
					    const struct tn_expr *expr,
					    int var)
{
	struct tn_param *const *params = c->params.data;
	struct tn_pattern *node;

	if (strcmp(params[var]->type->name.text, "float") != 0)
		return bad(c, expr->span, "of attributes a float alone can be "
			   "matched as a value");
	node = node_new(c, expr->span, TN_PATTERN_NUMBER);
	if (node)
		node->var = var;
	return node;
}

static struct tn_pattern *compile_name(struct compiler *c,
				       const struct tn_expr *expr)
{
	struct tn_pattern *node = tn_map_find(&c->locals, expr->u.name);
	int var = find_var(c, expr->u.name);

	if (node)
		return node;
	if (var >= 0 && is_attr_name(c, expr))
		return compile_parameter(c, expr, var);
	if (var < 0)
		return bad(c, expr->span, "this is no value to be matched");
	node = node_new(c, expr->span, TN_PATTERN_VAR);
	if (!node)
		return NULL;
	node->var = var;
	return elab_map(c->e, &c->locals, expr->u.name, node) ? node : NULL;
}

static struct tn_pattern *compile(struct compiler *c,
				  const struct tn_expr *expr)
{
	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
		return compile_name(c, expr);
	case TN_EXPR_CALL:
		return compile_call(c, expr);
	case TN_EXPR_UNARY:
	case TN_EXPR_BINARY:
		return compile_infix(c, expr);
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
	case TN_EXPR_BOOL:
		return compile_number(c, expr);
	case TN_EXPR_ELEM:
	case TN_EXPR_STRING:
	case TN_EXPR_TUPLE:
	case TN_EXPR_LIST:
	case TN_EXPR_PACK:
	case TN_EXPR_FIELD:
	case TN_EXPR_INDEX:
		break;
	}
	return bad(c, expr->span, "this cannot be matched");
}

/* y = x @ w; z = y + y; return z; */
static struct tn_pattern *compile_block(struct compiler *c,
					const struct tn_tree_block *block)
{
	struct tn_pattern *node;
	uint32_t i;

	for (i = 0; i < block->len; i++) {
		const struct tn_stmt *stmt = block->at[i];

		if (stmt->values.len != 1 || stmt->region ||
		    (stmt->kind != TN_STMT_BIND &&
		     stmt->kind != TN_STMT_RETURN))
			return bad(c, stmt->span, "its left side is one value "
				   "made of operators");
		node = compile(c, stmt->values.at[0]);
		if (!node || stmt->kind == TN_STMT_RETURN)
			return node;
		if (stmt->binds.len != 1 ||
		    !elab_map(c->e, &c->locals, stmt->binds.at[0]->name.text,
			      node))
			return bad(c, stmt->span, "it binds one name at a "
				   "time");
	}
	return bad(c, block->span, "its left side returns nothing");
}

/* ---- Sides as functions ------------------------------------------------ */

/* `..a` as a__stride=a__stride, .. */
static bool expand_rest(struct compiler *c, const struct tn_arg *arg,
			struct tn_vec *list)
{
	const struct rest *rest = tn_map_find(&c->rests, arg->name.text);
	struct tn_arg *made;
	int i;

	if (!rest)
		return bad(c, arg->span, "nothing on the left captures this");
	for (i = 0; i < rest->count; i++) {
		made = alloc(c, 1, sizeof(*made));
		if (!made || !elab_push_ptr(c->e, list, made))
			return false;
		made->kind = TN_ARG_NAMED;
		made->span = made->name.span = arg->span;
		made->name.text = elab_intern(c->e, rest->names[i]);
		made->value = name_expr(c, rest->params[i], arg->span);
		if (!made->name.text || !made->value)
			return false;
	}
	return true;
}

static struct tn_expr *expand(struct compiler *c, const struct tn_expr *expr);

static bool expand_args(struct compiler *c, struct tn_args *args)
{
	struct tn_vec list;
	struct tn_arg *made;
	uint32_t i;

	tn_vec_init(&list, sizeof(struct tn_arg *), &c->e->scratch);
	for (i = 0; i < args->len; i++) {
		const struct tn_arg *arg = args->at[i];

		if (arg->kind == TN_ARG_REST) {
			if (!expand_rest(c, arg, &list))
				return false;
			continue;
		}
		made = tn_arena_copy(&c->e->scratch, arg, sizeof(*arg));
		if (!made || !elab_push_ptr(c->e, &list, made))
			return false;
		made->value = expand(c, arg->value);
		if (!made->value)
			return false;
	}
	args->at = list.data;
	args->len = (uint32_t)list.len;
	return true;
}

/* A copy with every `..` written out; other kinds hold none. */
static struct tn_expr *expand(struct compiler *c, const struct tn_expr *expr)
{
	struct tn_expr *copy = tn_arena_copy(&c->e->scratch, expr,
					     sizeof(*expr));

	if (!copy)
		return NULL;
	if (expr->kind == TN_EXPR_CALL)
		return expand_args(c, &copy->u.call.args) ? copy : NULL;
	if (expr->kind != TN_EXPR_UNARY && expr->kind != TN_EXPR_BINARY)
		return copy;
	copy->u.binary.left = expand(c, expr->u.binary.left);
	if (expr->u.binary.right)
		copy->u.binary.right = expand(c, expr->u.binary.right);
	return copy->u.binary.left ? copy : NULL;
}

static bool expand_block(struct compiler *c, struct tn_tree_block *block)
{
	struct tn_stmt **list = alloc(c, block->len, sizeof(*list));
	struct tn_expr **value;
	uint32_t i;

	for (i = 0; list && i < block->len; i++) {
		list[i] = tn_arena_copy(&c->e->scratch, block->at[i],
					sizeof(**list));
		value = alloc(c, 1, sizeof(*value));
		if (!list[i] || !value)
			return false;
		if (list[i]->values.len != 1)
			continue;
		*value = expand(c, list[i]->values.at[0]);
		if (!*value)
			return false;
		list[i]->values.at = value;
	}
	block->at = list;
	return list != NULL;
}

/* { return EXPR; } */
static bool wrap(struct compiler *c, struct tn_expr *expr,
		 struct tn_tree_block *block)
{
	struct tn_stmt *stmt = alloc(c, 1, sizeof(*stmt));
	struct tn_stmt **list = alloc(c, 1, sizeof(*list));
	struct tn_expr **value = alloc(c, 1, sizeof(*value));

	if (!stmt || !list || !value)
		return false;
	*value = expr;
	*list = stmt;
	stmt->kind = TN_STMT_RETURN;
	stmt->span = expr->span;
	stmt->values.at = value;
	stmt->values.len = 1;
	block->at = list;
	block->len = 1;
	block->span = expr->span;
	return true;
}

/* One result, of whatever type the body has. */
static bool open_result(struct compiler *c, struct tn_params *results)
{
	struct tn_param *result = alloc(c, 1, sizeof(*result));

	results->at = alloc(c, 1, sizeof(*results->at));
	results->len = 1;
	if (!result || !results->at)
		return false;
	result->span = c->decl->item->span;
	results->at[0] = result;
	return true;
}

/* One side as a generic function that nobody can call by name. */
static struct decl *side(struct compiler *c, const struct tn_expr *expr,
			 const struct tn_tree_block *block)
{
	const struct tn_tree_item *rule = c->decl->item;
	struct decl *decl = alloc(c, 1, sizeof(*decl));
	struct tn_tree_item *item = alloc(c, 1, sizeof(*item));
	struct tn_sig *sig = alloc(c, 1, sizeof(*sig));
	bool good;

	if (!decl || !item || !sig || !open_result(c, &sig->results))
		return NULL;
	item->kind = TN_TREE_ITEM_OP;
	item->span = rule->span;
	item->name = rule->name;
	item->u.sig = sig;
	sig->generics = rule->u.rule.sig->generics;
	sig->params.at = c->params.data;
	sig->params.len = (uint32_t)c->params.len;
	sig->has_body = true;
	if (expr) {
		struct tn_expr *copy = expand(c, expr);

		good = copy && wrap(c, copy, &sig->body);
	} else {
		sig->body = *block;
		good = expand_block(c, &sig->body);
	}
	decl->name = tn_arena_printf(&c->e->scratch, "rule %p",
				     (const void *)decl);
	decl->item = item;
	decl->is_library = c->decl->is_library;
	decl->is_generic = true;
	return good && decl->name ? decl : NULL;
}

/* ---- Annotations ------------------------------------------------------- */

static const struct tn_tree_annot *find_annot(const struct compiler *c,
					      const char *name)
{
	const struct tn_tree_annots *annots = &c->decl->item->annots;
	uint32_t i;

	for (i = 0; i < annots->len; i++)
		if (strcmp(annots->at[i]->name.text, name) == 0)
			return annots->at[i];
	return NULL;
}

/* The one argument of @name(..), or NULL after a report. */
static const struct tn_expr *annot_value(struct compiler *c,
					 const struct tn_tree_annot *annot,
					 enum tn_expr_kind kind)
{
	const struct tn_expr *value = annot->args.len == 1 ?
				      annot->args.at[0]->value : NULL;

	if (value && (enum tn_expr_kind)value->kind == kind)
		return value;
	return bad(c, annot->span, kind == TN_EXPR_INT ?
		   "@benefit takes a whole number" : "@group takes a name");
}

static bool read_annots(struct compiler *c, struct tn_rule *rule)
{
	const struct tn_tree_annot *annot = find_annot(c, "benefit");
	const struct tn_expr *value;
	struct tn_annots annots = {0};
	const struct tn_annot *fp;
	size_t len;

	if (annot) {
		value = annot_value(c, annot, TN_EXPR_INT);
		if (!value || value->u.integer.value > 1000)
			return bad(c, annot->span,
				   "@benefit takes a whole number");
		rule->benefit = (int)value->u.integer.value;
		rule->benefit = value->negative ? -rule->benefit :
						  rule->benefit;
	}
	annot = find_annot(c, "group");
	if (annot) {
		value = annot_value(c, annot, TN_EXPR_NAME);
		if (!value)
			return false;
		rule->group = value->u.name;
	}
	elab_annots(c->e, &c->decl->item->annots, &annots);
	fp = tn_annots_find(&annots, "fp");
	if (fp && fp->args && tn_rule_find_unknown(fp->args, &len))
		return bad(c, fp->span, "@fp takes " TN_RULE_WORDS);
	rule->licence = fp ? TN_RULE_FP : find_annot(c, "tol") ? TN_RULE_TOL :
								 TN_RULE_EXACT;
	rule->fp = fp ? fp->args : NULL;
	return true;
}

/* ---- Rules ------------------------------------------------------------- */

static struct tn_rule *finish(struct compiler *c,
			      const struct tn_pattern *root)
{
	const struct tn_tree_item *item = c->decl->item;
	struct elab_rule *text = alloc(c, 1, sizeof(*text));
	struct tn_rule *rule = alloc(c, 1, sizeof(*rule));

	if (!text || !rule || !read_annots(c, rule))
		return NULL;
	text->before = side(c, item->u.rule.before, &item->u.rule.match);
	text->after = side(c, item->u.rule.after, &item->u.rule.rewrite);
	text->item = item;
	text->where = item->u.rule.where;
	rule->name = c->decl->name;
	rule->span = item->name.span;
	rule->nvars = (int)c->vars.len;
	rule->vars = c->vars.data;
	rule->nnodes = rule->priority = c->nnodes;
	rule->root = root;
	rule->source = text;
	return text->before && text->after ? rule : NULL;
}

struct tn_rule *elab_rule_compile(struct tn_elab *e, const struct decl *decl)
{
	const struct tn_tree_item *item = decl->item;
	struct compiler c = {.e = e, .decl = decl};
	struct tn_rule *rule = NULL;
	struct tn_pattern *root = NULL;

	tn_vec_init(&c.vars, sizeof(struct tn_rule_var), &e->scratch);
	tn_vec_init(&c.params, sizeof(struct tn_param *), &e->scratch);
	tn_map_init_text(&c.rests);
	tn_map_init_text(&c.locals);
	if (add_params(&c))
		root = item->u.rule.before ?
		       compile(&c, item->u.rule.before) :
		       compile_block(&c, &item->u.rule.match);
	if (root && root->kind != TN_PATTERN_OP)
		bad(&c, item->name.span, "its left side is no operator");
	else if (root)
		rule = finish(&c, root);
	tn_map_fini(&c.rests);
	tn_map_fini(&c.locals);
	return rule;
}

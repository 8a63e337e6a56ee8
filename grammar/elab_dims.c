/*
 * Dims and types: what is written in brackets becomes dim expressions of the
 * module's pool.
 */
#include "grammar/elab.h"

#include <inttypes.h>
#include <string.h>

const struct tn_dim *elab_dim_binary(struct frame *frame, enum tn_infix op,
				     const struct tn_dim *a,
				     const struct tn_dim *b,
				     struct tn_span span)
{
	struct tn_dim_pool *pool = &frame->e->module->dims;
	const struct tn_dim *dim = NULL;

	if ((op == TN_INFIX_FLOORDIV || op == TN_INFIX_MOD) &&
	    tn_dim_is(b, 0)) {
		tn_diag_report(frame->e->sink, TN_E0222, span,
			       "division of a dim by 0");
		return NULL;
	}
	if (op == TN_INFIX_ADD)
		dim = tn_dim_add(pool, a, b);
	else if (op == TN_INFIX_SUB)
		dim = tn_dim_sub(pool, a, b);
	else if (op == TN_INFIX_MUL)
		dim = tn_dim_mul(pool, a, b);
	else if (op == TN_INFIX_FLOORDIV)
		dim = tn_dim_floordiv(pool, a, b);
	else if (op == TN_INFIX_MOD)
		dim = tn_dim_mod(pool, a, b);
	if (!dim)
		tn_diag_report(frame->e->sink, TN_E0222, span,
			       "this arithmetic leaves the 64-bit range");
	return dim;
}

const struct tn_dim *elab_dim(struct frame *frame, const struct tn_expr *expr)
{
	struct ev ev = elab_expr(frame, expr, ELAB_ANY);
	struct tn_diag *diag;

	if (ev.kind == EV_DIM)
		return ev.u.dim;
	if (ev.kind == EV_POISON)
		return NULL;
	diag = tn_diag_report(frame->e->sink, TN_E0222, expr->span,
			      "a size is due here, this is %s",
			      ev_text(frame->e, &ev));
	if (ev.kind == EV_VALUE)
		tn_diag_help(frame->e->sink, diag,
			     "sizes are made of dims and whole numbers; what "
			     "run time alone knows needs `dim N in [lo, hi];` "
			     "in the body");
	return NULL;
}

bool elab_constant(struct frame *frame, const struct tn_expr *expr,
		   const char *what, int64_t *out)
{
	const struct tn_dim *dim = elab_dim(frame, expr);

	if (!dim)
		return false;
	if (tn_dim_is_const(dim)) {
		*out = dim->value;
		return true;
	}
	tn_diag_report(frame->e->sink, TN_E0222, expr->span,
		       "%s must be a constant, not %s", what,
		       elab_dim_text(frame->e, dim));
	return false;
}

/* Both bounds: constants, or for a size that only the data tell also sizes,
 * which stand for the bounds that they have themselves. */
static bool read_bounds(struct frame *frame, const struct tn_tree_dim *from,
			bool is_runtime, struct tn_sym *sym)
{
	const struct tn_dim *lo, *hi;
	int64_t other;

	if (!is_runtime)
		return elab_constant(frame, from->low, "a bound", &sym->lo) &&
		       elab_constant(frame, from->high, "a bound", &sym->hi);
	lo = elab_dim(frame, from->low);
	hi = lo ? elab_dim(frame, from->high) : NULL;
	if (!hi)
		return false;
	tn_dim_bounds(lo, &sym->lo, &other);
	tn_dim_bounds(hi, &other, &sym->hi);
	return true;
}

/* Bounds, tuning points and divisor of a declared dim. */
static bool read_sym(struct frame *frame, const struct tn_tree_dim *from,
		     bool is_runtime, struct tn_sym *sym)
{
	struct tn_elab *e = frame->e;
	int64_t *opts;
	uint32_t i;

	sym->name = from->name.text;
	sym->span = from->name.span;
	sym->mod = 1;
	if (!read_bounds(frame, from, is_runtime, sym))
		return false;
	if (from->mod &&
	    !elab_constant(frame, from->mod, "a divisor", &sym->mod))
		return false;
	if (sym->lo < 0 || sym->hi < sym->lo || sym->mod < 1) {
		tn_diag_report(e->sink, TN_E0221, from->span,
			       "[%" PRId64 ", %" PRId64 "] mod %" PRId64
			       " holds no size", sym->lo, sym->hi, sym->mod);
		return false;
	}
	opts = elab_array(e, from->opts.len, sizeof(*opts));
	if (!opts)
		return false;
	for (i = 0; i < from->opts.len; i++) {
		if (!elab_constant(frame, from->opts.at[i], "a tuning point",
				   &opts[i]))
			return false;
		if (opts[i] < sym->lo || opts[i] > sym->hi ||
		    opts[i] % sym->mod != 0) {
			tn_diag_report(e->sink, TN_E0221,
				       from->opts.at[i]->span,
				       "%" PRId64 " is no size of '%s'",
				       opts[i], sym->name);
			return false;
		}
	}
	sym->nopt = (int)from->opts.len;
	sym->opt = opts;
	return true;
}

static const struct tn_dim *make_dim(struct frame *frame,
				     const struct tn_tree_dim *from,
				     bool is_runtime)
{
	struct tn_sym sym = {0};

	if (from->value)
		return elab_dim(frame, from->value);
	if (!read_sym(frame, from, is_runtime, &sym))
		return NULL;
	sym.is_runtime = is_runtime;
	return tn_dim_new_sym(&frame->e->module->dims, &sym);
}

void elab_dim_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_dim *dim;
	struct frame frame;

	frame_init(&frame, e, NULL, decl, NULL);
	dim = make_dim(&frame, decl->item->u.dim, false);
	frame_fini(&frame);
	decl->ev = ev_dim(dim, decl->item->name.span);
	decl->state = DECL_DONE;
	if (dim && !decl->is_library &&
	    !tn_map_set(&e->module->dim_names, decl->name, (void *)dim))
		e->module->failed = true;
}

bool elab_dim_ahead(struct frame *frame, const char *name,
		    const struct tn_dim **out)
{
	const struct tn_tree_block *body = &frame->results_of->body;
	const struct tn_tree_dim *dim = NULL;
	uint32_t i;

	for (i = 0; i < body->len && !dim; i++)
		if (body->at[i]->kind == TN_STMT_DIM &&
		    !strcmp(body->at[i]->dim->name.text, name))
			dim = body->at[i]->dim;
	if (!dim)
		return false;
	if (!tn_map_has(&frame->e->ahead, dim))
		elab_map(frame->e, &frame->e->ahead, dim,
			 (void *)make_dim(frame, dim, true));
	*out = tn_map_find(&frame->e->ahead, dim);
	return true;
}

void elab_dim_stmt(struct frame *frame, const struct tn_tree_dim *dim)
{
	const struct tn_dim *made = tn_map_has(&frame->e->ahead, dim) ?
		tn_map_find(&frame->e->ahead, dim) :
		make_dim(frame, dim, true);

	if (made && !tn_map_set(&frame->e->runtime, dim->name.text,
				(void *)made))
		frame->e->module->failed = true;
	frame_bind(frame, dim->name, ev_dim(made, dim->name.span));
}

/* Element types as other languages call them. */
static void suggest_elem(struct tn_elab *e, struct tn_diag *diag,
			 const struct tn_name *name)
{
	static const char *const words[][2] = {
		{ "float32", "f32" }, { "float", "f32" }, { "float64", "f64" },
		{ "double", "f64" }, { "float16", "f16" }, { "half", "f16" },
		{ "bfloat16", "bf16" }, { "int64", "i64" }, { "int", "i32" },
		{ "int32", "i32" }, { "int16", "i16" }, { "int8", "i8" },
		{ "uint64", "u64" }, { "uint32", "u32" }, { "uint16", "u16" },
		{ "uint8", "u8" }, { "boolean", "bool" },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i][0], name->text) != 0)
			continue;
		tn_diag_help(e->sink, diag, "here it is called `%s`",
			     words[i][1]);
		tn_diag_fix(e->sink, diag, name->span, words[i][1]);
	}
}

enum tn_dtype elab_elem(struct frame *frame, const struct tn_tree_type *type)
{
	struct tn_elab *e = frame->e;
	const struct bind *bind;
	const struct decl *decl;
	struct tn_diag *diag;

	if (type->is_elem)
		return tn_dtype_find(type->name.text);
	bind = frame_find(frame, type->name.text);
	if (bind && bind->ev.kind == EV_ELEM)
		return bind->ev.u.elem;
	if (bind && bind->ev.kind == EV_POISON)
		return TN_POISON;
	decl = elab_find(e, type->name.text, frame->is_library);
	if (decl && decl->item->kind == TN_TREE_ITEM_ENCODING)
		return TN_ENCODED;
	diag = tn_diag_report(e->sink, TN_E0215, type->name.span,
			      "'%s' is no type here", type->name.text);
	if (decl && decl->item->kind == TN_TREE_ITEM_STRUCT)
		tn_diag_note(e->sink, diag,
			     "a struct can be the type of a parameter or a "
			     "weight only");
	else
		suggest_elem(e, diag, &type->name);
	return TN_POISON;
}

/* Appends the dims of one entry of a shape. */
static bool put_extent(struct frame *frame, const struct tn_extent *extent,
		       struct tn_vec *dims)
{
	const struct bind *bind;
	const struct tn_dim *dim;
	int64_t lo, hi;
	int i;

	if (extent->size) {
		dim = elab_dim(frame, extent->size);
		if (!dim)
			return false;
		tn_dim_bounds(dim, &lo, &hi);
		if (hi < 0) {
			tn_diag_report(frame->e->sink, TN_E0222, extent->span,
				       "a size cannot be negative");
			return false;
		}
		return elab_push_ptr(frame->e, dims, dim);
	}
	bind = frame_find(frame, extent->pack.text);
	if (!bind || bind->ev.kind != EV_LIST) {
		if (!bind || bind->ev.kind != EV_POISON)
			tn_diag_report(frame->e->sink, TN_E0201, extent->span,
				       "no pack is named '%s' here",
				       extent->pack.text);
		return false;
	}
	for (i = 0; i < bind->ev.u.list.len; i++)
		if (!elab_push_ptr(frame->e, dims,
				   bind->ev.u.list.at[i].u.dim))
			return false;
	return true;
}

const struct tn_type *elab_type(struct frame *frame,
				const struct tn_tree_type *type)
{
	struct tn_module *module = frame->e->module;
	enum tn_dtype dtype = elab_elem(frame, type);
	const struct tn_type *made = NULL;
	struct tn_vec dims;
	bool ok = dtype != TN_POISON;
	uint32_t i;

	tn_vec_init(&dims, sizeof(struct tn_dim *), NULL);
	for (i = 0; i < type->shape.len; i++)
		ok &= put_extent(frame, type->shape.at[i], &dims);
	if (ok && dims.len > TN_MAX_RANK) {
		tn_diag_report(frame->e->sink, TN_E0222, type->span,
			       "a tensor has at most %d axes", TN_MAX_RANK);
		ok = false;
	}
	if (ok && dtype == TN_ENCODED)
		made = tn_type_get_encoded(module, type->name.text,
					   (int)dims.len, dims.data);
	else if (ok)
		made = tn_type_get(module, dtype, (int)dims.len, dims.data);
	tn_vec_fini(&dims);
	return made;
}

static bool expr_is_open(struct tn_elab *e, const struct tn_expr *expr,
			 bool in_library)
{
	const struct decl *decl;
	uint32_t i;

	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
		decl = tn_map_find(in_library ? &e->library : &e->decls,
				   expr->u.name);
		return !decl || (decl->item->kind != TN_TREE_ITEM_DIM &&
				 decl->item->kind != TN_TREE_ITEM_CONST);
	case TN_EXPR_UNARY:
		return expr_is_open(e, expr->u.binary.left, in_library);
	case TN_EXPR_BINARY:
		return expr_is_open(e, expr->u.binary.left, in_library) ||
		       expr_is_open(e, expr->u.binary.right, in_library);
	case TN_EXPR_CALL:
		for (i = 0; i < expr->u.call.args.len; i++) {
			const struct tn_arg *arg = expr->u.call.args.at[i];

			if (arg->value &&
			    expr_is_open(e, arg->value, in_library))
				return true;
		}
		return false;
	case TN_EXPR_ELEM:
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
	case TN_EXPR_STRING:
	case TN_EXPR_BOOL:
	case TN_EXPR_TUPLE:
	case TN_EXPR_LIST:
	case TN_EXPR_PACK:
	case TN_EXPR_FIELD:
	case TN_EXPR_INDEX:
		break;
	}
	return false;
}

/* The first name that makes a size open, or NULL. */
static const char *open_name(struct tn_elab *e, const struct tn_expr *expr)
{
	const char *found;

	if (!expr || !expr_is_open(e, expr, false))
		return NULL;
	if (expr->kind == TN_EXPR_NAME)
		return expr->u.name;
	if (expr->kind != TN_EXPR_UNARY && expr->kind != TN_EXPR_BINARY)
		return NULL;
	found = open_name(e, expr->u.binary.left);
	return found || expr->kind == TN_EXPR_UNARY ? found :
		open_name(e, expr->u.binary.right);
}

const char *tn_elab_open_dim(struct tn_elab *e, const char *fn,
			     struct tn_span *span)
{
	const struct decl *decl = tn_map_find(&e->decls, fn);
	const char *name = NULL;
	uint32_t i, k;

	if (!decl || decl->item->kind != TN_TREE_ITEM_FN || !decl->is_generic)
		return NULL;
	for (i = 0; i < decl->item->u.sig->params.len && !name; i++) {
		const struct tn_tree_type *type =
			decl->item->u.sig->params.at[i]->type;

		for (k = 0; k < type->shape.len && !name; k++)
			name = open_name(e, type->shape.at[k]->size);
		*span = decl->item->u.sig->params.at[i]->span;
	}
	return name;
}

bool elab_type_is_open(struct tn_elab *e, const struct tn_tree_type *type,
		       bool in_library)
{
	uint32_t i;

	for (i = 0; i < type->shape.len; i++) {
		const struct tn_extent *extent = type->shape.at[i];

		if (!extent->size ||
		    expr_is_open(e, extent->size, in_library))
			return true;
	}
	return false;
}

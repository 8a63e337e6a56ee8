/*
 * Making the nodes of the tree; see node.h. Expressions are node_expr.c.
 */
#include "grammar/node.h"

#include <string.h>

#include "grammar/syntax.h"

void *tn_node_new(struct tn_parser *p, size_t size)
{
	return tn_scan_node(&p->scan, size);
}

struct tn_vec *tn_node_add(struct tn_parser *p, struct tn_vec *list,
			    void *node)
{
	if (list == NULL) {
		list = tn_node_new(p, sizeof(*list));
		tn_vec_init(list, sizeof(void *), p->scan.arena);
	}
	if (!p->scan.arena->failed)
		tn_vec_push_ptr(list, node);
	return list;
}

struct tn_list *tn_node_stmts(struct tn_parser *p, struct tn_list *list,
			       void *node)
{
	if (list == NULL) {
		list = tn_node_new(p, sizeof(*list));
		tn_vec_init(&list->vec, sizeof(void *), p->scan.arena);
	}
	if (node != NULL && !p->scan.arena->failed)
		tn_vec_push_ptr(&list->vec, node);
	return list;
}

struct tn_name tn_node_name(struct tn_parser *p, const char *text,
			     struct tn_loc loc)
{
	struct tn_name name = { text, tn_lex_span(p, loc) };

	return name;
}

struct tn_tree_type *tn_node_type(struct tn_parser *p, struct tn_name name,
			      struct tn_vec *shape, struct tn_vec *annots,
			      struct tn_loc loc)
{
	struct tn_tree_type *type = tn_node_new(p, sizeof(*type));

	type->name = name;
	type->has_shape = shape != NULL;
	if (shape != NULL && shape->len > 0 && tn_vec_ptr(shape, 0) != NULL)
		TN_TAKE(type->shape, shape);
	TN_TAKE(type->annots, annots);
	type->span = tn_lex_span(p, loc);
	return type;
}

struct tn_tree_annot *tn_node_annot(struct tn_parser *p, struct tn_name name,
				struct tn_loc loc)
{
	struct tn_tree_annot *annot = tn_node_new(p, sizeof(*annot));
	uint32_t *mark;

	annot->name = name;
	annot->span = tn_lex_span(p, loc);
	if (p->marks == NULL)
		return annot;
	mark = tn_vec_push(p->marks);
	if (mark != NULL)
		*mark = loc.begin;
	else
		p->scan.arena->failed = true;
	return annot;
}

struct tn_extent *tn_node_extent(struct tn_parser *p, struct tn_expr *size,
				  struct tn_name pack, struct tn_loc loc)
{
	struct tn_extent *extent = tn_node_new(p, sizeof(*extent));

	extent->size = size;
	extent->pack = pack;
	extent->span = tn_lex_span(p, loc);
	return extent;
}

struct tn_param *tn_node_param(struct tn_parser *p, struct tn_name name,
				struct tn_tree_type *type, struct tn_expr *init,
				struct tn_loc loc)
{
	struct tn_param *param = tn_node_new(p, sizeof(*param));

	param->name = name;
	param->type = type;
	param->init = init;
	param->span = tn_lex_span(p, loc);
	return param;
}

struct tn_from *tn_node_from(struct tn_parser *p, struct tn_name file,
			      struct tn_name key)
{
	struct tn_from *from = tn_node_new(p, sizeof(*from));

	from->file = file;
	from->key = key;
	return from;
}

struct tn_tree_dim *tn_node_dim(struct tn_parser *p, struct tn_name name,
			    struct tn_loc loc)
{
	struct tn_tree_dim *dim = tn_node_new(p, sizeof(*dim));

	dim->name = name;
	dim->span = tn_lex_span(p, loc);
	return dim;
}

void tn_node_bounds(struct tn_parser *p, struct tn_tree_dim *dim,
		     struct tn_expr *bounds)
{
	struct tn_diag *diag;

	dim->low = bounds;
	dim->high = bounds;
	if (p->scan.arena->failed)
		return;
	if (bounds->kind == TN_EXPR_LIST && bounds->u.list.len == 2) {
		dim->low = bounds->u.list.at[0];
		dim->high = bounds->u.list.at[1];
		return;
	}
	diag = tn_diag_report(p->scan.sink, TN_E0114, bounds->span,
			      "bounds of a dim are written `[low, high]`");
	tn_diag_help(p->scan.sink, diag, "both ends belong to the range");
	p->scan.errors++;
}

void tn_node_old_bounds(struct tn_parser *p, struct tn_tree_dim *dim,
			 struct tn_expr *low, struct tn_expr *high,
			 struct tn_loc loc)
{
	const char *text = p->scan.source;
	struct tn_diag *diag;
	char *fix;

	dim->low = low;
	dim->high = high;
	diag = tn_diag_report(p->scan.sink, TN_E0114, tn_lex_span(p, loc),
			      "bounds of a dim are written `[low, high]`");
	p->scan.errors++;
	if (p->scan.arena->failed ||
	    low->span.end - low->span.begin > 100 ||
	    high->span.end - high->span.begin > 100)
		return;
	fix = tn_arena_printf(&p->scan.sink->arena, "[%.*s, %.*s]",
			      (int)(low->span.end - low->span.begin),
			      text + low->span.begin,
			      (int)(high->span.end - high->span.begin),
			      text + high->span.begin);
	if (fix == NULL)
		return;
	tn_diag_help(p->scan.sink, diag, "write `%s`: both ends belong to it",
		     fix);
	tn_diag_fix(p->scan.sink, diag, tn_lex_span(p, loc), fix);
}

struct tn_tree_block *tn_node_block(struct tn_parser *p, struct tn_list *list,
				struct tn_loc loc)
{
	struct tn_tree_block *block = tn_node_new(p, sizeof(*block));

	TN_TAKE(*block, &list->vec);
	block->broken = list->broken;
	block->span = tn_lex_span(p, loc);
	return block;
}

struct tn_tree_kblock *tn_node_kblock(struct tn_parser *p, struct tn_list *list,
				  struct tn_loc loc)
{
	struct tn_tree_kblock *block = tn_node_new(p, sizeof(*block));

	TN_TAKE(*block, &list->vec);
	block->broken = list->broken;
	block->span = tn_lex_span(p, loc);
	return block;
}

struct tn_stmt *tn_node_stmt(struct tn_parser *p, enum tn_stmt_kind kind,
			      struct tn_vec *values, struct tn_loc loc)
{
	struct tn_stmt *stmt = tn_node_new(p, sizeof(*stmt));

	stmt->kind = kind;
	stmt->span = tn_lex_span(p, loc);
	TN_TAKE(stmt->values, values);
	return stmt;
}

struct tn_stmt *tn_node_stmt_of(struct tn_parser *p, enum tn_stmt_kind kind,
				 struct tn_expr *value, struct tn_loc loc)
{
	return tn_node_stmt(p, kind, tn_node_add(p, NULL, value), loc);
}

struct tn_bind *tn_node_bind(struct tn_parser *p, struct tn_name name,
			      struct tn_tree_type *type)
{
	struct tn_bind *bind = tn_node_new(p, sizeof(*bind));

	bind->name = name;
	bind->type = type;
	return bind;
}

struct tn_carry *tn_node_carry(struct tn_parser *p, struct tn_name name,
				struct tn_tree_type *type,
				struct tn_expr *init)
{
	struct tn_carry *carry = tn_node_new(p, sizeof(*carry));

	carry->name = name;
	carry->type = type;
	carry->init = init;
	return carry;
}

struct tn_scan_in *tn_node_scan_in(struct tn_parser *p, struct tn_name name,
				    struct tn_expr *value)
{
	struct tn_scan_in *in = tn_node_new(p, sizeof(*in));

	in->name = name;
	in->value = value;
	return in;
}

struct tn_tree_kstmt *tn_node_kstmt(struct tn_parser *p,
				     enum tn_tree_kstmt_kind kind,
				     struct tn_expr *value, struct tn_loc loc)
{
	struct tn_tree_kstmt *stmt = tn_node_new(p, sizeof(*stmt));

	stmt->kind = kind;
	stmt->value = value;
	stmt->span = tn_lex_span(p, loc);
	return stmt;
}

struct tn_tree_kstmt *tn_node_let(struct tn_parser *p, struct tn_name name,
				   struct tn_tree_type *type,
				   struct tn_expr *value, struct tn_loc loc)
{
	struct tn_tree_kstmt *let = tn_node_kstmt(p, TN_TREE_KSTMT_LET, value,
						  loc);

	let->name = name;
	let->type = type;
	return let;
}

struct tn_tree_kstmt *tn_node_alloc(struct tn_parser *p, struct tn_name name,
				     struct tn_tree_type *type,
				     struct tn_loc loc)
{
	struct tn_tree_kstmt *alloc = tn_node_kstmt(p, TN_TREE_KSTMT_ALLOC,
						    NULL, loc);

	alloc->name = name;
	alloc->type = type;
	return alloc;
}

struct tn_tree_kstmt *tn_node_kif(struct tn_parser *p, struct tn_vec *arms,
				   struct tn_loc loc)
{
	struct tn_tree_kstmt *branch = tn_node_kstmt(p, TN_TREE_KSTMT_IF,
						     NULL, loc);

	TN_TAKE(branch->arms, arms);
	return branch;
}

struct tn_tree_kstmt *tn_node_store(struct tn_parser *p,
				     struct tn_expr *target,
				     struct tn_expr *value, bool add,
				     struct tn_loc loc)
{
	struct tn_tree_kstmt *store = tn_node_kstmt(p, TN_TREE_KSTMT_STORE,
						    value, loc);

	store->target = target;
	store->add = add;
	return store;
}

struct tn_tree_kstmt *tn_node_loop(struct tn_parser *p,
				    enum tn_tree_loop_kind loop,
				    struct tn_vec *args, struct tn_loc loc)
{
	struct tn_tree_kstmt *stmt = tn_node_kstmt(p, TN_TREE_KSTMT_LOOP,
						   NULL, loc);

	stmt->loop = loop;
	TN_TAKE(stmt->args, args);
	return stmt;
}

void tn_node_mutable(struct tn_parser *p, struct tn_tree_kstmt *let,
		     struct tn_name word)
{
	let->is_mutable = true;
	if (p->scan.arena->failed || strcmp(word.text, "mut") == 0)
		return;
	p->scan.errors++;
	tn_diag_report(p->scan.sink, TN_E0101, word.span,
		       "unexpected name `%.60s`, expected `mut` or the name "
		       "of the value alone", word.text);
}

struct tn_vec *tn_node_arm(struct tn_parser *p, struct tn_vec *arms,
			    struct tn_expr *cond, struct tn_tree_block *body)
{
	struct tn_tree_block copy = *body;
	struct tn_arm *arm = tn_node_new(p, sizeof(*arm));

	arm->cond = cond;
	arm->body = copy;
	return tn_node_add(p, arms, arm);
}

struct tn_vec *tn_node_karm(struct tn_parser *p, struct tn_vec *arms,
			     struct tn_expr *cond, struct tn_tree_kblock *body)
{
	struct tn_tree_kblock copy = *body;
	struct tn_karm *arm = tn_node_new(p, sizeof(*arm));

	arm->cond = cond;
	arm->body = copy;
	return tn_node_add(p, arms, arm);
}

struct tn_region *tn_node_region(struct tn_parser *p,
				  enum tn_region_kind kind,
				  struct tn_tree_block *body,
				  struct tn_loc loc)
{
	struct tn_tree_block none = { 0 };
	struct tn_tree_block copy = body == NULL ? none : *body;
	struct tn_region *region = tn_node_new(p, sizeof(*region));

	region->kind = kind;
	region->body = copy;
	region->span = tn_lex_span(p, loc);
	return region;
}

struct tn_region *tn_node_while(struct tn_parser *p, struct tn_vec *carries,
				 struct tn_vec *options,
				 struct tn_tree_block *body,
				 struct tn_loc loc)
{
	struct tn_region *region = tn_node_region(p, TN_REGION_WHILE, body,
						  loc);

	TN_TAKE(region->carries, carries);
	TN_TAKE(region->options, options);
	return region;
}

struct tn_tree_item *tn_node_item(struct tn_parser *p,
				   enum tn_tree_item_kind kind,
				   struct tn_name name, struct tn_loc loc)
{
	struct tn_tree_item *item = tn_node_new(p, sizeof(*item));

	item->kind = kind;
	item->name = name;
	item->span = tn_lex_span(p, loc);
	return item;
}

struct tn_tree_item *tn_node_weight(struct tn_parser *p, struct tn_name name,
				     struct tn_tree_type *type,
				     const struct tn_from *from,
				     struct tn_loc loc)
{
	struct tn_tree_item *item = tn_node_item(p, TN_TREE_ITEM_WEIGHT, name,
						 loc);

	item->u.weight.type = type;
	if (from != NULL)
		item->u.weight.from = *from;
	return item;
}

struct tn_tree_item *tn_node_derived(struct tn_parser *p, struct tn_name name,
				      struct tn_tree_type *type,
				      struct tn_expr *made,
				      struct tn_loc loc)
{
	struct tn_tree_item *item = tn_node_weight(p, name, type, NULL, loc);

	item->u.weight.made = made;
	return item;
}

void tn_node_family(struct tn_tree_item *item, struct tn_name var,
		    struct tn_expr *low, struct tn_expr *high)
{
	item->u.weight.var = var;
	item->u.weight.low = low;
	item->u.weight.high = high;
}

struct tn_tree_item *tn_node_def(struct tn_parser *p,
				  enum tn_tree_item_kind kind,
				  struct tn_name name, struct tn_sig *sig,
				  struct tn_tree_block *body,
				  struct tn_loc loc)
{
	struct tn_tree_item *item = tn_node_item(p, kind, name, loc);

	item->u.sig = sig;
	if (body == NULL)
		return item;
	sig->has_body = true;
	sig->body = *body;
	return item;
}

struct tn_tree_item *tn_node_kernel(struct tn_parser *p, struct tn_name name,
				     struct tn_vec *params,
				     struct tn_tree_kblock *body,
				     struct tn_loc loc)
{
	struct tn_tree_item *item = tn_node_item(p, TN_TREE_ITEM_KERNEL, name,
						 loc);
	struct tn_sig *sig = tn_node_sig(p, NULL, params, NULL);

	item->u.sig = sig;
	sig->has_body = true;
	sig->kernel = *body;
	return item;
}

struct tn_tree_item *tn_node_rule(struct tn_parser *p, struct tn_name name,
				   struct tn_sig *sig, struct tn_expr *where,
				   struct tn_loc loc)
{
	struct tn_tree_item *item = tn_node_item(p, TN_TREE_ITEM_RULE, name,
						 loc);

	item->u.rule.sig = sig;
	item->u.rule.where = where;
	return item;
}

struct tn_generic *tn_node_generic(struct tn_parser *p, struct tn_name name,
				    struct tn_name class_name)
{
	struct tn_generic *generic = tn_node_new(p, sizeof(*generic));

	generic->name = name;
	generic->class_name = class_name;
	return generic;
}

struct tn_field *tn_node_struct_field(struct tn_parser *p,
				       struct tn_name name,
				       struct tn_tree_type *type,
				       struct tn_from *from,
				       struct tn_loc loc)
{
	struct tn_from copy = *from;
	struct tn_field *field = tn_node_new(p, sizeof(*field));

	field->name = name;
	field->type = type;
	field->from = copy;
	field->span = tn_lex_span(p, loc);
	return field;
}

struct tn_sig *tn_node_sig(struct tn_parser *p, struct tn_vec *generics,
			    struct tn_vec *params, struct tn_vec *results)
{
	struct tn_sig *sig = tn_node_new(p, sizeof(*sig));

	TN_TAKE(sig->generics, generics);
	TN_TAKE(sig->params, params);
	TN_TAKE(sig->results, results);
	return sig;
}

void tn_node_fields(struct tn_fields *fields, struct tn_list *list)
{
	TN_TAKE(*fields, &list->vec);
	fields->broken = list->broken;
}

void tn_node_encoding(struct tn_parser *p, struct tn_tree_item *item,
		       struct tn_expr *block, struct tn_list *fields,
		       struct tn_expr *value)
{
	struct tn_diag *diag;

	item->u.encoding.block = block->u.integer.value;
	item->u.encoding.value = value;
	tn_node_fields(&item->u.encoding.fields, fields);
	if (value != NULL || fields->broken || p->scan.arena->failed)
		return;
	p->scan.errors++;
	diag = tn_diag_report(p->scan.sink, TN_E0117, item->name.span,
			      "encoding `%s` does not say its value",
			      item->name.text);
	tn_diag_help(p->scan.sink, diag,
		     "end it with `value = ...;`, one element from the fields");
}

static void missing_header(struct tn_parser *p)
{
	struct tn_span start = { p->scan.file, 0, 0 };
	struct tn_diag *diag;

	start.begin = start.end = p->start;
	p->headless = true;
	p->scan.errors++;
	diag = tn_diag_report(p->scan.sink, TN_E0106, start,
			      "the file does not begin with `tenon 1.0;`");
	tn_diag_help(p->scan.sink, diag,
		     "write `tenon 1.0;` as its first line");
	tn_diag_fix(p->scan.sink, diag, start, "tenon 1.0;\n");
}

/* Reads `1.0` at `text`; false if there is more or less than two numbers. */
static bool read_version(const char *text, uint32_t len, uint32_t version[2])
{
	uint32_t part = 0;
	uint32_t i;

	version[0] = version[1] = 0;
	for (i = 0; i < len; i++) {
		if (text[i] == '.' && part == 0 && i > 0)
			part = 1;
		else if (text[i] < '0' || text[i] > '9' ||
			 version[part] > 9999)
			return false;
		else
			version[part] = version[part] * 10 +
					(uint32_t)(text[i] - '0');
	}
	return part == 1;
}

void tn_node_header(struct tn_parser *p, struct tn_expr *number,
		     struct tn_loc loc)
{
	uint32_t version[2];
	struct tn_diag *diag;

	if (number == NULL) {
		if (!p->stop)
			missing_header(p);
		return;
	}
	if (p->scan.arena->failed)
		return;
	if (read_version(number->u.real.text, loc.end - loc.begin, version) &&
	    version[0] == TN_LANGUAGE_MAJOR &&
	    version[1] <= TN_LANGUAGE_MINOR) {
		p->tree->major = version[0];
		p->tree->minor = version[1];
		return;
	}
	p->scan.errors++;
	diag = tn_diag_report(p->scan.sink, TN_E0107, tn_lex_span(p, loc),
			      "this version of the language is not known");
	tn_diag_help(p->scan.sink, diag,
		     "this tenon reads version %d.%d", TN_LANGUAGE_MAJOR,
		     TN_LANGUAGE_MINOR);
	p->stop = true;
}

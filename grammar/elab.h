/*
 * What the files of the elaborator share. Not for others: see elaborate.h.
 *
 * An expression gives an `ev`: a value of the graph, or something known now
 * (a number without type, a dim, a string, a list, a struct of values) that
 * becomes a value only when an operator wants one, of the type it wants.
 *
 * A `decl` is a named item of a file. A `frame` is one function body at work:
 * its builder and its names. All is allocated in the module's arena or, what
 * dies with the elaborator, in `scratch`.
 */
#ifndef TN_GRAMMAR_ELAB_H
#define TN_GRAMMAR_ELAB_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "grammar/syntax.h"
#include "grammar/elaborate.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

/* Instances nest at most so deep. */
#define ELAB_DEPTH 64
/* No wanted element type. */
#define ELAB_ANY TN_DTYPE_COUNT

struct decl;

enum ev_kind {
	EV_POISON,	/* failed and reported */
	EV_VALUE,	/* value; `soft`: adopts other types as literals do */
	EV_DIM,		/* dim: integer literals and dim expressions */
	EV_BIG,		/* big: an integer above INT64_MAX */
	EV_FLOAT,	/* real */
	EV_BOOL,	/* truth */
	EV_STRING,	/* string */
	EV_ELEM,	/* elem */
	EV_HOLE,	/* `_` */
	EV_NONE,	/* `none`: an attribute that is not given */
	EV_LIST,	/* list */
	EV_TUPLE,	/* list: several results */
	EV_STRUCT,	/* agg */
	EV_CONST	/* typed: a list with its declared type */
};

struct ev {
	enum ev_kind kind;
	bool soft;
	struct tn_span span;
	union {
		struct tn_value *value;
		const struct tn_dim *dim;
		uint64_t big;
		struct {
			double value;
			/* The literal, for one rounding; NULL: computed. */
			const struct tn_expr *text;
		} real;
		bool truth;
		const char *string;
		enum tn_dtype elem;
		struct {
			struct ev *at;
			int len;
		} list;
		struct {
			const struct decl *type;
			struct tn_value **fields;
			bool is_family;
		} agg;
		struct {
			const struct ev *of;
			const struct tn_type *type;
		} typed;
	} u;
};

enum decl_state { DECL_NEW, DECL_ACTIVE, DECL_DONE };

/* A tensor in a struct, `bn1__gamma` if the field is a struct too. */
struct leaf {
	const char *name;
	const char *key;
	const struct tn_type *type;
};

struct member {
	int first;		/* of the leaves */
	const struct decl *type;	/* a struct; NULL: a tensor */
};

struct decl {
	const char *name;
	const struct tn_tree_item *item;
	bool is_library;
	bool is_generic;	/* fn, op: instantiated by call */
	bool is_broken;		/* generic, and its text has errors */
	enum decl_state state;
	struct ev ev;		/* dim, const, weight */
	struct tn_fn *fn;	/* fn that is not generic */
	struct tn_kernel *kernel;
	struct tn_rule *rule;	/* rule without errors */
	const struct decl *of;	/* struct with sizes: what it was made of */
	const struct tn_dim **sizes;
	int nfields;		/* struct: tensors in it, and those */
	struct leaf *leaves;
	struct member *members;	/* its fields */
};

/* A name bound in a frame. */
struct bind {
	const char *name;
	struct tn_span span;
	struct ev ev;
};

/* A call. */
struct edge {
	const struct tn_fn *from, *to;
	struct tn_op *op;
};

struct tn_elab {
	struct tn_elab_options options;
	struct tn_module *module;
	struct tn_sink *sink;		/* where reports go now */
	struct tn_intern *names;
	struct tn_arena scratch;
	struct tn_tree *tree;
	struct tn_map decls, library;	/* name -> struct decl * */
	struct tn_map included;		/* source numbers, as keys */
	struct tn_map instances;	/* key -> struct tn_fn * */
	struct tn_map structs;		/* name with sizes -> struct decl * */
	struct tn_sink text_sink;	/* holds the texts of elab_text.c */
	struct tn_map texts;		/* text -> const struct tn_tree_item * */
	struct tn_map runtime;		/* name -> struct tn_dim *, of bodies */
	struct tn_map ahead;		/* struct tn_tree_dim * of a body -> its
					 * dim, which results named before */
	struct tn_map origins;		/* weight value -> struct tn_weight * */
	struct tn_vec order;		/* struct decl *, of the user */
	struct tn_vec edges;		/* struct edge */
	bool has_library, broken;
	bool is_dry;			/* trying a body for its types */
	int depth;
};

struct frame {
	struct tn_elab *e;
	struct frame *up;		/* the call that asked, or NULL */
	const struct decl *decl;
	struct tn_builder b;
	struct tn_map names;		/* name -> struct bind * */
	struct tn_vec bound;		/* struct bind *, open ones */
	struct tn_test *test;		/* in a test, else NULL */
	struct tn_vec *results;		/* of a test: struct tn_value * */
	bool is_library;
	bool is_broken;			/* the parser skipped something */
	bool sees_runtime;		/* dims declared in other bodies too */
	bool is_text;			/* its names name no values */
	const struct tn_sig *results_of;	/* its results are at work, which
						 * may name dims of the body */
};

/* ---- elab_util.c ------------------------------------------------------ */

struct ev ev_poison(struct tn_span span);
struct ev ev_value(struct tn_value *value, struct tn_span span);
struct ev ev_dim(const struct tn_dim *dim, struct tn_span span);
struct ev ev_list(struct tn_elab *e, const struct ev *at, int len,
		  struct tn_span span);
bool ev_is_poison(const struct ev *ev);
/* A number or truth without type, or a soft value. */
bool ev_is_literal(const struct ev *ev);
/* The integer, if ev is a constant one. */
bool ev_int(const struct ev *ev, int64_t *out);
/* What it is, with its type: "a f32[B, 4]", "the number 3", "a list". */
const char *ev_text(struct tn_elab *e, const struct ev *ev);
const char *elab_type_text(struct tn_elab *e, const struct tn_type *type);
const char *elab_dim_text(struct tn_elab *e, const struct tn_dim *dim);
const char *elab_intern(struct tn_elab *e, const char *text);
/* A note saying where each dim of the type was declared. */
void elab_note_dims(struct tn_elab *e, struct tn_diag *diag,
		    const struct tn_type *type);
void *elab_array(struct tn_elab *e, size_t count, size_t size);
/* As tn_vec_push, tn_vec_push_ptr, tn_map_set; without memory the module has
 * failed. */
void *elab_push(struct tn_elab *e, struct tn_vec *vec);
bool elab_push_ptr(struct tn_elab *e, struct tn_vec *vec,
		   const void *pointer);
bool elab_map(struct tn_elab *e, struct tn_map *map, const void *key,
	      void *value);
/* Annotations of the tree as text of the module. */
void elab_annots(struct tn_elab *e, const struct tn_tree_annots *from,
		 struct tn_annots *to);
/* The @layout among them, checked against the type, which is that of the value
 * or that of its bytes; NULL: there is none, or a report. */
const struct tn_layout *elab_layout(struct tn_elab *e,
				    const struct tn_tree_annots *from,
				    const struct tn_type *type,
				    bool is_physical);
/* Layout and annotations of a value that has its type. */
void elab_value_annots(struct tn_elab *e, const struct tn_tree_annots *from,
		       struct tn_value *value);

/* ---- elab_scope.c ----------------------------------------------------- */

void frame_init(struct frame *frame, struct tn_elab *e, struct frame *up,
		const struct decl *decl, struct tn_fn *fn);
void frame_fini(struct frame *frame);
struct bind *frame_find(const struct frame *frame, const char *name);
/* Binds a name; reports a second binding. */
void frame_bind(struct frame *frame, struct tn_name name, struct ev ev);
/* Names bound after the mark are forgotten. */
size_t frame_mark(const struct frame *frame);
void frame_release(struct frame *frame, size_t mark);
/* The item, in the user's files or the library as the frame sees them. */
struct decl *elab_find(struct tn_elab *e, const char *name, bool in_library);
/* What a name is in an expression. */
struct ev elab_name(struct frame *frame, const char *name,
		    struct tn_span span);
/* A struct weight put together from its fields, as canonical text has them;
 * false: there is none of that name. */
bool elab_flat_struct(struct tn_elab *e, const char *name,
		      struct tn_span span, struct ev *out);
/* Adds the nearest of the names in reach as help. */
void elab_suggest(struct frame *frame, struct tn_diag *diag,
		  struct tn_span span, const char *name, bool calls);

/* ---- elab_item.c ------------------------------------------------------ */

bool elab_load_library(struct tn_elab *e);
bool elab_collect(struct tn_elab *e, struct tn_tree *tree, bool is_library);
void elab_items(struct tn_elab *e);

/* ---- elab_dims.c ------------------------------------------------------ */

void elab_dim_item(struct tn_elab *e, struct decl *decl);
/* A dim of a body: `dim Z in [0, 64];` bound in the frame. */
void elab_dim_stmt(struct frame *frame, const struct tn_tree_dim *dim);
/* The dim that the body of `results_of` declares; false: none of the name. */
bool elab_dim_ahead(struct frame *frame, const char *name,
		    const struct tn_dim **out);
const struct tn_dim *elab_dim(struct frame *frame,
			      const struct tn_expr *expr);
/* Arithmetic on dims; NULL after a report. */
const struct tn_dim *elab_dim_binary(struct frame *frame,
				     enum tn_infix op,
				     const struct tn_dim *a,
				     const struct tn_dim *b,
				     struct tn_span span);
/* The written type; NULL after a report. */
const struct tn_type *elab_type(struct frame *frame,
				const struct tn_tree_type *type);
bool elab_constant(struct frame *frame, const struct tn_expr *expr,
		   const char *what, int64_t *out);
/* Whether the type holds packs or names of dims that nobody declared. */
bool elab_type_is_open(struct tn_elab *e, const struct tn_tree_type *type,
		       bool in_library);
enum tn_dtype elab_elem(struct frame *frame, const struct tn_tree_type *type);

/* ---- elab_const.c ----------------------------------------------------- */

/* The value, made of the element type if it is a literal. ELAB_ANY: f32 or
 * i64. NULL after a report. */
struct tn_value *elab_to_value(struct frame *frame, const struct ev *ev,
			       enum tn_dtype want);
/* A literal or list of literals with the same bits in another type. */
struct ev elab_bitcast(struct frame *frame, const struct ev *ev,
		       enum tn_dtype dtype, struct tn_span span);
bool elab_fits(const struct ev *ev, enum tn_dtype dtype);
enum tn_dtype elab_default(const struct ev *ev);
double ev_to_f64(const struct ev *ev);
/* A double that rounds to the element of the type that is nearest to what a
 * float literal spells: not by way of the nearest f64, which rounds twice. */
double ev_rounds_to(struct tn_elab *e, enum tn_dtype dtype,
		    const struct ev *ev);
struct ev elab_literal(struct frame *frame, const struct tn_expr *expr);

/* ---- elab_expr.c ------------------------------------------------------ */

struct ev elab_expr(struct frame *frame, const struct tn_expr *expr,
		    enum tn_dtype want);
/* Same, as a value; NULL after a report. */
struct tn_value *elab_expr_value(struct frame *frame,
				 const struct tn_expr *expr,
				 enum tn_dtype want);
/* Gives each literal among the operands the type of the others. False after
 * a report. */
bool elab_adopt(struct frame *frame, int count, const struct ev *in,
		struct tn_value **out, enum tn_dtype want,
		struct tn_span span, const char *what);
struct ev elab_binary(struct frame *frame, enum tn_infix op,
		      const struct ev *left, const struct ev *right,
		      enum tn_dtype want, struct tn_span span);

/* ---- elab_index.c ----------------------------------------------------- */

struct ev elab_index(struct frame *frame, const struct tn_expr *expr);
struct ev elab_field(struct frame *frame, const struct tn_expr *expr);

/* ---- elab_call.c ------------------------------------------------------ */

/* Arguments of one call, evaluated. */
struct actual {
	const char *name;	/* NULL: positional */
	struct tn_span name_span;
	struct ev ev;
	bool used;
};

struct call {
	const char *name;
	struct tn_span span, name_span;
	int len;
	struct actual *at;
	enum tn_dtype want;
};

struct ev elab_call(struct frame *frame, const struct tn_expr *expr,
		    enum tn_dtype want);
/* The named argument (or the `place`th positional), marked as used. */
struct actual *call_arg(struct call *call, const char *name, int place);
/* Reports arguments that nobody used; true if there were none. */
bool call_all_used(struct frame *frame, const struct call *call,
		   const char *const *known, int nknown);
struct ev elab_primitive(struct frame *frame, enum tn_opcode code,
			 struct call *call);
/* A primitive on values; poison after a report. */
struct ev elab_make(struct frame *frame, enum tn_opcode code, int nin,
		    struct tn_value *const *in, int nattrs,
		    const struct tn_attr *attrs, struct tn_span span);

/* ---- elab_attr.c ------------------------------------------------------ */

bool elab_attr(struct frame *frame, const struct tn_attr_info *info,
	       const struct ev *ev, struct tn_attr *out);
/* An attribute of a call, its kind by the value. */
bool elab_attr_any(struct frame *frame, const char *name,
		   const struct ev *ev, struct tn_attr *out);
struct ev elab_attr_ev(struct tn_elab *e, const struct tn_attr *attr,
		       struct tn_span span);
const char *elab_attr_kind(enum tn_attr_kind kind);

/* ---- elab_sugar.c ----------------------------------------------------- */

typedef struct ev (*elab_sugar_fn)(struct frame *frame, struct call *call);
elab_sugar_fn elab_sugar_find(const char *name);
/* Names of the table, for suggestions; NULL past the end. */
const char *elab_sugar_name(size_t i);

/* ---- elab_list.c ------------------------------------------------------ */

/* Arithmetic on lists of sizes, element by element; a size stands for as many.
 * False: not lists, or of unlike form. */
bool elab_list_binary(struct frame *frame, enum tn_infix op,
		      const struct ev *left, const struct ev *right,
		      struct tn_span span, struct ev *out);
struct ev elab_permute(struct frame *frame, struct call *call);
struct ev elab_inverse(struct frame *frame, struct call *call);
struct ev elab_take(struct frame *frame, struct call *call);
struct ev elab_drop(struct frame *frame, struct call *call);
struct ev elab_lows(struct frame *frame, struct call *call);
struct ev elab_highs(struct frame *frame, struct call *call);
struct ev elab_union(struct frame *frame, struct call *call);

/* ---- elab_generic.c --------------------------------------------------- */

bool elab_is_attribute(const struct tn_param *param);
/* A group that a pass has outlined. Its sizes are those of its callers, the
 * dims of their bodies included, so it is read after them. */
bool elab_is_fused(const struct tn_tree_item *item);
bool elab_is_generic(struct tn_elab *e, const struct decl *decl);
/* A call of a decl, generic or plain. */
struct ev elab_call_decl(struct frame *frame, struct decl *decl,
			 struct call *call);
/* ---- elab_unify.c ----------------------------------------------------- */

const struct tn_generic *elab_find_generic(const struct tn_generics *list,
					   const char *name);
bool elab_class_has(const char *class_name, enum tn_dtype dtype);
/* Binds what the written type leaves open to what the type has. */
/* The sizes of a struct against those written, `Norm[C]`. */
bool elab_unify_struct(struct frame *frame,
		       const struct tn_tree_type *pattern,
		       const struct decl *type);
bool elab_unify(struct frame *frame, const struct tn_generics *generics,
		const struct tn_tree_type *pattern, const struct tn_type *type,
		struct tn_span span, const char *what);

/* ---- elab_plain.c ----------------------------------------------------- */

/* Names of a signature are distinct. */
void elab_check_names(struct tn_elab *e, const struct tn_sig *sig);
void elab_signature(struct tn_elab *e, struct decl *decl);
void elab_fn_body(struct tn_elab *e, struct decl *decl);
struct ev elab_call_plain(struct frame *frame, struct decl *decl,
			  struct call *call);
/* A call op and its results. */
struct ev elab_call_op(struct frame *frame, struct tn_fn *callee, int nin,
		       struct tn_value *const *in, int nattrs,
		       const struct tn_attr *attrs,
		       struct tn_span span);
void elab_check_recursion(struct tn_elab *e);
/* Binds a flattened parameter of the written type to the frame. */
bool elab_param(struct frame *frame, const struct tn_param *param,
		const struct tn_type *type);
/* Ends a body: checks results and makes `return`. */
bool elab_finish(struct frame *frame, const struct tn_sig *sig,
		 const struct tn_generics *generics, int nresults,
		 const struct ev *results, struct tn_span span);

/* ---- elab_stmt.c ------------------------------------------------------ */

enum block_role { BLOCK_FN, BLOCK_REGION, BLOCK_SCAN, BLOCK_TEST };

struct outcome {
	bool ended;		/* by return or yield */
	struct tn_span span;	/* of the last statement */
	int nvalues, nemits;
	struct ev *values, *emits;
};

/* The statements of a block in the frame's builder, in a scope of its own;
 * what it returned or yielded. False after an error that leaves nothing. */
bool elab_block(struct frame *frame, const struct tn_tree_block *block,
		enum block_role role, const enum tn_dtype *wants, int nwants,
		struct outcome *out);

/* ---- elab_trial.c ----------------------------------------------------- */

struct elab_trial {
	struct tn_elab *e;
	struct tn_fn *fn;		/* what is tried is made in it */
	struct tn_sink quiet;		/* takes the reports */
	struct tn_sink *sink, *module_sink;	/* where they went before */
	bool was_dry;
	uint64_t epoch;
};

/* From here on reports are quiet. False: out of memory, nothing is begun. */
bool elab_trial_begin(struct elab_trial *trial, struct tn_elab *e,
		      const char *name);
/* Reports go where they went; one of these two is due then. */
void elab_trial_end(struct elab_trial *trial);
struct tn_fn *elab_trial_keep(struct elab_trial *trial);
/* The function goes, and the module's epoch is what it was. */
void elab_trial_drop(struct elab_trial *trial);

/* ---- elab_flow.c ------------------------------------------------------ */

/* Takes a function that was made for a trial out of the module again, with
 * what its body uses, last first. */
void elab_drop_fn(struct tn_elab *e, struct tn_fn *fn);
struct ev elab_region(struct frame *frame, const struct tn_region *region,
		      const enum tn_dtype *wants, int nwants);
/* The results of an op, a tuple if not just one. */
struct ev elab_results(struct frame *frame, struct tn_op *op);
bool elab_set_attr(struct tn_elab *e, struct tn_op *op,
		   struct tn_attr attr);

/* ---- elab_struct.c ---------------------------------------------------- */

void elab_struct_item(struct tn_elab *e, struct decl *decl);
/* The struct that the type names, without sizes; NULL: it names none. */
const struct decl *elab_struct_find(struct frame *frame,
				    const struct tn_tree_type *type);
/* The same with the sizes that are written; after a report without. */
const struct decl *elab_struct_type(struct frame *frame,
				    const struct tn_tree_type *type);
/* Reports a struct with sizes that are not written here. */
void elab_struct_want_sizes(struct frame *frame,
			    const struct tn_tree_type *type);
/* True if `have` is `want`, or `want` with some sizes. */
bool elab_struct_fits(const struct decl *want, const struct decl *have);
/* The struct with the sizes that the values have behind `skip` axes; `base` if
 * they do not tell. */
const struct decl *elab_struct_of(struct tn_elab *e, const struct decl *base,
				  struct tn_value *const *fields, int skip);

/* ---- elab_weight.c ---------------------------------------------------- */

void elab_weight_item(struct tn_elab *e, struct decl *decl);
/* elab_derived.c: `weight s: T = f(a, b);`, once functions are known. */
void elab_derived_item(struct tn_elab *e, struct decl *decl);
/* A constant kept in a file, load("x.npy"). */
struct ev elab_load(struct frame *frame, struct call *call);

/* ---- elab_rule.c, elab_test.c, elab_kernel.c -------------------------- */

/* A generic fn or op: what can be checked before it is called. */
void elab_generic_item(struct tn_elab *e, struct decl *decl);
void elab_rule_item(struct tn_elab *e, struct decl *decl);
void elab_encoding_item(struct tn_elab *e, struct decl *decl);
void elab_mesh_item(struct tn_elab *e, struct decl *decl);
void elab_expect(struct frame *frame, const struct tn_stmt *stmt);
void elab_reject(struct frame *frame, const struct tn_stmt *stmt);
void elab_kernel_item(struct tn_elab *e, struct decl *decl);
struct ev elab_launch(struct frame *frame, struct decl *decl,
		      struct call *call);

#endif

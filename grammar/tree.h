/*
 * The syntax tree: one file of Tenon text as the parser read it.
 *
 * Comes in: nothing is resolved here; names are names, dims and types are
 * what was written. Goes out: the elaborator turns it into a graph, print.c
 * into canonical text.
 *
 *   y, z: f32[N] = split(x @ w + 1.5_f16, axis=-1);
 *
 *   stmt BIND  binds [y] [z: type f32, shape [NAME N]]
 *     value CALL split
 *       arg POSITIONAL  BINARY add (BINARY matmul (NAME x, NAME w),
 *                                   FLOAT 1.5 suffix "f16")
 *       arg NAMED axis  INT 1 negative
 *
 * Invariants
 * - All nodes live in the arena given to tn_parse. Names and strings are
 *   interned (compare by pointer, equal in and out of backquotes) and live in
 *   the pool. Spellings of floats point into the sink's copy of the source.
 * - Lists are arrays (`at`, `len`; `at` is NULL if `len` is 0), never linked
 * - No pointer is NULL unless its comment says so.
 * - A block or tree in which the parser skipped something has `broken` set:
 *   a name that is missing there must not be reported once more.
 */
#ifndef TN_GRAMMAR_TREE_H
#define TN_GRAMMAR_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "ir/infix.h"

/* Deepest nesting of (), [], {} and prefix operators in one file. */
#define TN_TREE_NESTING 200
/* Deepest tree of one expression; chains such as a + b + c count too. */
#define TN_TREE_DEPTH 1000

struct tn_expr;
struct tn_tree_type;
struct tn_stmt;
struct tn_tree_kstmt;
struct tn_region;

/* A name and its place. */
struct tn_name {
	const char *text;	/* interned; NULL where a name may be absent */
	struct tn_span span;
};

struct tn_exprs {
	struct tn_expr **at;
	uint32_t len;
};

enum tn_arg_kind {
	TN_ARG_POSITIONAL,	/* f(x) */
	TN_ARG_NAMED,		/* f(axis=1) */
	TN_ARG_REST		/* f(..a): the remaining attributes */
};

struct tn_arg {
	enum tn_arg_kind kind;
	struct tn_name name;	/* NAMED: key; REST: `a` */
	struct tn_expr *value;	/* NULL for REST */
	struct tn_span span;
};

struct tn_args {
	struct tn_arg **at;
	uint32_t len;
};

/* @name or @name(args). Any keyword may be a name: @in. */
struct tn_tree_annot {
	struct tn_name name;
	bool has_args;		/* parentheses were written */
	struct tn_args args;
	struct tn_span span;
};

struct tn_tree_annots {
	struct tn_tree_annot **at;
	uint32_t len;
};

/* One entry of a shape: a size, or a pack `*P` of zero or more dims. */
struct tn_extent {
	struct tn_expr *size;	/* NULL for a pack */
	struct tn_name pack;	/* text NULL unless a pack */
	struct tn_span span;
};

struct tn_extents {
	struct tn_extent **at;
	uint32_t len;
};

/* f32, f32[B, 3], T[*P, K], Block, q8_0[4096, 4096], int, ints, perm, ...
 * Name and shape only; what the name means is the elaborator's business. */
struct tn_tree_type {
	struct tn_name name;
	bool is_elem;		/* an element word: f32, i8, bool, ... */
	bool has_shape;		/* brackets were written, also `[]` */
	struct tn_extents shape;
	struct tn_tree_annots annots;
	struct tn_span span;	/* with annotations */
};

/* ---- Expressions ----------------------------------------------------- */

enum tn_expr_kind {
	TN_EXPR_NAME,		/* name */
	TN_EXPR_ELEM,		/* name: f32 as in cast(x, f32) */
	TN_EXPR_INT,		/* integer */
	TN_EXPR_FLOAT,		/* real */
	TN_EXPR_STRING,		/* name (unescaped, interned) */
	TN_EXPR_BOOL,		/* truth */
	TN_EXPR_TUPLE,		/* list: (a, b), two or more */
	TN_EXPR_LIST,		/* list: [a, b], zero or more */
	TN_EXPR_PACK,		/* name: `*P` as an element of a list only */
	TN_EXPR_CALL,		/* call: gelu(x, approx="tanh") */
	TN_EXPR_FIELD,		/* field: p.fc_b */
	TN_EXPR_INDEX,		/* index: x[i, 0:4, ...] */
	TN_EXPR_UNARY,		/* binary, right NULL */
	TN_EXPR_BINARY		/* binary */
};

enum tn_index_kind {
	TN_INDEX_AT,		/* x[e]: first */
	TN_INDEX_RANGE,		/* x[first:last], either may be NULL */
	TN_INDEX_ELLIPSIS	/* x[...] */
};

struct tn_index {
	enum tn_index_kind kind;
	struct tn_expr *first, *last;
	struct tn_span span;
};

struct tn_expr {
	uint8_t kind;		/* enum tn_expr_kind */
	uint8_t op;		/* enum tn_infix of UNARY, BINARY */
	uint16_t depth;		/* levels below it, at most TN_TREE_DEPTH */
	struct tn_span span;
	uint32_t len;		/* FLOAT: bytes of `text`; CALL: of the name */
	bool paren;		/* written in (), which `span` includes */
	bool negative;		/* INT, FLOAT: a `-` belongs to the literal */
	uint16_t skip;		/* bytes of `span` before what is in the ( ) */
	union {
		/* NAME, ELEM, STRING, PACK: interned. `std::gelu` is one
		 * name that holds the `::`. */
		const char *name;
		/* INT. The number is `value`, or minus it. */
		struct {
			uint64_t value;
			const char *suffix;	/* "i8" or NULL */
		} integer;
		/* FLOAT; also `inf` and `nan`. Round from tn_expr_float_text
		 * for types narrower than double: `value` is rounded. */
		struct {
			double value;		/* sign not applied */
			const char *suffix;	/* "f16" or NULL */
			const char *text;	/* digits without sign and
						 * suffix, not terminated */
		} real;
		bool truth;
		struct tn_exprs list;
		struct {
			const char *name;
			struct tn_args args;
		} call;
		struct {
			struct tn_expr *base;
			struct tn_name name;
		} field;
		struct {
			struct tn_expr *base;
			struct tn_index **at;
			uint32_t len;
		} index;
		struct {
			struct tn_expr *left;	/* operand of UNARY */
			struct tn_expr *right;
		} binary;
	} u;
};

/* ---- Statements of fn, op, rule and test ----------------------------- */

/* A block `{ ... }`. */
struct tn_tree_block {
	struct tn_stmt **at;
	uint32_t len;
	bool broken;
	struct tn_span span;	/* braces included */
};

/* name or name: type, left of `=`. */
struct tn_bind {
	struct tn_name name;
	struct tn_tree_type *type;	/* or NULL */
};

struct tn_binds {
	struct tn_bind **at;
	uint32_t len;
};

/* dim B in [1, 64] opt 1, 8 mod 4;   or   dim K = D // H; */
struct tn_tree_dim {
	struct tn_name name;
	struct tn_expr *value;	/* derived dim, else NULL */
	struct tn_expr *low, *high;	/* bounds, NULL if derived */
	struct tn_exprs opts;
	struct tn_expr *mod;	/* or NULL */
	struct tn_span span;
};

enum tn_stmt_kind {
	TN_STMT_BIND,		/* a, b: T = value;  or = region; */
	TN_STMT_DIM,		/* dim */
	TN_STMT_EXPR,		/* values: one; print(x); */
	TN_STMT_RETURN,		/* values */
	TN_STMT_YIELD,		/* values */
	TN_STMT_EMIT,		/* values */
	TN_STMT_EXPECT,		/* values: one; args: tolerances */
	TN_STMT_REJECT		/* code, block */
};

struct tn_stmt {
	enum tn_stmt_kind kind;
	struct tn_span span;	/* `;` included */
	struct tn_binds binds;
	struct tn_exprs values;	/* BIND: one, or none and `region` set */
	struct tn_region *region;	/* or NULL */
	struct tn_tree_dim *dim;
	struct tn_args args;
	struct tn_name code;	/* REJECT: "E0312" */
	struct tn_tree_block block;
};

enum tn_region_kind {
	TN_REGION_IF,		/* arms */
	TN_REGION_FOR,		/* carries, var in low..high, body */
	TN_REGION_WHILE,	/* carries, options (max=), cond or test */
	TN_REGION_SCAN		/* carries, options (axis=), inputs, body */
};

/* One arm of if / else if / else; the last has cond NULL. */
struct tn_arm {
	struct tn_expr *cond;
	struct tn_tree_block body;
};

struct tn_arms {
	struct tn_arm **at;
	uint32_t len;
};

/* with (h = x0, k: i32 = 0) */
struct tn_carry {
	struct tn_name name;
	struct tn_tree_type *type;	/* or NULL */
	struct tn_expr *init;
};

struct tn_carries {
	struct tn_carry **at;
	uint32_t len;
};

/* One `x in e` of scan. */
struct tn_scan_in {
	struct tn_name name;
	struct tn_expr *value;
};

struct tn_scan_ins {
	struct tn_scan_in **at;
	uint32_t len;
};

struct tn_region {
	enum tn_region_kind kind;
	struct tn_span span;
	struct tn_arms arms;	/* IF: two or more */
	struct tn_carries carries;
	struct tn_args options;	/* NAMED only */
	struct tn_name var;
	struct tn_expr *low, *high;
	struct tn_expr *cond;	/* WHILE; NULL: what `test` yields */
	struct tn_tree_block test;
	struct tn_scan_ins inputs;
	struct tn_tree_block body;
};

/* ---- Statements of kernels ------------------------------------------- */

struct tn_tree_kblock {
	struct tn_tree_kstmt **at;
	uint32_t len;
	bool broken;
	struct tn_span span;
};

enum tn_tree_loop_kind {
	TN_TREE_LOOP_FOR,
	TN_TREE_LOOP_PAR,
	TN_TREE_LOOP_VEC,
	TN_TREE_LOOP_UNROLL
};

enum tn_tree_kstmt_kind {
	TN_TREE_KSTMT_LOOP,		/* par(threads) i in 0..B step 4 { } */
	TN_TREE_KSTMT_LET,		/* let x: f32 = e;  let mut x = e; */
	TN_TREE_KSTMT_ALLOC,		/* alloc acc: f32[64] @reg; */
	TN_TREE_KSTMT_STORE,		/* a[i] = e;  a[i] += e; */
	TN_TREE_KSTMT_EXPR,		/* barrier(); */
	TN_TREE_KSTMT_IF		/* arms; the last may have cond NULL */
};

struct tn_karm {
	struct tn_expr *cond;	/* NULL: else */
	struct tn_tree_kblock body;
};

struct tn_karms {
	struct tn_karm **at;
	uint32_t len;
};

struct tn_tree_kstmt {
	enum tn_tree_kstmt_kind kind;
	struct tn_span span;
	enum tn_tree_loop_kind loop;
	struct tn_args args;	/* of par( ) */
	struct tn_name name;	/* loop variable, let, alloc */
	struct tn_expr *low, *high;
	struct tn_expr *step;	/* or NULL */
	struct tn_tree_kblock body;	/* LOOP */
	struct tn_tree_type *type;	/* ALLOC; LET: or NULL */
	struct tn_expr *target;	/* STORE */
	bool is_mutable;	/* LET: let mut */
	bool add;		/* STORE: += */
	struct tn_expr *value;	/* LET, STORE, EXPR */
	struct tn_karms arms;	/* IF */
};

/* ---- Items ------------------------------------------------------------ */

/* name: type [= default] */
struct tn_param {
	struct tn_name name;	/* text NULL: the one result `-> type` */
	struct tn_tree_type *type;
	struct tn_expr *init;	/* or NULL */
	struct tn_span span;
};

struct tn_params {
	struct tn_param **at;
	uint32_t len;
};

/* <T: float, I: int>: name and class */
struct tn_generic {
	struct tn_name name, class_name;
};

struct tn_generics {
	struct tn_generic **at;
	uint32_t len;
};

/* from "file" : "key"; in a struct field from "key" (then `file` holds it) */
struct tn_from {
	struct tn_name file;	/* unescaped text and place of the string */
	struct tn_name key;	/* text NULL if absent */
};

struct tn_field {
	struct tn_name name;
	struct tn_tree_type *type;
	struct tn_from from;	/* file.text NULL if absent */
	struct tn_span span;
};

struct tn_fields {
	struct tn_field **at;
	uint32_t len;
	struct tn_extents sizes;	/* of a struct: their names */
	bool broken;
};

/* What fn, op, rule and kernel have in common, and their bodies. */
struct tn_sig {
	struct tn_generics generics;
	struct tn_params params;
	struct tn_params results;	/* fn, op */
	bool has_body;		/* false: `op ... ;`, a plug-in operator */
	struct tn_tree_block body;	/* fn, op */
	struct tn_tree_kblock kernel;	/* kernel */
};

enum tn_tree_item_kind {
	TN_TREE_ITEM_INCLUDE,	/* name: the path as written */
	TN_TREE_ITEM_DIM,		/* u.dim */
	TN_TREE_ITEM_CONST,		/* u.constant */
	TN_TREE_ITEM_STRUCT,		/* u.fields */
	TN_TREE_ITEM_WEIGHT,		/* u.weight */
	TN_TREE_ITEM_ENCODING,	/* u.encoding */
	TN_TREE_ITEM_MESH,		/* u.mesh */
	TN_TREE_ITEM_FN,		/* u.sig */
	TN_TREE_ITEM_OP,		/* u.sig */
	TN_TREE_ITEM_RULE,		/* u.rule */
	TN_TREE_ITEM_TEST,		/* u.test; name: its title */
	TN_TREE_ITEM_KERNEL		/* u.sig */
};

struct tn_tree_item {
	enum tn_tree_item_kind kind;
	struct tn_span span;	/* from its keyword; annotations excluded */
	struct tn_name name;
	struct tn_tree_annots annots;	/* written before the item */
	union {
		struct tn_tree_dim *dim;
		struct {
			struct tn_tree_type *type;	/* or NULL */
			struct tn_expr *value;
		} constant;
		struct tn_fields fields;
		/* weight blk[i in 0..L]: Block from "f" : "h.{i}.";
		 * weight s: f32[4] = f(a, b); */
		struct {
			struct tn_name var;	/* text NULL: no family */
			struct tn_expr *low, *high;	/* NULL: no family */
			struct tn_tree_type *type;
			struct tn_from from;
			struct tn_expr *made;	/* = f(a, b); or NULL */
		} weight;
		struct {
			uint64_t block;
			struct tn_fields fields;
			struct tn_expr *value;
		} encoding;
		struct tn_args mesh;	/* NAMED: data=2 */
		struct tn_sig *sig;
		/* `: before => after` or `match { } rewrite { }` */
		struct {
			struct tn_sig *sig;	/* generics and params */
			struct tn_expr *before, *after;	/* or both NULL */
			struct tn_tree_block match, rewrite;
			struct tn_expr *where;	/* or NULL */
		} rule;
		struct {
			struct tn_tree_block body;
		} test;
	} u;
};

struct tn_tree {
	uint32_t file;		/* number of the source in the sink */
	uint32_t major, minor;	/* of the header */
	struct tn_tree_item **at;
	uint32_t len;
	bool broken;		/* an item was skipped */
	uint32_t errors;	/* reported while reading this file */
};

/* ---- Helpers (tree.c) ------------------------------------------------- */

/* Appends the name, in backquotes with escapes if it needs them. */
void tn_name_put(struct tn_buf *out, const char *name);
/* The same where keywords are names too: after `@`, `.` and before `=` in
 * arguments. */
void tn_word_put(struct tn_buf *out, const char *name);
/* The digits of a FLOAT, NUL-terminated and with its sign, for a single
 * rounding; in the arena. NULL: no memory. */
char *tn_expr_float_text(struct tn_arena *arena, const struct tn_expr *expr);
/* Place of the called name in a CALL. */
struct tn_span tn_expr_callee(const struct tn_expr *expr);
/* From the begin of `a` to the end of `b`, which lie in one file. */
struct tn_span tn_span_join(struct tn_span a, struct tn_span b);

#endif

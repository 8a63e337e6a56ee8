/*
 * The graph: modules, functions, blocks, operators, values.
 *
 * A module owns everything in one arena. A function has one block; control
 * flow operators own further blocks (regions), whose parameters carry values
 * in and whose last operator is `yield`. Values are defined once, by an
 * operator or as a parameter of a block. Every use is linked, so replacing a
 * value is linear in its uses. Deep chains are usual: nothing recurses over
 * operators, only over nested regions.
 *
 * This is what readers see. The graph is written by graph_edit.h alone: the
 * builder, the rewriter and the elaborator use it, passes only the rewriter
 * (tests/check-pen.sh). `number` is scratch that any stage may write.
 */
#ifndef TN_IR_GRAPH_H
#define TN_IR_GRAPH_H

#include "base/diag.h"
#include "base/event.h"
#include "base/intern.h"
#include "base/vec.h"
#include "ir/dim.h"
#include "ir/op.h"
#include "ir/tensor.h"
#include "ir/type.h"

struct tn_op;
struct tn_value;
struct tn_block;
struct tn_fn;
struct tn_kernel;
struct tn_layout;

/* `@name(args)` as canonical text, meaning read where it matters. */
struct tn_annot {
	const char *name;	/* interned */
	const char *args;	/* canonical text between the brackets, or NULL */
	struct tn_span span;
};

struct tn_annots {
	int count;
	struct tn_annot *list;
};

struct tn_use {
	struct tn_value *value;
	struct tn_op *op;
	int index;		/* operand number */
	struct tn_use *next, *prev;	/* among the uses of value */
};

/* Where a value lives at run time; set by the memory plan. */
enum tn_place_kind {
	TN_PLACE_NONE,		/* not planned */
	TN_PLACE_ARENA,		/* offset into the workspace */
	TN_PLACE_INPUT,		/* caller's buffer, number */
	TN_PLACE_OUTPUT,	/* caller's result buffer, number */
	TN_PLACE_WEIGHT,	/* weight or constant, number in the module */
	TN_PLACE_ALIAS		/* the same bytes as `alias`, from offset */
};

/* Offsets in the arena are multiples of this. */
#define TN_PLACE_ALIGN 64

struct tn_place {
	enum tn_place_kind kind;
	int number;
	int64_t offset, bytes;	/* worst case over all dims */
	struct tn_value *alias;
};

struct tn_value {
	const struct tn_type *type;
	const char *name;	/* interned; unique in its function, never NULL */
	bool is_named;		/* by the user; else made, `base__n` */
	struct tn_op *op;	/* its definition, or NULL: */
	struct tn_block *block;	/* parameter of this block */
	int index;		/* result or parameter number */
	struct tn_use *uses;	/* first; NULL: unused */
	struct tn_span span;
	const struct tn_layout *layout;	/* ir/layout.h; NULL: row-major */
	struct tn_annots annots;
	struct tn_place place;
	uint32_t id;		/* from 1, no two in the module alike */
	int number;		/* scratch numbering for passes */
};

struct tn_op {
	enum tn_opcode code;
	int nin, nout, nattrs, nregions;
	struct tn_use *in;	/* nin uses */
	struct tn_value **out;
	struct tn_attr *attrs;	/* by the row of ops.def; of a call: its own */
	struct tn_block **regions;
	struct tn_fn *callee;		/* call */
	struct tn_kernel *kernel;	/* launch */
	const struct tn_tensor *literal;	/* const */
	struct tn_op *next, *prev;
	struct tn_block *block;
	struct tn_span span;
	struct tn_annots annots;
	const char *origin;	/* rule or pass that made it, or NULL: source */
	int64_t scratch;	/* launch: offset of the kernel's @arena buffers */
	uint32_t id;		/* from 1, no two in the module alike */
	int number;		/* scratch numbering for passes */
};

struct tn_block {
	int nparams;
	struct tn_value **params;
	struct tn_op *first, *last;
	struct tn_op *parent;	/* the flow operator, or NULL: */
	struct tn_fn *fn;	/* the function */
};

enum tn_fn_kind {
	TN_FN_PLAIN,	/* written by the user, not generic */
	TN_FN_INSTANCE,	/* of a generic fn or op: the body of one call */
	TN_FN_FUSED	/* outlined by a pass, @fused */
};

/* What only run time can know, checked at entry of the function. */
enum tn_guard_kind { TN_GUARD_EQ, TN_GUARD_LE, TN_GUARD_DIVIDES };

struct tn_guard {
	enum tn_guard_kind kind;	/* a == b, a <= b, b divides a */
	const struct tn_dim *a, *b;
	struct tn_span span;
};

/* True if sides of these values are accepted. Nothing is a multiple of 0: a
 * size that is divided by has to be other than 0. */
bool tn_guard_holds(const struct tn_guard *guard, int64_t a, int64_t b);

struct tn_fn {
	const char *name;	/* interned; of an instance the generic's name */
	enum tn_fn_kind kind;
	struct tn_module *module;
	struct tn_block *body;	/* params are the function's parameters */
	int nresults;
	const char **result_names;	/* NULL entries: unnamed */
	const struct tn_type **result_types;
	const struct tn_layout **result_layouts;	/* NULL, or NULL
							 * entries: row-major */
	struct tn_vec guards;	/* struct tn_guard */
	struct tn_span span;
	struct tn_annots annots;
	struct tn_map names;	/* taken value names -> value */
	struct tn_map name_counts;	/* base of made names -> last number */
	int64_t arena_bytes;	/* memory plan: worst case */
	bool is_library;	/* from std.tn: not printed */
	bool makes_weight;	/* a weight names it: no entry, never dropped */
	int number;
};

/* How the caller gets result i. */
static inline const struct tn_layout *
tn_fn_result_layout(const struct tn_fn *fn, int i)
{
	return fn->result_layouts ? fn->result_layouts[i] : NULL;
}

/* A tensor kept outside the text. A family `blk[i in 0..L]` is one weight
 * whose type has the family axis in front. A derived one,
 * `weight s: f32[16] = f(c__var, c__gamma);`, is what its maker gives for
 * weights declared above it; it is computed when the program is built. */
struct tn_weight {
	const char *name;	/* interned */
	const struct tn_type *type;
	int64_t family;		/* number of members, -1: not a family */
	int64_t family_from;	/* first index */
	const char *index_name;	/* of the family variable */
	const char *file, *key;	/* key may hold {i}; NULL: no `from` */
	struct tn_fn *maker;	/* of a derived one, else NULL */
	int nsources;		/* its operands, one a parameter */
	struct tn_weight **sources;
	struct tn_tensor data;	/* data NULL until loaded */
	struct tn_value *value;	/* what functions use */
	struct tn_span span;
	struct tn_annots annots;
	int number;
};

enum tn_item_kind {
	TN_ITEM_DIM,	/* dim */
	TN_ITEM_WEIGHT,	/* weight */
	TN_ITEM_FN,	/* fn */
	TN_ITEM_KERNEL,	/* kernel */
	TN_ITEM_TEXT	/* const struct op rule test encoding mesh, generic fn:
			 * canonical text */
};

/* One item of the file, in source order. */
struct tn_item {
	enum tn_item_kind kind;
	const char *name;
	struct tn_span span;
	union {
		const struct tn_dim *dim;	/* a symbol */
		struct tn_weight *weight;
		struct tn_fn *fn;
		struct tn_kernel *kernel;
		const char *text;
	} u;
};

/* Stages that a module has been through; each has a verifier. */
enum tn_prop {
	TN_PROP_TYPED = 1,	/* every value has a type, none is poison */
	TN_PROP_FLAT = 2,	/* no calls of plain functions or instances */
	TN_PROP_CORE = 4,	/* only primitives */
	TN_PROP_CANONICAL = 8,	/* operands of commuting ops in order */
	TN_PROP_FUSED = 16,	/* maps outlined */
	TN_PROP_KERNELS = 32,	/* only launches and flow */
	TN_PROP_PLACED = 64	/* every value has a place */
};

struct tn_module {
	struct tn_arena arena;
	struct tn_intern *names;	/* borrowed */
	struct tn_sink *sink;		/* borrowed: where stages report */
	struct tn_events *events;	/* borrowed: what stages did; or NULL */
	struct tn_dim_pool dims;
	struct tn_map types;		/* see type.c */
	struct tn_map layouts;		/* see layout.c */
	struct tn_vec items;		/* struct tn_item * */
	struct tn_vec fns;		/* struct tn_fn *, instances too */
	struct tn_vec weights;		/* struct tn_weight * */
	struct tn_vec kernels;		/* struct tn_kernel * */
	struct tn_map fn_names;		/* name -> struct tn_fn * (plain) */
	struct tn_map dim_names;	/* name -> const struct tn_dim * */
	struct tn_map weight_names;	/* name -> struct tn_weight * */
	const struct tn_type *poison;
	uint32_t nops, nvalues;		/* made so far; the last ids */
	unsigned props;			/* tn_prop mask */
	uint64_t epoch;			/* grows with each change of the graph:
					 * what was computed of it still holds
					 * while this is the same */
	bool is_foreign;		/* names came with a file of another
					 * system: none becomes code */
	bool failed;			/* sticky: out of memory */
};

/* A module on borrowed names and sink; NULL: out of memory. */
struct tn_module *tn_module_new(struct tn_intern *names,
				struct tn_sink *sink);
void tn_module_free(struct tn_module *module);

/* Whether the function may be the entry: not of the library, no instance. */
bool tn_module_may_enter(const struct tn_fn *fn);
/* The entry: `name`, else `main`, else the only plain fn; or NULL. */
struct tn_fn *tn_module_entry(const struct tn_module *module,
			      const char *name);
/* What the text of the module shows, in order: `items` without library
 * functions and instances, then weights and kernels that are not among them.
 * Appends struct tn_item to `list`; false: out of memory. A pass that makes a
 * function makes its item, too. */
bool tn_module_list(const struct tn_module *module, struct tn_vec *list);

/* The attribute by name, or NULL. */
struct tn_attr *tn_graph_attr(const struct tn_op *op, const char *name);
/* Whether nothing is lost with the op: nobody reads a result, it ends no block,
 * and neither it nor what stands inside of it has an effect or sets a run-time
 * size. */
bool tn_graph_is_dead(const struct tn_op *op);
/* Operand i's value. */
static inline struct tn_value *tn_graph_in(const struct tn_op *op, int i)
{
	return op->in[i].value;
}
const struct tn_annot *tn_annots_find(const struct tn_annots *annots,
				      const char *name);
bool tn_annots_add(struct tn_module *module, struct tn_annots *annots,
		   const char *name, const char *args, struct tn_span span);

/* What an `assert` says, as itself or as the launch that it became (message.c);
 * NULL: nothing, or the arena has failed. May be a copy in the arena. */
const char *tn_message_of(struct tn_arena *arena, const struct tn_op *op);
/* Notes on the kernel of an `assert` what it says. False: out of memory. */
bool tn_message_keep(struct tn_kernel *kernel, const struct tn_op *op);

#endif

/*
 * What the files of the ONNX importer share. Not for others: see
 * importers/importer.h.
 *
 * A name of the model stands for a `tn_onnx_value`, in the scope of its graph.
 * A node at work is a `tn_onnx`: its handler asks it for inputs, attributes and
 * what is known of them, says the operator in the language (tn_onnx_text), and
 * binds the results.
 */
#ifndef TN_IMPORTERS_ONNX_ONNX_H
#define TN_IMPORTERS_ONNX_ONNX_H

#include "importers/importer.h"
#include "importers/onnx/schema.h"

/* Elements of a value that are kept where they are known. */
#define ONNX_KNOWN 1024
/* Graphs in graphs, and functions in functions, nest at most so deep. */
#define ONNX_DEPTH 32
/* A sequence has at most so many items. */
#define ONNX_ITEMS 1024
/* Nodes that are imported again, of functions and loops, at most. */
#define ONNX_RUNS (1 << 17)
/* A node has at most so many results. */
#define ONNX_RESULTS 256

enum tn_onnx_kind {
	ONNX_ABSENT,	/* an optional input that is not given */
	ONNX_TENSOR,
	ONNX_SEQUENCE,	/* of known length */
	ONNX_OPTIONAL,	/* an optional value: with one item, or none */
	ONNX_POISON	/* failed, and reported */
};

struct tn_onnx_value {
	enum tn_onnx_kind kind;
	const char *name;
	struct tn_value *v;	/* TENSOR; NULL: yet to be made of: */
	const struct onnx_tensor *source;
	int len;		/* SEQUENCE, OPTIONAL */
	struct tn_onnx_value **items;
	enum tn_dtype elem;	/* of an empty sequence */
	struct tn_span span;
};

/* What is known of a value at import: elements of any type, or, of integers
 * and bools, sizes. */
struct tn_onnx_known {
	int64_t count;
	struct tn_tensor *tensor;		/* or NULL */
	const struct tn_dim **dims;		/* or NULL */
};

/* The names of a graph or function. */
struct tn_onnx_scope {
	struct tn_onnx_scope *up;	/* of the graph around; a function has
					 * none */
	struct tn_map values;		/* name -> struct tn_onnx_value * */
	struct tn_map infos;		/* name -> const struct onnx_type * */
	struct tn_map hints;		/* name -> const struct onnx_shape *:
					 * see hint.c */
	struct tn_block *block;
	const struct onnx_opset_list *opsets;
	const struct tn_onnx *caller;	/* of a function: the node */
	const struct onnx_function *function;
};

/* The import at work. */
struct tn_onnx_job {
	const struct tn_import *host;
	struct tn_module *module;
	struct tn_arena arena;		/* dies with the import */
	struct onnx_model model;
	struct tn_fn *fn;
	struct tn_op *constants;	/* the last literal: they stand first */
	struct tn_map known;		/* value -> struct tn_onnx_known * */
	struct tn_map dims;		/* dim_param -> const struct tn_dim * */
	struct tn_map functions;	/* domain:name -> onnx_function * */
	uint32_t file;			/* the listing of the nodes */
	struct tn_map lines;		/* node -> struct tn_span * */
	struct tn_map producers;	/* of the graph: name -> node */
	int depth;
	int nfresh;			/* see tn_onnx_fresh */
	const char *input;		/* at work in param.c, and for its place: */
	struct tn_map readers;		/* name -> the first node that reads it */
	int64_t nruns;			/* nodes so far */
	bool is_bad, is_unsupported;
	bool is_over;			/* too many: nothing more is said */
};

/* A node at work. */
struct tn_onnx {
	struct tn_onnx_job *job;
	struct tn_onnx_scope *scope;
	const struct onnx_node *node;
	const struct tn_onnx_row *row;
	int64_t version;		/* of the node's operator set */
	int nin, nout;
	struct tn_onnx_value **in;
	struct tn_onnx_value **out;	/* filled by the handler */
	struct tn_span span;
	bool failed;
};

/* How an operator is imported: by a handler, or by a text over x0, x1.. in
 * which {name:default} stands for an attribute; or why it is not. */
struct tn_onnx_row {
	const char *domain, *op;
	int since;
	void (*handler)(struct tn_onnx *n);
	const char *text;
	const char *why_not;
};

/* ---- import.c, scope.c: values and names -------------------------------- */

enum tn_dtype tn_onnx_dtype(int64_t type);
/* The domain of operators; "" is that of ONNX, which has several names. */
const char *tn_onnx_domain(const char *domain);
struct tn_onnx_value *tn_onnx_new(struct tn_onnx_job *job,
				  enum tn_onnx_kind kind, const char *name);
struct tn_onnx_value *tn_onnx_find(struct tn_onnx_scope *scope,
				   const char *name);
bool tn_onnx_bind(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		  const char *name, struct tn_onnx_value *value);
/* The graph's value; makes it of an initialiser. NULL after a report. */
struct tn_value *tn_onnx_make(struct tn_onnx_job *job,
			      struct tn_onnx_value *value);
/* The bounds of a size of this name. */
void tn_onnx_bounds(const struct tn_onnx_job *job, const char *name,
		    int64_t *lo, int64_t *hi);
/* The size of a symbol, declared on first sight. */
const struct tn_dim *tn_onnx_symbol(struct tn_onnx_job *job,
				    const char *name);
/* Whether a dim_param tells one size from another. */
bool tn_onnx_names_size(const char *name);
/* The type that is declared for a name, if it is one of known rank; sizes that
 * nobody knows are NULL. */
bool tn_onnx_declared(struct tn_onnx_job *job, const struct onnx_type *type,
		      enum tn_dtype *dtype, int *rank,
		      const struct tn_dim **dims);
/* The sizes of a shape; those that nobody knows are NULL. */
bool tn_onnx_shape_dims(struct tn_onnx_job *job,
			const struct onnx_shape *shape, int *rank,
			const struct tn_dim **dims);
/* A tensor of the model as ours, a view or owned. False after a report. */
bool tn_onnx_tensor(struct tn_onnx_job *job, const struct onnx_tensor *from,
		    struct tn_span span, struct tn_tensor *out);
/* A literal at the head of the function, or a weight if it is large. */
struct tn_value *tn_onnx_literal(struct tn_onnx_job *job,
				 struct tn_tensor *tensor, const char *name,
				 struct tn_span span);
/* Nodes of a graph, in the block of the scope. */
void tn_onnx_nodes(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		   const struct onnx_node_list *nodes);
bool tn_onnx_scope_init(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
			struct tn_onnx_scope *up, struct tn_block *block);
void tn_onnx_scope_fini(struct tn_onnx_scope *scope);
/* The initialisers and declared types of a graph. */
bool tn_onnx_enter(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		   const struct onnx_graph *graph);
/* A message at the node; the results become poison. */
void tn_onnx_report(struct tn_onnx *n, enum tn_code code, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));
/* The same for what is right, but beyond us: E1004. */
void tn_onnx_refuse(struct tn_onnx *n, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for what only run time knows, with what to give at import. */
void tn_onnx_unknown(struct tn_onnx *n, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- known.c: what is known at import ----------------------------------- */

/* Notes what the results of an op are known to be. */
void tn_onnx_note(struct tn_onnx_job *job, const struct tn_op *op);
const struct tn_onnx_known *tn_onnx_known(struct tn_onnx_job *job,
					  const struct tn_value *value);
/* The integers of input i; false: not known, or more than `max`. */
bool tn_onnx_ints(struct tn_onnx *n, int i, int max, int64_t *out, int *count);
/* The same as sizes. */
bool tn_onnx_sizes(struct tn_onnx *n, int i, int max,
		   const struct tn_dim **out, int *count);
bool tn_onnx_floats(struct tn_onnx *n, int i, int max, double *out,
		    int *count);

/* ---- node.c: what a handler asks and does -------------------------------- */

bool tn_onnx_has(const struct tn_onnx *n, int i);
/* Input i as a value; NULL after a report. */
struct tn_value *tn_onnx_in(struct tn_onnx *n, int i);
/* Attributes (attr.c). */
const struct onnx_attr *tn_onnx_attr(const struct tn_onnx *n,
				     const char *name);
/* Each is told if it is of another kind, and the fallback given. */
int64_t tn_onnx_int(struct tn_onnx *n, const char *name, int64_t fallback);
/* A count: -1 or more, and no more than the elements that are kept. */
int tn_onnx_small(struct tn_onnx *n, const char *name, int fallback);
double tn_onnx_float(struct tn_onnx *n, const char *name, double fallback);
/* A copy in the arena of the job. */
const char *tn_onnx_string(struct tn_onnx *n, const char *name,
			   const char *fallback);
/* The ints of an attribute; -1: there is none. */
int tn_onnx_list(struct tn_onnx *n, const char *name, const int64_t **out);
/* Whether each has a name, and one of its own; false after a report. */
bool tn_onnx_check_attrs(struct tn_onnx *n);

/*
 * The first result of statements in the language; NULL after a report. In the
 * text stands, for an argument each:
 *   %v  struct tn_value *          %d  const struct tn_dim *
 *   %i  int64_t                    %f  double, as the nearest f32 is written
 *   %s  const char *, as it is     %t  enum tn_dtype
 *   %I  int, const int64_t *: a list
 *   %P  int, two const struct tn_dim *const *: a list of pairs
 *   %D  int, const struct tn_dim *const *: a list, NULL is `_`
 */
struct tn_value *tn_onnx_text(struct tn_onnx *n, const char *text, ...);
/* The same with several results; false after a report. */
bool tn_onnx_texts(struct tn_onnx *n, int count, struct tn_value **out,
		   const char *text, ...);
/* Result i of the node. NULL: it failed. */
void tn_onnx_give(struct tn_onnx *n, int i, struct tn_value *value);
/* tn_onnx_give(n, 0, tn_onnx_text(n, ..)). */
void tn_onnx_is(struct tn_onnx *n, const char *text, ...);
/* The type declared for result i: as tn_onnx_declared, with all sizes known; or
 * the shape that later declared ones ask for, and POISON for its elements. A
 * handler that takes sizes from it asserts that run time agrees. */
bool tn_onnx_result(struct tn_onnx *n, int i, enum tn_dtype *dtype,
		    int *rank, const struct tn_dim **dims);
struct tn_dim_pool *tn_onnx_pool(const struct tn_onnx *n);
const struct tn_dim *tn_onnx_number(const struct tn_onnx *n, int64_t value);
/* An axis from 0; -1 after a report. */
int tn_onnx_axis(struct tn_onnx *n, int64_t axis, int rank);

/* The sizes that operand i holds; of one that only run time knows, those of
 * the declared result, with an assert. */
bool tn_onnx_shape(struct tn_onnx *n, int i, const struct tn_dim **dims,
		   int *count);
/* Asserts that operand i, which only run time knows, holds these sizes; false:
 * it cannot. */
bool tn_onnx_hold(struct tn_onnx *n, int i, int count,
		  const struct tn_dim *const *dims);
struct tn_value *tn_onnx_concat(struct tn_onnx *n, int count,
				struct tn_value *const *values, int axis);
/* A convolution with the attributes of the node; bias may be NULL. */
struct tn_value *tn_onnx_conv(struct tn_onnx *n, struct tn_value *x,
			      struct tn_value *weights, struct tn_value *bias);
/* A conversion as the attributes of the node want it, `saturate` and
 * `round_mode`; NULL after a report, or if x is NULL. */
struct tn_value *tn_onnx_convert(struct tn_onnx *n, struct tn_value *x,
				 enum tn_dtype to);
/* A name for a size that only the data tell. */
const char *tn_onnx_fresh(struct tn_onnx *n);
/* i64[Z] places of the elements of a vector that are not 0: at most `most`. */
struct tn_value *tn_onnx_places(struct tn_onnx *n, struct tn_value *x,
				const struct tn_dim *most);
/* The one result of the node's graph attribute `name` for one input, the nodes
 * in place. */
struct tn_value *tn_onnx_apply(struct tn_onnx *n, const char *name,
			       struct tn_value *x);
/* i64[Z]: the numbers from 0 to a scalar of run time, of which `most` at most
 * come; a new size. */
struct tn_value *tn_onnx_counted(struct tn_onnx *n, struct tn_value *count,
				 const struct tn_dim *most);
/* The same of a length that nothing bounds, the first of the node's result i:
 * --bounds=RESULT_0 does, and an assert holds it. */
struct tn_value *tn_onnx_length(struct tn_onnx *n, int i,
				struct tn_value *count);
/* A row's text. */
void tn_onnx_row_text(struct tn_onnx *n);

/* ---- param.c: inputs of the graph ---------------------------------------- */

/* Binds an input to its parameters. False: no memory, or after a report. */
bool tn_onnx_param(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		   const struct onnx_info *info);

/* ---- tree.c: values of several tensors ------------------------------------ */

/* A tensor in a sequence or optional value, and the name of its place. */
struct tn_onnx_leaf {
	const char *name;
	struct tn_onnx_value *value;
};

/* The tensors of a value, in order, called NAME_0, NAME_1..; -1: more than
 * `max`, or nested too deeply. */
int tn_onnx_leaves(struct tn_onnx_job *job, struct tn_onnx_value *value,
		   const char *name, int max, struct tn_onnx_leaf *out);
/* A value built as `like`, of other tensors; advances *next. NULL: no memory. */
struct tn_onnx_value *tn_onnx_rebuild(struct tn_onnx_job *job,
				      const struct tn_onnx_value *like,
				      struct tn_value *const **next);
/* Whether two values are built alike, whatever their tensors are. */
bool tn_onnx_alike(const struct tn_onnx_value *a,
		   const struct tn_onnx_value *b);

/* A sequence of `len` items, yet to be filled; NULL after a report. */
struct tn_onnx_value *tn_onnx_sequence(struct tn_onnx *n, int len);

/* Statements of a text: the scale s and zero point z by which the elements of
 * x, a name, become whole numbers from 0 to 255, and s without 0, d. As
 * DynamicQuantizeLinear defines them. */
#define ONNX_TO_BYTES(x) \
	"hi = max(reduce_max(" x "), 0); lo = min(reduce_min(" x "), 0); " \
	"s = (hi - lo) / 255; d = select(s == 0, 1, s); " \
	"z = round(min(max(-lo / d, 0), 255)); "

/* ---- hint.c: shapes that declared ones ask for --------------------------- */

/* Notes what the nodes' values must be for the declared shapes to come out. */
bool tn_onnx_hint(struct tn_onnx_scope *scope,
		  const struct onnx_node_list *nodes);
/* The shape that is declared for a name, or hinted; NULL: none. */
const struct onnx_shape *tn_onnx_shape_of(const struct tn_onnx_scope *scope,
					  const char *name);

/* ---- axes.c: axes that only run time knows -------------------------------- */

#define ONNX_CHOICE_RANK 6

/* Sets of axes, a bit an axis. */
struct tn_onnx_choices {
	int count;
	unsigned mask[1 << ONNX_CHOICE_RANK];
};

/* The axes without which (`keep`: with size 1 in place of which) the type has
 * the sizes. */
void tn_onnx_choose(const struct tn_type *type, bool keep, int rank,
		    const struct tn_dim *const *dims,
		    struct tn_onnx_choices *choices);
/* Whether the axes at run time, of `rank`, are those of the mask. */
struct tn_value *tn_onnx_axes_are(struct tn_onnx *n, struct tn_value *axes,
				  unsigned mask, int rank);
/* Asserts that they are one of the choices; false: this cannot be said. */
bool tn_onnx_axes_check(struct tn_onnx *n, struct tn_value *axes, int rank,
			const struct tn_onnx_choices *choices);

/* ---- table.c ------------------------------------------------------------- */

/* The row of the newest version up to `version`; NULL: none. */
const struct tn_onnx_row *tn_onnx_row(const char *domain, const char *op,
				      int64_t version);

#endif

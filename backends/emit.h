/*
 * What the back ends that write C-like text share: identifiers, literals,
 * helper functions of the language's scalar operators, expressions and
 * statements of kernels.
 *
 * In: scheduled kernels (src/ir/kernel.h). Out: text in a tn_buf, and in
 * struct tn_prelude the helpers that this text calls, which the back end
 * prints in front with tn_prelude_print. A back end says how its dialect
 * spells things in a struct tn_dialect. The host program is emit_host.h, the
 * side file of weights emit_weights.h.
 *
 *   y[i] = max(x[i], 0.0)   ->   y[i] = tn_max_f32(x[i], 0.0f);
 *
 * Texts of the user never reach the output as they are: names go through
 * struct tn_names, the rest through tn_emit_comment and tn_emit_string.
 */
#ifndef TN_BACKENDS_EMIT_H
#define TN_BACKENDS_EMIT_H

#include "ir/kernel_affine.h"
#include "ir/kernel_loop.h"
#include "ir/kernel_walk.h"
#include "ir/target.h"

struct tn_emit;

/* ---- Identifiers (emit_names.c) ---- */

/* The identifiers of one scope: no two keys share one. In code of a module whose
 * names a file brought (tn_module.is_foreign) they are numbered and say nothing:
 * whatever stands in the file, the code is the same. */
struct tn_names {
	struct tn_arena *arena;	/* borrowed */
	bool by_number;
	struct tn_map taken;	/* identifier -> its key */
	struct tn_map of;	/* key -> identifier */
};

void tn_names_init(struct tn_names *names, struct tn_arena *arena);
void tn_names_fini(struct tn_names *names);
/* The identifier of `key`; the first call makes it from `wish`, any text. It
 * is an identifier of C and C++ and no word or macro of either, at most 60
 * characters and a suffix. NULL: out of memory. */
const char *tn_names_get(struct tn_names *names, const void *key,
			 const char *wish);
/* The same; by number, `letter` is what comes before it. */
const char *tn_names_make(struct tn_names *names, const void *key, char letter,
			  const char *wish);
/* `wish` as an identifier, without a scope, in the arena. */
const char *tn_names_clean(struct tn_arena *arena, const char *wish);

/* ---- Text (emit_text.c) ---- */

/* Text inside of a block comment: ASCII, never ending it; `indent` is put
 * behind each newline. */
void tn_emit_comment(struct tn_buf *out, const char *text,
		     const char *indent);
/* A string literal with its quotes. */
void tn_emit_string(struct tn_buf *out, const char *text);
/* An integer constant of the type, that no compiler warns about. */
void tn_emit_int(struct tn_buf *out, enum tn_dtype dtype, int64_t value);

/* The event of a kernel that became a function of `bytes` of text. */
void tn_emit_tell(const struct tn_kernel *kernel,
		  const struct tn_target *target, const char *function,
		  size_t bytes);

/* ---- Helpers (emit_prelude.c, emit_cast.c, emit_vector.c) ---- */

/* How one compiler family spells what differs. */
struct tn_dialect {
	const char *function;	/* qualifiers of helpers, "static inline" */
	const char *opaque;	/* .. of those that must not be inlined; or NULL */
	const char *raise;	/* expression, sets the bits %u in *tn_f */
	const char *flags;	/* what a kernel passes for tn_f */
	const char *raise_here;	/* the same as `raise` inside of a kernel */
	/* Bodies of the four reinterpretations, %s: the argument. */
	const char *bits_f32, *f32_bits, *bits_f64, *f64_bits;
	const char *mac_f32, *mac_f64;	/* bodies of acc + a * b, contracted */
	int vector_bytes;	/* 0: no vector code */
	/* Prints a loop, an allocation or a barrier its own way; false: the
	 * shared printer does it. */
	bool (*loop)(struct tn_emit *emit, const struct tn_kstmt *stmt);
	bool (*alloc)(struct tn_emit *emit, const struct tn_kstmt *stmt);
	void (*barrier)(struct tn_emit *emit);
};

enum tn_prelude_part {
	TN_PART_BITS_F32 = 1, TN_PART_F32_BITS = 2, TN_PART_BITS_F64 = 4,
	TN_PART_F64_BITS = 8, TN_PART_NARROW = 16, TN_PART_ODD = 32,
	TN_PART_FLOOR = 64, TN_PART_MOD = 128, TN_PART_SPLAT = 256,
	TN_PART_LOAD = 512, TN_PART_STORE = 1024, TN_PART_MAC = 2048,
	TN_PART_ROUND = 4096, TN_PART_MASK = 8192
};

/* Vectors of f32 are whole, half or a quarter of what the target has, where a
 * loop is as short as that: width 0, 1, 2. Those of f64 are whole. */
#define TN_WIDTHS 3

/* Which helpers are called. */
struct tn_prelude {
	unsigned parts;
	unsigned of[TN_DTYPE_COUNT];	/* LOAD STORE MAC ROUND of a dtype */
	unsigned vectors[TN_WIDTHS][TN_DTYPE_COUNT];	/* the same for vectors */
	bool ops[TN_OP_COUNT][TN_DTYPE_COUNT];
	bool vector_ops[TN_WIDTHS][TN_OP_COUNT][TN_DTYPE_COUNT];
	bool casts[TN_DTYPE_COUNT][TN_DTYPE_COUNT];	/* from, to */
	bool bitcasts[TN_DTYPE_COUNT][TN_DTYPE_COUNT];
};

/* All helpers that `need` names, in a fixed order. */
void tn_prelude_print(struct tn_buf *out, struct tn_prelude *need,
		      const struct tn_dialect *dialect);
/* Parts of it. */
void tn_prelude_casts(struct tn_buf *out, struct tn_prelude *need,
		      const struct tn_dialect *dialect);
void tn_prelude_bits(struct tn_buf *out, struct tn_prelude *need,
		     const struct tn_dialect *dialect);
void tn_prelude_close_casts(struct tn_prelude *need);
/* emit_small.c */
struct tn_small;
/* From "sign" to the closing brace, for an `a` of that format. */
void tn_prelude_load_body(struct tn_buf *out, const struct tn_small *type);
void tn_prelude_small_load(struct tn_buf *out, const char *function,
			   enum tn_dtype dtype);
void tn_prelude_small_narrow(struct tn_buf *out, const char *function,
			     enum tn_dtype dtype);
void tn_prelude_vectors(struct tn_buf *out, struct tn_prelude *need,
			const struct tn_dialect *dialect);
void tn_prelude_close_vectors(struct tn_prelude *need);
/* emit_math.c: the body of an operator's helper, for an element `a` or vector,
 * where it is not the C library's; NULL: it is. */
const char *tn_emit_function(const struct tn_dialect *dialect,
			     enum tn_opcode code, enum tn_dtype dtype,
			     bool is_vector);
void tn_prelude_close_functions(struct tn_prelude *need,
				const struct tn_dialect *dialect);
/* Elements of the dtype in a vector of the whole width, where they are f32 (for
 * the 16-bit floats, too) or f64; 0: none. */
int tn_emit_lanes(const struct tn_dialect *dialect, enum tn_dtype dtype);
/* The dtype that values are held in: f32 for what is stored in fewer bits. */
enum tn_dtype tn_emit_held(enum tn_dtype dtype);
const char *tn_emit_ctype(enum tn_dtype dtype);
bool tn_emit_raises(enum tn_opcode code, enum tn_dtype dtype);

/* ---- Kernels (emit_dim.c, emit_expr.c, emit_fill.c, emit_stmt.c,
 * emit_plan.c, emit_vec.c) ---- */

/* How a @reg or @stack buffer is kept. */
enum tn_emit_form {
	TN_FORM_ARRAY,		/* an array */
	TN_FORM_SCALARS,	/* a variable an element */
	TN_FORM_VECTORS		/* a vector variable for `lanes` elements */
};

struct tn_emit {
	const struct tn_dialect *dialect;
	struct tn_prelude *need;
	struct tn_buf *out;
	const struct tn_kernel *kernel;
	struct tn_arena arena;
	struct tn_names names;
	struct tn_map used;	/* keys of names that the text holds */
	struct tn_map reads;	/* variables and buffers that are read */
	struct tn_map consts;	/* tn_kvar -> int64_t *, written-out loops */
	struct tn_map forms;	/* tn_kbuf -> (void *)(form + 1) */
	struct tn_map widths;	/* tn_kbuf of FORM_VECTORS -> (void *)width */
	struct tn_map lanes;	/* vectorised TN_LOOP_VEC -> (void *)(lanes +
				 * 256 width) */
	struct tn_map vectors;	/* tn_kvar -> (void *)lanes: a vector let */
	struct tn_map filled;	/* tn_kstmt: an allocation did its work */
	const struct tn_kvar *lane_var;	/* of the vector loop being printed */
	int nlanes, width;	/* of its vectors */
	int depth;		/* tabs */
	bool wide, contract;	/* @fp */
	bool in_parallel;
	bool failed;		/* out of memory */
	void *data;		/* of the dialect */
};

/* Prepares for one kernel; its parameters and symbols get names. */
void tn_emit_init(struct tn_emit *emit, const struct tn_dialect *dialect,
		  struct tn_prelude *need, struct tn_buf *out,
		  const struct tn_kernel *kernel);
void tn_emit_fini(struct tn_emit *emit);
/* The statements of a block, indented by emit->depth. */
void tn_emit_block(struct tn_emit *emit, const struct tn_kblock *block);
void tn_emit_stmt(struct tn_emit *emit, const struct tn_kstmt *stmt);
void tn_emit_if(struct tn_emit *emit, const struct tn_kstmt *stmt);
/* A loop written out: its body for each value of its variable. */
void tn_emit_written_out(struct tn_emit *emit, const struct tn_kstmt *stmt,
			 int64_t from, int64_t to, int64_t step);
/* What a SET or STORE assigns to, as an expression. */
struct tn_kexpr tn_emit_place(const struct tn_kstmt *stmt);
/* The sum of what an accumulating statement assigns to and its value. */
struct tn_kexpr tn_emit_sum(const struct tn_kexpr *const args[2]);
/* True if adding the value is one contracted step: @fp(contract), a product. */
bool tn_emit_contracts(const struct tn_emit *emit, enum tn_dtype dtype,
		       const struct tn_kexpr *value);
/* The shared spelling of a loop: `for (...) {` body `}`. */
void tn_emit_plain_loop(struct tn_emit *emit, const struct tn_kstmt *stmt);
void tn_emit_line(struct tn_emit *emit, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tn_emit_indent(struct tn_emit *emit);

/* Binding strengths of C. */
enum {
	TN_LEVEL_ANY, TN_LEVEL_COND, TN_LEVEL_OR, TN_LEVEL_AND, TN_LEVEL_EQ,
	TN_LEVEL_LESS, TN_LEVEL_ADD, TN_LEVEL_MUL, TN_LEVEL_UNARY
};

/* True if the operator may give a value that its 16-bit type lacks. */
bool tn_emit_rounds(const struct tn_emit *emit, const struct tn_kexpr *expr);
/* An expression, in brackets if it binds weaker than `level`. */
void tn_emit_expr(struct tn_emit *emit, const struct tn_kexpr *expr,
		  int level);
/* The flat position of an access, row-major. */
void tn_emit_index(struct tn_emit *emit, const struct tn_kbuf *buf, int n,
		   const struct tn_kexpr *const *index);
/* Under written-out loops: `rest`, n indices without constants, and what these
 * add to the position; false: the indices are best left as they are. */
bool tn_emit_offset(struct tn_emit *emit, const struct tn_kbuf *buf, int n,
		    const struct tn_kexpr *const *index,
		    const struct tn_kexpr **rest, int64_t *offset);
/* Value of index arithmetic under the written-out loops, if constant. */
bool tn_emit_const(const struct tn_emit *emit, const struct tn_kexpr *expr,
		   int64_t *value);
const char *tn_emit_name(struct tn_emit *emit, const void *key,
			 const char *wish);
/* A dim, its symbols spelled by `spell`. */
typedef void tn_emit_spell(void *data, const struct tn_sym *sym,
			   struct tn_buf *out);
void tn_emit_dim(struct tn_buf *out, struct tn_prelude *need,
		 const struct tn_dim *dim, int level, tn_emit_spell *spell,
		 void *data);
/* The symbols that the text printed so far names (those of SIZE apart), in
 * order of number: const struct tn_sym * into `syms`. */
bool tn_emit_syms(const struct tn_emit *emit, struct tn_vec *syms);
/* The symbols that SIZE statements set, in order of number. */
bool tn_emit_sizes(const struct tn_kernel *kernel, struct tn_vec *syms);
/* True if some statement or operator of it may set the flag. */
bool tn_emit_may_raise(const struct tn_kernel *kernel);
/* Loop without a `for`: a body for each value of its variable. */
bool tn_emit_is_unrolled(const struct tn_kstmt *stmt, int64_t *from,
			 int64_t *to);

/* The statement that fills the buffer right behind its allocation, and with
 * which literal; NULL: none does. */
const struct tn_kstmt *tn_emit_fill(const struct tn_kstmt *alloc,
				    const struct tn_kexpr **value);
/* Decides emit->lanes and emit->forms for the kernel. */
void tn_emit_plan_vectors(struct tn_emit *emit);
/* A vectorised loop, of emit->nlanes lanes. */
void tn_emit_vec_loop(struct tn_emit *emit, const struct tn_kstmt *stmt);
/* True if the expression differs from lane to lane of the open loop. */
bool tn_emit_is_varying(const struct tn_emit *emit,
			const struct tn_kexpr *expr);
/* Position of an element, or of the first lane, in a buffer kept in
 * variables; its name is NAME_POSITION. */
int64_t tn_emit_slot(const struct tn_emit *emit, const struct tn_kbuf *buf,
		     int n, const struct tn_kexpr *const *index);
/* Puts the variable, or the lane of one, that an element of such a buffer is;
 * false: the buffer is an array. */
bool tn_emit_variable(struct tn_emit *emit, const struct tn_kbuf *buf, int n,
		      const struct tn_kexpr *const *index);
enum tn_emit_form tn_emit_form_of(const struct tn_emit *emit,
				  const struct tn_kbuf *buf);
/* Elements in each variable of a buffer of FORM_VECTORS. */
int tn_emit_lanes_of(const struct tn_emit *emit, const struct tn_kbuf *buf);
/* A vector statement or expression of emit->nlanes lanes. */
void tn_emit_vec_stmt(struct tn_emit *emit, const struct tn_kstmt *stmt);
void tn_emit_vec_expr(struct tn_emit *emit, const struct tn_kexpr *expr);
/* "tn_f32x8"; of bool "tn_mask8", or "tn_mask8n" beside f32 of less than the
 * whole width, for the whole ones of f64 have as many lanes. */
void tn_emit_vector_type(struct tn_buf *out, enum tn_dtype dtype, int lanes,
			 int width);

#endif

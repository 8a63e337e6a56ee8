/*
 * Tenon's plug-ins: passes, rules, operators and back ends in a file of their
 * own, read by `--plugin=FILE.so` or tenon_context_set(context, "plugin", ..).
 *
 *   #include <tenon-plugin.h>
 *
 *   static void run(struct tenon_pass *pass) { ... }
 *   static const struct tenon_plugin_pass passes[] = {
 *           { "tidy", "what it does", NULL, TENON_CORE, 0, 0, run }
 *   };
 *   const struct tenon_plugin tenon_plugin = {
 *           TENON_PLUGIN_ABI, "tidy", passes, 1, NULL, 0, NULL, NULL
 *   };
 *
 *   cc -std=c11 -shared -fPIC $(pkg-config --cflags tenon) tidy.c -o tidy.so
 *
 * A plug-in needs this header alone; its functions are those of the program
 * that reads it. The table is data: nothing runs when it is read, but what
 * the file itself runs when it is loaded. The header is C11 and C++11.
 *
 * Handles are borrowed and last as long as the call that gave them. Every
 * function takes NULL in place of an operator or value and then gives NULL,
 * 0 or -1; a mistake is kept, ends the pass, and is reported with the names of
 * pass and plug-in. Texts given as char * end with tenon_text_free.
 */
#ifndef TENON_PLUGIN_H
#define TENON_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change of what a plug-in may rely on: another number is
 * refused when it is loaded. */
#define TENON_PLUGIN_ABI 1

struct tenon_pass;	/* one run of a pass */
struct tenon_emission;	/* one run of a back end */
struct tenon_op;
struct tenon_value;

/* ---- The table ---------------------------------------------------------- */

/* What may hold of a module. */
enum tenon_property {
	TENON_TYPED = 1,	/* every value has a type */
	TENON_FLAT = 2,		/* no calls of functions */
	TENON_CORE = 4,		/* primitives, no operators of the library */
	TENON_CANONICAL = 8,	/* operands in order */
	TENON_FUSED = 16,	/* groups are functions */
	TENON_KERNELS = 32,	/* only launches of kernels and control flow */
	TENON_PLACED = 64	/* every value has its memory */
};

struct tenon_plugin_pass {
	const char *name;	/* a word, not that of another pass */
	const char *summary;	/* a few words for `tenon list passes` */
	const char *option;	/* of NAME{option=7}, or NULL */
	unsigned needs;		/* properties that must hold before it; */
	unsigned gives;		/* that hold after it; */
	unsigned breaks;	/* that a change ends */
	void (*run)(struct tenon_pass *pass);
};

/* What a function is when it is emitted. */
enum tenon_stage {
	TENON_STAGE_TEXT,	/* as it is written */
	TENON_STAGE_CORE,	/* primitives after the passes up to `fuse` */
	TENON_STAGE_PLACED	/* launches of kernels, placed in memory */
};

struct tenon_plugin_backend {
	const char *name;	/* of the target: a word, not taken */
	const char *summary;	/* for `tenon list targets` */
	enum tenon_stage stage;
	bool has_weights;	/* needs their values; writes NAME.weights */
	bool has_threads;	/* PLACED: `par` loops are wanted */
	int vector_bytes;	/* PLACED: of a vector, 0: no `vec` wanted */
	int vector_registers;
	void (*emit)(struct tenon_emission *out);
};

struct tenon_plugin {
	unsigned abi;		/* TENON_PLUGIN_ABI */
	const char *name;
	const struct tenon_plugin_pass *passes;
	int npasses;
	const struct tenon_plugin_backend *backends;
	int nbackends;
	const char *ops;	/* a .tn text of `op`, `fn`, `const`, which
				 * join the library; or NULL */
	const char *rules;	/* a .tn text of `rule`, for `simplify`; or
				 * NULL */
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct tenon_plugin tenon_plugin;

/* ---- Reading: passes and back ends -------------------------------------- */

/* The operator behind it in its block; NULL: it was the last. Ask for it before
 * you replace or erase this one. */
struct tenon_op *tenon_op_next(const struct tenon_op *op);
/* The first operator of region `i` of `if`, `for`, `while`, `scan`; what its
 * parameters are. */
int tenon_op_regions(const struct tenon_op *op);
struct tenon_op *tenon_op_region(const struct tenon_op *op, int i);
int tenon_op_region_inputs(const struct tenon_op *op, int i);
struct tenon_value *tenon_op_region_input(const struct tenon_op *op, int i,
					  int k);
/* As the language calls it, `add`; of a call, the name of what is called. */
const char *tenon_op_name(const struct tenon_op *op);
bool tenon_op_is(const struct tenon_op *op, const char *name);
bool tenon_op_is_call(const struct tenon_op *op);
/* The kernel that it launches, or NULL; its text. */
const char *tenon_op_kernel(const struct tenon_op *op);
char *tenon_op_kernel_print(const struct tenon_op *op);
int tenon_op_inputs(const struct tenon_op *op);
struct tenon_value *tenon_op_input(const struct tenon_op *op, int i);
int tenon_op_outputs(const struct tenon_op *op);
struct tenon_value *tenon_op_output(const struct tenon_op *op, int i);
/* Attributes. False, -1 or NULL: it has none of that name and kind, or sizes
 * in it are not known. Truth values are 0 and 1. */
bool tenon_op_int(const struct tenon_op *op, const char *name, int64_t *out);
bool tenon_op_real(const struct tenon_op *op, const char *name, double *out);
/* How many numbers there are, the first `most` of them in `out`. Pads are
 * two a pair. */
int tenon_op_ints(const struct tenon_op *op, const char *name, int64_t *out,
		  int most);
/* Of a string; of an element type its name. */
const char *tenon_op_text(const struct tenon_op *op, const char *name);
/* Its line of canonical text, regions left out. */
char *tenon_op_print(const struct tenon_op *op);

const char *tenon_value_name(const struct tenon_value *value);
/* The element type, "f32". */
const char *tenon_value_dtype(const struct tenon_value *value);
int tenon_value_rank(const struct tenon_value *value);
/* -1: it depends on a dim, or there is no such axis. */
int64_t tenon_value_size(const struct tenon_value *value, int axis);
/* "f32[B, 4]". */
char *tenon_value_print_type(const struct tenon_value *value);
bool tenon_value_is_same_type(const struct tenon_value *a,
			      const struct tenon_value *b);
/* What computes it; NULL: a parameter or a weight. */
struct tenon_op *tenon_value_op(const struct tenon_value *value);
bool tenon_value_is_weight(const struct tenon_value *value);
/* Who reads it, in no order. */
int tenon_value_uses(const struct tenon_value *value);
struct tenon_op *tenon_value_user(const struct tenon_value *value, int i);
/* Elements of a constant or of a weight whose values are loaded; -1: of
 * neither. Integers beyond 2^53 are rounded. */
int64_t tenon_value_elements(const struct tenon_value *value);
double tenon_value_element(const struct tenon_value *value, int64_t i);

void tenon_text_free(char *text);

/* ---- Passes ------------------------------------------------------------- */

/* The function that is compiled, and its first operator. */
const char *tenon_pass_fn(const struct tenon_pass *pass);
struct tenon_op *tenon_pass_first(const struct tenon_pass *pass);
/* The number in {..}, or `fallback`. */
int64_t tenon_pass_option(const struct tenon_pass *pass, int64_t fallback);
/* Whether floats may be changed in that way: words of @fp(..), "afn, reassoc",
 * that the function or `--fp` grant. Without, results keep their bits. */
bool tenon_pass_may(const struct tenon_pass *pass, const char *words);
/* Asked before each change, once: false, and it must not be made. `what` names
 * the change for events and bisect. */
bool tenon_pass_spend(struct tenon_pass *pass, const char *what,
		      const struct tenon_op *op);
/* Tells why `what` was not done to the operator, a sentence without its point:
 * an event `miss`, and `tenon explain`. */
void tenon_pass_miss(struct tenon_pass *pass, const char *what,
		     const struct tenon_op *op, const char *why);
/* The pass cannot go on; `op` may be NULL. */
void tenon_pass_fail(struct tenon_pass *pass, const struct tenon_op *op,
		     const char *why);

/* A new primitive before an operator; its first result. Attributes as the
 * language writes them, "axes=[0, 1], keep=true": numbers, truth values,
 * strings, element types, lists of whole numbers; or NULL. */
struct tenon_value *tenon_build(struct tenon_pass *pass,
				struct tenon_op *before, const char *name,
				int count, struct tenon_value *const *inputs,
				const char *attributes);
/* A scalar of the element type of `like`. */
struct tenon_value *tenon_build_number(struct tenon_pass *pass,
				       struct tenon_op *before,
				       const struct tenon_value *like,
				       double number);
/* `reshape` or `broadcast` to the shape of `like`. */
struct tenon_value *tenon_build_shaped(struct tenon_pass *pass,
				       struct tenon_op *before,
				       const char *name,
				       struct tenon_value *value,
				       const struct tenon_value *like);
/* The only result of `op` is `value` from now on, and `op` is gone. Types are
 * the same. */
void tenon_replace(struct tenon_pass *pass, struct tenon_op *op,
		   struct tenon_value *value);
/* The same of all results. */
void tenon_replace_all(struct tenon_pass *pass, struct tenon_op *op,
		       int count, struct tenon_value *const *values);
/* Nobody reads its results. */
void tenon_erase(struct tenon_pass *pass, struct tenon_op *op);
void tenon_set_input(struct tenon_pass *pass, struct tenon_op *op, int i,
		     struct tenon_value *value);

/* ---- Back ends ---------------------------------------------------------- */

/* The name for what is emitted: an identifier. */
const char *tenon_emission_name(const struct tenon_emission *out);
const char *tenon_emission_fn(const struct tenon_emission *out);
/* Parameters of the function; its results are what `return`, the last
 * operator, reads. */
int tenon_emission_inputs(const struct tenon_emission *out);
struct tenon_value *tenon_emission_input(const struct tenon_emission *out,
					 int i);
struct tenon_op *tenon_emission_first(const struct tenon_emission *out);
/* The value's name as an identifier of C: letters, digits and `_`, its own
 * among those of the emission, whatever the name is. Names themselves may hold
 * any text, which has no place in code. */
const char *tenon_emission_identifier(struct tenon_emission *out,
				      const struct tenon_value *value);
/* From now on text goes to the file NAME and that ending. */
void tenon_emission_file(struct tenon_emission *out, const char *ending);
void tenon_emission_put(struct tenon_emission *out, const char *text);
void tenon_emission_printf(struct tenon_emission *out, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;
/* Where the values of a weight or constant begin in NAME.weights; -1: they are
 * not there. */
int64_t tenon_emission_offset(const struct tenon_emission *out,
			      const struct tenon_value *value);
/* The back end cannot emit the function. */
void tenon_emission_fail(struct tenon_emission *out,
			 const struct tenon_op *op, const char *why);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Tenon for C programs: read or build tensor graphs, compile them, run them.
 *
 *   struct tenon_context *context = tenon_context_new();
 *   struct tenon_module *module;
 *   struct tenon_engine *engine;
 *   struct tenon_call *call;
 *
 *   tenon_context_set(context, "target", "c");
 *   tenon_parse_file(context, "mlp.tn", &module);
 *   tenon_engine_make(module, &engine);
 *   tenon_call_new(engine, &call);
 *   tenon_call_input(call, "x", &x);
 *   tenon_call_run(call);
 *   y = tenon_call_output(call, 0);
 *
 * Errors. Functions return a status, which is also what the command exits
 * with; what was wrong, where, and the way out is kept in the context (and
 * handed to a callback if one was set). Pointers given back through `out`
 * are NULL after a failure, and every function accepts the NULL object that
 * a failure left: it returns TENON_USAGE and does nothing. Nothing here
 * prints, exits, or keeps global state.
 *
 * Ownership. What `_new`, `_make`, `_load`, `_parse` give belongs to the
 * caller and ends with its `_free`; free calls before engines, engines and
 * modules before their context. Texts (char **) end with tenon_text_free.
 * Names and tensors returned as const pointers are borrowed.
 *
 * Threads. A context with all that was made from it is used by one thread at
 * a time; contexts do not share anything.
 */
#ifndef TENON_H
#define TENON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_VERSION "0.1.0"
#define TENON_MAX_RANK 16

enum tenon_status {
	TENON_OK = 0,
	TENON_NO = 1,		/* mismatch, test failed, flag raised */
	TENON_USAGE = 2,	/* the call or an option is wrong */
	TENON_BAD_INPUT = 3,	/* text, model or data is wrong */
	TENON_UNSUPPORTED = 4,
	TENON_COMPILER = 5,	/* an external compiler failed */
	TENON_IO = 6,		/* a file or memory could not be had */
	TENON_BUG = 70		/* a fault of Tenon */
};

/* Element types. bool is a byte, 0 or 1; f16, bf16 and smaller floats are bit
 * patterns. An element of 4 or 2 bits has a byte of its own: of i4 and i2 the
 * number, -8 to 7 and -2 to 1, of f4e2m1 the pattern in the low half. */
enum tenon_dtype {
	TENON_F64, TENON_F32, TENON_F16, TENON_BF16,
	TENON_I64, TENON_I32, TENON_I16, TENON_I8,
	TENON_U64, TENON_U32, TENON_U16, TENON_U8,
	TENON_BOOL,
	TENON_F8E4M3FN, TENON_F8E5M2, TENON_I4, TENON_U4,
	TENON_F8E4M3FNUZ, TENON_F8E5M2FNUZ, TENON_F8E8M0, TENON_F4E2M1,
	TENON_I2, TENON_U2
};

/* ---- Contexts ---------------------------------------------------------- */

struct tenon_context;

/* NULL: out of memory. */
struct tenon_context *tenon_context_new(void);
void tenon_context_free(struct tenon_context *context);

/*
 * Settings, as text. They hold for what is done afterwards.
 *
 *   target         ref | c[:generic|avx2|avx512|native] | cuda[:sm_NN] | dot
 *                  [c]: where engines run and what is emitted
 *   emulate        yes | no: engines for CUDA run on the CPU [no]
 *   passes         default | none | a list such as "inline,fold{limit=64}", in
 *                  which external{COMMAND} runs a program (doc/plugins.md)
 *   fp             what rewrite rules may do to floats: words of @fp(..) such
 *                  as "reassoc,nsz", or fast for all [none]
 *   rules          a file of rewrite rules, beside those of the library and
 *                  the module
 *   plugin         a shared object with passes, rules, operators, back ends
 *                  (tenon-plugin.h, doc/plugins.md); each value adds one
 *   bounds         of sizes of models of other systems, "N=1:8,M=4" [1:4096]
 *   fix            an input of such a model that is a constant, as text:
 *                  "axes=2xi64=0 1" or "axes=@FILE.npy"; each value adds one
 *   length         items of inputs of such a model that are sequences or
 *                  optional values, "x=3,opt=0"; each value adds some
 *   shape          sizes of inputs of such a model, "x=2x3,y=?x4", ? is a free
 *                  one; each value adds some
 *   fn             the function to compile [main, or the only one]
 *   weights        files | random:SEED: values of weights [files]
 *   threads        for running; 0: as the process may run on [0]
 *   cc             the C compiler [cc]
 *   cxx            the C++ compiler, for CUDA with emulate [c++]
 *   nvcc           the CUDA compiler [nvcc]
 *   cache          folder of compiled objects, or "none"
 *   keep           folder that gets the sources of what is compiled
 *   allow-outside  yes | no: weight files with .. or absolute paths [no]
 *   fuel           most optional rewrites the passes may do; -1: any number
 *   verify-each    yes | no: verify the graph after each pass
 *   check-analyses yes | no: compute anew after each pass what is known of the
 *                  graph, and compare
 *   print-after    a pass, or all: see tenon_context_on_pass
 *   stop-after     a pass
 *   time-passes    yes | no: see tenon_module_timing
 *   print-changed  diff: what each pass changed, see tenon_context_on_pass
 *   dump-dir       folder that gets the module after each pass, NN-PASS.tn
 *   check-each     how many made-up inputs the interpreter runs before and
 *                  after each pass; another result ends the passes with
 *                  TENON_NO [0]
 */
enum tenon_status tenon_context_set(struct tenon_context *context,
				    const char *name, const char *value);

struct tenon_plugin;	/* tenon-plugin.h */

/* The same as the setting `plugin`, of a table in the program itself, which
 * must outlive the context. */
enum tenon_status tenon_context_plugin(struct tenon_context *context,
				       const struct tenon_plugin *table);

struct tenon_tensor;

struct tenon_message {
	const char *code;	/* "E0312" */
	bool is_error;		/* else a warning */
	const char *file;	/* or NULL: no place */
	unsigned line, column;	/* from 1 */
	const char *text;
	const char *help;	/* or NULL */
};

/* `report` gets every message as its function ends. */
void tenon_context_on_message(struct tenon_context *context,
			      void (*report)(void *data,
					     const struct tenon_message *),
			      void *data);
/* `show` gets the module's text after the passes that print-after names. */
void tenon_context_on_pass(struct tenon_context *context,
			   void (*show)(void *data, const char *pass,
					const char *text),
			   void *data);
/* `print` gets what the operator `print` hands over, under its label or the
 * value's name, while a call runs, on any target; the tensor is lent until
 * `print` returns. */
void tenon_context_on_print(struct tenon_context *context,
			    void (*print)(void *data, const char *label,
					  const struct tenon_tensor *tensor),
			    void *data);
/* `hold` is called as external compilers are about to work in a temporary
 * folder (`begins`), and when the folder is gone again: a program that ends by a
 * signal may wait that long. */
void tenon_context_on_compile(struct tenon_context *context,
			      void (*hold)(void *data, bool begins),
			      void *data);
/* `event` gets what passes and back ends did from now on, one JSON object a
 * line, without the newline, lent until it returns; NULL: nobody listens. The
 * events and their fields are listed in doc/events.md. */
void tenon_context_on_event(struct tenon_context *context,
			    void (*event)(void *data, const char *line),
			    void *data);
size_t tenon_context_errors(const struct tenon_context *context);

enum tenon_style { TENON_PLAIN, TENON_COLOUR, TENON_JSON };

/* All messages so far with source lines and marks, or as JSON lines. */
enum tenon_status tenon_context_messages(const struct tenon_context *context,
					 enum tenon_style style,
					 char **out);
void tenon_text_free(char *text);

/* ---- Tensors ----------------------------------------------------------- */

/* Row-major, elements adjacent. A program may fill one in by hand, with
 * is_owned false; then the data stays the program's. */
struct tenon_tensor {
	enum tenon_dtype dtype;
	int rank;
	int64_t shape[TENON_MAX_RANK];
	void *data;		/* may be NULL if there are no elements */
	bool is_owned;		/* tenon_tensor_fini frees data */
};

/* An owned tensor of zeros. */
enum tenon_status tenon_tensor_init(struct tenon_tensor *tensor,
				    enum tenon_dtype dtype, int rank,
				    const int64_t *shape);
void tenon_tensor_fini(struct tenon_tensor *tensor);
/* Number of elements; -1: overflow. */
int64_t tenon_tensor_count(const struct tenon_tensor *tensor);
/* Bytes of an element; its name, "f32". */
int tenon_dtype_bytes(enum tenon_dtype dtype);
const char *tenon_dtype_name(enum tenon_dtype dtype);

/* Reads .npy, or the entry `key` of .npz and safetensors (NULL: the only
 * one). The tensor is owned. */
enum tenon_status tenon_tensor_read(struct tenon_context *context,
				    const char *path, const char *key,
				    struct tenon_tensor *out);
/* Writes one tensor as .npy; several, with names, as .npz. */
enum tenon_status tenon_tensor_write(struct tenon_context *context,
				     const char *path,
				     const struct tenon_tensor *tensor);
enum tenon_status tenon_tensor_write_all(struct tenon_context *context,
					 const char *path, size_t count,
					 const char *const *names,
					 const struct tenon_tensor *const *
					 tensors);
/* A file of tensors held open; .npy has one, called "". */
struct tenon_archive;

enum tenon_status tenon_archive_open(struct tenon_context *context,
				     const char *path,
				     struct tenon_archive **out);
void tenon_archive_close(struct tenon_archive *archive);
size_t tenon_archive_count(const struct tenon_archive *archive);
const char *tenon_archive_name(const struct tenon_archive *archive,
			       size_t i);
/* A view that lasts until the archive is closed. */
enum tenon_status tenon_archive_find(struct tenon_archive *archive,
				     const char *name,
				     struct tenon_tensor *out);
/* As numpy prints it; long ones are cut in the middle. */
enum tenon_status tenon_tensor_print(const struct tenon_tensor *tensor,
				     char **out);

/* How far b is from a. Not a number equals itself; other differences to it
 * are infinite. For integers and bools `ulp` is 0. */
struct tenon_difference {
	int64_t count;		/* elements that differ by bits */
	int64_t beyond;		/* elements beyond the tolerance */
	double absolute, relative, ulp;	/* the largest of each */
	int64_t where;		/* flat index of the largest absolute one */
	double left, right;	/* the values there */
	int64_t where_relative, where_ulp;	/* of the largest of those */
	int64_t first;		/* the first beyond the tolerance; -1: none */
	double first_left, first_right;		/* the values there */
};

/* Tolerance: |a-b| <= atol + rtol*|a|, or at most `ulp` steps apart. False:
 * types or shapes differ. */
bool tenon_tensor_compare(const struct tenon_tensor *a,
			  const struct tenon_tensor *b, double rtol,
			  double atol, double ulp,
			  struct tenon_difference *out);

/* ---- Modules: from text ------------------------------------------------ */

struct tenon_module;

/* Reads, resolves and checks. Weight files are not opened. */
enum tenon_status tenon_parse_file(struct tenon_context *context,
				   const char *path,
				   struct tenon_module **out);
/* Same for a text in memory; `name` stands for its path. */
enum tenon_status tenon_parse_text(struct tenon_context *context,
				   const char *name, const char *text,
				   size_t size, struct tenon_module **out);
void tenon_module_free(struct tenon_module *module);
/* Holds weight files against the declarations; reads their headers only. A
 * file that is not there is a warning if `absent_ok`. */
enum tenon_status tenon_module_check_weights(struct tenon_module *module,
					     bool absent_ok);
/* Applies the schedules that kernels written by hand carry, as compiling would
 * do; those that cannot be applied are bad input. */
enum tenon_status tenon_module_check_schedules(struct tenon_module *module);
/* The text in standard white space; comments stay. */
enum tenon_status tenon_format(struct tenon_context *context,
			       const char *name, const char *text,
			       size_t size, char **out);

/* ---- Modules: built in C ----------------------------------------------- */

/*
 * A builder collects the lines of one function; tenon_builder_finish checks
 * them and gives the module. Values are numbers; a mistake is kept, gives
 * -1, and comes out of finish. Names are any text; NULL makes one up. Dims
 * and attributes are written as in the language: "B", "2*B", "axis=-1".
 *
 *   b = tenon_builder_new(context, "layer");
 *   tenon_builder_dim(b, "B", 1, 64);
 *   x = tenon_builder_input(b, "x", TENON_F32, "B, 3");
 *   w = tenon_builder_weight(b, "w", &w_values);
 *   y = tenon_builder_op(b, "relu", NULL, 1, (int[]){
 *           tenon_builder_op2(b, "matmul", x, w)}, NULL);
 *   tenon_builder_result(b, "y", y, TENON_F32, "B, 5");
 *   tenon_builder_finish(b, &module);
 */
struct tenon_builder;

/* NULL: out of memory. `name` becomes the function's. */
struct tenon_builder *tenon_builder_new(struct tenon_context *context,
					const char *name);
void tenon_builder_free(struct tenon_builder *builder);
/* `dim NAME in [lo, hi];` */
void tenon_builder_dim(struct tenon_builder *builder, const char *name,
		       int64_t lo, int64_t hi);
/* A parameter. `shape` is a list of dims, "" or NULL for a scalar. */
int tenon_builder_input(struct tenon_builder *builder, const char *name,
			enum tenon_dtype dtype, const char *shape);
/* A tensor kept with the module; its data are copied. Printed, the module
 * names the file NAME.npy for it. */
int tenon_builder_weight(struct tenon_builder *builder, const char *name,
			 const struct tenon_tensor *tensor);
/* A scalar that takes the type of what it is combined with. */
int tenon_builder_number(struct tenon_builder *builder, double value);
/* Any operator of the language by name: one result. */
int tenon_builder_op(struct tenon_builder *builder, const char *op,
		     const char *name, int count, const int *operands,
		     const char *attributes);
/* The same with two operands and no attributes. */
int tenon_builder_op2(struct tenon_builder *builder, const char *op, int a,
		      int b);
/* An expression over names: "relu(x @ w + b)". */
int tenon_builder_expr(struct tenon_builder *builder, const char *name,
		       const char *expression);
/* Adds a result of the function. */
void tenon_builder_result(struct tenon_builder *builder, const char *name,
			  int value, enum tenon_dtype dtype,
			  const char *shape);
/* Checks and gives the module. The builder may only be freed then. */
enum tenon_status tenon_builder_finish(struct tenon_builder *builder,
				       struct tenon_module **out);

/* ---- Modules: printing, passes, compiling ------------------------------ */

/* Canonical text, which parses back to an equal module. */
enum tenon_status tenon_module_print(struct tenon_module *module,
				     char **out);
/* The same to a file; constants over 64 elements go to side files in its
 * folder and the paths of weights are rewritten to hold from there. */
enum tenon_status tenon_module_save(struct tenon_module *module,
				    const char *path);
/* Runs passes in place, by the settings `passes` and `stop-after`. What is
 * compiled afterwards goes on from there. */
enum tenon_status tenon_module_run_passes(struct tenon_module *module);
/* Where the time of the passes run with time-passes set went, as a tree: a
 * table, "" if there were none, or JSON, an array of what
 * {"name", "ms", "share", "times", "parts"} says, of passes "before" and
 * "after" (operators), "rewrites", "allocations", "bytes" too. */
enum tenon_status tenon_module_timing(const struct tenon_module *module,
				      bool json, char **out);
/* A value of a revealed module. */
struct tenon_value {
	const char *name;	/* in the module's text */
	const char *op;		/* what makes it: an operator, a function */
	const char *place;	/* "FILE:LINE:COLUMN", or NULL */
	int output;		/* number of the output that hands it out */
};

/* Makes every value of the function that is compiled an output, behind those
 * that it has, so that a run shows what each operator made. Calls are inlined;
 * what lies inside loops and branches stays there. The values stand in the
 * order of the operators and live as long as the module. */
enum tenon_status tenon_module_reveal(struct tenon_module *module,
				      const struct tenon_value **values,
				      size_t *count);
/* Which single rewrite of the passes makes the module wrong. */
struct tenon_bisection {
	bool found;
	int64_t rewrite;	/* its number, from 1: the fuel that it takes */
	int64_t rewrites;	/* of all passes */
	int64_t tries;
	const char *pass, *rule, *op, *value, *place;	/* or NULL; no pass:
				 * passes fail with it, as messages say */
	const char *diff;	/* of the module, before and after it */
};

/* Tries the passes that the settings name with more and less fuel. `command`
 * is words parted by blanks, run without a shell on a file with the module,
 * whose name stands for `{}` or comes last: exit 0 is good. NULL: the
 * interpreter has to give what it gives without passes. TENON_OK: good after
 * all passes; TENON_NO: found, or wrong without a rewrite. Texts live as long
 * as the module. */
enum tenon_status tenon_module_bisect(struct tenon_module *module,
				      const char *command,
				      struct tenon_bisection *out);

struct tenon_reduction {
	int64_t lines_before, lines, tries;
};

/* Writes the smallest module that was found on which `command` (see above)
 * still exits 0 to `path`. The same for the same module and command. */
enum tenon_status tenon_module_reduce(struct tenon_module *module,
				      const char *command, const char *path,
				      struct tenon_reduction *out);
/* What is asked of a compilation; all may be NULL. */
struct tenon_question {
	const char *op;		/* a value: what became of it, and of those
				 * made for it, op__3 */
	const char *why_not;	/* a pass: what it did not do, and why; of `op`
				 * if that is named */
	bool json;
};

/* What compiling made of the module; `question` may be NULL. Runs passes as
 * needed. */
enum tenon_status tenon_module_explain(struct tenon_module *module,
				       const struct tenon_question *question,
				       char **out);
/* The memory plan, held against the least that any plan needs. Runs passes as
 * needed. */
enum tenon_status tenon_module_report(struct tenon_module *module, bool json,
				      char **out);
/* Writes the code of the target to a folder that stands alone. */
enum tenon_status tenon_module_emit(struct tenon_module *module,
				    const char *folder);
/* Writes an engine: one file with object, weights and signature. */
enum tenon_status tenon_module_build(struct tenon_module *module,
				     const char *path);

/* The result of one test block. */
struct tenon_test {
	const char *name;
	const char *target;	/* "ref", "c:avx2" */
	bool passed;
	const char *why;	/* if not */
};

/* Runs the test blocks in the interpreter and, if the target is another,
 * compiled too. TENON_NO: some failed. */
enum tenon_status tenon_module_test(struct tenon_module *module,
				    void (*done)(void *data,
						 const struct tenon_test *),
				    void *data);

/* What became of one rewrite rule. */
struct tenon_rule {
	const char *name;
	int64_t places;		/* where it was applied and compared */
	int64_t symbolic;	/* places whose sizes are symbols */
	int64_t shapes;		/* of a rule that only moves elements: small
				 * shapes for which indices prove it */
	bool passed;
	const char *why;	/* if not */
};

/* Tries the rules of the file at `path` and of plug-ins (neither: those of the
 * library) against the interpreter. TENON_NO: some changed a result, or fit
 * nothing. */
enum tenon_status tenon_check_rules(struct tenon_context *context,
				    const char *path,
				    void (*done)(void *data,
						 const struct tenon_rule *),
				    void *data);

/* ---- Engines: loading and running -------------------------------------- */

struct tenon_engine;

/* Compiles the module for the target, or readies it for the interpreter. The
 * module is used up: it may only be freed, after the engine. */
enum tenon_status tenon_engine_make(struct tenon_module *module,
				    struct tenon_engine **out);
/* Opens a file that tenon_module_build wrote. One that is truncated, changed,
 * not an engine or for another CPU is refused. */
enum tenon_status tenon_engine_load(struct tenon_context *context,
				    const char *path,
				    struct tenon_engine **out);
/* True if the file begins as an engine does. */
bool tenon_engine_is(const char *path);
void tenon_engine_free(struct tenon_engine *engine);

/* "dim B in [1, 64]; fn mlp(x: f32[B, 64]) -> (p: f32[B, 10]);" */
const char *tenon_engine_signature(const struct tenon_engine *engine);
const char *tenon_engine_target(const struct tenon_engine *engine);
int tenon_engine_inputs(const struct tenon_engine *engine);
int tenon_engine_outputs(const struct tenon_engine *engine);
/* Names and element types by number; NULL, TENON_F32 out of range. */
const char *tenon_engine_input_name(const struct tenon_engine *engine,
				    int i);
const char *tenon_engine_output_name(const struct tenon_engine *engine,
				     int i);
enum tenon_dtype tenon_engine_input_dtype(const struct tenon_engine *engine,
					  int i);
enum tenon_dtype tenon_engine_output_dtype(const struct tenon_engine *engine,
					   int i);
/* Bytes of workspace that a call holds, for the largest dims; 0 for CUDA, where
 * the device's memory serves. */
int64_t tenon_engine_workspace(const struct tenon_engine *engine);

/* One run's inputs, dims, workspace and outputs; may be run many times. */
struct tenon_call;

enum tenon_status tenon_call_new(struct tenon_engine *engine,
				 struct tenon_call **out);
void tenon_call_free(struct tenon_call *call);
/* Lends a tensor until the next run has ended. */
enum tenon_status tenon_call_input(struct tenon_call *call,
				   const char *name,
				   const struct tenon_tensor *tensor);
/*
 * The same from a text:
 *   @FILE.npy, @FILE.npz=KEY, @FILE.safetensors=KEY   (the last = splits)
 *   random:SEED, zero        shaped by the dims that others fix
 *   special:SEED             the same, with zeros of both signs, infinities,
 *                            NaN, extremes among the values
 *   2x2xf32=1 2 3 4          sizes, type, elements in row-major order
 * With name NULL, @FILE.npz gives every input that it has a key for.
 */
enum tenon_status tenon_call_input_text(struct tenon_call *call,
					const char *name, const char *text);
/* A dim that the inputs do not fix. */
enum tenon_status tenon_call_dim(struct tenon_call *call, const char *name,
				 int64_t value);
/* Runs. TENON_NO: the outputs are there, but the sticky flag was raised (a
 * division by zero, an index out of range); a warning says where. */
enum tenon_status tenon_call_run(struct tenon_call *call);
/* Output i of the last run; borrowed until the next. NULL: none. */
const struct tenon_tensor *tenon_call_output(const struct tenon_call *call,
					     int i);

/* Whether `emulate` runs code of the target ("cuda:sm_80") on this CPU. */
bool tenon_target_emulates(const struct tenon_context *context,
			   const char *target);

/* ---- Tables ------------------------------------------------------------ */

/* "passes", "ops", "targets", "codes", "dtypes", "facts", as lines or as
 * JSON. */
enum tenon_status tenon_list(struct tenon_context *context, const char *what,
			     bool json, char **out);
/* The long text of a code. */
enum tenon_status tenon_explain_code(struct tenon_context *context,
				     const char *code, char **out);

#ifdef __cplusplus
}
#endif

#endif

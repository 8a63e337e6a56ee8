/*
 * Making modules by hand, and running what the C back end makes of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/emit_c_kit.h"

#include "base/file.h"
#include "ir/kernel_eval.h"

void kit_init(struct kit *kit)
{
	memset(kit, 0, sizeof(*kit));
	tn_intern_init(&kit->names);
	tn_sink_init(&kit->sink);
	kit->module = tn_module_new(&kit->names, &kit->sink);
	assert_non_null(kit->module);
	kit->fn = tn_graph_fn(kit->module, "main", TN_FN_PLAIN);
	assert_non_null(kit->fn);
	if (!kit->fn->body)
		kit->fn->body = tn_graph_block(kit->fn, NULL);
}

void kit_fini(struct kit *kit)
{
	tn_module_free(kit->module);
	tn_sink_fini(&kit->sink);
	tn_intern_fini(&kit->names);
}

const struct tn_dim *kit_sym(struct kit *kit, const char *name, int64_t lo,
			     int64_t hi)
{
	struct tn_sym sym = { .lo = lo, .hi = hi, .mod = 1 };
	const struct tn_dim *dim;

	sym.name = tn_intern_text(&kit->names, name);
	dim = tn_dim_new_sym(&kit->module->dims, &sym);
	assert_non_null(dim);
	return dim;
}

const struct tn_dim *kit_dim(struct kit *kit, int64_t value)
{
	return tn_dim_const(&kit->module->dims, value);
}

struct tn_value *kit_input(struct kit *kit, const char *name,
			   enum tn_dtype dtype, int rank,
			   const struct tn_dim *const *dims)
{
	const struct tn_type *type = tn_type_get(kit->module, dtype, rank,
						 dims);
	struct tn_value *value = tn_graph_param(kit->fn->body, name, type);

	assert_non_null(value);
	value->place.kind = TN_PLACE_INPUT;
	value->place.number = value->index;
	return value;
}

void kit_kernel(struct kit *kit, const char *name)
{
	kit->k = tn_kernel_new(kit->module, name);
	assert_non_null(kit->k);
	kit->block = &kit->k->body;
}

void kit_annot(struct kit *kit, const char *name, const char *args)
{
	struct tn_span none = { 0, 0, 0 };

	assert_true(tn_annots_add(kit->module, &kit->k->annots,
				  tn_intern_text(&kit->names, name), args,
				  none));
}

ex kit_int(struct kit *kit, int64_t value)
{
	return tn_kexpr_int(kit->k, TN_i64, value);
}

ex kit_op(struct kit *kit, enum tn_opcode code, enum tn_dtype dtype, int n,
	  ex a, ex b, ex c)
{
	const struct tn_kexpr *args[3];
	ex e;

	args[0] = a;
	args[1] = b;
	args[2] = c;
	e = tn_kexpr_op(kit->k, code, dtype, n, args);
	assert_non_null(e);
	return e;
}

struct tn_kblock *kit_loop(struct kit *kit, enum tn_kloop_kind kind,
			   const char *name, ex from, ex to, ex *index)
{
	struct tn_kvar *var = tn_kernel_var(kit->k, name, TN_i64);
	struct tn_kblock *old = kit->block;
	struct tn_kstmt *loop = tn_kstmt_loop(kit->k, old, kind, var, from,
					      to);

	assert_non_null(loop);
	*index = tn_kexpr_var(kit->k, var);
	kit->block = &loop->body;
	return old;
}

void kit_place(struct kit *kit, struct tn_value *value)
{
	int64_t bytes = tn_type_max_bytes(kit->module, value->type);

	assert_true(bytes >= 0);
	value->place.kind = TN_PLACE_ARENA;
	value->place.offset = kit->arena;
	value->place.bytes = bytes;
	kit->arena += (bytes + 63) / 64 * 64;
	kit->fn->arena_bytes = kit->arena;
}

struct tn_op *kit_launch(struct kit *kit, struct tn_block *block, int nin,
			 struct tn_value *const *in, int nout,
			 const char *const *names,
			 const struct tn_type *const *types)
{
	struct tn_span none = { 0, 0, 0 };
	struct tn_op *op = tn_graph_op(kit->fn, TN_OP_launch, nin, in, nout,
				       none);
	int i;

	assert_non_null(op);
	op->kernel = kit->k;
	op->scratch = kit->arena;
	kit->arena += (kit->k->scratch_bytes + 63) / 64 * 64;
	kit->fn->arena_bytes = kit->arena;
	for (i = 0; i < nout; i++) {
		op->out[i]->type = types[i];
		assert_true(tn_graph_name(kit->fn, op->out[i], names[i]));
		kit_place(kit, op->out[i]);
	}
	tn_graph_insert(block, op, NULL);
	return op;
}

void kit_return(struct kit *kit, int count, struct tn_value *const *values)
{
	struct tn_span none = { 0, 0, 0 };
	struct tn_fn *fn = kit->fn;
	struct tn_op *op = tn_graph_op(fn, TN_OP_return, count, values, 0,
				       none);
	int i;

	fn->nresults = count;
	fn->result_types = tn_arena_array(&kit->module->arena,
					  (size_t)count + 1,
					  sizeof(void *));
	fn->result_names = tn_arena_array(&kit->module->arena,
					  (size_t)count + 1,
					  sizeof(void *));
	for (i = 0; i < count; i++) {
		fn->result_types[i] = values[i]->type;
		fn->result_names[i] = values[i]->name;
		if (values[i]->op && values[i]->op->code == TN_OP_launch &&
		    values[i]->op->block == fn->body) {
			values[i]->place.kind = TN_PLACE_OUTPUT;
			values[i]->place.number = i;
		}
	}
	tn_graph_insert(fn->body, op, NULL);
}

/* ---- Compilers ---- */

/* nodelete: the threads of OpenMP outlive dlclose. */

#define WARN "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", \
	"-Werror", "-fPIC", "-shared", "-O2", "-Wl,-z,nodelete"

static const char *const compilers[][20] = {
	{ "gcc", "-std=c11", WARN, "-fopenmp" },
	{ "gcc", "-std=gnu11", WARN, "-march=native" },
	{ "gcc", "-std=c11", WARN, "-DTN_PLAIN" },
	{ "g++", "-std=c++17", WARN, "-x", "c++" },
	{ "clang", "-std=c11", WARN, "-march=native" },
	{ "clang", "-std=c11", WARN, "-DTN_PLAIN",
	  "-fsanitize=undefined", "-fsanitize-trap=undefined" }
};

const char *const *kit_compiler(int number)
{
	int count = (int)(sizeof(compilers) / sizeof(*compilers));

	return number < count ? compilers[number] : NULL;
}

double kit_seconds(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return (double)usage.ru_utime.tv_sec +
		1e-6 * (double)usage.ru_utime.tv_usec;
}

/* 0: compiled, 127: no such compiler. */
static int compile(const char *const *compiler, const char *source,
		   const char *object)
{
	const char *argv[32];
	int n = 0, status;
	pid_t pid;

	while (compiler[n]) {
		argv[n] = compiler[n];
		n++;
	}
	argv[n++] = "-o";
	argv[n++] = object;
	argv[n++] = source;
	argv[n++] = "-lm";
	argv[n] = NULL;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static bool append(void *data, const void *bytes, size_t size)
{
	tn_buf_putn(data, bytes, size);
	return true;
}

static void write_files(const struct tn_emission *emission,
			const char *folder, struct tn_buf *weights)
{
	struct tn_buf path;
	const struct tn_buf *text;
	int i;

	for (i = 0; i < emission->count; i++) {
		tn_buf_init(&path);
		tn_buf_putf(&path, "%s/%s", folder, emission->files[i].name);
		text = &emission->files[i].text;
		if (emission->files[i].is_weights) {
			assert_true(tn_weights_write(&emission->weights,
						     append, weights));
			text = weights;
		}
		assert_int_equal(tn_file_write(tn_buf_text(&path),
					       text->data, text->len), 0);
		tn_buf_fini(&path);
	}
}

static void remove_files(const struct tn_emission *emission,
			 const char *folder, const char *object)
{
	struct tn_buf path;
	int i;

	for (i = 0; i < emission->count; i++) {
		tn_buf_init(&path);
		tn_buf_putf(&path, "%s/%s", folder, emission->files[i].name);
		(void)unlink(tn_buf_text(&path));
		tn_buf_fini(&path);
	}
	(void)unlink(object);
	(void)rmdir(folder);
}

/* The part of NAME.h that is the same for all names. */
struct report {
	int fault, op;
	uint32_t flags;
};

struct printed {
	const char *label, *dtype;
	int rank;
	const int64_t *shape;
	const void *data;
	size_t size;
};

struct context {
	const unsigned char *weights;
	int threads;
	struct report *report;
	void (*print)(void *data, const struct printed *value);
	void *print_data;
};

typedef int init_fn(struct context *, const void *, size_t);
typedef int run_fn(const struct context *, const void *const *, int64_t *,
		   void *const *, void *);

static void *symbol(void *library, const char *name, const char *suffix)
{
	struct tn_buf text;
	void *address;

	tn_buf_init(&text);
	tn_buf_putf(&text, "%s_%s", name, suffix);
	address = dlsym(library, tn_buf_text(&text));
	if (!address)
		fprintf(stderr, "no %s\n", tn_buf_text(&text));
	tn_buf_fini(&text);
	assert_non_null(address);
	return address;
}

static void run_library(struct kit *kit, const char *path, const char *name,
			int threads, const struct tn_buf *weights,
			const void *const *inputs, void *const *outputs,
			struct kit_run *run)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct report report = { -1, -1, 0 };
	struct context context;
	void *work = NULL, *init, *go;
	init_fn *init_it;
	run_fn *run_it;

	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	assert_non_null(library);
	assert_int_equal(posix_memalign(&work, 64,
					(size_t)kit->arena + 64), 0);
	memset(work, 0xff, (size_t)kit->arena + 64);
	init = symbol(library, name, "init");
	go = symbol(library, name, "run");
	memcpy(&init_it, &init, sizeof(init));
	memcpy(&run_it, &go, sizeof(go));
	assert_int_equal(init_it(&context, weights->data, weights->len), 0);
	if (weights->len) {
		assert_int_equal(init_it(&context, weights->data,
					 weights->len - 1), 2);
		weights->data[17] = (char)(weights->data[17] ^ 1);
		assert_int_equal(init_it(&context, weights->data,
					 weights->len), 2);
		weights->data[17] = (char)(weights->data[17] ^ 1);
		assert_int_equal(init_it(&context, weights->data,
					 weights->len), 0);
	}
	context.threads = threads;
	context.report = &report;
	run->status = run_it(&context, inputs, kit->dims, outputs, work);
	run->fault = report.fault;
	run->op = report.op;
	run->flags = report.flags;
	free(work);
	assert_int_equal(dlclose(library), 0);
}

bool kit_run_c(struct kit *kit, const char *name, const char *isa,
	       const char *const *compiler, int threads,
	       const void *const *inputs, void *const *outputs,
	       struct kit_run *run)
{
	struct tn_emission emission, again;
	char folder[] = "/tmp/tn_emit_XXXXXX", source[4200], object[80];
	struct tn_buf weights;
	enum tn_status status;
	int result;

	status = tn_emit_c(kit->module, kit->fn, name, tn_target_c(isa),
			   &emission);
	assert_int_equal(status, TN_OK);
	assert_int_equal(tn_emit_c(kit->module, kit->fn, name,
				   tn_target_c(isa), &again), TN_OK);
	assert_string_equal(tn_buf_text(&emission.files[0].text),
			    tn_buf_text(&again.files[0].text));
	tn_emission_fini(&again);
	assert_non_null(mkdtemp(folder));
	tn_buf_init(&weights);
	write_files(&emission, folder, &weights);
	(void)snprintf(source, sizeof(source), "%s/%s", folder,
		       emission.files[0].name);
	(void)snprintf(object, sizeof(object), "%s/it.so", folder);
	result = compile(compiler, source, object);
	if (result != 0 && result != 127)
		fprintf(stderr, "%s %s: %s\n", compiler[0], compiler[1],
			source);
	assert_true(result == 0 || result == 127);
	if (result == 0)
		run_library(kit, object, emission.name, threads, &weights,
			    inputs, outputs, run);
	if (!getenv("KEEP_EMITTED"))
		remove_files(&emission, folder, object);
	tn_buf_fini(&weights);
	tn_emission_fini(&emission);
	return result == 0;
}

float kit_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (float)(int32_t)(*state >> 32) / 536870912.0f;
}

void kit_compare(struct kit *kit, const char *isa, int nin,
		    void *const *in, int nout, const size_t *bytes,
		    bool is_exact, int share)
{
	const struct tn_op *op = kit->fn->body->first;
	void *want[100], *got[100], *buffers[104];
	struct kit_run run;
	struct tn_buf why;
	uint32_t flags = 0;
	int i, k, ran = 0;
	float a, b;
	size_t at;

	while (op->code != TN_OP_launch)
		op = op->next;
	for (i = 0; i < nin; i++)
		buffers[i] = in[i];
	for (i = 0; i < nout; i++) {
		want[i] = calloc(bytes[i] + 1, 1);
		got[i] = calloc(bytes[i] + 1, 1);
		buffers[nin + i] = want[i];
	}
	tn_buf_init(&why);
	if (!tn_kernel_eval(op->kernel, kit->dims, buffers, &flags, &why))
		fail_msg("%s", tn_buf_text(&why));
	for (k = 0; kit_compiler(k); k++) {
		if (share >= 0 && k % 3 != share % 3)
			continue;
		for (i = 0; i < nout; i++)
			memset(got[i], 0xee, bytes[i]);
		if (!kit_run_c(kit, "model", isa, kit_compiler(k), 2,
			       (const void *const *)(void *)in, got, &run))
			continue;
		ran++;
		assert_int_equal(run.flags, flags);
		assert_int_equal(run.status, flags ? 3 : 0);
		for (i = 0; i < nout && is_exact; i++)
			assert_memory_equal(got[i], want[i], bytes[i]);
		for (i = 0; i < nout && !is_exact; i++)
			for (at = 0; at < bytes[i]; at += 4) {
				memcpy(&a, (char *)got[i] + at, 4);
				memcpy(&b, (char *)want[i] + at, 4);
				assert_true(fabsf(a - b) <=
					    1e-5f * (1 + fabsf(b)));
			}
	}
	assert_true(ran > 0);
	tn_buf_fini(&why);
	for (i = 0; i < nout; i++) {
		free(want[i]);
		free(got[i]);
	}
}

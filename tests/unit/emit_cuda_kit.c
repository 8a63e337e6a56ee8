/*
 * Compiling and running what the CUDA back end emits.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/emit_cuda_kit.h"

#include "backends/ref/ref.h"
#include "base/file.h"
#include "grammar/syntax.h"
#include "passes/pass.h"

static const char std_text[] = {
#include "grammar/std.tn.inc"
};

#define MOST 256

/* ---- Modules ---- */

static void show(struct tn_sink *sink)
{
	struct tn_buf text;

	tn_buf_init(&text);
	tn_sink_render(sink, &text, false);
	print_message("%s\n", tn_buf_text(&text));
	tn_buf_fini(&text);
}

void cuda_read(struct cuda_module *m, const char *text)
{
	struct tn_elab_options options = {
		.names = &m->names, .sink = &m->sink, .std_text = std_text,
		.std_size = sizeof(std_text) - 1
	};
	struct tn_tree *tree;
	struct tn_buf whole;
	uint32_t file;

	tn_intern_init(&m->names);
	tn_sink_init(&m->sink);
	tn_arena_init(&m->arena);
	tn_buf_init(&whole);
	tn_buf_putf(&whole, "tenon 1.0;\n%s", text);
	file = tn_sink_add_source(&m->sink, "case.tn", tn_buf_text(&whole),
				  whole.len);
	tn_buf_fini(&whole);
	assert_true(file > 0);
	tree = tn_parse(&m->sink, &m->names, &m->arena, file);
	assert_non_null(tree);
	m->elab = tn_elab_new(&options);
	assert_non_null(m->elab);
	m->module = tn_elab_run(m->elab, tree);
	if (m->sink.errors)
		show(&m->sink);
	assert_non_null(m->module);
	assert_int_equal(m->sink.errors, 0);
	m->fn = tn_module_entry(m->module, NULL);
	assert_non_null(m->fn);
}

void cuda_lower(struct cuda_module *m, const char *arch, bool optimise)
{
	struct tn_pass_options options = {
		.target = tn_target_cuda(arch), .entry = m->fn,
		.fuel = -1, .verify = true
	};
	enum tn_status status = tn_pipeline_run(
		m->module, tn_pipeline_default(optimise), &options);

	if (status != TN_OK)
		show(&m->sink);
	assert_int_equal(status, TN_OK);
}

void cuda_close(struct cuda_module *m)
{
	tn_elab_free(m->elab);
	tn_module_free(m->module);
	tn_arena_fini(&m->arena);
	tn_sink_fini(&m->sink);
	tn_intern_fini(&m->names);
}

/* ---- Data ---- */

static int64_t size_of(const char *dims, const char *name)
{
	size_t len = strlen(name);
	const char *at = dims;

	while (at && strncmp(at, name, len)) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && at[len] == '=' ? strtoll(at + len + 1, NULL, 10) : -1;
}

static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 33;
}

/* Zeros, ones, the least and greatest, halves, NaN. */
static void set_special(struct tn_tensor *t, int64_t i, uint64_t r)
{
	static const double values[] = {
		0, -0.0, 1, -1, 2, 3, 7, -7, 127, 128, 255, 0.5, -0.5, 1.5,
		2.5, 1e-45, 3.4e38, 1e300, -1e300, 65504, 65520, 2147483647.0,
		4294967296.0, 9.3e18, -9.3e18, NAN, INFINITY, -INFINITY
	};

	tn_tensor_set_f64(t, i, values[r % (sizeof(values) / sizeof(*values))]);
}

/* Eighths in [-2, 2], whole numbers in [0, range), bools. */
static void fill(struct tn_tensor *t, int range, uint64_t *state)
{
	int64_t i, n = tn_tensor_count(t);

	for (i = 0; i < n; i++) {
		uint64_t r = next(state);

		if (range < 0) {
			set_special(t, i, r);
			continue;
		}
		if (t->dtype == TN_bool)
			tn_tensor_set_i64(t, i, (int64_t)(r % 2));
		else if (tn_dtype_is(t->dtype, TN_KIND_F))
			tn_tensor_set_f64(t, i, (double)(r % 33) / 8 - 2);
		else
			tn_tensor_set_i64(t, i, (int64_t)
					  (r % (uint64_t)range));
	}
}

/* Inputs, the interpreter's answers, and the sizes of all dims. */
struct answer {
	int nin, nout, ndims;
	struct tn_tensor in[MOST], out[MOST];
	int64_t dims[MOST];
	bool is_runtime[MOST];
	uint32_t flags;
};

static void make_inputs(const struct cuda_case *c, struct cuda_module *m,
			struct answer *a)
{
	const struct tn_block *body = m->fn->body;
	int64_t shape[TN_MAX_RANK];
	uint64_t state = 7;
	int i, k;

	for (i = 0; i < a->ndims; i++) {
		const struct tn_dim *dim = tn_vec_ptr(&m->module->dims.syms,
						      (size_t)i);

		a->dims[i] = size_of(c->dims, dim->sym->name);
		a->is_runtime[i] = dim->sym->is_runtime;
	}
	for (i = 0; i < a->nin; i++) {
		const struct tn_type *type = body->params[i]->type;

		for (k = 0; k < type->rank; k++)
			assert_true(tn_dim_eval(type->dims[k], a->dims,
						&shape[k]));
		assert_true(tn_tensor_init(&a->in[i], type->dtype, type->rank,
					   shape));
		fill(&a->in[i], c->range ? c->range : 7, &state);
	}
}

static void ask(const struct cuda_case *c, struct answer *a)
{
	struct tn_ref_result result = { 0 };
	struct cuda_module m;
	enum tn_status status;

	cuda_read(&m, c->text);
	memset(a, 0, sizeof(*a));
	a->nin = m.fn->body->nparams;
	a->nout = m.fn->nresults;
	a->ndims = (int)m.module->dims.syms.len;
	assert_true(a->nin <= MOST && a->nout <= MOST && a->ndims <= MOST);
	make_inputs(c, &m, a);
	status = tn_ref_run(m.module, m.fn, a->nin, a->in, a->dims, a->out,
			    &result);
	if (status != TN_OK)
		print_message("%s: %s\n", c->name, result.message);
	assert_int_equal(status, TN_OK);
	a->flags = result.flags;
	cuda_close(&m);
}

static void forget(struct answer *a)
{
	int i;

	for (i = 0; i < a->nin; i++)
		tn_tensor_fini(&a->in[i]);
	for (i = 0; i < a->nout; i++)
		tn_tensor_fini(&a->out[i]);
}

/* ---- Building ---- */

static bool append(void *data, const void *bytes, size_t size)
{
	tn_buf_putn(data, bytes, size);
	return true;
}

static void path_of(char path[4200], const char *folder, const char *name)
{
	assert_true(snprintf(path, 4200, "%s/%s", folder, name) < 4200);
}

static void write_files(const struct tn_emission *e, const char *folder,
			struct tn_buf *weights)
{
	const struct tn_buf *text;
	char path[4200];
	int i;

	path_of(path, folder, "emu");
	assert_int_equal(mkdir(path, 0700), 0);
	path_of(path, folder, "emu/include");
	assert_int_equal(mkdir(path, 0700), 0);
	for (i = 0; i < e->count; i++) {
		path_of(path, folder, e->files[i].name);
		text = &e->files[i].text;
		if (e->files[i].is_weights) {
			assert_true(tn_weights_write(&e->weights, append,
						     weights));
			text = weights;
		}
		assert_int_equal(tn_file_write(path, text->data, text->len),
				 0);
	}
}

static void start(const char *folder, const char *const *argv)
{
	if (chdir(folder) == 0)
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* The exit status of a program started in a folder; 127: there is none. */
static int run_in(const char *folder, const char *const *argv)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		start(folder, argv);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#define HOST_WARNINGS "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", \
	"-Wshadow", "-Werror"

static const struct {
	const char *cc, *cxx;
} compilers[] = { { "gcc", "g++" }, { "clang", "clang++" } };

static char cuda_objects[] = "/tmp/tn_emu_XXXXXX";

/* The stand-in's own objects, the same for every case: made by the first case
 * of each compiler, from the text that was emitted for it. */
static const char *const runtime[] = { "grid", "fiber", "host" };

static void object_of(char path[300], int compiler, int number)
{
	(void)snprintf(path, 300, "%s/%d-%s.o", cuda_objects, compiler,
		       runtime[number]);
}

static void build_runtime(const char *folder, int compiler)
{
	char object[300], source[64];
	const char *const argv[] = {
		compilers[compiler].cc, "-std=c11",
		"-D_POSIX_C_SOURCE=200809L", "-O1", "-fPIC", "-Iemu/include",
		"-c", source, "-o", object, NULL
	};
	int i;

	for (i = 0; i < 3; i++) {
		object_of(object, compiler, i);
		(void)snprintf(source, sizeof(source), "emu/tn_emu_%s.c",
			       runtime[i]);
		if (access(object, R_OK) != 0)
			assert_int_equal(run_in(folder, argv), 0);
	}
}

/* False: there is no such compiler. */
static bool build(const char *folder, const char *name, int compiler)
{
	const char *cc = compilers[compiler].cc;
	char host[300], side[300], object[3][300];
	const char *const as_c[] = {
		cc, "-std=c11", HOST_WARNINGS, "-O1", "-fPIC",
		"-Iemu/include", "-c", host, "-o", "host.o", NULL
	};
	const char *const as_cxx[] = {
		compilers[compiler].cxx, "-std=c++11", "-Wall", "-Wextra",
		"-Werror", "-O1", "-ffp-contract=off", "-fno-exceptions",
		"-fPIC", "-Iemu", "-Iemu/include", "-c", side, "-o",
		"side.o", NULL
	};
	const char *const as_all[] = {
		cc, "-shared", "host.o", "side.o", object[0], object[1],
		object[2], "-o", "it.so", "-lm", "-lpthread", NULL
	};
	int status, i;

	(void)snprintf(host, sizeof(host), "%s_host.c", name);
	(void)snprintf(side, sizeof(side), "%s_emu.cpp", name);
	status = run_in(folder, as_c);
	if (status == 127)
		return false;
	assert_int_equal(status, 0);
	assert_int_equal(run_in(folder, as_cxx), 0);
	build_runtime(folder, compiler);
	for (i = 0; i < 3; i++)
		object_of(object[i], compiler, i);
	assert_int_equal(run_in(folder, as_all), 0);
	return true;
}

static void remove_folder(const char *folder)
{
	const char *const argv[] = { "rm", "-rf", folder, NULL };

	if (!getenv("KEEP_EMITTED"))
		(void)run_in("/", argv);
	else
		print_message("kept %s\n", folder);
}

int cuda_setup(void **state)
{
	(void)state;
	return mkdtemp(cuda_objects) ? 0 : -1;
}

int cuda_teardown(void **state)
{
	(void)state;
	remove_folder(cuda_objects);
	return 0;
}

/* ---- Running ---- */

/* The part of NAME.h that is the same for all names. */
struct report {
	int fault, op;
	uint32_t flags;
	const char *device;
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

struct program {
	void *library;
	int (*init)(struct context *, const void *, size_t);
	void (*fini)(struct context *);
	int (*run)(const struct context *, const void *const *, int64_t *,
		   void *const *, void *);
	int (*run_device)(const struct context *, const void *const *,
			  int64_t *, void *const *, void *, void *);
	size_t (*output_bytes)(int, const int64_t *);
	const char *(*place)(int);
	int (*allocate)(void **, size_t);
	int (*release)(void *);
	int (*copy)(void *, const void *, size_t, int);
	size_t arena, workspace;	/* bytes */
};

static void find(struct program *p, const char *name, const char *suffix,
		 void *to, size_t size)
{
	char text[300];
	void *address;

	(void)snprintf(text, sizeof(text), "%s_%s", name ? name : "", suffix);
	address = dlsym(p->library, name ? text : suffix);
	assert_non_null(address);
	memcpy(to, &address, size);
}

/* The value of a constant NAME_<word> of the header. */
static size_t constant(const struct tn_emission *e, const char *word)
{
	const char *at = NULL;
	char text[300];
	int i;

	(void)snprintf(text, sizeof(text), "#define %s_%s INT64_C(", e->name,
		       word);
	for (i = 0; i < e->count && !at; i++)
		at = strstr(tn_buf_text(&e->files[i].text), text);
	assert_non_null(at);
	return (size_t)strtoll(at + strlen(text), NULL, 10);
}

static void load(struct program *p, const char *folder,
		 const struct tn_emission *e)
{
	const char *name = e->name;
	char path[4200];

	path_of(path, folder, "it.so");
	p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!p->library)
		print_message("%s\n", dlerror());
	assert_non_null(p->library);
	find(p, name, "init", &p->init, sizeof(p->init));
	find(p, name, "fini", &p->fini, sizeof(p->fini));
	find(p, name, "run", &p->run, sizeof(p->run));
	find(p, name, "output_bytes", &p->output_bytes,
	     sizeof(p->output_bytes));
	find(p, name, "place", &p->place, sizeof(p->place));
	find(p, name, "run_device", &p->run_device, sizeof(p->run_device));
	find(p, NULL, "cudaMalloc", &p->allocate, sizeof(p->allocate));
	find(p, NULL, "cudaFree", &p->release, sizeof(p->release));
	find(p, NULL, "cudaMemcpy", &p->copy, sizeof(p->copy));
	p->arena = constant(e, "ARENA_BYTES");
	p->workspace = constant(e, "WORKSPACE_BYTES");
}

static bool is_same(const struct cuda_case *c, const struct tn_tensor *want,
		    const struct tn_tensor *have, int64_t i)
{
	size_t size = (size_t)tn_dtype_bytes(want->dtype);
	double x, y;

	if (!memcmp((char *)want->data + (size_t)i * size,
		    (char *)have->data + (size_t)i * size, size))
		return true;
	if (!tn_dtype_is(want->dtype, TN_KIND_F))
		return false;
	x = tn_tensor_get_f64(want, i);
	y = tn_tensor_get_f64(have, i);
	if (x != x || y != y)
		return x != x && y != y;
	return x == y || fabs(x - y) <= c->tolerance * (1 + fabs(x));
}

static void compare(const struct cuda_case *c, const struct tn_tensor *want,
		    void *got, int number)
{
	struct tn_tensor have = *want;
	int64_t i, n = tn_tensor_count(want);

	have.data = got;
	for (i = 0; i < n; i++)
		if (!is_same(c, want, &have, i))
			fail_msg("%s: output %d[%lld]: want %.9g, have %.9g",
				 c->name, number, (long long)i,
				 tn_tensor_get_f64(want, i),
				 tn_tensor_get_f64(&have, i));
}

/* The ways to run: NAME_run allocates, NAME_run gets a workspace,
 * NAME_run_device. */
enum way { ALLOCATES, GETS, ON_DEVICE, WAYS };

static void *device(struct program *p, const void *from, size_t size)
{
	void *to = NULL;

	assert_int_equal(p->allocate(&to, size + 1), 0);
	if (from && size)
		assert_int_equal(p->copy(to, from, size, 1), 0);
	return to;
}

static int run_on_device(struct program *p, const struct context *context,
			 const struct answer *a, int64_t *dims,
			 void *const *out)
{
	void *in[MOST], *places[MOST], *work = device(p, NULL, p->arena);
	size_t size;
	int i, status;

	for (i = 0; i < a->nin; i++)
		in[i] = device(p, a->in[i].data,
			       (size_t)tn_tensor_bytes(&a->in[i]));
	for (i = 0; i < a->nout; i++)
		places[i] = device(p, NULL,
				   (size_t)tn_tensor_bytes(&a->out[i]));
	status = p->run_device(context, (const void *const *)in, dims, places,
			       work, NULL);
	for (i = 0; i < a->nout; i++) {
		size = (size_t)tn_tensor_bytes(&a->out[i]);
		if (size)
			assert_int_equal(p->copy(out[i], places[i], size, 2),
					 0);
		assert_int_equal(p->release(places[i]), 0);
	}
	for (i = 0; i < a->nin; i++)
		assert_int_equal(p->release(in[i]), 0);
	assert_int_equal(p->release(work), 0);
	return status;
}

static int run_one(struct program *p, const struct context *context,
		   const struct answer *a, int64_t *dims, void *const *out,
		   enum way way)
{
	const void *in[MOST];
	void *work = NULL;
	int i, status;

	if (way == ON_DEVICE)
		return run_on_device(p, context, a, dims, out);
	for (i = 0; i < a->nin; i++)
		in[i] = a->in[i].data;
	if (way == GETS)
		work = device(p, NULL, p->workspace);
	status = p->run(context, in, dims, out, work);
	if (work)
		assert_int_equal(p->release(work), 0);
	return status;
}

static void check_report(const struct cuda_case *c, const struct program *p,
			 const struct answer *a, int status,
			 const struct report *report)
{
	if (status == 4)
		print_message("%s: %s\n", c->name, report->device);
	assert_int_equal(status, a->flags ? 3 : 0);
	assert_int_equal(report->flags, a->flags);
	assert_int_equal(report->fault, -1);
	assert_int_equal(report->op >= 0, a->flags != 0);
	if (a->flags)
		assert_non_null(p->place(report->op));
}

static void run_way(const struct cuda_case *c, struct program *p,
		    struct answer *a, const struct context *context,
		    enum way way)
{
	void *out[MOST] = { NULL };
	int64_t dims[MOST];
	size_t size;
	int i, status;

	for (i = 0; i < a->ndims; i++)
		dims[i] = a->is_runtime[i] ? -1 : a->dims[i];
	for (i = 0; i < a->nout; i++) {
		size = (size_t)tn_tensor_bytes(&a->out[i]);
		out[i] = malloc(size + 64);
		assert_non_null(out[i]);
		memset(out[i], 0xee, size + 64);
	}
	status = run_one(p, context, a, dims, out, way);
	check_report(c, p, a, status, context->report);
	for (i = 0; i < a->ndims; i++)
		assert_int_equal(dims[i], a->dims[i]);
	for (i = 0; i < a->nout; i++) {
		size = (size_t)tn_tensor_bytes(&a->out[i]);
		assert_int_equal(p->output_bytes(i, dims), size);
		assert_int_equal(((unsigned char *)out[i])[size], 0xee);
		compare(c, &a->out[i], out[i], i);
		free(out[i]);
	}
}

/* What must be refused: sizes out of bounds, other weights, a workspace that
 * is not the device's. */
static void run_refused(struct program *p, struct answer *a,
			struct context *context, const struct tn_buf *weights)
{
	struct context other;
	const void *in[MOST] = { NULL };
	void *out[MOST] = { NULL };
	int64_t dims[MOST] = { -5 }, host[64] = { 0 };

	if (a->ndims && !a->is_runtime[0]) {
		assert_int_equal(p->run(context, in, dims, out, NULL), 1);
		assert_int_equal(context->report->fault, 0);
		assert_int_equal(p->run_device(context, in, dims, out, NULL,
					       NULL), 1);
	}
	if (weights->len)
		assert_int_equal(p->init(&other, weights->data,
					 weights->len - 1), 2);
	memcpy(dims, a->dims, sizeof(dims));
	in[0] = a->in[0].data;
	if (tn_tensor_bytes(&a->in[0]) == 0)
		return;
	assert_int_equal(p->run(context, in, dims, out, host), 4);
	assert_non_null(context->report->device);
}

static void run_program(const struct cuda_case *c, struct program *p,
			struct answer *a, const struct tn_buf *weights)
{
	struct report report;
	struct context context;
	int way;

	assert_int_equal(p->init(&context, weights->data, weights->len), 0);
	context.report = &report;
	for (way = 0; way < WAYS; way++)
		run_way(c, p, a, &context, (enum way)way);
	run_refused(p, a, &context, weights);
	p->fini(&context);
}

static void emit(const struct cuda_case *c, const char *arch, bool optimise,
		 struct cuda_module *m, struct tn_emission *e)
{
	enum tn_status status;

	cuda_read(m, c->text);
	cuda_lower(m, arch, optimise);
	status = tn_emit_cuda(m->module, m->fn, c->name,
			      tn_target_cuda(arch), e);
	if (status != TN_OK)
		show(&m->sink);
	assert_int_equal(status, TN_OK);
}

static void check_one(const struct cuda_case *c, struct answer *a,
		      int compiler, bool optimise)
{
	char folder[] = "/tmp/tn_cuda_XXXXXX";
	struct tn_emission e;
	struct tn_buf weights;
	struct cuda_module m;
	struct program p;

	emit(c, "sm_80", optimise, &m, &e);
	assert_non_null(mkdtemp(folder));
	tn_buf_init(&weights);
	write_files(&e, folder, &weights);
	if (build(folder, e.name, compiler)) {
		load(&p, folder, &e);
		run_program(c, &p, a, &weights);
		assert_int_equal(dlclose(p.library), 0);
	}
	remove_folder(folder);
	tn_buf_fini(&weights);
	tn_emission_fini(&e);
	cuda_close(&m);
}

void cuda_check(const struct cuda_case *c)
{
	struct answer a;

	ask(c, &a);
	assert_int_equal(a.flags, c->flags);
	check_one(c, &a, 0, true);
	check_one(c, &a, 1, false);
	forget(&a);
}

bool cuda_nvcc(const struct cuda_case *c)
{
	static const char *const arches[] = { "sm_80", "sm_90" };
	static const char usual[] = "/usr/local/cuda/bin/nvcc";
	char folder[] = "/tmp/tn_cuda_XXXXXX", arch[32], source[300];
	const char *argv[] = {
		getenv("NVCC") ? getenv("NVCC") : access(usual, X_OK) ?
			"nvcc" : usual,
		arch, "-fmad=false", "-Werror", "all-warnings", "-Xcompiler",
		"-Wall,-Wextra,-Werror", "-c", source, "-o", "it.o", NULL
	};
	struct tn_emission e;
	struct tn_buf weights;
	struct cuda_module m;
	int i, status = 0;

	for (i = 0; i < 2 && status != 127; i++) {
		memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
		emit(c, arches[i], true, &m, &e);
		assert_non_null(mkdtemp(folder));
		tn_buf_init(&weights);
		write_files(&e, folder, &weights);
		(void)snprintf(arch, sizeof(arch), "-arch=%s", arches[i]);
		(void)snprintf(source, sizeof(source), "%s.cu", e.name);
		status = run_in(folder, argv);
		assert_true(status == 0 || status == 127);
		remove_folder(folder);
		tn_buf_fini(&weights);
		tn_emission_fini(&e);
		cuda_close(&m);
	}
	return status != 127;
}

void cuda_refuses(const char *text, const char *message)
{
	struct cuda_module m;
	struct tn_emission e;
	struct tn_buf said;

	cuda_read(&m, text);
	cuda_lower(&m, "sm_80", true);
	assert_int_equal(tn_emit_cuda(m.module, m.fn, "model",
				      tn_target_cuda("sm_80"), &e),
			 TN_UNSUPPORTED);
	assert_int_equal(m.sink.errors, 1);
	tn_buf_init(&said);
	tn_sink_render(&m.sink, &said, false);
	if (!strstr(tn_buf_text(&said), "E0906") ||
	    !strstr(tn_buf_text(&said), message))
		fail_msg("%s", tn_buf_text(&said));
	tn_buf_fini(&said);
	tn_emission_fini(&e);
	cuda_close(&m);
}

char *cuda_text(const char *text, const char *ending)
{
	struct cuda_case c = { .name = "model", .text = text };
	struct tn_emission e;
	struct cuda_module m;
	char *found = NULL;
	int i;

	emit(&c, "sm_80", true, &m, &e);
	for (i = 0; i < e.count; i++) {
		const char *name = e.files[i].name;
		size_t n = strlen(name), k = strlen(ending);

		if (n < k || strcmp(name + n - k, ending) || found)
			continue;
		found = malloc(e.files[i].text.len + 1);
		assert_non_null(found);
		memcpy(found, tn_buf_text(&e.files[i].text),
		       e.files[i].text.len + 1);
	}
	assert_non_null(found);
	tn_emission_fini(&e);
	cuda_close(&m);
	return found;
}

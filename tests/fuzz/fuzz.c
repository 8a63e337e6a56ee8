/*
 * Modules of generate.py, each taken through sets of passes and held against
 * the interpreter.
 *
 *   fuzz [-v] [--inputs N] FILE               interpreted after each pass
 *   fuzz [-v] [--inputs N] --compile FILE     compiled by the C back end
 *   fuzz                                      only checks its sets of passes
 *
 * FILE holds modules, each behind a line `#% SEED`. The sets of passes are a
 * pairwise covering array: for any two optional passes, one set has both, one
 * neither, and one each alone. In between, `check-each` compares bit by bit.
 * A module that fails is named, with the pass and what was wrong.
 *
 * Compiled code is held against the interpreter after the passes that drop what
 * is not read or does not matter (`v <= v`), which then need not raise the flag;
 * that these keep the results is what the first form tells. Results whose names end in _x
 * must be the same bits, those in _r near the interpreter's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/tenon.h"

/* The optional passes, in the order of the pipeline; a set is a mask. `layout`
 * draws layouts from the module's seed, for %s. The last entry takes the module
 * all the way to placed kernels. */
static const char *const passes[] = {
	"unroll", "fold", "simplify", "canonical", "cse",
	"siblings,precompute", "dce", "sink,fuse", "layout{seed=%s}",
	"lower,schedule,plan"
};
#define NPASSES ((int)(sizeof(passes) / sizeof(passes[0])))
#define NROWS 7

struct run {
	const char *inputs;	/* of check-each */
	bool verbose, compiles;
	int modules, failed, skipped, runs;
};

/* ---- Sets of passes ------------------------------------------------------ */

/*
 * Row 0 is empty, the last is full. Of the five between, each pass is in three,
 * and no two passes in the same three: then any two share one, and each is
 * once without the other.
 */
static bool is_in_row(int pass, int row)
{
	static const unsigned threes[] = {
		07, 013, 023, 015, 025, 031, 016, 026, 032, 034
	};

	if (row == 0 || row == NROWS - 1)
		return row > 0;
	return threes[pass] >> (row - 1) & 1;
}

/* That it covers what it says. */
static bool covers(void)
{
	int a, b, row, seen;

	for (a = 0; a < NPASSES; a++)
		for (b = 0; b < a; b++) {
			seen = 0;
			for (row = 0; row < NROWS; row++)
				seen |= 1 << (2 * is_in_row(a, row) +
					      is_in_row(b, row));
			if (seen != 15)
				return false;
		}
	return true;
}

static void put_row(int row, const char *seed, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "infer,inline");
	const char *hole;
	int i, head;

	for (i = 0; i < NPASSES; i++) {
		if (!is_in_row(i, row))
			continue;
		hole = strstr(passes[i], "%s");
		head = (int)(hole ? (size_t)(hole - passes[i]) :
			     strlen(passes[i]));
		n += (size_t)snprintf(out + n, size - n, ",%.*s", head,
				      passes[i]);
		if (hole)
			n += (size_t)snprintf(out + n, size - n, "%.20s%s",
					      seed, hole + 2);
	}
}

/* ---- Interpreted --------------------------------------------------------- */

static void put_messages(struct tenon_context *context)
{
	char *text;

	if (tenon_context_messages(context, TENON_PLAIN, &text) == TENON_OK)
		fputs(text, stdout);
	tenon_text_free(text);
}

/* Whether a module is beyond what can be compared: nothing fits its guards. */
struct reason {
	bool is_empty;
};

static void see_message(void *data, const struct tenon_message *message)
{
	struct reason *reason = data;

	if (!strcmp(message->code, "E0027"))
		reason->is_empty = true;
}

/* 0 good, 1 bad, -1 nothing to compare. */
static int run_row(const struct run *run, const char *seed, const char *text,
		   size_t size, int row)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_module *module = NULL;
	struct reason reason = { false };
	enum tenon_status status;
	char list[256], name[64];
	int result;

	put_row(row, seed, list, sizeof(list));
	snprintf(name, sizeof(name), "fuzz-%s.tn", seed);
	tenon_context_on_message(context, see_message, &reason);
	tenon_context_set(context, "passes", list);
	tenon_context_set(context, "check-each", run->inputs);
	tenon_context_set(context, "verify-each", "yes");
	status = tenon_parse_text(context, name, text, size, &module);
	if (status == TENON_OK)
		status = tenon_module_run_passes(module);
	result = reason.is_empty ? -1 : status != TENON_OK;
	if (result > 0) {
		printf("FAIL %s: status %d with --passes=%s\n", seed,
		       (int)status, list);
		put_messages(context);
	}
	tenon_module_free(module);
	tenon_context_free(context);
	return result;
}

static void interpret(struct run *run, const char *seed, const char *text,
		      size_t size)
{
	int row, result = 0;

	for (row = 0; row < NROWS && result == 0; row++) {
		result = run_row(run, seed, text, size, row);
		run->runs++;
	}
	run->failed += result > 0;
	run->skipped += result < 0;
}

/* ---- Compiled ------------------------------------------------------------ */

/* One module on one target. */
struct side {
	struct tenon_context *context;
	struct tenon_module *module;
	struct tenon_engine *engine;
	struct tenon_call *call;
};

/* All passes, with layouts drawn from the seed. */
static void set_layouts(struct tenon_context *context, const char *seed)
{
	char list[256];

	put_row(NROWS - 1, seed, list, sizeof(list));
	tenon_context_set(context, "passes", list);
}

static enum tenon_status open_side(struct side *side, const char *target,
				   const char *seed, const char *text,
				   size_t size)
{
	enum tenon_status status;
	char name[64];

	memset(side, 0, sizeof(*side));
	snprintf(name, sizeof(name), "fuzz-%s.tn", seed);
	side->context = tenon_context_new();
	status = tenon_context_set(side->context, "target", target);
	tenon_context_set(side->context, "threads", "2");
	tenon_context_set(side->context, "cache", "none");
	if (!strcmp(target, "ref"))
		tenon_context_set(side->context, "passes", "infer,inline,"
				  "unroll,fold,simplify,canonical,cse,"
				  "precompute,dce");
	else if (atoi(seed) % 2)
		set_layouts(side->context, seed);
	if (status == TENON_OK)
		status = tenon_parse_text(side->context, name, text, size,
					  &side->module);
	if (status == TENON_OK)
		status = tenon_engine_make(side->module, &side->engine);
	if (status == TENON_OK)
		status = tenon_call_new(side->engine, &side->call);
	return status;
}

static void close_side(struct side *side)
{
	tenon_call_free(side->call);
	tenon_engine_free(side->engine);
	tenon_module_free(side->module);
	tenon_context_free(side->context);
}

/* Inputs of set `set`, and sizes within what generate.py declares. */
static enum tenon_status run_side(struct side *side, int set, const char *text)
{
	static const char *const forms[] = {
		"special:%d", "special:%d", "special:%d", "special:%d"
	};
	const char *at = text;
	char form[32], name[32];
	enum tenon_status status = TENON_OK;
	int i;

	for (i = 0; i < tenon_engine_inputs(side->engine); i++) {
		snprintf(form, sizeof(form), forms[set % 4], set + 4 * i);
		status = tenon_call_input_text(side->call,
				tenon_engine_input_name(side->engine, i),
				form);
		if (status != TENON_OK)
			return status;
	}
	while ((at = strstr(at, "\ndim "))) {
		at += 5;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "),
			 at);
		status = tenon_call_dim(side->call, name, name[0] == 'N' ?
					(set * 2 + 1) % 6 : set % 4 + 1);
	}
	return status == TENON_OK ? tenon_call_run(side->call) : status;
}

static double element(const struct tenon_tensor *t, int64_t at)
{
	if (t->dtype == TENON_F64)
		return ((const double *)t->data)[at];
	return t->dtype == TENON_F32 ? (double)((const float *)t->data)[at] :
		0;
}

/* Near for what rounds: relative to the largest finite value of the result.
 * What is not finite follows from an overflow, which order may move. */
static bool is_near(const struct tenon_tensor *a, const struct tenon_tensor *b,
		    int64_t *at)
{
	int64_t count = tenon_tensor_count(a);
	double most = 0, rtol = a->dtype == TENON_F64 ? 1e-7 : 2e-4, x, y;

	*at = 0;
	if (a->dtype != TENON_F32 && a->dtype != TENON_F64)
		return true;
	for (; *at < count; ++*at) {
		x = fabs(element(a, *at));
		if (isfinite(x) && x > most)
			most = x;
	}
	for (*at = 0; *at < count; ++*at) {
		x = element(a, *at);
		y = element(b, *at);
		if (isfinite(x) && isfinite(y) &&
		    fabs(x - y) > rtol * (most + 1))
			return false;
	}
	return true;
}

static bool same_output(const struct side *a, const struct side *b, int i,
			int64_t *at)
{
	const char *name = tenon_engine_output_name(a->engine, i);
	const struct tenon_tensor *x = tenon_call_output(a->call, i);
	const struct tenon_tensor *y = tenon_call_output(b->call, i);
	struct tenon_difference d;

	if (name[strlen(name) - 1] == 'r')
		return is_near(x, y, at);
	if (!tenon_tensor_compare(x, y, 0, 0, 0, &d))
		return false;
	*at = d.where;
	return d.beyond == 0;
}

static bool same_outputs(const struct side *a, const struct side *b,
			 const char *seed, int set)
{
	int n = tenon_engine_outputs(a->engine), i;
	bool good = true;
	int64_t at = -1;

	for (i = 0; i < n; i++) {
		if (same_output(a, b, i, &at))
			continue;
		printf("FAIL %s: compiled, output %s, element %lld, inputs %d\n",
		       seed, tenon_engine_output_name(a->engine, i),
		       (long long)at, set);
		good = false;
	}
	return good;
}

static bool compare_sets(struct run *run, struct side *a, struct side *b,
			 const char *seed, const char *text)
{
	int sets = atoi(run->inputs), set;
	enum tenon_status one, other;
	bool good = true;

	for (set = 0; set < sets && good; set++) {
		one = run_side(a, set, text);
		other = run_side(b, set, text);
		run->runs++;
		if (one != other) {
			printf("FAIL %s: compiled, status %d and not %d, "
			       "inputs %d\n", seed, (int)other, (int)one, set);
			put_messages(a->context);
			put_messages(b->context);
			return false;
		}
		if (one == TENON_OK || one == TENON_NO)
			good = same_outputs(a, b, seed, set);
	}
	return good;
}

static void compile(struct run *run, const char *seed, const char *text,
		    size_t size)
{
	struct side a, b;
	enum tenon_status status = open_side(&a, "ref", seed, text, size);
	enum tenon_status other = open_side(&b, "c", seed, text, size);

	if (status != TENON_OK || other != TENON_OK) {
		printf("FAIL %s: status %d, compiled %d\n", seed,
		       (int)status, (int)other);
		put_messages(b.context);
		run->failed++;
	} else if (!compare_sets(run, &a, &b, seed, text)) {
		run->failed++;
	}
	close_side(&b);
	close_side(&a);
}

/* ---- Files ---------------------------------------------------------------- */

static char *read_file(const char *path)
{
	FILE *from = fopen(path, "rb");
	char *text = NULL;
	long size;

	if (!from)
		return NULL;
	if (!fseek(from, 0, SEEK_END) && (size = ftell(from)) >= 0) {
		rewind(from);
		text = malloc((size_t)size + 1);
		if (text)
			text[fread(text, 1, (size_t)size, from)] = '\0';
	}
	fclose(from);
	return text;
}

/* Each module behind a line `#% SEED`. */
static void run_modules(struct run *run, char *text)
{
	char *at = strstr(text, "#% "), *next, *body;

	for (; at; at = next) {
		next = strstr(at + 3, "\n#% ");
		if (next)
			*next++ = '\0';
		body = strchr(at, '\n');
		if (!body)
			return;
		*body++ = '\0';
		run->modules++;
		if (run->verbose) {
			printf("# %s\n", at + 3);
			fflush(stdout);
		}
		if (run->compiles)
			compile(run, at + 3, body, strlen(body));
		else
			interpret(run, at + 3, body, strlen(body));
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct run run = { .inputs = "4" };
	char *text;
	int i;

	for (i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-v"))
			run.verbose = true;
		else if (!strcmp(argv[i], "--compile"))
			run.compiles = true;
		else if (!strcmp(argv[i], "--inputs"))
			run.inputs = argv[++i];
	if (!covers()) {
		puts("not ok 1 - the sets of passes do not cover all pairs");
		return 1;
	}
	if (argc == 1) {
		puts("1..1\nok 1 - the sets of passes cover all pairs");
		return 0;
	}
	text = i < argc ? read_file(argv[i]) : NULL;
	if (!text) {
		fputs("usage: fuzz [-v] [--inputs N] [--compile] FILE\n",
		      stderr);
		return 2;
	}
	run_modules(&run, text);
	free(text);
	printf("%d modules, %d runs, %d failed, %d without inputs\n",
	       run.modules, run.runs, run.failed, run.skipped);
	return run.failed || !run.modules;
}

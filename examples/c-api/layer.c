/*
 * Builds y = relu(x @ w + b) with calls, compiles it, runs it for two batch
 * sizes, and checks the numbers.
 *
 *     layer [TARGET]      TARGET: ref, c, c:avx2, ... [c]
 *
 *     cc -std=c11 layer.c $(pkg-config --cflags --libs tenon) -o layer
 */
#include <stdio.h>

#include <tenon.h>

enum { IN = 3, OUT = 2, MOST = 4 };

static float w[IN][OUT] = { { 1, 2 }, { 3, -4 }, { -5, 6 } };
static float b[OUT] = { 0.5f, -1 };

/* A tensor over an array of ours. */
static struct tenon_tensor view(float *data, int rank, int64_t n, int64_t m)
{
	struct tenon_tensor t = { TENON_F32, rank, { n, m }, data, false };

	return t;
}

/* The graph: what `layer.tn` would say in text. */
static enum tenon_status build(struct tenon_context *context,
			       struct tenon_module **module)
{
	struct tenon_builder *g = tenon_builder_new(context, "layer");
	struct tenon_tensor w_data = view(&w[0][0], 2, IN, OUT);
	struct tenon_tensor b_data = view(b, 1, OUT, 0);
	enum tenon_status status;
	int x, product, sum, y, weight, bias;

	tenon_builder_dim(g, "B", 1, MOST);
	x = tenon_builder_input(g, "x", TENON_F32, "B, 3");
	weight = tenon_builder_weight(g, "w", &w_data);
	bias = tenon_builder_weight(g, "b", &b_data);
	product = tenon_builder_op2(g, "matmul", x, weight);
	sum = tenon_builder_op2(g, "add", product, bias);
	y = tenon_builder_op(g, "relu", "y", 1, &sum, NULL);
	tenon_builder_result(g, "y", y, TENON_F32, "B, 2");
	status = tenon_builder_finish(g, module);
	tenon_builder_free(g);
	return status;
}

static float expected(const float *x, int column)
{
	float sum = b[column];
	int k;

	for (k = 0; k < IN; k++)
		sum += x[k] * w[k][column];
	return sum > 0 ? sum : 0;
}

/* One run with `rows` rows; false if a number is wrong. */
static bool run(struct tenon_call *call, int64_t rows)
{
	float data[MOST][IN] = { { 1, 2, 3 }, { 4, 0, -1 }, { 0, 0, 0 },
				 { -2, 5, 1 } };
	struct tenon_tensor x = view(&data[0][0], 2, rows, IN);
	const struct tenon_tensor *y;
	int64_t i;
	char *text;

	if (tenon_call_input(call, "x", &x) != TENON_OK ||
	    tenon_call_run(call) != TENON_OK)
		return false;
	y = tenon_call_output(call, 0);
	if (tenon_tensor_print(y, &text) == TENON_OK)
		printf("%s\n", text);
	tenon_text_free(text);
	for (i = 0; i < rows * OUT; i++)
		if (((const float *)y->data)[i] !=
		    expected(data[i / OUT], (int)(i % OUT)))
			return false;
	return y->rank == 2 && y->shape[0] == rows && y->shape[1] == OUT;
}

static bool compile_and_run(struct tenon_context *context)
{
	struct tenon_module *module = NULL;
	struct tenon_engine *engine = NULL;
	struct tenon_call *call = NULL;
	bool good = false;
	char *text;

	if (build(context, &module) == TENON_OK &&
	    tenon_module_print(module, &text) == TENON_OK) {
		fputs(text, stdout);
		tenon_text_free(text);
		if (tenon_engine_make(module, &engine) == TENON_OK &&
		    tenon_call_new(engine, &call) == TENON_OK)
			good = run(call, 1) && run(call, MOST);
	}
	tenon_call_free(call);
	tenon_engine_free(engine);
	tenon_module_free(module);
	return good;
}

int main(int argc, char **argv)
{
	struct tenon_context *context = tenon_context_new();
	bool good = false;
	char *text;

	if (!context)
		return 6;
	if (tenon_context_set(context, "target", argc > 1 ? argv[1] : "c") ==
	    TENON_OK)
		good = compile_and_run(context);
	if (tenon_context_messages(context, TENON_PLAIN, &text) == TENON_OK)
		fputs(text, stderr);
	tenon_text_free(text);
	tenon_context_free(context);
	return good ? 0 : 1;
}

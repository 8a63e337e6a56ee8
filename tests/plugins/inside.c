/*
 * A plug-in inside of a program: its table is handed over, not loaded. What
 * came from it goes with its context, and two contexts share nothing.
 */
#include <stdio.h>
#include <string.h>

#include "driver/tenon-plugin.h"
#include "driver/tenon.h"

static const char text[] =
	"tenon 1.0;\n"
	"fn f(x: f32[2]) -> (y: f32[2]) {\n"
	"\ty = half(x) - x;\n"
	"\treturn y;\n"
	"}\n";

static const char ops[] =
	"tenon 1.0;\n"
	"op half<T: float>(x: T[*P]) -> T[*P] { return x / 2; }\n";

/* x - y becomes x + -y. */
static void run(struct tenon_pass *pass)
{
	struct tenon_op *op, *next;
	struct tenon_value *in[2];

	for (op = tenon_pass_first(pass); op; op = next) {
		next = tenon_op_next(op);
		if (!tenon_op_is(op, "sub") ||
		    !tenon_pass_spend(pass, "sub", op))
			continue;
		in[0] = tenon_op_input(op, 0);
		in[1] = tenon_op_input(op, 1);
		in[1] = tenon_build(pass, op, "neg", 1, &in[1], NULL);
		tenon_replace(pass, op, tenon_build(pass, op, "add", 2, in,
						    NULL));
	}
}

static const struct tenon_plugin_pass passes[] = {
	{ "no-sub", "differences become sums", NULL, TENON_CORE, 0,
	  TENON_CANONICAL, run }
};

static const struct tenon_plugin table = {
	TENON_PLUGIN_ABI, "inside", passes, 1, NULL, 0, ops, NULL
};
static const struct tenon_plugin old = {
	TENON_PLUGIN_ABI - 1, "old", NULL, 0, NULL, 0, NULL, NULL
};

static int failed;

static void check(int number, bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", number, what);
	failed += !good;
}

/* y of x = { 2, 8 } after the passes; false: any call failed. */
static bool is_right(struct tenon_context *context)
{
	float x[] = { 2, 8 }, y[2] = { 0, 0 };
	struct tenon_tensor tensor = { .dtype = TENON_F32, .rank = 1,
				       .shape = { 2 }, .data = x };
	struct tenon_module *module;
	struct tenon_engine *engine;
	struct tenon_call *call;

	tenon_context_set(context, "target", "ref");
	tenon_context_set(context, "passes", "infer,inline,no-sub");
	tenon_parse_text(context, "f.tn", text, strlen(text), &module);
	tenon_engine_make(module, &engine);
	tenon_call_new(engine, &call);
	tenon_call_input(call, "x", &tensor);
	if (tenon_call_run(call) == TENON_OK)
		memcpy(y, tenon_call_output(call, 0)->data, sizeof(y));
	tenon_call_free(call);
	tenon_engine_free(engine);
	tenon_module_free(module);
	return y[0] == -1 && y[1] == -4;
}

int main(void)
{
	struct tenon_context *with = tenon_context_new();
	struct tenon_context *without = tenon_context_new();
	struct tenon_module *module;
	char *list;

	printf("1..7\n");
	check(1, tenon_context_plugin(with, &table) == TENON_OK, "handed over");
	check(2, tenon_context_plugin(with, &table) == TENON_BAD_INPUT,
	      "not twice");
	check(3, tenon_context_plugin(with, &old) == TENON_BAD_INPUT,
	      "no other version");
	check(4, tenon_context_plugin(NULL, &table) == TENON_USAGE &&
	      tenon_context_plugin(with, NULL) == TENON_USAGE, "no context");
	check(5, is_right(with), "its operator and its pass");
	tenon_list(with, "passes", false, &list);
	check(6, list && strstr(list, "no-sub         differences"), "listed");
	tenon_text_free(list);
	check(7, tenon_parse_text(without, "f.tn", text, strlen(text),
				  &module) == TENON_BAD_INPUT,
	      "another context has not heard of it");
	tenon_module_free(module);
	tenon_context_free(with);
	tenon_context_free(without);
	return failed != 0;
}

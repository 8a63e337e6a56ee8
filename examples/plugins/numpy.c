/* A back end in another language: the function as Python with numpy. It takes
 * primitives (TENON_STAGE_CORE) and refuses by name those it does not know. */
#include <tenon-plugin.h>

static const char *const known[][2] = {
	{ "add", "add" }, { "sub", "subtract" }, { "mul", "multiply" },
	{ "div", "divide" }, { "max", "maximum" }, { "pow", "power" },
	{ "tanh", "tanh" }, { "matmul", "matmul" }, { NULL, "float32" }
};

static void put(struct tenon_emission *out, const char *before,
		struct tenon_value *value)
{
	tenon_emission_printf(out, "%sv_%s", before,
			      tenon_emission_identifier(out, value));
}

static void put_op(struct tenon_emission *out, const struct tenon_op *op)
{
	struct tenon_value *result = tenon_op_output(op, 0);
	int i;

	put(out, "    ", result);
	for (i = 0; known[i][0] && !tenon_op_is(op, known[i][0]); i++)
		continue;
	if (!known[i][0] && tenon_value_elements(result) != 1)
		tenon_emission_fail(out, op, "numpy.c does not know it");
	tenon_emission_printf(out, " = np.%s(", known[i][1]);
	if (!known[i][0])
		tenon_emission_printf(out, "%.9g",
				      tenon_value_element(result, 0));
	for (i = 0; i < tenon_op_inputs(op); i++)
		put(out, i ? ", " : "", tenon_op_input(op, i));
	tenon_emission_put(out, ")\n");
}

static void emit(struct tenon_emission *out)
{
	struct tenon_op *op = tenon_emission_first(out);
	int i;

	tenon_emission_file(out, ".py");
	tenon_emission_put(out, "import numpy as np\n\n\ndef run(");
	for (i = 0; i < tenon_emission_inputs(out); i++)
		put(out, i ? ", " : "", tenon_emission_input(out, i));
	tenon_emission_put(out, "):\n");
	for (; tenon_op_next(op); op = tenon_op_next(op))
		put_op(out, op);
	put(out, "    return ", tenon_op_input(op, 0));
	tenon_emission_put(out, "\n");
}

static const struct tenon_plugin_backend backends[] = {
	{ "numpy", "Python with numpy", TENON_STAGE_CORE, 0, 0, 0, 0, emit }
};

const struct tenon_plugin tenon_plugin = {
	TENON_PLUGIN_ABI, "numpy", NULL, 0, backends, 1, NULL, NULL
};

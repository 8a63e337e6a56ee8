/*
 * A back end at the other end: a table in Markdown of the kernels that a
 * function became (TENON_STAGE_PLACED), in the order of their launches.
 */
#include <tenon-plugin.h>

static void put_op(struct tenon_emission *out, const struct tenon_op *op)
{
	char *type = tenon_value_print_type(tenon_op_output(op, 0));
	int i;

	tenon_emission_printf(out, "| `%s` |", tenon_op_kernel(op));
	for (i = 0; i < tenon_op_inputs(op); i++)
		tenon_emission_printf(out, "%s `%s`", i ? "," : "",
				      tenon_value_name(tenon_op_input(op, i)));
	tenon_emission_printf(out, " | `%s` | `%s` |\n",
			      tenon_value_name(tenon_op_output(op, 0)), type);
	tenon_text_free(type);
}

static void emit(struct tenon_emission *out)
{
	struct tenon_op *op;

	tenon_emission_file(out, ".md");
	tenon_emission_printf(out, "# Kernels of %s\n\n"
			      "| kernel | reads | makes | of type |\n"
			      "|---|---|---|---|\n", tenon_emission_fn(out));
	for (op = tenon_emission_first(out); op; op = tenon_op_next(op))
		if (tenon_op_kernel(op))
			put_op(out, op);
}

static const struct tenon_plugin_backend backends[] = {
	{ "kernels", "a table of kernels in Markdown", TENON_STAGE_PLACED, 0,
	  1, 32, 16, emit }
};

const struct tenon_plugin tenon_plugin = {
	TENON_PLUGIN_ABI, "kernels", NULL, 0, backends, 1, NULL, NULL
};

/* Everything that plug-ins can ask of a graph, written to a file. */
#include <tenon-plugin.h>

static void text(struct tenon_emission *out, const char *what, char *taken)
{
	tenon_emission_printf(out, " %s=%s", what, taken ? taken : "none");
	tenon_text_free(taken);
}

static void ints(struct tenon_emission *out, const struct tenon_op *op,
		 const char *name)
{
	int64_t list[4];
	int n = tenon_op_ints(op, name, list, 4), i;

	for (i = 0; i < n && i < 4; i++)
		tenon_emission_printf(out, "%s%s%lld", i ? "," : " ", i ? "" :
				      name, (long long)list[i]);
	if (n > 4)
		tenon_emission_printf(out, "..%d", n);
}

static void attributes(struct tenon_emission *out, const struct tenon_op *op)
{
	const char *word = tenon_op_text(op, "mode");
	int64_t number;
	double real;

	if (tenon_op_int(op, "axis", &number))
		tenon_emission_printf(out, " axis=%d", (int)number);
	if (tenon_op_int(op, "keep", &number))
		tenon_emission_printf(out, " keep=%d", (int)number);
	if (tenon_op_int(op, "to", &number))
		tenon_emission_printf(out, " to=%d", (int)number);
	if (tenon_op_real(op, "hi", &real))
		tenon_emission_printf(out, " hi=%g", real);
	if (tenon_op_text(op, "elem"))
		tenon_emission_printf(out, " elem=%s",
				      tenon_op_text(op, "elem"));
	tenon_emission_printf(out, "%s%s", word ? " mode=" : "", word ? word :
			      "");
	ints(out, op, "axes");
	ints(out, op, "shape");
	ints(out, op, "pad");
}

static void value(struct tenon_emission *out, struct tenon_value *v)
{
	const struct tenon_op *from = tenon_value_op(v);

	tenon_emission_printf(out, "%s(%s)", tenon_value_name(v),
			      tenon_emission_identifier(out, v));
	text(out, "type", tenon_value_print_type(v));
	tenon_emission_printf(out, " %s rank=%d sizes=%d,%d from=%s weight=%d "
			      "uses=%d first=%s elements=%d last=%g\n",
			      tenon_value_dtype(v), tenon_value_rank(v),
			      (int)tenon_value_size(v, 0),
			      (int)tenon_value_size(v, 1),
			      from ? tenon_op_name(from) : "none",
			      tenon_value_is_weight(v), tenon_value_uses(v),
			      tenon_op_name(tenon_value_user(v, 0)) ?
			      tenon_op_name(tenon_value_user(v, 0)) : "none",
			      (int)tenon_value_elements(v),
			      tenon_value_element(v,
						  tenon_value_elements(v) - 1));
}

static void block(struct tenon_emission *out, const struct tenon_op *op,
		  int depth)
{
	int i, k;

	for (; op; op = tenon_op_next(op)) {
		tenon_emission_printf(out, "%*s%s in=%d out=%d call=%d",
				      2 * depth, "", tenon_op_name(op),
				      tenon_op_inputs(op),
				      tenon_op_outputs(op),
				      tenon_op_is_call(op));
		attributes(out, op);
		tenon_emission_put(out, "\n   ");
		text(out, "line", tenon_op_print(op));
		tenon_emission_put(out, "\n");
		for (i = 0; i < tenon_op_inputs(op); i++)
			if (tenon_value_is_weight(tenon_op_input(op, i)))
				value(out, tenon_op_input(op, i));
		for (i = 0; i < tenon_op_outputs(op); i++)
			value(out, tenon_op_output(op, i));
		for (i = 0; i < tenon_op_regions(op); i++) {
			for (k = 0; k < tenon_op_region_inputs(op, i); k++)
				value(out, tenon_op_region_input(op, i, k));
			block(out, tenon_op_region(op, i), depth + 1);
		}
	}
}

/* What cannot be is answered, not followed. */
static void nothing(struct tenon_emission *out)
{
	int64_t list[1];

	tenon_emission_printf(out, "nothing: %d %d %d %d %d %d %d %d %d\n",
			      tenon_op_next(NULL) != NULL,
			      tenon_op_input(NULL, 0) != NULL,
			      tenon_value_name(NULL) != NULL,
			      (int)tenon_value_size(NULL, 0),
			      (int)tenon_value_elements(NULL),
			      tenon_op_ints(NULL, "axes", list, 1),
			      tenon_op_kernel_print(NULL) != NULL,
			      tenon_emission_input(out, -1) != NULL,
			      (int)tenon_emission_offset(out, NULL));
}

static void emit(struct tenon_emission *out)
{
	int i;

	tenon_emission_file(out, ".txt");
	tenon_emission_printf(out, "%s: %s\n", tenon_emission_name(out),
			      tenon_emission_fn(out));
	for (i = 0; i < tenon_emission_inputs(out); i++) {
		tenon_emission_printf(out, "offset=%d ",
			(int)tenon_emission_offset(out,
				tenon_emission_input(out, i)));
		value(out, tenon_emission_input(out, i));
	}
	block(out, tenon_emission_first(out), 0);
	nothing(out);
	tenon_emission_file(out, ".more");
	tenon_emission_put(out, "a second file\n");
}

/* The kernels of a placed function. */
static void emit_kernels(struct tenon_emission *out)
{
	const struct tenon_op *op = tenon_emission_first(out);
	char *kernel;
	int i;

	tenon_emission_file(out, ".txt");
	for (; op; op = tenon_op_next(op)) {
		for (i = 0; i < tenon_op_inputs(op); i++)
			tenon_emission_printf(out, "%s at %d\n",
				tenon_value_name(tenon_op_input(op, i)),
				(int)tenon_emission_offset(out,
					tenon_op_input(op, i)));
		kernel = tenon_op_kernel_print(op);
		tenon_emission_put(out, kernel);
		tenon_text_free(kernel);
	}
}

static const struct tenon_plugin_backend backends[] = {
	{ "tour", "all there is to see", TENON_STAGE_TEXT, false, false, 0, 0,
	  emit },
	{ "tour-core", "the same of primitives", TENON_STAGE_CORE, false, false,
	  0, 0, emit },
	{ "tour-kernels", "kernels", TENON_STAGE_PLACED, true, false, 0, 0,
	  emit_kernels }
};

const struct tenon_plugin tenon_plugin = {
	TENON_PLUGIN_ABI, "tour", NULL, 0, backends, 3, NULL, NULL
};

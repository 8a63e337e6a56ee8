/* A pass: powers of whole numbers become products. Each product rounds, `pow`
 * rounds once, so it asks for the licence @fp(afn), as `--fp=afn` gives it.
 *
 *   y = pow(x, 3.0);   ->   t = x * x; y = t * x;        */
#include <tenon-plugin.h>

/* The whole number that the value is everywhere, or -1. */
static int whole(const struct tenon_value *value, int64_t most)
{
	int n = (int)most;

	if (tenon_value_elements(value) != 1)
		return -1;
	while (n >= 0 && tenon_value_element(value, 0) != n)
		n--;
	return n;
}

static void visit(struct tenon_pass *pass, struct tenon_op *op, int64_t most)
{
	struct tenon_value *x = tenon_op_input(op, 0), *product = x, *in[2];
	int n = whole(tenon_op_input(op, 1), most);

	if (n < 2 || !tenon_pass_may(pass, "afn") ||
	    !tenon_value_is_same_type(x, tenon_op_output(op, 0))) {
		tenon_pass_miss(pass, "product", op, n < 2 ?
				"the exponent is no small whole number" :
				"floats keep their bits");
		return;
	}
	if (!tenon_pass_spend(pass, "product", op))
		return;
	for (in[1] = x; n > 1; n--) {
		in[0] = product;
		product = tenon_build(pass, op, "mul", 2, in, NULL);
	}
	tenon_replace(pass, op, product);
}

static void run(struct tenon_pass *pass)
{
	int64_t most = tenon_pass_option(pass, 4);
	struct tenon_op *op, *next;

	for (op = tenon_pass_first(pass); op; op = next) {
		next = tenon_op_next(op);
		if (tenon_op_is(op, "pow"))
			visit(pass, op, most);
	}
}

static const struct tenon_plugin_pass passes[] = {
	{ "powers", "powers of small whole numbers become products", "limit",
	  TENON_CORE, 0, TENON_CANONICAL, run }
};

const struct tenon_plugin tenon_plugin = {
	TENON_PLUGIN_ABI, "powers", passes, 1, NULL, 0, NULL, NULL
};

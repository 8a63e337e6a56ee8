/* Everything that plug-ins can build and change: each `abs` becomes a long
 * way round to the same value. */
#include <tenon-plugin.h>

static struct tenon_value *one(struct tenon_pass *pass, struct tenon_op *op,
			       const char *name, struct tenon_value *x,
			       const char *attributes)
{
	return tenon_build(pass, op, name, 1, &x, attributes);
}

/* x of [2, 3]: padded, cut, resized, cast there and back; then its absolute
 * value, or 0 where a sum of it, stretched again, is less than itself. */
static void detour(struct tenon_pass *pass, struct tenon_op *op)
{
	struct tenon_value *x = tenon_op_input(op, 0), *v, *in[2];

	if (!tenon_pass_spend(pass, NULL, op))
		return;
	v = one(pass, op, "pad", x, "pad=[[1, 0], [0, 2]]");
	v = one(pass, op, "slice", v, "start=[1, 0], stop=[3, 3], step=[1, 1]");
	v = one(pass, op, "cast", v, "elem=f64");
	v = one(pass, op, "cast", v, "elem = f32");
	in[0] = one(pass, op, "abs", v, "");
	v = one(pass, op, "sum", in[0], "axes=[0, 1], keep=true");
	v = one(pass, op, "reshape", v, "shape=[]");
	v = tenon_build_shaped(pass, op, "broadcast", v, x);
	in[1] = tenon_build_number(pass, op, x, 0);
	v = tenon_build(pass, op, "lt", 2,
			(struct tenon_value *[]){ v, v }, NULL);
	in[1] = tenon_build(pass, op, "select", 3,
			    (struct tenon_value *[]){ v, in[1], in[0] }, NULL);
	v = tenon_build(pass, op, "random", 0, NULL,
			"elem=f32, shape=[2, 3], seed=-1, lo=-2.5, hi=1e3");
	tenon_erase(pass, tenon_value_op(v));
	tenon_replace(pass, op, tenon_build(pass, op, "max", 2, in, NULL));
}

/* Both results of topk, exchanged for those of another one. */
static void again(struct tenon_pass *pass, struct tenon_op *op)
{
	struct tenon_value *x = tenon_op_input(op, 0), *v, *both[2];
	struct tenon_op *made;

	if (!tenon_pass_spend(pass, "again", op))
		return;
	v = one(pass, op, "topk", x, "k=2, axis=1, largest=true");
	made = tenon_value_op(v);
	both[0] = tenon_op_output(made, 0);
	both[1] = tenon_op_output(made, 1);
	tenon_replace_all(pass, op, 2, both);
}

static void run(struct tenon_pass *pass)
{
	struct tenon_op *op, *next;

	for (op = tenon_pass_first(pass); op; op = next) {
		next = tenon_op_next(op);
		if (tenon_op_is(op, "abs") && tenon_value_op(
					tenon_op_input(op, 0)) == NULL)
			detour(pass, op);
		else if (tenon_op_is(op, "topk") && tenon_pass_option(pass, 0))
			again(pass, op);
		else
			tenon_pass_miss(pass, NULL, op, tenon_pass_fn(pass));
	}
}

static const struct tenon_plugin_pass passes[] = {
	{ "edit", "the long way round", "topk", TENON_CORE, 0,
	  TENON_CANONICAL, run }
};

const struct tenon_plugin tenon_plugin = {
	TENON_PLUGIN_ABI, "edit", passes, 1, NULL, 0, NULL, NULL
};

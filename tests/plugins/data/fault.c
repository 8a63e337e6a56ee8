/* A plug-in with the fault FAULT; see ../faults.test. */
#include <tenon-plugin.h>

enum {
	NONE, ABI, NO_NAME, TAKEN_PASS, TAKEN_TARGET, NO_RUN, GIVE_UP,
	OTHER_TYPE, NO_SPEND, TOO_EARLY, NO_PRIMITIVE, ILL_TYPED,
	BAD_ATTRIBUTE, STILL_READ, NO_FILE, NULL_VALUE, FOLDER, TEXT_FIRST,
	END_GONE, WRONG_INPUT, ODD_STAGE, ALL_IS_WELL, BREAKS_CORE
};

int missing_function(void);

/* A file whose table is spoilt when it is loaded is not worth a test: what is
 * const here is checked, the rest is the plug-in's word. */
static void fault(struct tenon_pass *pass, struct tenon_op *op)
{
	struct tenon_value *x = tenon_op_input(op, 0), *none = NULL, *made;
	struct tenon_value *last = tenon_op_output(tenon_op_next(op), 0);

	if (FAULT == NO_SPEND) {
		tenon_set_input(pass, op, 0, tenon_op_input(op, 1));
		return;
	}
	if (!tenon_pass_spend(pass, "fault", op))
		return;
	if (FAULT == GIVE_UP)
		tenon_pass_fail(pass, op, "this is not for me");
	if (FAULT == OTHER_TYPE)
		tenon_replace(pass, op, tenon_build_number(pass, op, x, 1));
	if (FAULT == TOO_EARLY)
		tenon_set_input(pass, op, 0, last);
	if (FAULT == NO_PRIMITIVE)
		tenon_replace(pass, op, tenon_build(pass, op, "softmax", 1, &x,
						    "axis=0"));
	if (FAULT == ILL_TYPED)
		tenon_replace(pass, op, tenon_build(pass, op, "not", 1, &x,
						    NULL));
	if (FAULT == BAD_ATTRIBUTE)
		tenon_build(pass, op, "sum", 1, &x, "axes=[0], keep=7 8");
	if (FAULT == STILL_READ)
		tenon_erase(pass, op);
	if (FAULT == NULL_VALUE)
		tenon_build(pass, op, "neg", 1, &none, NULL);
	if (FAULT == WRONG_INPUT)
		tenon_set_input(pass, op, 2, x);
	if (FAULT == END_GONE) {
		while (tenon_op_next(op))
			op = tenon_op_next(op);
		tenon_erase(pass, op);
	}
	if (FAULT == ALL_IS_WELL) {
		made = tenon_build(pass, op, "mul", 2,
				   (struct tenon_value *[]){ x, x }, NULL);
		tenon_replace(pass, op, made);
	}
}

static void run(struct tenon_pass *pass)
{
	struct tenon_op *op, *next;

	for (op = tenon_pass_first(pass); op; op = next) {
		next = tenon_op_next(op);
		if (tenon_op_is(op, "add"))
			fault(pass, op);
	}
}

static void emit(struct tenon_emission *out)
{
	if (FAULT == FOLDER)
		tenon_emission_file(out, "/../x");
	if (FAULT == TEXT_FIRST)
		tenon_emission_put(out, "text");
#ifdef MISSING
	tenon_emission_printf(out, "%d", missing_function());
#endif
}

static const struct tenon_plugin_pass passes[] = {
	{ FAULT == TAKEN_PASS ? "fold" : FAULT == NO_NAME ? "" : "spoil",
	  "spoils the module", "times", TENON_CORE,
	  FAULT == BREAKS_CORE ? TENON_KERNELS : 0, 0,
	  FAULT == NO_RUN ? 0 : run }
};

static const struct tenon_plugin_backend backends[] = {
	{ FAULT == TAKEN_TARGET ? "cuda" : "empty", "writes nothing",
	  FAULT == ODD_STAGE ? (enum tenon_stage)7 : TENON_STAGE_TEXT, false,
	  false, 0, 0, emit }
};

#ifndef OPS
#define OPS 0
#endif
#ifndef RULES
#define RULES 0
#endif

#ifndef NO_TABLE
const struct tenon_plugin tenon_plugin = {
	FAULT == ABI ? 99 : TENON_PLUGIN_ABI, "fault", passes, 1, backends, 1,
	OPS, RULES
};
#endif

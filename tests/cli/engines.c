/*
 * Engines in one process: each runs its own code, whatever others are loaded
 * or were; and what is wrong with a call is a status and a message.
 */
#include <stdio.h>
#include <string.h>

#include "driver/tenon.h"

#define ENGINES 8

struct made {
	struct tenon_module *module;
	struct tenon_engine *engine;
	struct tenon_call *call;
};

static void drop(struct made *m)
{
	tenon_call_free(m->call);
	tenon_engine_free(m->engine);
	tenon_module_free(m->module);
	*m = (struct made){0};
}

/* y = x * factor. */
static enum tenon_status make(struct tenon_context *context, int factor,
			      struct made *m)
{
	enum tenon_status status;
	char text[160];

	snprintf(text, sizeof(text), "tenon 1.0;\nfn f(x: f32[2]) -> "
		 "(y: f32[2]) {\n  y = x * %d;\n  return y;\n}\n", factor);
	status = tenon_parse_text(context, "f.tn", text, strlen(text),
				  &m->module);
	if (status == TENON_OK)
		status = tenon_engine_make(m->module, &m->engine);
	if (status == TENON_OK)
		status = tenon_call_new(m->engine, &m->call);
	if (status == TENON_OK)
		status = tenon_call_input_text(m->call, "x", "2xf32=1 2");
	return status;
}

static int answers(const struct made *m, int factor)
{
	const struct tenon_tensor *y;
	const float *data;

	if (tenon_call_run(m->call) != TENON_OK)
		return 0;
	y = tenon_call_output(m->call, 0);
	data = y->data;
	return data[0] == (float)factor && data[1] == (float)(2 * factor);
}

static int run(struct tenon_context *context)
{
	struct made made[ENGINES] = {{0}};
	int i, bad = 0;

	for (i = 0; i < ENGINES; i++)
		bad |= make(context, i + 1, &made[i]) != TENON_OK;
	for (i = ENGINES; i-- > 0 && !bad;)
		bad |= !answers(&made[i], i + 1);
	for (i = 0; i < ENGINES; i += 2)
		drop(&made[i]);
	for (i = 0; i < ENGINES && !bad; i += 2)
		bad |= make(context, 10 + i, &made[i]) != TENON_OK ||
			!answers(&made[i], 10 + i) ||
			!answers(&made[i + 1], i + 2);
	for (i = 0; i < ENGINES; i++)
		drop(&made[i]);
	return bad;
}

int main(int argc, char **argv)
{
	struct tenon_context *context = tenon_context_new();
	char *text = NULL;
	int bad;

	if (!context)
		return 1;
	tenon_context_set(context, "cache", "none");
	if (argc > 1)
		tenon_context_set(context, "target", argv[1]);
	if (argc > 2)
		tenon_context_set(context, "emulate", argv[2]);
	bad = run(context);
	tenon_context_messages(context, TENON_PLAIN, &text);
	if (bad)
		printf("engines differ from what was made\n%s",
		       text ? text : "");
	tenon_text_free(text);
	tenon_context_free(context);
	return bad;
}

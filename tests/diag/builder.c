/*
 * Misuse of the builder of tenon.h: a mistake is kept, gives -1, and comes out
 * of finish as E0025, or as what the language says of the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/tenon.h"

static int count, failed;

/* Whether finishing fails with the status and a message of this code. */
static void check(const char *name, struct tenon_context *context,
		  struct tenon_builder *builder, enum tenon_status want,
		  const char *code)
{
	struct tenon_module *module = NULL;
	char *text = NULL;
	bool ok;

	ok = tenon_builder_finish(builder, &module) == want && !module;
	if (tenon_context_messages(context, TENON_PLAIN, &text) != TENON_OK ||
	    !strstr(text, code))
		ok = false;
	printf("%sok %d - %s\n", ok ? "" : "not ", ++count, name);
	failed += !ok;
	tenon_text_free(text);
	tenon_module_free(module);
	tenon_builder_free(builder);
	tenon_context_free(context);
}

static void foreign_value(void)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_builder *b = tenon_builder_new(context, "f");
	int x = tenon_builder_input(b, "x", TENON_F32, "4");

	if (tenon_builder_op2(b, "add", x, 99) != -1)
		failed++;
	tenon_builder_result(b, "y", x, TENON_F32, "4");
	check("a value that is none of its own", context, b, TENON_USAGE,
	      "E0025");
}

static void wrong_operator(void)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_builder *b = tenon_builder_new(context, "f");
	int x = tenon_builder_input(b, "x", TENON_F32, "4");
	int y = tenon_builder_op2(b, "matmull", x, x);

	tenon_builder_result(b, "y", y, TENON_F32, "");
	check("an operator that there is not", context, b, TENON_BAD_INPUT,
	      "E0202");
}

int main(void)
{
	foreign_value();
	wrong_operator();
	printf("1..%d\n", count);
	return failed > 0;
}

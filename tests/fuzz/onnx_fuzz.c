/*
 * Hostile ONNX files: whatever the bytes, the importer takes them or refuses
 * them with a message, in bounded time and memory.
 *
 *   onnx_fuzz [FILE or FOLDER...]   each file once [tests/onnx/corpus]
 *
 * With -DTN_FUZZER this is the target of libFuzzer instead of a program
 * (scripts/fuzz-onnx.sh). A file that is taken has to print as text that reads
 * back. Anything else aborts: that is what a fuzzer looks for.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/tenon.h"

static void fault(const char *what)
{
	fprintf(stderr, "onnx_fuzz: %s\n", what);
	abort();
}

/* ---- One file --------------------------------------------------------------- */

/* What is refused has a reason, and the reason an exit that fits. */
static void check_refused(const struct tenon_context *context,
			  enum tenon_status status)
{
	if (status != TENON_BAD_INPUT && status != TENON_UNSUPPORTED &&
	    status != TENON_IO)
		fault("a status that no file explains");
	if (!tenon_context_errors(context))
		fault("refused without a message");
}

/* Its text reads back; weights have no file to come from, and need none. */
static void check_taken(struct tenon_context *context,
			struct tenon_module *module)
{
	struct tenon_module *again;
	char *text, *messages;

	if (tenon_module_print(module, &text) != TENON_OK)
		fault("no memory to print");
	if (tenon_parse_text(context, "printed.tn", text, strlen(text),
			     &again) != TENON_OK) {
		if (tenon_context_messages(context, TENON_PLAIN, &messages) ==
		    TENON_OK)
			fputs(messages, stderr);
		fault("what was printed does not read back");
	}
	tenon_module_free(again);
	tenon_text_free(text);
}

static void import(const char *path)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_module *module;
	enum tenon_status status;
	char *messages;

	if (!context)
		fault("no memory");
	status = tenon_parse_file(context, path, &module);
	if (status == TENON_OK)
		check_taken(context, module);
	else
		check_refused(context, status);
	tenon_module_free(module);
	if (tenon_context_messages(context, TENON_PLAIN, &messages) ==
	    TENON_OK)
		tenon_text_free(messages);
	tenon_context_free(context);
}

/* ---- Bytes that a fuzzer makes ------------------------------------------------ */

#ifdef TN_FUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* TN_FUZZ_FOLDER is a folder in memory, of this process alone. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = getenv("TN_FUZZ_FOLDER");
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/m.onnx", folder ? folder : ".");
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		fault("the file cannot be written");
	import(path);
	return 0;
}

#else

/* ---- Files that it found -------------------------------------------------------- */

static int files;

static void one(const char *path)
{
	import(path);
	files++;
}

static void all(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char path[4096];
	size_t n;

	if (!dir) {
		one(folder);
		return;
	}
	while ((entry = readdir(dir))) {
		n = strlen(entry->d_name);
		if (n < 5 || strcmp(entry->d_name + n - 5, ".onnx") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		one(path);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	const char *top = getenv("SRCDIR");
	char path[4096];
	int i;

	for (i = 1; i < argc; i++)
		all(argv[i]);
	if (argc == 1) {
		snprintf(path, sizeof(path), "%s/tests/onnx/corpus",
			 top ? top : ".");
		all(path);
	}
	printf("%d files\n", files);
	return files ? 0 : 1;
}

#endif

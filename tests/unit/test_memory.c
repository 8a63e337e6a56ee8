/*
 * Out of memory: each scenario is run with its first allocation refused, then
 * its second, and so on until it passes. It must fail cleanly every time;
 * built with the sanitizers, it must leak nothing either.
 *
 * The linker sends malloc and its kin here (see local.mk). Where the library
 * is not linked in statically that has no effect, and the test skips.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/intern.h"
#include "driver/tensorfile.h"

/* Calls left before one is refused; negative: none is. */
static long countdown = -1;
static long calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int is_refused(void)
{
	calls++;
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_refused() ? NULL : __real_realloc(old, size);
}

/* Runs until a run meets no refusal, which must be a success. */
static void run_all(bool (*scenario)(void))
{
	long n;

	calls = 0;
	assert_true(scenario());
	if (calls == 0)
		skip();
	for (n = 0; n < 10000; n++) {
		bool ok;

		countdown = n;
		ok = scenario();
		if (countdown >= 0) {
			countdown = -1;
			assert_true(ok);
			return;
		}
		assert_false(ok);
	}
	fail_msg("it never passed");
}

static bool do_containers(void)
{
	static char keys[200][4];
	struct tn_intern pool;
	struct tn_map map;
	struct tn_vec vec;
	bool ok = true;
	size_t i;

	tn_intern_init(&pool);
	tn_map_init_ptr(&map);
	tn_vec_init(&vec, 8, NULL);
	for (i = 0; i < 200; i++) {
		keys[i][0] = (char)('a' + i % 26);
		keys[i][1] = (char)('a' + i / 26);
		ok = ok && tn_intern_text(&pool, keys[i]) &&
			tn_map_set(&map, keys[i], keys[i]) &&
			tn_vec_push(&vec);
	}
	for (i = 0; i < map.len; i++)
		ok = ok && tn_map_find(&map, keys[i]) == keys[i];
	tn_vec_fini(&vec);
	tn_map_fini(&map);
	tn_intern_fini(&pool);
	return ok;
}

static void test_containers(void **state)
{
	(void)state;
	run_all(do_containers);
}

static void report(struct tn_sink *sink, uint32_t file)
{
	int i;

	for (i = 0; i < 30; i++) {
		struct tn_span span = {file, 0, 1};
		struct tn_diag *diag = tn_diag_report(sink, TN_E0101, span,
						      "%2000d", i);

		tn_diag_label(sink, diag, "%2000d", i);
		tn_diag_also(sink, diag, span, "also");
		tn_diag_note(sink, diag, "%2000d", i);
		tn_diag_help(sink, diag, "help");
		tn_diag_fix(sink, diag, span, "fix");
	}
}

/* The sink must say so itself, in both forms, if memory was short. */
static bool do_diag(void)
{
	struct tn_sink sink;
	struct tn_buf text, json;
	bool ok;

	tn_sink_init(&sink);
	tn_buf_init(&text);
	tn_buf_init(&json);
	report(&sink, tn_sink_add_source(&sink, "a.tn", "a b", 3));
	assert_int_equal(sink.errors, 30);
	tn_sink_render(&sink, &text, true);
	tn_sink_render_json(&sink, &json);
	ok = !sink.failed && !text.failed && !json.failed;
	if (sink.failed && !text.failed)
		assert_non_null(strstr(tn_buf_text(&text), "E0001"));
	if (sink.failed && !json.failed)
		assert_non_null(strstr(tn_buf_text(&json), "E0001"));
	tn_buf_fini(&json);
	tn_buf_fini(&text);
	tn_sink_fini(&sink);
	return ok;
}

static void test_diag(void **state)
{
	(void)state;
	run_all(do_diag);
}

static const char *const paths[] = {
	"test_memory.npy", "test_memory.npz", "test_memory.safetensors",
};

static bool do_write(void)
{
	static float values[6] = {1, 2, 3, 4, 5, 6};
	struct tn_tensor tensor;
	struct tn_tensorfile_item items[2] = {{"a", &tensor}, {"b", &tensor}};
	struct tn_buf error;
	enum tn_status npy, npz;

	tn_buf_init(&error);
	tn_tensor_view(&tensor, TN_f32, 2, (int64_t[]){2, 3}, values);
	npy = tn_tensorfile_write_npy(paths[0], &tensor, &error);
	npz = tn_tensorfile_write_npz(paths[1], items, 2, &error);
	tn_buf_fini(&error);
	assert_true(npy == TN_OK || npy == TN_IO);
	return npy == TN_OK && (npz == TN_OK || npz == TN_UNSUPPORTED);
}

static void test_write(void **state)
{
	(void)state;
	run_all(do_write);
	unlink(paths[0]);
	unlink(paths[1]);
}

static bool do_read_one(const char *path)
{
	enum tn_status status = TN_OK;
	struct tn_tensorfile *file;
	struct tn_tensor tensor;
	struct tn_buf error;
	size_t i;

	tn_buf_init(&error);
	file = tn_tensorfile_open(path, &status, &error);
	for (i = 0; file && !status && i < tn_tensorfile_count(file); i++)
		status = tn_tensorfile_find(file, tn_tensorfile_key(file, i),
					    TN_f32, &tensor, &error);
	tn_tensorfile_close(file);
	tn_buf_fini(&error);
	return status == TN_OK || status == TN_UNSUPPORTED;
}

static bool do_read(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < 3; i++)
		ok = do_read_one(paths[i]) && ok;
	return ok;
}

/* A big-endian .npy and a misaligned tensor, so that copies are made. */
static void test_read(void **state)
{
	static const char npy[] = "\x93NUMPY\1\0\x3c\0{'descr': '>f4', "
		"'fortran_order': True, 'shape': (1,)}     \nabcd";
	static const char safe[] = "\x39\0\0\0\0\0\0\0{\"x\":{\"dtype\":"
		"\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}   abcd";

	(void)state;
	assert_true(do_write());
	assert_int_equal(tn_file_write(paths[0], npy, sizeof(npy) - 1), 0);
	assert_int_equal(tn_file_write(paths[2], safe, sizeof(safe) - 1), 0);
	run_all(do_read);
	unlink(paths[0]);
	unlink(paths[1]);
	unlink(paths[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_diag),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

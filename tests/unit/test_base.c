/*
 * Containers, text, SHA-256 and files of src/base, at their edges. Numbers are
 * tested in test_num.c, diagnostics in test_diag.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/vec.h"

/* ---- Arena ----------------------------------------------------------- */

static void test_arena_objects(void **state)
{
	struct tn_arena arena;
	unsigned char *last = NULL;
	size_t i, j;

	(void)state;
	tn_arena_init(&arena);
	for (i = 0; i < 5000; i++) {
		unsigned char *at = tn_arena_alloc(&arena, i % 300);

		assert_non_null(at);
		assert_ptr_not_equal(at, last);
		assert_int_equal((uintptr_t)at % _Alignof(max_align_t), 0);
		for (j = 0; j < i % 300; j++)
			assert_int_equal(at[j], 0);
		memset(at, 0xff, i % 300);
		last = at;
	}
	assert_false(arena.failed);
	tn_arena_fini(&arena);
	assert_null(arena.head);
	assert_int_equal(arena.used, 0);
	assert_non_null(tn_arena_alloc(&arena, 1));
	tn_arena_fini(&arena);
}

/* A large request must not throw away the room left in the head. */
static void test_arena_large(void **state)
{
	struct tn_arena arena;
	char *before, *large, *after;

	(void)state;
	tn_arena_init(&arena);
	before = tn_arena_alloc(&arena, 16);
	large = tn_arena_alloc(&arena, (size_t)5 << 20);
	after = tn_arena_alloc(&arena, 16);
	assert_non_null(before);
	assert_non_null(large);
	memset(large, 1, (size_t)5 << 20);
	assert_ptr_equal(after, before + 16);
	tn_arena_fini(&arena);
	large = tn_arena_alloc(&arena, (size_t)2 << 20);
	assert_non_null(large);
	assert_non_null(tn_arena_alloc(&arena, 16));
	tn_arena_fini(&arena);
}

static void test_arena_overflow(void **state)
{
	static const size_t sizes[] = {
		SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 16,
		SIZE_MAX - 40, SIZE_MAX / 2 + 1,
	};
	struct tn_arena arena;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		tn_arena_init(&arena);
		assert_null(tn_arena_alloc(&arena, sizes[i]));
		assert_true(arena.failed);
		assert_non_null(tn_arena_alloc(&arena, 8));
		assert_true(arena.failed);
		tn_arena_fini(&arena);
		assert_false(arena.failed);
	}
	assert_null(tn_arena_array(&arena, SIZE_MAX / 8 + 1, 8));
	assert_null(tn_arena_array(&arena, 8, SIZE_MAX / 8 + 1));
	assert_null(tn_arena_strndup(&arena, "", SIZE_MAX));
	assert_true(arena.failed);
	assert_non_null(tn_arena_array(&arena, SIZE_MAX, 0));
	tn_arena_fini(&arena);
}

static void test_arena_text(void **state)
{
	struct tn_arena arena;
	char *text, *large;
	size_t i;

	(void)state;
	tn_arena_init(&arena);
	assert_string_equal(tn_arena_strndup(&arena, "abcdef", 3), "abc");
	assert_string_equal(tn_arena_strndup(&arena, NULL, 0), "");
	assert_memory_equal(tn_arena_copy(&arena, "a\0b", 4), "a\0b", 4);
	assert_non_null(tn_arena_copy(&arena, NULL, 0));
	text = tn_arena_printf(&arena, "%d %s %.2f", 7, "x", 0.5);
	assert_string_equal(text, "7 x 0.50");
	large = tn_arena_printf(&arena, "%9000d", 1);
	assert_int_equal(strlen(large), 9000);
	for (i = 0; i < 8999; i++)
		assert_int_equal(large[i], ' ');
	tn_arena_fini(&arena);
}

/* ---- Vector ---------------------------------------------------------- */

static void vec_fill(struct tn_vec *vec)
{
	int i;

	for (i = 0; i < 10000; i++) {
		int *at = tn_vec_push(vec);

		assert_non_null(at);
		assert_int_equal(*at, 0);
		*at = i;
	}
	for (i = 0; i < 10000; i++)
		assert_int_equal(*(int *)tn_vec_at(vec, (size_t)i), i);
	tn_vec_pop(vec);
	assert_int_equal(vec->len, 9999);
	assert_int_equal(*(int *)tn_vec_push(vec), 0);
}

static void test_vec(void **state)
{
	struct tn_arena arena;
	struct tn_vec vec;
	int x, y;

	(void)state;
	tn_arena_init(&arena);
	tn_vec_init(&vec, sizeof(int), NULL);
	vec_fill(&vec);
	tn_vec_fini(&vec);
	assert_int_equal(vec.len, 0);
	tn_vec_init(&vec, sizeof(int), &arena);
	vec_fill(&vec);
	tn_vec_fini(&vec);
	tn_arena_fini(&arena);

	tn_vec_init(&vec, sizeof(void *), NULL);
	assert_true(tn_vec_push_ptr(&vec, &x));
	assert_true(tn_vec_push_ptr(&vec, NULL));
	assert_true(tn_vec_push_ptr(&vec, &y));
	assert_ptr_equal(tn_vec_ptr(&vec, 0), &x);
	assert_null(tn_vec_ptr(&vec, 1));
	assert_ptr_equal(tn_vec_ptr(&vec, 2), &y);
	assert_false(tn_vec_reserve(&vec, SIZE_MAX));
	assert_false(tn_vec_reserve(&vec, SIZE_MAX / 8));
	assert_int_equal(vec.len, 3);
	assert_ptr_equal(tn_vec_ptr(&vec, 2), &y);
	assert_true(tn_vec_reserve(&vec, 1000));
	assert_true(vec.cap >= 1000);
	tn_vec_fini(&vec);
}

/* ---- Map and names --------------------------------------------------- */

#define KEYS 20000

static void test_map_text(void **state)
{
	static char keys[KEYS][16];
	struct tn_map map;
	char other[16];
	size_t i;

	(void)state;
	tn_map_init_text(&map);
	assert_null(tn_map_find(&map, "k0"));
	assert_false(tn_map_has(&map, ""));
	for (i = 0; i < KEYS; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%zu", i * 7919 % KEYS);
		assert_true(tn_map_set(&map, keys[i], keys[i]));
	}
	assert_int_equal(map.len, KEYS);
	for (i = 0; i < KEYS; i++) {
		snprintf(other, sizeof(other), "k%zu", i);
		assert_string_equal(tn_map_find(&map, other), other);
		assert_ptr_equal(map.entries[i].key, keys[i]);
		snprintf(other, sizeof(other), "j%zu", i);
		assert_false(tn_map_has(&map, other));
	}
	assert_true(tn_map_set(&map, "k5", NULL));
	assert_int_equal(map.len, KEYS);
	assert_true(tn_map_has(&map, "k5"));
	assert_null(tn_map_find(&map, "k5"));
	assert_string_equal(tn_map_find_n(&map, "k123456", 4), "k123");
	assert_null(tn_map_find_n(&map, "k", 1));
	assert_true(tn_map_set(&map, "", keys));
	assert_ptr_equal(tn_map_find_n(&map, "k", 0), keys);
	tn_map_fini(&map);
	assert_null(tn_map_find(&map, "k6"));
	tn_map_fini(&map);
}

static void test_map_ptr(void **state)
{
	static int objects[KEYS];
	struct tn_map map;
	size_t i;

	(void)state;
	tn_map_init_ptr(&map);
	assert_true(tn_map_set(&map, NULL, &map));
	for (i = 0; i < KEYS; i++)
		assert_true(tn_map_set(&map, &objects[i], &objects[i]));
	assert_ptr_equal(tn_map_find(&map, NULL), &map);
	for (i = 0; i < KEYS; i++) {
		assert_ptr_equal(tn_map_find(&map, &objects[i]), &objects[i]);
		assert_ptr_equal(map.entries[i + 1].key, &objects[i]);
	}
	assert_false(tn_map_has(&map, (char *)&objects[0] + 1));
	tn_map_fini(&map);
}

static void test_intern(void **state)
{
	struct tn_intern pool;
	const char *a, *b;
	char text[16];
	int i;

	(void)state;
	tn_intern_init(&pool);
	a = tn_intern_add(&pool, "weight", 6);
	assert_ptr_equal(tn_intern_add(&pool, "weights", 6), a);
	assert_ptr_equal(tn_intern_text(&pool, "weight"), a);
	b = tn_intern_text(&pool, "weights");
	assert_ptr_not_equal(a, b);
	assert_string_equal(b, "weights");
	assert_ptr_equal(tn_intern_add(&pool, "weight\0x", 8), a);
	assert_ptr_equal(tn_intern_text(&pool, ""),
			 tn_intern_add(&pool, "x", 0));
	for (i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "n%d", i);
		assert_string_equal(tn_intern_text(&pool, text), text);
	}
	assert_ptr_equal(tn_intern_text(&pool, "weight"), a);
	tn_intern_fini(&pool);
}

/* ---- Buffer ---------------------------------------------------------- */

static void test_buf(void **state)
{
	struct tn_buf buf;
	char *text;
	int i;

	(void)state;
	tn_buf_init(&buf);
	assert_string_equal(tn_buf_text(&buf), "");
	tn_buf_put(&buf, "ab");
	tn_buf_putc(&buf, 'c');
	tn_buf_pad(&buf, '-', 3);
	tn_buf_pad(&buf, '-', 0);
	tn_buf_putf(&buf, "%d|%g|%5s", -5, 1.5, "z");
	assert_string_equal(tn_buf_text(&buf), "abc----5|1.5|    z");
	tn_buf_clear(&buf);
	assert_string_equal(tn_buf_text(&buf), "");
	for (i = 0; i < 100000; i++)
		tn_buf_putc(&buf, 'x');
	assert_int_equal(buf.len, 100000);
	assert_int_equal(strlen(tn_buf_text(&buf)), 100000);
	tn_buf_putf(&buf, "%200000d", 1);
	assert_int_equal(buf.len, 300000);
	text = tn_buf_take(&buf);
	assert_non_null(text);
	assert_null(buf.data);
	free(text);
	text = tn_buf_take(&buf);
	assert_string_equal(text, "");
	free(text);
	tn_buf_fini(&buf);
}

static void test_buf_failed(void **state)
{
	struct tn_buf buf;

	(void)state;
	tn_buf_init(&buf);
	tn_buf_put(&buf, "kept");
	tn_buf_pad(&buf, 'x', SIZE_MAX);
	assert_true(buf.failed);
	tn_buf_put(&buf, "lost");
	assert_string_equal(tn_buf_text(&buf), "kept");
	assert_null(tn_buf_take(&buf));
	assert_string_equal(tn_buf_text(&buf), "kept");
	tn_buf_fini(&buf);
}

static void test_buf_json(void **state)
{
	struct tn_buf buf;

	(void)state;
	tn_buf_init(&buf);
	tn_buf_put_json(&buf, "a\"\\\n\t\r\x01\x7f/\xc3\xa9\xff\xe2\x82");
	assert_string_equal(tn_buf_text(&buf),
		"\"a\\\"\\\\\\n\\t\\r\\u0001\\u007f/\xc3\xa9"
		"\\ufffd\\ufffd\\ufffd\"");
	tn_buf_fini(&buf);
}

static void test_utf8(void **state)
{
	static const struct {
		const char *text;
		size_t len, bytes;
		uint32_t point;
	} cases[] = {
		{"A", 1, 1, 'A'}, {"\0", 1, 1, 0},
		{"\x7f", 1, 1, 0x7f}, {"\xc2\x80", 2, 2, 0x80},
		{"\xdf\xbf", 2, 2, 0x7ff}, {"\xe0\xa0\x80", 3, 3, 0x800},
		{"\xef\xbf\xbf", 3, 3, 0xffff},
		{"\xf0\x90\x80\x80", 4, 4, 0x10000},
		{"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
		{"\x80", 1, 1, TN_UTF8_BAD}, {"\xc1\xbf", 2, 1, TN_UTF8_BAD},
		{"\xe0\x9f\xbf", 3, 1, TN_UTF8_BAD},
		{"\xed\xa0\x80", 3, 1, TN_UTF8_BAD},
		{"\xf0\x8f\xbf\xbf", 4, 1, TN_UTF8_BAD},
		{"\xf4\x90\x80\x80", 4, 1, TN_UTF8_BAD},
		{"\xf5\x80\x80\x80", 4, 1, TN_UTF8_BAD},
		{"\xe2\x82", 2, 1, TN_UTF8_BAD},
		{"\xe2\x82\xac", 2, 1, TN_UTF8_BAD},
		{"\xc3(", 2, 1, TN_UTF8_BAD},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t point = 1;

		assert_int_equal(tn_utf8_next(cases[i].text, cases[i].len,
					      &point), cases[i].bytes);
		assert_int_equal(point, cases[i].point);
	}
	assert_int_equal(tn_utf8_width('a'), 1);
	assert_int_equal(tn_utf8_width(0x301), 0);
	assert_int_equal(tn_utf8_width(0x4e2d), 2);
}

/* ---- SHA-256 --------------------------------------------------------- */

static void sha_check(const char *text, size_t size, const char *want)
{
	unsigned char digest[32];
	struct tn_sha256 sha;
	char hex[65];
	size_t step, at;

	for (step = 1; step <= 131; step += 13) {
		tn_sha256_init(&sha);
		for (at = 0; at < size; at += step)
			tn_sha256_add(&sha, text + at,
				      size - at < step ? size - at : step);
		tn_sha256_end(&sha, digest);
		tn_sha256_hex(digest, hex);
		assert_string_equal(hex, want);
	}
}

/* NIST's examples for FIPS 180-4, and lengths about the padding's borders. */
static void test_sha256(void **state)
{
	static const char two[] =
		"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static const char four[] =
		"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
	char *million = malloc(1000000);

	(void)state;
	assert_non_null(million);
	memset(million, 'a', 1000000);
	sha_check("", 0, "e3b0c44298fc1c149afbf4c8996fb924"
		  "27ae41e4649b934ca495991b7852b855");
	sha_check("abc", 3, "ba7816bf8f01cfea414140de5dae2223"
		  "b00361a396177a9cb410ff61f20015ad");
	sha_check(two, 56, "248d6a61d20638b8e5c026930c3e6039"
		  "a33ce45964ff2167f6ecedd419db06c1");
	sha_check(four, 112, "cf5b16a778af8380036ce59e7b049237"
		  "0b249b11e8f07a51afac45037afee9d1");
	sha_check(million, 55, "9f4390f8d30c2dd92ec9f095b65e2b9a"
		  "e9b0a925a5258e241c9f1e910f734318");
	sha_check(million, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209"
		  "f439851db43d0ba5997337df154668eb");
	sha_check(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67"
		  "f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

/* ---- Files ----------------------------------------------------------- */

static char folder[64];

static int folder_make(void **state)
{
	(void)state;
	strcpy(folder, "test_base.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(char path[128], const char *name)
{
	snprintf(path, 128, "%s/%s", folder, name);
	return path;
}

/* Removes the folder's files and the folder; the number of files. */
static int folder_empty(bool also_remove)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (also_remove)
			assert_int_equal(remove(path), 0);
	}
	if (dir)
		closedir(dir);
	return count;
}

static int folder_drop(void **state)
{
	(void)state;
	folder_empty(true);
	return rmdir(folder);
}

static void file_holds(const char *path, const char *want, size_t size)
{
	struct tn_file_map map;
	size_t got = 42;
	char *data;

	assert_int_equal(tn_file_read(path, &data, &got), 0);
	assert_int_equal(got, size);
	assert_memory_equal(data, want, size);
	assert_int_equal(data[got], 0);
	free(data);
	assert_int_equal(tn_file_map(path, &map), 0);
	assert_int_equal(map.size, size);
	if (size)
		assert_memory_equal(map.data, want, size);
	else
		assert_null(map.data);
	tn_file_unmap(&map);
	assert_null(map.data);
	tn_file_unmap(&map);
}

static void test_file_write(void **state)
{
	struct stat info;
	char path[128], link[128];

	(void)state;
	in_folder(path, "a");
	assert_int_equal(tn_file_write(path, "one\0two", 7), 0);
	file_holds(path, "one\0two", 7);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(tn_file_write(path, "x", 1), 0);
	file_holds(path, "x", 1);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
	assert_int_equal(symlink("a", in_folder(link, "link")), 0);
	assert_int_equal(tn_file_write(link, "through", 7), 0);
	file_holds(path, "through", 7);
	assert_int_equal(lstat(link, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(tn_file_write(path, NULL, 0), 0);
	file_holds(path, "", 0);
	assert_int_equal(folder_empty(false), 2);
	assert_int_equal(tn_file_write("/dev/null", "x", 1), 0);
}

static void test_file_write_fails(void **state)
{
	struct rlimit old, small;
	char path[128], sub[128], *data = calloc(1, 1 << 20);
	int error;

	(void)state;
	assert_non_null(data);
	in_folder(path, "kept");
	assert_int_equal(tn_file_write(path, "old", 3), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	error = tn_file_write(path, data, 1 << 20);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	free(data);
	assert_int_equal(error, EFBIG);
	file_holds(path, "old", 3);
	assert_int_equal(folder_empty(false), 1);
	assert_int_equal(tn_file_write(folder, "x", 1), EISDIR);
	assert_int_equal(tn_file_write(in_folder(sub, "no/file"), "x", 1),
			 ENOENT);
	assert_int_equal(tn_file_write(in_folder(sub, "kept/file"), "x", 1),
			 ENOTDIR);
	file_holds(path, "old", 3);
}

static void test_file_read_fails(void **state)
{
	struct tn_file_map map = {folder, 3};
	char path[128], *data = folder;
	size_t size = 3;

	(void)state;
	in_folder(path, "none");
	assert_false(tn_file_exists(path));
	assert_true(tn_file_exists(folder));
	assert_int_equal(tn_file_read(path, &data, &size), ENOENT);
	assert_int_equal(tn_file_read(folder, &data, &size), EISDIR);
	assert_int_equal(tn_file_map(path, &map), ENOENT);
	assert_null(map.data);
	assert_int_equal(tn_file_map(folder, &map), EISDIR);
	assert_int_equal(tn_file_map("/dev/null", &map), ENODEV);
	assert_int_equal(tn_file_read("/dev/null", &data, &size), 0);
	assert_int_equal(size, 0);
	assert_string_equal(data, "");
	free(data);
}

/* A pipe gives no size beforehand and comes in pieces. */
static void test_file_read_pipe(void **state)
{
	char path[32], *data = NULL, block[1000];
	size_t size = 0;
	int fds[2], i, error;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	memset(block, 'p', sizeof(block));
	for (i = 0; i < 20; i++)
		assert_int_equal(write(fds[1], block, sizeof(block)),
				 sizeof(block));
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	if (!tn_file_exists(path)) {
		close(fds[0]);
		skip();
	}
	error = tn_file_read(path, &data, &size);
	close(fds[0]);
	assert_int_equal(error, 0);
	assert_int_equal(size, 20000);
	for (i = 0; i < 20000; i++)
		assert_int_equal(data[i], 'p');
	free(data);
}

static void test_file_folders(void **state)
{
	char path[128], deep[128];

	(void)state;
	in_folder(deep, "p/q//r/");
	assert_int_equal(tn_file_mkdirs(deep), 0);
	assert_int_equal(tn_file_mkdirs(deep), 0);
	assert_true(tn_file_exists(in_folder(path, "p/q/r")));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(in_folder(path, "p/q")), 0);
	assert_int_equal(rmdir(in_folder(path, "p")), 0);
	assert_int_equal(tn_file_mkdirs("/"), 0);
	in_folder(path, "plain");
	assert_int_equal(tn_file_write(path, "x", 1), 0);
	assert_int_equal(tn_file_mkdirs(path), ENOTDIR);
	assert_int_equal(tn_file_mkdirs(in_folder(path, "plain/x")), ENOTDIR);
}

static void test_file_names(void **state)
{
	static const char *const dirs[][2] = {
		{"a/b", "a"}, {"a", "."}, {"", "."}, {"/", "/"}, {"/a", "/"},
		{"a/b/", "a"}, {"a//b", "a"}, {"/a/b/c", "/a/b"}, {"a/", "."},
		{"../x", ".."},
	};
	static const char *const joins[][3] = {
		{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {".", "b", "b"},
		{"a", "/b", "/b"}, {"/", "b", "/b"}, {"", "b", "b"},
	};
	static const char *const in[] = {"a", "a/b", "a/..b", "...", "./a"};
	static const char *const out[] = {
		"", "/a", "..", "../a", "a/..", "a/../b", "a//..",
	};
	struct tn_arena arena;
	size_t i;

	(void)state;
	tn_arena_init(&arena);
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		assert_string_equal(tn_file_dirname(&arena, dirs[i][0]),
				    dirs[i][1]);
	for (i = 0; i < sizeof(joins) / sizeof(joins[0]); i++)
		assert_string_equal(tn_file_join(&arena, joins[i][0],
						 joins[i][1]), joins[i][2]);
	for (i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		assert_true(tn_file_is_inside(in[i]));
	for (i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		assert_false(tn_file_is_inside(out[i]));
	tn_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_objects),
		cmocka_unit_test(test_arena_large),
		cmocka_unit_test(test_arena_overflow),
		cmocka_unit_test(test_arena_text),
		cmocka_unit_test(test_vec),
		cmocka_unit_test(test_map_text),
		cmocka_unit_test(test_map_ptr),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_buf),
		cmocka_unit_test(test_buf_failed),
		cmocka_unit_test(test_buf_json),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test_setup_teardown(test_file_write, folder_make,
						folder_drop),
		cmocka_unit_test_setup_teardown(test_file_write_fails,
						folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(test_file_read_fails,
						folder_make, folder_drop),
		cmocka_unit_test(test_file_read_pipe),
		cmocka_unit_test_setup_teardown(test_file_folders,
						folder_make, folder_drop),
		cmocka_unit_test(test_file_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

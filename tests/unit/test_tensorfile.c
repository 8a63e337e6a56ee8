/*
 * safetensors, .npz and the front: what others write is read, what is wrong
 * is refused with a reason, and no cut or flipped byte does harm (run it under
 * the sanitizers: hostile bytes lie in heap blocks of their exact size).
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tests/unit/tensorfiles.h"

/* ---- Hostile bytes ---------------------------------------------------- */

#if defined(HAVE_JSON) || defined(HAVE_ZIP)

/* Lists and loads what `size` bytes of a block hold, as the front does. */
static enum tn_status read_block(const char *data, size_t size,
				 enum tn_status (*lister)(
					struct tn_tensorfile *file,
					struct tn_buf *error))
{
	struct tn_tensorfile *file = calloc(1, sizeof(*file));
	char *copy = malloc(size ? size : 1);
	enum tn_status status, all;
	size_t i;

	assert_non_null(file);
	assert_non_null(copy);
	memcpy(copy, data, size);
	tn_arena_init(&file->arena);
	tn_map_init_text(&file->by_key);
	tn_vec_init(&file->stored, sizeof(struct tn_stored *), NULL);
	tn_vec_init(&file->keys, sizeof(const char *), NULL);
	file->path = "block";
	file->map = (struct tn_file_map){copy, size};
	all = lister(file, &error);
	for (i = 0; !all && i < tn_tensorfile_count(file); i++) {
		struct tn_tensor tensor;

		status = tn_tensorfile_find(file, tn_tensorfile_key(file, i),
					    TN_POISON, &tensor, &error);
		if (status)
			all = status;
		else if (tn_tensor_bytes(&tensor) > 0)
			free(memcpy(malloc((size_t)tn_tensor_bytes(&tensor)),
				    tensor.data,
				    (size_t)tn_tensor_bytes(&tensor)));
	}
	if (all)
		assert_true(error.len > 0);
	tn_buf_clear(&error);
	file->map = (struct tn_file_map){0};
	tn_tensorfile_close(file);
	free(copy);
	return all;
}

/* All prefixes must be refused, and no flipped byte may do harm. */
static void read_mangled(enum tn_status (*lister)(struct tn_tensorfile *file,
						  struct tn_buf *error))
{
	static const unsigned char masks[] = {1, 0x10, 0x80, 0xff};
	size_t size, i;

	assert_int_equal(read_block(bytes.data, bytes.len, lister), TN_OK);
	for (size = 9; size < bytes.len; size++)
		assert_int_equal(read_block(bytes.data, size, lister),
				 TN_BAD_INPUT);
	for (size = 0; size < bytes.len; size++) {
		for (i = 0; i < sizeof(masks); i++) {
			bytes.data[size] ^= (char)masks[i];
			read_block(bytes.data, bytes.len, lister);
			bytes.data[size] ^= (char)masks[i];
		}
	}
}

#endif

/* ---- safetensors ----------------------------------------------------- */

static void safe_make(const char *header, const void *data, size_t size)
{
	uint64_t len = strlen(header);
	int i;

	tn_buf_clear(&bytes);
	for (i = 0; i < 8; i++)
		tn_buf_putc(&bytes, (char)(len >> 8 * i));
	tn_buf_put(&bytes, header);
	tn_buf_putn(&bytes, data, size);
}

#ifdef HAVE_JSON

static void test_safe_good(void **state)
{
	static const float values[] = {1, -2, 3.5f};
	struct tn_tensorfile *file;
	struct tn_tensor tensor;
	char data[20], path[128];

	(void)state;
	memcpy(data, "\1\2", 2);
	memcpy(data + 2, values, 12);
	memcpy(data + 14, "\x80\x3f\0\x40", 4);
	memcpy(data + 18, "\0\3", 2);
	safe_make("{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":"
		  "[0,2]},\"fc1.weight\":{\"dtype\":\"F32\",\"shape\":[3,1],"
		  "\"data_offsets\":[2,14]},\"__metadata__\":{\"x\":\"y\"},"
		  "\"none\":{\"dtype\":\"I64\",\"shape\":[0,4],"
		  "\"data_offsets\":[14,14]},\"h\":{\"dtype\":\"BF16\","
		  "\"shape\":[2],\"data_offsets\":[14,18]},\"t\":{\"dtype\":"
		  "\"BOOL\",\"shape\":[2],\"data_offsets\":[18,20]}}  ",
		  data, 20);
	file = file_open(file_make(path, "a.safetensors"));
	assert_int_equal(tn_tensorfile_count(file), 5);
	assert_string_equal(tn_tensorfile_key(file, 0), "b");
	assert_string_equal(tn_tensorfile_key(file, 1), "fc1.weight");
	assert_int_equal(tn_tensorfile_find(file, "fc1.weight", TN_f32,
					    &tensor, &error), TN_OK);
	assert_int_equal(tensor.dtype, TN_f32);
	assert_int_equal(tensor.rank, 2);
	assert_int_equal(tensor.shape[0], 3);
	assert_int_equal((uintptr_t)tensor.data % 4, 0);
	assert_memory_equal(tensor.data, values, 12);
	assert_int_equal(tn_tensorfile_find(file, "b", TN_u8, &tensor,
					    &error), TN_OK);
	assert_true((const char *)tensor.data > (const char *)file->map.data);
	assert_true((const char *)tensor.data + 2 <=
		    (const char *)file->map.data + file->map.size);
	assert_int_equal(tn_tensorfile_find(file, "none", TN_i64, &tensor,
					    &error), TN_OK);
	assert_int_equal(tn_tensor_count(&tensor), 0);
	assert_int_equal(tn_tensorfile_find(file, "h", TN_bf16, &tensor,
					    &error), TN_OK);
	assert_int_equal(tensor.dtype, TN_bf16);
	assert_memory_equal(tensor.data, "\x80\x3f\0\x40", 4);
	assert_int_equal(tn_tensorfile_find(file, "t", TN_bool, &tensor,
					    &error), TN_OK);
	assert_memory_equal(tensor.data, "\0\1", 2);
	assert_int_equal(tn_tensorfile_find(file, "fc1.wieght", TN_f32,
					    &tensor, &error), TN_BAD_INPUT);
	expect_reason("there is no tensor 'fc1.wieght'; did you mean "
		      "'fc1.weight'?");
	tn_tensorfile_close(file);
	unlink(path);
}

#define U8(name, shape, begin, end) "\"" name "\":{\"dtype\":\"U8\"," \
	"\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void test_safe_refused(void **state)
{
	static const struct {
		const char *header, *reason;
	} cases[] = {
		{"{", "not JSON"},
		{"{} x", "not JSON"},
		{"{\"a\\u0000\":1}", "not JSON"},
		{"{}", "no tensor has"},
		{"{\"a\":1}", "'a': its entry is not an object"},
		{"{\"a\":{}}", "'a': no dtype"},
		{"{\"a\":{\"dtype\":1}}", "'a': no dtype"},
		{"{\"a\":{\"dtype\":\"U8\"}}", "'a': no shape"},
		{"{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}",
			"'a': no data_offsets"},
		{"{" U8("a", "[4.0]", "0", "4") "}", "no size"},
		{"{" U8("a", "[-4]", "0", "4") "}", "no size"},
		{"{" U8("a", "4", "0", "4") "}", "no shape"},
		{"{" U8("a", "[4]", "0", "5") "}", "outside the file"},
		{"{" U8("a", "[4]", "-4", "0") "}", "outside the file"},
		{"{" U8("a", "[4]", "4", "0") "}", "outside the file"},
		{"{" U8("a", "[4]", "0", "9223372036854775807") "}",
			"outside the file"},
		{"{" U8("a", "[4]", "0", "9223372036854775808") "}",
			"not JSON"},
		{"{" U8("a", "[3]", "0", "4") "}",
			"asks for 3 bytes of data, but its offsets give 4"},
		{"{" U8("a", "[4294967296,4294967296]", "0", "4") "}",
			"overflows"},
		{"{" U8("a", "[1152921504606846976]", "0", "4") "}",
			"asks for 1152921504606846976 bytes"},
		{"{" U8("a", "[3]", "0", "3") "," U8("b", "[2]", "2", "4") "}",
			"'b': its data overlaps"},
		{"{" U8("a", "[4]", "0", "4") "," U8("b", "[4]", "0", "4") "}",
			"overlaps"},
		{"{" U8("a", "[4]", "0", "4") "," U8("b", "[0]", "2", "2") "}",
			"overlaps"},
		{"{" U8("a", "[1]", "0", "1") "," U8("b", "[2]", "2", "4") "}",
			"'b': there is a gap"},
		{"{" U8("a", "[2]", "0", "2") "}", "no tensor has"},
		{"{" U8("a", "[4]", "0", "4") "," U8("a", "[4]", "0", "4") "}",
			"not JSON"},
	};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		safe_make(cases[i].header, "abcd", 4);
		file_refused(file_make(path, "a.safetensors"), TN_BAD_INPUT,
			     cases[i].reason);
		unlink(path);
	}
}

static void test_safe_lengths(void **state)
{
	static const struct {
		const char *length, *reason;
	} cases[] = {
		{"\0\0\0\0\0\0\0\0", "not JSON"},
		{"\3\0\0\0\0\0\0\0", "ends inside"},
		{"\0\0\0\1\0\0\0\0", "ends inside"},
		{"\0\0\0\x10\0\0\0\0", "longer than 100 MB"},
		{"\0\0\0\0\0\0\0\x10", "longer than 100 MB"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff", "longer than 100 MB"},
	};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_buf_clear(&bytes);
		tn_buf_putn(&bytes, cases[i].length, 8);
		tn_buf_put(&bytes, "{}");
		file_refused(file_make(path, "a.safetensors"), TN_BAD_INPUT,
			     cases[i].reason);
		unlink(path);
	}
}

static void test_safe_foreign(void **state)
{
	struct tn_tensorfile *file;
	struct tn_tensor tensor;
	char path[128];

	(void)state;
	safe_make("{\"a\":{\"dtype\":\"C64\\n\",\"shape\":[1],"
		  "\"data_offsets\":[0,8]},"
		  U8("b", "[1]", "8", "9") "," U8("deep",
		  "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "9", "10") "}",
		  "abcdefghij", 10);
	file = file_open(file_make(path, "a.safetensors"));
	assert_int_equal(tn_tensorfile_find(file, "a", TN_f32, &tensor,
					    &error), TN_UNSUPPORTED);
	expect_reason("'a': elements of type C64\\n are not supported");
	assert_int_equal(tn_tensorfile_find(file, "deep", TN_u8, &tensor,
					    &error), TN_UNSUPPORTED);
	expect_reason("'deep': tensors of more than 16 axes are not");
	assert_int_equal(tn_tensorfile_find(file, "b", TN_u8, &tensor,
					    &error), TN_OK);
	tn_tensorfile_close(file);
	unlink(path);
}

/* Brackets a hundred thousand deep must not exhaust the stack. */
static void test_safe_deep(void **state)
{
	char *header = malloc(100006), path[128];

	(void)state;
	assert_non_null(header);
	memcpy(header, "{\"a\":", 5);
	memset(header + 5, '[', 100000);
	header[100005] = '\0';
	safe_make(header, "", 0);
	free(header);
	file_refused(file_make(path, "a.safetensors"), TN_BAD_INPUT,
		     "not JSON");
	unlink(path);
}

static void test_safe_mangled(void **state)
{
	(void)state;
	safe_make("{" U8("a", "[3]", "0", "3") ",\"b\":{\"dtype\":\"F32\","
		  "\"shape\":[1,1],\"data_offsets\":[3,7]}}", "abcdefg", 7);
	read_mangled(tn_safetensors_list);
}

#else

static void test_safe_absent(void **state)
{
	char path[128];

	(void)state;
	safe_make("{}", "", 0);
	file_refused(file_make(path, "a.safetensors"), TN_UNSUPPORTED,
		     "--with-jansson");
	unlink(path);
}

#endif

/* ---- .npz ------------------------------------------------------------ */

#ifdef HAVE_ZIP

/* Writes four tensors; gives the file's bytes in `bytes`. */
static void npz_make(char path[128], struct tn_tensor tensors[4])
{
	static const char *const keys[] = {"x", "fc1.weight", "a/b", "empty"};
	struct tn_tensorfile_item items[4];
	size_t size;
	char *data;
	int i;

	for (i = 0; i < 4; i++) {
		tensor_make(&tensors[i], i == 2 ? TN_bool : TN_f32, ranks[i],
			    shapes[i]);
		items[i] = (struct tn_tensorfile_item){keys[i], &tensors[i]};
	}
	snprintf(path, 128, "%s/w.npz", folder);
	assert_int_equal(tn_tensorfile_write_npz(path, items, 4, &error),
			 TN_OK);
	assert_int_equal(tn_file_read(path, &data, &size), 0);
	tn_buf_clear(&bytes);
	tn_buf_putn(&bytes, data, size);
	free(data);
}

static void test_npz_write(void **state)
{
	struct tn_tensor tensors[4], back;
	struct tn_tensorfile *file;
	char path[128], *first;
	size_t len;
	int i;

	(void)state;
	npz_make(path, tensors);
	file = file_open(path);
	assert_int_equal(tn_tensorfile_count(file), 4);
	assert_string_equal(tn_tensorfile_key(file, 1), "fc1.weight");
	for (i = 3; i >= 0; i--) {
		const char *key = tn_tensorfile_key(file, (size_t)i);

		assert_int_equal(tn_tensorfile_find(file, key, TN_POISON,
						    &back, &error), TN_OK);
		tensor_same(&tensors[i], &back);
		tn_tensor_fini(&tensors[i]);
	}
	assert_int_equal(tn_tensorfile_find(file, "y", TN_f32, &back, &error),
			 TN_BAD_INPUT);
	expect_reason("w.npz: there is no tensor 'y'");
	tn_tensorfile_close(file);
	len = bytes.len;
	first = tn_buf_take(&bytes);
	npz_make(path, tensors);
	assert_int_equal(bytes.len, len);
	assert_memory_equal(bytes.data, first, len);
	free(first);
	for (i = 0; i < 4; i++)
		tn_tensor_fini(&tensors[i]);
	unlink(path);
}

static void test_npz_keys(void **state)
{
	struct tn_tensorfile_item items[2];
	struct tn_tensorfile *file;
	struct tn_tensor tensor;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/k.npz", folder);
	tensor_make(&tensor, TN_u8, 1, (int64_t[]){1});
	items[0] = (struct tn_tensorfile_item){"same", &tensor};
	items[1] = items[0];
	assert_int_equal(tn_tensorfile_write_npz(path, items, 2, &error),
			 TN_BAD_INPUT);
	expect_reason("k.npz: zip: ");
	assert_false(tn_file_exists(path));
	items[1].key = "bad\xff";
	assert_int_equal(tn_tensorfile_write_npz(path, items, 2, &error),
			 TN_BAD_INPUT);
	expect_reason("k.npz: zip: ");
	assert_int_equal(tn_tensorfile_write_npz(path, items, 0, &error),
			 TN_OK);
	file = file_open(path);
	assert_int_equal(tn_tensorfile_count(file), 0);
	tn_tensorfile_close(file);
	tn_tensor_fini(&tensor);
	unlink(path);
}

static void test_npz_mangled(void **state)
{
	struct tn_tensor tensors[4];
	char path[128];
	int i;

	(void)state;
	npz_make(path, tensors);
	for (i = 0; i < 4; i++)
		tn_tensor_fini(&tensors[i]);
	unlink(path);
	read_mangled(tn_npz_list);
}

/* The entry of the one tensor says it is a gigabyte, in both its headers. */
static void test_npz_bomb(void **state)
{
	static const char sizes[] = "\0\0\0\x40";
	struct tn_tensorfile_item item;
	struct tn_tensor tensor;
	char path[128], *data;
	size_t size, i;

	(void)state;
	tensor_make(&tensor, TN_u8, 1, (int64_t[]){1});
	item = (struct tn_tensorfile_item){"x", &tensor};
	snprintf(path, sizeof(path), "%s/b.npz", folder);
	assert_int_equal(tn_tensorfile_write_npz(path, &item, 1, &error),
			 TN_OK);
	assert_int_equal(tn_file_read(path, &data, &size), 0);
	tn_tensor_fini(&tensor);
	unlink(path);
	for (i = 0; i + 30 < size; i++) {
		if (memcmp(data + i, "PK\3\4", 4) == 0) {
			memcpy(data + i + 22, sizes, 4);
			data[i + 8] = 8;
		}
		if (memcmp(data + i, "PK\1\2", 4) == 0) {
			memcpy(data + i + 24, sizes, 4);
			data[i + 10] = 8;
		}
	}
	tn_buf_clear(&bytes);
	tn_buf_putn(&bytes, data, size);
	free(data);
	file_make(path, "b.npz");
	{
		struct tn_tensorfile *file = file_open(path);

		assert_int_equal(tn_tensorfile_find(file, "x", TN_u8, &tensor,
						    &error), TN_BAD_INPUT);
		expect_reason("b.npz: 'x': zip: an entry that cannot be as "
			      "large as it says");
		tn_tensorfile_close(file);
	}
	unlink(path);
}

#else

static void test_npz_absent(void **state)
{
	char path[128];

	(void)state;
	tn_buf_put(&bytes, "PK\3\4");
	file_refused(file_make(path, "a.npz"), TN_UNSUPPORTED,
		     "--with-libzip");
	unlink(path);
	assert_int_equal(tn_tensorfile_write_npz(path, NULL, 0, &error),
			 TN_UNSUPPORTED);
	expect_reason("--with-libzip");
}

#endif

/* ---- The front -------------------------------------------------------- */

static void test_front(void **state)
{
	char path[128];

	(void)state;
	file_refused("no such file", TN_IO, "no such file: No such file");
	file_refused(folder, TN_IO, "directory");
	tn_buf_put(&bytes, "");
	file_refused(file_make(path, "a.npy"), TN_BAD_INPUT, "empty");
	tn_buf_put(&bytes, "hello, world");
	file_refused(file_make(path, "a.npy"), TN_BAD_INPUT,
		     "not a .npy file, in spite of its name");
	unlink(path);
	file_refused(file_make(path, "a.safetensors"), TN_BAD_INPUT,
		     "not a .safetensors file");
	unlink(path);
	file_refused(file_make(path, "a.bin"), TN_BAD_INPUT,
		     "neither .npy, .npz nor safetensors");
	tn_buf_clear(&bytes);
	tn_buf_put(&bytes, "GGUF....");
	file_refused(file_make(path, "a.bin"), TN_UNSUPPORTED, "GGUF");
	unlink(path);
	tn_tensorfile_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#ifdef HAVE_JSON
		CASE(test_safe_good),
		CASE(test_safe_refused),
		CASE(test_safe_lengths),
		CASE(test_safe_foreign),
		CASE(test_safe_deep),
		CASE(test_safe_mangled),
#else
		CASE(test_safe_absent),
#endif
#ifdef HAVE_ZIP
		CASE(test_npz_write),
		CASE(test_npz_keys),
		CASE(test_npz_mangled),
		CASE(test_npz_bomb),
#else
		CASE(test_npz_absent),
#endif
		CASE(test_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

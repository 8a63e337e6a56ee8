/*
 * .npy files: what numpy writes is read, what is wrong is refused with a
 * reason, and every cut is noticed (run it under the sanitizers: the bytes
 * lie in heap blocks of their exact size).
 */
#include "tests/unit/tensorfiles.h"

#include "driver/npy.h"

/* A .npy of version `version` with this header and `size` bytes of data. */
static void npy_make(int version, const char *header, const void *data,
		     size_t size)
{
	size_t len = strlen(header) + 1;

	tn_buf_clear(&bytes);
	tn_buf_putn(&bytes, "\x93NUMPY", 6);
	tn_buf_putc(&bytes, (char)version);
	tn_buf_putc(&bytes, 0);
	tn_buf_putc(&bytes, (char)(len & 255));
	tn_buf_putc(&bytes, (char)(len >> 8));
	if (version > 1)
		tn_buf_putn(&bytes, "\0\0", 2);
	tn_buf_putf(&bytes, "%s\n", header);
	tn_buf_putn(&bytes, data, size);
}

/* Reads `bytes` as a .npy by way of a file. */
static void npy_expect(enum tn_dtype want, enum tn_dtype dtype, int rank,
		       const int64_t *shape, const void *data)
{
	struct tn_tensorfile *file;
	struct tn_tensor tensor;
	char path[128];
	int i;

	file = file_open(file_make(path, "a.npy"));
	assert_int_equal(tn_tensorfile_count(file), 1);
	assert_string_equal(tn_tensorfile_key(file, 0), "");
	assert_int_equal(tn_tensorfile_find(file, "", want, &tensor, &error),
			 TN_OK);
	assert_int_equal(tensor.dtype, dtype);
	assert_int_equal(tensor.rank, rank);
	for (i = 0; i < rank; i++)
		assert_int_equal(tensor.shape[i], shape[i]);
	if (tn_tensor_bytes(&tensor))
		assert_memory_equal(tensor.data, data,
				    (size_t)tn_tensor_bytes(&tensor));
	assert_false(tensor.owned);
	tn_tensorfile_close(file);
	unlink(path);
}

static void test_npy_spellings(void **state)
{
	static const char *const headers[] = {
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
		"{\"shape\": (2,3), \"fortran_order\": False,"
			" \"descr\": \"<i2\"}",
		"{'shape':(2L,3L,),'fortran_order':False,'descr':'=i2',}   ",
		"  { 'fortran_order' : False , 'descr' : '<i2' ,"
			" 'shape' : ( 2 , 3 ) } ",
	};
	static const int64_t shape[] = {2, 3};
	static const int16_t data[] = {1, -2, 3, -4, 5, -6};
	size_t i;
	int version;

	(void)state;
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		for (version = 1; version <= 3; version++) {
			npy_make(version, headers[i], data, sizeof(data));
			npy_expect(TN_POISON, TN_i16, 2, shape, data);
		}
	}
}

static void test_npy_types(void **state)
{
	static const struct {
		const char *descr;
		enum tn_dtype want, got;
		int size;
	} cases[] = {
		{"<f8", TN_POISON, TN_f64, 8}, {"<f4", TN_POISON, TN_f32, 4},
		{"<f2", TN_POISON, TN_f16, 2}, {"<i8", TN_POISON, TN_i64, 8},
		{"<i4", TN_POISON, TN_i32, 4}, {"<i2", TN_POISON, TN_i16, 2},
		{"|i1", TN_POISON, TN_i8, 1}, {"<u8", TN_POISON, TN_u64, 8},
		{"<u4", TN_POISON, TN_u32, 4}, {"<u2", TN_f32, TN_u16, 2},
		{"|u1", TN_POISON, TN_u8, 1}, {"|b1", TN_POISON, TN_bool, 1},
		{"|V2", TN_bf16, TN_bf16, 2}, {"<V2", TN_bf16, TN_bf16, 2},
		{"|V1", TN_f8e4m3fn, TN_f8e4m3fn, 1},
		{"<V1", TN_f8e5m2, TN_f8e5m2, 1},
		{"<V1", TN_f8e8m0, TN_f8e8m0, 1},
		{"<V1", TN_f8e4m3fnuz, TN_f8e4m3fnuz, 1},
		{"<V1", TN_f4e2m1, TN_f4e2m1, 1}, {"|u1", TN_u2, TN_u2, 1},
		{"|V1", TN_i2, TN_i2, 1}, {"|i1", TN_i4, TN_i4, 1},
		{"|i1", TN_u4, TN_i8, 1}, {"|u1", TN_i4, TN_u8, 1},
	};
	static const int64_t shape[] = {2};
	static const unsigned char data[16] = {1, 0, 1, 1, 0, 1, 0, 1,
					       1, 1, 0, 0, 1, 0, 1, 0};
	char header[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(header, sizeof(header), "{'descr': '%s', "
			 "'fortran_order': False, 'shape': (2,), }",
			 cases[i].descr);
		npy_make(1, header, data, (size_t)(2 * cases[i].size));
		npy_expect(cases[i].want, cases[i].got, 1, shape, data);
	}
}

static void test_npy_orders(void **state)
{
	static const int64_t shape[] = {2, 3, 2};
	static const unsigned char column[] = {0, 6, 2, 8, 4, 10,
					       1, 7, 3, 9, 5, 11};
	static const unsigned char row[] = {0, 1, 2, 3, 4, 5,
					    6, 7, 8, 9, 10, 11};
	static const uint16_t wide[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	unsigned char swapped[24] = {0};
	size_t i;

	(void)state;
	npy_make(1, "{'descr': '|u1', 'fortran_order': True, "
		 "'shape': (2, 3, 2), }", column, 12);
	npy_expect(TN_POISON, TN_u8, 3, shape, row);
	for (i = 0; i < 12; i++)
		swapped[2 * i + 1] = column[i];
	npy_make(1, "{'descr': '>u2', 'fortran_order': True, "
		 "'shape': (2, 3, 2), }", swapped, 24);
	npy_expect(TN_POISON, TN_u16, 3, shape, wide);
	for (i = 0; i < 12; i++)
		swapped[2 * i + 1] = row[i];
	npy_make(1, "{'descr': '>u2', 'fortran_order': False, "
		 "'shape': (2, 3, 2), }", swapped, 24);
	npy_expect(TN_POISON, TN_u16, 3, shape, wide);
	npy_make(1, "{'descr': '|u1', 'fortran_order': True, "
		 "'shape': (12,), }", row, 12);
	npy_expect(TN_POISON, TN_u8, 1, (int64_t[]){12}, row);
}

static void test_npy_big_endian(void **state)
{
	static const double value = -1234.5;
	unsigned char big[8], little[8];
	size_t i;

	(void)state;
	memcpy(little, &value, 8);
	for (i = 0; i < 8; i++)
		big[i] = little[7 - i];
	npy_make(1, "{'descr': '>f8', 'fortran_order': False, 'shape': ()}",
		 big, 8);
	npy_expect(TN_POISON, TN_f64, 0, NULL, &value);
	npy_make(1, "{'descr': '>V2', 'fortran_order': False, 'shape': ()}",
		 "\x3f\x80", 2);
	npy_expect(TN_bf16, TN_bf16, 0, NULL, "\x80\x3f");
}

static void test_npy_edges(void **state)
{
	static const int64_t empty[] = {3, 0, 1LL << 40};
	static const int64_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1,
					 1, 1, 1, 1, 1, 1, 1, 1};

	(void)state;
	npy_make(1, "{'descr': '<f4', 'fortran_order': True, "
		 "'shape': (3, 0, 1099511627776)}", "", 0);
	npy_expect(TN_POISON, TN_f32, 3, empty, NULL);
	npy_make(1, "{'descr': '|u1', 'fortran_order': False, 'shape': "
		 "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", "x", 1);
	npy_expect(TN_POISON, TN_u8, 16, ones, "x");
	npy_make(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}",
		 "\0\1\2\xff", 4);
	npy_expect(TN_POISON, TN_bool, 1, (int64_t[]){4}, "\0\1\1\1");
}

#define FALSE_3 "'fortran_order': False, 'shape': (3,)"

static void test_npy_refused(void **state)
{
	static const struct {
		const char *header, *reason;
		enum tn_status status;
	} cases[] = {
		{"", "not a dict", TN_BAD_INPUT},
		{"{'descr': '|u1', " FALSE_3, "not closed", TN_BAD_INPUT},
		{"{'descr': '|u1', " FALSE_3 "} x", "goes on", TN_BAD_INPUT},
		{"{'descr': '|u1', 'shape': (3,)}", "lacks", TN_BAD_INPUT},
		{"{}", "lacks", TN_BAD_INPUT},
		{"{'descr': '|u1', 'descr': '|u1', " FALSE_3 "}",
			"unexpected key 'descr'", TN_BAD_INPUT},
		{"{'desc': '|u1', " FALSE_3 "}", "unexpected key 'desc'",
			TN_BAD_INPUT},
		{"{'descr': '|u1' " FALSE_3 "}", "not closed", TN_BAD_INPUT},
		{"{'descr': 1, " FALSE_3 "}", "not a string", TN_BAD_INPUT},
		{"{'descr': [('a', '<f4')], " FALSE_3 "}", "records",
			TN_UNSUPPORTED},
		{"{'descr': '|u1', 'fortran_order': 0, 'shape': (3,)}",
			"neither True nor False", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': 3}",
			"not a tuple", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (-3,)}",
			"no size", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (3",
			"not closed", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': "
			"(9223372036854775808,)}", "no size", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': "
			"(4294967296, 4294967296)}", "overflows",
			TN_BAD_INPUT},
		{"{'descr': '<f8', 'fortran_order': False, 'shape': "
			"(2305843009213693952,)}", "overflows", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': "
			"(1152921504606846976,)}", "asks for "
			"1152921504606846976 bytes of data, but it holds 3",
			TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}",
			"asks for 4 bytes", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}",
			"asks for 2 bytes", TN_BAD_INPUT},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': "
			"(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3)}",
			"more than 16 axes", TN_UNSUPPORTED},
	};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		npy_make(1, cases[i].header, "abc", 3);
		file_refused(file_make(path, "a.npy"), cases[i].status,
			     cases[i].reason);
		unlink(path);
	}
	npy_make(4, "{'descr': '|u1', " FALSE_3 "}", "abc", 3);
	file_refused(file_make(path, "a.npy"), TN_UNSUPPORTED, "version 4");
	unlink(path);
}

static void npy_find_refused(const char *descr, size_t size,
			     enum tn_dtype want, enum tn_status status,
			     const char *reason)
{
	struct tn_tensorfile *file;
	struct tn_tensor tensor;
	char path[128], header[100];

	snprintf(header, sizeof(header), "{'descr': '%s', " FALSE_3 "}",
		 descr);
	npy_make(1, header, "abcdefghijklmnopqrstuvwxyz", size);
	file = file_open(file_make(path, "a.npy"));
	assert_int_equal(tn_tensorfile_find(file, "", want, &tensor, &error),
			 status);
	expect_reason(reason);
	assert_int_equal(tn_tensorfile_find(file, "w", want, &tensor,
					    &error), TN_BAD_INPUT);
	expect_reason("without a key, so there is no 'w'");
	tn_tensorfile_close(file);
	unlink(path);
}

static void test_npy_foreign(void **state)
{
	(void)state;
	npy_find_refused("<c8", 24, TN_f32, TN_UNSUPPORTED, "type '<c8'");
	npy_find_refused("|O", 24, TN_f32, TN_UNSUPPORTED, "type '|O'");
	npy_find_refused("<U1", 12, TN_f32, TN_UNSUPPORTED, "type '<U1'");
	npy_find_refused("", 3, TN_f32, TN_UNSUPPORTED, "type ''");
	npy_find_refused("|V2", 6, TN_f32, TN_BAD_INPUT, "raw bytes (V2)");
	npy_find_refused("|V2", 6, TN_POISON, TN_BAD_INPUT, "raw bytes (V2)");
	npy_find_refused("|V1", 3, TN_bf16, TN_BAD_INPUT, "raw bytes (V1)");
	npy_find_refused("|V1", 3, TN_u8, TN_BAD_INPUT, "raw bytes (V1)");
	npy_find_refused("|V1", 3, TN_i4, TN_BAD_INPUT, "element 0 is the "
			 "byte 0x61, which is no i4");
	npy_find_refused("|u1", 3, TN_f4e2m1, TN_BAD_INPUT, "element 0 is the "
			 "byte 0x61, which is no f4e2m1");
}

/* Elements of fewer than 8 bits lie in a byte as numbers, as we write them, or
 * as those bits alone, as ml_dtypes does; one array may be read as either. */
static void test_npy_low(void **state)
{
	static const unsigned char data[] = {0xff, 0x0f, 0xf8, 0x08, 0x07, 0};
	static const signed char want[] = {-1, -1, -8, -8, 7, 0};
	struct tn_tensorfile *file;
	struct tn_tensor i4, again;
	char path[128];
	int i;

	(void)state;
	npy_make(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (6,), }",
		 data, 6);
	file = file_open(file_make(path, "a.npy"));
	for (i = 0; i < 2; i++) {
		assert_int_equal(tn_tensorfile_find(file, "", TN_i4, &i4,
						    &error), TN_OK);
		assert_memory_equal(i4.data, want, 6);
	}
	assert_int_equal(tn_tensorfile_find(file, "", TN_f8e5m2, &again,
					    &error), TN_OK);
	assert_memory_equal(again.data, data, 6);
	assert_int_equal(tn_tensorfile_find(file, "", TN_u4, &again, &error),
			 TN_BAD_INPUT);
	expect_reason("element 0 is the byte 0xff, which is no u4");
	assert_int_equal(tn_tensorfile_find(file, "", TN_i2, &again, &error),
			 TN_BAD_INPUT);
	expect_reason("element 1 is the byte 0x0f, which is no i2");
	tn_tensorfile_close(file);
	unlink(path);
}

/* Every prefix of a good file, in a block of just that size. */
static void test_npy_cut(void **state)
{
	struct tn_rawarray raw;
	struct tn_arena arena;
	size_t size;

	(void)state;
	tn_arena_init(&arena);
	npy_make(2, "{'descr': '<f4', " FALSE_3 ", }", "abcdefghijkl", 12);
	for (size = 0; size <= bytes.len; size++) {
		char *copy = malloc(size ? size : 1);
		enum tn_status status;

		assert_non_null(copy);
		memcpy(copy, bytes.data, size);
		status = tn_npy_parse(copy, size, &arena, &raw, &error);
		assert_int_equal(status, size < bytes.len ? TN_BAD_INPUT :
				 TN_OK);
		assert_int_equal(error.len > 0, size < bytes.len);
		tn_buf_clear(&error);
		free(copy);
	}
	tn_arena_fini(&arena);
}

static void test_npy_write(void **state)
{
	struct tn_tensorfile *file;
	struct tn_tensor tensor, back;
	enum tn_status status;
	char path[128];
	int dtype, i;

	(void)state;
	snprintf(path, sizeof(path), "%s/w.npy", folder);
	for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
		for (i = 0; i < 4; i++) {
			enum tn_dtype type = (enum tn_dtype)dtype;

			tensor_make(&tensor, type, ranks[i], shapes[i]);
			status = tn_tensorfile_write_npy(path, &tensor,
							 &error);
			assert_int_equal(status, TN_OK);
			file = file_open(path);
			assert_int_equal(tn_npy_is(file->map.data, 64), 1);
			assert_int_equal((file->map.size - (size_t)
				tn_tensor_bytes(&tensor)) % 64, 0);
			assert_int_equal(tn_tensorfile_find(file, "", type,
				&back, &error), TN_OK);
			tensor_same(&tensor, &back);
			if (tn_tensor_bytes(&back))
				assert_ptr_equal((char *)back.data +
					tn_tensor_bytes(&back),
					(const char *)file->map.data +
					file->map.size);
			tn_tensorfile_close(file);
			tn_tensor_fini(&tensor);
			unlink(path);
		}
	}
}

static void test_npy_write_bytes(void **state)
{
	static const float values[] = {1, 2};
	struct tn_tensor tensor;
	char path[128], *data;
	size_t size;

	(void)state;
	tn_tensor_view(&tensor, TN_f32, 1, (int64_t[]){2}, values);
	snprintf(path, sizeof(path), "%s/w.npy", folder);
	assert_int_equal(tn_tensorfile_write_npy(path, &tensor, &error),
			 TN_OK);
	assert_int_equal(tn_file_read(path, &data, &size), 0);
	assert_int_equal(size, 128 + 8);
	assert_memory_equal(data, "\x93NUMPY\1\0\x76\0{'descr': '<f4', "
			    "'fortran_order': False, 'shape': (2,), } ", 67);
	assert_int_equal(data[127], '\n');
	assert_memory_equal(data + 128, values, 8);
	free(data);
	unlink(path);
	assert_int_equal(tn_tensorfile_write_npy("no/such/folder/x.npy",
						 &tensor, &error), TN_IO);
	expect_reason("no/such/folder/x.npy: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_npy_spellings),
		CASE(test_npy_types),
		CASE(test_npy_orders),
		CASE(test_npy_big_endian),
		CASE(test_npy_edges),
		CASE(test_npy_refused),
		CASE(test_npy_foreign),
		CASE(test_npy_low),
		CASE(test_npy_cut),
		CASE(test_npy_write),
		CASE(test_npy_write_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What the tests of tensor files share: a folder of their own, bytes put into
 * a file, expected reasons, and tensors with contents.
 */
#ifndef TESTS_UNIT_TENSORFILES_H
#define TESTS_UNIT_TENSORFILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/tensorfile.h"
#include "driver/tensorfile_impl.h"
#include "ir/eval.h"

static char folder[64];
static struct tn_buf bytes, error;

static inline int setup(void **state)
{
	(void)state;
	tn_buf_init(&bytes);
	tn_buf_init(&error);
	strcpy(folder, "test_tensorfile.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	tn_buf_fini(&bytes);
	tn_buf_fini(&error);
	return rmdir(folder);
}

/* Puts `bytes` into a file of the folder. */
static inline const char *file_make(char path[128], const char *name)
{
	snprintf(path, 128, "%s/%s", folder, name);
	assert_int_equal(tn_file_write(path, bytes.data, bytes.len), 0);
	return path;
}

static inline struct tn_tensorfile *file_open(const char *path)
{
	enum tn_status status = TN_BUG;
	struct tn_tensorfile *file = tn_tensorfile_open(path, &status, &error);

	if (!file)
		fail_msg("%s", tn_buf_text(&error));
	assert_int_equal(status, TN_OK);
	assert_int_equal(error.len, 0);
	return file;
}

static inline void expect_reason(const char *part)
{
	if (!strstr(tn_buf_text(&error), part))
		fail_msg("'%s' is not in: %s", part, tn_buf_text(&error));
	tn_buf_clear(&error);
}

static inline void file_refused(const char *path, enum tn_status want,
			 const char *reason)
{
	enum tn_status status = TN_OK;

	assert_null(tn_tensorfile_open(path, &status, &error));
	assert_int_equal(status, want);
	assert_non_null(strstr(tn_buf_text(&error), path));
	expect_reason(reason);
}

static inline void tensor_make(struct tn_tensor *tensor, enum tn_dtype dtype,
			int rank, const int64_t *shape)
{
	unsigned char *data;
	int64_t i;

	assert_true(tn_tensor_init(tensor, dtype, rank, shape));
	data = tensor->data;
	for (i = 0; i < tn_tensor_bytes(tensor); i++) {
		data[i] = (unsigned char)(dtype == TN_bool ? i & 1 :
					  i * 37 + 5);
		if (tn_dtype_bits(dtype) < 8)
			tn_eval_bitcast(&data[i], dtype, &data[i]);
	}
}

static inline void tensor_same(const struct tn_tensor *a,
			       const struct tn_tensor *b)
{
	int i;

	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	for (i = 0; i < a->rank; i++)
		assert_int_equal(a->shape[i], b->shape[i]);
	if (tn_tensor_bytes(a))
		assert_memory_equal(a->data, b->data,
				    (size_t)tn_tensor_bytes(a));
}

static const int64_t shapes[][3] = {{0}, {5}, {2, 3}, {4, 0, 2}};
static const int ranks[] = {0, 1, 2, 3};

#endif

/*
 * Tensors of the public header: memory, files, printing.
 */
#include "driver/tensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "driver/tensorfile.h"

_Static_assert((int)TENON_F64 == TN_f64 && (int)TENON_BF16 == TN_bf16 &&
	       (int)TENON_I64 == TN_i64 && (int)TENON_I8 == TN_i8 &&
	       (int)TENON_U64 == TN_u64 && (int)TENON_U8 == TN_u8 &&
	       (int)TENON_BOOL == TN_bool && (int)TENON_U4 == TN_u4 &&
	       (int)TENON_F8E4M3FNUZ == TN_f8e4m3fnuz &&
	       (int)TENON_U2 == TN_u2 && (int)TENON_U2 + 1 == TN_DTYPE_COUNT,
	       "tenon.h and dtype.def list the same types");
_Static_assert(TENON_MAX_RANK == TN_MAX_RANK, "one limit");

struct tn_tensor tn_tensors_in(const struct tenon_tensor *tensor)
{
	struct tn_tensor out = {
		.dtype = (enum tn_dtype)tensor->dtype, .rank = tensor->rank,
		.data = tensor->data
	};

	memcpy(out.shape, tensor->shape, sizeof(out.shape));
	return out;
}

struct tenon_tensor tn_tensors_out(const struct tn_tensor *tensor)
{
	struct tenon_tensor out = {
		.dtype = (enum tenon_dtype)tensor->dtype,
		.rank = tensor->rank, .data = tensor->data
	};

	memcpy(out.shape, tensor->shape, sizeof(out.shape));
	return out;
}

void tn_tensors_put_type(struct tn_buf *buf, const struct tn_tensor *tensor)
{
	int i;

	tn_buf_put(buf, tn_dtype_name(tensor->dtype));
	for (i = 0; i < tensor->rank; i++)
		tn_buf_putf(buf, "%s%lld", i ? ", " : "[",
			    (long long)tensor->shape[i]);
	if (tensor->rank)
		tn_buf_putc(buf, ']');
}

bool tn_tensors_copy(const struct tn_tensor *from, struct tn_tensor *to)
{
	int64_t bytes = tn_tensor_bytes(from);

	if (bytes < 0 || !tn_tensor_init(to, from->dtype, from->rank,
					 from->shape))
		return false;
	if (bytes > 0)
		memcpy(to->data, from->data, (size_t)bytes);
	return true;
}

static bool is_sound(const struct tenon_tensor *tensor)
{
	return tensor && (unsigned)tensor->dtype < TN_DTYPE_COUNT &&
	       tensor->rank >= 0 && tensor->rank <= TN_MAX_RANK;
}

enum tenon_status tenon_tensor_init(struct tenon_tensor *tensor,
				    enum tenon_dtype dtype, int rank,
				    const int64_t *shape)
{
	struct tn_tensor made;

	if (!tensor || rank < 0 || rank > TN_MAX_RANK ||
	    (unsigned)dtype >= TN_DTYPE_COUNT)
		return TENON_USAGE;
	if (!tn_tensor_init(&made, (enum tn_dtype)dtype, rank, shape))
		return TENON_IO;
	*tensor = tn_tensors_out(&made);
	tensor->is_owned = true;
	return TENON_OK;
}

void tenon_tensor_fini(struct tenon_tensor *tensor)
{
	struct tn_tensor own;

	if (!tensor || !tensor->is_owned)
		return;
	own = tn_tensors_in(tensor);
	own.owned = true;
	tn_tensor_fini(&own);
	tensor->data = NULL;
	tensor->is_owned = false;
}

int64_t tenon_tensor_count(const struct tenon_tensor *tensor)
{
	struct tn_tensor own;

	if (!is_sound(tensor))
		return -1;
	own = tn_tensors_in(tensor);
	return tn_tensor_count(&own);
}

int tenon_dtype_bytes(enum tenon_dtype dtype)
{
	return (unsigned)dtype < TN_DTYPE_COUNT ?
		tn_dtype_bytes((enum tn_dtype)dtype) : 0;
}

const char *tenon_dtype_name(enum tenon_dtype dtype)
{
	return (unsigned)dtype < TN_DTYPE_COUNT ?
		tn_dtype_name((enum tn_dtype)dtype) : NULL;
}

/* ---- Files --------------------------------------------------------------- */

static enum tn_status complain(struct tenon_context *context,
			       enum tn_status status, struct tn_buf *why)
{
	if (status != TN_OK)
		tn_context_report(context, status == TN_IO ? TN_E0002 :
				  TN_E0022, "%s", tn_buf_text(why));
	tn_buf_fini(why);
	return status;
}

static enum tn_status read_from(struct tn_tensorfile *file, const char *key,
				struct tn_tensor *own, struct tn_buf *why)
{
	struct tn_tensor view;
	enum tn_status status;

	if (!key && tn_tensorfile_count(file) != 1) {
		tn_buf_putf(why, "the file holds %zu tensors; name one "
			    "with =KEY", tn_tensorfile_count(file));
		return TN_BAD_INPUT;
	}
	if (!key)
		key = tn_tensorfile_key(file, 0);
	status = tn_tensorfile_find(file, key, TN_POISON, &view, why);
	if (status == TN_OK && !tn_tensors_copy(&view, own)) {
		tn_buf_put(why, "out of memory");
		status = TN_IO;
	}
	return status;
}

enum tenon_status tenon_tensor_read(struct tenon_context *context,
				    const char *path, const char *key,
				    struct tenon_tensor *out)
{
	struct tn_tensor own = {0};
	struct tn_tensorfile *file;
	enum tn_status status;
	struct tn_buf why;

	if (!context || !path || !out)
		return TENON_USAGE;
	*out = (struct tenon_tensor){0};
	tn_buf_init(&why);
	file = tn_tensorfile_open(path, &status, &why);
	if (file)
		status = read_from(file, key, &own, &why);
	tn_tensorfile_close(file);
	status = complain(context, status, &why);
	if (status == TN_OK) {
		*out = tn_tensors_out(&own);
		out->is_owned = true;
	}
	return tn_context_end(context, status);
}

enum tenon_status tenon_tensor_write(struct tenon_context *context,
				     const char *path,
				     const struct tenon_tensor *tensor)
{
	struct tn_tensor own;
	enum tn_status status;
	struct tn_buf why;

	if (!context || !path || !is_sound(tensor))
		return TENON_USAGE;
	own = tn_tensors_in(tensor);
	tn_buf_init(&why);
	status = tn_tensorfile_write_npy(path, &own, &why);
	if (status == TN_IO) {
		tn_context_report(context, TN_E0023, "%s",
				  tn_buf_text(&why));
		tn_buf_fini(&why);
		return tn_context_end(context, status);
	}
	return tn_context_end(context, complain(context, status, &why));
}

enum tenon_status tenon_tensor_write_all(struct tenon_context *context,
					 const char *path, size_t count,
					 const char *const *names,
					 const struct tenon_tensor *const *
					 tensors)
{
	struct tn_tensorfile_item *items;
	struct tn_tensor *own;
	enum tn_status status;
	struct tn_buf why;
	size_t i;

	if (!context || !path || (count && (!names || !tensors)))
		return TENON_USAGE;
	items = calloc(count + 1, sizeof(*items));
	own = calloc(count + 1, sizeof(*own));
	status = items && own ? TN_OK : TN_IO;
	tn_buf_init(&why);
	for (i = 0; status == TN_OK && i < count; i++) {
		own[i] = tn_tensors_in(tensors[i]);
		items[i].key = names[i];
		items[i].tensor = &own[i];
	}
	if (status == TN_OK)
		status = tn_tensorfile_write_npz(path, items, count, &why);
	free(items);
	free(own);
	return tn_context_end(context, complain(context, status, &why));
}

/* ---- Archives ------------------------------------------------------------------ */

struct tenon_archive {
	struct tenon_context *context;
	struct tn_tensorfile *file;
};

enum tenon_status tenon_archive_open(struct tenon_context *context,
				     const char *path,
				     struct tenon_archive **out)
{
	struct tenon_archive *archive;
	enum tn_status status = TN_IO;
	struct tn_buf why;

	*out = NULL;
	if (!context || !path)
		return TENON_USAGE;
	archive = calloc(1, sizeof(*archive));
	if (!archive)
		return tn_context_end(context, TN_IO);
	tn_buf_init(&why);
	archive->context = context;
	archive->file = tn_tensorfile_open(path, &status, &why);
	status = complain(context, archive->file ? TN_OK : status, &why);
	if (status == TN_OK) {
		*out = archive;
		return TENON_OK;
	}
	free(archive);
	return tn_context_end(context, status);
}

void tenon_archive_close(struct tenon_archive *archive)
{
	if (!archive)
		return;
	tn_tensorfile_close(archive->file);
	free(archive);
}

size_t tenon_archive_count(const struct tenon_archive *archive)
{
	return archive ? tn_tensorfile_count(archive->file) : 0;
}

const char *tenon_archive_name(const struct tenon_archive *archive, size_t i)
{
	return i < tenon_archive_count(archive) ?
		tn_tensorfile_key(archive->file, i) : NULL;
}

enum tenon_status tenon_archive_find(struct tenon_archive *archive,
				     const char *name,
				     struct tenon_tensor *out)
{
	struct tn_tensor view;
	enum tn_status status;
	struct tn_buf why;

	if (!archive || !name)
		return TENON_USAGE;
	tn_buf_init(&why);
	status = tn_tensorfile_find(archive->file, name, TN_POISON, &view,
				    &why);
	status = complain(archive->context, status, &why);
	if (status == TN_OK)
		*out = tn_tensors_out(&view);
	return tn_context_end(archive->context, status);
}

/* ---- Printing -------------------------------------------------------------- */

/* More elements than this, and axes are cut to EDGE entries at either end. */
#define WHOLE 1000
#define EDGE 3

static void put_element(struct tn_buf *out, const struct tn_tensor *tensor,
			int64_t at)
{
	double value;
	char text[40];

	if (tensor->dtype == TN_bool) {
		tn_buf_put(out, tn_tensor_get_i64(tensor, at) ? "true" :
			   "false");
	} else if (tn_dtype_is(tensor->dtype, TN_KIND_U)) {
		tn_buf_putf(out, "%llu", (unsigned long long)
			    tn_tensor_get_i64(tensor, at));
	} else if (tn_dtype_is(tensor->dtype, TN_KIND_I)) {
		tn_buf_putf(out, "%lld", (long long)
			    tn_tensor_get_i64(tensor, at));
	} else {
		value = tn_tensor_get_f64(tensor, at);
		if (tensor->dtype == TN_f64)
			tn_num_print_f64(value, text);
		else
			tn_num_print_f32((float)value, text);
		tn_buf_put(out, text);
	}
}

struct printer {
	struct tn_buf *out;
	const struct tn_tensor *tensor;
	bool cut;
	size_t width;		/* of the widest element */
	int64_t stride[TN_MAX_RANK];
};

static void put_padded(struct printer *p, int64_t at)
{
	struct tn_buf one;

	tn_buf_init(&one);
	put_element(&one, p->tensor, at);
	if (one.len < p->width)
		tn_buf_pad(p->out, ' ', p->width - one.len);
	tn_buf_put(p->out, tn_buf_text(&one));
	p->out->failed |= one.failed;
	tn_buf_fini(&one);
}

/* Separator between entries of an axis: blanks, or new lines for inner axes
 * that are lists themselves. */
static void put_gap(struct printer *p, int axis)
{
	int inner = p->tensor->rank - 1 - axis;

	if (inner == 0) {
		tn_buf_putc(p->out, ' ');
		return;
	}
	tn_buf_pad(p->out, '\n', (size_t)inner);
	tn_buf_pad(p->out, ' ', (size_t)axis + 1);
}

static void put_axis(struct printer *p, int axis, int64_t base)
{
	int64_t n, i;

	if (axis == p->tensor->rank) {
		put_padded(p, base);
		return;
	}
	n = p->tensor->shape[axis];
	tn_buf_putc(p->out, '[');
	for (i = 0; i < n; i++) {
		if (i)
			put_gap(p, axis);
		if (p->cut && n > 2 * EDGE && i == EDGE) {
			tn_buf_put(p->out, "...");
			i = n - EDGE - 1;
			continue;
		}
		put_axis(p, axis + 1, base + i * p->stride[axis]);
	}
	tn_buf_putc(p->out, ']');
}

/* Width of the widest element that is shown. */
static void measure(struct printer *p, int axis, int64_t base)
{
	struct tn_buf one;
	int64_t n, i;

	if (axis == p->tensor->rank) {
		tn_buf_init(&one);
		put_element(&one, p->tensor, base);
		if (one.len > p->width)
			p->width = one.len;
		p->out->failed |= one.failed;
		tn_buf_fini(&one);
		return;
	}
	n = p->tensor->shape[axis];
	for (i = 0; i < n; i++) {
		if (p->cut && n > 2 * EDGE && i == EDGE)
			i = n - EDGE;
		measure(p, axis + 1, base + i * p->stride[axis]);
	}
}

enum tenon_status tenon_tensor_print(const struct tenon_tensor *tensor,
				     char **out)
{
	struct tn_tensor own;
	struct tn_buf buf;
	struct printer p = { .out = &buf, .tensor = &own };
	int64_t stride = 1;
	int i;

	*out = NULL;
	if (!is_sound(tensor))
		return TENON_USAGE;
	own = tn_tensors_in(tensor);
	tn_buf_init(&buf);
	for (i = own.rank; i-- > 0; stride *= own.shape[i])
		p.stride[i] = stride;
	p.cut = tn_tensor_count(&own) > WHOLE;
	if (tn_tensor_count(&own) > 0) {
		measure(&p, 0, 0);
		put_axis(&p, 0, 0);
	} else {
		tn_buf_put(&buf, "[]");
	}
	*out = tn_buf_take(&buf);
	tn_buf_fini(&buf);
	return *out ? TENON_OK : TENON_IO;
}

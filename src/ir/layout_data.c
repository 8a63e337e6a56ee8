/*
 * Elements in the order of a layout.
 *
 * In: a tensor, row-major over its shape. Out: its bytes in physical order, or
 * back. Each physical axis is an extent and a distance in the tensor; the walk
 * goes over all of them and copies the innermost axis at once.
 */
#include "ir/layout.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	int rank;			/* at least 1 */
	int64_t extent[TN_MAX_RANK];
	int64_t stride[TN_MAX_RANK];	/* in elements of the tensor */
	int64_t count, place[TN_MAX_RANK];
	size_t bytes;			/* of an element */
};

/* Distances of the axes of a row-major tensor. */
static void row_major(const struct tn_tensor *tensor, int64_t *strides)
{
	int64_t stride = 1;
	int i;

	for (i = tensor->rank - 1; i >= 0; i--) {
		strides[i] = stride;
		stride *= tensor->shape[i];
	}
}

static bool open_walk(struct walk *walk, const struct tn_layout *layout,
		      const struct tn_tensor *tensor)
{
	int64_t strides[TN_MAX_RANK];
	int i;

	memset(walk, 0, sizeof(*walk));
	if (layout->rank != tensor->rank)
		return false;
	row_major(tensor, strides);
	walk->rank = layout->nparts;
	walk->count = tn_tensor_count(tensor);
	walk->bytes = (size_t)tn_dtype_bytes(tensor->dtype);
	for (i = 0; i < layout->nparts; i++) {
		const struct tn_layout_part *part = &layout->parts[i];
		int64_t size = tensor->shape[part->axis];

		if (size % part->n != 0)
			return false;
		walk->extent[i] = part->piece == TN_LAYOUT_LANE ? part->n :
			size / part->n;
		walk->stride[i] = strides[part->axis] *
			(part->piece == TN_LAYOUT_BLOCK ? part->n : 1);
	}
	return true;
}

/* Elements of one stretch of the innermost axis. */
static int64_t stretch(const struct walk *walk)
{
	return walk->rank ? walk->extent[walk->rank - 1] : 1;
}

/* Where the stretch begins in the tensor; moves on to the next. */
static int64_t next_stretch(struct walk *walk)
{
	int64_t at = 0;
	int i;

	for (i = 0; i < walk->rank; i++)
		at += walk->place[i] * walk->stride[i];
	for (i = walk->rank - 2; i >= 0; i--) {
		if (++walk->place[i] < walk->extent[i])
			break;
		walk->place[i] = 0;
	}
	return at;
}

static void copy_in(const struct walk *walk, const char *tensor, char *line,
		    int64_t n)
{
	int64_t step = walk->rank ? walk->stride[walk->rank - 1] : 1, i;
	size_t bytes = walk->bytes;

	for (i = 0; i < n; i++)
		memcpy(line + (size_t)i * bytes,
		       tensor + (size_t)(i * step) * bytes, bytes);
}

static void copy_out(const struct walk *walk, const char *line, char *tensor,
		     int64_t n)
{
	int64_t step = walk->rank ? walk->stride[walk->rank - 1] : 1, i;
	size_t bytes = walk->bytes;

	for (i = 0; i < n; i++)
		memcpy(tensor + (size_t)(i * step) * bytes,
		       line + (size_t)i * bytes, bytes);
}

bool tn_layout_pack(const struct tn_layout *layout,
		    const struct tn_tensor *from, struct tn_tensor *to)
{
	struct walk walk;
	int64_t done, n, at;

	if (!open_walk(&walk, layout, from) ||
	    !tn_tensor_init(to, from->dtype, walk.rank, walk.extent))
		return false;
	n = stretch(&walk);
	for (done = 0; done < walk.count; done += n) {
		at = next_stretch(&walk);
		copy_in(&walk, (const char *)from->data +
			(size_t)at * walk.bytes,
			(char *)to->data + (size_t)done * walk.bytes, n);
	}
	return true;
}

bool tn_layout_unpack(const struct tn_layout *layout, const void *from,
		      struct tn_tensor *to)
{
	struct walk walk;
	int64_t done, n, at;

	if (!open_walk(&walk, layout, to))
		return false;
	n = stretch(&walk);
	for (done = 0; done < walk.count; done += n) {
		at = next_stretch(&walk);
		copy_out(&walk, (const char *)from +
			 (size_t)done * walk.bytes,
			 (char *)to->data + (size_t)at * walk.bytes, n);
	}
	return true;
}

/* Bytes on their way out, gathered to lines. */
struct stream {
	bool (*put)(void *data, const void *bytes, size_t size);
	void *data;
	char *line;
	size_t fill;
};

#define LINE ((size_t)1 << 16)

static bool flush(struct stream *stream)
{
	size_t fill = stream->fill;

	stream->fill = 0;
	return !fill || stream->put(stream->data, stream->line, fill);
}

/* One stretch, `from` its first element. */
static bool stream_stretch(struct stream *stream, const struct walk *walk,
			   const char *from)
{
	int64_t n = stretch(walk), i, part;
	int64_t step = walk->rank ? walk->stride[walk->rank - 1] : 1;

	for (i = 0; i < n; i += part) {
		if (LINE - stream->fill < walk->bytes && !flush(stream))
			return false;
		part = (int64_t)((LINE - stream->fill) / walk->bytes);
		part = part < n - i ? part : n - i;
		copy_in(walk, from + (size_t)(i * step) * walk->bytes,
			stream->line + stream->fill, part);
		stream->fill += (size_t)part * walk->bytes;
	}
	return true;
}

bool tn_layout_stream(const struct tn_layout *layout,
		      const struct tn_tensor *from,
		      bool (*put)(void *data, const void *bytes, size_t size),
		      void *data)
{
	struct stream stream = { .put = put, .data = data };
	int64_t done, at;
	struct walk walk;
	bool good = true;

	if (!open_walk(&walk, layout, from))
		return false;
	stream.line = malloc(LINE);
	if (!stream.line)
		return false;
	for (done = 0; good && done < walk.count; done += stretch(&walk)) {
		at = next_stretch(&walk);
		good = stream_stretch(&stream, &walk, (const char *)from->data +
				      (size_t)at * walk.bytes);
	}
	good = good && flush(&stream);
	free(stream.line);
	return good;
}

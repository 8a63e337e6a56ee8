/*
 * Engine files.
 *
 *   0   magic "TNENGIN1"
 *   8   size of the whole file, little-endian
 *   16  SHA-256 of all from 48 on
 *   48  head: version of the format and of Tenon, target, instruction set,
 *       workspace, counts, names, the signature's text; each a number of 8
 *       bytes, or a length and bytes
 *   ..  the shared object
 *   ..  weights, at a multiple of 4096
 *
 * The file is mapped and its seal checked before anything else is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "driver/engine.h"
#include "driver/target.h"

#define MAGIC "TNENGIN1"
#define SEALED 48
#define FORMAT 1
#define PAGE 4096

/* ---- Writing -------------------------------------------------------------------- */

static void put_number(struct tn_buf *out, int64_t value)
{
	unsigned char bytes[8];
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (unsigned char)((uint64_t)value >> 8 * i);
	tn_buf_putn(out, (const char *)bytes, 8);
}

static void put_blob(struct tn_buf *out, const void *data, size_t size)
{
	put_number(out, (int64_t)size);
	tn_buf_putn(out, data, size);
}

static void put_text(struct tn_buf *out, const char *text)
{
	put_blob(out, text, strlen(text));
}

static void put_signature(struct tn_buf *out, const struct tn_signature *s)
{
	int n = s->ir->dims.nsyms, i;
	struct tn_buf text;

	put_text(out, s->name);
	put_number(out, s->ninputs);
	put_number(out, s->noutputs);
	put_number(out, s->nguards);
	put_number(out, n);
	for (i = 0; i < s->ninputs; i++)
		put_text(out, s->inputs[i].name);
	for (i = 0; i < s->noutputs; i++)
		put_text(out, s->outputs[i].name);
	for (i = 0; i < s->nguards; i++)
		tn_buf_putc(out, (char)s->guards[i].kind);
	for (i = 0; i < n; i++)
		tn_buf_putc(out, (char)s->runtime[i]);
	tn_buf_init(&text);
	tn_signature_write(s, &text);
	put_blob(out, tn_buf_text(&text), text.len);
	if (text.failed)
		out->failed = true;
	tn_buf_fini(&text);
}

static void put_head(struct tn_buf *out, const struct tn_engine_parts *parts)
{
	put_number(out, FORMAT);
	put_text(out, TENON_VERSION);
	put_text(out, parts->target);
	put_text(out, parts->isa);
	put_number(out, parts->workspace);
	put_signature(out, parts->signature);
	put_blob(out, parts->object, parts->object_size);
	put_number(out, (int64_t)parts->weights_size);
}

/* What stands before the weights: seal, head, object, padding. */
static bool make_front(struct tn_buf *out,
		       const struct tn_engine_parts *parts)
{
	unsigned char digest[32];
	struct tn_sha256 sha;
	struct tn_buf size;

	tn_buf_putn(out, MAGIC, 8);
	tn_buf_pad(out, '\0', SEALED - 8);
	put_head(out, parts);
	tn_buf_pad(out, '\0', (PAGE - out->len % PAGE) % PAGE);
	if (out->failed)
		return false;
	tn_buf_init(&size);
	put_number(&size, (int64_t)(out->len + parts->weights_size));
	if (size.len == 8)
		memcpy(out->data + 8, size.data, 8);
	tn_buf_fini(&size);
	tn_sha256_init(&sha);
	tn_sha256_add(&sha, out->data + SEALED, out->len - SEALED);
	tn_sha256_add(&sha, parts->weights, parts->weights_size);
	tn_sha256_end(&sha, digest);
	memcpy(out->data + 16, digest, 32);
	return true;
}

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, data, size < (1u << 30) ? size : 1u << 30);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Both parts to a temporary file beside, then renamed. */
static int write_renamed(const char *path, const struct tn_buf *front,
			 const struct tn_engine_parts *parts)
{
	struct tn_buf temp;
	int fd, error;

	tn_buf_init(&temp);
	tn_buf_putf(&temp, "%s.tmp.%ld", path, (long)getpid());
	if (temp.failed) {
		tn_buf_fini(&temp);
		return ENOMEM;
	}
	fd = open(temp.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	error = fd < 0 ? errno : write_all(fd, front->data, front->len);
	if (!error)
		error = write_all(fd, parts->weights, parts->weights_size);
	if (fd >= 0 && close(fd) && !error)
		error = errno;
	if (!error && rename(temp.data, path))
		error = errno;
	if (error && fd >= 0)
		unlink(temp.data);
	tn_buf_fini(&temp);
	return error;
}

enum tn_status tn_engine_write(struct tenon_context *context,
			       const char *path,
			       const struct tn_engine_parts *parts)
{
	struct tn_buf front;
	int error = ENOMEM;

	tn_buf_init(&front);
	if (make_front(&front, parts))
		error = write_renamed(path, &front, parts);
	tn_buf_fini(&front);
	return error ? tn_context_file(context, TN_E0023, path, error) :
		TN_OK;
}

/* ---- Reading ---------------------------------------------------------------------- */

struct reader {
	const unsigned char *at;
	size_t left;
	bool bad;
	struct tn_arena *arena;
};

static int64_t get_number(struct reader *r)
{
	uint64_t value = 0;
	int i;

	if (r->left < 8) {
		r->bad = true;
		return 0;
	}
	for (i = 0; i < 8; i++)
		value |= (uint64_t)r->at[i] << 8 * i;
	r->at += 8;
	r->left -= 8;
	return (int64_t)value;
}

static const unsigned char *get_bytes(struct reader *r, int64_t size)
{
	const unsigned char *at = r->at;

	if (size < 0 || (uint64_t)size > r->left) {
		r->bad = true;
		return NULL;
	}
	r->at += size;
	r->left -= (size_t)size;
	return at;
}

static const void *get_blob(struct reader *r, size_t *size)
{
	int64_t n = get_number(r);

	*size = n > 0 ? (size_t)n : 0;
	return get_bytes(r, n);
}

static const char *get_text(struct reader *r)
{
	size_t size;
	const char *at = get_blob(r, &size);

	return at ? tn_arena_strndup(r->arena, at, size) : NULL;
}

static int get_count(struct reader *r)
{
	int64_t n = get_number(r);

	if (n < 0 || n > INT32_MAX / 2 || (uint64_t)n > r->left) {
		r->bad = true;
		return 0;
	}
	return (int)n;
}

static enum tn_status refuse(struct tenon_context *context, const char *path,
			     const char *why)
{
	struct tn_diag *diag = tn_context_report(context, TN_E0016,
						 "%s: %s", path, why);

	tn_diag_help(&context->sink, diag, "make it again with `tenon "
		     "build`");
	return TN_BAD_INPUT;
}

static enum tn_status check_seal(struct tenon_context *context,
				 const char *path,
				 const struct tn_file_map *map)
{
	const unsigned char *data = map->data;
	struct reader r = { .left = 8 };
	unsigned char digest[32];
	struct tn_sha256 sha;

	if (map->size < 8 || memcmp(data, MAGIC, 7))
		return refuse(context, path, "not an engine");
	if (memcmp(data, MAGIC, 8) || map->size < SEALED)
		return refuse(context, path, map->size < SEALED ?
			      "the engine is truncated" :
			      "an engine of another format");
	r.at = data + 8;
	if ((uint64_t)get_number(&r) > map->size)
		return refuse(context, path, "the engine is truncated");
	tn_sha256_init(&sha);
	tn_sha256_add(&sha, data + SEALED, map->size - SEALED);
	tn_sha256_end(&sha, digest);
	if (memcmp(digest, data + 16, 32))
		return refuse(context, path, "the engine was changed after "
			      "it was built");
	return TN_OK;
}

/* The module of the signature's text, in the engine's own. */
static enum tn_status read_module(struct tenon_engine *engine,
				  const char *path, const char *text,
				  size_t size)
{
	uint32_t file = tn_sink_add_source(&engine->context->sink, path,
					   text, size);

	engine->own = tn_module_open(engine->context, path);
	if (!file || !engine->own)
		return TN_IO;
	return tn_module_read(engine->own, file);
}

static enum tn_status read_signature(struct tenon_engine *engine,
				     const char *path, struct reader *r)
{
	struct tn_signature_counts counts = {0};
	struct tn_signature *s = &engine->signature;
	const char *name = get_text(r), *text, **names;
	enum tn_status status;
	size_t size;
	int i, n;

	counts.ninputs = get_count(r);
	counts.noutputs = get_count(r);
	counts.nguards = get_count(r);
	counts.nsyms = get_count(r);
	n = counts.ninputs + counts.noutputs;
	names = tn_arena_array(r->arena, (size_t)n + 1, sizeof(*names));
	for (i = 0; names && i < n; i++)
		names[i] = get_text(r);
	counts.guards = get_bytes(r, counts.nguards);
	counts.runtime = get_bytes(r, counts.nsyms);
	text = get_blob(r, &size);
	if (r->bad || r->arena->failed)
		return TN_BAD_INPUT;
	status = read_module(engine, path, text, size);
	if (status)
		return status;
	if (!tn_signature_read(r->arena, engine->own->ir, &counts, s))
		return TN_BAD_INPUT;
	s->name = name;
	for (i = 0; i < counts.ninputs; i++)
		s->inputs[i].name = names[i];
	for (i = 0; i < counts.noutputs; i++)
		s->outputs[i].name = names[counts.ninputs + i];
	return TN_OK;
}

static enum tn_status read_rest(struct tenon_engine *engine,
				const char *path, struct reader *r,
				struct tn_engine_parts *parts)
{
	const char *base = engine->map.data, *version;
	enum tn_status status;
	int64_t weights;
	size_t offset;

	if (get_number(r) != FORMAT)
		return refuse(engine->context, path,
			      "an engine of another format");
	version = get_text(r);
	if (!version || strcmp(version, TENON_VERSION))
		return refuse(engine->context, path,
			      "built by another version of Tenon");
	parts->target = get_text(r);
	parts->isa = get_text(r);
	parts->workspace = get_number(r);
	if (r->bad || !parts->target || !parts->isa)
		return refuse(engine->context, path, "malformed");
	status = tn_target_check(engine->context, parts->target, parts->isa,
				 path);
	if (!status)
		status = read_signature(engine, path, r);
	if (status)
		return status;
	parts->object = get_blob(r, &parts->object_size);
	weights = get_number(r);
	offset = (size_t)((const char *)r->at - base);
	offset += (PAGE - offset % PAGE) % PAGE;
	if (r->bad || weights < 0 || offset > engine->map.size ||
	    (uint64_t)weights != engine->map.size - offset)
		return refuse(engine->context, path, "malformed");
	parts->weights = weights ? base + offset : NULL;
	parts->weights_size = (size_t)weights;
	engine->target_name = parts->target;
	return TN_OK;
}

enum tn_status tn_engine_open(struct tenon_engine *engine, const char *path,
			      struct tn_engine_parts *parts)
{
	struct reader r = { .arena = &engine->arena };
	int error = tn_file_map(path, &engine->map);
	enum tn_status status;

	if (error)
		return tn_context_file(engine->context, TN_E0002, path,
				       error);
	status = check_seal(engine->context, path, &engine->map);
	if (status)
		return status;
	r.at = (const unsigned char *)engine->map.data + SEALED;
	r.left = engine->map.size - SEALED;
	return read_rest(engine, path, &r, parts);
}

bool tenon_engine_is(const char *path)
{
	char head[7];
	int fd = tn_file_is_regular(path) ?
		open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, head, 7) == 7 && !memcmp(head, MAGIC, 7);
	close(fd);
	return is;
}

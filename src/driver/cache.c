/*
 * The cache of compiled objects; see cache.h.
 */
#include "driver/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"

#define MAGIC "TNCACHE1"
#define HEAD (8 + 32 + 32)
#define ENDING ".tno"

/* The folder, in `buf`; false: there is none. */
static bool folder(const struct tenon_context *context, struct tn_buf *buf)
{
	const char *set = context->settings.cache;
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (set && !strcmp(set, "none"))
		return false;
	if (set)
		tn_buf_put(buf, set);
	else if (xdg && xdg[0] == '/')
		tn_buf_putf(buf, "%s/tenon", xdg);
	else if (home && home[0] == '/')
		tn_buf_putf(buf, "%s/.cache/tenon", home);
	else
		return false;
	return !buf->failed;
}

static bool entry_path(const struct tenon_context *context,
		       const unsigned char key[32], struct tn_buf *buf)
{
	char hex[65];

	if (!folder(context, buf))
		return false;
	tn_sha256_hex(key, hex);
	tn_buf_putf(buf, "/%s" ENDING, hex);
	return !buf->failed;
}

static void digest(const void *data, size_t size, unsigned char out[32])
{
	struct tn_sha256 sha;

	tn_sha256_init(&sha);
	tn_sha256_add(&sha, data, size);
	tn_sha256_end(&sha, out);
}

/* Whether the file is an entry of the key, whole and unchanged. */
static bool is_sound(const char *data, size_t size,
		     const unsigned char key[32])
{
	unsigned char sum[32];

	if (size < HEAD || memcmp(data, MAGIC, 8) ||
	    memcmp(data + 8, key, 32))
		return false;
	digest(data + HEAD, size - HEAD, sum);
	return !memcmp(data + 40, sum, 32);
}

bool tn_cache_get(struct tenon_context *context,
		  const unsigned char key[32], struct tn_buf *out)
{
	struct tn_buf path;
	char *data = NULL;
	size_t size = 0;
	bool found;

	tn_buf_init(&path);
	found = entry_path(context, key, &path) &&
		!tn_file_read(tn_buf_text(&path), &data, &size) &&
		is_sound(data, size, key);
	if (found) {
		tn_buf_putn(out, data + HEAD, size - HEAD);
		utimensat(AT_FDCWD, tn_buf_text(&path), NULL, 0);
	}
	free(data);
	tn_buf_fini(&path);
	return found && !out->failed;
}

/* ---- Keeping the folder small ------------------------------------------------ */

struct entry {
	char name[96];
	int64_t size;
	struct timespec used;
};

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_entry(const char *name)
{
	size_t len = strlen(name);

	return len < 96 && len > strlen(ENDING) &&
	       !strcmp(name + len - strlen(ENDING), ENDING);
}

/* All entries and their sizes together. */
static int64_t scan(DIR *dir, struct tn_vec *entries)
{
	struct dirent *item;
	struct entry *entry;
	struct stat info;
	int64_t total = 0;

	while ((item = readdir(dir))) {
		if (!is_entry(item->d_name) ||
		    fstatat(dirfd(dir), item->d_name, &info, 0))
			continue;
		entry = tn_vec_push(entries);
		if (!entry)
			break;
		strcpy(entry->name, item->d_name);
		entry->size = info.st_size;
		entry->used = info.st_mtim;
		total += info.st_size;
	}
	return total;
}

static void prune(const char *path, int64_t limit)
{
	DIR *dir = opendir(path);
	struct tn_vec entries;
	int64_t total;
	size_t i;

	if (!dir)
		return;
	tn_vec_init(&entries, sizeof(struct entry), NULL);
	total = scan(dir, &entries);
	if (total > limit)
		qsort(entries.data, entries.len, sizeof(struct entry),
		      by_age);
	for (i = 0; i < entries.len && total > limit; i++) {
		const struct entry *entry = tn_vec_at(&entries, i);

		if (!unlinkat(dirfd(dir), entry->name, 0))
			total -= entry->size;
	}
	tn_vec_fini(&entries);
	closedir(dir);
}

void tn_cache_put(struct tenon_context *context,
		  const unsigned char key[32], const void *data, size_t size)
{
	struct tn_buf path, file, dir;
	unsigned char sum[32];

	tn_buf_init(&path);
	tn_buf_init(&file);
	tn_buf_init(&dir);
	if (folder(context, &dir) && entry_path(context, key, &path) &&
	    !tn_file_mkdirs(tn_buf_text(&dir))) {
		digest(data, size, sum);
		tn_buf_putn(&file, MAGIC, 8);
		tn_buf_putn(&file, (const char *)key, 32);
		tn_buf_putn(&file, (const char *)sum, 32);
		tn_buf_putn(&file, data, size);
		if (!file.failed && !tn_file_write(tn_buf_text(&path),
						   file.data, file.len))
			prune(tn_buf_text(&dir), TN_CACHE_LIMIT);
	}
	tn_buf_fini(&path);
	tn_buf_fini(&file);
	tn_buf_fini(&dir);
}

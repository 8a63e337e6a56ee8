/*
 * Files by POSIX calls.
 *
 * A write goes to `PATH.tmp.PID.N` in the same folder and is renamed at the
 * end, so that a reader sees the old bytes or the new ones. Power failure is
 * not covered: the data is not forced to the disk before the rename. A file
 * that another program shortens while it is mapped raises SIGBUS on access;
 * maps are for files that nobody writes in place.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700	/* realpath */
#endif
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_TRIES 1000
#define STREAM_LIMIT ((size_t)1 << 30)

/* With O_NONBLOCK in `flags` a pipe that nobody writes to opens at once. */
static int open_read(const char *path, int flags, int *fd, struct stat *info)
{
	int error;

	do
		*fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	while (*fd < 0 && errno == EINTR);
	if (*fd < 0)
		return errno;
	if (fstat(*fd, info) == 0) {
		if (!S_ISDIR(info->st_mode))
			return 0;
		error = EISDIR;
	} else {
		error = errno;
	}
	close(*fd);
	return error;
}

/* Reads up to `size` bytes, fewer only at the end of the file. */
static int read_some(int fd, char *data, size_t size, size_t *got)
{
	*got = 0;
	while (*got < size) {
		size_t left = size - *got;
		ssize_t n = read(fd, data + *got,
				 left < SSIZE_MAX ? left : SSIZE_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return 0;
}

/* Reads to the end, `guess` bytes at first; pipes and growing files too. More
 * than `most` bytes are refused. */
static int read_all(int fd, size_t guess, size_t most, char **data,
		    size_t *size)
{
	size_t cap = guess, len = 0, got;
	char *text = NULL, *more;
	int error = 0;

	for (;;) {
		if (cap > SIZE_MAX / 2 || !(more = realloc(text, cap + 1))) {
			error = ENOMEM;
			break;
		}
		text = more;
		error = read_some(fd, text + len, cap - len, &got);
		len += got;
		if (!error && len > most)
			error = EFBIG;
		if (error || len < cap)
			break;
		cap *= 2;
	}
	if (error) {
		free(text);
		return error;
	}
	text[len] = '\0';
	*data = text;
	*size = len;
	return 0;
}

int tn_file_read(const char *path, char **data, size_t *size)
{
	struct stat info;
	size_t guess = 4096, most = STREAM_LIMIT;
	int fd, error = open_read(path, 0, &fd, &info);

	if (error)
		return error;
	if (S_ISREG(info.st_mode))
		most = SIZE_MAX;
	if (S_ISREG(info.st_mode) && info.st_size > 0) {
		if ((uintmax_t)info.st_size >= SIZE_MAX / 2) {
			close(fd);
			return EFBIG;
		}
		guess = (size_t)info.st_size + 1;
	}
	error = read_all(fd, guess, most, data, size);
	close(fd);
	return error;
}

int tn_file_map(const char *path, struct tn_file_map *map)
{
	struct stat info;
	void *data = NULL;
	int fd, error = open_read(path, O_NONBLOCK, &fd, &info);

	*map = (struct tn_file_map){0};
	if (error)
		return error;
	if (!S_ISREG(info.st_mode))
		error = ENODEV;
	else if ((uintmax_t)info.st_size > PTRDIFF_MAX)
		error = EFBIG;
	else if (info.st_size > 0)
		data = mmap(NULL, (size_t)info.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		error = errno;
	close(fd);
	if (error || !data)
		return error;
	*map = (struct tn_file_map){data, (size_t)info.st_size};
	return 0;
}

void tn_file_unmap(struct tn_file_map *map)
{
	if (map->data)
		munmap((void *)(uintptr_t)map->data, map->size);
	*map = (struct tn_file_map){0};
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size < SSIZE_MAX ? size :
				  SSIZE_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_parts(int fd, const struct tn_file_part *parts, size_t count)
{
	int error = 0;
	size_t i;

	for (i = 0; i < count && !error; i++)
		error = write_all(fd, parts[i].data, parts[i].size);
	return error;
}

/* A device or pipe (`/dev/stdout`) is written as it is. */
static int write_through(const char *path, const struct tn_file_part *parts,
			 size_t count)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;

	if (fd < 0)
		return errno;
	error = write_parts(fd, parts, count);
	if (close(fd) != 0 && !error)
		error = errno;
	return error;
}

/* Creates a file beside `path` that was not there; fills `temp`. */
static int open_temp(const char *path, char *temp, size_t size, int *fd)
{
	unsigned i;

	for (i = 0; i < TEMP_TRIES; i++) {
		snprintf(temp, size, "%s.tmp.%ld.%u", path, (long)getpid(), i);
		*fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			   0666);
		if (*fd >= 0)
			return 0;
		if (errno != EEXIST && errno != EINTR)
			return errno;
	}
	return EEXIST;
}

/* `old` is what stood at `path`, or NULL: its permissions stay. */
static int write_renamed(const char *path, const struct stat *old,
			 const struct tn_file_part *parts, size_t count)
{
	size_t room = strlen(path) + 48;
	char *temp = malloc(room);
	int fd, error;

	if (!temp)
		return ENOMEM;
	error = open_temp(path, temp, room, &fd);
	if (error) {
		free(temp);
		return error;
	}
	if (old && fchmod(fd, old->st_mode & 07777) != 0)
		error = errno;
	if (!error)
		error = write_parts(fd, parts, count);
	if (close(fd) != 0 && !error)
		error = errno;
	if (!error && rename(temp, path) != 0)
		error = errno;
	if (error)
		unlink(temp);
	free(temp);
	return error;
}

int tn_file_write(const char *path, const void *data, size_t size)
{
	struct tn_file_part part = { data, size };

	return tn_file_write_parts(path, &part, 1);
}

int tn_file_write_parts(const char *path, const struct tn_file_part *parts,
			size_t count)
{
	struct stat info;
	char *target;
	int error;

	if (stat(path, &info) != 0)
		return errno == ENOENT ?
			write_renamed(path, NULL, parts, count) : errno;
	if (S_ISDIR(info.st_mode))
		return EISDIR;
	if (!S_ISREG(info.st_mode))
		return write_through(path, parts, count);
	target = realpath(path, NULL);
	if (!target)
		return errno;
	error = write_renamed(target, &info, parts, count);
	free(target);
	return error;
}

static int make_one(const char *path)
{
	struct stat info;
	int error;

	if (mkdir(path, 0777) == 0)
		return 0;
	error = errno;
	if (stat(path, &info) == 0)
		return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
	return error;
}

int tn_file_mkdirs(const char *path)
{
	char *copy = strdup(path), *at;
	int error = 0;

	if (!copy)
		return ENOMEM;
	for (at = copy; *at && !error; at++) {
		if (*at != '/' || at == copy)
			continue;
		*at = '\0';
		error = make_one(copy);
		*at = '/';
	}
	if (!error)
		error = make_one(copy);
	free(copy);
	return error;
}

bool tn_file_is_regular(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char *tn_file_error(int error)
{
	return error == ENODEV ? "not a regular file" : strerror(error);
}

bool tn_file_exists(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0;
}

char *tn_file_dirname(struct tn_arena *arena, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	if (len == 0)
		return tn_arena_strndup(arena, ".", 1);
	while (len > 1 && path[len - 1] == '/')
		len--;
	return tn_arena_strndup(arena, path, len);
}

char *tn_file_join(struct tn_arena *arena, const char *folder,
		   const char *name)
{
	size_t len = strlen(folder);

	if (name[0] == '/' || len == 0 || strcmp(folder, ".") == 0)
		return tn_arena_strndup(arena, name, strlen(name));
	return tn_arena_printf(arena, "%s%s%s", folder,
			       folder[len - 1] == '/' ? "" : "/", name);
}

bool tn_file_is_inside(const char *name)
{
	if (name[0] == '\0' || name[0] == '/')
		return false;
	for (;;) {
		size_t len = strcspn(name, "/");

		if (len == 2 && name[0] == '.' && name[1] == '.')
			return false;
		if (name[len] == '\0')
			return true;
		name += len + 1;
	}
}

/* Whether `real` lies below the folder that `name` is in. */
static bool is_below(struct tn_arena *arena, const char *real,
		     const char *name)
{
	const char *folder = tn_file_dirname(arena, name);
	char *above = folder ? realpath(folder, NULL) : NULL;
	size_t len = above ? strlen(above) : 0;
	bool below = above && strncmp(real, above, len) == 0 &&
		(real[len] == '/' || strcmp(above, "/") == 0);

	free(above);
	return below;
}

bool tn_file_is_beside(struct tn_arena *arena, const char *path,
		       const char *beside)
{
	char *real = realpath(path, NULL), *target;
	bool good = !real || is_below(arena, real, beside);

	target = good ? NULL : realpath(beside, NULL);
	if (target)
		good = is_below(arena, real, target);
	free(target);
	free(real);
	return good;
}

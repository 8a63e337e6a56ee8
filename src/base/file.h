/*
 * Files: whole reads, read-only maps, and writes that appear whole or not at
 * all (temporary name in the same folder, then rename).
 * Functions return 0 or an errno value.
 */
#ifndef TN_BASE_FILE_H
#define TN_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct tn_file_map {
	const void *data;
	size_t size;
};

/* A piece of what is written. */
struct tn_file_part {
	const void *data;
	size_t size;
};

/* Reads a file whole; *data is malloc'd with one NUL byte after the end. Of
 * pipes and devices no more than 1 GiB: some have no end. */
int tn_file_read(const char *path, char **data, size_t *size);
/* Maps a regular file read-only; an empty file gives data NULL, size 0. A file
 * that is shortened while it is mapped raises SIGBUS on access. */
int tn_file_map(const char *path, struct tn_file_map *map);
void tn_file_unmap(struct tn_file_map *map);
/* Writes a file whole; on failure the old file, if any, is untouched. Its
 * permissions stay, a symbolic link is followed; a device or pipe is written
 * as it is. */
int tn_file_write(const char *path, const void *data, size_t size);
/* The same of several pieces, one after the other. */
int tn_file_write_parts(const char *path, const struct tn_file_part *parts,
			size_t count);
/* Makes a folder and its parents. */
int tn_file_mkdirs(const char *path);
bool tn_file_exists(const char *path);
bool tn_file_is_regular(const char *path);
/* What an errno value of these functions means. */
const char *tn_file_error(int error);
/* Folder part of `path` ("." if none), in the arena; NULL: no memory. */
char *tn_file_dirname(struct tn_arena *arena, const char *path);
/* `folder`/`name`, or `name` alone if it is absolute or folder is ".". */
char *tn_file_join(struct tn_arena *arena, const char *folder,
		   const char *name);
/* True if `name` is relative and no component is "..". */
bool tn_file_is_inside(const char *name);
/* False if `path`, links followed, lies neither in the folder of `beside` nor in
 * that of the file that `beside` is a link to (caches are farms of links). A
 * path that leads nowhere is no matter. */
bool tn_file_is_beside(struct tn_arena *arena, const char *path,
		       const char *beside);

#endif

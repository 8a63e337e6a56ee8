/*
 * Scratch folders: `tenon-cc-XXXXXX`, made by mkdtemp, removed by who made it.
 *
 * A run that is killed leaves its folder. The next one removes those that have
 * our name and our user, are folders themselves (not links to one), and are
 * older than an hour; what they hold is removed by name below an open folder,
 * without following links.
 */
#include "driver/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "tenon-cc-"
#define STALE 3600	/* seconds */
#define DEPTH 4		/* files lie in few folders below ours */

static bool is_ours(const char *name)
{
	return strlen(name) == strlen(PREFIX) + 6 &&
	       !strncmp(name, PREFIX, strlen(PREFIX));
}

static DIR *open_below(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Removes the folder and what it holds, as far as that goes. */
static void clear(int folder, const char *name, int depth)
{
	DIR *dir = open_below(folder, name);
	struct dirent *item;

	if (!dir)
		return;
	while ((item = readdir(dir))) {
		if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), item->d_name, 0) && depth > 0)
			clear(dirfd(dir), item->d_name, depth - 1);
	}
	closedir(dir);
	(void)unlinkat(folder, name, AT_REMOVEDIR);
}

static void sweep(const char *place)
{
	DIR *dir = opendir(place);
	time_t now = time(NULL);
	struct dirent *item;
	struct stat info;

	if (!dir)
		return;
	while ((item = readdir(dir)))
		if (is_ours(item->d_name) &&
		    !fstatat(dirfd(dir), item->d_name, &info,
			     AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
		    info.st_mtime < now - STALE)
			clear(dirfd(dir), item->d_name, DEPTH);
	closedir(dir);
}

int tn_scratch_make(struct tn_arena *arena, const char **path)
{
	const char *tmp = getenv("TMPDIR");
	char *made;

	if (!tmp || !tmp[0])
		tmp = "/tmp";
	sweep(tmp);
	made = tn_arena_printf(arena, "%s/" PREFIX "XXXXXX", tmp);
	*path = made;
	if (!made)
		return ENOMEM;
	return mkdtemp(made) ? 0 : errno;
}

void tn_scratch_drop(const char *path)
{
	clear(AT_FDCWD, path, DEPTH);
}

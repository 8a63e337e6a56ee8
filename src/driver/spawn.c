/*
 * Other programs by posix_spawn, with their output in a pipe.
 */
#include "driver/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* More than this is read and dropped. */
#define OUTPUT_LIMIT 65536

static void drain(int fd, struct tn_buf *output)
{
	char chunk[4096];
	ssize_t n;

	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		if (output->len < OUTPUT_LIMIT)
			tn_buf_putn(output, chunk, (size_t)n);
	}
}

static int start(const char *const *argv, const int ends[2], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
						 O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, ends[1],
							 1);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, ends[1],
							 2);
	if (!error)
		error = posix_spawnp(pid, argv[0], &actions, NULL,
				     (char *const *)(uintptr_t)argv,
				     environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int tn_spawn(const char *const *argv, struct tn_buf *output, int *status)
{
	int ends[2], error, raw = 0;
	pid_t pid;

	if (pipe(ends))
		return errno;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	error = start(argv, ends, &pid);
	close(ends[1]);
	if (!error) {
		drain(ends[0], output);
		while (waitpid(pid, &raw, 0) < 0 && errno == EINTR)
			continue;
		*status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) :
			WEXITSTATUS(raw);
	}
	close(ends[0]);
	return error;
}

bool tn_spawn_find(const char *name, struct tn_buf *out)
{
	const char *path = getenv("PATH");
	size_t len;

	if (strchr(name, '/')) {
		tn_buf_put(out, name);
		return access(name, X_OK) == 0;
	}
	for (; path; path = path[len] ? path + len + 1 : NULL) {
		len = strcspn(path, ":");
		tn_buf_clear(out);
		tn_buf_putn(out, path, len);
		tn_buf_putf(out, "%s%s", len ? "/" : "./", name);
		if (!out->failed && access(tn_buf_text(out), X_OK) == 0)
			return true;
	}
	return false;
}

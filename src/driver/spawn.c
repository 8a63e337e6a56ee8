/*
 * Other programs by posix_spawn, with their output in a pipe.
 */
#include "driver/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

/* ---- Filters ------------------------------------------------------------ */

/* More than this is no module. */
#define FILTER_LIMIT ((size_t)256 << 20)

/* A file without a name, read from its beginning; -1: errno. A pipe would have
 * to be fed while the other is read, and kill who writes to one that is
 * closed. */
static int make_input(const struct tn_buf *input)
{
	const char *folder = getenv("TMPDIR"), *at = tn_buf_text(input);
	size_t left = input->len;
	char path[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/tenonXXXXXX",
		 folder && folder[0] ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	unlink(path);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	while (left > 0) {
		n = write(fd, at, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -1;
		}
		at += n;
		left -= (size_t)n;
	}
	if (lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	return -1;
}

static int start_filter(const char *const *argv, int in, int out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, in, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (!error)
		error = posix_spawnp(pid, argv[0], &actions, NULL,
				     (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Milliseconds up to the deadline, at least 0. */
static int left_until(const struct timespec *deadline)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = 1000 * (int64_t)(deadline->tv_sec - now.tv_sec) +
		(deadline->tv_nsec - now.tv_nsec) / 1000000;
	return ms < 0 ? 0 : ms > 1000000 ? 1000000 : (int)ms;
}

/* Reads to the end of the output; 0, or why not. */
static int collect(int fd, struct tn_buf *output,
		   const struct timespec *deadline)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char chunk[65536];
	ssize_t n;
	int ms;

	for (;;) {
		ms = left_until(deadline);
		if (poll(&poll_fd, 1, ms) == 0 && ms == 0)
			return ETIMEDOUT;
		if (!poll_fd.revents)
			continue;
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		tn_buf_putn(output, chunk, (size_t)n);
		if (output->failed)
			return ENOMEM;
		if (output->len > FILTER_LIMIT)
			return EFBIG;
	}
}

/* It may close its output and go on. */
static int end_filter(pid_t pid, int error, const struct timespec *deadline,
		      int *raw)
{
	const struct timespec pause = { 0, 5000000 };
	pid_t done = 0;

	while (!error && (done = waitpid(pid, raw, WNOHANG)) == 0) {
		if (left_until(deadline) == 0)
			error = ETIMEDOUT;
		else
			nanosleep(&pause, NULL);
	}
	if (!error)
		return 0;
	kill(pid, SIGKILL);
	while (waitpid(pid, raw, 0) < 0 && errno == EINTR)
		continue;
	return error;
}

int tn_spawn_filter(const char *const *argv, const struct tn_buf *input,
		    struct tn_buf *output, int seconds, int *status)
{
	int ends[2], in = make_input(input), error = 0, raw = 0;
	struct timespec deadline;
	pid_t pid;

	if (in < 0)
		return errno;
	if (pipe(ends)) {
		error = errno;
		close(in);
		return error;
	}
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += seconds;
	error = start_filter(argv, in, ends[1], &pid);
	close(in);
	close(ends[1]);
	if (!error) {
		error = collect(ends[0], output, &deadline);
		error = end_filter(pid, error, &deadline, &raw);
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

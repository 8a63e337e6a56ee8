/* Running another program: by its arguments, never through a shell. */
#ifndef TN_DRIVER_SPAWN_H
#define TN_DRIVER_SPAWN_H

#include "base/buf.h"

/*
 * Runs argv[0] (found on PATH) to its end, standard input empty, both outputs
 * appended to `output`. Returns 0 and *status as wait gives it (exit status,
 * or 128 + signal), or an errno value if it could not be started.
 */
int tn_spawn(const char *const *argv, struct tn_buf *output, int *status);
/*
 * Runs argv[0] with `input` as standard input; standard output is appended to
 * `output`, standard error is the caller's. Returns 0 and *status as above;
 * ETIMEDOUT after so many seconds, EFBIG when it writes more than 256 MiB: it
 * was killed then; or another errno value.
 */
int tn_spawn_filter(const char *const *argv, const struct tn_buf *input,
		    struct tn_buf *output, int seconds, int *status);
/* The path that `name` is found at; in `out`, false if it is not there. */
bool tn_spawn_find(const char *name, struct tn_buf *out);

#endif

/*
 * A module read once more and taken through its passes up to some step, with
 * some fuel: how bisection sees one rewrite fewer.
 */
#ifndef TN_DRIVER_REPLAY_H
#define TN_DRIVER_REPLAY_H

#include "driver/module.h"
#include "driver/probe.h"

struct tn_replay {
	struct tenon_context *context;	/* its own */
	struct tenon_module *module;	/* its own */
	struct tn_fn *entry;
	struct tn_rw_last last;		/* rewrite; texts are the module's */
	const char *last_pass;		/* the pass that ran last, or NULL */
	int step;			/* its number, -1: none ran */
	int64_t spent;			/* units of fuel */
};

struct tn_replay_options {
	const struct tenon_module *of;	/* what is read again, and the
					 * settings, but for fuel and views */
	const char *fn;			/* entry */
	const char *passes;		/* a list, not "default" */
	int steps;			/* passes to run; -1: all */
	int64_t fuel;
};

/* Whatever comes of it, tn_replay_close is due. */
enum tn_status tn_replay_open(const struct tn_replay_options *options,
			      struct tn_replay *out);
void tn_replay_close(struct tn_replay *replay);
/* Replays what drops all that is not read, and notes what is raised then. */
enum tn_status tn_replay_least(const struct tenon_module *of, const char *fn,
			       const struct tn_probe *probe,
			       struct tn_probe_result *results);
/* Says in the context `to` which errors were reported. */
void tn_replay_tell(const struct tn_replay *replay, struct tenon_context *to);
/* "FILE:LINE:COLUMN" of a span of the replayed module; "" if it has none. */
void tn_replay_put_place(const struct tn_replay *replay, struct tn_span span,
			 struct tn_buf *out);

/* ---- Bisecting ---------------------------------------------------------- */

/* How much fuel does it take to go wrong? `is_bad` judges; the least fuel in
 * (lo, hi] that is bad, given that lo is good and hi is bad. */
struct tn_bisect {
	enum tn_status (*is_bad)(void *data, int64_t fuel, bool *bad);
	void *data;
};

enum tn_status tn_bisect_run(const struct tn_bisect *bisect, int64_t lo,
			     int64_t hi, int64_t *out);

#endif

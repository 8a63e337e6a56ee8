/*
 * Probes: sets of inputs for one function, and what the interpreter makes of
 * them. Two states of a function are held against each other by running both
 * on the same sets.
 *
 *   tn_probe_init(&probe, fn, 4);          sets that fn accepts
 *   tn_probe_run(&probe, fn, before);      one result a set
 *   ...the graph changes...
 *   tn_probe_run(&probe, fn, after);
 *   tn_probe_same(&before[0], &after[0], 0, &difference)
 */
#ifndef TN_DRIVER_PROBE_H
#define TN_DRIVER_PROBE_H

#include "base/status.h"
#include "base/vec.h"
#include "ir/graph.h"

#define TN_PROBE_MOST 64

struct tn_probe {
	int nsets, nin, nsyms;
	struct tn_tensor *in[TN_PROBE_MOST];	/* nin tensors a set */
	int64_t *dims[TN_PROBE_MOST];		/* a value a symbol */
};

/* A value of the function under its own name, as bits. */
struct tn_probe_seen {
	const char *name;	/* interned */
	const char *op;
	const struct tn_type *type;
	uint64_t hash;
};

struct tn_probe_result {
	struct tn_tensor *out;
	int nout;
	uint32_t flags;
	uint32_t least;		/* of them, those of what is surely read:
				 * passes may drop others, see reads.h */
	struct tn_vec seen;	/* struct tn_probe_seen, in order of the run */
	struct tn_map by_name;	/* name -> number in `seen`, + 1 */
};

/* The first element at which two results differ. */
struct tn_probe_difference {
	int output;		/* -1: it is the flags that differ */
	int64_t at;
	char before[32], after[32];	/* the values there */
	const struct tn_probe_seen *first;	/* of the named values, or
						 * NULL */
};

/* Special values: zeros of both signs, denormals, extremes, infinities, NaN,
 * the least and greatest integers. Set 0 has these alone, 1 moderate values, 2
 * whole numbers, 3 a mixture, and so on in turn. The same for the same seed. */
void tn_probe_fill(struct tn_tensor *tensor, int set, uint64_t seed);

/* `count` sets with sizes and values that `fn` accepts; fewer if it is hard to
 * find them. TN_IO: no memory. */
enum tn_status tn_probe_init(struct tn_probe *probe, const struct tn_fn *fn,
			     int count);
void tn_probe_fini(struct tn_probe *probe);
/* Results of all sets. BAD_INPUT and others: what the interpreter said of the
 * first set that failed, in `why`. */
enum tn_status tn_probe_run(const struct tn_probe *probe,
			    const struct tn_fn *fn,
			    struct tn_probe_result *results,
			    struct tn_buf *why);
/* The result of one set. It is dropped by tn_probe_drop_one. */
enum tn_status tn_probe_run_one(const struct tn_probe *probe,
				const struct tn_fn *fn, int set,
				struct tn_probe_result *result,
				struct tn_buf *why);
void tn_probe_drop_one(struct tn_probe_result *result);
void tn_probe_drop(const struct tn_probe *probe,
		   struct tn_probe_result *results);
/* What must be raised is what `fn` raises, which has nothing unread. */
enum tn_status tn_probe_set_least(const struct tn_probe *probe,
				  const struct tn_fn *fn,
				  struct tn_probe_result *results);
/* Equal by bits, but for payloads of NaNs and the signs of zeros, which the
 * language leaves open. Floats may be apart by `rtol`
 * times the largest finite magnitude of their output; with rtol > 0 those that
 * are not finite are left out. */
bool tn_probe_same(const struct tn_probe_result *before,
		   const struct tn_probe_result *after, double rtol,
		   struct tn_probe_difference *out);
/* "N = 3, M = 0" */
void tn_probe_put_dims(const struct tn_probe *probe, int set,
		       const struct tn_module *module, struct tn_buf *out);

#endif

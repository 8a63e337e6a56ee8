/* One run of an engine under way: inputs, dims, outputs. */
#ifndef TN_DRIVER_CALL_H
#define TN_DRIVER_CALL_H

#include "driver/engine.h"

enum tn_input_state {
	TN_INPUT_NONE, TN_INPUT_LENT, TN_INPUT_OWNED,
	TN_INPUT_RANDOM, TN_INPUT_SPECIAL, TN_INPUT_ZERO /* shaped by the dims */
};

struct tn_call_input {
	enum tn_input_state state;
	struct tn_tensor tensor;
	uint64_t seed;
	bool made;		/* RANDOM, ZERO: tensor is allocated */
};

struct tenon_call {
	struct tenon_engine *engine;
	struct tn_call_input *inputs;
	struct tn_tensor *tensors;	/* of the inputs, as run */
	int64_t *dims;			/* by symbol */
	bool *bound, *asked;		/* known; by --dim */
	int64_t *wish;			/* of asked ones */
	const char **from;		/* what fixed it, for messages */
	const struct tn_dim **map;	/* the same as dims, while solving */
	struct tn_tensor *outputs;
	struct tenon_tensor *shown;	/* the same for the caller */
	bool has_run;			/* outputs are those of a run */
	void *workspace;
	struct tn_arena arena;
};

/* Finds the dims from inputs and wishes, checks bounds and guards. */
enum tn_status tn_call_bind(struct tenon_call *call);
/* Reads a text such as "2x2xf32=1 2 3 4"; owned. */
enum tn_status tn_call_parse(struct tenon_context *context,
			     const char *name, const char *text,
			     struct tn_tensor *out);

#endif

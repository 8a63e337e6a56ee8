/*
 * What a context holds, for the files of the driver.
 *
 * Every public function ends with tn_context_end, which hands new messages to
 * the callback and turns a want of memory into its message and status.
 */
#ifndef TN_DRIVER_CONTEXT_H
#define TN_DRIVER_CONTEXT_H

#include "base/diag.h"
#include "base/event.h"
#include "base/intern.h"
#include "driver/tenon.h"

/* See tenon_context_set. Texts live in the context's arena. */
struct tn_settings {
	const char *target, *passes, *fn, *cc, *cxx, *nvcc, *cache, *keep;
	const char *print_after, *stop_after, *fp, *rules;
	const char *print_changed, *dump_dir;
	const char *bounds;	/* "N=1:8,M=4" of imported files, and: */
	const char *lengths, *shapes;	/* "x=3,y=1", "x=2x3,y=?x4" */
	const char *fixes;	/* "axes=2xi64=0 1", one a line */
	bool emulate, allow_outside, verify_each, time_passes;
	bool check_analyses;
	bool no_composites;	/* imported models stay as they are spelt */
	bool random_weights;
	int64_t seed;		/* of random_weights */
	int64_t fuel;
	int threads;
	int check_each;		/* random inputs a pass; 0: none */
};

struct tenon_context {
	struct tn_arena arena;
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_settings settings;
	void (*report)(void *data, const struct tenon_message *message);
	void *report_data;
	void (*show)(void *data, const char *pass, const char *text);
	void *show_data;
	void (*print)(void *data, const char *label,
		      const struct tenon_tensor *tensor);
	void *print_data;
	void (*hold)(void *data, bool begins);
	void *hold_data;
	struct tn_events events;	/* written to by modules, if: */
	bool has_events;		/* somebody listens */
	size_t handed;		/* messages given to `report` */
	struct tn_vec plugins;	/* const struct tn_plugin *, see plugin.h; */
	struct tn_vec passes;	/* struct tn_pass * of them; */
	struct tn_vec backends;	/* const struct tn_backend * of them */
};

/* Reports without a place. */
struct tn_diag *tn_context_report(struct tenon_context *context,
				  enum tn_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "out of memory" as a message; TN_IO. */
enum tn_status tn_context_nomem(struct tenon_context *context);
/* A file that cannot be read or written, by errno; TN_IO. */
enum tn_status tn_context_file(struct tenon_context *context,
			       enum tn_code code, const char *path,
			       int error);
/* Says `did you mean` if a candidate is near, else `otherwise`. */
void tn_context_suggest(struct tenon_context *context, struct tn_diag *diag,
			const char *name, const char *const *candidates,
			size_t count, const char *otherwise);
/* Where stages write their events; NULL: nobody listens. */
struct tn_events *tn_context_events(struct tenon_context *context);
enum tenon_status tn_context_end(struct tenon_context *context,
				 enum tn_status status);
/* Gives the text of `buf` away (and ends buf) as the result of a function. */
enum tenon_status tn_context_text(struct tenon_context *context,
				  struct tn_buf *buf, char **out);

#endif

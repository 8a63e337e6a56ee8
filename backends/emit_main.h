/*
 * The example program of an emitted folder.
 */
#ifndef TN_BACKENDS_EMIT_MAIN_H
#define TN_BACKENDS_EMIT_MAIN_H

#include "backends/emit_host.h"

/* What differs; @ stands for the name. */
struct tn_main {
	const char *workspace;	/* expression: that of N_run */
	const char *init_device;	/* statements after N_init */
	const char *device;	/* statements after N_run: a device failed */
	const char *end;	/* statements at the end */
};

/* NAME_main.c; the steps of the run are printed before. */
void tn_main_put(struct tn_host *host, const struct tn_main *words,
		 struct tn_buf *out);

#endif

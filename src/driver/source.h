/*
 * Files and texts to syntax trees; the one place of the driver that sees the
 * tree's header, whose names are also those of the graph.
 */
#ifndef TN_DRIVER_SOURCE_H
#define TN_DRIVER_SOURCE_H

#include "driver/context.h"

struct tn_tree;

/* Reads a file ("-": standard input) into the sink; 0 after a report. */
uint32_t tn_source_read(struct tenon_context *context, const char *path,
			enum tn_status *status);
/* The tree of a source, in `arena`; NULL: no memory. */
struct tn_tree *tn_source_parse(struct tenon_context *context,
				struct tn_arena *arena, uint32_t file);
/* The number of the file that source `from` includes as `path` at `span`; 0
 * after a report. One file has one number, by whatever path. */
uint32_t tn_source_include(struct tenon_context *context,
			   struct tn_arena *arena, const char *path,
			   uint32_t from, struct tn_span span);
/* `path` as seen from the folder of source `file`; in the arena. */
char *tn_source_beside(struct tenon_context *context,
		       struct tn_arena *arena, uint32_t file,
		       const char *path);

#endif

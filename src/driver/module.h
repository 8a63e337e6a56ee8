/* A module in the driver: the graph, and where its text and weights lie. */
#ifndef TN_DRIVER_MODULE_H
#define TN_DRIVER_MODULE_H

#include "base/file.h"
#include "driver/context.h"
#include "driver/tensorfile.h"
#include "grammar/elaborate.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "passes/pass.h"

/* A weight file once opened; views into it live as long as the module. */
struct tn_weight_file {
	const char *path;
	struct tn_tensorfile *file;
};

/* A file that was mapped for an importer. */
struct tn_mapping {
	const char *path;
	struct tn_file_map map;
};

struct tenon_module {
	struct tenon_context *context;	/* borrowed */
	struct tn_arena arena;		/* trees, paths */
	const char *path;		/* as given */
	uint32_t file;			/* number of its source */
	const char *stem;		/* of the file name, fit for C */
	struct tn_elab *elab;
	struct tn_module *ir;
	struct tn_vec tests;		/* struct tn_test */
	bool has_tests;			/* they were made */
	bool has_weights;		/* all values came with the graph */
	struct tn_vec files;		/* struct tn_weight_file */
	struct tn_vec mappings;		/* of imported files: foreign.c */
	struct tn_rule_set rules;	/* of `simplify`; see has_rules */
	int nlibrary_rules;		/* those of the library come first */
	bool has_rules;			/* they were read */
	struct tn_timing timing;
	bool has_passed;		/* passes were run by the user */
	int npasses;			/* run so far, if they are watched */
	struct tenon_module *before;	/* what an external pass replaced, which
					 * has to outlive this; or NULL */
};

/* The function to compile; NULL after a report. */
struct tn_fn *tn_module_pick(struct tenon_module *module);
/* Reads the rules, once: those of the library, of the module and of the file
 * that the settings name. */
enum tn_status tn_module_read_rules(struct tenon_module *module);
/* The same for passes: `data` is the module; NULL after a report. */
const struct tn_rule_set *tn_module_rules(void *data);
/* Makes the tests; BAD_INPUT if any has errors. */
enum tn_status tn_module_make_tests(struct tenon_module *module);
/* The passes that the settings name, one by one; "" for want of memory. */
const char *tn_module_passes(struct tenon_module *module);
/* Takes the entry through the passes that the settings name and on to what
 * `target` needs. REF: stops short of kernels. */
enum tn_status tn_module_lower(struct tenon_module *module,
			       struct tn_fn **entry,
			       const struct tn_target *target);
/* Runs a list of passes with the settings. One of them may put another module
 * and entry in place of these. */
enum tn_status tn_module_pipeline(struct tenon_module *module,
				  struct tn_fn **entry,
				  const struct tn_target *target,
				  const char *passes);
/* An empty module with everything but its graph; NULL: no memory. */
struct tenon_module *tn_module_open(struct tenon_context *context,
				    const char *path);
/* Parses and elaborates source `file` into it. */
enum tn_status tn_module_read(struct tenon_module *module, uint32_t file);

#endif

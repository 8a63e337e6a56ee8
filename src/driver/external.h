/*
 * The pass `external{timeout=SECONDS COMMAND}`: another program as a pass.
 *
 * COMMAND is words parted by blanks, run without a shell. It reads the
 * module's canonical text on standard input and writes a module on standard
 * output; its standard error is the caller's. What it wrote is parsed and
 * takes the place of the module, for the passes after it too. The function
 * that is compiled must keep its name, head and dims.
 */
#ifndef TN_DRIVER_EXTERNAL_H
#define TN_DRIVER_EXTERNAL_H

#include "driver/module.h"

#define TN_EXTERNAL "external"

struct tn_external {
	struct tn_pass pass;		/* its data is this */
	struct tenon_module *module;
	struct tn_fn **entry;		/* of the caller; follows the module */
};

/* Puts into the options the passes of plug-ins and, if *entry is a function
 * that a text can replace, `external`. `external` and `entry` must outlive the
 * run. */
enum tn_status tn_external_offer(struct tn_external *external,
				 struct tenon_module *module,
				 struct tn_fn **entry,
				 struct tn_pass_options *options);

#endif

/* What the user says of a model for its import: bounds of its sizes; values,
 * lengths and shapes of its inputs. */
#ifndef TN_DRIVER_GIVEN_H
#define TN_DRIVER_GIVEN_H

#include "driver/module.h"
#include "importers/importer.h"

/* Entries of one option. */
#define TN_GIVEN_MOST 64

struct tn_given_lists {
	struct tn_import_dim dims[TN_GIVEN_MOST];
	struct tn_import_fix fixes[TN_GIVEN_MOST];
	struct tn_import_length lengths[TN_GIVEN_MOST];
	struct tn_import_shape shapes[TN_GIVEN_MOST];
};

/* Reads the settings into `given` and makes the import point there. USAGE after
 * a report, or what a file of a value gives. */
enum tn_status tn_given_read(struct tenon_module *module,
			     struct tn_import *import,
			     struct tn_given_lists *given);
/* What the model did not ask for is reported: USAGE. */
enum tn_status tn_given_check(struct tenon_module *module,
			      struct tn_import *import);
void tn_given_fini(struct tn_import *import);

#endif

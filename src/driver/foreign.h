/*
 * Files of other systems, read as modules.
 */
#ifndef TN_DRIVER_FOREIGN_H
#define TN_DRIVER_FOREIGN_H

#include "driver/module.h"

/* Whether the name is that of such a file: it ends in .onnx. */
bool tn_foreign_is(const char *path);
/* Imports the file into an opened module. */
enum tn_status tn_foreign_read(struct tenon_module *module, const char *path);
/* Ends the mappings of files that the module's weights lie in. */
void tn_foreign_close(struct tenon_module *module);

#endif

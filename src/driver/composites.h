/*
 * What a network is made of, found again in a model where it is spelt out.
 */
#ifndef TN_DRIVER_COMPOSITES_H
#define TN_DRIVER_COMPOSITES_H

#include "driver/module.h"

/* Applies passes/composites.tn to `main` of an imported module. */
enum tn_status tn_composites_find(struct tenon_module *module);

#endif

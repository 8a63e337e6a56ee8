/*
 * From emitted C to a shared object, by the user's C compiler or out of the
 * cache.
 */
#ifndef TN_DRIVER_TOOLCHAIN_H
#define TN_DRIVER_TOOLCHAIN_H

#include "backends/c/c.h"
#include "driver/context.h"

/* Compiles the emission with the engine's glue; appends the object. */
enum tn_status tn_toolchain_c(struct tenon_context *context,
			      const struct tn_emission *emission,
			      const struct tn_target *target,
			      struct tn_buf *object);
/* Writes the files of an emission into a folder, each by rename. */
enum tn_status tn_toolchain_write(struct tenon_context *context,
				  const struct tn_emission *emission,
				  const char *folder);
/* All bytes of the weights file, at a multiple of 64; freed by free. NULL with
 * *size 0: there are none. */
enum tn_status tn_toolchain_weights(struct tenon_context *context,
				    const struct tn_emission *emission,
				    void **bytes, size_t *size);

#endif

/*
 * From emitted code to a shared object, by the user's compilers or out of the
 * cache.
 */
#ifndef TN_DRIVER_TOOLCHAIN_H
#define TN_DRIVER_TOOLCHAIN_H

#include "backends/emission.h"
#include "driver/context.h"
#include "ir/target.h"

/* Compiles the emission with the engine's glue; appends the object. */
enum tn_status tn_toolchain_compile(struct tenon_context *context,
				    const struct tn_emission *emission,
				    const struct tn_target *target,
				    struct tn_buf *object);
/* Writes the files of an emission into a folder, each by rename. */
enum tn_status tn_toolchain_write(struct tenon_context *context,
				  const struct tn_emission *emission,
				  const char *folder);
/* Writes one file below the folder, which may be in a folder of its own. */
enum tn_status tn_toolchain_put(struct tenon_context *context,
				const char *folder, const char *name,
				const void *data, size_t size);
/* All bytes of the weights file, at a multiple of 64; freed by free. NULL with
 * *size 0: there are none. */
enum tn_status tn_toolchain_weights(struct tenon_context *context,
				    const struct tn_emission *emission,
				    void **bytes, size_t *size);

#endif

/*
 * The cache of compiled objects, $XDG_CACHE_HOME/tenon or ~/.cache/tenon.
 *
 * An entry is a file named by the SHA-256 of all that the object depends on:
 * emitted text, flags, compiler, CPU, version of Tenon. It holds that key and a
 * checksum, so that a truncated or foreign file is a miss and is written anew.
 * Entries appear whole by rename; processes may share the folder. What was not
 * used for longest goes when the folder grows beyond its bound.
 */
#ifndef TN_DRIVER_CACHE_H
#define TN_DRIVER_CACHE_H

#include "base/buf.h"
#include "driver/context.h"

#define TN_CACHE_LIMIT (INT64_C(1) << 30)	/* bytes */

/* Appends the object of the key; false: not there. */
bool tn_cache_get(struct tenon_context *context,
		  const unsigned char key[32], struct tn_buf *out);
/* Keeps an object. A cache that cannot be written is no error. */
void tn_cache_put(struct tenon_context *context,
		  const unsigned char key[32], const void *data, size_t size);

#endif

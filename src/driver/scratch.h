/* Folders in which compilers work, and what killed runs have left of them. */
#ifndef TN_DRIVER_SCRATCH_H
#define TN_DRIVER_SCRATCH_H

#include "base/arena.h"

/* A fresh folder of ours in $TMPDIR or /tmp, in *path. An errno value. Folders
 * of earlier runs that nobody has touched for an hour are removed before. */
int tn_scratch_make(struct tn_arena *arena, const char **path);
/* Removes such a folder and what lies in it. */
void tn_scratch_drop(const char *path);

#endif

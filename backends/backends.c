/* The table of back ends; see backend.h. */
#include "backends/backend.h"

const struct tn_backend *const tn_backends[] = {
#define BACKEND(id) &tn_backend_##id,
#include "backends/backends.def"
#undef BACKEND
};

const int tn_nbackends = (int)(sizeof(tn_backends) / sizeof(*tn_backends));

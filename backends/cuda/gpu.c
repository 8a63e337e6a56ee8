/*
 * Whether this computer has a GPU for CUDA, asked of its driver.
 *
 * The driver is loaded only when it is asked; Tenon is not linked with CUDA.
 * Function types and numbers are those of cuda.h, which is not needed.
 */
#include "backends/cuda/cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER "libcuda.so.1"
#define CAPABILITY_MAJOR 75
#define CAPABILITY_MINOR 76

typedef int init_function(unsigned flags);
typedef int count_function(int *count);
typedef int attribute_function(int *value, int attribute, int device);

struct driver {
	init_function *init;
	count_function *count;
	attribute_function *attribute;
};

/* Functions through memory: ISO C has no cast from object pointers. */
static bool find(void *handle, const char *name, void *function)
{
	void *found = dlsym(handle, name);

	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool judge(const struct driver *driver, const char *arch,
		  struct tn_buf *why)
{
	int wanted = atoi(arch + strlen("sm_")), count = 0, best = 0;
	int major = 0, minor = 0, i;

	if (driver->init(0) || driver->count(&count) || !count) {
		tn_buf_put(why, "there is no GPU that CUDA can use");
		return false;
	}
	for (i = 0; i < count; i++) {
		if (driver->attribute(&major, CAPABILITY_MAJOR, i) ||
		    driver->attribute(&minor, CAPABILITY_MINOR, i))
			continue;
		if (10 * major + minor > best)
			best = 10 * major + minor;
	}
	if (best >= wanted)
		return true;
	tn_buf_putf(why, "the GPU is sm_%d", best);
	return false;
}

bool tn_cuda_has_gpu(const char *arch, struct tn_buf *why)
{
	void *handle = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);
	struct driver driver;
	bool has = false;

	if (!handle) {
		tn_buf_put(why, "there is no CUDA driver (" DRIVER ")");
		return false;
	}
	if (find(handle, "cuInit", &driver.init) &&
	    find(handle, "cuDeviceGetCount", &driver.count) &&
	    find(handle, "cuDeviceGetAttribute", &driver.attribute))
		has = judge(&driver, arch, why);
	else
		tn_buf_put(why, "the CUDA driver is none");
	dlclose(handle);
	return has;
}

/*
 * The commands of each target; see recipe.h. In the texts here % stands for
 * the folder and @ for the name of the emission.
 */
#include "driver/recipe.h"

#include <string.h>
#include <unistd.h>

#include "backends/c/c.h"
#include "driver/spawn.h"

/* Where the toolkit is if its programs are not on PATH. */
#define TOOLKIT "/usr/local/cuda/bin/"

/* nodelete: threads of OpenMP may outlive the engine. */
#ifdef __ELF__
#define STAY " -Wl,-z,nodelete"
#else
#define STAY ""
#endif

static const char with_c[] =
	" " TN_RECIPE_OPENMP STAY " %/@.c %/" TN_RECIPE_GLUE
	" -o %/" TN_RECIPE_OBJECT " -lm\n";

static const char emulated_kernels[] =
	" -std=c++11 -O2 -w -ffp-contract=off -fno-exceptions -fPIC -I%/emu "
	"-I%/emu/include -c %/@_emu.cpp -o %/kernels.o\n";

static const char emulated_host[] =
	" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -w -fPIC -I%/emu/include "
	"-shared %/@_host.c %/" TN_RECIPE_GLUE " %/kernels.o "
	"%/emu/tn_emu_grid.c %/emu/tn_emu_fiber.c %/emu/tn_emu_host.c "
	"-o %/" TN_RECIPE_OBJECT " -lm -lpthread\n";

static const char with_nvcc[] =
	" -fmad=false -O3 -w -Xcompiler -fPIC -shared %/@.cu %/@_host.c "
	"%/" TN_RECIPE_GLUE " -o %/" TN_RECIPE_OBJECT "\n";

const char *tn_recipe_product(int i)
{
	static const char *const names[] = {
		TN_RECIPE_GLUE, TN_RECIPE_OBJECT, "kernels.o"
	};

	return i >= 0 && (size_t)i < sizeof(names) / sizeof(*names) ?
		names[i] : NULL;
}

static void put_text(struct tn_buf *out, const char *text, const char *name)
{
	for (; *text; text++) {
		if (*text == '@')
			tn_buf_put(out, name);
		else
			tn_buf_putc(out, *text == '%' ? TN_RECIPE_FOLDER :
				    *text);
	}
}

/* nvcc as the settings name it; where CUDA puts it if it is not on PATH. */
static void put_nvcc(const char *name, struct tn_buf *out)
{
	struct tn_buf found;

	tn_buf_init(&found);
	if (!strcmp(name, "nvcc") && !tn_spawn_find(name, &found) &&
	    access(TOOLKIT "nvcc", X_OK) == 0)
		name = TOOLKIT "nvcc";
	tn_buf_fini(&found);
	tn_buf_put(out, name);
}

static void put_cuda(const struct tn_settings *settings, const char *name,
		     const struct tn_target *target, struct tn_buf *out)
{
	if (settings->emulate) {
		tn_buf_put(out, settings->cxx);
		put_text(out, emulated_kernels, name);
		tn_buf_put(out, settings->cc);
		put_text(out, emulated_host, name);
		return;
	}
	put_nvcc(settings->nvcc, out);
	tn_buf_putf(out, " -arch=%s", target->isa);
	put_text(out, with_nvcc, name);
}

enum tn_status tn_recipe_put(struct tenon_context *context,
			     const struct tn_emission *emission,
			     const struct tn_target *target,
			     struct tn_buf *out)
{
	switch (target->kind) {
	case TN_TARGET_C:
		tn_buf_putf(out, "%s -std=c11 -O3 -fPIC -shared -w "
			    "-ffp-contract=off -fno-math-errno %s",
			    context->settings.cc, tn_target_c_flags(target));
		put_text(out, with_c, emission->name);
		break;
	case TN_TARGET_CUDA:
		put_cuda(&context->settings, emission->name, target, out);
		break;
	case TN_TARGET_REF:
		return TN_UNSUPPORTED;
	}
	return out->failed ? TN_IO : TN_OK;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t len = strlen(name), n = strlen(ending);

	return len > n && !strcmp(name + len - n, ending);
}

/* The example program of a folder is not part of the object. */
bool tn_recipe_uses(const struct tn_emission *emission,
		    const struct tn_target *target, int file)
{
	const struct tn_emitted *emitted = &emission->files[file];

	if (emitted->is_weights || ends_with(emitted->name, "_main.c"))
		return false;
	return ends_with(emitted->name, ".h") ||
	       ends_with(emitted->name, ".c") ||
	       (target->kind == TN_TARGET_CUDA &&
		(ends_with(emitted->name, ".cu") ||
		 ends_with(emitted->name, ".cpp")));
}

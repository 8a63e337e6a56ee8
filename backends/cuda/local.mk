# Automake fragment of backends/cuda; see Makefile.am for the lists.
libtenon_la_SOURCES += \
	backends/cuda/cuda.c \
	backends/cuda/cuda.h \
	backends/cuda/cuda_api.c \
	backends/cuda/cuda_body.c \
	backends/cuda/cuda_files.c \
	backends/cuda/cuda_host.c \
	backends/cuda/cuda_impl.h \
	backends/cuda/cuda_kernel.c \
	backends/cuda/cuda_shape.c \
	backends/cuda/gpu.c \
	backends/cuda/target.c

# The stand-in goes into every emitted folder, so its text is in the library.
cuda_embedded = \
	backends/cuda/emu/include/cuda_runtime.h.inc \
	backends/cuda/emu/tn_emu.h.inc \
	backends/cuda/emu/tn_emu_fiber.c.inc \
	backends/cuda/emu/tn_emu_fiber.h.inc \
	backends/cuda/emu/tn_emu_grid.c.inc \
	backends/cuda/emu/tn_emu_grid.h.inc \
	backends/cuda/emu/tn_emu_host.c.inc
BUILT_SOURCES += $(cuda_embedded)
EXTRA_DIST += $(cuda_embedded)
MAINTAINERCLEANFILES += $(cuda_embedded)
backends/cuda/cuda_files.lo: $(cuda_embedded)

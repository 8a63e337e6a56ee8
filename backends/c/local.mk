# Automake fragment of backends/c; see Makefile.am for the lists.

libtenon_la_SOURCES += \
	backends/c/c.c backends/c/c.h \
	backends/c/c_api.c \
	backends/c/c_files.c \
	backends/c/c_impl.h \
	backends/c/c_kernel.c \
	backends/c/c_launch.c \
	backends/c/c_text.c \
	backends/c/target.c

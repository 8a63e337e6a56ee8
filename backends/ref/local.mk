# Automake fragment of backends/ref; see Makefile.am for the lists.

libtenon_la_SOURCES += \
	backends/ref/backend.c \
	backends/ref/ref.c backends/ref/ref.h \
	backends/ref/ref_bind.c \
	backends/ref/ref_flow.c \
	backends/ref/ref_impl.h

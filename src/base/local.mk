# Automake fragment of src/base; see Makefile.am for the lists.

libtenon_la_SOURCES += \
	src/base/arena.c src/base/arena.h \
	src/base/ascii.h \
	src/base/buf.c src/base/buf.h \
	src/base/diag.c src/base/diag.h \
	src/base/diag_json.c \
	src/base/diag_text.c \
	src/base/event.c src/base/event.h \
	src/base/event_read.c src/base/event_read.h \
	src/base/excerpt.c src/base/excerpt.h \
	src/base/file.c src/base/file.h \
	src/base/half.c src/base/half.h \
	src/base/intern.c src/base/intern.h \
	src/base/map.c src/base/map.h \
	src/base/nearest.c \
	src/base/num.c src/base/num.h \
	src/base/numloc.c src/base/numloc.h \
	src/base/random.h \
	src/base/sha256.c src/base/sha256.h src/base/sha256_x86.c \
	src/base/sha256_x86.h src/base/compiler.h \
	src/base/status.h \
	src/base/unit.c src/base/unit.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/vec.c src/base/vec.h

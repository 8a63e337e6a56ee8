/*
 * A stand-in for the C library's allocator that refuses one request.
 *
 *   LD_PRELOAD=refuse.so REFUSE_AT=17 REFUSE_LOG=log tenon check x.tn
 *
 * The request REFUSE_AT (from 1) gets NULL; 0: none. At exit a line goes to
 * REFUSE_LOG: how many requests there were, and how many blocks were never
 * given back. For glibc, which gives its own functions second names. Only the
 * process that is started counts; what it starts inherits nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *memory);

static atomic_long requests, blocks, target;
static atomic_int ready;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("REFUSE_AT");

	atomic_store(&target, at ? atol(at) : 0);
	atomic_store(&requests, 0);
	atomic_store(&blocks, 0);
	atomic_store(&ready, 1);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("REFUSE_LOG");
	char line[64];
	int file, len;

	if (!path)
		return;
	len = snprintf(line, sizeof(line), "%ld %ld\n",
		       atomic_load(&requests), atomic_load(&blocks));
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file >= 0 && write(file, line, (size_t)len) == len)
		close(file);
}

static int is_refused(void)
{
	if (!atomic_load(&ready))
		return 0;
	if (atomic_fetch_add(&requests, 1) + 1 != atomic_load(&target))
		return 0;
	errno = ENOMEM;
	return 1;
}

static void *counted(void *memory)
{
	if (memory)
		atomic_fetch_add(&blocks, 1);
	return memory;
}

void *malloc(size_t size)
{
	return is_refused() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
	void *memory;

	if (is_refused())
		return NULL;
	memory = __libc_realloc(old, size);
	if (!old)
		counted(memory);
	return memory;
}

int posix_memalign(void **out, size_t align, size_t size)
{
	if (is_refused())
		return ENOMEM;
	*out = counted(__libc_memalign(align, size));
	return *out ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t size)
{
	return is_refused() ? NULL : counted(__libc_memalign(align, size));
}

void free(void *memory)
{
	if (memory)
		atomic_fetch_sub(&blocks, 1);
	__libc_free(memory);
}

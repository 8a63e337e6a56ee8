/*
 * Times the parser alone: reads the file argv[1], parses it a few times, each
 * time into a fresh arena, and prints the best rate in MB/s (10^6 bytes) of
 * CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "grammar/syntax.h"

enum { ROUNDS = 5 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of one parse; below 0: it failed. */
static double once(const char *name, const char *text, size_t size)
{
	struct tn_intern names;
	struct tn_arena arena;
	struct tn_sink sink;
	struct tn_tree *tree;
	double start, seconds;

	tn_sink_init(&sink);
	tn_intern_init(&names);
	tn_arena_init(&arena);
	start = now();
	tree = tn_parse(&sink, &names, &arena,
			tn_sink_add_source(&sink, name, text, size));
	seconds = now() - start;
	if (!tree || tree->errors)
		seconds = -1;
	tn_arena_fini(&arena);
	tn_intern_fini(&names);
	tn_sink_fini(&sink);
	return seconds;
}

int main(int argc, char **argv)
{
	double best = 1e9, seconds;
	size_t size;
	char *text;
	int i;

	if (argc != 2 || tn_file_read(argv[1], &text, &size) != 0) {
		fprintf(stderr, "usage: parse FILE\n");
		return 2;
	}
	for (i = 0; i < ROUNDS; i++) {
		seconds = once(argv[1], text, size);
		if (seconds < 0) {
			fprintf(stderr, "%s does not parse\n", argv[1]);
			return 1;
		}
		best = seconds < best ? seconds : best;
	}
	printf("%.1f\n", 1e-6 * (double)size / best);
	free(text);
	return 0;
}

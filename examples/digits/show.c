/*
 * Show digits as text pictures, with what a net answered and what is true.
 *
 *     show IMAGES.npy LABELS.npy PROBABILITIES.npy LEAST
 *
 * IMAGES is f32 [n, 1, 8, 8] from 0 to 1, LABELS i64 [n], PROBABILITIES
 * f32 [n, 10]. Prints the first images, then those answered wrongly, then
 * the accuracy. Ends with 1 if that is below LEAST, 2 if a file is not so.
 * Reads little-endian files on a little-endian machine. Needs libc alone:
 *
 *     cc -std=c11 -o show show.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, DIGITS = 10, PER_ROW = 4 };

struct digits {
	const float *images;
	const int64_t *labels;
	const float *probs;
	long n;
};

/*
 * The shape of an array file as text, "(360, 1, 8, 8)"; NULL unless the
 * header says C order and element type `descr`.
 */
static char *find_shape(char *header, const char *descr)
{
	char *shape = strstr(header, "'shape': ");
	char *end;

	if (shape == NULL || strstr(header, descr) == NULL ||
	    strstr(header, "'fortran_order': False") == NULL)
		return NULL;
	shape += strlen("'shape': ");
	end = strchr(shape, ')');
	if (end == NULL)
		return NULL;
	end[1] = '\0';
	return shape;
}

/* Skips the preamble of a .npy file and gives its header, to be freed. */
static char *read_header(FILE *f)
{
	unsigned char pre[10];
	size_t size;
	char *header;

	if (fread(pre, 1, sizeof(pre), f) != sizeof(pre) ||
	    memcmp(pre, "\x93NUMPY\x01", 7) != 0)
		return NULL;
	size = (size_t)pre[8] | (size_t)pre[9] << 8;
	header = malloc(size + 1);
	if (header == NULL)
		return NULL;
	if (fread(header, 1, size, f) != size) {
		free(header);
		return NULL;
	}
	header[size] = '\0';
	return header;
}

/* As read_npy, from an open file; NULL if the file is not as expected. */
static void *read_open(FILE *f, const char *descr, const char *tail,
		       size_t bytes, long *n)
{
	char *header = read_header(f);
	char *shape = header ? find_shape(header, descr) : NULL;
	char *rest = NULL;
	void *data = NULL;
	long rows = 0;

	if (shape != NULL)
		rows = strtol(shape + 1, &rest, 10);
	if (rows > 0 && rows <= 1000000 && strcmp(rest, tail) == 0)
		data = malloc((size_t)rows * bytes);
	if (data != NULL && fread(data, bytes, (size_t)rows, f) !=
	    (size_t)rows) {
		free(data);
		data = NULL;
	}
	free(header);
	*n = rows;
	return data;
}

/*
 * The data of a .npy file whose elements are `descr`, whose shape is a first
 * dim, stored to `n`, then `tail`, and each of whose rows takes `bytes`.
 * Complains and exits if it is anything else.
 */
static void *read_npy(const char *path, const char *descr, const char *tail,
		      size_t bytes, long *n)
{
	FILE *f = fopen(path, "rb");
	void *data;

	if (f == NULL) {
		perror(path);
		exit(2);
	}
	data = read_open(f, descr, tail, bytes, n);
	fclose(f);
	if (data == NULL) {
		fprintf(stderr, "%s: not a whole array of %s (n%s\n", path,
			descr, tail);
		exit(2);
	}
	return data;
}

static int answer(const struct digits *d, long i)
{
	const float *p = d->probs + i * DIGITS;
	int best = 0;

	for (int k = 1; k < DIGITS; k++)
		if (p[k] > p[best])
			best = k;
	return best;
}

static void print_pixel(float ink)
{
	static const char ramp[] = " .:-=+*#%@";
	int level = (int)(ink * 9.0f + 0.5f);

	level = level < 0 ? 0 : level > 9 ? 9 : level;
	putchar(ramp[level]);
	putchar(ramp[level]);
}

static void print_caption(const struct digits *d, long i)
{
	int got = answer(d, i);
	char text[64];

	snprintf(text, sizeof(text), "%d (%.0f%%), is %lld", got,
		 100.0 * (double)d->probs[i * DIGITS + got],
		 (long long)d->labels[i]);
	printf("  %-*s", 2 * SIDE, text);
}

/* Prints the images `pick[0 .. n-1]` beside each other. */
static void print_row(const struct digits *d, const long *pick, int n)
{
	for (int y = 0; y < SIDE; y++) {
		for (int k = 0; k < n; k++) {
			const float *row = d->images + pick[k] * PIXELS +
				y * SIDE;

			fputs("  ", stdout);
			for (int x = 0; x < SIDE; x++)
				print_pixel(row[x]);
		}
		putchar('\n');
	}
	for (int k = 0; k < n; k++)
		print_caption(d, pick[k]);
	fputs("\n\n", stdout);
}

/* Prints some first images and some wrong ones; returns how many are right. */
static long show(const struct digits *d)
{
	long first[PER_ROW], wrong[PER_ROW];
	int nfirst = 0, nwrong = 0;
	long right = 0;

	for (long i = 0; i < d->n; i++) {
		int ok = answer(d, i) == d->labels[i];

		right += ok;
		if (nfirst < PER_ROW)
			first[nfirst++] = i;
		if (!ok && nwrong < PER_ROW)
			wrong[nwrong++] = i;
	}
	printf("The first held-out images:\n\n");
	print_row(d, first, nfirst);
	if (nwrong > 0) {
		printf("Some of those it reads wrongly:\n\n");
		print_row(d, wrong, nwrong);
	}
	return right;
}

int main(int argc, char **argv)
{
	struct digits d;
	float *images, *probs;
	int64_t *labels;
	double least, share;
	long n, right;

	if (argc != 5) {
		fprintf(stderr, "usage: show IMAGES.npy LABELS.npy "
			"PROBABILITIES.npy LEAST\n");
		return 2;
	}
	least = strtod(argv[4], NULL);
	images = read_npy(argv[1], "'<f4'", ", 1, 8, 8)",
			  PIXELS * sizeof(float), &d.n);
	labels = read_npy(argv[2], "'<i8'", ",)", sizeof(int64_t), &n);
	if (n != d.n) {
		fprintf(stderr, "%ld images, %ld labels\n", d.n, n);
		return 2;
	}
	probs = read_npy(argv[3], "'<f4'", ", 10)", DIGITS * sizeof(float),
			 &n);
	if (n != d.n) {
		fprintf(stderr, "%ld images, %ld answers\n", d.n, n);
		return 2;
	}
	d.images = images;
	d.labels = labels;
	d.probs = probs;
	right = show(&d);
	share = (double)right / (double)d.n;
	printf("accuracy: %ld of %ld = %.4f\n", right, d.n, share);
	free(images);
	free(labels);
	free(probs);
	if (share < least) {
		printf("that is below %.2f\n", least);
		return 1;
	}
	return 0;
}

/*
 * Checked 64-bit size arithmetic and the integer division of the language.
 * Each checked function returns false on overflow and leaves *out unset.
 */
#ifndef TN_BASE_NUM_H
#define TN_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool tn_num_add(int64_t a, int64_t b, int64_t *out);
bool tn_num_sub(int64_t a, int64_t b, int64_t *out);
bool tn_num_mul(int64_t a, int64_t b, int64_t *out);
/* size_t product, for allocations. */
bool tn_num_mul_size(size_t a, size_t b, size_t *out);
/* Floor quotient and remainder (sign of the divisor), b != 0; wraps at
 * INT64_MIN / -1. */
int64_t tn_num_floordiv(int64_t a, int64_t b);
int64_t tn_num_floormod(int64_t a, int64_t b);
/* `value` rounded up to a multiple of `align` (a power of two). */
bool tn_num_align(int64_t value, int64_t align, int64_t *out);

/* Text to number without regard to the locale. `text` is decimal or hex
 * (integers), decimal or hex float; the whole of it must be consumed. Floats
 * are rounded once, take a sign, "inf" and "nan"; a finite text beyond the
 * largest number is refused, one too small gives zero. */
bool tn_num_parse_u64(const char *text, uint64_t *out);
bool tn_num_parse_f64(const char *text, double *out);
/* A double that a type of at most 51 bits of fraction rounds to what it would
 * have rounded the text to: of the two doubles about a number that is none,
 * the one with an odd last bit ("rounding to odd": Boldo and Melquiond, 2008,
 * "Emulation of FMA and correctly rounded sums"). A finite text is finite. */
bool tn_num_parse_odd(const char *text, double *out);
/* Shortest decimal that reads back as the same double / float; always holds a
 * '.', 'e', or is "inf", "-inf", "nan". `out` holds 40 bytes. */
void tn_num_print_f64(double value, char out[40]);
void tn_num_print_f32(float value, char out[40]);

#endif

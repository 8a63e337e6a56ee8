/*
 * SHA-256 (FIPS 180-4): content keys of the compile cache, of side files and
 * the seal of engine files. The same on every build, so no optional library.
 */
#ifndef TN_BASE_SHA256_H
#define TN_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tn_sha256 {
	uint32_t state[8];
	uint64_t total;
	unsigned char block[64];
	bool has_x86;	/* asked once a sum: CPUID is slow in a guest */
};

void tn_sha256_init(struct tn_sha256 *sha);
void tn_sha256_add(struct tn_sha256 *sha, const void *data, size_t size);
/* Ends the sum; digest of 32 bytes. */
void tn_sha256_end(struct tn_sha256 *sha, unsigned char digest[32]);
/* 64 lower-case hex digits and a NUL. */
void tn_sha256_hex(const unsigned char digest[32], char out[65]);

#endif

/*
 * SHA-256 as FIPS 180-4 states it, section 6.2.
 */
#include "base/sha256.h"

#include <string.h>

#include "base/sha256_x86.h"

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
	0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7,
	0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
	0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
	0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
	0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
	0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void tn_sha256_init(struct tn_sha256 *sha)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memset(sha, 0, sizeof(*sha));
	memcpy(sha->state, start, sizeof(start));
	sha->has_x86 = tn_sha256_has_x86();
}

static uint32_t rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void expand(uint32_t w[64], const unsigned char *block)
{
	unsigned i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
			(uint32_t)block[4 * i + 1] << 16 |
			(uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
			(rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) +
			(rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
	}
}

/* One round on eight names that take turns: a + e change, the rest move on by
 * being called differently in the next round. */
static inline void round_of(uint32_t a, uint32_t b, uint32_t c, uint32_t *d,
			    uint32_t e, uint32_t f, uint32_t g, uint32_t *h,
			    uint32_t k)
{
	uint32_t t = *h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
		((e & f) ^ (~e & g)) + k;

	*d += t;
	*h = t + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
		((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	const uint32_t *k = round_constants;
	uint32_t w[64];
	unsigned i;

	expand(w, block);
	for (i = 0; i < 64; i += 8) {
		round_of(a, b, c, &d, e, f, g, &h, k[i] + w[i]);
		round_of(h, a, b, &c, d, e, f, &g, k[i + 1] + w[i + 1]);
		round_of(g, h, a, &b, c, d, e, &f, k[i + 2] + w[i + 2]);
		round_of(f, g, h, &a, b, c, d, &e, k[i + 3] + w[i + 3]);
		round_of(e, f, g, &h, a, b, c, &d, k[i + 4] + w[i + 4]);
		round_of(d, e, f, &g, h, a, b, &c, k[i + 5] + w[i + 5]);
		round_of(c, d, e, &f, g, h, a, &b, k[i + 6] + w[i + 6]);
		round_of(b, c, d, &e, f, g, h, &a, k[i + 7] + w[i + 7]);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

/* Whole blocks, by the processor's own instructions where it has them. */
static void compress_all(struct tn_sha256 *sha, const unsigned char *at,
			 size_t blocks)
{
	if (sha->has_x86) {
		tn_sha256_x86(sha->state, round_constants, at, blocks);
		return;
	}
	for (; blocks; blocks--, at += 64)
		compress(sha->state, at);
}

void tn_sha256_add(struct tn_sha256 *sha, const void *data, size_t size)
{
	const unsigned char *at = data;
	size_t fill = (size_t)(sha->total % 64);

	if (!size)
		return;
	sha->total += size;
	if (fill) {
		size_t part = size < 64 - fill ? size : 64 - fill;

		memcpy(sha->block + fill, at, part);
		at += part;
		size -= part;
		if (fill + part < 64)
			return;
		compress_all(sha, sha->block, 1);
	}
	compress_all(sha, at, size / 64);
	at += size - size % 64;
	size %= 64;
	if (size)
		memcpy(sha->block, at, size);
}

void tn_sha256_end(struct tn_sha256 *sha, unsigned char digest[32])
{
	static const unsigned char padding[64] = {0x80};
	uint64_t bits = sha->total * 8;
	size_t fill = (size_t)(sha->total % 64);
	unsigned char length[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	tn_sha256_add(sha, padding, fill < 56 ? 56 - fill : 120 - fill);
	tn_sha256_add(sha, length, sizeof(length));
	for (i = 0; i < 32; i++)
		digest[i] = (unsigned char)(sha->state[i / 4] >>
					    (24 - 8 * (i % 4)));
}

void tn_sha256_hex(const unsigned char digest[32], char out[65])
{
	static const char digits[] = "0123456789abcdef";
	unsigned i;

	for (i = 0; i < 32; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[64] = '\0';
}

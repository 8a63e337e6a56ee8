/*
 * SHA-256 by the SHA instructions of x86: four rounds a step.
 *
 * The instructions keep the state as two vectors, ABEF and CDGH; sha256rnds2
 * does two rounds and gives the new ABEF, the old one being the new CDGH.
 * Source: Intel 64 and IA-32 manual, volume 2, SHA256RNDS2, SHA256MSG1/2.
 */
#include "base/sha256_x86.h"

#include "base/compiler.h"

#if TN_X86
#include <cpuid.h>
#include <immintrin.h>

/* CPUID leaf 7: SHA is bit 29 of EBX; leaf 1: SSSE3 and SSE4.1 in ECX. */
bool tn_sha256_has_x86(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) ||
	    !(c & bit_SSE4_1))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

TN_X86_CODE("sha,sse4.1,ssse3")
static __m128i load_big_endian(const unsigned char *at)
{
	const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5,
					   6, 7, 0, 1, 2, 3);

	return _mm_shuffle_epi8(_mm_loadu_si128((const void *)at), order);
}

TN_X86_CODE("sha,sse4.1,ssse3")
static void one_block(__m128i *abef, __m128i *cdgh, const uint32_t *k,
		      const unsigned char *at)
{
	__m128i first = *abef, second = *cdgh, sum, w[16];
	int i;

	for (i = 0; i < 16; i++) {
		if (i < 4) {
			w[i] = load_big_endian(at + 16 * i);
		} else {
			w[i] = _mm_sha256msg1_epu32(w[i - 4], w[i - 3]);
			w[i] = _mm_add_epi32(w[i], _mm_alignr_epi8(
				w[i - 1], w[i - 2], 4));
			w[i] = _mm_sha256msg2_epu32(w[i], w[i - 1]);
		}
		sum = _mm_add_epi32(w[i], _mm_loadu_si128(
			(const void *)(k + 4 * i)));
		*cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
		sum = _mm_shuffle_epi32(sum, 0x0e);
		*abef = _mm_sha256rnds2_epu32(*abef, *cdgh, sum);
	}
	*abef = _mm_add_epi32(*abef, first);
	*cdgh = _mm_add_epi32(*cdgh, second);
}

TN_X86_CODE("sha,sse4.1,ssse3")
static void all_blocks(uint32_t state[8], const uint32_t *k,
		       const unsigned char *at, size_t blocks)
{
	__m128i abef = _mm_set_epi32((int)state[0], (int)state[1],
				     (int)state[4], (int)state[5]);
	__m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3],
				     (int)state[6], (int)state[7]);

	for (; blocks; blocks--, at += 64)
		one_block(&abef, &cdgh, k, at);
	state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
	state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
	state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
	state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
	state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
	state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
	state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
	state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

void tn_sha256_x86(uint32_t state[8], const uint32_t k[64],
		   const unsigned char *at, size_t blocks)
{
	all_blocks(state, k, at, blocks);
}

#else

bool tn_sha256_has_x86(void)
{
	return false;
}

void tn_sha256_x86(uint32_t state[8], const uint32_t k[64],
		   const unsigned char *at, size_t blocks)
{
	(void)state;
	(void)k;
	(void)at;
	(void)blocks;
}

#endif

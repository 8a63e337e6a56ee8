/* Numbers that look random, for inputs made up: the same from the same seed. */
#ifndef TN_BASE_RANDOM_H
#define TN_BASE_RANDOM_H

#include <stdint.h>

/* 31 bits; Knuth's 64-bit congruence (MMIX), of which the high ones are good. */
static inline uint64_t tn_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return *state >> 33;
}

#endif

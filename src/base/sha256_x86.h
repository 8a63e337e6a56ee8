/* SHA-256 by the SHA instructions of x86 processors, where there are any. */
#ifndef TN_BASE_SHA256_X86_H
#define TN_BASE_SHA256_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this processor can. */
bool tn_sha256_has_x86(void);
/* Adds `blocks` blocks of 64 bytes to the state with the 64 round constants
 * `k`; only where the processor can. */
void tn_sha256_x86(uint32_t state[8], const uint32_t k[64],
		   const unsigned char *at, size_t blocks);

#endif

/* A 64-bit digest of bytes (XXH3), the same on every machine. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdint.h>

/* `seed`: the digest of what came before, or 0. */
uint64_t digest_of(const void *bytes, int64_t size, uint64_t seed);

#endif

#include "base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t digest_of(const void *bytes, int64_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, (size_t)size, seed);
}

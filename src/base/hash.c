/* The hash of all digests, XXH3. */
#include "weft/hash.h"

#include <xxhash.h>

uint64_t weft_hash(const void *bytes, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, n, seed);
}

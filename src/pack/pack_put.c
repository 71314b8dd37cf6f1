/* Datasets of a packed file, and the digest of what was written. */
#include "pack.h"

#include <stdio.h>

struct weft_digest {
    XXH3_state_t state; /* aligned to 64 bytes, as an arena's memory is */
};

weft_digest *weft_digest_new(weft_arena *mem)
{
    weft_digest *digest = WEFT_NEW(mem, weft_digest, 1);
    XXH3_INITSTATE(&digest->state);
    XXH3_128bits_reset(&digest->state);
    return digest;
}

void weft_digest_add(weft_digest *digest, const void *bytes, size_t n)
{
    if (n > 0) XXH3_128bits_update(&digest->state, bytes, n);
}

void weft_digest_show(const weft_digest *digest, weft_hex text)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(&digest->state));
    for (size_t i = 0; i < sizeof sum.digest; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned)sum.digest[i]);
}

weft_status weft_pack_put(weft_pack *pack, const char *name, weft_h5type type, int64_t n,
                          const void *data, const char *about, const char *unit)
{
    weft_digest_add(pack->own->digest, data, (size_t)n * weft_h5_size(type));
    return weft_h5_put(&pack->own->file, name, type, 1, &n, data, 0, about, unit);
}

/* The hash of all digests, tables and checksums. */
#ifndef WEFT_HASH_H
#define WEFT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits that depend on every bit of the n bytes and of the seed (XXH3). */
uint64_t weft_hash(const void *bytes, size_t n, uint64_t seed);

#endif

/* Distinct names, numbered. */
#ifndef WEFT_NAMES_H
#define WEFT_NAMES_H

#include "weft/arena.h"

#include <stdint.h>

/* Distinct names in a hash table, numbered in the order of their first use. */
typedef struct weft_names {
    const char **name; /* [n] */
    int64_t n, room;
    int64_t *slot; /* [slots] open hash table: number + 1 of a name; 0: free */
    int64_t slots;
    weft_arena *mem;
} weft_names;

/* The number of a name; a new name is added with the next number. Cost O(1). */
int64_t weft_names_find(weft_names *names, const char *name);
/* The number of a name; -1: there is no such name. Cost O(1). */
int64_t weft_names_index(const weft_names *names, const char *name);

#endif

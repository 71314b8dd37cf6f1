/* Distinct names, numbered as they come. Private to data. */
#ifndef WEFT_DATA_NAMES_H
#define WEFT_DATA_NAMES_H

#include "weft/data.h"

typedef struct weft_names {
    const char **name; /* [n] */
    int64_t n, room;
    int64_t *slot; /* [slots] number + 1 of a name, by its hash; 0: free */
    int64_t slots;
    weft_arena *mem;
} weft_names;

/* The number of a name; a new one gets the next. Cost O(1). */
int64_t weft_names_find(weft_names *l, const char *name);

#endif

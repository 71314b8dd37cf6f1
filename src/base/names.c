/* Distinct names in a hash table with open addressing. */
#include "weft/base.h"

#include <string.h>

#define FIRST_SLOTS 256

static int64_t *slot_of(const weft_names *l, const char *name)
{
    uint64_t at = weft_hash(name, strlen(name), 0);
    for (;; at++) {
        int64_t *slot = &l->slot[at & (uint64_t)(l->slots - 1)];
        if (*slot == 0 || strcmp(l->name[*slot - 1], name) == 0) return slot;
    }
}

/* Doubles the number of slots, so that at least half of them are free. */
static void widen(weft_names *l)
{
    l->slots = l->slots > 0 ? 2 * l->slots : FIRST_SLOTS;
    l->slot = WEFT_NEW(l->mem, int64_t, l->slots);
    for (int64_t i = 0; i < l->n; i++) *slot_of(l, l->name[i]) = i + 1;
}

int64_t weft_names_find(weft_names *l, const char *name)
{
    if (2 * l->n >= l->slots) widen(l);
    int64_t *slot = slot_of(l, name);
    if (*slot > 0) return *slot - 1;
    l->name = weft_grow(l->mem, l->name, sizeof *l->name, l->n, &l->room);
    l->name[l->n] = weft_arena_text(l->mem, "%s", name);
    *slot = ++l->n;
    return l->n - 1;
}

int64_t weft_names_index(const weft_names *l, const char *name)
{
    return l->slots > 0 ? *slot_of(l, name) - 1 : -1;
}

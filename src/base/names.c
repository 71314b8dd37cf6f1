/* Distinct names in a hash table with open addressing. */
#include "weft/names.h"
#include "weft/hash.h"

#include <string.h>

#define FIRST_SLOTS 256

static int64_t *slot_of(const weft_names *names, const char *name)
{
    uint64_t at = weft_hash(name, strlen(name), 0);
    for (;; at++) {
        int64_t *slot = &names->slot[at & (uint64_t)(names->slots - 1)];
        if (*slot == 0 || strcmp(names->name[*slot - 1], name) == 0) return slot;
    }
}

/* Doubles the number of slots, so that at least half of them are free. */
static void widen(weft_names *names)
{
    names->slots = names->slots > 0 ? 2 * names->slots : FIRST_SLOTS;
    names->slot = WEFT_NEW(names->mem, int64_t, names->slots);
    for (int64_t i = 0; i < names->n; i++) *slot_of(names, names->name[i]) = i + 1;
}

int64_t weft_names_find(weft_names *names, const char *name)
{
    if (2 * names->n >= names->slots) widen(names);
    int64_t *slot = slot_of(names, name);
    if (*slot > 0) return *slot - 1;
    names->name =
        weft_grow(names->mem, names->name, sizeof *names->name, names->n, &names->room);
    names->name[names->n] = weft_arena_text(names->mem, "%s", name);
    *slot = ++names->n;
    return names->n - 1;
}

int64_t weft_names_index(const weft_names *names, const char *name)
{
    return names->slots > 0 ? *slot_of(names, name) - 1 : -1;
}

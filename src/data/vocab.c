/* Words of vocabularies, found by their hashes. Called by vectors.c and for the use of a
 * trained network on other documents, by run/eval.c. */
#include "vocab.h"

weft_vocab_index weft_vocab_index_new(const weft_vocab *v, weft_arena *mem)
{
    weft_vocab_index t = {.v = v, .mask = 64};
    while (t.mask < 2 * (uint64_t)v->n) t.mask *= 2;
    t.slot = WEFT_NEW(mem, int64_t, t.mask--);
    for (int64_t i = 0; i < v->n; i++) {
        uint64_t s = v->hash[i] & t.mask;
        while (t.slot[s] != 0) s = (s + 1) & t.mask;
        t.slot[s] = i + 1;
    }
    return t;
}

int64_t weft_vocab_index_find(const weft_vocab_index *t, uint64_t hash)
{
    for (uint64_t s = hash & t->mask; t->slot[s] != 0; s = (s + 1) & t->mask)
        if (t->v->hash[t->slot[s] - 1] == hash) return t->slot[s] - 1;
    return -1;
}

int weft_vocab_sound(const weft_vocab *v, int64_t bytes)
{
    int sound = v->offset[0] == 0 && v->offset[v->n] == bytes;
    for (int64_t i = 0; i < v->n && sound; i++) sound = v->offset[i] <= v->offset[i + 1];
    return sound;
}

int64_t *weft_vocab_places(const weft_vocab *v, const weft_vocab *to, weft_arena *mem)
{
    int64_t *place = WEFT_NEW(mem, int64_t, v->n);
    size_t mark = weft_arena_mark(mem);
    weft_vocab_index t = weft_vocab_index_new(to, mem);
    for (int64_t i = 0; i < v->n; i++) place[i] = weft_vocab_index_find(&t, v->hash[i]);
    weft_arena_reset(mem, mark);
    return place;
}

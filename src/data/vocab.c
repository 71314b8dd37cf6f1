/* Words of vocabularies, found by their hashes. */
#include "vocab.h"
#include "weft/data.h"

weft_vocab_index weft_vocab_index_new(const weft_vocab *vocab, weft_arena *mem)
{
    weft_vocab_index index = {.vocab = vocab, .mask = 64};
    while (index.mask < 2 * (uint64_t)vocab->n) index.mask *= 2;
    index.slot = WEFT_NEW(mem, int64_t, index.mask--);
    for (int64_t i = 0; i < vocab->n; i++) {
        uint64_t s = vocab->hash[i] & index.mask;
        while (index.slot[s] != 0) s = (s + 1) & index.mask;
        index.slot[s] = i + 1;
    }
    return index;
}

int64_t weft_vocab_index_find(const weft_vocab_index *index, uint64_t hash)
{
    for (uint64_t s = hash & index->mask; index->slot[s] != 0; s = (s + 1) & index->mask)
        if (index->vocab->hash[index->slot[s] - 1] == hash) return index->slot[s] - 1;
    return -1;
}

weft_status weft_vocab_words(weft_vocab *vocab, weft_h5 *file, const char *group)
{
    const char *text_path = weft_arena_text(file->mem, "%s/text", group);
    const char *offset_path = weft_arena_text(file->mem, "%s/text_offset", group);
    int64_t bytes[WEFT_H5_DIMS], n[WEFT_H5_DIMS];
    int nd;
    TRY(weft_h5_shape(file, text_path, &nd, bytes));
    TRY(weft_h5_shape(file, offset_path, &nd, n));
    char *text = WEFT_NEW(file->mem, char, bytes[0]);
    int64_t *offset = WEFT_NEW(file->mem, int64_t, n[0]);
    TRY(weft_h5_read_rows(file, text_path, WEFT_H5_U8, 1, 0, bytes[0], text));
    TRY(weft_h5_read_rows(file, offset_path, WEFT_H5_I64, 1, 0, n[0], offset));
    int64_t words = n[0] - 1;
    int sound = words >= 0 && (vocab->n == 0 || vocab->n == words) && offset[0] == 0 &&
                offset[words] == bytes[0];
    for (int64_t i = 0; i < words && sound; i++) sound = offset[i] <= offset[i + 1];
    if (!sound)
        return weft_fail(
            WEFT_EFILE,
            "%s: the words in %s are not one after another; make the file again",
            file->path, text_path);
    vocab->n = words;
    vocab->text = text;
    vocab->offset = offset;
    return WEFT_OK;
}

int64_t *weft_vocab_places(const weft_vocab *vocab, const weft_vocab *to, weft_arena *mem)
{
    int64_t *place = WEFT_NEW(mem, int64_t, vocab->n);
    size_t mark = weft_arena_mark(mem);
    weft_vocab_index index = weft_vocab_index_new(to, mem);
    for (int64_t i = 0; i < vocab->n; i++)
        place[i] = weft_vocab_index_find(&index, vocab->hash[i]);
    weft_arena_reset(mem, mark);
    return place;
}

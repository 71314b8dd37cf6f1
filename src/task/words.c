/* Word vectors of the networks that tasks sgd and fed train on documents, and the words of
 * which they change the vectors. */
#include "words.h"
#include "weft/log.h"
#include "weft/vectors.h"

weft_status weft_word_shape(const weft_word_keys *keys, weft_data *data, int64_t longest,
                            const weft_env *env, weft_shape *shape)
{
    weft_vectors own;
    TRY(weft_data_words(data, (weft_tokenizer)keys->tokenizer));
    const weft_vocab *vocab = &data->vocab[keys->tokenizer];
    if (vocab->n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: no document has a word by tokenizer = %s; choose another, or "
                         "check the texts",
                         data->path, weft_tok_name[keys->tokenizer]);
    TRY(weft_vectors_read(vocab, keys->vectors, keys->dim, env->seed, &own, env->mem));
    if (*keys->vectors && env->team->rank == 0)
        weft_log(own.found > 0 ? WEFT_INFO : WEFT_WARN, "%s has %lld of %lld words%s",
                 keys->vectors, (long long)own.found, (long long)vocab->n,
                 own.found > 0 ? ""
                               : ": all vectors are drawn at random; are its words those "
                                 "of this language and tokenizer?");
    if (env->data->longest == 0) env->data->longest = longest;
    shape->form = WEFT_TOKENS;
    shape->d = longest;
    shape->padded = env->data->longest;
    shape->words = vocab->n;
    shape->vector = own.d;
    shape->vectors = own.value;
    return WEFT_OK;
}

weft_status weft_word_unused(const weft_word_keys *keys, const char *section,
                             const char *path)
{
    const char *key = *keys->vectors ? "vectors" : "tokenizer";
    if (!*keys->vectors && keys->tokenizer == WEFT_TOK_SPLIT)
        return WEFT_OK; /* the default */
    return weft_fail(WEFT_ECONF,
                     "%s.%s = %s, but %s has no documents; take it out, or pack them "
                     "by `weft pack folder` or `text`",
                     section, key,
                     *keys->vectors ? keys->vectors : weft_tok_name[keys->tokenizer], path);
}

weft_seats weft_seats_new(int64_t words, int64_t most, weft_arena *mem)
{
    weft_seats seats = {.place = WEFT_NEW(mem, int32_t, words),
                        .word = WEFT_NEW(mem, uint32_t, most)};
    for (int64_t i = 0; i < words; i++) seats.place[i] = -1;
    return seats;
}

void weft_seats_add(weft_seats *seats, int64_t n, const uint32_t *word)
{
    for (int64_t i = 0; i < n; i++) {
        if (seats->place[word[i]] >= 0) continue;
        seats->place[word[i]] = seats->n;
        seats->word[seats->n++] = word[i];
    }
}

void weft_seats_clear(weft_seats *seats)
{
    for (int i = 0; i < seats->n; i++) seats->place[seats->word[i]] = -1;
    seats->n = 0;
}

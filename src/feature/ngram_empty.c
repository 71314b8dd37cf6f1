/* Maps that leave no n-gram in any training document, so that all documents are alike and
 * the classes can only be guessed. */
#include "ngram.h"
#include "weft/log.h"

/* Rows from which on those of a map that shares a fit are no accident. */
#define ENOUGH 20

/* The options that take n-grams out, with their values. */
static const char *cause(const ngram_map *self, const ngram_map *ngram, weft_arena *tmp)
{
    const char *text =
        weft_arena_text(tmp, "ngram.tokenizer = %s", weft_tok_name[ngram->tokenizer]);
    if (ngram->stop) text = weft_arena_text(tmp, "%s, ngram.stop = yes", text);
    if (ngram_min_order(ngram) > 1)
        text = weft_arena_text(tmp, "%s, ngram.grams of %d tokens or more", text,
                               ngram_min_order(ngram));
    if (self->columns == NGRAM_VOCABULARY)
        text = weft_arena_text(tmp, "%s, ngram.min_count = %lld", text,
                               (long long)ngram->min_count);
    return text;
}

const char *ngram_empty(const ngram_map *self, const weft_request *request,
                        const ngram_rows *counts, weft_arena *mem)
{
    int64_t *rows = WEFT_NEW(mem, int64_t, 2 * request->narm),
            *grams = rows + request->narm, all = 0;
    const char *why = NULL;
    for (int64_t i = 0; i < request->n; i++) {
        int arm = request->arm != NULL ? request->arm[i] : 0;
        rows[arm]++;
        grams[arm] += counts->first[i + 1] - counts->first[i];
    }
    weft_sum_i64(self->data->team, rows, 2 * (size_t)request->narm);
    for (int k = 0; k < request->narm; k++) {
        all += grams[k];
        if (grams[k] > 0 || rows[k] < (request->narm > 1 ? ENOUGH : 1) || why != NULL)
            continue;
        why = weft_arena_text(mem,
                              "configuration %lld of feature ngram leaves no n-gram in any "
                              "of its %lld training documents (%s)",
                              (long long)request->id[k], (long long)rows[k],
                              cause(self, request->arms[k], mem));
    }
    if (why != NULL && self->maps > 1 && !*self->told) {
        *self->told = 1;
        weft_log(WEFT_WARN, "%s: it can only guess; others like it are not told", why);
    }
    return all == 0 ? why : NULL;
}

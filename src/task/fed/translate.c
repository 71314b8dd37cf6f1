/* Translations by the models of clients that are directions: each client's by the rank that
 * has its model. */
#include "translate.h"
#include "metrics.h"
#include "models.h"
#include "score.h"
#include "task/parts.h"

#include <stdlib.h>

enum { BLOCK = 64 }; /* sentences at once, as many as a batch has room for */

struct translating {
    const fed_task *fed;
    weft_part part;
    uint32_t **word;       /* [BLOCK][longest] */
    weft_translated *sums; /* [clients] */
};

/* Pairs of similar lengths are translated together, as a block takes as many steps as its
 * longest translation. */
struct length {
    int words;
    int64_t at;
};

static int longer_first(const void *a, const void *b)
{
    const struct length *x = a, *y = b;
    if (x->words != y->words) return x->words > y->words ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void add_client(void *of, int64_t c, const weft_samples *samples, const real *w)
{
    const struct translating *translating = of;
    const fed_task *fed = translating->fed;
    const weft_pair_rows *pairs = fed->env.data->pairs;
    int64_t first = pairs->first[translating->part * pairs->of->directions + c];
    struct length *order = WEFT_NEW(fed->work.tmp, struct length, samples->n);
    for (int64_t i = 0; i < samples->n; i++)
        order[i] = (struct length){samples->length[i] + samples->translated[i], i};
    qsort(order, (size_t)samples->n, sizeof *order, longer_first);
    for (int64_t i = 0; i < samples->n; i += BLOCK) {
        int64_t at[BLOCK], row[BLOCK];
        int length[BLOCK], n = samples->n - i < BLOCK ? (int)(samples->n - i) : BLOCK;
        for (int e = 0; e < n; e++) {
            at[e] = order[i + e].at;
            row[e] = first + at[e];
        }
        weft_batch batch = fed_batch_of(fed, NULL, samples, at, n);
        fed->net->translate(fed->model, w, &batch, translating->word, length);
        weft_translated_add(&translating->sums[c], pairs, translating->part, c, n, row,
                            translating->word, length);
    }
}

weft_status fed_translate(fed_task *fed, const weft_job *job, const weft_state *state,
                          weft_part part, weft_members *members, double *score)
{
    if (!fed->env.data->pairs || part == WEFT_TRAIN) return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    fed->work.tmp = tmp;
    int64_t n = fed->clients->n, untrained,
            longest = weft_pair_rows_shape(fed->env.data->pairs).longest;
    struct translating translating = {.fed = fed,
                                      .part = part,
                                      .word = WEFT_NEW(tmp, uint32_t *, BLOCK),
                                      .sums = WEFT_NEW(tmp, weft_translated, n)};
    for (int i = 0; i < BLOCK; i++) translating.word[i] = WEFT_NEW(tmp, uint32_t, longest);
    weft_status st =
        fed_models_use(fed, job, state, part, add_client, &translating, &untrained);
    if (st == WEFT_OK) {
        weft_translated_join(fed->env.team, n, translating.sums);
        weft_translated_mean(n, translating.sums, score);
        int columns = weft_metrics_count(fed_direction_table);
        for (int64_t i = 0; i < members->n; i++)
            weft_translated_put(&translating.sums[members->number[i]],
                                members->score + (i + 1) * columns - 2);
    }
    weft_arena_free(tmp);
    return st;
}

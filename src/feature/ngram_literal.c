/* Option `literal` of the n-gram features: the documents of all parts, their texts without
 * labels, decide the vocabulary and the idf, as where they are fitted to a whole corpus
 * before it is divided. Yogatama, Kong, Smith, "Bayesian optimization of text
 * representations", EMNLP 2015, in the authors' program. */
#include "ngram.h"
#include "weft/log.h"

void ngram_literal_warn(const ngram_map *self)
{
    if (self->literal)
        weft_log(WEFT_WARN, "ngram.literal = yes: words are counted in the documents of "
                            "all parts, so that scores on the test part are not those of "
                            "unseen documents");
}

/* Arms that training rows of any rank have, into arm[narm]; returns how many. Collective.
 */
static int used_arms(const ngram_map *self, const weft_request *request, int *arm)
{
    weft_arena *tmp = weft_arena_new();
    int64_t *rows = WEFT_NEW(tmp, int64_t, request->narm);
    int n = 0;
    for (int64_t i = 0; i < request->n; i++) rows[request->arm ? request->arm[i] : 0]++;
    weft_sum_i64(self->data->team, rows, (size_t)request->narm);
    for (int k = 0; k < request->narm; k++)
        if (rows[k] > 0) arm[n++] = k;
    weft_arena_free(tmp);
    return n;
}

void ngram_literal_requests(const ngram_map *self, const weft_request *request,
                            weft_request all[WEFT_NPART], weft_arena *tmp)
{
    int *used = WEFT_NEW(tmp, int, request->narm);
    int n = request->narm > 1 ? used_arms(self, request, used) : 0;
    for (int k = 0; k < WEFT_NPART; k++) {
        const weft_rows *part = &self->data->part[k];
        all[k] = *request;
        if (k == (int)request->part) continue;
        all[k].part = (weft_part)k;
        all[k].n = part->n;
        all[k].arm = NULL;
        if (n == 0) continue;
        int *arm = WEFT_NEW(tmp, int, part->n);
        for (int64_t i = 0; i < part->n; i++) arm[i] = used[(part->first + i) % n];
        all[k].arm = arm;
    }
}

void ngram_literal_count(const ngram_map *self, const weft_request all[WEFT_NPART],
                         weft_part fitted, const ngram_vocabulary *vocabulary, int64_t bins,
                         real *others, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int32_t *sum = WEFT_NEW(tmp, int32_t, bins);
    int64_t documents = 0;
    for (int k = 0; k < WEFT_NPART; k++) {
        if (k == (int)fitted) continue;
        size_t rows = weft_arena_mark(tmp);
        ngram_rows counts = {.n = all[k].n, .bins = bins};
        ngram_count(self, &all[k], vocabulary, &counts, tmp);
        for (int64_t e = 0; e < counts.first[counts.n]; e++) sum[counts.bin[e]]++;
        documents += counts.n;
        weft_arena_reset(tmp, rows);
    }
    weft_sum_i32(self->data->team, sum, (size_t)bins);
    weft_sum_i64(self->data->team, &documents, 1);
    others[0] = (real)documents;
    for (int64_t b = 0; b < bins; b++) others[1 + b] = (real)sum[b];
    weft_arena_reset(tmp, mark);
}

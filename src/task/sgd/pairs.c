/* Sentences and their translations as samples: every pair of a direction is a row. Where
 * all directions share the weights, a source sentence begins with the name of the target
 * language. */
#include "pairs.h"
#include "contexts.h"
#include "weft/rng.h"

/* ---- rows ---- */

void sgd_pairs_open(sgd_task *sgd)
{
    weft_data *data = sgd->env.data;
    weft_shape *shape = &sgd->shape;
    sgd->pairs = weft_pair_rows_new(data->translations, data->scored, sgd->env.mem);
    *shape = weft_pair_rows_shape(&sgd->pairs);
    if (data->longest > shape->longest) shape->longest = (int)data->longest;
    if (shape->longest == 0) shape->longest = 2 * shape->d + 10; /* as beams have it */
    data->longest = shape->longest;
    for (int p = 0; p < WEFT_NPART; p++)
        sgd->first[p + 1] = sgd->pairs.first[(p + 1) * sgd->pairs.of->directions];
}

sgd_rows sgd_pairs_referred(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem)
{
    int64_t *row = WEFT_NEW(mem, int64_t, rows->n), n = 0;
    for (int64_t i = 0; i < rows->n; i++)
        if (sgd->pairs.reference[rows->row[i]] >= 0) row[n++] = rows->row[i];
    return (sgd_rows){n, row};
}

/* ---- samples ---- */

void sgd_pairs_thin(const sgd_task *sgd, const sgd_model *model, sgd_work *work,
                    int64_t step, int n, const int64_t *row)
{
    const weft_direction *way = &sgd->pairs.of->direction[sgd_context_of(sgd, row[0])];
    int first = model->contexts->options.form == WEFT_CONTEXT_ONE; /* behind its name */
    if (way->source != way->target) return;
    for (int i = 0; i < n; i++) {
        uint32_t *left = work->named + i * sgd->shape.d;
        int words = 0;
        for (int k = 0; k < work->length[i]; k++) {
            weft_rng4 rng = weft_rng_at(sgd->env.seed, WEFT_RNG_NOISE, (uint64_t)step,
                                        (uint64_t)row[i], (uint64_t)k);
            int last = k + 1 == work->length[i] && words == first;
            if (k < first || last || weft_rng_unit(rng.v[0]) >= model->train.noise)
                left[words++] = work->word[i][k];
        }
        work->word[i] = left;
        work->length[i] = words;
    }
}

void sgd_pairs_put(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                   int64_t row)
{
    const weft_pair_rows *pairs = &sgd->pairs;
    work->word[i] = pairs->source[row];
    work->length[i] = pairs->sources[row];
    work->translation[i] = pairs->target[row];
    work->translated[i] = pairs->targets[row];
    if (model->contexts->options.form != WEFT_CONTEXT_ONE) return;
    int target = sgd_context(sgd, sgd_context_of(sgd, row)).language[1];
    uint32_t *named = work->named + i * sgd->shape.d;
    weft_pair_rows_name(pairs, row, target, named);
    work->word[i] = named;
    work->length[i]++;
}

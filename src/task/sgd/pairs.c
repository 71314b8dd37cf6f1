/* Sentences and their translations as samples: every pair of a direction is a row, and a
 * batch has rows of one direction, so that the weights for it are made once. Where all
 * directions share the weights, a source sentence begins with the name of the target
 * language. */
#include "pairs.h"
#include "weft/rng.h"

#include <string.h>

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

int sgd_direction(const sgd_task *sgd, int64_t row)
{
    const int64_t *first = sgd->pairs.first;
    int64_t low = 0, high = WEFT_NPART * sgd->pairs.of->directions;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (first[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return (int)(low % sgd->pairs.of->directions);
}

/* ---- batches ---- */

int64_t sgd_pairs_batches(const sgd_task *sgd, int64_t batch, const sgd_rows *rows)
{
    int64_t directions = sgd->pairs.of->directions, n = 0;
    weft_arena *tmp = weft_arena_new();
    int64_t *count = WEFT_NEW(tmp, int64_t, directions);
    for (int64_t i = 0; i < rows->n; i++) count[sgd_direction(sgd, rows->row[i])]++;
    for (int64_t d = 0; d < directions; d++) n += (count[d] + batch - 1) / batch;
    weft_arena_free(tmp);
    return n;
}

/* sorted[n] = the rows by direction, in their order; from[directions + 1] where each
 * begins. */
static void sort_by_direction(const sgd_task *sgd, int64_t n, const int64_t *row,
                              int64_t *sorted, int64_t *from)
{
    int64_t directions = sgd->pairs.of->directions;
    for (int64_t i = 0; i < n; i++) from[sgd_direction(sgd, row[i]) + 1]++;
    for (int64_t d = 0; d < directions; d++) from[d + 1] += from[d];
    for (int64_t i = 0; i < n; i++) sorted[from[sgd_direction(sgd, row[i])]++] = row[i];
    memmove(from + 1, from, (size_t)directions * sizeof *from);
    from[0] = 0;
}

void sgd_pairs_order(const sgd_task *sgd, int64_t batch, const sgd_rows *rows,
                     const weft_rng_row *key, int64_t *order, int64_t *end)
{
    int64_t directions = sgd->pairs.of->directions, n = 0, at = 0;
    int64_t most = rows->n / batch + directions;
    weft_arena *tmp = weft_arena_new();
    int64_t *sorted = WEFT_NEW(tmp, int64_t, rows->n),
            *from = WEFT_NEW(tmp, int64_t, directions + 1),
            *begin = WEFT_NEW(tmp, int64_t, most), *size = WEFT_NEW(tmp, int64_t, most),
            *which = WEFT_NEW(tmp, int64_t, most);
    sort_by_direction(sgd, rows->n, order, sorted, from);
    for (int64_t d = 0; d < directions; d++)
        for (int64_t i = from[d]; i < from[d + 1]; i += batch, n++) {
            begin[n] = i;
            size[n] = from[d + 1] - i < batch ? from[d + 1] - i : batch;
            which[n] = n;
        }
    weft_shuffle_first(n, n, key, which);
    for (int64_t b = 0; b < n; b++) {
        memcpy(order + at, sorted + begin[which[b]],
               (size_t)size[which[b]] * sizeof *order);
        at += size[which[b]];
        end[b] = at;
    }
    weft_arena_free(tmp);
}

int64_t sgd_pairs_end(const int64_t *end, int64_t from)
{
    while (*end <= from) end++;
    return *end;
}

/* ---- weights and samples ---- */

weft_context sgd_context(const sgd_task *sgd, int direction)
{
    const weft_direction *way = &sgd->pairs.of->direction[direction];
    return (weft_context){.language = {way->source, way->target}, .pair = direction};
}

const real *sgd_theta(const sgd_task *sgd, const sgd_model *model, const real *w,
                      int direction, real *theta)
{
    if (!model->contexts) return w;
    weft_contexts_form(model->contexts, w, sgd_context(sgd, direction), 0, model->table.at,
                       theta);
    return theta;
}

void sgd_pairs_thin(const sgd_task *sgd, const sgd_model *model, sgd_work *work,
                    int64_t step, int n, const int64_t *row)
{
    const weft_direction *way = &sgd->pairs.of->direction[sgd_direction(sgd, row[0])];
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
    int target = sgd_context(sgd, sgd_direction(sgd, row)).language[1];
    uint32_t *named = work->named + i * sgd->shape.d;
    weft_pair_rows_name(pairs, row, target, named);
    work->word[i] = named;
    work->length[i]++;
}

/* The contexts of samples: a batch has rows of one context, so that the weights for it are
 * made once. */
#include "contexts.h"
#include "weft/log.h"
#include "weft/rng.h"

#include <string.h>

int sgd_context_count(const sgd_task *sgd)
{
    if (sgd->pairs.of) return (int)sgd->pairs.of->directions;
    return sgd->pool.client ? (int)sgd->env.data->clients->n : 0;
}

int sgd_context_of(const sgd_task *sgd, int64_t row)
{
    if (sgd->pool.client) return sgd->pool.client[row];
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

weft_context sgd_context(const sgd_task *sgd, int number)
{
    if (sgd->pool.client)
        return (weft_context){.language = {number, number}, .pair = number};
    const weft_direction *way = &sgd->pairs.of->direction[number];
    return (weft_context){.language = {way->source, way->target}, .pair = number};
}

/* ---- weights ---- */

/* ECONF: weights by context of samples that have none, or not in this way. */
static weft_status check(const sgd_task *sgd, int form)
{
    const char *path = sgd->env.data->path;
    if (sgd->pairs.of || form == WEFT_CONTEXT_ONE) return WEFT_OK;
    if (sgd->env.data->owners)
        return weft_fail(WEFT_ECONF,
                         "context.form: %s has documents, and weights by client are of "
                         "rows of numbers, images and running text; take it out",
                         path);
    if (!sgd->pool.client)
        return weft_fail(WEFT_ECONF,
                         "context.form: the rows of %s belong to no clients, and are of "
                         "one language; take it out, or pack the data with clients, as by "
                         "client = COLUMN",
                         path);
    if (form == WEFT_CONTEXT_PAIR)
        return weft_fail(WEFT_ECONF,
                         "context.form = pair is of languages, and %s has clients; choose "
                         "each or generated",
                         path);
    if (sgd->folds == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "context.form with sgd.folds: weights by client are of one network; "
                     "take out sgd.folds");
}

int sgd_context_form(const sgd_task *sgd, int form)
{
    if (form != WEFT_CONTEXT_AUTO) return form;
    return sgd->env.data->translations ? WEFT_CONTEXT_GENERATED : WEFT_CONTEXT_ONE;
}

weft_status sgd_contexts_new(const sgd_task *sgd, const weft_context_options *options,
                             const sgd_model *model, weft_arena *mem, weft_contexts **out)
{
    const weft_translations *of = sgd->pairs.of;
    weft_context_options own = *options;
    own.form = sgd_context_form(sgd, options->form);
    *out = NULL;
    TRY(check(sgd, own.form));
    if (!of && own.form == WEFT_CONTEXT_ONE) return WEFT_OK;
    int pairs = sgd_context_count(sgd), languages = of ? of->n : pairs;
    *out = WEFT_NEW(mem, weft_contexts, 1);
    TRY(weft_contexts_setup(*out, &own, sgd->net, model->self, languages, pairs,
                            of && of->joint));
    (*out)->known = of ? of->known : 0;
    (*out)->alike = !of;
    return WEFT_OK;
}

const real *sgd_theta(const sgd_task *sgd, const sgd_model *model, const real *w,
                      int context, real *theta)
{
    if (!model->contexts) return w;
    weft_contexts_form(model->contexts, w, sgd_context(sgd, context), 0, model->table.at,
                       theta);
    return theta;
}

/* ---- clients without rows ---- */

void sgd_contexts_fill(const sgd_task *sgd, const sgd_model *model, const sgd_rows *train,
                       real *w)
{
    if (!sgd->pool.client || !model->contexts) return;
    weft_arena *tmp = weft_arena_new();
    char *trained = WEFT_NEW(tmp, char, sgd_context_count(sgd));
    for (int64_t i = 0; i < train->n; i++) trained[sgd->pool.client[train->row[i]]] = 1;
    weft_contexts_fill(model->contexts, trained, w);
    weft_arena_free(tmp);
}

void sgd_contexts_warn(const sgd_task *sgd, const sgd_model *model)
{
    enum { FEW = 10 };
    const weft_team *team = sgd->env.team;
    if (!sgd->pool.client || !model->contexts || team->first + team->rank > 0) return;
    int clients = sgd_context_count(sgd), none = 0, few = 0;
    weft_arena *tmp = weft_arena_new();
    int64_t *rows = WEFT_NEW(tmp, int64_t, clients);
    for (int64_t i = 0; i < sgd->at->train.n; i++)
        rows[sgd->pool.client[sgd->at->train.row[i]]]++;
    for (int c = 0; c < clients; c++) {
        none += rows[c] == 0;
        few += rows[c] > 0 && rows[c] < FEW;
    }
    weft_arena_free(tmp);
    if (none > 0)
        weft_log(WEFT_WARN,
                 "%d of %d clients have no training rows, and get the mean of what the "
                 "others have (context.form)",
                 none, clients);
    if (few > 0)
        weft_log(WEFT_WARN,
                 "%d of %d clients have fewer than %d training rows, by which weights of "
                 "their own are learnt badly (context.form); compare with context.form = "
                 "one",
                 few, clients, FEW);
}

/* ---- batches ---- */

int64_t sgd_context_batches(const sgd_task *sgd, int64_t batch, const sgd_rows *rows)
{
    int64_t contexts = sgd_context_count(sgd), n = 0;
    weft_arena *tmp = weft_arena_new();
    int64_t *count = WEFT_NEW(tmp, int64_t, contexts);
    for (int64_t i = 0; i < rows->n; i++) count[sgd_context_of(sgd, rows->row[i])]++;
    for (int64_t c = 0; c < contexts; c++) n += (count[c] + batch - 1) / batch;
    weft_arena_free(tmp);
    return n;
}

/* place[n] = the places of the rows by context, in their order; from[contexts + 1] where
 * each begins. */
static void sort_by_context(const sgd_task *sgd, int64_t n, const int64_t *row,
                            int64_t *place, int64_t *from)
{
    int64_t contexts = sgd_context_count(sgd);
    for (int64_t i = 0; i < n; i++) from[sgd_context_of(sgd, row[i]) + 1]++;
    for (int64_t c = 0; c < contexts; c++) from[c + 1] += from[c];
    for (int64_t i = 0; i < n; i++) place[from[sgd_context_of(sgd, row[i])]++] = i;
    memmove(from + 1, from, (size_t)contexts * sizeof *from);
    from[0] = 0;
}

void sgd_context_order(const sgd_task *sgd, int64_t batch, const sgd_rows *rows,
                       const weft_rng_row *key, int64_t *order, int64_t *end)
{
    int64_t contexts = sgd_context_count(sgd), n = 0, at = 0;
    int64_t most = rows->n / batch + contexts;
    weft_arena *tmp = weft_arena_new();
    int64_t *shuffled = WEFT_NEW(tmp, int64_t, rows->n),
            *place = WEFT_NEW(tmp, int64_t, rows->n),
            *from = WEFT_NEW(tmp, int64_t, contexts + 1),
            *begin = WEFT_NEW(tmp, int64_t, most), *size = WEFT_NEW(tmp, int64_t, most),
            *which = WEFT_NEW(tmp, int64_t, most);
    memcpy(shuffled, order, (size_t)rows->n * sizeof *order);
    sort_by_context(sgd, rows->n, shuffled, place, from);
    for (int64_t c = 0; c < contexts; c++)
        for (int64_t i = from[c]; i < from[c + 1]; i += batch, n++) {
            begin[n] = i;
            size[n] = from[c + 1] - i < batch ? from[c + 1] - i : batch;
            which[n] = n;
        }
    weft_shuffle_first(n, n, key, which);
    for (int64_t b = 0; b < n; b++) {
        for (int64_t i = 0; i < size[which[b]]; i++)
            order[at++] = shuffled[place[begin[which[b]] + i]];
        end[b] = at;
    }
    weft_arena_free(tmp);
}

int64_t sgd_context_end(const int64_t *end, int64_t from)
{
    while (*end <= from) end++;
    return *end;
}

/* ---- blocks ---- */

sgd_blocks sgd_blocks_new(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                          int64_t most, weft_arena *mem)
{
    int64_t contexts = model->contexts ? sgd_context_count(sgd) : 0;
    sgd_blocks blocks = {.cut = WEFT_NEW(mem, int64_t, rows->n / most + contexts + 2),
                         .row = WEFT_NEW(mem, int64_t, rows->n),
                         .place = WEFT_NEW(mem, int64_t, rows->n)};
    for (int64_t i = 0; i < rows->n; i++) blocks.place[i] = i;
    if (contexts > 0)
        sort_by_context(sgd, rows->n, rows->row, blocks.place,
                        WEFT_NEW(mem, int64_t, contexts + 1));
    for (int64_t i = 0; i < rows->n; i++) blocks.row[i] = rows->row[blocks.place[i]];
    for (int64_t i = 1; i <= rows->n; i++) {
        int full = i == rows->n || i - blocks.cut[blocks.n] == most;
        if (!full && contexts > 0)
            full = sgd_context_of(sgd, blocks.row[i]) !=
                   sgd_context_of(sgd, blocks.row[i - 1]);
        if (full) blocks.cut[++blocks.n] = i;
    }
    return blocks;
}

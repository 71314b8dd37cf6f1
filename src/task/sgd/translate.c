/* Translations of the pairs' sources, each rank its share of a direction. */
#include "translate.h"
#include "data.h"
#include "opts.h"
#include "pairs.h"
#include "task/translated.h"

enum { BLOCK = 64 }; /* sentences at once */

static const weft_metric direction_table[] = {WEFT_TRANSLATED_SCORES, {0}};

/* The translations of n rows of a direction, as words. */
struct block {
    uint32_t **word; /* [BLOCK][longest] */
    int *length;     /* [BLOCK] */
};

/* The rows by direction, in it by length, so that a block's sentences end together. */
static const sgd_length *in_order(const sgd_task *sgd, const sgd_rows *rows,
                                  weft_arena *tmp)
{
    sgd_length *order = WEFT_NEW(tmp, sgd_length, rows->n);
    for (int64_t i = 0, n; i < rows->n; i += n) {
        int direction = sgd_direction(sgd, rows->row[i]);
        for (n = 1; i + n < rows->n; n++)
            if (sgd_direction(sgd, rows->row[i + n]) != direction) break;
        sgd_sort_by_length(sgd, (int)n, rows->row + i, order + i);
    }
    return order;
}

/* Translates this rank's share of each direction. */
static void translate(const sgd_task *sgd, const sgd_model *model, weft_part part,
                      const sgd_rows *rows, const real *w, weft_translated *sums)
{
    const weft_team *team = sgd->env.team;
    weft_arena *tmp = weft_arena_new();
    sgd_work work = sgd_work_new(sgd, model, BLOCK, tmp);
    struct block block = {WEFT_NEW(tmp, uint32_t *, BLOCK), WEFT_NEW(tmp, int, BLOCK)};
    for (int i = 0; i < BLOCK; i++)
        block.word[i] = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    const sgd_length *order = in_order(sgd, rows, tmp);
    int64_t row[BLOCK], turn = 0;
    for (int64_t i = 0, n; i < rows->n; i += n) {
        int direction = sgd_direction(sgd, order[i].row);
        for (n = 0; n < BLOCK && i + n < rows->n; n++) {
            row[n] = order[i + n].row;
            if (sgd_direction(sgd, row[n]) != direction) break;
        }
        if (turn++ % team->size != team->rank) continue;
        const real *theta = sgd_theta(sgd, model, w, direction, work.theta);
        weft_batch batch = sgd_batch(sgd, model, &work, (int)n, row, NULL);
        sgd->net->translate(model->self, theta, &batch, block.word, block.length);
        weft_translated_add(&sums[direction], &sgd->pairs, part, direction, (int)n, row,
                            block.word, block.length);
    }
    weft_arena_free(tmp);
}

static weft_members *members_of(const sgd_task *sgd, const weft_translated *sums)
{
    const weft_translations *of = sgd->pairs.of;
    weft_arena *mem = sgd->env.mem;
    if (sgd->env.team->rank > 0) return NULL;
    weft_members *members = WEFT_NEW(mem, weft_members, 1);
    *members = (weft_members){.table = direction_table,
                              .number = WEFT_NEW(mem, int64_t, of->directions),
                              .name = WEFT_NEW(mem, const char *, of->directions),
                              .count = WEFT_NEW(mem, double, of->directions),
                              .score = WEFT_NEW(mem, double, 2 * of->directions)};
    for (int64_t d = 0; d < of->directions; d++) {
        int64_t i = members->n;
        if (sums[d].pairs == 0) continue;
        members->number[i] = d;
        members->name[i] = weft_direction_name(of, d, mem);
        members->count[i] = (double)sums[d].pairs;
        weft_translated_put(&sums[d], members->score + 2 * i);
        members->n++;
    }
    return members;
}

void sgd_translations_score(const sgd_task *sgd, const sgd_model *model, weft_part part,
                            const sgd_rows *rows, const real *w, weft_scores *out)
{
    weft_arena *tmp = weft_arena_new();
    int64_t directions = sgd->pairs.of->directions;
    weft_translated *sums = WEFT_NEW(tmp, weft_translated, directions);
    translate(sgd, model, part, rows, w, sums);
    weft_translated_join(sgd->env.team, directions, sums);
    weft_translated_mean(directions, sums, out->metric + SGD_SCORE_BLEU);
    out->members = members_of(sgd, sums);
    weft_arena_free(tmp);
}

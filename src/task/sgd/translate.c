/* Translations of the pairs' sources, each rank its share of a direction: their texts and
 * scores. */
#include "translate.h"
#include "contexts.h"
#include "data.h"
#include "opts.h"
#include "pairs.h"
#include "task/translated.h"
#include "weft/par.h"

#include <string.h>

enum { BLOCK = 64 }; /* sentences at once */

static const weft_metric direction_table[] = {WEFT_TRANSLATED_SCORES, {0}};

/* The translations of n rows of a direction, as words. */
struct block {
    int direction, n;
    const int64_t *row; /* [n] */
    uint32_t **word;    /* [BLOCK][longest] */
    int *length;        /* [BLOCK] */
};

/* What becomes of the translations of this rank's blocks. */
struct use {
    void (*take)(const sgd_task *sgd, const struct block *block, const struct use *use);
    weft_part part;
    weft_translated *sums; /* [directions] */
    /* of all rows, from `first` on: words as joined doubles, in mem */
    int64_t first;
    double *length, **word; /* [rows] */
    weft_arena *mem;
};

/* Adds the translations of a block to the sums of its direction. */
static void add_block(const sgd_task *sgd, const struct block *block, const struct use *use)
{
    weft_translated_add(&use->sums[block->direction], &sgd->pairs, use->part,
                        block->direction, block->n, block->row, block->word, block->length);
}

/* Keeps the words of a block. */
static void keep_block(const sgd_task *sgd, const struct block *block,
                       const struct use *use)
{
    (void)sgd;
    for (int i = 0; i < block->n; i++) {
        int64_t at = block->row[i] - use->first;
        use->length[at] = block->length[i];
        use->word[at] = WEFT_NEW(use->mem, double, block->length[i]);
        for (int k = 0; k < block->length[i]; k++)
            use->word[at][k] = (double)block->word[i][k];
    }
}

/* The rows by direction, in it by length, so that a block's sentences end together. */
static const sgd_length *in_order(const sgd_task *sgd, const sgd_rows *rows,
                                  weft_arena *tmp)
{
    sgd_length *order = WEFT_NEW(tmp, sgd_length, rows->n);
    for (int64_t i = 0, n; i < rows->n; i += n) {
        int direction = sgd_context_of(sgd, rows->row[i]);
        for (n = 1; i + n < rows->n; n++)
            if (sgd_context_of(sgd, rows->row[i + n]) != direction) break;
        sgd_sort_by_length(sgd, (int)n, rows->row + i, order + i);
    }
    return order;
}

/* Translates this rank's share of each direction. */
static void translate(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                      const real *w, const struct use *use)
{
    const weft_team *team = sgd->env.team;
    weft_arena *tmp = weft_arena_new();
    sgd_work work = sgd_work_new(sgd, model, BLOCK, tmp);
    int64_t row[BLOCK], turn = 0;
    struct block block = {.row = row,
                          .word = WEFT_NEW(tmp, uint32_t *, BLOCK),
                          .length = WEFT_NEW(tmp, int, BLOCK)};
    for (int i = 0; i < BLOCK; i++)
        block.word[i] = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    const sgd_length *order = in_order(sgd, rows, tmp);
    for (int64_t i = 0; i < rows->n; i += block.n) {
        block.direction = sgd_context_of(sgd, order[i].row);
        for (block.n = 0; block.n < BLOCK && i + block.n < rows->n; block.n++) {
            row[block.n] = order[i + block.n].row;
            if (sgd_context_of(sgd, row[block.n]) != block.direction) break;
        }
        if (turn++ % team->size != team->rank) continue;
        const real *theta = sgd_theta(sgd, model, w, block.direction, work.theta);
        weft_batch batch = sgd_batch(sgd, model, &work, block.n, row, NULL);
        sgd->net->translate(model->self, theta, &batch, block.word, block.length);
        use->take(sgd, &block, use);
    }
    weft_arena_free(tmp);
}

/* ---- scores ---- */

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
    const struct use use = {.take = add_block, .part = part, .sums = sums};
    translate(sgd, model, rows, w, &use);
    weft_translated_join(sgd->env.team, directions, sums);
    weft_translated_mean(directions, sums, out->metric + SGD_SCORE_BLEU);
    out->members = members_of(sgd, sums);
    weft_arena_free(tmp);
}

/* ---- texts ---- */

static weft_translation translation_of(const sgd_task *sgd, weft_part part, int64_t row,
                                       int n, const uint32_t *word, weft_arena *mem)
{
    const weft_pair_rows *pairs = &sgd->pairs;
    int direction = sgd_context_of(sgd, row);
    const weft_language *source =
                            &pairs->of->language[pairs->of->direction[direction].source],
                        *target =
                            &pairs->of->language[pairs->of->direction[direction].target];
    const weft_sentences *from = &source->part[part], *to = &target->part[part];
    int32_t reference = pairs->reference[row];
    return (weft_translation){
        .line = pairs->of->line[part][from->row[pairs->origin[row]]],
        .source = source->name,
        .target = target->name,
        .sentence = weft_sentence_text(from, pairs->origin[row], mem),
        .text = weft_translated_text(target->bpe, word, n, mem),
        .reference = reference < 0 ? NULL : weft_sentence_text(to, reference, mem)};
}

/* The words of all rows, one after the other, on all ranks. */
static double *join_words(const sgd_task *sgd, int64_t n, const struct use *use,
                          weft_arena *tmp)
{
    int64_t words = 0, at = 0;
    weft_join_f64(sgd->env.team, use->length, (size_t)n);
    for (int64_t i = 0; i < n; i++) words += (int64_t)use->length[i];
    double *word = WEFT_NEW(tmp, double, words);
    for (int64_t i = 0; i < n; at += (int64_t)use->length[i++])
        if (use->word[i])
            memcpy(word + at, use->word[i], (size_t)use->length[i] * sizeof *word);
    weft_join_f64(sgd->env.team, word, (size_t)words);
    return word;
}

void sgd_translations_say(const sgd_task *sgd, const sgd_model *model, weft_part part,
                          const sgd_rows *rows, const real *w, weft_predictions *out,
                          weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    int64_t n = rows->n;
    const struct use use = {.take = keep_block,
                            .part = part,
                            .first = n > 0 ? rows->row[0] : 0,
                            .length = WEFT_NEW(tmp, double, n),
                            .word = WEFT_NEW(tmp, double *, n),
                            .mem = tmp};
    *out = (weft_predictions){.n = n, .translated = WEFT_NEW(mem, weft_translation, n)};
    translate(sgd, model, rows, w, &use);
    const double *word = join_words(sgd, n, &use, tmp);
    uint32_t *own = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    for (int64_t i = 0; i < n; word += (int64_t)use.length[i++]) {
        int length = (int)use.length[i];
        for (int k = 0; k < length; k++) own[k] = (uint32_t)word[k];
        out->translated[i] = translation_of(sgd, part, rows->row[i], length, own, mem);
    }
    weft_arena_free(tmp);
}

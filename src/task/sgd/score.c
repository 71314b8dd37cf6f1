/* What trained networks say: sums of losses, answers of single rows, and translations, of
 * which each rank has its share of a direction. */
#include "sgd.h"
#include "task/parts.h"
#include "weft/par/par.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* rows at once */

/* ---- blocks ---- */

/* The weights of the network for a context, theta[contexts->theta]; w itself where the
 * model has no contexts. */
static const real *form_theta(const sgd_task *sgd, const sgd_model *model, const real *w,
                              int context, real *theta)
{
    if (!model->contexts) return w;
    weft_contexts_form(model->contexts, w, sgd_context(sgd, context), 0, model->table.at,
                       theta);
    return theta;
}

/* A rank's blocks of rows, one after the other: the samples of the present one, and the
 * weights for their context. */
struct walk {
    const sgd_task *sgd;
    const sgd_model *model;
    const real *w, *theta;
    sgd_blocks blocks;
    sgd_work work;
    int64_t at, end; /* number of the present block; that after the last one */
    int context;
    weft_batch batch;
};

static struct walk walk_new(const sgd_task *sgd, const sgd_model *model,
                            const sgd_rows *rows, const real *w, weft_arena *tmp)
{
    const weft_team *team = sgd->env.team;
    struct walk walk = {.sgd = sgd,
                        .model = model,
                        .w = w,
                        .blocks = sgd_blocks_new(sgd, model, rows, BLOCK, tmp),
                        .work = sgd_work_new(sgd, model, BLOCK, tmp),
                        .context = -1};
    walk.at = walk.blocks.n * team->rank / team->size - 1;
    walk.end = walk.blocks.n * (team->rank + 1) / team->size;
    return walk;
}

/* Goes to the next block; 0: there is none. */
static int next_block(struct walk *walk)
{
    if (++walk->at >= walk->end) return 0;
    int64_t from = walk->blocks.cut[walk->at], n = walk->blocks.cut[walk->at + 1] - from;
    const int64_t *row = walk->blocks.row + from;
    int context = walk->model->contexts ? sgd_context_of(walk->sgd, row[0]) : 0;
    walk->batch = sgd_batch(walk->sgd, walk->model, &walk->work, (int)n, row, NULL);
    walk->batch.again = context == walk->context;
    if (!walk->batch.again)
        walk->theta =
            form_theta(walk->sgd, walk->model, walk->w, context, walk->work.theta);
    walk->context = context;
    return 1;
}

/* ---- sums of losses ---- */

void sgd_sums_add(sgd_sums *to, const sgd_sums *sums)
{
    to->loss += sums->loss;
    to->wrong += sums->wrong;
    to->count += sums->count;
    to->measured += sums->measured;
}

double sgd_sums_score(const sgd_task *sgd, const sgd_sums *sums)
{
    if (!isfinite(sums->loss)) return INFINITY;
    if (sgd->opts.score == WEFT_BY_LOG_ERROR)
        return log(fmax(sums->wrong, 0.5) / sums->count);
    if (weft_measure_joint((weft_measure)sgd->opts.score))
        return sums->measured / sums->count;
    return (sgd->opts.score == WEFT_BY_LOSS ? sums->loss : sums->wrong) / sums->count;
}

/* Blocks of samples are distributed over ranks; their sums are added in order on all
 * ranks. */
sgd_sums sgd_score_rows(sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w)
{
    weft_arena *tmp = weft_arena_new();
    struct walk walk = walk_new(sgd, model, rows, w, tmp);
    int64_t n = walk.blocks.n;
    sgd_sums *told = WEFT_NEW(tmp, sgd_sums, n), all = {0};
    while (next_block(&walk)) {
        weft_score score = {0};
        sgd->net->score(model->self, walk.work.net, walk.theta, &walk.batch, &score);
        told[walk.at] =
            (sgd_sums){.loss = score.loss, .wrong = score.wrong, .count = score.count};
    }
    weft_join_f64(sgd->env.team, &told->loss, (size_t)n * sizeof *told / sizeof(double));
    for (int64_t b = 0; b < n; b++) sgd_sums_add(&all, &told[b]);
    all.loss *= sgd->unit;
    weft_arena_free(tmp);
    return all;
}

/* ---- answers of single rows ---- */

/* Adds the numbers that are predicted of a row. */
static void add_numbers(int targets, const real *z, double *sum)
{
    for (int k = 0; k < targets; k++) sum[k] += (double)z[k];
}

/* Adds the probabilities of a row from its logits. */
static void add_softmax(int classes, const real *z, double *p)
{
    double most = (double)z[0], sum = 0;
    for (int k = 1; k < classes; k++) most = fmax(most, (double)z[k]);
    for (int k = 0; k < classes; k++) sum += exp((double)z[k] - most);
    for (int k = 0; k < classes; k++) p[k] += exp((double)z[k] - most) / sum;
}

/* This rank's blocks, by the weights w. */
static void add_network(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        const real *w, double *p)
{
    weft_arena *tmp = weft_arena_new();
    int classes = sgd->shape.classes;
    struct walk walk = walk_new(sgd, model, rows, w, tmp);
    real *h = WEFT_NEW(tmp, real, (int64_t)BLOCK * sgd->net->width(model->self)),
         *z = WEFT_NEW(tmp, real, (int64_t)BLOCK * classes);
    while (next_block(&walk)) {
        const int64_t *place = walk.blocks.place + walk.blocks.cut[walk.at];
        sgd->net->represent(model->self, walk.work.net, walk.theta, &walk.batch, h, z);
        for (int i = 0; i < walk.batch.n; i++)
            (sgd->shape.numbers ? add_numbers : add_softmax)(
                classes, z + (int64_t)i * classes, p + place[i] * classes);
    }
    weft_arena_free(tmp);
}

/* The clients and labels of rows. */
static void add_clients(const sgd_task *sgd, const sgd_rows *rows, weft_predictions *out,
                        weft_arena *mem)
{
    out->client = WEFT_NEW(mem, int64_t, rows->n);
    out->label = WEFT_NEW(mem, int32_t, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        out->client[i] = sgd->pool.client[rows->row[i]];
        out->label[i] = sgd_label_of(sgd, rows->row[i]);
    }
}

/* As sgd_predict, where there is an answer a row. */
static weft_predictions predict_rows(const sgd_task *sgd, const sgd_model *model,
                                     const sgd_rows *rows, int nets, const real *x,
                                     weft_arena *mem)
{
    int64_t numbers = rows->n * sgd->shape.classes;
    weft_predictions out = {.n = rows->n,
                            .classes = sgd->shape.classes,
                            .probable = !sgd->shape.numbers,
                            .score = WEFT_NEW(mem, double, numbers)};
    for (int f = 0; f < nets; f++)
        add_network(sgd, model, rows, x + f * model->n, out.score);
    for (int64_t i = 0; i < numbers; i++) out.score[i] /= nets;
    weft_join_f64(sgd->env.team, out.score, (size_t)numbers);
    if (sgd->pool.client) add_clients(sgd, rows, &out, mem);
    return out;
}

weft_status sgd_predict(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                        int nets, const real *x, weft_predictions *out, weft_arena *mem)
{
    if (!sgd_answers(sgd))
        return weft_fail(WEFT_ECONF,
                         "%s: a network %s on %s answers no single rows; predict is for "
                         "tables, images and documents",
                         sgd->env.data->path, sgd->net->kind.name,
                         weft_form_name[sgd->shape.form]);
    *out = predict_rows(sgd, model, rows, nets, x, mem);
    return WEFT_OK;
}

double sgd_measure(const sgd_task *sgd, weft_measure measure, const sgd_model *model,
                   const sgd_rows *rows, const real *x)
{
    weft_arena *tmp = weft_arena_new();
    weft_predictions said = predict_rows(sgd, model, rows, 1, x, tmp);
    weft_truth truth = sgd_truth(sgd, rows, tmp);
    double measured = weft_measure_of(measure, &said, &truth);
    weft_arena_free(tmp);
    return measured;
}

void sgd_judge(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
               const real *x, weft_scores *out, weft_arena *mem)
{
    if (!sgd_answers(sgd) || !weft_quality_fits(rows->n, sgd->shape.classes)) return;
    weft_arena *tmp = weft_arena_new();
    weft_predictions said = predict_rows(sgd, model, rows, sgd->nfold, x, tmp);
    weft_truth truth = sgd_truth(sgd, rows, tmp);
    weft_scores_judge(&said, &truth, 2, out, mem);
    weft_arena_free(tmp);
}

/* ---- translations ---- */

static const weft_metric direction_table[] = {WEFT_TRANSLATED_SCORES, {0}};

/* The translations of n rows of a direction, as words. */
struct translated {
    int direction, n;
    const int64_t *row; /* [n] */
    uint32_t **word;    /* [BLOCK][longest] */
    int *length;        /* [BLOCK] */
};

/* What becomes of the translations of this rank's blocks. */
struct use {
    void (*take)(const sgd_task *sgd, const struct translated *block,
                 const struct use *use);
    weft_part part;
    weft_translated *sums; /* [directions] */
    /* of all rows, from `first` on: words as joined doubles, in mem */
    int64_t first;
    double *length, **word; /* [rows] */
    weft_arena *mem;
};

/* Adds the translations of a block to the sums of its direction. */
static void add_block(const sgd_task *sgd, const struct translated *block,
                      const struct use *use)
{
    weft_translated_add(&use->sums[block->direction], &sgd->pairs, use->part,
                        block->direction, block->n, block->row, block->word, block->length);
}

/* Keeps the words of a block. */
static void keep_block(const sgd_task *sgd, const struct translated *block,
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
static const sgd_length *by_length(const sgd_task *sgd, const sgd_rows *rows,
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
static void translate_rows(const sgd_task *sgd, const sgd_model *model,
                           const sgd_rows *rows, const real *w, const struct use *use)
{
    const weft_team *team = sgd->env.team;
    weft_arena *tmp = weft_arena_new();
    sgd_work work = sgd_work_new(sgd, model, BLOCK, tmp);
    int64_t row[BLOCK], turn = 0;
    struct translated block = {.row = row,
                               .word = WEFT_NEW(tmp, uint32_t *, BLOCK),
                               .length = WEFT_NEW(tmp, int, BLOCK)};
    for (int i = 0; i < BLOCK; i++)
        block.word[i] = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    const sgd_length *order = by_length(sgd, rows, tmp);
    for (int64_t i = 0; i < rows->n; i += block.n) {
        block.direction = sgd_context_of(sgd, order[i].row);
        for (block.n = 0; block.n < BLOCK && i + block.n < rows->n; block.n++) {
            row[block.n] = order[i + block.n].row;
            if (sgd_context_of(sgd, row[block.n]) != block.direction) break;
        }
        if (turn++ % team->size != team->rank) continue;
        const real *theta = form_theta(sgd, model, w, block.direction, work.theta);
        weft_batch batch = sgd_batch(sgd, model, &work, block.n, row, NULL);
        sgd->net->translate(model->self, theta, &batch, block.word, block.length);
        use->take(sgd, &block, use);
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
    const struct use use = {.take = add_block, .part = part, .sums = sums};
    translate_rows(sgd, model, rows, w, &use);
    weft_translated_join(sgd->env.team, directions, sums);
    weft_translated_mean(directions, sums, out->metric + SGD_SCORE_BLEU);
    out->members = members_of(sgd, sums);
    weft_arena_free(tmp);
}

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
    translate_rows(sgd, model, rows, w, &use);
    const double *word = join_words(sgd, n, &use, tmp);
    uint32_t *own = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    for (int64_t i = 0; i < n; word += (int64_t)use.length[i++]) {
        int length = (int)use.length[i];
        for (int k = 0; k < length; k++) own[k] = (uint32_t)word[k];
        out->translated[i] = translation_of(sgd, part, rows->row[i], length, own, mem);
    }
    weft_arena_free(tmp);
}

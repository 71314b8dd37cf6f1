/* Sentences and their translations as samples of task sgd: every pair of a direction is
 * one, and its context are the two languages. What the network writes is compared with the
 * references; each rank has its share of a direction. */
#include "sgd.h"
#include "weft/data/translations.h"

#include <string.h>

static const weft_translations *translations_of(const sgd_task *sgd)
{
    return weft_translations_of(sgd->env.data);
}

/* ---- samples ---- */

static weft_status pairs_open(sgd_task *sgd)
{
    weft_data *data = sgd->env.data;
    weft_shape *shape = &sgd->shape;
    const weft_pair_rows *pairs = weft_pair_rows_new(data, data->scored);
    *shape = weft_pair_rows_shape(pairs);
    if (data->longest > shape->longest) shape->longest = (int)data->longest;
    if (shape->longest == 0) shape->longest = 2 * shape->d + 10; /* as beams have it */
    data->longest = shape->longest;
    for (int p = 0; p < WEFT_NPART; p++)
        sgd->first[p + 1] = pairs->first[(p + 1) * pairs->of->directions];
    return WEFT_OK;
}

static sgd_layout pairs_layout(const sgd_task *sgd)
{
    const weft_translations *of = translations_of(sgd);
    return (sgd_layout){.contexts =
                            (int)(sgd->before ? of->known_directions : of->directions),
                        .languages = sgd->before ? of->known : of->n,
                        .known = of->known,
                        .joint = of->joint};
}

/* The direction of a row. */
static int pairs_context_of(const sgd_task *sgd, int64_t row)
{
    const weft_translations *of = translations_of(sgd);
    int64_t low = 0, high = WEFT_NPART * of->directions;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (of->pairs.first[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return (int)(low % of->directions);
}

static weft_context pairs_context(const sgd_task *sgd, int number)
{
    const weft_direction *way = &translations_of(sgd)->direction[number];
    return (weft_context){.language = {way->source, way->target}, .pair = number};
}

static void pairs_put(const sgd_task *sgd, const sgd_model *model, sgd_work *work, int i,
                      int64_t row)
{
    const weft_pair_rows *pairs = &translations_of(sgd)->pairs;
    work->word[i] = pairs->source[row];
    work->length[i] = pairs->sources[row];
    work->reply[i] = pairs->target[row];
    work->replies[i] = pairs->targets[row];
    if (model->contexts->options.form != WEFT_CONTEXT_ONE) return;
    uint32_t *named = work->named + i * sgd->shape.d;
    weft_pair_rows_name(pairs, row,
                        pairs_context(sgd, pairs_context_of(sgd, row)).language[1], named);
    work->word[i] = named;
    work->length[i]++;
}

static const uint32_t *pairs_words(const sgd_task *sgd, int64_t row, int *n)
{
    const weft_pair_rows *pairs = &translations_of(sgd)->pairs;
    *n = pairs->sources[row] + pairs->targets[row];
    return pairs->source[row];
}

static void pairs_thin(const sgd_task *sgd, const sgd_model *model, sgd_work *work,
                       int64_t step, int n, const int64_t *row)
{
    weft_context at = pairs_context(sgd, pairs_context_of(sgd, row[0]));
    int first = model->contexts->options.form == WEFT_CONTEXT_ONE; /* behind its name */
    if (at.language[0] != at.language[1]) return;
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

/* ---- options ---- */

weft_status sgd_check_noise(const sgd_task *sgd)
{
    const weft_entry *entry = weft_conf_find(sgd->env.conf, "train", "noise");
    const weft_translations *of = translations_of(sgd);
    if (!entry || (strcmp(entry->value, SGD_NOISE) == 0 && !weft_conf_is_typed(entry)))
        return WEFT_OK;
    for (int64_t i = 0; of && i < of->directions; i++)
        if (of->direction[i].source == of->direction[i].target) return WEFT_OK;
    return weft_entry_fail(entry,
                           "nothing in this run reads it: %s has no translations of a "
                           "language to itself; take it out",
                           sgd->env.data->path);
}

/* The tensors of the languages and directions that were known before. */
static int pairs_known(const sgd_task *sgd, const weft_job *job,
                       weft_tensor out[WEFT_MAX_TENSORS])
{
    const weft_translations *of = translations_of(sgd);
    if (of->known == of->n && of->known_directions == of->directions) return 0;
    WEFT_SCRATCH(tmp);
    sgd_task task = *sgd;
    task.before = 1;
    task.shape.words -= of->n - of->known;
    sgd_model model = sgd_model_of(&task, job, tmp);
    return weft_contexts_tensors(model.contexts, out);
}

/* ECONF: a direction for which the winner has no weights; or there is nothing that
 * context.train could train. */
static weft_status pairs_check(const sgd_task *sgd)
{
    const weft_translations *of = translations_of(sgd);
    const weft_context_options *context = &sgd->context;
    if (sgd->env.scoring && context->form == WEFT_CONTEXT_PAIR &&
        of->directions > of->known_directions)
        return weft_fail(WEFT_ECONF,
                         "%s: the winner was not trained on %s, and has weights for the "
                         "directions of its training alone (context.form = pairwise); take "
                         "one of another form, or other directions",
                         of->path,
                         weft_direction_name(of, of->known_directions, sgd->env.mem));
    if (sgd->env.scoring || context->train == WEFT_CONTEXT_ALL || of->known < of->n)
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "context.train = embeddings trains those of languages that run.start "
                     "lacks, and %s has none: set run.start = RUN.h5, and pack sentences "
                     "in another language with vocabulary = RUN.h5",
                     of->path);
}

/* ---- scores ---- */

static const weft_metric direction_table[] = {WEFT_TEXT_SCORES, {0}};

/* What becomes of the translations of this rank's rows. */
struct use {
    weft_part part;
    weft_texts *texts; /* [directions] to which they are added; NULL: they are kept */
    /* of all rows, from `first` on: words as joined doubles, in mem */
    int64_t first;
    double *length, **word; /* [rows] */
    weft_arena *mem;
};

/* Takes word[n], the translation of a row. */
static void use_text(const sgd_task *sgd, const struct use *use, int direction, int64_t row,
                     int n, const uint32_t *word)
{
    const weft_translations *of = translations_of(sgd);
    int64_t first = of->pairs.first[use->part * of->directions + direction],
            at = row - use->first;
    if (use->texts) {
        weft_texts_add(use->texts, sgd->env.data, use->part, direction, row - first, n,
                       word);
        return;
    }
    use->length[at] = n;
    use->word[at] = WEFT_NEW(use->mem, double, n);
    for (int k = 0; k < n; k++) use->word[at][k] = (double)word[k];
}

/* The rows by direction, in it by length, so that a block's sentences end together. */
static sgd_rows by_length(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                          weft_arena *tmp)
{
    sgd_blocks blocks = sgd_blocks_new(sgd, model, rows, rows->n + 1, tmp);
    weft_length *order = WEFT_NEW(tmp, weft_length, rows->n);
    for (int64_t b = 0; b < blocks.n; b++) {
        int64_t from = blocks.cut[b], n = blocks.cut[b + 1] - from;
        sgd_sort_by_length(sgd, (int)n, blocks.row + from, order + from);
    }
    for (int64_t i = 0; i < rows->n; i++) blocks.row[i] = order[i].at;
    return (sgd_rows){rows->n, blocks.row};
}

/* Translates this rank's share of each direction. */
static void translate_rows(const sgd_task *sgd, const sgd_model *model,
                           const sgd_rows *rows, const real *w, const struct use *use)
{
    WEFT_SCRATCH(tmp);
    uint32_t *word[SGD_BLOCK];
    int length[SGD_BLOCK];
    for (int i = 0; i < SGD_BLOCK; i++)
        word[i] = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    sgd_rows sorted = by_length(sgd, model, rows, tmp);
    sgd_walk walk = sgd_walk_new(sgd, model, &sorted, w, tmp);
    while (sgd_walk_next(&walk)) {
        sgd->net->write(model->self, walk.theta, &walk.batch, word, length);
        for (int k = 0; k < walk.batch.n; k++)
            use_text(sgd, use, walk.context, walk.row[k], length[k], word[k]);
    }
}

static weft_members *members_of(const sgd_task *sgd, const weft_texts *texts)
{
    const weft_translations *of = translations_of(sgd);
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
        int64_t n = weft_texts_score(texts, d, members->score + 2 * i);
        if (n == 0) continue;
        members->number[i] = d;
        members->name[i] = weft_direction_name(of, d, mem);
        members->count[i] = (double)n;
        members->n++;
    }
    return members;
}

static sgd_rows pairs_scored(const sgd_task *sgd, const sgd_rows *rows, weft_arena *mem)
{
    const int32_t *reference = translations_of(sgd)->pairs.reference;
    int64_t *row = WEFT_NEW(mem, int64_t, rows->n), n = 0;
    for (int64_t i = 0; i < rows->n; i++)
        if (reference[rows->row[i]] >= 0) row[n++] = rows->row[i];
    return (sgd_rows){n, row};
}

static void pairs_score(const sgd_task *sgd, const sgd_model *model, weft_part part,
                        const sgd_rows *rows, const real *w, weft_scores *out)
{
    WEFT_SCRATCH(tmp);
    int64_t directions = translations_of(sgd)->directions;
    weft_texts *texts = weft_texts_new(directions, tmp);
    const struct use use = {.part = part, .texts = texts};
    translate_rows(sgd, model, rows, w, &use);
    weft_texts_join(sgd->env.team, directions, texts);
    weft_texts_mean(texts, directions, out->metric + SGD_TEXT_SCORES);
    out->members = members_of(sgd, texts);
}

/* ---- what is written ---- */

static weft_written written_of(const sgd_task *sgd, weft_part part, int64_t row, int n,
                               const uint32_t *word, weft_arena *mem)
{
    const weft_translations *of = translations_of(sgd);
    weft_context at = pairs_context(sgd, pairs_context_of(sgd, row));
    const weft_language *source = &of->language[at.language[0]],
                        *target = &of->language[at.language[1]];
    const weft_sentences *from = &source->part[part], *to = &target->part[part];
    int32_t origin = of->pairs.origin[row], reference = of->pairs.reference[row];
    return (weft_written){
        .line = of->line[part][from->row[origin]],
        .source = source->name,
        .target = target->name,
        .sentence = weft_sentence_text(from, origin, mem),
        .text = weft_sentence_decode(target, word, n, mem),
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

static void pairs_say(const sgd_task *sgd, const sgd_model *model, weft_part part,
                      const sgd_rows *rows, const real *w, weft_predictions *out,
                      weft_arena *mem)
{
    WEFT_SCRATCH(tmp);
    int64_t n = rows->n;
    const struct use use = {.part = part,
                            .first = n > 0 ? rows->row[0] : 0,
                            .length = WEFT_NEW(tmp, double, n),
                            .word = WEFT_NEW(tmp, double *, n),
                            .mem = tmp};
    *out = (weft_predictions){.n = n, .written = WEFT_NEW(mem, weft_written, n)};
    translate_rows(sgd, model, rows, w, &use);
    const double *word = join_words(sgd, n, &use, tmp);
    uint32_t *own = WEFT_NEW(tmp, uint32_t, sgd->shape.longest);
    for (int64_t i = 0; i < n; word += (int64_t)use.length[i++]) {
        int length = (int)use.length[i];
        for (int k = 0; k < length; k++) own[k] = (uint32_t)word[k];
        out->written[i] = written_of(sgd, part, rows->row[i], length, own, mem);
    }
}

const sgd_source sgd_pairs = {.open = pairs_open,
                              .check = pairs_check,
                              .layout = pairs_layout,
                              .context_of = pairs_context_of,
                              .context = pairs_context,
                              .put = pairs_put,
                              .words = pairs_words,
                              .thin = pairs_thin,
                              .known = pairs_known,
                              .scored = pairs_scored,
                              .score = pairs_score,
                              .say = pairs_say};

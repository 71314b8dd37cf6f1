/* Weights of a network for many contexts: their layout in one vector, and the maps between
 * this vector and the weights of one context. */
#include "weft/net/context.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

static const weft_opt context_opts[] = {
    WEFT_CHOICE_OPT(
        "form", weft_context_options, form, "auto",
        "one/universal|each/per_language|pair/pairwise|generated|auto",
        "weights by context, which is a client, or the languages of a "
        "sentence: one for all, where sentences name the target language; "
        "each: a copy for each client, and of encoder and decoder for each "
        "language; for each pair of languages; or generated from an embedding "
        "of each client or language. auto: generated for languages, one for all "
        "clients",
        .role = WEFT_SHAPE),
    WEFT_TEXT_OPT("tensors", weft_context_options, tensors, "all",
                  "tensors or layers that are by context: last, all, or names with commas "
                  "between them, as `weft info` prints them; others are one for all"),
    WEFT_INT_OPT("size", weft_context_options, size, "8", 1, WEFT_CONTEXT_COLUMNS,
                 "numbers of an embedding", .role = WEFT_SHAPE),
    WEFT_CHOICE_OPT("embedding", weft_context_options, embedding, "learnt",
                    "learnt|one_hot",
                    "learnt; one_hot: a column of the generator belongs to each language"),
    WEFT_CHOICE_OPT("train", weft_context_options, train, "all", "all|embeddings",
                    "all weights; or, with run.start, embeddings of languages that it "
                    "lacks alone, and their words where they have a vocabulary each; of "
                    "clients all embeddings alone"),
    {0},
};
static const weft_when context_when[] = {
    {"size", "form", "generated"},
    {"embedding", "form", "generated"},
    {"train", "form", "generated"},
    {"train", "embedding", "learnt"},
    {"tensors", "form", "each|pair|generated"},
    {0},
};
const weft_kind weft_context_kind =
    WEFT_KIND("context", weft_context_options, context_opts,
              "task sgd: weights by client, or language", .when = context_when);

/* ---- layout ---- */

/* The form of a tensor with that role, which is one of those named. */
static int form_of(const weft_contexts *contexts, int role, int named, int shared)
{
    int form = contexts->options.form, words = (role & WEFT_OF_WORDS) != 0;
    if (words && !shared && !(named && form == WEFT_CONTEXT_PAIR)) return WEFT_CONTEXT_EACH;
    return named && (!words || form == WEFT_CONTEXT_PAIR) ? form : WEFT_CONTEXT_ONE;
}

static int copies_of(const weft_contexts *contexts, int form)
{
    return form == WEFT_CONTEXT_ONE    ? 1
           : form == WEFT_CONTEXT_EACH ? contexts->languages
           : form == WEFT_CONTEXT_PAIR ? contexts->pairs
                                       : contexts->options.size;
}

/* ECONF: no tensor is by context, or none that could know the target language. */
static weft_status check_tensors(const weft_contexts *contexts)
{
    int any = 0, target = contexts->net->role == NULL;
    if (contexts->options.form == WEFT_CONTEXT_ONE) return WEFT_OK;
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        any |= part->form == contexts->options.form;
        target |= part->role && part->form != WEFT_CONTEXT_ONE;
    }
    if (any && target) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "context.tensors = %s leaves nothing that is by %s; name others, or "
                     "set context.form = one",
                     contexts->options.tensors, any ? "the target language" : "context");
}

weft_status weft_contexts_setup(weft_contexts *contexts,
                                const weft_context_options *options, const weft_net *net,
                                const void *self, int languages, int pairs, int shared)
{
    char named[WEFT_MAX_TENSORS] = {0};
    int64_t numbers;
    *contexts = (weft_contexts){.options = *options,
                                .net = net,
                                .self = self,
                                .languages = languages,
                                .known = languages,
                                .pairs = pairs,
                                .theta = net->nweight(self)};
    contexts->ntensor = net->tensors(self, contexts->tensor);
    if (options->form != WEFT_CONTEXT_ONE)
        TRY(weft_tensors_choose(weft_context_kind.name, "tensors", options->tensors,
                                contexts->ntensor, contexts->tensor, named, &numbers));
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_tensor *tensor = &contexts->tensor[k];
        int role = net->role ? net->role(tensor) : 0;
        int form = form_of(contexts, role, named[k], shared);
        int64_t n = weft_tensors_size(1, tensor);
        contexts->part[k] = (weft_context_part){.form = form,
                                                .role = (role & WEFT_OF_TARGET) != 0,
                                                .at = contexts->n,
                                                .theta = tensor->at,
                                                .n = n,
                                                .copies = copies_of(contexts, form)};
        contexts->n += n * contexts->part[k].copies;
        if (form == WEFT_CONTEXT_GENERATED) contexts->generated += n;
    }
    TRY(check_tensors(contexts));
    contexts->embedding = contexts->n;
    if (options->form == WEFT_CONTEXT_GENERATED)
        contexts->n += (int64_t)languages * options->size;
    return WEFT_OK;
}

/* A dimension in front of the others, of which a tensor has four at most. */
static void add_dimension(weft_tensor *tensor, int64_t n)
{
    enum { MOST = 4 };
    if (tensor->nd == MOST) tensor->dims[--tensor->nd - 1] *= tensor->dims[MOST - 1];
    memmove(tensor->dims + 1, tensor->dims, (size_t)tensor->nd * sizeof *tensor->dims);
    tensor->dims[0] = n;
    tensor->nd++;
}

int weft_contexts_tensors(const weft_contexts *contexts, weft_tensor out[WEFT_MAX_TENSORS])
{
    int n = 0;
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        weft_tensor *tensor = &out[n++];
        *tensor = contexts->tensor[k];
        tensor->at = part->at;
        if (part->form != WEFT_CONTEXT_ONE) add_dimension(tensor, part->copies);
    }
    if (contexts->embedding < contexts->n)
        out[n++] = (weft_tensor){"embeddings",
                                 contexts->embedding,
                                 2,
                                 {contexts->languages, contexts->options.size}};
    return n;
}

void weft_contexts_by_language(const weft_contexts *contexts, char by[WEFT_MAX_TENSORS])
{
    memset(by, 0, WEFT_MAX_TENSORS);
    for (int k = 0; k < contexts->ntensor; k++)
        by[k] = contexts->part[k].form == WEFT_CONTEXT_EACH;
    by[contexts->ntensor] = contexts->embedding < contexts->n;
}

int weft_contexts_copies(const weft_contexts *contexts)
{
    int most = 1;
    for (int k = 0; k < contexts->ntensor; k++)
        most = contexts->part[k].copies > most ? contexts->part[k].copies : most;
    return most;
}

/* ---- to the weights of a context ---- */

static int copy_at(const weft_context_part *part, weft_context at)
{
    return part->form == WEFT_CONTEXT_ONE    ? 0
           : part->form == WEFT_CONTEXT_EACH ? at.language[part->role]
                                             : at.pair;
}

/* What multiplies the columns of a part: the embedding of its language. */
static const real *embedding_of(const weft_contexts *contexts,
                                const weft_context_part *part, const real *w,
                                weft_context at)
{
    return w + contexts->embedding +
           (int64_t)at.language[part->role] * contexts->options.size;
}

/* Numbers of theta at a time, which stay in cache: whole blocks. */
enum { AT_ONCE = 16 * WEFT_CONTEXT_BLOCK };

/* The numbers of theta that are in a part, in [from, from + n), and from i on at once;
 * 0: none. */
static int64_t stretch(const weft_context_part *part, int64_t from, int64_t n, int64_t *i)
{
    int64_t end = part->theta + part->n, next;
    if (*i < part->theta) *i = part->theta;
    if (*i < from) *i = from;
    next = (*i / AT_ONCE + 1) * AT_ONCE;
    if (end > from + n) end = from + n;
    if (end > next) end = next;
    return end > *i ? end - *i : 0;
}

void weft_generate(int columns, int64_t stride, int64_t n, const real *w, const real *by,
                   real *theta)
{
    enum { SOME = 16 }; /* numbers at once, which are then in registers */
    int64_t i = 0;
    for (; i + SOME <= n; i += SOME) {
        real sum[SOME];
        for (int e = 0; e < SOME; e++) sum[e] = theta[i + e];
        for (int c = 0; c < columns; c++) {
            if (by[c] == 0) continue;
            for (int e = 0; e < SOME; e++) sum[e] += by[c] * w[c * stride + i + e];
        }
        for (int e = 0; e < SOME; e++) theta[i + e] = sum[e];
    }
    for (; i < n; i++)
        for (int c = 0; c < columns; c++) theta[i] += by[c] * w[c * stride + i];
}

void weft_contexts_form(const weft_contexts *contexts, const real *w, weft_context at,
                        int64_t from, int64_t n, real *theta)
{
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        int generated = part->form == WEFT_CONTEXT_GENERATED;
        const real *l = generated ? embedding_of(contexts, part, w, at) : NULL;
        for (int64_t i = from, some; (some = stretch(part, from, n, &i)) > 0; i += some) {
            const real *own = w + part->at + (i - part->theta);
            if (generated) {
                memset(theta + i, 0, (size_t)some * sizeof *theta);
                weft_generate(part->copies, part->n, some, own, l, theta + i);
            } else {
                memcpy(theta + i, own + copy_at(part, at) * part->n,
                       (size_t)some * sizeof *theta);
            }
        }
    }
}

/* ---- and back ---- */

int weft_contexts_trained(const weft_contexts *contexts,
                          weft_context_range out[WEFT_MAX_RANGES])
{
    int n = 0, known = contexts->known;
    if (contexts->options.train == WEFT_CONTEXT_ALL) {
        out[0] = (weft_context_range){0, contexts->n};
        return 1;
    }
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        if (part->form == WEFT_CONTEXT_EACH)
            out[n++] = (weft_context_range){part->at + known * part->n,
                                            part->at + part->copies * part->n};
    }
    out[n++] = (weft_context_range){
        contexts->embedding + (int64_t)known * contexts->options.size, contexts->n};
    return n;
}

static int has_learnt(const weft_contexts *contexts)
{
    return contexts->embedding < contexts->n &&
           contexts->options.embedding == WEFT_CONTEXT_LEARNT;
}

/* x . y in a fixed order that vectors can follow. */
static double dot(int64_t n, const real *x, const real *y)
{
    double sum[16] = {0}, all = 0;
    int64_t even = n / 16 * 16;
    for (int64_t i = 0; i < even; i += 16)
        for (int e = 0; e < 16; e++) sum[e] += (double)x[i + e] * (double)y[i + e];
    for (int64_t i = even; i < n; i++) sum[i - even] += (double)x[i] * (double)y[i];
    for (int e = 0; e < 16; e++) all += sum[e];
    return all;
}

/* Blocks that have numbers of a part. */
static int64_t blocks_of(const weft_context_part *part)
{
    return (part->theta + part->n - 1) / WEFT_CONTEXT_BLOCK -
           part->theta / WEFT_CONTEXT_BLOCK + 1;
}

int64_t weft_contexts_dots(const weft_contexts *contexts)
{
    int64_t n = 0;
    for (int k = 0; k < contexts->ntensor; k++)
        if (contexts->part[k].form == WEFT_CONTEXT_GENERATED)
            n += blocks_of(&contexts->part[k]) * contexts->part[k].copies;
    return n;
}

/* Products by blocks of column w[n], which belongs to numbers [i, i + n) of theta, with d;
 * dots[blocks][copies], from the first block of the part on. */
static void dot_blocks(const weft_context_part *part, int64_t i, int64_t n, const real *w,
                       const real *d, double *dots)
{
    int64_t first = part->theta / WEFT_CONTEXT_BLOCK;
    for (int64_t k = 0, some; k < n; k += some) {
        some = WEFT_CONTEXT_BLOCK - (i + k) % WEFT_CONTEXT_BLOCK;
        if (some > n - k) some = n - k;
        dots[((i + k) / WEFT_CONTEXT_BLOCK - first) * part->copies] =
            dot(some, w + k, d + k);
    }
}

/* Of numbers [i, i + n) of theta, with gradient d, in copy c. */
static void spread_stretch(const weft_context_part *part, int c, real by, int64_t i,
                           int64_t n, const real *w, const real *d,
                           const weft_contexts_taker *taker, double *dots)
{
    real g[AT_ONCE];
    int64_t at = part->at + c * part->n + (i - part->theta);
    if (part->form == WEFT_CONTEXT_GENERATED) dot_blocks(part, i, n, w + at, d, dots + c);
    for (int64_t e = 0; e < n; e++) g[e] = by != 0 ? by * d[e] : 0;
    taker->take(taker->self, at, n, g);
}

void weft_contexts_spread(const weft_contexts *contexts, const real *w, weft_context at,
                          const real *dtheta, int64_t from, int64_t n,
                          const weft_contexts_taker *taker, double *dots)
{
    int learnt = contexts->options.embedding == WEFT_CONTEXT_LEARNT;
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        int generated = part->form == WEFT_CONTEXT_GENERATED;
        const real *l = generated ? embedding_of(contexts, part, w, at) : NULL;
        for (int c = 0; c < part->copies; c++) {
            real by = generated ? l[c] : copy_at(part, at) == c;
            if (contexts->alike && by == 0 && !(generated && learnt)) continue;
            for (int64_t i = from, some; (some = stretch(part, from, n, &i)) > 0; i += some)
                spread_stretch(part, c, by, i, some, w, dtheta + i, taker, dots);
        }
        if (generated) dots += blocks_of(part) * part->copies;
    }
}

void weft_contexts_spread_small(const weft_contexts *contexts, weft_context at,
                                const double *dots, const weft_contexts_taker *taker)
{
    WEFT_SCRATCH(tmp);
    int64_t size = contexts->options.size, n = contexts->n - contexts->embedding;
    real *dl = WEFT_NEW(tmp, real, n);
    double *sum = WEFT_NEW(tmp, double, n);
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        double total[WEFT_CONTEXT_COLUMNS] = {0};
        if (part->form != WEFT_CONTEXT_GENERATED) continue;
        for (int64_t b = 0; b < blocks_of(part); b++, dots += part->copies)
            for (int c = 0; c < part->copies; c++) total[c] += dots[c];
        for (int c = 0; c < part->copies; c++)
            sum[at.language[part->role] * size + c] += total[c];
    }
    for (int64_t i = 0; i < n; i++) dl[i] = (real)sum[i];
    if (has_learnt(contexts)) taker->take(taker->self, contexts->embedding, n, dl);
}

/* ---- contexts that were never trained ---- */

/* Rows of n numbers of w, one for each language. */
static void fill_rows(const weft_contexts *contexts, const char *trained, int64_t n,
                      real *w)
{
    WEFT_SCRATCH(tmp);
    double *sum = WEFT_NEW(tmp, double, n);
    int64_t rows = 0;
    for (int64_t c = 0; c < contexts->languages; c++) {
        rows += trained[c];
        for (int64_t i = 0; i < n && trained[c]; i++) sum[i] += (double)w[c * n + i];
    }
    for (int64_t c = 0; c < contexts->languages; c++)
        for (int64_t i = 0; i < n && !trained[c]; i++)
            w[c * n + i] = (real)(sum[i] / (double)rows);
}

void weft_contexts_fill(const weft_contexts *contexts, const char *trained, real *w)
{
    if (!memchr(trained, 0, (size_t)contexts->languages) ||
        !memchr(trained, 1, (size_t)contexts->languages))
        return;
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        if (part->form == WEFT_CONTEXT_EACH)
            fill_rows(contexts, trained, part->n, w + part->at);
    }
    if (has_learnt(contexts))
        fill_rows(contexts, trained, contexts->options.size, w + contexts->embedding);
}

/* ---- copies ---- */

void weft_contexts_copy(const weft_contexts *contexts, int c, int64_t from, int64_t n,
                        int put, real *w, real *theta)
{
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        if (c >= part->copies) continue;
        for (int64_t i = from, some; (some = stretch(part, from, n, &i)) > 0; i += some) {
            real *own = w + part->at + c * part->n + (i - part->theta);
            memcpy(put ? own : theta + i, put ? theta + i : own,
                   (size_t)some * sizeof *own);
        }
    }
}

/* ---- initial weights ---- */

/* Initial weights of a network for many contexts. */
#define SPREAD 0.1                 /* embeddings are uniform in +- this */
#define KEY    ((uint64_t)1 << 33) /* of the random numbers of W, embeddings */

static void init_uniform(uint64_t seed, int64_t at, double bound, int64_t n, real *w)
{
    for (int64_t i = 0; i < n; i++) {
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_WEIGHTS, KEY, (uint64_t)(at + i), 0);
        w[i] = (real)(bound * (2 * weft_rng_unit(rng.v[0]) - 1));
    }
}

/* The bound of a uniform distribution with the spread of the numbers. */
static double bound_of(int64_t n, const real *w)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)w[i] * (double)w[i];
    return sqrt(3 * sum / (double)n);
}

/* Copy c of all parts that have one, from the network's initial weights. */
static void init_copy(const weft_contexts *contexts, int c, const real *theta, real *w)
{
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        int learnt = part->form == WEFT_CONTEXT_GENERATED &&
                     contexts->options.embedding == WEFT_CONTEXT_LEARNT;
        if (c < part->copies && !learnt)
            memcpy(w + part->at + c * part->n, theta + part->theta,
                   (size_t)part->n * sizeof *w);
    }
}

/* W: each column has the spread that the network's weights have, over that of an embedding
 * of the same length. */
static void init_generators(const weft_contexts *contexts, uint64_t seed, const real *theta,
                            real *w)
{
    for (int k = 0; k < contexts->ntensor; k++) {
        const weft_context_part *part = &contexts->part[k];
        if (part->form != WEFT_CONTEXT_GENERATED) continue;
        double length = sqrt(part->copies / 3.0) * SPREAD;
        double bound = bound_of(part->n, theta + part->theta) / length;
        init_uniform(seed, part->at, bound, part->n * part->copies, w + part->at);
    }
}

void weft_contexts_init(const weft_contexts *contexts, uint64_t seed, real *w)
{
    const weft_context_options *options = &contexts->options;
    WEFT_SCRATCH(tmp);
    real *theta = WEFT_NEW(tmp, real, contexts->theta);
    int learnt = options->embedding == WEFT_CONTEXT_LEARNT;
    int copies = weft_contexts_copies(contexts);
    for (int c = copies - 1; c >= 0; c--) {
        int other = c > 0 && !contexts->alike;
        uint64_t own =
            other ? weft_rng_at(seed, WEFT_RNG_WEIGHTS, KEY + 1, (uint64_t)c, 0).v[0]
                  : seed;
        if (c == copies - 1 || !contexts->alike)
            contexts->net->init(contexts->self, own, theta);
        init_copy(contexts, c, theta, w);
    }
    int64_t n = contexts->n - contexts->embedding; /* 0: none */
    for (int64_t i = 0; i < n; i++)
        w[contexts->embedding + i] = i / options->size % options->size == i % options->size;
    if (n > 0 && learnt) {
        init_generators(contexts, seed, theta, w);
        init_uniform(seed, contexts->embedding, SPREAD, n, w + contexts->embedding);
    }
}

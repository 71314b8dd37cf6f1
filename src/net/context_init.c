/* Initial weights of a network for many contexts. */
#include "weft/context.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

#define SPREAD 0.1                 /* embeddings are uniform in +- this */
#define KEY    ((uint64_t)1 << 33) /* of the random numbers of W, P, embeddings */

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
    weft_arena *tmp = weft_arena_new();
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
    if (options->form == WEFT_CONTEXT_GENERATED) {
        if (learnt) init_generators(contexts, seed, theta, w);
        init_uniform(seed, contexts->first, sqrt(3.0 / options->size),
                     contexts->embedding - contexts->first, w + contexts->first);
        for (int64_t i = 0; i < contexts->languages; i++)
            for (int m = 0; m < options->size; m++)
                w[contexts->embedding + i * options->size + m] = i % options->size == m;
        if (learnt)
            init_uniform(seed, contexts->embedding, SPREAD,
                         contexts->n - contexts->embedding, w + contexts->embedding);
    }
    weft_arena_free(tmp);
}

/* A federation without storage, near Synthetic(alpha, beta) of Li et al., "Federated
 * optimization in heterogeneous networks", MLSys 2020 (FedProx), section 5.1. Client c has
 *     n_c = samples exp(spread z_c - spread^2 / 2), z_c ~ N(0, 1), rounded, 5 at least,
 *     x ~ N(v_c, diag(j^-1.2)),  v_c ~ N(B_c, 1)^d,  B_c ~ N(0, beta),
 *     y = argmax (W_c x + b_c),  (W_c, b_c) = (W, b) + alpha N(0, 1)^{classes x (d + 1)},
 * where (W, b) ~ N(0, 1) is common to all clients and alpha and beta are standard
 * deviations. There, (W_c, b_c) ~ N(u_c, 1), u_c ~ N(0, alpha), has nothing in common with
 * that of other clients, and u_c, which adds the same to every class, moves no label: no
 * model serves all clients, whatever alpha. Here alpha = 0 is one model for all, and a
 * large alpha comes near the paper's.
 *
 * Every number is a function of (seed, client, its place), so a client is made whole or in
 * part on any rank, with the same bits. */
#include "weft/generator.h"
#include "weft/rng.h"

#include <math.h>

#define LEAST 5
#define MOST  100 /* times the mean */

/* Second counter of WEFT_RNG_CLIENT: what is drawn; samples count up from SAMPLE. */
enum { SIZE, SHIFT, CENTRE, MODEL, SAMPLE };
#define COMMON ((uint64_t)-1) /* in place of a client: of all of them */

/* z[n] standard normal numbers of (a, b). */
static void normals(const weft_generator *generator, uint64_t a, uint64_t b, int64_t n,
                    double *z)
{
    for (int64_t i = 0; i < n; i += 4) {
        double four[4];
        weft_rng4 rng =
            weft_rng_at((uint64_t)generator->seed, WEFT_RNG_CLIENT, a, b, (uint64_t)i);
        weft_rng_normal(&rng, four);
        for (int64_t j = i; j < n && j < i + 4; j++) z[j] = four[j - i];
    }
}

void weft_generator_start(weft_generator *generator, weft_arena *mem)
{
    double *w = WEFT_NEW(mem, double, generator->classes *(generator->d + 1));
    double *deviation = WEFT_NEW(mem, double, generator->d);
    normals(generator, COMMON, MODEL, generator->classes * (generator->d + 1), w);
    for (int64_t j = 0; j < generator->d; j++) deviation[j] = pow((double)(j + 1), -0.6);
    generator->w = w;
    generator->deviation = deviation;
}

void weft_generator_count(const weft_generator *generator, int64_t c,
                          int64_t count[WEFT_NPART])
{
    double z = 0;
    if (generator->spread > 0) normals(generator, (uint64_t)c, SIZE, 1, &z);
    double size = generator->samples * exp(generator->spread * (z - generator->spread / 2));
    int64_t n = llround(fmin(fmax(size, LEAST), MOST * generator->samples));
    weft_client_divide(generator->valid, generator->test, n, count);
}

void weft_generator_sizes(const weft_generator *generator, weft_sizes size[WEFT_NPART])
{
    int alike = !(generator->spread > 0);
    for (int i = 0; i < WEFT_NPART; i++) size[i] = (weft_sizes){0};
    for (int64_t c = 0; c < (alike ? 1 : generator->clients); c++) {
        int64_t count[WEFT_NPART];
        weft_generator_count(generator, c, count);
        for (int i = 0; i < WEFT_NPART; i++) weft_sizes_add(&size[i], count[i]);
    }
    for (int i = 0; alike && i < WEFT_NPART; i++) {
        size[i].total *= generator->clients;
        size[i].square *= (double)generator->clients;
    }
}

void weft_generator_make(const weft_generator *generator, int64_t c, int64_t first,
                         int64_t n, float *x, int32_t *label, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t d = generator->d, nw = generator->classes * (d + 1);
    double shift, *v = WEFT_NEW(tmp, double, d), *z = WEFT_NEW(tmp, double, d),
                  *w = WEFT_NEW(tmp, double, nw);
    normals(generator, (uint64_t)c, SHIFT, 1, &shift);
    normals(generator, (uint64_t)c, CENTRE, d, v);
    if (generator->alpha > 0) normals(generator, (uint64_t)c, MODEL, nw, w);
    for (int64_t i = 0; i < nw; i++) w[i] = generator->w[i] + generator->alpha * w[i];
    for (int64_t j = 0; j < d; j++) v[j] += generator->beta * shift;
    for (int64_t i = 0; i < n; i++, x += d) {
        normals(generator, (uint64_t)c, (uint64_t)(SAMPLE + first + i), d, z);
        for (int64_t j = 0; j < d; j++)
            x[j] = (float)(v[j] + generator->deviation[j] * z[j]);
        double best = -INFINITY;
        for (int64_t k = 0; k < generator->classes; k++) {
            const double *wk = w + k * (d + 1);
            double sum = wk[d];
            for (int64_t j = 0; j < d; j++) sum += wk[j] * (double)x[j];
            if (sum > best) label[i] = (int32_t)k;
            best = fmax(best, sum);
        }
    }
    weft_arena_reset(tmp, mark);
}

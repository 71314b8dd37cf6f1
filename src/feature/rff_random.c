/* Random matrices of rff. An entry is a quantile of 15 random bits and a sign, so that
 * entry (input, feature) is the same for every configuration, block of features and rank.
 * The rows of a structured matrix are signed Hadamard products with random lengths. */
#include "rff.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

enum {
    MAGNITUDE = RFF_LEVELS - 1,
    ENTRIES = 16, /* entries of one random number */
    COARSE = 256  /* last levels of the Cauchy table, too far apart: drawn from the exact
                     quantile */
};

/* Third word of the counter: the purpose. */
enum { ENTRY, TAIL, SIGN, RADIUS };

static const double pi = 3.14159265358979323846;

/* Both tables: |z| with (level + 1/2)/LEVELS of the mass below. By Newton's method, each
 * started from the quantile before. */
void rff_tables(rff_shared *shared)
{
    shared->normal = WEFT_NEW(shared->mem, float, RFF_LEVELS);
    shared->cauchy = WEFT_NEW(shared->mem, float, RFF_LEVELS);
    shared->offset = WEFT_NEW(shared->mem, float, shared->columns);
    double z = 0;
    for (int i = 0; i < RFF_LEVELS; i++) {
        double below = (i + 0.5) / RFF_LEVELS;
        for (int step = 0; step < 4; step++)
            z -= (1 - below - erfc(z / sqrt(2))) / (sqrt(2 / pi) * exp(-z * z / 2));
        shared->normal[i] = (float)z;
        shared->cauchy[i] = (float)tan(pi / 2 * below);
    }
    for (int64_t j = 0; j < shared->columns; j++) {
        weft_rng4 rng = weft_rng_at(shared->seed, WEFT_RNG_OFFSET, (uint64_t)j, 0, 0);
        shared->offset[j] = (float)weft_rng_unit(rng.v[0]);
    }
}

static double cauchy_tail(const rff_shared *shared, int64_t j, int i, int level)
{
    weft_rng4 rng =
        weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)j, (uint64_t)i, TAIL);
    double above = (RFF_LEVELS - level - weft_rng_unit(rng.v[0])) / RFF_LEVELS;
    return 1 / tan(pi / 2 * above);
}

/* size >= 0 with the sign of 16 random bits, whose first it is: no branch, as every second
 * would be mispredicted. */
static float with_sign(float size, uint32_t bits)
{
    uint32_t x;
    memcpy(&x, &size, sizeof x);
    x |= (bits & ~(uint32_t)MAGNITUDE) << 16;
    memcpy(&size, &x, sizeof x);
    return size;
}

void rff_column(const rff_shared *shared, int family, int64_t j, float *z)
{
    const float *table = family == RFF_NORMAL ? shared->normal : shared->cauchy;
    int fine = family == RFF_NORMAL ? RFF_LEVELS : RFF_LEVELS - COARSE;
    for (int i = 0; i < shared->d; i += ENTRIES) {
        weft_rng4 rng = weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)j,
                                    (uint64_t)(i / ENTRIES), ENTRY);
        int end = shared->d - i < ENTRIES ? shared->d - i : ENTRIES;
        for (int e = 0; e < end; e++) {
            uint32_t bits = rng.v[e / 4] >> (16 * (e % 4)) & 0xffff;
            int level = (int)(bits & MAGNITUDE);
            float size =
                level < fine ? table[level] : (float)cauchy_tail(shared, j, i + e, level);
            z[i + e] = with_sign(size, bits);
        }
    }
}

/* A row of a normal matrix has a length distributed as chi with `padded` degrees of
 * freedom, drawn by Wilson and Hilferty's approximation, the cube of a normal variable. */
void rff_signs(const rff_shared *shared, int64_t j, float *sign, float *radius)
{
    int n = shared->padded;
    for (int i = 0; i < 3 * n; i += 64) {
        weft_rng4 rng =
            weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)j, (uint64_t)i, SIGN);
        for (int e = i; e < i + 64 && e < 3 * n; e++)
            sign[e] = rng.v[0] >> (e - i) & 1 ? -1.0f : 1.0f;
    }
    double width = 2.0 / (9.0 * n);
    for (int i = 0; i < n; i++) {
        weft_rng4 rng =
            weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)(j + i), 0, RADIUS);
        double z[2];
        weft_rng_normal_pair(&rng, z);
        double cube = pow(fmax(1 - width + z[0] * sqrt(width), 0), 3);
        radius[i] =
            (float)(sqrt(cube) / n); /* length / sqrt(n), of H D H D H D / n^(3/2) */
    }
}

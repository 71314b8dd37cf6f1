/* Numbers of a matrix become 32-bit floats. Where that would make different numbers of a
 * column equal though they are far from 0 for their spread (times since 1970, identifiers),
 * the column is stored as (x - shift) / scale, so that the numbers stay apart. Whether it
 * is, is known after the last row; then the source is read once more. */
#include "pack.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/math/linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 2048, /* different numbers of a column that are looked at */
    FEWEST = 64  /* of many columns */
};
#define ALL_NUMBERS ((int64_t)1 << 22) /* of all columns together */

/* How often the largest number must exceed half the spread for a shift to be worthwhile: 8
 * times, which gains 3 bits, where numbers become equal. 1024 times also where they do not,
 * but are too large for all whole numbers: too few floats lie in the spread for comparison
 * with other data. */
#define FAR       8.0
#define VERY_FAR  1024.0
#define ALL_WHOLE 0x1p24

/* The share of numbers made equal that is worth a warning, above that of any random numbers
 * of full precision. */
#define SHARE 0.01

struct column {
    weft_patterns numbers; /* seen so far but for 0, until there are `most` of them */
    uint8_t zero;          /* 1: there is a number 0 */
};

struct weft_scaling {
    int64_t d, most;
    double *low, *high;    /* [d] of the source */
    double *shift, *scale; /* [d] */
    int64_t moved;         /* columns that are stored shifted and scaled */
    struct column *column; /* [d] */
    int64_t *open, nopen;  /* columns whose sets are not full */
    weft_arena *mem;
};

/* ---- rows ---- */

/* Columns as they are, or shifted and scaled as an earlier reading of the source has found
 * (weft_scaling_next). Owned by mem. */
static weft_scaling *new_scaling(int64_t d, weft_arena *mem)
{
    weft_scaling *scaling = WEFT_NEW(mem, weft_scaling, 1);
    int64_t fit = ALL_NUMBERS / d;
    *scaling = (weft_scaling){.d = d,
                              .most = fit > MOST     ? MOST
                                      : fit < FEWEST ? FEWEST
                                                     : fit,
                              .low = WEFT_NEW(mem, double, d),
                              .high = WEFT_NEW(mem, double, d),
                              .shift = WEFT_NEW(mem, double, d),
                              .scale = WEFT_NEW(mem, double, d),
                              .column = WEFT_NEW(mem, struct column, d),
                              .open = WEFT_NEW(mem, int64_t, d),
                              .nopen = d,
                              .mem = mem};
    for (int64_t j = 0; j < d; j++) {
        scaling->low[j] = INFINITY;
        scaling->high[j] = -INFINITY;
        scaling->scale[j] = 1;
        scaling->open[j] = j;
    }
    return scaling;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static int is_zero(double number)
{
    return bits_of(number) << 1 == 0; /* or -0 */
}

/* Columns whose sets are full are looked at no more. */
static void close_full(weft_scaling *scaling)
{
    int64_t left = 0;
    for (int64_t k = 0; k < scaling->nopen; k++) {
        int64_t j = scaling->open[k];
        if (scaling->column[j].numbers.n < scaling->most) scaling->open[left++] = j;
    }
    scaling->nopen = left;
}

/* A row's floats; widens the ranges of the columns. Loops are such that vectors do them. */
static void convert(const weft_scaling *scaling, const double *x, float *y)
{
    int64_t d = scaling->d;
    double *low = scaling->low, *high = scaling->high;
    const double *shift = scaling->shift, *scale = scaling->scale;
    for (int64_t j = 0; j < d; j++) low[j] = x[j] < low[j] ? x[j] : low[j];
    for (int64_t j = 0; j < d; j++) high[j] = x[j] > high[j] ? x[j] : high[j];
    if (scaling->moved == 0)
        for (int64_t j = 0; j < d; j++) y[j] = (float)x[j];
    else
        for (int64_t j = 0; j < d; j++) y[j] = (float)((x[j] - shift[j]) / scale[j]);
}

/* The rows x[n][d] as floats y[n][d]; takes note of them. Cost O(n d). */
static void convert_rows(weft_scaling *scaling, int64_t n, const double *x, float *y)
{
    struct column *column = scaling->column;
    for (int64_t i = 0; i < n; i++, x += scaling->d, y += scaling->d) {
        int full = 0;
        convert(scaling, x, y);
        for (const int64_t *j = scaling->open, *end = j + scaling->nopen; j < end; j++) {
            if (is_zero(x[*j]))
                column[*j].zero = 1;
            else
                full |=
                    weft_patterns_add(&column[*j].numbers, bits_of(x[*j]), scaling->mem) &&
                    column[*j].numbers.n >= scaling->most;
        }
        if (full) close_full(scaling);
    }
}

/* ---- after the last row ---- */

/* Different numbers of column j, and how many are equal to others as floats. */
static int64_t numbers(const weft_scaling *scaling, int64_t j)
{
    return scaling->column[j].numbers.n + scaling->column[j].zero;
}

/* *exact: 1: all are floats. */
static int64_t merged(const weft_scaling *scaling, int64_t j, int *exact)
{
    const struct column *column = &scaling->column[j];
    weft_patterns floats = {0};
    WEFT_REWIND(scaling->mem);
    int zero = column->zero;
    *exact = 1;
    for (int64_t k = 0; k < column->numbers.room; k++) {
        double x, as;
        uint64_t bits = column->numbers.key[k] - 1;
        if (column->numbers.key[k] == 0) continue;
        memcpy(&x, &bits, sizeof x);
        as = (double)(float)((x - scaling->shift[j]) / scaling->scale[j]);
        *exact &= as >= x && as <= x;
        zero |= is_zero(as);
        if (!is_zero(as)) weft_patterns_add(&floats, bits_of(as), scaling->mem);
    }
    return numbers(scaling, j) - floats.n - zero;
}

/* 1: column j is so far from 0 for its spread that it has to be moved. */
static int is_far(const weft_scaling *scaling, int64_t j)
{
    double most = fmax(fabs(scaling->low[j]), fabs(scaling->high[j])),
           tiny = FLT_MIN / FLT_EPSILON;
    double times = fmax(most, tiny) / ((scaling->high[j] - scaling->low[j]) / 2);
    int exact;
    int64_t equal = merged(scaling, j, &exact);
    if (exact) return 0;
    return equal > 0 ? times >= FAR : times >= VERY_FAR && most >= ALL_WHOLE;
}

/* The middle of the column, of few digits so that whole numbers stay whole, and the power
 * of two above its greatest distance from there. */
static void move(const weft_scaling *scaling, int64_t j, weft_scaling *to)
{
    enum { DIGITS = 10 }; /* binary, of half the spread */
    double half = (scaling->high[j] - scaling->low[j]) / 2, middle = scaling->low[j] + half;
    int power;
    if (half > 0) {
        frexp(half, &power);
        double unit = ldexp(1, power - DIGITS);
        to->shift[j] = nearbyint(middle / unit) * unit;
        frexp(half + unit, &power);
        to->scale[j] = ldexp(1, power);
    } else {
        to->shift[j] = middle;
    }
    to->moved++;
}

weft_scaling *weft_scaling_next(const weft_scaling *scaling, weft_arena *mem)
{
    weft_scaling *next = NULL;
    for (int64_t j = 0; j < scaling->d && scaling->moved == 0; j++) {
        if (!is_far(scaling, j)) continue;
        if (next == NULL) next = new_scaling(scaling->d, mem);
        move(scaling, j, next);
    }
    return next;
}

/* "column 't'" or "column 3", of the features. */
static const char *named(const weft_pack *pack, int64_t j)
{
    if (pack->own->told.column != NULL)
        return weft_arena_text(pack->mem, "column '%s'", pack->own->told.column[j]);
    return weft_arena_text(pack->mem, "feature %lld", (long long)j + 1);
}

/* ", as are 3 other columns" */
static const char *others(const weft_pack *pack, int64_t n, const char *text)
{
    if (n == 0) return "";
    return weft_arena_text(pack->mem, "%s%lld other column%s", text, (long long)n,
                           n == 1 ? "" : "s");
}

void weft_scaling_tell(const weft_pack *pack, const char *out)
{
    const weft_scaling *scaling = pack->own->scaling;
    int64_t moved = -1, equal = -1, alike = 0, most = 0;
    int exact;
    for (int64_t j = scaling->d - 1; j >= 0; j--) {
        if (scaling->scale[j] != 1 || scaling->shift[j] != 0) moved = j;
        int64_t some = merged(scaling, j, &exact);
        if ((double)some <= SHARE * (double)numbers(scaling, j)) continue;
        most = some;
        equal = j;
        alike++;
    }
    if (moved >= 0)
        weft_log(WEFT_INFO,
                 "%s: %s is stored as (x %c %.17g) / %.17g, since floats of 32 bits are "
                 "too far apart there%s; the file has shift and scale",
                 out, named(pack, moved), scaling->shift[moved] < 0 ? '+' : '-',
                 fabs(scaling->shift[moved]), scaling->scale[moved],
                 others(pack, scaling->moved - 1, ", and so are "));
    if (equal >= 0)
        weft_log(WEFT_WARN,
                 "%s: %lld of the first %lld different numbers in %s become equal to "
                 "others in 32 bits%s: it reaches from %g to %g; split it into columns, or "
                 "take out what is far from the rest",
                 out, (long long)most, (long long)numbers(scaling, equal),
                 named(pack, equal), others(pack, alike - 1, ", and some in "),
                 scaling->low[equal], scaling->high[equal]);
}

weft_status weft_scaling_put(weft_pack *pack)
{
    const weft_scaling *scaling = pack->own->scaling;
    if (scaling == NULL || scaling->moved == 0) return WEFT_OK;
    static const char about[] = "a number of the source is shift + scale times the stored";
    TRY(weft_pack_put(pack, "/shift", WEFT_H5_F64, scaling->d, scaling->shift, about,
                      "as the column"));
    return weft_pack_put(pack, "/scale", WEFT_H5_F64, scaling->d, scaling->scale, about,
                         "as the column");
}

void weft_pack_scaled(weft_pack *pack)
{
    if (pack->own->layout.form == WEFT_REALS && pack->own->scaling == NULL)
        pack->own->scaling = new_scaling(pack->own->layout.d, pack->mem);
}

const void *weft_pack_floats(weft_pack *pack, int64_t n, const void *x, int64_t *bad)
{
    *bad = n * pack->own->layout.d;
    if (pack->own->layout.form != WEFT_REALS) return x;
    float *y = WEFT_NEW(pack->scratch, float, *bad);
    convert_rows(pack->own->scaling, n, x, y);
    *bad = weft_not_finite(y, *bad);
    return y;
}

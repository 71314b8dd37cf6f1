/* Columns of numbers scaled by what the training rows say, with the same bits on any number
 * of ranks: the file's shift and scale of each column are replaced by others. */
#include "data.h"
#include "weft/base/base.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

/* Networks learn slowly from columns whose largest deviation is not about 1, some
 * deviations of which are much smaller than others, or means many deviations away from 0.
 */
#define LARGE 4.0
#define SMALL 0.1
#define APART 100.0
#define FAR   10.0

/* Of each column in the training rows, as they are stored. */
struct moments {
    int64_t d, total;
    double *low, *high, *mean, *deviation; /* [d] */
};

/* Rows of a client or rank. */
typedef void each_fn(const float *x, int64_t n, struct moments *moments, int64_t *sum);

/* Calls the function for all training rows of this rank. EFILE. */
static weft_status visit(const weft_data *data, each_fn *each, struct moments *moments,
                         int64_t *sum)
{
    const weft_rows *rows = &data->part[WEFT_TRAIN];
    if (!data->clients) {
        each(rows->value, rows->n, moments, sum);
        return WEFT_OK;
    }
    int64_t first, n;
    weft_deal(data->clients->n, data->team->rank, data->team->size, &first, &n);
    for (int64_t c = first; c < first + n; c++) {
        weft_arena *tmp = weft_arena_new();
        weft_samples samples;
        weft_status st = weft_client_read(data->clients, c, WEFT_TRAIN, &samples, tmp);
        if (st == WEFT_OK) each(samples.x, samples.n, moments, sum);
        weft_arena_free(tmp);
        TRY(st);
    }
    return WEFT_OK;
}

static void find_range(const float *x, int64_t n, struct moments *moments, int64_t *sum)
{
    (void)sum;
    for (int64_t i = 0; i < n; i++, x += moments->d)
        for (int64_t j = 0; j < moments->d; j++) {
            moments->low[j] = fmin(moments->low[j], (double)x[j]);
            moments->high[j] = fmax(moments->high[j], (double)x[j]);
        }
}

static double mean_bound(const struct moments *moments, int64_t j)
{
    return fmax(fabs(moments->low[j]), fabs(moments->high[j])) * (double)moments->total;
}

static double square_bound(const struct moments *moments, int64_t j)
{
    double range = moments->high[j] - moments->low[j];
    return range * range * (double)moments->total;
}

static void add_numbers(const float *x, int64_t n, struct moments *moments, int64_t *sum)
{
    for (int64_t j = 0; j < moments->d; j++) {
        int scale = weft_fix_scale(mean_bound(moments, j));
        for (int64_t i = 0; i < n; i++)
            sum[j] += weft_fix((double)x[i * moments->d + j], scale);
    }
}

static void add_squares(const float *x, int64_t n, struct moments *moments, int64_t *sum)
{
    for (int64_t j = 0; j < moments->d; j++) {
        int scale = weft_fix_scale(square_bound(moments, j));
        for (int64_t i = 0; i < n; i++) {
            double off = (double)x[i * moments->d + j] - moments->mean[j];
            sum[j] += weft_fix(off * off, scale);
        }
    }
}

/* Least and greatest number, mean and deviation of each column. EFILE. Collective. */
static weft_status measure(const weft_data *data, struct moments *moments, weft_arena *tmp)
{
    int64_t d = moments->d, *sum = WEFT_NEW(tmp, int64_t, d);
    for (int64_t j = 0; j < d; j++) {
        moments->low[j] = INFINITY;
        moments->high[j] = -INFINITY;
    }
    TRY(weft_agree(visit(data, find_range, moments, NULL), data->team));
    for (int64_t j = 0; j < d; j++) moments->low[j] = -moments->low[j];
    weft_max_f64(data->team, moments->low, (size_t)d);
    weft_max_f64(data->team, moments->high, (size_t)d);
    for (int64_t j = 0; j < d; j++) moments->low[j] = -moments->low[j];
    TRY(weft_agree(visit(data, add_numbers, moments, sum), data->team));
    weft_sum_i64(data->team, sum, (size_t)d);
    for (int64_t j = 0; j < d; j++)
        moments->mean[j] = weft_unfix(sum[j], weft_fix_scale(mean_bound(moments, j))) /
                           (double)moments->total;
    memset(sum, 0, (size_t)d * sizeof *sum);
    TRY(weft_agree(visit(data, add_squares, moments, sum), data->team));
    weft_sum_i64(data->team, sum, (size_t)d);
    for (int64_t j = 0; j < d; j++)
        moments->deviation[j] =
            sqrt(weft_unfix(sum[j], weft_fix_scale(square_bound(moments, j))) /
                 (double)moments->total);
    return WEFT_OK;
}

/* 1: networks learn better from scaled columns. */
static int is_uneven(const struct moments *moments, double *least, double *most)
{
    int far = 0;
    *least = INFINITY;
    *most = 0;
    for (int64_t j = 0; j < moments->d; j++) {
        if (!(moments->high[j] > moments->low[j])) continue;
        *least = fmin(*least, moments->deviation[j]);
        *most = fmax(*most, moments->deviation[j]);
        far |= fabs(moments->mean[j]) > FAR * moments->deviation[j];
    }
    return *most > 0 && (far || *most > LARGE || *most < SMALL || *most > APART * *least);
}

/* The shift and scale of the source's numbers that scale the columns so. */
static void set_scale(weft_data *data, weft_scale how, const struct moments *moments)
{
    double *shift = WEFT_NEW(data->mem, double, moments->d),
           *scale = WEFT_NEW(data->mem, double, moments->d);
    weft_likeness like = weft_data_likeness(data);
    for (int64_t j = 0; j < moments->d; j++) {
        double unit = data->scale ? data->scale[j] : 1,
               from = data->shift ? data->shift[j] : 0;
        int range = how == WEFT_SCALE_MINMAX;
        double at = range ? moments->low[j] : moments->mean[j],
               by = range ? moments->high[j] - moments->low[j] : moments->deviation[j];
        shift[j] = from + unit * at;
        scale[j] = by > 0 ? unit * by : unit;
    }
    like.shift = shift;
    like.scale = scale;
    weft_check(weft_data_match(data, &like, data->path) == WEFT_OK,
               "a data set is not like itself");
}

static weft_status rank_columns(weft_data *data)
{
    weft_likeness like = weft_data_likeness(data);
    like.ranks = weft_ranks_of(data);
    like.shift = like.scale = NULL;
    TRY(weft_data_match(data, &like, data->path));
    weft_log(WEFT_INFO,
             "columns are replaced by their ranks in the training rows, 0 .. 1, by %lld "
             "quantiles; run.scale = none leaves them as they are",
             (long long)like.ranks.n);
    return WEFT_OK;
}

weft_status weft_data_scale(weft_data *data, weft_scale how)
{
    int image = data->channels > 0 || (data->clients && data->clients->channels > 0);
    int fixed = data->form != WEFT_REALS || image || weft_data_generated(data);
    int64_t d = data->part[WEFT_TRAIN].d;
    if (how == WEFT_SCALE_NONE || (fixed && how == WEFT_SCALE_AUTO)) return WEFT_OK;
    if (how == WEFT_SCALE_QUANTILE && data->clients)
        return weft_fail(WEFT_ECONF,
                         "run.scale = quantile ranks all numbers of a column, and %s has "
                         "clients, of which only sums are taken; use standard or minmax",
                         data->path);
    if (fixed)
        return weft_fail(WEFT_ECONF,
                         "run.scale is for columns of numbers, and %s has %s; leave it at "
                         "auto",
                         data->path,
                         image                      ? "images"
                         : data->form == WEFT_REALS ? "samples that are generated"
                                                    : "none");
    if (how == WEFT_SCALE_QUANTILE) return rank_columns(data);
    WEFT_SCRATCH(tmp);
    struct moments moments = {d,
                              data->part[WEFT_TRAIN].total,
                              WEFT_NEW(tmp, double, d),
                              WEFT_NEW(tmp, double, d),
                              WEFT_NEW(tmp, double, d),
                              WEFT_NEW(tmp, double, d)};
    double least, most;
    weft_status st = measure(data, &moments, tmp);
    if (st == WEFT_OK && (is_uneven(&moments, &least, &most) || how != WEFT_SCALE_AUTO)) {
        set_scale(data, how, &moments);
        weft_log(
            WEFT_INFO,
            "columns are scaled to %s, since their deviations reach from %.3g to %.3g; "
            "run.scale = none leaves them as they are",
            how == WEFT_SCALE_MINMAX ? "0 .. 1" : "mean 0 and deviation 1", least, most);
    }
    return st;
}

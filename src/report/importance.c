/* `weft report --importance`: which axis of the search space the results of a run depend
 * on, by the variance of a forest on them, and by what the best of them have in common. */
#include "report.h"
#include "weft/base/files.h"
#include "weft/base/random.h"
#include "weft/math/anova.h"
#include "weft/registry.h"
#include "weft/report/report.h"
#include "weft/task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TREES: of the forest, as in Optuna. ENOUGH: results that a resource must have; PLACES: of
 * a real axis on which good results are compared; MOST: results that a forest is grown on,
 * of more every so many; PAIRS: that are shown. */
enum { TREES = 64, ENOUGH = 30, FEWEST = 20, PLACES = 50, MOST = 2048, PAIRS = 5 };
static const double top = 0.1;       /* share of the results that are good */
static const double predicted = 0.1; /* share of the variance that a forest must explain */
static const double sure = 0.95;     /* share of the trees in which an axis must be ahead */

/* What an axis' values are to a forest. */
struct scale {
    const char *name;
    const weft_axis *axis; /* NULL: the input file has no range of it */
    int64_t n;             /* then: all values that occur, rising */
    double *value;         /* [n] */
    int category, steps;   /* steps: levels of a category, or places of a number */
};

/* The results of one resource. */
struct results {
    int n, dim, failed;
    int64_t all; /* before some were left out */
    double resource, most;
    int64_t *config;     /* [n] index in the summary */
    double *y;           /* [n] loss, of those that failed the worst other, over `most`, the
                            largest, as squares of large ones overflow */
    struct scale *scale; /* [dim] */
    double *x;           /* [n][dim] position or level; NAN: it does not have the axis */
};

/* Shares of an axis, or of two together more than alone. */
struct share {
    int a, b; /* b < 0: an axis alone */
    double mean, low, high;
    double good; /* of an axis, in what the best results have in common */
};

struct importance {
    struct results of;
    weft_trees trees;
    double explained;
    double ahead; /* share of the trees in which no axis has more than the first */
    int n;
    struct share *one; /* [n] axes, the largest share first; 0: the loss has no variance */
    int npair;
    struct share *pair; /* [npair] likewise */
};

/* ---- results ---- */

struct result {
    double resource, y;
    int64_t config, arm;
};

static int by_resource(const void *pa, const void *pb)
{
    const struct result *a = pa, *b = pb;
    if (a->resource < b->resource || a->resource > b->resource)
        return a->resource < b->resource ? -1 : 1;
    return a->arm < b->arm ? -1 : 1;
}

/* The results of all jobs: of one of a single configuration its loss, of a mixture the
 * score of each configuration that was scored; result[arms]. */
static int64_t find_results(const weft_summary *summary, struct result *result)
{
    const weft_arms *arms = &summary->arms;
    const weft_jobs *jobs = &summary->jobs;
    int64_t n = 0;
    for (int64_t i = 0; i < arms->n && jobs->n > 0; i++) {
        int single = (i == 0 || arms->job[i - 1] != arms->job[i]) &&
                     (i + 1 == arms->n || arms->job[i + 1] != arms->job[i]);
        int64_t job = weft_last_below(jobs->n, jobs->job, arms->job[i]);
        if (!single && !(arms->p[i] > 0 && arms->count[i] > 0)) continue;
        result[n++] =
            (struct result){jobs->resource[job], single ? jobs->loss[job] : arms->score[i],
                            weft_summary_place(summary, arms->config[i]), i};
    }
    return n;
}

/* Of n results by resource, those of the largest one that has ENOUGH, or else of the one
 * that has most; returns the first, *many are there. */
static int64_t find_level(const struct result *result, int64_t n, int64_t *many)
{
    int64_t first = 0;
    *many = 0;
    for (int64_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && !(result[to].resource > result[from].resource);) to++;
        if (to - from < ENOUGH && to - from < *many) continue;
        first = from;
        *many = to - from;
    }
    return first;
}

/* Takes the results of one resource, at most MOST of them. */
static void take_results(const weft_summary *summary, struct results *results,
                         weft_arena *mem)
{
    struct result *result = WEFT_NEW(mem, struct result, summary->arms.n);
    int64_t all = find_results(summary, result), many;
    if (all > 1) qsort(result, (size_t)all, sizeof *result, by_resource);
    const struct result *from = result + find_level(result, all, &many);
    double worst = -INFINITY;
    *results = (struct results){.n = (int)(many < MOST ? many : MOST),
                                .dim = (int)summary->dim,
                                .all = many,
                                .resource = many > 0 ? from->resource : 0,
                                .config = WEFT_NEW(mem, int64_t, many),
                                .y = WEFT_NEW(mem, double, many)};
    for (int i = 0; i < results->n; i++) {
        const struct result *one = from + i * many / results->n;
        results->config[i] = one->config;
        results->y[i] = one->y;
        if (!isfinite(one->y)) continue;
        worst = fmax(worst, one->y);
        results->most = fmax(results->most, fabs(one->y));
    }
    for (int i = 0; i < results->n; i++) {
        if (!isfinite(results->y[i])) {
            results->failed++;
            results->y[i] = worst;
        }
        if (results->most > 0) results->y[i] /= results->most;
    }
}

/* ---- axes ---- */

/* The space of a run that drew its configurations from ranges; of others, and where its
 * input file is not understood any more, one without axes. */
static weft_status read_space(const weft_summary *summary, weft_space *space,
                              weft_arena *mem)
{
    weft_conf conf;
    const weft_task *task;
    const weft_kind *tuned[WEFT_MAX_TUNED];
    int ntuned;
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, summary->path, summary->config));
    const weft_entry *source = weft_conf_find(&conf, weft_space_kind.name, "source");
    if (source && strcmp(source->value, "random") != 0) return WEFT_OK;
    weft_conf_drop(&conf, weft_space_kind.name, NULL); /* it may name a file */
    TRY(weft_task_find(weft_summary_value(summary, "task")->text, &task));
    void *self = weft_arena_alloc(mem, 1, task->kind.size);
    TRY(weft_conf_bind(&conf, &task->kind, self));
    TRY(task->tuned(self, tuned, &ntuned));
    return weft_space_read(space, &conf, tuned, ntuned, 0, mem);
}

/* All values of axis a that occur, rising. */
static void find_values(const weft_summary *summary, const struct results *results, int a,
                        struct scale *scale, weft_arena *mem)
{
    int n = 0;
    scale->value = WEFT_NEW(mem, double, results->n);
    for (int i = 0; i < results->n; i++) {
        double v = summary->conf[results->config[i] * summary->dim + a];
        if (!isnan(v)) scale->value[n++] = v;
    }
    weft_sort_f64(n, scale->value);
    for (int i = 0; i < n; i++)
        if (scale->n == 0 || scale->value[i] > scale->value[scale->n - 1])
            scale->value[scale->n++] = scale->value[i];
}

static void set_scale(const weft_summary *summary, const struct results *results, int a,
                      struct scale *scale, weft_arena *mem)
{
    const char *type = summary->type[a];
    const weft_axis *axis = scale->axis;
    int words = strcmp(type, "real") != 0 && strcmp(type, "integer") != 0;
    double most = PLACES;
    if (!axis) {
        find_values(summary, results, a, scale, mem);
        most = (double)scale->n;
    } else if (axis->nvalue > 0) {
        most = axis->nvalue;
    } else if (!axis->log && strcmp(type, "integer") == 0) {
        most = axis->hi - axis->lo + 1;
    }
    scale->category = words && most <= WEFT_TREE_LEVELS;
    scale->steps = (int)(scale->category ? most : fmin(most, PLACES));
}

static void find_scales(const weft_summary *summary, struct results *results,
                        weft_arena *mem)
{
    weft_space *space = WEFT_NEW(mem, weft_space, 1);
    if (read_space(summary, space, mem) != WEFT_OK) space->dim = 0;
    results->scale = WEFT_NEW(mem, struct scale, results->dim);
    for (int a = 0; a < results->dim; a++) {
        struct scale *scale = &results->scale[a];
        scale->name = summary->axis[a];
        for (int i = 0; i < space->dim; i++) {
            char name[128];
            weft_axis_name(&space->axis[i], name, sizeof name);
            if (strcmp(name, scale->name) == 0) scale->axis = &space->axis[i];
        }
        set_scale(summary, results, a, scale, mem);
    }
}

/* The level of a category, or the position of a number in 0 .. 1. */
static double position(const struct scale *scale, double value)
{
    const weft_axis *axis = scale->axis;
    if (isnan(value)) return NAN;
    if (axis && scale->category) return weft_axis_index(axis, value);
    if (axis) return weft_axis_unit(axis, value);
    const double *found =
        bsearch(&value, scale->value, (size_t)scale->n, sizeof value, weft_rising_f64);
    double at = (double)(found - scale->value);
    return scale->category ? at : (at + 0.5) / (double)scale->n;
}

static void find_positions(const weft_summary *summary, struct results *results,
                           weft_arena *mem)
{
    size_t dim = (size_t)results->dim;
    results->x = WEFT_NEW(mem, double, (size_t)results->n *dim);
    for (int i = 0; i < results->n; i++)
        for (size_t a = 0; a < dim; a++)
            results->x[(size_t)i * dim + a] = position(
                &results->scale[a], summary->conf[(size_t)results->config[i] * dim + a]);
}

/* ---- variance ---- */

/* The points of the forest. Where a configuration does not have an axis, its loss does not
 * depend on it: it gets a place there at random. x[n][dim] */
static double *fill_missing(const struct results *results, weft_arena *mem)
{
    size_t dim = (size_t)results->dim, all = (size_t)results->n * dim;
    double *x = WEFT_NEW(mem, double, all);
    for (size_t i = 0; i < all; i++) {
        const struct scale *scale = &results->scale[i % dim];
        x[i] = results->x[i];
        if (!isnan(x[i])) continue;
        weft_rng4 rng = weft_rng_at(1, WEFT_RNG_TUNER, i / dim, i % dim, 0);
        double unit = weft_rng_unit(rng.v[0]);
        x[i] = scale->category ? floor(unit * scale->steps) : unit;
    }
    return x;
}

/* 1 - (squares of what trees that were grown without a result miss of it) / (squares of
 * what the mean misses). */
static double explained_by(const weft_trees *trees, const struct results *results,
                           const double *x, weft_arena *tmp)
{
    double *mean = WEFT_NEW(tmp, double, results->n), missed = 0, all = 0, centre = 0;
    int n = 0;
    weft_trees_unseen(trees, results->n, x, 1, mean, tmp);
    for (int i = 0; i < results->n; i++) {
        if (isnan(mean[i])) continue;
        centre += results->y[i];
        n++;
    }
    centre /= n;
    for (int i = 0; i < results->n; i++) {
        if (isnan(mean[i])) continue;
        missed += (results->y[i] - mean[i]) * (results->y[i] - mean[i]);
        all += (results->y[i] - centre) * (results->y[i] - centre);
    }
    return all > 0 ? 1 - missed / all : 0;
}

static int by_share(const void *pa, const void *pb)
{
    const struct share *a = pa, *b = pb;
    if (a->mean < b->mean || a->mean > b->mean) return a->mean > b->mean ? -1 : 1;
    return a->b != b->b ? a->b - b->b : a->a - b->a;
}

/* The share of the trees in which no other axis has more than the first. */
static double ahead_of(const struct importance *found, const weft_anova *anova)
{
    int trees = 0, ahead = 0;
    for (int t = 0; t < anova->ntree; t++) {
        double first = anova->one[found->one[0].a * anova->ntree + t], other = -1;
        if (!(anova->whole[t] > 0)) continue;
        for (int i = 1; i < found->n; i++)
            other = fmax(other, anova->one[found->one[i].a * anova->ntree + t]);
        trees++;
        ahead += first > other;
    }
    return (double)ahead / trees;
}

static void add_shares(struct importance *found, const weft_anova *anova, weft_arena *mem)
{
    int dim = anova->dim;
    found->one = WEFT_NEW(mem, struct share, dim);
    found->pair = WEFT_NEW(mem, struct share, dim * dim);
    for (int b = 0; b < dim; b++) {
        struct share *one = &found->one[found->n];
        *one = (struct share){.a = b, .b = -1};
        found->n += weft_anova_share(anova, anova->one + b * anova->ntree, &one->mean,
                                     &one->low, &one->high, mem) > 0;
        for (int a = 0; a < b && anova->two; a++) {
            struct share *pair = &found->pair[found->npair];
            const double *row = anova->two + weft_anova_pair(a, b) * anova->ntree;
            *pair = (struct share){.a = a, .b = b, .good = NAN};
            found->npair +=
                weft_anova_share(anova, row, &pair->mean, &pair->low, &pair->high, mem) > 0;
        }
    }
    if (found->n == 0) return;
    qsort(found->one, (size_t)found->n, sizeof *found->one, by_share);
    qsort(found->pair, (size_t)found->npair, sizeof *found->pair, by_share);
    found->ahead = ahead_of(found, anova);
}

/* ---- what the best have in common ---- */

/* Marks the share `top` of the results, and those that are equal to the worst of these. */
static char *mark_good(const struct results *results, weft_arena *mem)
{
    char *good = WEFT_NEW(mem, char, results->n);
    double *y = WEFT_NEW(mem, double, results->n);
    memcpy(y, results->y, (size_t)results->n * sizeof *y);
    weft_sort_f64(results->n, y);
    double most = y[(int)ceil(top * results->n) - 1];
    for (int i = 0; i < results->n; i++) good[i] = results->y[i] <= most;
    return good;
}

static void add_good(struct importance *found, weft_arena *mem)
{
    const struct results *results = &found->of;
    const char *good = mark_good(results, mem);
    int *place = WEFT_NEW(mem, int, results->n);
    double sum = 0;
    for (int k = 0; k < found->n; k++) {
        int a = found->one[k].a;
        const struct scale *scale = &results->scale[a];
        for (int i = 0; i < results->n; i++) {
            double x = results->x[i * results->dim + a];
            place[i] = isnan(x)          ? -1
                       : scale->category ? (int)x
                                         : (int)ceil(x * (scale->steps - 1) - 0.5);
            if (!isnan(x) && place[i] < 0) place[i] = 0;
        }
        found->one[k].good =
            weft_anova_good(results->n, place, good, scale->steps, scale->category, mem);
        sum += found->one[k].good;
    }
    for (int k = 0; k < found->n; k++)
        found->one[k].good = sum > 0 ? found->one[k].good / sum : (double)NAN;
}

/* ---- all of it ---- */

static struct importance importance_of(const weft_summary *summary, int pairs,
                                       weft_arena *mem)
{
    struct importance found = {.n = 0};
    struct results *results = &found.of;
    if (summary->dim == 0 || !summary->type) return found;
    take_results(summary, results, mem);
    if (results->n < FEWEST || results->failed == results->n) return found;
    find_scales(summary, results, mem);
    find_positions(summary, results, mem);
    int *levels = WEFT_NEW(mem, int, results->dim);
    for (int a = 0; a < results->dim; a++)
        levels[a] = results->scale[a].category ? results->scale[a].steps : 0;
    const double *x = fill_missing(results, mem);
    weft_trees_rule rule = {.trees = TREES, .tries = results->dim, .leaf = 1};
    weft_anova anova;
    weft_trees_grow(&found.trees, &rule, results->n, results->dim, levels, x, results->y, 1,
                    mem);
    weft_anova_find(&anova, &found.trees, pairs, mem);
    add_shares(&found, &anova, mem);
    found.explained = explained_by(&found.trees, results, x, mem);
    if (pairs) add_good(&found, mem);
    return found;
}

static const char *results_text(const struct results *results, weft_arena *mem)
{
    return weft_arena_text(mem, "%lld results at resource %g", (long long)results->all,
                           results->resource);
}

static const char *share_text(const struct importance *found, int i, weft_arena *mem)
{
    const struct share *share = &found->one[i];
    return weft_arena_text(mem, "%s has %.2f of the variance of the loss (%.2f to %.2f)",
                           found->of.scale[share->a].name, share->mean, share->low,
                           share->high);
}

/* Why the shares say nothing; NULL: they do. */
static const char *reason_of(const struct importance *found, weft_arena *mem)
{
    const struct results *results = &found->of;
    const char *text = results_text(results, mem);
    if (results->all < FEWEST)
        return weft_arena_text(mem, "%s, fewer than %d", text, FEWEST);
    if (found->n == 0)
        return weft_arena_text(mem, "%s, %s", text,
                               results->failed == results->n ? "all failed" : "all equal");
    if (found->explained >= predicted) return NULL;
    return weft_arena_text(mem, "of %s a forest explains %.2f of the variance of others",
                           text, fmax(found->explained, 0));
}

/* What they say, in a sentence. */
static const char *verdict_of(const struct importance *found, weft_arena *mem)
{
    const struct results *results = &found->of;
    const struct share *first = &found->one[0];
    const char *text = results_text(results, mem);
    if (found->ahead < sure)
        return weft_arena_text(mem, "%s, %s; %s", share_text(found, 0, mem),
                               share_text(found, 1, mem), text);
    return weft_arena_text(
        mem, "%.2f of the variance of the loss is %s (%.2f to %.2f over trees; %s)",
        first->mean, results->scale[first->a].name, first->low, first->high, text);
}

const char *weft_importance_verdict(const weft_summary *summary, weft_arena *mem)
{
    if (summary->dim < 2) return NULL;
    struct importance found = importance_of(summary, 0, mem);
    return reason_of(&found, mem) ? NULL : verdict_of(&found, mem);
}

/* ---- printing ---- */

static const char *share_name(const struct importance *found, const struct share *share,
                              weft_arena *tmp)
{
    const struct scale *scale = found->of.scale;
    if (share->b < 0) return scale[share->a].name;
    return weft_arena_text(tmp, "%s, %s", scale[share->a].name, scale[share->b].name);
}

static void print_share(const struct importance *found, const struct share *share,
                        weft_arena *tmp)
{
    printf("%6.3f  %6.3f %6.3f  ", share->mean, share->low, share->high);
    if (isnan(share->good))
        printf("%8s", "-");
    else
        printf("%8.3f", share->good);
    printf("  %s\n", share_name(found, share, tmp));
}

static void print_text(const weft_summary *summary, const struct importance *found,
                       weft_arena *tmp)
{
    const struct results *results = &found->of;
    const char *reason = reason_of(found, tmp);
    printf("run       %s\n", summary->path);
    if (results->all < 2)
        printf("matters   nothing: the run is no search\n");
    else if (reason)
        printf("matters   not resolved: %s\n", reason);
    else
        printf("matters   %s\n", verdict_of(found, tmp));
    if (found->n == 0) return;
    printf("results   %s", results_text(results, tmp));
    if (results->n < results->all) printf(", %d of them taken", results->n);
    if (results->failed > 0)
        printf(", %d failed and count as the worst other", results->failed);
    printf("\nforest    it explains %.3f of the variance of results that it has not seen\n",
           found->explained);
    printf("\n%6s  %6s %6s  %8s  %s\n", "share", "from", "to", "best 0.1", "axis");
    for (int i = 0; i < found->n; i++) print_share(found, &found->one[i], tmp);
    if (found->npair > 0) printf("\nmore by two together than by each alone\n");
    for (int i = 0; i < found->npair && i < PAIRS; i++)
        print_share(found, &found->pair[i], tmp);
}

static void print_row(const weft_summary *summary, const struct importance *found,
                      const struct share *share)
{
    const struct results *results = &found->of;
    weft_csv_quote(stdout, summary->path);
    putchar(',');
    weft_csv_quote(stdout, results->scale[share->a].name);
    putchar(',');
    if (share->b >= 0) weft_csv_quote(stdout, results->scale[share->b].name);
    printf(",%.17g,%.17g,%.17g,", share->mean, share->low, share->high);
    if (!isnan(share->good)) printf("%.17g", share->good);
    printf(",%lld,%.17g,%d,%.17g,,,,\n", (long long)results->all, results->resource,
           results->failed, found->explained);
}

/* Rows for places of an axis, all that it has if they are few. */
static void print_curve(const weft_summary *summary, const struct importance *found, int a,
                        weft_arena *tmp)
{
    const struct results *results = &found->of;
    const struct scale *scale = &results->scale[a];
    int64_t all = scale->axis ? weft_axis_levels(scale->axis, PLACES) : scale->n;
    int n = (int)(all < PLACES || scale->category ? all : PLACES);
    double *value = WEFT_NEW(tmp, double, n), *x = WEFT_NEW(tmp, double, n);
    double(*y)[3] = weft_arena_alloc(tmp, (size_t)n, sizeof *y);
    for (int j = 0; j < n; j++) {
        value[j] = scale->axis ? weft_axis_point(scale->axis, j, n)
                               : scale->value[n > 1 ? j * (all - 1) / (n - 1) : 0];
        x[j] = position(scale, value[j]);
    }
    weft_anova_curve(&found->trees, a, n, x, y, tmp);
    for (int j = 0; j < n; j++) {
        weft_csv_quote(stdout, summary->path);
        putchar(',');
        weft_csv_quote(stdout, scale->name);
        printf(",,,,,,,,,,");
        weft_csv_value(summary, a, value[j], tmp);
        for (int k = 0; k < 3; k++) printf(",%.17g", results->most * y[j][k]);
        printf("\n");
    }
}

weft_status weft_importance_print(const char *const *run, int n, int csv)
{
    WEFT_SCRATCH(mem);
    weft_status st = WEFT_OK;
    if (csv)
        printf("run,axis,with,share,low,high,best,results,resource,failed,explained,"
               "value,loss,loss_low,loss_high\n");
    for (int i = 0; i < n && st == WEFT_OK; i++) {
        WEFT_REWIND(mem);
        weft_summary *summary = WEFT_NEW(mem, weft_summary, 1);
        st = weft_summary_read(summary, run[i], mem);
        if (st == WEFT_OK) {
            struct importance found = importance_of(summary, 1, mem);
            if (!csv && i > 0) printf("\n");
            if (!csv) print_text(summary, &found, mem);
            for (int k = 0; csv && k < found.n; k++)
                print_row(summary, &found, &found.one[k]);
            for (int k = 0; csv && k < found.npair; k++)
                print_row(summary, &found, &found.pair[k]);
            for (int k = 0; csv && k < found.n; k++)
                print_curve(summary, &found, found.one[k].a, mem);
        }
    }
    return st;
}

/* `weft report`: the results of runs as a table for people, as CSV or as JSON. One run is
 * shown in full, several are compared line by line. Called by the command line and at the
 * end of a run. */
#include "run_private.h"

#include <yajl/yajl_gen.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 5 };

/* One fact of a run: an attribute of its file. */
typedef struct fact {
    const char *name, *object, *key, *unit;
    enum { TEXT, WHOLE, NUMBER } type;
    const char *title; /* in the comparison; NULL: not shown there */
    double scale;      /* of the comparison's figure */
    int digits;
} fact;

static const fact facts[] = {
    {.name = "task", .object = "/", .key = "task", .type = TEXT, .title = "task"},
    {.name = "tuner", .object = "/", .key = "tuner", .type = TEXT, .title = "tuner"},
    {.name = "data", .object = "/", .key = "data", .type = TEXT},
    {.name = "data_digest", .object = "/", .key = "data_digest", .type = TEXT},
    {.name = "seed", .object = "/", .key = "seed", .type = WHOLE, .title = "seed"},
    {.name = "configs", .object = "/", .key = "configs", .type = WHOLE, .title = "configs"},
    {.name = "jobs", .object = "/", .key = "jobs", .type = WHOLE, .title = "jobs"},
    {.name = "ranks", .object = "/", .key = "ranks", .type = WHOLE, .title = "ranks"},
    {.name = "hosts", .object = "/", .key = "hosts", .type = TEXT},
    {.name = "version", .object = "/", .key = "version", .type = TEXT},
    {.name = "compiler", .object = "/", .key = "compiler", .type = TEXT},
    {.name = "real", .object = "/", .key = "real", .type = TEXT},
    {.name = "kernel", .object = "/", .key = "kernel", .type = TEXT},
    {.name = "blas", .object = "/", .key = "blas", .type = TEXT},
    {.name = "started", .object = "/", .key = "started", .type = TEXT},
    {.name = "valid_loss", .object = "/winner", .key = "valid_loss", .type = NUMBER},
    {.name = "valid_error",
     .object = "/winner",
     .key = "valid_error",
     .type = NUMBER,
     .title = "valid err %",
     .scale = 100,
     .digits = 2},
    {.name = "test_loss", .object = "/winner", .key = "test_loss", .type = NUMBER},
    {.name = "test_error",
     .object = "/winner",
     .key = "test_error",
     .type = NUMBER,
     .title = "test err %",
     .scale = 100,
     .digits = 2},
    {.name = "setup_seconds", .object = "/", .key = "setup_seconds", .type = NUMBER},
    {.name = "search_seconds",
     .object = "/",
     .key = "search_seconds",
     .type = NUMBER,
     .title = "search s",
     .scale = 1,
     .digits = 2},
    {.name = "refit_seconds", .object = "/", .key = "refit_seconds", .type = NUMBER},
    {.name = "test_seconds", .object = "/", .key = "test_seconds", .type = NUMBER},
    {.name = "seconds",
     .object = "/",
     .key = "seconds",
     .type = NUMBER,
     .title = "all s",
     .scale = 1,
     .digits = 2},
    {.name = "winner_config", .object = "/winner", .key = "id", .type = WHOLE},
    {.name = "winner", .object = "/winner", .key = "text", .type = TEXT, .title = "winner"},
    {.name = "digest", .object = "/", .key = "digest", .type = TEXT, .title = "digest"},
};
#define NFACT (int)(sizeof facts / sizeof *facts)

/* What was read of one fact; a number that the run does not have is NAN. */
typedef struct value {
    const char *text;
    int64_t whole;
    double number;
} value;

typedef struct summary {
    const char *path;
    value value[NFACT];
    double times[5][3];
    /* the arms of all jobs, in the order of the file */
    int64_t narm, nconfig;
    int64_t *job, *config; /* [narm] */
    double *p, *loss, *error, *count;
    int64_t *id;       /* [nconfig] */
    const char **text; /* [nconfig] */
} summary;

static const char *const time_names[] = {"compute", "wait", "comm", "bytes", "memory"};
static const char *const time_units[] = {"s", "s", "s", "GB", "GB"};

/* ---- reading ------------------------------------------------------------------------ */

static weft_status read_fact(weft_h5 *f, const fact *what, value *v)
{
    v->number = NAN;
    if (!weft_h5_has(f, weft_arena_text(f->mem, "%s@%s", what->object, what->key)))
        return WEFT_OK;
    switch (what->type) {
    case TEXT: return weft_h5_get_attr(f, what->object, what->key, &v->text);
    case WHOLE: return weft_h5_get_long(f, what->object, what->key, &v->whole);
    default: return weft_h5_get_num(f, what->object, what->key, &v->number);
    }
}

/* A whole column of 8-byte numbers; *st keeps the first failure. */
static void *read_column(weft_h5 *f, const char *name, weft_h5type type, int64_t n,
                         weft_status *st)
{
    void *column = weft_arena_get(f->mem, (size_t)n, sizeof(int64_t));
    if (*st == WEFT_OK) *st = weft_h5_get_rows(f, name, type, 0, n, column);
    return column;
}

static weft_status read_arms(weft_h5 *f, summary *s)
{
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(f, "/arms/job", &nd, dims));
    TRY(weft_h5_get_texts(f, "/configs/text", &s->text, &s->nconfig));
    weft_status st = WEFT_OK;
    const int64_t n = s->narm = dims[0];
    s->job = read_column(f, "/arms/job", WEFT_H5_I64, n, &st);
    s->config = read_column(f, "/arms/config", WEFT_H5_I64, n, &st);
    s->p = read_column(f, "/arms/p", WEFT_H5_F64, n, &st);
    s->loss = read_column(f, "/arms/loss", WEFT_H5_F64, n, &st);
    s->error = read_column(f, "/arms/error", WEFT_H5_F64, n, &st);
    s->count = read_column(f, "/arms/count", WEFT_H5_F64, n, &st);
    s->id = read_column(f, "/configs/id", WEFT_H5_I64, s->nconfig, &st);
    return st;
}

static weft_status read_all(weft_h5 *f, summary *s)
{
    const char *format = "";
    if (weft_h5_has(f, "/@format")) TRY(weft_h5_get_attr(f, "/", "format", &format));
    if (strcmp(format, WEFT_RUN_FORMAT) != 0)
        return weft_fail(WEFT_EFILE,
                         "%s is not a run file (format \"%s\", expected \"%s\"); "
                         "`weft info` tells what it is",
                         f->path, format, WEFT_RUN_FORMAT);
    for (int i = 0; i < NFACT; i++) TRY(read_fact(f, &facts[i], &s->value[i]));
    for (int i = 0; i < 5; i++)
        TRY(weft_h5_get_rows(f, weft_arena_text(f->mem, "/times/%s", time_names[i]),
                             WEFT_H5_F64, 0, 3, s->times[i]));
    return read_arms(f, s);
}

static weft_status summary_read(summary *s, const char *path, weft_arena *mem)
{
    weft_h5 f;
    *s = (summary){.path = path};
    TRY(weft_h5_open(&f, path, mem));
    const weft_status st = read_all(&f, s);
    weft_h5_close(&f);
    return st;
}

static const value *value_of(const summary *s, const char *name)
{
    for (int i = 0; i < NFACT; i++)
        if (strcmp(facts[i].name, name) == 0) return &s->value[i];
    weft_die("no fact %s", name);
}

/* Where configuration id stands among those of the file, which rise. */
static int64_t place_of(const summary *s, int64_t id)
{
    int64_t lo = 0, hi = s->nconfig;
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (s->id[mid] <= id)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static const char *config_text(const summary *s, int64_t id)
{
    return s->nconfig > 0 ? s->text[place_of(s, id)] : "";
}

/* ---- one run for people ------------------------------------------------------------- */

static void print_score(const summary *s, const char *part)
{
    char name[32];
    snprintf(name, sizeof name, "%s_loss", part);
    const double loss = value_of(s, name)->number;
    snprintf(name, sizeof name, "%s_error", part);
    const double error = value_of(s, name)->number;
    if (isnan(loss)) return;
    printf("%-9s loss %.6f   error %.3f %%   right %.3f %%\n", part, loss, 100 * error,
           100 * (1 - error));
}

/* A line of the list of best configurations. */
typedef struct place {
    int64_t arm, round; /* rounds count where mixtures were searched: later is better */
    double error, loss;
} place;

static int by_merit(const void *pa, const void *pb)
{
    const place *a = pa, *b = pb;
    if (a->round != b->round) return a->round > b->round ? -1 : 1;
    if (a->error < b->error || a->error > b->error) return a->error < b->error ? -1 : 1;
    if (a->loss < b->loss || a->loss > b->loss) return a->loss < b->loss ? -1 : 1;
    return (a->arm > b->arm) - (a->arm < b->arm);
}

/* The fits of one configuration each, where there are several; else every configuration
 * with its score in the last mixture that it was scored in. */
static int64_t ranking(const summary *s, place *list, weft_arena *tmp)
{
    int64_t n = 0, singles = 0;
    for (int64_t i = 0; i < s->narm; i++) singles += s->p[i] >= 1;
    char *seen = WEFT_NEW(tmp, char, s->nconfig);
    for (int64_t i = s->narm - 1; i >= 0; i--) {
        const int single = s->p[i] >= 1;
        char *taken = &seen[place_of(s, s->config[i])];
        if (single != (singles > 1) || *taken || !(s->p[i] > 0) || !(s->count[i] > 0))
            continue;
        *taken = 1;
        list[n++] = (place){i, single ? 0 : s->job[i], s->error[i], s->loss[i]};
    }
    if (n > 1) qsort(list, (size_t)n, sizeof *list, by_merit);
    return n;
}

static void print_ranking(const summary *s, weft_arena *tmp)
{
    place *list = WEFT_NEW(tmp, place, s->narm);
    const int64_t n = ranking(s, list, tmp);
    if (n < 2) return;
    printf("\n%-4s %7s %4s %7s %9s %9s %8s  %s\n", "best", "config", "job", "p", "samples",
           "loss", "error %", "configuration");
    for (int64_t i = 0; i < n && i < TOP; i++) {
        const int64_t a = list[i].arm;
        printf("%-4lld %7lld %4lld %7.4f %9.0f %9.5f %8.3f  %s\n", (long long)(i + 1),
               (long long)s->config[a], (long long)s->job[a], s->p[a], s->count[a],
               s->loss[a], 100 * s->error[a], config_text(s, s->config[a]));
    }
}

static void print_times(const summary *s)
{
    const double search = value_of(s, "search_seconds")->number;
    const double refit = value_of(s, "refit_seconds")->number;
    printf("\nseconds: set-up %.2f, search %.2f", value_of(s, "setup_seconds")->number,
           search);
    if (refit > 0) printf(" (%.2f without the refit)", search - refit);
    printf(", test %.2f; in all %.2f\n", value_of(s, "test_seconds")->number,
           value_of(s, "seconds")->number);
    printf("%-9s %10s %10s %10s   over %lld ranks\n", "where", "min", "mean", "max",
           (long long)value_of(s, "ranks")->whole);
    for (int i = 0; i < 5; i++) {
        const double unit = strcmp(time_units[i], "GB") == 0 ? 1e9 : 1;
        printf("%-9s %10.3f %10.3f %10.3f   %s\n", time_names[i], s->times[i][0] / unit,
               s->times[i][1] / unit, s->times[i][2] / unit, time_units[i]);
    }
}

static void print_run(const summary *s, weft_arena *tmp)
{
    printf("run       %s\n", s->path);
    printf("task      %s, tuner %s, seed %lld, %lld configurations, %lld jobs\n",
           value_of(s, "task")->text, value_of(s, "tuner")->text,
           (long long)value_of(s, "seed")->whole, (long long)value_of(s, "configs")->whole,
           (long long)value_of(s, "jobs")->whole);
    printf("data      %s (%s)\n", value_of(s, "data")->text,
           value_of(s, "data_digest")->text);
    printf("ranks     %lld on %s; OpenBLAS %s, kernel %s, weft %s, %s\n",
           (long long)value_of(s, "ranks")->whole, value_of(s, "hosts")->text,
           value_of(s, "blas")->text, value_of(s, "kernel")->text,
           value_of(s, "version")->text, value_of(s, "real")->text);
    printf("winner    %lld: %s\n", (long long)value_of(s, "winner_config")->whole,
           value_of(s, "winner")->text);
    print_score(s, "valid");
    print_score(s, "test");
    print_ranking(s, tmp);
    print_times(s);
    printf("digest    %s\n", value_of(s, "digest")->text);
}

/* ---- several runs for people -------------------------------------------------------- */

static const char *cell(const fact *what, const value *v, weft_arena *tmp)
{
    if (what->type == TEXT) return v->text ? v->text : "";
    if (what->type == WHOLE) return weft_arena_text(tmp, "%lld", (long long)v->whole);
    if (isnan(v->number)) return "-";
    return weft_arena_text(tmp, "%.*f", what->digits, what->scale * v->number);
}

/* Columns as wide as their widest cell; texts flush left, numbers flush right. */
static void print_comparison(const summary *s, int n, weft_arena *tmp)
{
    int first = 3;
    for (int i = 0; i < n; i++)
        if ((int)strlen(s[i].path) > first) first = (int)strlen(s[i].path);
    int width[NFACT];
    for (int c = 0; c < NFACT; c++) {
        width[c] = facts[c].title ? (int)strlen(facts[c].title) : 0;
        for (int i = 0; i < n && facts[c].title; i++) {
            const int w = (int)strlen(cell(&facts[c], &s[i].value[c], tmp));
            if (w > width[c]) width[c] = w;
        }
    }
    for (int i = -1; i < n; i++) {
        printf("%-*s", first, i < 0 ? "run" : s[i].path);
        for (int c = 0; c < NFACT; c++) {
            if (!facts[c].title) continue;
            const char *text =
                i < 0 ? facts[c].title : cell(&facts[c], &s[i].value[c], tmp);
            printf("  %*s", facts[c].type == TEXT ? -width[c] : width[c], text);
        }
        printf("\n");
    }
}

/* ---- for programs ------------------------------------------------------------------- */

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    putchar('"');
}

/* One line a run; numbers in full precision, empty where there is none. */
static void print_csv(const summary *s, int n)
{
    printf("run");
    for (int c = 0; c < NFACT; c++) printf(",%s", facts[c].name);
    for (int t = 0; t < 5; t++)
        printf(",%s_min,%s_mean,%s_max", time_names[t], time_names[t], time_names[t]);
    printf("\n");
    for (int i = 0; i < n; i++) {
        print_quoted(s[i].path);
        for (int c = 0; c < NFACT; c++) {
            const value *v = &s[i].value[c];
            putchar(',');
            if (facts[c].type == TEXT && v->text) print_quoted(v->text);
            if (facts[c].type == WHOLE) printf("%lld", (long long)v->whole);
            if (facts[c].type == NUMBER && !isnan(v->number)) printf("%.17g", v->number);
        }
        for (int t = 0; t < 5; t++)
            printf(",%.9g,%.9g,%.9g", s[i].times[t][0], s[i].times[t][1], s[i].times[t][2]);
        printf("\n");
    }
}

static void json_text(yajl_gen g, const char *text)
{
    if (text)
        yajl_gen_string(g, (const unsigned char *)text, strlen(text));
    else
        yajl_gen_null(g);
}

/* JSON has no NAN and no infinity: null. */
static void json_number(yajl_gen g, double x)
{
    if (isfinite(x))
        yajl_gen_double(g, x);
    else
        yajl_gen_null(g);
}

static void json_facts(yajl_gen g, const summary *s)
{
    json_text(g, "run");
    json_text(g, s->path);
    for (int c = 0; c < NFACT; c++) {
        json_text(g, facts[c].name);
        if (facts[c].type == TEXT) json_text(g, s->value[c].text);
        if (facts[c].type == WHOLE) yajl_gen_integer(g, s->value[c].whole);
        if (facts[c].type == NUMBER) json_number(g, s->value[c].number);
    }
    json_text(g, "times");
    yajl_gen_map_open(g);
    for (int t = 0; t < 5; t++) {
        json_text(g, time_names[t]);
        yajl_gen_array_open(g);
        for (int i = 0; i < 3; i++) json_number(g, s->times[t][i]);
        yajl_gen_array_close(g);
    }
    yajl_gen_map_close(g);
}

static void json_arms(yajl_gen g, const summary *s)
{
    json_text(g, "arms");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < s->narm; i++) {
        yajl_gen_map_open(g);
        json_text(g, "job");
        yajl_gen_integer(g, s->job[i]);
        json_text(g, "config");
        yajl_gen_integer(g, s->config[i]);
        json_text(g, "text");
        json_text(g, config_text(s, s->config[i]));
        json_text(g, "p");
        json_number(g, s->p[i]);
        json_text(g, "loss");
        json_number(g, s->loss[i]);
        json_text(g, "error");
        json_number(g, s->error[i]);
        json_text(g, "count");
        json_number(g, s->count[i]);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_print(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stdout);
}

/* An array with one object a run. */
static void print_json(const summary *s, int n)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    weft_check(g != NULL, "no memory for JSON");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_print_callback, json_print, NULL);
    yajl_gen_array_open(g);
    for (int i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        json_facts(g, &s[i]);
        json_arms(g, &s[i]);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_free(g);
}

weft_status weft_report(const char *const *run, int n, weft_style style)
{
    weft_arena *mem = weft_arena_new();
    summary *s = WEFT_NEW(mem, summary, n);
    weft_status st = WEFT_OK;
    for (int i = 0; i < n && st == WEFT_OK; i++) st = summary_read(&s[i], run[i], mem);
    if (st == WEFT_OK) {
        if (style == WEFT_JSON)
            print_json(s, n);
        else if (style == WEFT_CSV)
            print_csv(s, n);
        else if (n == 1)
            print_run(s, mem);
        else
            print_comparison(s, n, mem);
    }
    weft_arena_free(mem);
    return st;
}

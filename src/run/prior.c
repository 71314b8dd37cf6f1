/* Older runs and tables of trials that space.prior names become a list of trials in the
 * configuration itself, "step=0.1 known.loss=0.3, step=0.5 ...", which is in the journal
 * and the run file: what was read does not depend on those files any more. */
#include "run.h"
#include "rundir/rundir.h"
#include "weft/base/files.h"
#include "weft/store/file.h"
#include "weft/store/h5.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option with a range in this run. */
struct ranged {
    const char *section, *key, *name; /* "client", "lr", "client.lr" */
    int axis;                         /* of the older run; -1: none, */
    const char *value;                /* whose trials all have this; NULL: not known */
};

/* A list that is made. */
struct prior {
    weft_run *run;
    const weft_kind *const *kinds; /* [nkind] of this run's sections with ranges */
    int nkind;
    int nranged, others; /* others: files of other data so far */
    struct ranged *ranged;
    FILE *out;
    const char *path; /* of the file that is read */
    char **name;      /* of the columns of a table */
    int64_t rows;
    weft_arena *mem;
};

/* An older run that is read. */
struct older {
    weft_h5 file;
    weft_conf conf;
    int64_t n, nconf, narm; /* jobs, configurations, rows of /arms */
    int64_t dim, other;
    const char **axis;            /* [dim] names */
    weft_opt *opt;                /* [dim] how values are shown */
    double *value;                /* [nconf][dim] */
    double *goal[WEFT_MAX_GOALS]; /* [n] each as measured; NULL: it was not */
    struct told *told;            /* [ntold] */
    int64_t ntold;
};

/* A result of an older run. */
struct told {
    int64_t trial, job, conf; /* conf: row of older->value */
    double resource, loss, tie;
};

/* ---- values of options ---- */

static const weft_kind *kind_of(const struct prior *prior, const char *section)
{
    for (int j = 0; j < prior->nkind; j++)
        if (strcmp(prior->kinds[j]->name, section) == 0) return prior->kinds[j];
    return NULL;
}

/* The value of an option that is no axis in a configuration: as given there, or the default
 * where its section is read; NULL: not known. */
static const char *constant(const struct prior *prior, const weft_conf *conf,
                            const char *section, const char *key)
{
    const weft_kind *kind = kind_of(prior, section);
    const weft_opt *opt = kind ? weft_opt_find(kind->opts, key) : NULL;
    const weft_entry *entry = weft_conf_find(conf, section, opt ? opt->name : key);
    if (entry) return weft_is_range(entry->value) ? NULL : entry->value;
    if (!opt) return NULL;
    int read = conf == prior->run->conf;
    for (int i = 0; i < conf->n; i++) read |= strcmp(conf->entry[i].section, section) == 0;
    return read ? opt->def : NULL;
}

/* 1: the texts are of the same value of an option. */
static int is_same(const weft_opt *opt, const char *text, const char *other)
{
    double x, y;
    char *end, *last;
    if (!text || !other) return 0;
    if (strcmp(text, other) == 0) return 1;
    if (opt && opt->type != WEFT_TEXT)
        return weft_opt_parse(opt, text, &x) == WEFT_OK &&
               weft_opt_parse(opt, other, &y) == WEFT_OK && !(fabs(x - y) > 0);
    x = strtod(text, &end);
    y = strtod(other, &last);
    return end > text && last > other && !*end && !*last && !(fabs(x - y) > 0);
}

static void find_ranged(struct prior *prior)
{
    const weft_conf *conf = prior->run->conf;
    prior->ranged = WEFT_NEW(prior->mem, struct ranged, conf->n);
    for (int i = 0; i < conf->n; i++) {
        const weft_entry *entry = &conf->entry[i];
        const weft_kind *kind = kind_of(prior, entry->section);
        if (!kind || !weft_is_range(entry->value)) continue;
        const weft_opt *opt = weft_opt_find(kind->opts, entry->key);
        char key[64];
        snprintf(key, sizeof key, "%s", entry->key);
        if (opt) weft_opt_name(opt, key, sizeof key);
        struct ranged *ranged = &prior->ranged[prior->nranged++];
        ranged->section = entry->section;
        ranged->key = entry->key;
        ranged->name = weft_arena_text(prior->mem, "%s.%s", entry->section, key);
    }
}

/* ---- the list ---- */

/* Writes a word of a configuration. ECONF: it would not be one word. */
static weft_status put_word(const struct prior *prior, const char *name, const char *value)
{
    if (!name[strcspn(name, " \t,=;#")] && !value[strcspn(value, " \t,;#")]) {
        fprintf(prior->out, " %s=%s", name, value);
        return WEFT_OK;
    }
    return weft_fail(
        WEFT_ECONF,
        "space.prior: %s: \"%s = %s\" has a blank, a comma or one of \"=;#\" in "
        "it; give the option or its value a name without",
        prior->path, name, value);
}

static weft_status put_number(const struct prior *prior, const char *name, double x)
{
    char text[WEFT_CSV_NUMBER];
    return isfinite(x) ? put_word(prior, name, weft_csv_number(x, text)) : WEFT_OK;
}

static void next_row(struct prior *prior)
{
    if (prior->rows++ > 0) fputc(',', prior->out);
}

/* ---- tables ---- */

/* 1: nan, inf or the like. */
static int is_infinite(const char *text)
{
    char *end;
    double x = strtod(text, &end);
    return end != text && *end == '\0' && !isfinite(x);
}

static weft_status take_row(void *self, const weft_lines *row)
{
    struct prior *prior = self;
    if (!prior->name) {
        prior->name = WEFT_NEW(prior->mem, char *, row->n);
        for (int c = 0; c < row->n; c++)
            prior->name[c] = weft_arena_text(prior->mem, "%s", row->field[c]);
        return WEFT_OK;
    }
    next_row(prior);
    for (int c = 0; c < row->n; c++) {
        const char *name = prior->name[c], *value = row->field[c];
        if (*name == '\0') continue; /* numbers of the rows, as pandas writes them */
        int failed = strcmp(name, "loss") == 0 && is_infinite(value);
        TRY(put_word(prior, name, *value && !failed ? value : "-"));
    }
    return WEFT_OK;
}

static weft_status read_table(struct prior *prior)
{
    FILE *in = fopen(prior->path, "r");
    if (!in)
        return weft_fail(WEFT_EFILE,
                         "%s: %s; expected a run file or a table of trials, as space.prior "
                         "names it",
                         prior->path, strerror(errno));
    weft_lines rows = {.path = prior->path, .wrong = WEFT_ECONF, .commas = 1};
    prior->name = NULL;
    return weft_lines_read(&rows, in, take_row, prior);
}

/* ---- run files ---- */

/* What the losses of a run are, of which those of another task or score are not compared.
 */
static weft_status check_losses(const struct prior *prior, struct older *older)
{
    static const char *const keys[] = {"score", "loss"};
    const weft_task *task = prior->run->task;
    const char *name = NULL;
    TRY(weft_h5_read_attr(&older->file, "/", "task", &name));
    if (strcmp(name, task->kind.name) != 0)
        return weft_fail(WEFT_ECONF,
                         "space.prior: %s is of run.task = %s, this run of %s; take it out",
                         prior->path, name, task->kind.name);
    for (int i = 0; i < WEFT_COUNT(keys); i++) {
        const weft_opt *opt = weft_opt_find(task->kind.opts, keys[i]);
        if (!opt) continue;
        const weft_entry *was = weft_conf_find(&older->conf, name, opt->name);
        const weft_entry *is = weft_conf_find(prior->run->conf, name, opt->name);
        const char *had = was ? was->value : opt->def, *has = is ? is->value : opt->def;
        if (is_same(opt, had, has)) continue;
        return weft_fail(WEFT_ECONF,
                         "space.prior: the losses of %s are of %s.%s = %s, here it is %s; "
                         "take it out",
                         prior->path, name, keys[i], had, has);
    }
    return WEFT_OK;
}

/* older->other: whether the data are others, by their digests. */
static weft_status compare_data(struct prior *prior, struct older *older)
{
    const char *was = "", *is = "", *data = prior->run->opts.data;
    weft_h5 file;
    TRY(weft_h5_find_attr(&older->file, "/", "data_digest", &was));
    if (*data && weft_file_is(data)) {
        TRY(weft_h5_open(&file, data, prior->mem));
        weft_status st = weft_h5_find_attr(&file, "/", "digest", &is);
        weft_h5_close(&file);
        TRY(st);
    }
    if (strcmp(was, is) == 0) return WEFT_OK;
    older->other = ++prior->others;
    weft_log(WEFT_INFO,
             "space.prior: %s is of other data, so that its losses count by their ranks "
             "among themselves",
             prior->path);
    return WEFT_OK;
}

/* How the values of an axis are shown, by its row of /configs/type. */
static weft_opt shown_as(const char *type)
{
    weft_opt opt = {.type = WEFT_WORDS, .words = type};
    if (strcmp(type, "boolean") == 0) opt = (weft_opt){.type = WEFT_BOOL};
    if (strcmp(type, "real") == 0) opt = (weft_opt){.type = WEFT_REAL};
    if (strcmp(type, "integer") == 0) opt = (weft_opt){.type = WEFT_LONG};
    return opt;
}

static weft_status read_configs(struct prior *prior, struct older *older)
{
    weft_h5 *file = &older->file;
    const char **type;
    int64_t n;
    TRY(weft_h5_read_texts(file, "/configs/axis", &older->axis, &older->dim));
    TRY(weft_h5_read_texts(file, "/configs/type", &type, &n));
    older->opt = WEFT_NEW(prior->mem, weft_opt, older->dim);
    for (int64_t a = 0; a < older->dim && a < n; a++) older->opt[a] = shown_as(type[a]);
    older->value = WEFT_NEW(prior->mem, double, older->nconf * older->dim);
    if (older->dim == 0 || n != older->dim)
        return weft_fail(WEFT_ECONF, "space.prior: %s searched nothing; take it out",
                         prior->path);
    return weft_h5_read_rows(file, "/configs/value", WEFT_H5_F64, older->dim, 0,
                             older->nconf, older->value);
}

static int by_trial(const void *left, const void *right)
{
    const struct told *a = left, *b = right;
    if (a->trial != b->trial) return a->trial < b->trial ? -1 : 1;
    return (a->resource > b->resource) - (a->resource < b->resource);
}

/* A column of n numbers. */
static weft_status read_whole(struct older *older, const char *name, int64_t n,
                              int64_t **out)
{
    *out = WEFT_NEW(older->file.mem, int64_t, n);
    return weft_h5_read_rows(&older->file, name, WEFT_H5_I64, 1, 0, n, *out);
}

static weft_status read_real(struct older *older, const char *name, int64_t n, double **out)
{
    *out = WEFT_NEW(older->file.mem, double, n);
    return weft_h5_read_rows(&older->file, name, WEFT_H5_F64, 1, 0, n, *out);
}

/* conf[n] of the jobs: rows of /configs; -1: of jobs with several. */
static weft_status find_configs(struct older *older, const int64_t *k, int64_t *conf)
{
    int64_t *job, *arm, *config, *id;
    TRY(read_whole(older, "/events/job", older->n, &job));
    TRY(read_whole(older, "/arms/job", older->narm, &arm));
    TRY(read_whole(older, "/arms/config", older->narm, &config));
    TRY(read_whole(older, "/configs/id", older->nconf, &id));
    for (int64_t i = 0, j = 0; i < older->n; i++) {
        while (j < older->narm && arm[j] < job[i]) j++;
        conf[i] = -1;
        if (k[i] != 1 || j == older->narm || arm[j] != job[i]) continue;
        int64_t at = 0, end = older->nconf;
        while (end - at > 1) {
            int64_t middle = (at + end) / 2;
            if (id[middle] > config[j])
                end = middle;
            else
                at = middle;
        }
        if (at < older->nconf && id[at] == config[j]) conf[i] = at;
    }
    return WEFT_OK;
}

/* What of this run's objectives and limits the older one measured. */
static weft_status read_goals(const struct prior *prior, struct older *older)
{
    const weft_goals *goals = &prior->run->goals;
    for (int g = 0; g < goals->n; g++) {
        const char *name =
            weft_dataset_name("/objectives/", goals->goal[g].name, prior->mem);
        if (weft_h5_has(&older->file, name))
            TRY(read_real(older, name, older->n, &older->goal[g]));
        else if (goals->objectives > 0 && g > 0)
            return weft_fail(WEFT_ECONF,
                             "space.prior: %s has not measured %s, as run.objectives and "
                             "run.limits need it; take it out",
                             prior->path, goals->goal[g].name);
    }
    return WEFT_OK;
}

static weft_status read_jobs(struct prior *prior, struct older *older)
{
    weft_h5 *file = &older->file;
    const char *text = "";
    int64_t *trial, *k;
    double *resource, *loss, *tie = NULL;
    TRY(weft_h5_read_attr(file, "/events", "metrics", &text));
    const weft_metric *metrics = weft_metrics_parse(text, prior->mem);
    TRY(read_whole(older, "/events/trial", older->n, &trial));
    TRY(read_whole(older, "/events/k", older->n, &k));
    TRY(read_real(older, "/events/resource", older->n, &resource));
    TRY(read_real(older, "/events/loss", older->n, &loss));
    if (metrics && metrics->name)
        TRY(read_real(older, weft_arena_text(prior->mem, "/events/%s", metrics->name),
                      older->n, &tie));
    int64_t *conf = WEFT_NEW(prior->mem, int64_t, older->n);
    TRY(find_configs(older, k, conf));
    older->told = WEFT_NEW(prior->mem, struct told, older->n);
    for (int64_t i = 0; i < older->n; i++)
        if (conf[i] >= 0)
            older->told[older->ntold++] = (struct told){
                trial[i], i, conf[i], resource[i], loss[i], tie ? tie[i] : (double)NAN};
    TRY(read_goals(prior, older));
    if (older->ntold > 0)
        qsort(older->told, (size_t)older->ntold, sizeof *older->told, by_trial);
    if (older->ntold < older->n)
        weft_log(WEFT_WARN,
                 "space.prior: %s: %lld jobs of several configurations are left out",
                 prior->path, (long long)(older->n - older->ntold));
    return WEFT_OK;
}

/* The axis of the older run of that name, or -1. */
static int axis_named(const struct older *older, const char *name)
{
    for (int a = 0; a < older->dim; a++)
        if (strcmp(older->axis[a], name) == 0) return a;
    return -1;
}

/* Says which values of options that are axes in neither run differ. */
static void compare_constants(const struct prior *prior, const struct older *older)
{
    const char *first = NULL;
    int n = 0;
    for (int j = 0; j < prior->nkind; j++)
        for (const weft_opt *opt = prior->kinds[j]->opts; opt->name; opt++) {
            char key[64];
            const char *section = prior->kinds[j]->name;
            const char *had = constant(prior, &older->conf, section, opt->name);
            const char *has = constant(prior, prior->run->conf, section, opt->name);
            if (!had || !has || opt->role < WEFT_PER_SAMPLE || is_same(opt, had, has))
                continue;
            weft_opt_name(opt, key, sizeof key);
            if (n++ == 0)
                first = weft_arena_text(prior->mem, "%s.%s = %s, here %s", section, key,
                                        had, has);
        }
    if (n > 0)
        weft_log(WEFT_WARN, "space.prior: %s had %s%s; its losses count as they are",
                 prior->path, first,
                 n > 1 ? weft_arena_text(prior->mem, ", and %d more differ", n - 1) : "");
}

/* The name of an option because of which a configuration of the older run is none of this
 * run: an axis of the older one that has another value here, or one of this run of whose
 * value nothing is known; NULL: there is none. */
static const char *obstacle(const struct prior *prior, const struct older *older,
                            const double *value)
{
    for (int a = 0; a < older->dim; a++) {
        const char *name = older->axis[a];
        int found = isnan(value[a]) != 0;
        for (int i = 0; i < prior->nranged; i++)
            found |= strcmp(prior->ranged[i].name, name) == 0;
        if (found) continue;
        char section[64], shown[128];
        snprintf(section, sizeof section, "%.*s", (int)strcspn(name, "."), name);
        const char *key = name + strcspn(name, ".") + 1;
        const weft_kind *kind = kind_of(prior, section);
        weft_opt_show(&older->opt[a], value[a], shown, sizeof shown);
        if (!is_same(kind ? weft_opt_find(kind->opts, key) : NULL, shown,
                     constant(prior, prior->run->conf, section, key)))
            return name;
    }
    for (int i = 0; i < prior->nranged; i++)
        if (prior->ranged[i].axis < 0 && !prior->ranged[i].value)
            return prior->ranged[i].name;
    return NULL;
}

static weft_status put_aims(struct prior *prior, const struct older *older, int64_t job)
{
    const weft_goals *goals = &prior->run->goals;
    double excess = 0;
    for (int g = 0; g < goals->n; g++) {
        const weft_goal *goal = &goals->goal[g];
        double x = older->goal[g] ? older->goal[g][job] : (double)NAN;
        if (g > 0 && g < goals->objectives)
            TRY(put_number(prior, weft_arena_text(prior->mem, "known.aim%d", g),
                           goal->sign * x));
        excess += weft_goal_excess(goal, x);
    }
    return excess > 0 ? put_number(prior, "known.excess", excess) : WEFT_OK;
}

static weft_status put_told(struct prior *prior, const struct older *older,
                            const struct told *told)
{
    const double *value = older->value + told->conf * older->dim;
    next_row(prior);
    for (int i = 0; i < prior->nranged; i++) {
        const struct ranged *ranged = &prior->ranged[i];
        char shown[128];
        if (ranged->axis >= 0 && isnan(value[ranged->axis])) continue;
        if (ranged->axis >= 0)
            weft_opt_show(&older->opt[ranged->axis], value[ranged->axis], shown,
                          sizeof shown);
        TRY(put_word(prior, ranged->name, ranged->axis >= 0 ? shown : ranged->value));
    }
    TRY(put_number(prior, "known.resource", told->resource));
    if (older->other > 0) TRY(put_number(prior, "known.other", (double)older->other));
    if (isfinite(told->loss)) TRY(put_number(prior, "known.tie", told->tie));
    if (!isfinite(told->loss)) return put_word(prior, "known.loss", "-");
    TRY(put_aims(prior, older, told->job));
    return put_number(prior, "known.loss", told->loss);
}

static weft_status put_all(struct prior *prior, struct older *older)
{
    const char *why = NULL;
    int64_t out = 0, trial = -1;
    for (int i = 0; i < prior->nranged; i++) {
        struct ranged *ranged = &prior->ranged[i];
        ranged->axis = axis_named(older, ranged->name);
        ranged->value = constant(prior, &older->conf, ranged->section, ranged->key);
    }
    compare_constants(prior, older);
    for (int64_t i = 0; i < older->ntold; i++) {
        const struct told *told = &older->told[i];
        const char *one = obstacle(prior, older, older->value + told->conf * older->dim);
        out += one && told->trial != trial;
        if (one && !why) why = one;
        trial = told->trial;
        if (!one) TRY(put_told(prior, older, told));
    }
    if (out > 0)
        weft_log(WEFT_WARN,
                 "space.prior: %s: %lld trials are left out, the first as its %s is not "
                 "this run's, or not known",
                 prior->path, (long long)out, why);
    return WEFT_OK;
}

static weft_status read_open(struct prior *prior, struct older *older)
{
    const char *config;
    TRY(weft_run_format(&older->file, 0));
    TRY(weft_h5_read_attr(&older->file, "/", "config", &config));
    weft_conf_init(&older->conf, prior->mem);
    TRY(weft_conf_text(&older->conf, prior->path, config));
    TRY(check_losses(prior, older));
    TRY(compare_data(prior, older));
    TRY(weft_h5_length(&older->file, "/events/job", &older->n));
    TRY(weft_h5_length(&older->file, "/arms/job", &older->narm));
    TRY(weft_h5_length(&older->file, "/configs/id", &older->nconf));
    TRY(read_configs(prior, older));
    TRY(read_jobs(prior, older));
    return put_all(prior, older);
}

static weft_status read_run(struct prior *prior)
{
    struct older older = {.ntold = 0};
    weft_status st = weft_run_file(&older.file, prior->path, prior->mem);
    if (st != WEFT_OK) return weft_fail(st, "space.prior: %s", weft_error());
    st = read_open(prior, &older);
    weft_h5_close(&older.file);
    return st;
}

/* ---- all files ---- */

static weft_status read_files(struct prior *prior, const char *names)
{
    int whole = weft_file_is(names); /* one file, whose name may have blanks */
    for (const char *at = names; *at; at += strspn(at, " \t")) {
        size_t n = whole ? strlen(at) : strcspn(at, " \t");
        prior->path = weft_arena_text(prior->mem, "%.*s", (int)n, at);
        at += n;
        int run = n > 3 && strcmp(prior->path + n - 3, ".h5") == 0;
        TRY(run ? read_run(prior) : read_table(prior));
    }
    return WEFT_OK;
}

weft_status weft_run_prior(weft_run *run, const weft_kind *const *kinds, int nkind)
{
    weft_entry *entry = weft_conf_find(run->conf, "space", "prior");
    struct prior prior = {.run = run, .kinds = kinds, .nkind = nkind, .mem = run->mem};
    const weft_entry *source = weft_conf_find(run->conf, "space", "source");
    if (!entry || !*entry->value || strchr(entry->value, '=')) return WEFT_OK;
    if (source && strcmp(source->value, "random") != 0) return WEFT_OK; /* refused later */
    char *text = NULL;
    size_t n = 0;
    prior.out = open_memstream(&text, &n);
    weft_check(prior.out != NULL, "open_memstream: %s", strerror(errno));
    find_ranged(&prior);
    weft_status st = read_files(&prior, entry->value);
    fclose(prior.out);
    if (st == WEFT_OK && n == 0)
        st = weft_fail(WEFT_ECONF,
                       "space.prior: %s has no trial of this search; take it out",
                       entry->value);
    if (st == WEFT_OK) entry->value = weft_arena_text(run->mem, "%s", text + 1);
    free(text);
    return st;
}

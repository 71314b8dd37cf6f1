/* An unfinished run, read from its journals: the tables that its run file would have now,
 * and its progress. The head of the journal describes axes, metrics and units as a text, so
 * that neither task nor data are needed to read its jobs. */
#include "result.h"
#include "weft/base/files.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables as a text ---- */

enum { METRICS, ROWS, SCORES, AXES, NTABLE };
static const char *const table_title[NTABLE] = {"[metrics]\n", "[rows]\n", "[scores]\n",
                                                "[axes]\n"};

/* One line for each axis: section, name, type, lower bound and words of its option. */
static const char *axes_text(const weft_tables *tables, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; i < tables->dim; i++) {
        const weft_opt *opt = tables->axis[i].opt;
        text = weft_arena_text(mem, "%s%s\t%s\t%d\t%.17g\t%s\n", text,
                               tables->axis[i].section, opt->name, (int)opt->type, opt->lo,
                               opt->words ? opt->words : "");
    }
    return text;
}

const char *weft_tables_text(const weft_tables *tables, weft_arena *mem)
{
    return weft_arena_text(mem, "%s%s%s%s%s%s%s%s", table_title[METRICS],
                           weft_metrics_text(tables->metrics, mem), table_title[ROWS],
                           weft_metrics_text(tables->rows, mem), table_title[SCORES],
                           weft_metrics_text(tables->scores, mem), table_title[AXES],
                           axes_text(tables, mem));
}

static void parse_axes(const char *text, weft_tables *tables, weft_arena *mem)
{
    for (const char *c = text; *c; c++) tables->dim += *c == '\n';
    weft_axis *axis = WEFT_NEW(mem, weft_axis, tables->dim);
    tables->axis = axis;
    for (int i = 0; i < tables->dim; i++) {
        weft_opt *opt = WEFT_NEW(mem, weft_opt, 1);
        axis[i] = (weft_axis){.section = weft_field_next(&text, mem), .opt = opt};
        opt->name = weft_field_next(&text, mem);
        opt->type = (weft_type)strtol(weft_field_next(&text, mem), NULL, 10);
        opt->lo = strtod(weft_field_next(&text, mem), NULL);
        opt->words = weft_field_next(&text, mem);
        if (!*opt->words) opt->words = NULL;
        weft_line_skip(&text);
    }
}

/* The lines between the title of a part and the next title; "": none. */
static const char *table_of(const char *text, int part, weft_arena *mem)
{
    const char *from = strstr(text, table_title[part]);
    if (!from) return "";
    from += strlen(table_title[part]);
    const char *end = part + 1 < NTABLE ? strstr(from, table_title[part + 1]) : NULL;
    size_t n = end ? (size_t)(end - from) : strlen(from);
    return weft_arena_text(mem, "%.*s", (int)n, from);
}

/* Reads such a text. Owned by mem. */
static weft_tables parse_tables(const char *text, weft_arena *mem)
{
    weft_tables tables = {
        .metrics = weft_metrics_parse(table_of(text, METRICS, mem), mem),
        .rows = weft_metrics_parse(table_of(text, ROWS, mem), mem),
    };
    parse_axes(table_of(text, AXES, mem), &tables, mem);
    return tables;
}

/* ---- journals ---- */

/* The contents of a directory NAME.d. */
struct finding {
    weft_rundir run; /* its journals */
    int in_use;      /* 1: a process has a journal open */
    int64_t n, nflight;
    weft_job_record *record; /* [n] by id */
    weft_job_record *flight; /* [nflight] by id, of jobs that have a checkpoint */
};

static void read_records(struct finding *finding, weft_arena *mem)
{
    finding->record = WEFT_NEW(mem, weft_job_record, finding->run.past.n);
    for (int64_t i = 0; i < finding->run.past.n; i++) {
        const weft_recorded *one = finding->run.past.job[i];
        while (one && !weft_job_record_read(&finding->record[finding->n], one->data, mem))
            one = one->earlier;
        finding->n += one != NULL;
    }
}

/* Reads the jobs in flight; those that were done since, or cannot be read, are left out. */
static weft_status read_flights(struct finding *finding, weft_arena *mem)
{
    const weft_rundir *run = &finding->run;
    int64_t room = 0;
    DIR *listing = opendir(run->dir);
    if (!listing) return weft_fail(WEFT_EFILE, "cannot read %s", run->dir);
    for (struct dirent *entry; (entry = readdir(listing));) {
        weft_job_record record;
        const char *path = weft_arena_text(mem, "%s/%s", run->dir, entry->d_name);
        if (!weft_is_named(entry->d_name, WEFT_CHECKPOINT_NAME) ||
            !weft_checkpoint_peek(path, run->id, &record, mem) ||
            (record.job.id < run->past.n && run->past.job[record.job.id]))
            continue;
        finding->flight =
            weft_grow(mem, finding->flight, sizeof record, finding->nflight, &room);
        finding->flight[finding->nflight++] = record;
    }
    closedir(listing);
    if (finding->nflight > 0)
        qsort(finding->flight, (size_t)finding->nflight, sizeof *finding->flight,
              weft_job_record_compare);
    return WEFT_OK;
}

/* Reads all journals and checkpoints of the run. EFILE. */
static weft_status find_jobs(const char *path, struct finding *finding, weft_arena *mem)
{
    *finding = (struct finding){.n = 0};
    TRY(weft_rundir_look(&finding->run, path, &finding->in_use, mem));
    if (!finding->run.conf || !finding->run.tables)
        return weft_fail(
            WEFT_EFILE,
            "%s: the journal does not contain the run's configuration: the run "
            "has just been started, or the journal is damaged",
            finding->run.dir);
    read_records(finding, mem);
    return read_flights(finding, mem);
}

/* ---- the file ---- */

/* The best of the jobs that are done; NULL: none is. */
static const weft_job_record *best_of(const struct finding *finding)
{
    if (finding->n == 0) return NULL;
    const weft_job_record *best = &finding->record[0];
    for (int64_t i = 1; i < finding->n; i++)
        if (weft_job_record_beats(&finding->record[i], best)) best = &finding->record[i];
    return best;
}

static const char *standing(const char *path, const struct finding *finding,
                            weft_arena *mem)
{
    const weft_job_record *best = best_of(finding);
    const char *text = "no job is done yet";
    if (best && isfinite(best->res.loss))
        text = weft_arena_text(
            mem, "%lld jobs are done, the best so far is job %lld, score %.6g",
            (long long)finding->n, (long long)best->job.id, best->res.loss);
    else if (best)
        text = weft_arena_text(mem, "%lld jobs are done, none of which has a finite loss",
                               (long long)finding->n);
    if (finding->nflight == 1)
        text = weft_arena_text(
            mem, "%s; job %lld is checkpointed after %lld of %lld rounds", text,
            (long long)finding->flight->job.id, (long long)finding->flight->done,
            (long long)finding->flight->nunit);
    else if (finding->nflight > 1)
        text = weft_arena_text(mem, "%s; %lld %sare checkpointed", text,
                               (long long)finding->nflight, best ? "more " : "");
    if (finding->in_use)
        return weft_arena_text(mem, "%s; a process is working on it", text);
    return weft_arena_text(
        mem, "%s; no process is working on it; `weft resume %s` continues it", text, path);
}

static weft_status put_head(weft_h5 *file, const char *path, const struct finding *found,
                            weft_run_opts *opts)
{
    weft_conf conf;
    weft_conf_init(&conf, file->mem);
    const weft_about *about = &found->run.about;
    TRY(weft_conf_text(&conf, path, found->run.conf));
    TRY(weft_conf_bind(&conf, &weft_run_kind, opts));
    const struct {
        const char *key, *text;
    } texts[] = {
        {"format", WEFT_RUN_FORMAT},  {"unfinished", standing(path, found, file->mem)},
        {"version", about->version},  {"task", opts->task},
        {"tuner", opts->tuner},       {"sampler", opts->sampler},
        {"mixing", opts->mixing},     {"data", opts->data},
        {"data_digest", about->data}, {"started", weft_time_text(about->began, file->mem)},
        {"config", found->run.conf},
    };
    for (int i = 0; i < WEFT_COUNT(texts); i++)
        TRY(weft_h5_put_attr(file, "/", texts[i].key, texts[i].text));
    TRY(weft_h5_put_long(file, "/", "seed", opts->seed));
    if (found->n > 0) TRY(weft_h5_put_long(file, "/", "best_job", best_of(found)->job.id));
    return weft_h5_put_long(file, "/", "jobs", found->n);
}

/* Virtual time is that of the jobs done, of which some may not be told yet. */
static weft_history history_of(const struct finding *finding, const weft_run_opts *opts,
                               weft_arena *mem)
{
    weft_history history = {.tables = parse_tables(finding->run.tables, mem),
                            .n = finding->n,
                            .record = finding->record,
                            .nflight = finding->nflight,
                            .flight = finding->flight,
                            .optimum = NAN,
                            .workers = 1,
                            .overhead = opts->overhead};
    for (int64_t i = 0; i < finding->n; i++) {
        const weft_job_record *record = &finding->record[i];
        history.makespan = fmax(history.makespan, record->end);
        history.seconds = fmax(history.seconds, record->began + record->seconds);
        if (record->worker >= history.workers) history.workers = record->worker + 1;
    }
    const weft_rundir *run = &finding->run;
    for (int64_t i = 0; i < run->past.ntime; i++)
        history.seconds = fmax(history.seconds, run->past.time[i].at);
    history.starts = weft_starts_sum(run->past.time, run->past.ntime, &history);
    return history;
}

static weft_status write_file(weft_h5 *file, const char *path, const struct finding *found)
{
    weft_run_opts opts = {0};
    TRY(put_head(file, path, found, &opts));
    weft_goals goals;
    TRY(weft_goals_read(&goals, opts.objectives, opts.within, file->mem));
    weft_history history = history_of(found, &opts, file->mem);
    history.goals = &goals;
    history.opts = &opts;
    TRY(weft_h5_put_num(file, "/", "search_seconds", history.seconds));
    TRY(weft_h5_put_long(file, "/", "teams", history.starts.teams));
    TRY(weft_h5_put_long(file, "/", "starts", history.starts.n));
    TRY(weft_history_put(file, &history));
    return weft_h5_commit(file);
}

weft_status weft_run_snapshot(const char *path, const char *out)
{
    WEFT_SCRATCH(mem);
    struct finding found;
    weft_h5 file;
    weft_status st = find_jobs(path, &found, mem);
    if (st == WEFT_OK && found.n == 0 && found.nflight == 0)
        st = weft_fail(
            WEFT_EFILE, "%s is unfinished, and no job or checkpoint of it is there yet; %s",
            path,
            found.in_use ? "it is going on"
                         : weft_arena_text(mem, "go on with it by `weft resume %s`", path));
    if (st == WEFT_OK) st = weft_h5_create(&file, out, mem);
    if (st == WEFT_OK) {
        st = write_file(&file, path, &found);
        weft_h5_close(&file);
    }
    return st;
}

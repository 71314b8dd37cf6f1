/* An unfinished run, read from its journals: the tables that its run file would have now,
 * and its progress. The head of the journal describes axes, metrics and units, so that
 * neither task nor data are needed. */
#include "unfinished.h"
#include "columns.h"
#include "history.h"
#include "rundir/checkpoint.h"
#include "rundir/formats.h"
#include "rundir/place.h"
#include "rundir/records.h"
#include "rundir/retry.h"
#include "rundir/state.h"
#include "rundir/times.h"
#include "sched/choice.h"
#include "sched/options.h"
#include "tables.h"
#include "weft/log.h"
#include "winner.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- journals ---- */

/* The contents of a directory NAME.d. */
typedef struct finding {
    const char *conf, *head, *tables; /* texts in the first journal; NULL: missing */
    const char *grown;                /* the configuration of a run that was given more */
    weft_about about;                 /* what the head says */
    int in_use;                       /* 1: a process has a journal open */
    int64_t n, room;
    weft_job_record *record; /* [n] by id */
    int64_t nflight, roomflight;
    const char **checkpoint; /* [nflight] files, of jobs in flight */
    weft_job_record *flight; /* [nflight] by id, of those that can be read */
    int64_t ntime, roomtime;
    weft_time *time; /* [ntime] */
} finding;

static void take_record(finding *f, const weft_record *record, weft_arena *mem)
{
    int64_t id;
    weft_time time;
    if (!record->data) return;
    if (weft_time_read(record, &time)) {
        f->time = weft_grow(mem, f->time, sizeof time, f->ntime, &f->roomtime);
        f->time[f->ntime++] = time;
    }
    if (record->tag == TAG_CONF) f->conf = weft_record_text(record);
    if (record->tag == TAG_GROWN) f->grown = weft_record_text(record);
    if (record->tag == TAG_ABOUT) f->head = weft_record_text(record);
    if (record->tag == TAG_TABLES) f->tables = weft_record_text(record);
    if (!weft_record_is_job(record, &id)) return;
    weft_job_record e;
    if (!weft_job_record_read(&e, record->data, mem)) return;
    f->record = weft_grow(mem, f->record, sizeof *f->record, f->n, &f->room);
    f->record[f->n++] = e;
}

/* Sorts by job; of several records of a job, which are equal, keeps the first. */
static void settle_events(finding *f)
{
    if (f->n == 0) return;
    qsort(f->record, (size_t)f->n, sizeof *f->record, weft_job_record_compare);
    int64_t n = 1;
    for (int64_t i = 1; i < f->n; i++)
        if (f->record[i].job.id != f->record[n - 1].job.id) f->record[n++] = f->record[i];
    f->n = n;
}

static int is_done(const finding *f, int64_t job)
{
    for (int64_t i = 0; i < f->n; i++)
        if (f->record[i].job.id == job) return 1;
    return 0;
}

/* Reads the jobs in flight; those that were done since, or cannot be read, are left out. */
static void read_flights(finding *f, weft_arena *mem)
{
    weft_rundir run = {.data = f->about.data, .began = f->about.began};
    weft_rundir_identify(&run, f->conf);
    f->flight = WEFT_NEW(mem, weft_job_record, f->nflight);
    int64_t n = 0;
    for (int64_t i = 0; i < f->nflight; i++)
        n += weft_checkpoint_peek(f->checkpoint[i], run.id, &f->flight[n], mem) &&
             !is_done(f, f->flight[n].job.id);
    f->nflight = n;
    if (n > 0) qsort(f->flight, (size_t)n, sizeof *f->flight, weft_job_record_compare);
}

/* Reads all journals and checkpoints of the directory. EFILE. */
static weft_status find(const char *dir, finding *f, weft_arena *mem)
{
    DIR *d = opendir(dir);
    if (!d) return weft_fail(WEFT_EFILE, "cannot read %s", dir);
    weft_status st = WEFT_OK;
    *f = (finding){.n = 0};
    for (struct dirent *entry; st == WEFT_OK && (entry = readdir(d));) {
        const char *path = weft_arena_text(mem, "%s/%s", dir, entry->d_name);
        if (strncmp(entry->d_name, "checkpoint-", 11) == 0) {
            f->checkpoint = weft_grow(mem, f->checkpoint, sizeof *f->checkpoint, f->nflight,
                                      &f->roomflight);
            f->checkpoint[f->nflight++] = path;
        }
        if (strncmp(entry->d_name, "journal", 7) != 0 || !weft_journal_is(path)) continue;
        weft_record *rec;
        int64_t n;
        int in_use;
        st = weft_journal_read(path, &rec, &n, &in_use, mem);
        f->in_use |= st == WEFT_OK && in_use;
        if (st == WEFT_OK) weft_retry_void(rec, n, 0);
        for (int64_t i = 0; st == WEFT_OK && i < n; i++) take_record(f, &rec[i], mem);
    }
    closedir(d);
    settle_events(f);
    if (st == WEFT_OK && f->head) st = weft_about_read(dir, f->head, &f->about, mem);
    int whole = f->conf && f->head && f->tables;
    if (st == WEFT_OK && whole) read_flights(f, mem);
    if (st != WEFT_OK || whole) return st;
    return weft_fail(WEFT_EFILE,
                     "%s: the journal does not contain the run's configuration: the run "
                     "has just been started, or the journal is damaged",
                     dir);
}

/* ---- the file ---- */

/* The best of the jobs that are done; NULL: none is. */
static const weft_job_record *best_of(const finding *f)
{
    if (f->n == 0) return NULL;
    const weft_job_record *best = &f->record[0];
    for (int64_t i = 1; i < f->n; i++)
        if (weft_job_record_beats(&f->record[i], best)) best = &f->record[i];
    return best;
}

/* Text on the progress of the run and how to continue it. */
static const char *standing(const char *path, const finding *f, weft_arena *mem)
{
    const weft_job_record *best = best_of(f);
    const char *text = "no job is done yet";
    if (best && isfinite(best->res.loss))
        text = weft_arena_text(
            mem, "%lld jobs are done, the best so far is job %lld, score %.6g",
            (long long)f->n, (long long)best->job.id, best->res.loss);
    else if (best)
        text = weft_arena_text(mem, "%lld jobs are done, none of which has a finite loss",
                               (long long)f->n);
    if (f->nflight == 1)
        text =
            weft_arena_text(mem, "%s; job %lld is checkpointed after %lld of %lld rounds",
                            text, (long long)f->flight->job.id, (long long)f->flight->done,
                            (long long)f->flight->nunit);
    else if (f->nflight > 1)
        text = weft_arena_text(mem, "%s; %lld %sare checkpointed", text,
                               (long long)f->nflight, best ? "more " : "");
    if (f->in_use) return weft_arena_text(mem, "%s; a process is working on it", text);
    return weft_arena_text(
        mem, "%s; no process is working on it; `weft resume %s` continues it", text, path);
}

static weft_status put_head(weft_h5 *file, const char *path, const finding *found,
                            weft_run_opts *opts)
{
    weft_conf conf;
    weft_conf_init(&conf, file->mem);
    const char *config = found->grown ? found->grown : found->conf;
    TRY(weft_conf_text(&conf, path, config));
    TRY(weft_conf_bind(&conf, &weft_run_kind, opts));
    const struct {
        const char *key, *text;
    } texts[] = {
        {"format", WEFT_RUN_FORMAT},
        {"unfinished", standing(path, found, file->mem)},
        {"version", found->about.version},
        {"task", opts->task},
        {"tuner", opts->tuner},
        {"sampler", opts->sampler},
        {"mixing", opts->mixing},
        {"data", opts->data},
        {"data_digest",
         weft_arena_text(file->mem, "%.*s", (int)strcspn(found->about.data, " "),
                         found->about.data)},
        {"started", weft_time_text(found->about.began, file->mem)},
        {"config", config},
    };
    for (int i = 0; i < WEFT_COUNT(texts); i++)
        TRY(weft_h5_put_attr(file, "/", texts[i].key, texts[i].text));
    TRY(weft_h5_put_long(file, "/", "seed", opts->seed));
    if (found->n > 0) TRY(weft_h5_put_long(file, "/", "best_job", best_of(found)->job.id));
    return weft_h5_put_long(file, "/", "jobs", found->n);
}

/* Virtual time is that of the jobs done, of which some may not be told yet. */
static weft_history history_of(const finding *f, const weft_run_opts *opts, weft_arena *mem)
{
    weft_history history = {.tables = weft_tables_parse(f->tables, mem),
                            .n = f->n,
                            .record = f->record,
                            .nflight = f->nflight,
                            .flight = f->flight,
                            .optimum = NAN,
                            .workers = 1,
                            .overhead = opts->overhead};
    for (int64_t i = 0; i < f->n; i++) {
        const weft_job_record *record = &f->record[i];
        history.makespan = fmax(history.makespan, record->end);
        history.seconds = fmax(history.seconds, record->began + record->seconds);
        if (record->worker >= history.workers) history.workers = record->worker + 1;
    }
    for (int64_t i = 0; i < f->ntime; i++)
        history.seconds = fmax(history.seconds, f->time[i].at);
    history.starts = weft_starts_sum(f->time, f->ntime, &history);
    return history;
}

/* The weights of the best job, as those of the winner of a finished run, if its state is on
 * disk; else attribute and warning say that it is not. */
static weft_status put_best(weft_h5 *file, const char *path, const finding *found,
                            const weft_tables *tables)
{
    const weft_job_record *record = best_of(found);
    if (!record) return weft_h5_put_attr(file, "/", "no_weights", "no job is done yet");
    if (!isfinite(record->res.loss))
        return weft_h5_put_attr(file, "/", "no_weights", "no job so far has a finite loss");
    weft_winner winner = {.scores = tables->scores,
                          .size = record->job.feature_fraction,
                          .id = record->job.mix.id[weft_winner_arm(record)],
                          .job = record->job.id,
                          .trial = record->job.trial,
                          .round = record->job.index};
    const char *dir = weft_place_dir(path, file->mem);
    weft_kept *kept;
    TRY(weft_state_peek(dir, record, &winner.state, &kept, &winner.ntensor, winner.tensor,
                        file->mem));
    winner.kept = kept;
    if (!winner.state || winner.ntensor == 0) {
        const char *why = weft_arena_text(
            file->mem,
            winner.state
                ? "the state after job %lld, the best so far, has no tensors"
                : "the state after job %lld, the best so far, is not on disk: where "
                  "jobs are short, it is written when the run is stopped, not when it "
                  "is killed, and resuming the run repeats the job",
            (long long)record->job.id);
        weft_log(WEFT_WARN, "%s is without weights: %s", file->path, why);
        return weft_h5_put_attr(file, "/", "no_weights", why);
    }
    for (int p = 0; p < WEFT_NPART; p++) winner.score[p] = weft_scores_none();
    int64_t dim = record->job.mix.dim;
    double *conf = WEFT_NEW(file->mem, double, dim);
    char text[1024];
    weft_winner_conf(record, conf);
    weft_axes_show(tables->axis, tables->dim, conf, text, sizeof text);
    winner.text = text;
    TRY(weft_h5_put(file, "/winner/value", WEFT_H5_F64, 1, &dim, conf, 0,
                    "its configuration; axes in /configs/axis", "the option's own"));
    return weft_winner_put(&winner, file);
}

static weft_status write_file(weft_h5 *file, const char *path, const finding *found,
                              int weights)
{
    weft_run_opts opts = {0};
    TRY(put_head(file, path, found, &opts));
    weft_history history = history_of(found, &opts, file->mem);
    TRY(weft_h5_put_num(file, "/", "search_seconds", history.seconds));
    TRY(weft_h5_put_long(file, "/", "teams", history.starts.teams));
    TRY(weft_h5_put_long(file, "/", "starts", history.starts.n));
    TRY(weft_history_put(file, &history));
    if (weights) TRY(put_best(file, path, found, &history.tables));
    return weft_h5_commit(file);
}

weft_status weft_run_snapshot(const char *path, const char *out, int weights)
{
    weft_arena *mem = weft_arena_new();
    finding found;
    weft_h5 file;
    weft_status st = find(weft_place_dir(path, mem), &found, mem);
    if (st == WEFT_OK && found.n == 0 && found.nflight == 0)
        st = weft_fail(
            WEFT_EFILE, "%s is unfinished, and no job or checkpoint of it is there yet; %s",
            path,
            found.in_use ? "it is going on"
                         : weft_arena_text(mem, "go on with it by `weft resume %s`", path));
    if (st == WEFT_OK) st = weft_h5_create(&file, out, mem);
    if (st == WEFT_OK) {
        st = write_file(&file, path, &found, weights);
        weft_h5_close(&file);
    }
    weft_arena_free(mem);
    return st;
}

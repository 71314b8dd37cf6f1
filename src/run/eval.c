/* Uses of a run's winner: scoring it on another packed file, and exporting it as a small
 * file. Called by the command line. */
#include "run_private.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 12 }; /* least width of a column */

static int width_of(const weft_metric *m)
{
    int n = (int)strlen(m->title ? m->title : m->name);
    return n > WIDTH ? n : WIDTH;
}

static void print_score(const weft_metric *table, weft_part part, const weft_scores *s)
{
    printf("%-6s %10.0f", weft_part_name[part], s->count);
    for (int i = 0; table && table[i].name; i++) {
        int width = width_of(&table[i]), share = weft_metric_is_share(&table[i]);
        if (isnan(s->metric[i]))
            printf(" %*s", width, "-");
        else
            printf(" %*.*f", width, share ? 3 : 6, (share ? 100 : 1) * s->metric[i]);
    }
    printf("\n");
}

static void print_titles(const weft_run *r, const weft_winner *w, const char *run)
{
    const weft_metric *table = r->task->scores;
    printf("%s: %s\non %s\n", run, w->text, r->data.path);
    printf("%-6s %10s", "part", "scored");
    for (int i = 0; table && table[i].name; i++)
        printf(" %*s", width_of(&table[i]),
               table[i].title ? table[i].title : table[i].name);
    printf("\n");
}

/* Weights that refer to words by number must meet the same words. Local. */
static weft_status match_words(const weft_run *r, const weft_winner *w, const weft_job *job,
                               const char *run)
{
    const char *own = weft_winner_words(r->task, r->task_self, job, r->mem);
    if (!w->words) {
        if (*own)
            weft_log(WEFT_WARN,
                     "%s does not tell its words, as an earlier weft wrote it: those of %s "
                     "are taken in their order",
                     run, r->data.path);
        return WEFT_OK;
    }
    if (strcmp(own, w->words) == 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has other words than those whose vectors the winner of %s was "
                     "trained with; pack its documents together with the training ones, as "
                     "their test part",
                     r->data.path, run);
}

static weft_status score_all(weft_run *r, const weft_winner *w, const char *run)
{
    weft_mix mix = weft_mix_new(1, 0, r->mem);
    mix.id[0] = w->id;
    weft_job job = weft_job_new(w->trial, 0, &mix);
    job.id = w->job;
    job.index = (int)w->round;
    job.feature_fraction = w->size;
    job.last = 1;
    TRY(match_words(r, w, &job, run));
    weft_tensor own[WEFT_MAX_TENSORS];
    int64_t n = weft_tensors_size(w->ntensor, w->tensor);
    int64_t need =
        weft_tensors_size(weft_task_tensors(r->task, r->task_self, &job, own), own);
    if (n != need || r->space.dim != 0)
        return weft_fail(WEFT_EDATA,
                         "the winner of %s has %lld weights and statistics, %s "
                         "needs %lld; columns or classes of the two data sets differ",
                         run, (long long)n, r->data.path, (long long)need);
    weft_state state = weft_state_new(r->task, r->task_self, &job, r->mem);
    memcpy(state.x, w->state, (size_t)n * sizeof *state.x);
    int root = r->world->rank == 0;
    if (root) print_titles(r, w, run);
    for (int p = 0; p < WEFT_NPART; p++) {
        if (r->data.part[p].total == 0) continue;
        weft_scores s;
        TRY(r->task->score(r->task_self, &job, state.x, (weft_part)p, &s));
        if (root) print_score(r->task->scores, (weft_part)p, &s);
    }
    return WEFT_OK;
}

weft_status weft_run_eval(const char *run, const char *data, weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_run r = {0};
    weft_winner w;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_status st = weft_agree(weft_winner_read(&w, run, mem), world);
    if (st == WEFT_OK) st = weft_agree(weft_conf_text(&conf, run, w.config), world);
    if (st == WEFT_OK) st = weft_run_bind(&r, &conf, 0, world, mem);
    if (st == WEFT_OK && !r.task->score)
        st = weft_fail(WEFT_ECONF,
                       "%s: task %s reads no data that its winner could be "
                       "scored on",
                       run, r.task->kind.name);
    r.like = &w.like;
    r.like_of = run;
    if (st == WEFT_OK) st = weft_run_open(&r, data);
    if (st == WEFT_OK) st = score_all(&r, &w, run);
    weft_run_close(&r);
    weft_arena_free(mem);
    return st;
}

weft_status weft_run_export(const char *run, const char *out)
{
    weft_arena *mem = weft_arena_new();
    weft_winner w;
    weft_h5 f;
    weft_status st = weft_winner_read(&w, run, mem);
    if (st == WEFT_OK && weft_file_same(run, out))
        st = weft_fail(WEFT_ECONF,
                       "%s is the run file itself, which the winner would replace; choose "
                       "another name by -o",
                       out);
    if (st == WEFT_OK) {
        st = weft_h5_create(&f, out, mem);
        if (st == WEFT_OK) st = weft_winner_export(&w, run, &f);
        if (st == WEFT_OK) st = weft_h5_commit(&f);
        weft_h5_close(&f);
    }
    if (st == WEFT_OK)
        printf("%s: %s, %lld numbers\n", out, w.text,
               (long long)weft_tensors_size(w.ntensor, w.tensor));
    weft_arena_free(mem);
    return st;
}

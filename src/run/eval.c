/* Uses of a run's winner: scoring it on another packed file, and exporting it as a small
 * file. */
#include "eval.h"
#include "setup.h"
#include "weft/run.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 12 }; /* least width of a column */

/* ---- words ---- */

weft_word_weights weft_word_weights_of(const weft_run *r, const weft_job *job)
{
    weft_word_weights u = {0};
    if (r->task->words) r->task->words(r->task_self, job, &u);
    return u;
}

/* The weights of every network but those of words, and those of the words that the winner
 * has, place[n] by the words of the data; the other rows of `to` stay. */
static void place_words(const weft_winner *w, const weft_word_weights *u,
                        const int64_t *place, real *to)
{
    int64_t at = u->table.at, d = u->table.d, n = u->vocab->n;
    const real *from = w->state;
    for (int i = 0; i < u->networks; i++) {
        memcpy(to, from, (size_t)(at + d) * sizeof *to); /* with the row of no word */
        from += at + d;
        to += at + d;
        for (int64_t k = 0; k < n; k++)
            if (place[k] >= 0)
                memcpy(to + k * d, from + place[k] * d, (size_t)d * sizeof *to);
        from += w->vocab.n * d;
        to += n * d;
    }
}

static weft_unknown count_unknown(const weft_vocab *v, const int64_t *place)
{
    weft_unknown x = {.all_words = v->n};
    for (int64_t i = 0; i < v->n; i++) {
        x.words += place[i] < 0;
        x.tokens += place[i] < 0 ? v->count[i] : 0;
        x.all_tokens += v->count[i];
    }
    return x;
}

weft_status weft_winner_state(const weft_run *r, const weft_winner *w, const char *run,
                              const weft_job *job, weft_state *state, weft_unknown *unknown)
{
    weft_tensor own[WEFT_MAX_TENSORS];
    weft_word_weights u = weft_word_weights_of(r, job);
    int64_t n = weft_tensors_size(w->ntensor, w->tensor);
    int64_t need =
        weft_tensors_size(weft_task_tensors(r->task, r->task_self, job, own), own);
    if (u.vocab) need += u.networks * u.table.d * (w->vocab.n - u.vocab->n);
    if (n != need || r->space.dim != 0)
        return weft_fail(WEFT_EDATA,
                         "the winner of %s has %lld weights and statistics, %s "
                         "needs %lld; columns or classes of the two data sets differ",
                         run, (long long)n, r->data.path, (long long)need);
    *unknown = (weft_unknown){0};
    *state = weft_state_new(r->task, r->task_self, job, r->mem);
    if (!u.vocab) {
        memcpy(state->x, w->state, (size_t)n * sizeof *state->x);
        return WEFT_OK;
    }
    size_t mark = weft_arena_mark(r->mem);
    const int64_t *place = weft_vocab_places(u.vocab, &w->vocab, r->mem);
    if (r->task->start) r->task->start(r->task_self, job, state);
    place_words(w, &u, place, state->x);
    *unknown = count_unknown(u.vocab, place);
    weft_arena_reset(r->mem, mark);
    return WEFT_OK;
}

/* ---- scores ---- */

static int width_of(const weft_metric *m)
{
    int n = (int)strlen(m->title ? m->title : m->name);
    return n > WIDTH ? n : WIDTH;
}

static void print_score(const weft_metric *table, weft_part part, const weft_scores *s)
{
    weft_arena *tmp = weft_arena_new();
    printf("%-6s %10.0f", weft_part_name[part], s->count);
    for (int i = 0; table && table[i].name; i++) {
        int width = width_of(&table[i]), share = weft_metric_is_share(&table[i]);
        if (isnan(s->metric[i]))
            printf(" %*s", width, "-");
        else if (share)
            printf(" %*.3f", width, 100 * s->metric[i]);
        else
            printf(" %*s", width, weft_loss_show(s->metric[i], 6, tmp));
    }
    printf("\n");
    weft_arena_free(tmp);
}

static void print_unknown(const weft_unknown *x)
{
    if (x->words == 0) return;
    printf(
        "%lld of %lld words, %.1f %% of the tokens, are unknown to the winner: they have "
        "initial vectors, from the file of vectors or drawn\n",
        (long long)x->words, (long long)x->all_words,
        100 * (double)x->tokens / (double)x->all_tokens);
}

static void print_titles(const weft_run *r, const weft_winner *w, const char *run,
                         const weft_unknown *unknown)
{
    const weft_metric *table = r->task->scores;
    printf("%s: %s\non %s\n", run, w->text, r->data.path);
    print_unknown(unknown);
    printf("%-6s %10s", "part", "scored");
    for (int i = 0; table && table[i].name; i++)
        printf(" %*s", width_of(&table[i]),
               table[i].title ? table[i].title : table[i].name);
    printf("\n");
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
    weft_state state;
    weft_unknown unknown;
    TRY(weft_winner_state(r, w, run, &job, &state, &unknown));
    int root = r->world->rank == 0;
    if (root) print_titles(r, w, run, &unknown);
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

/* Uses of a run's winner: scoring it on another packed file, and exporting it as a small
 * file. */
#include "use.h"
#include "weft/file.h"
#include "weft/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 12 }; /* least width of a column */

/* ---- scores ---- */

static int width_of(const weft_metric *metric)
{
    int n = (int)strlen(metric->title ? metric->title : metric->name);
    return n > WIDTH ? n : WIDTH;
}

/* 1 if some part has that score. */
static int is_shown(const weft_scores score[WEFT_NPART], int column)
{
    for (int p = 0; p < WEFT_NPART; p++)
        if (!isnan(score[p].metric[column])) return 1;
    return 0;
}

static void print_part(const weft_metric *table, const weft_scores score[WEFT_NPART],
                       int part)
{
    weft_arena *tmp = weft_arena_new();
    printf("%-6s %10.0f", weft_part_name[part], score[part].count);
    for (int i = 0; table && table[i].name; i++) {
        double x = score[part].metric[i];
        int width = width_of(&table[i]), share = weft_metric_is_share(&table[i]);
        if (!is_shown(score, i)) continue;
        if (isnan(x))
            printf(" %*s", width, "-");
        else if (share)
            printf(" %*.3f", width, 100 * x);
        else
            printf(" %*s", width, weft_loss_show(x, 6, tmp));
    }
    printf("\n");
    weft_arena_free(tmp);
}

static void print_unknown(const weft_unknown *unknown)
{
    if (unknown->words == 0) return;
    printf(
        "%lld of %lld words, %.1f %% of the tokens, are unknown to the winner: they have "
        "initial vectors, from the file of vectors or drawn\n",
        (long long)unknown->words, (long long)unknown->all_words,
        100 * (double)unknown->tokens / (double)unknown->all_tokens);
}

static void print_scores(const weft_run *r, const weft_scores score[WEFT_NPART])
{
    const weft_metric *table = r->task->scores;
    printf("%-6s %10s", "part", "scored");
    for (int i = 0; table && table[i].name; i++)
        if (is_shown(score, i))
            printf(" %*s", width_of(&table[i]),
                   table[i].title ? table[i].title : table[i].name);
    printf("\n");
    for (int p = 0; p < WEFT_NPART; p++)
        if (r->data.part[p].total > 0) print_part(table, score, p);
}

static weft_status score_all(weft_run *r, const weft_winner_at *winner, void *ctx)
{
    (void)ctx;
    if (r->data.unlabelled)
        return weft_fail(WEFT_EDATA,
                         "%s has no labels, by which rows are scored; `weft predict` tells "
                         "their classes",
                         r->data.path);
    int root = r->world->rank == 0;
    if (root) printf("%s: %s\non %s\n", winner->run, winner->text, r->data.path);
    if (root) print_unknown(&winner->unknown);
    weft_scores score[WEFT_NPART];
    for (int p = 0; p < WEFT_NPART; p++) {
        score[p] = weft_scores_none();
        if (r->data.part[p].total == 0) continue;
        TRY(r->task->score(r->task_self, &winner->job, winner->state.x, (weft_part)p,
                           &score[p]));
    }
    if (root) print_scores(r, score);
    return WEFT_OK;
}

weft_status weft_run_eval(const char *run, const char *data, weft_team *world)
{
    return weft_winner_use(run, data, world, score_all, NULL);
}

weft_status weft_run_export(const char *run, const char *out)
{
    weft_arena *mem = weft_arena_new();
    weft_winner winner;
    weft_h5 file;
    weft_status st = weft_winner_read(&winner, run, mem);
    if (st == WEFT_OK && weft_file_same(run, out))
        st = weft_fail(WEFT_ECONF,
                       "%s is the run file itself, which the winner would replace; choose "
                       "another name by -o",
                       out);
    if (st == WEFT_OK) {
        st = weft_h5_create(&file, out, mem);
        if (st == WEFT_OK) st = weft_winner_export(&winner, run, &file);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    if (st == WEFT_OK)
        printf("%s: %s, %lld numbers\n", out, winner.text,
               (long long)weft_tensors_size(winner.ntensor, winner.tensor));
    weft_arena_free(mem);
    return st;
}

/* `weft eval`: a run's winner is scored on another packed file. */
#include "result/result.h"
#include "use.h"
#include "weft/log.h"
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

static void print_title(const weft_metric *metric)
{
    printf(" %*s", width_of(metric), metric->title ? metric->title : metric->name);
}

static void print_score(const weft_metric *metric, double x, weft_arena *tmp)
{
    int width = width_of(metric);
    if (isnan(x))
        printf(" %*s", width, "-");
    else if (weft_metric_is_share(metric))
        printf(" %*.3f", width, 100 * x);
    else
        printf(" %*s", width, weft_loss_show(x, 6, tmp));
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
    for (int i = 0; table && table[i].name; i++)
        if (is_shown(score, i)) print_score(&table[i], score[part].metric[i], tmp);
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

static void print_scores(const weft_run *run, const weft_scores score[WEFT_NPART])
{
    const weft_metric *table = run->task->scores;
    printf("%-6s %10s", "part", "scored");
    for (int i = 0; table && table[i].name; i++)
        if (is_shown(score, i)) print_title(&table[i]);
    printf("\n");
    for (int p = 0; p < WEFT_NPART; p++)
        if (run->data.part[p].total > 0) print_part(table, score, p);
}

/* The scores of the test part by direction, where it is of translations. */
static void print_directions(const weft_run *run, const weft_scores *score)
{
    const weft_members *members = score->members;
    if (!run->data.translations || !members) return;
    int columns = weft_metrics_count(members->table);
    weft_arena *tmp = weft_arena_new();
    printf("\n%-12s %8s", "direction", "scored");
    for (int k = 0; k < columns; k++) print_title(&members->table[k]);
    printf("\n");
    for (int64_t i = 0; i < members->n; i++) {
        printf("%-12s %8.0f", members->name[i], members->count[i]);
        for (int k = 0; k < columns; k++)
            print_score(&members->table[k], members->score[i * columns + k], tmp);
        printf("\n");
    }
    weft_arena_free(tmp);
}

/* Squared error and R2 of each target in each part. */
static void print_numbers(const weft_run *run, const weft_scores score[WEFT_NPART])
{
    const weft_data *data = &run->data;
    printf("\n%-6s %-20s %*s %*s %*s\n", "part", "target", WIDTH, "MSE", WIDTH, "RMSE",
           WIDTH, "R2");
    for (int p = 0; p < WEFT_NPART; p++)
        for (int k = 0; score[p].fit && k < data->classes; k++) {
            double scale = data->target_scale[k], mse = score[p].fit[k].mse * scale * scale;
            const char *name =
                weft_one_line(weft_arena_text(run->mem, "%s", data->class_name[k]));
            printf("%-6s %-20s %*.6g %*.6g %*.6f\n", weft_part_name[p], name, WIDTH, mse,
                   WIDTH, sqrt(mse), WIDTH, score[p].fit[k].r2);
        }
}

static weft_status score_all(weft_run *run, const weft_winner_at *winner, void *ctx)
{
    (void)ctx;
    if (run->data.unlabelled)
        return weft_fail(WEFT_EDATA,
                         "%s has no labels, by which rows are scored; `weft predict` tells "
                         "them",
                         run->data.path);
    int root = run->world->rank == 0;
    if (root) printf("%s: %s\non %s\n", winner->run, winner->text, run->data.path);
    if (root) print_unknown(&winner->unknown);
    if (run->opts.refit && run->data.part[WEFT_VALID].total > 0)
        weft_log(WEFT_WARN,
                 "by run.refit the winner was trained on the valid part of its own "
                 "data, too: its valid scores are of unseen samples on other "
                 "data alone");
    weft_scores score[WEFT_NPART];
    for (int p = 0; p < WEFT_NPART; p++) {
        score[p] = weft_scores_none();
        if (run->data.part[p].total == 0) continue;
        TRY(run->task->score(run->task_self, &winner->job, &winner->state, (weft_part)p,
                             &score[p]));
    }
    if (root) print_scores(run, score);
    if (root) print_directions(run, &score[WEFT_TEST]);
    weft_confusion confusion = {run->data.classes, run->data.class_name,
                                score[WEFT_TEST].confusion};
    if (root && confusion.rows) weft_confusion_print(&confusion);
    if (root && run->data.target_scale) print_numbers(run, score);
    return WEFT_OK;
}

weft_status weft_run_eval(const char *run, const char *data, int n, char **assignment,
                          weft_team *world)
{
    const weft_winner_on on = {.data = data, .n = n, .assignment = assignment};
    return weft_winner_use(run, &on, world, score_all, NULL);
}

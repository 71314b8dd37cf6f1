/* Uses of a run's winner: scoring it on another packed file, and exporting it as a small
 * file. */
#include "quality.h"
#include "use.h"
#include "weft/file.h"
#include "weft/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 12,   /* least width of a column */
    CONFUSED = 12 /* classes of which a confusion matrix is printed, at most */
};

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
                       const weft_quality *quality, int part)
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
    if (quality->confusion)
        printf(" %*.3f %*.4f %*.4f", WIDTH, 100 * quality->balanced, WIDTH, quality->f1,
               WIDTH, quality->auc);
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

static void print_scores(const weft_run *run, const weft_scores score[WEFT_NPART],
                         const weft_quality quality[WEFT_NPART])
{
    int judged = 0;
    const weft_metric *table = run->task->scores;
    printf("%-6s %10s", "part", "scored");
    for (int i = 0; table && table[i].name; i++)
        if (is_shown(score, i))
            printf(" %*s", width_of(&table[i]),
                   table[i].title ? table[i].title : table[i].name);
    for (int p = 0; p < WEFT_NPART; p++) judged |= quality[p].confusion != NULL;
    if (judged) printf(" %*s %*s %*s", WIDTH, "balanced %", WIDTH, "F1", WIDTH, "AUC");
    printf("\n");
    for (int p = 0; p < WEFT_NPART; p++)
        if (run->data.part[p].total > 0) print_part(table, score, &quality[p], p);
}

/* Balanced error and others of the parts whose rows have a class each; on the first rank;
 * confusion NULL: of no part. Collective. */
static weft_status judge_all(weft_run *run, const weft_winner_at *winner,
                             weft_quality quality[WEFT_NPART])
{
    if (!run->task->predict || run->task->members || run->data.form == WEFT_CHARS)
        return WEFT_OK;
    if (run->data.target_scale) return WEFT_OK; /* see print_numbers */
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_predictions said;
        if (run->data.part[p].total == 0) continue;
        weft_arena *tmp = weft_arena_new();
        weft_status st = weft_winner_says(run, winner, (weft_part)p, &said, tmp);
        const int32_t *label = weft_labels_of(run, (weft_part)p, tmp);
        if (st == WEFT_OK && run->world->rank == 0)
            quality[p] = weft_quality_of(&said, label, run->mem);
        weft_arena_free(tmp);
        TRY(st);
    }
    return WEFT_OK;
}

/* Squared error and R2 of each target in each part. Collective. */
static weft_status print_numbers(weft_run *run, const weft_winner_at *winner)
{
    int root = run->world->rank == 0;
    if (!run->data.target_scale) return WEFT_OK;
    if (root)
        printf("\n%-6s %-20s %*s %*s %*s\n", "part", "target", WIDTH, "MSE", WIDTH, "RMSE",
               WIDTH, "R2");
    for (int p = 0; p < WEFT_NPART; p++) {
        if (run->data.part[p].total == 0) continue;
        weft_arena *tmp = weft_arena_new();
        weft_predictions said;
        weft_status st = weft_winner_says(run, winner, (weft_part)p, &said, tmp);
        const double *target = weft_targets_of(run, (weft_part)p, tmp),
                     *weight = weft_weights_of(run, (weft_part)p, tmp);
        for (int k = 0; k < run->data.classes && root && st == WEFT_OK; k++) {
            weft_fit_quality quality = weft_fit_quality_of(&said, target, weight, k);
            printf("%-6s %-20s %*.6g %*.6g %*.6f\n", weft_part_name[p],
                   run->data.class_name[k], WIDTH, quality.mse, WIDTH, sqrt(quality.mse),
                   WIDTH, quality.r2);
        }
        weft_arena_free(tmp);
        TRY(st);
    }
    return WEFT_OK;
}

static int class_width(const char *name)
{
    int n = (int)strlen(name);
    return n > 7 ? n + 1 : 8;
}

/* Of the test part, if its classes are few. */
static void print_confusion(const weft_data *data, const weft_quality *quality)
{
    int classes = data->classes, widest = 0;
    if (!quality->confusion || classes > CONFUSED) return;
    for (int k = 0; k < classes; k++)
        widest = widest > class_width(data->class_name[k])
                     ? widest
                     : class_width(data->class_name[k]);
    printf("\n%-*s the class that is predicted of rows of the test part\n%-*s", widest,
           "class", widest, "");
    for (int k = 0; k < classes; k++)
        printf(" %*s", class_width(data->class_name[k]), data->class_name[k]);
    for (int k = 0; k < classes; k++) {
        printf("\n%-*s", widest, data->class_name[k]);
        for (int j = 0; j < classes; j++)
            printf(" %*lld", class_width(data->class_name[j]),
                   (long long)quality->confusion[k * classes + j]);
    }
    printf("\n");
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
    weft_scores score[WEFT_NPART];
    for (int p = 0; p < WEFT_NPART; p++) {
        score[p] = weft_scores_none();
        if (run->data.part[p].total == 0) continue;
        TRY(run->task->score(run->task_self, &winner->job, &winner->state, (weft_part)p,
                             &score[p]));
    }
    weft_quality quality[WEFT_NPART] = {0};
    TRY(judge_all(run, winner, quality));
    if (root) print_scores(run, score, quality);
    if (root) print_confusion(&run->data, &quality[WEFT_TEST]);
    return print_numbers(run, winner);
}

weft_status weft_run_eval(const char *run, const char *data, int n, char **assignment,
                          weft_team *world)
{
    const weft_winner_on on = {data, n, assignment};
    return weft_winner_use(run, &on, world, score_all, NULL);
}

weft_status weft_run_export(const char *run, const char *out)
{
    weft_arena *mem = weft_arena_new();
    weft_winner winner = {0};
    weft_h5 file;
    weft_status st = weft_winner_read(&winner, run, mem);
    if (st == WEFT_OK && weft_file_same(run, out))
        st = weft_fail(WEFT_ECONF,
                       "%s is the run file itself, which the winner would replace; choose "
                       "another name by -o",
                       out);
    if (st == WEFT_OK) {
        winner.kept = weft_stored_table(winner.rows, mem);
        st = weft_h5_create(&file, out, mem);
        if (st == WEFT_OK) st = weft_winner_export(&winner, run, &file);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    if (st == WEFT_OK)
        printf("%s: %s, %lld numbers\n", out, winner.text,
               (long long)weft_tensors_size(winner.ntensor, winner.tensor));
    weft_winner_close(&winner);
    weft_arena_free(mem);
    return st;
}

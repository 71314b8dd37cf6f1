/* Uses of a run's winner: data are opened for it, `weft eval` scores it on them, and
 * `weft export` writes it to a small file, with all that other programs need to use it. */
#include "run.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/registry.h"
#include "weft/run/run.h"
#include "weft/store/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 12 }; /* least width of a column of scores */

/* ---- a winner on other data ---- */

static weft_job job_of(const weft_run *run, const weft_winner *winner)
{
    weft_mix mix = weft_mix_new(1, 0, run->mem);
    mix.id[0] = winner->id;
    weft_job job = weft_job_new(winner->trial, 0, &mix);
    job.id = winner->job;
    job.index = (int)winner->round;
    job.last = 1;
    return job;
}

/* Calls the function for the winner that was read and the data that the run has open. */
static weft_status call_on(weft_run *run, const weft_winner *winner, const char *path,
                           weft_winner_fn *fn, void *ctx)
{
    weft_winner_at at = {.run = path, .text = winner->text, .job = job_of(run, winner)};
    TRY(weft_agree(weft_winner_state(run, winner, path, &at.job, &at.state, &at.unknown),
                   run->world));
    return fn(run, &at, ctx);
}

static weft_status check_use(const weft_run *run, const char *path,
                             const weft_winner_on *on)
{
    if (!run->task->winner.score)
        return weft_fail(WEFT_ECONF,
                         "%s: task %s reads no data that its winner could be scored on",
                         path, run->task->kind.name);
    if (on->data || *run->opts.data == '\0') return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s was trained on %s; name a packed file behind it, this one or "
                     "another",
                     path, run->opts.data);
}

static weft_status configure(weft_conf *conf, const char *path, const char *config,
                             const weft_winner_on *on)
{
    int grown;
    TRY(weft_conf_text(conf, path, config));
    for (int i = 0; i < on->n; i++) TRY(weft_run_change(conf, on->assignment[i], &grown));
    return WEFT_OK;
}

weft_status weft_winner_use(const char *path, const weft_winner_on *on, weft_team *world,
                            weft_winner_fn *fn, void *ctx)
{
    WEFT_SCRATCH(mem);
    weft_run run = {0};
    weft_winner winner = {0};
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_status st = weft_agree(weft_winner_read(&winner, path, mem), world);
    if (st == WEFT_OK) st = weft_agree(configure(&conf, path, winner.config, on), world);
    if (st == WEFT_OK) st = weft_run_bind(&run, &conf, 0, world, mem);
    if (st == WEFT_OK) st = check_use(&run, path, on);
    run.on.like = &winner.like;
    run.on.like_of = path;
    run.on.window = on->window;
    if (st == WEFT_OK) st = weft_run_open(&run, on->data ? on->data : "");
    if (st == WEFT_OK) st = call_on(&run, &winner, path, fn, ctx);
    weft_run_close(&run);
    weft_winner_close(&winner);
    return st;
}

/* ---- weft eval ---- */

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

static int is_shown(const weft_scores score[WEFT_NPART], int column)
{
    for (int p = 0; p < WEFT_NPART; p++)
        if (!isnan(score[p].metric[column])) return 1;
    return 0;
}

static void print_part(const weft_metric *table, const weft_scores score[WEFT_NPART],
                       int part)
{
    WEFT_SCRATCH(tmp);
    printf("%-6s %10.0f", weft_part_name[part], score[part].count);
    for (int i = 0; table && table[i].name; i++)
        if (is_shown(score, i)) print_score(&table[i], score[part].metric[i], tmp);
    printf("\n");
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
    const weft_metric *table = run->task->traits.scores;
    printf("%-6s %10s", "part", "scored");
    for (int i = 0; table && table[i].name; i++)
        if (is_shown(score, i)) print_title(&table[i]);
    printf("\n");
    for (int p = 0; p < WEFT_NPART; p++)
        if (run->data.part[p].total > 0) print_part(table, score, p);
}

/* The scores of the test part by direction, where these write. */
static void print_directions(const weft_run *run, const weft_scores *score)
{
    const weft_members *members = score->members;
    if (!members || !weft_forms[run->data.form]->written) return;
    int columns = weft_metrics_count(members->table);
    WEFT_SCRATCH(tmp);
    printf("\n%-12s %8s", "direction", "scored");
    for (int k = 0; k < columns; k++) print_title(&members->table[k]);
    printf("\n");
    for (int64_t i = 0; i < members->n; i++) {
        printf("%-12s %8.0f", members->name[i], members->count[i]);
        for (int k = 0; k < columns; k++)
            print_score(&members->table[k], members->score[i * columns + k], tmp);
        printf("\n");
    }
}

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
        TRY(run->task->winner.score(run->task_self, &winner->job, &winner->state,
                                    (weft_part)p, &score[p]));
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

/* ---- weft export ---- */

static const char *text_of(const weft_conf *conf, const weft_kind *kind,
                           const weft_opt *opt)
{
    const weft_entry *entry = weft_conf_find(conf, kind->name, opt->name);
    return entry ? entry->value : opt->def;
}

static weft_status add_section(weft_conf *conf, const weft_kind *kind, char **text)
{
    char name[64], value[64];
    void *self = weft_arena_alloc(conf->mem, 1, kind->size);
    if (kind->opts == weft_own_keys) return WEFT_OK;
    TRY(weft_conf_bind(conf, kind, self));
    for (const weft_opt *opt = kind->opts; opt->name; opt++) {
        weft_opt_name(opt, name, sizeof name);
        if (opt->type != WEFT_TEXT)
            weft_opt_show(opt, weft_opt_value(opt, self), value, sizeof value);
        *text = weft_arena_text(conf->mem, "%s%s.%s = %s\n", *text, kind->name, name,
                                opt->type == WEFT_TEXT ? text_of(conf, kind, opt) : value);
    }
    return WEFT_OK;
}

static weft_status add_choice(weft_conf *conf, const weft_task *task,
                              const weft_choice *choice, char **text)
{
    const weft_opt *opt = task->kind.opts;
    while (opt->name && !weft_opt_is(opt, choice->key)) opt++;
    for (const weft_kind *const *kind = choice->kinds; opt->name && *kind; kind++)
        if (strcmp((*kind)->name, text_of(conf, &task->kind, opt)) == 0)
            TRY(add_section(conf, *kind, text));
    return WEFT_OK;
}

/* Writes the values of all options by which the winner's weights become predictions, those
 * that nobody gave too. */
static weft_status put_options(const weft_winner *winner, weft_h5 *file)
{
    weft_conf conf;
    weft_run_opts opts;
    const weft_task *task;
    char *text = weft_arena_text(file->mem, "%s", "");
    weft_conf_init(&conf, file->mem);
    TRY(weft_conf_text(&conf, "winner", winner->config));
    TRY(weft_conf_bind(&conf, &weft_run_kind, &opts));
    TRY(weft_task_find(opts.task, &task));
    if (!task->winner.predict) return WEFT_OK;
    TRY(add_section(&conf, &weft_run_kind, &text));
    TRY(add_section(&conf, &task->kind, &text));
    for (const weft_choice *choice = task->choices; choice && choice->key; choice++)
        TRY(add_choice(&conf, task, choice, &text));
    for (const weft_kind *const *kind = task->parts; kind && *kind; kind++)
        TRY(add_section(&conf, *kind, &text));
    return weft_h5_put_attr(file, "/winner", "options", text);
}

weft_status weft_run_export(const char *run, const char *out)
{
    WEFT_SCRATCH(mem);
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
        if (st == WEFT_OK) st = put_options(&winner, &file);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    if (st == WEFT_OK)
        printf("%s: %s, %lld numbers\n", out, winner.text,
               (long long)weft_tensors_size(winner.ntensor, winner.tensor));
    weft_winner_close(&winner);
    return st;
}

/* `weft report`: the results of runs as a table for people, as CSV or as JSON. One run is
 * shown in full, several are compared line by line. */
#include "weft/report/report.h"
#include "report.h"
#include "sched/sched.h"
#include "weft/registry.h"
#include "weft/task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 5 };

/* ---- one run for people ---- */

/* A fact that is a text; "" where the file has none. */
static const char *text_of(const weft_summary *summary, const char *name)
{
    const char *text = weft_summary_value(summary, name)->text;
    return text ? text : "";
}

static long long whole_of(const weft_summary *summary, const char *name)
{
    return (long long)weft_summary_value(summary, name)->whole;
}

static double number_of(const weft_summary *summary, const char *name)
{
    return weft_summary_value(summary, name)->number;
}

/* "valid     loss 0.25   error 9.23 %" */
static void print_score(const weft_summary *summary, weft_part part, weft_arena *tmp)
{
    const char *text = "";
    for (int i = 0; i < WEFT_MAX_SCORES && summary->scores[i].name; i++)
        if (summary->scores[i].title && !isnan(summary->score[part].metric[i]))
            text = weft_arena_text(
                tmp, "%s%s%s", text, *text ? "   " : "",
                weft_metric_show(&summary->scores[i], summary->score[part].metric[i], tmp));
    if (*text) printf("%-9s %s\n", weft_part_name[part], text);
}

/* ---- jobs by what decides the winner ---- */

static weft_merit merit_of(const weft_jobs *jobs, int64_t at)
{
    double tie =
        jobs->metrics->name ? jobs->metric[0][at] : (double)NAN; /* weft_result_tie */
    weft_rank rank = weft_rank_of(jobs->loss[at], tie, jobs->job[at]);
    if (jobs->excess) rank.excess = jobs->excess[at];
    return (weft_merit){(int)jobs->wins[at], jobs->resource[at], rank};
}

static int64_t winner_of(const weft_jobs *jobs)
{
    int64_t best = 0;
    for (int64_t i = 1; i < jobs->n; i++) {
        weft_merit a = merit_of(jobs, i), b = merit_of(jobs, best);
        if (weft_merit_compare(&a, &b) > 0) best = i;
    }
    return best;
}

/* The job of another trial with the lowest score below that of `winner`; -1: none. */
static int64_t lowest_of(const weft_jobs *jobs, int64_t winner)
{
    int64_t lowest = -1;
    double most = jobs->loss[winner];
    for (int64_t i = 0; i < jobs->n; i++) {
        if (jobs->trial[i] == jobs->trial[winner] || !(jobs->loss[i] < most)) continue;
        lowest = i;
        most = jobs->loss[i];
    }
    return lowest;
}

static const char *why_not_won(const weft_summary *summary, int64_t i, int64_t winner,
                               weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    if (jobs->wins[i] == WEFT_WINS_LAST)
        return weft_arena_text(tmp,
                               "it was left behind by tuner %s, which chooses among "
                               "the trials that it kept to the end",
                               text_of(summary, "tuner"));
    if (jobs->excess && jobs->excess[i] > jobs->excess[winner])
        return weft_arena_text(tmp, "it is beyond the limits, by %.3g of them",
                               jobs->excess[i]);
    return weft_arena_text(tmp,
                           "it was trained for %g where the winner was for %g, and those "
                           "trained longest come first",
                           jobs->resource[i], jobs->resource[winner]);
}

/* Prints which job of another trial than the winner's has the lowest score, where that is
 * lower than the winner's, and why it did not win. */
static void print_lower(const weft_summary *summary, weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    if (jobs->n == 0) return;
    int64_t winner = winner_of(jobs), lowest = lowest_of(jobs, winner);
    if (lowest < 0) return;
    printf("lower     trial %lld has the score %s, below the winner's %s, but %s\n",
           (long long)jobs->trial[lowest], weft_loss_show(jobs->loss[lowest], 5, tmp),
           weft_loss_show(jobs->loss[winner], 5, tmp),
           why_not_won(summary, lowest, winner, tmp));
}

/* ---- trials made of rounds ---- */

/* The best job of a trial. */
struct trial {
    weft_merit merit;
    int64_t at; /* in jobs */
    int64_t trial;
};

static int by_merit_of_job(const void *a, const void *b)
{
    return -weft_merit_compare(&((const struct trial *)a)->merit,
                               &((const struct trial *)b)->merit);
}

static int by_trial(const void *pa, const void *pb)
{
    const struct trial *a = pa, *b = pb;
    if (a->trial != b->trial) return a->trial < b->trial ? -1 : 1;
    return by_merit_of_job(a, b);
}

/* The best job of every trial, best first; list[number of jobs]. */
static int64_t rank_trials(const weft_jobs *jobs, struct trial *list)
{
    int64_t n = 0;
    for (int64_t i = 0; i < jobs->n; i++)
        list[i] = (struct trial){merit_of(jobs, i), i, jobs->trial[i]};
    qsort(list, (size_t)jobs->n, sizeof *list, by_trial);
    for (int64_t i = 0; i < jobs->n; i++)
        if (i == 0 || list[i].trial != list[n - 1].trial) list[n++] = list[i];
    qsort(list, (size_t)n, sizeof *list, by_merit_of_job);
    return n;
}

enum { NARROW = 8 }; /* a column of a metric, at least */

/* The metrics that people read, of job `at`, or their titles where at is negative. */
static const char *metric_cells(const weft_jobs *jobs, int64_t at, weft_arena *tmp)
{
    const char *text = "";
    for (int i = 0; jobs->metrics[i].name; i++) {
        const weft_metric *metric = &jobs->metrics[i];
        if (!metric->title) continue;
        int n = (int)strlen(metric->title), width = n > NARROW ? n : NARROW;
        double x = at < 0 ? 0 : jobs->metric[i][at];
        if (at < 0)
            text = weft_arena_text(tmp, "%s %*s", text, width, metric->title);
        else if (isnan(x))
            text = weft_arena_text(tmp, "%s %*s", text, width, "-");
        else if (weft_metric_is_share(metric))
            text = weft_arena_text(tmp, "%s %*.2f", text, width, 100 * x);
        else
            text = weft_arena_text(tmp, "%s %*.5g", text, width, x);
    }
    return text;
}

static void print_trials(const weft_summary *summary, weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    struct trial *list = WEFT_NEW(tmp, struct trial, jobs->n);
    const int64_t *likeliest = weft_summary_likeliest(summary, tmp);
    int64_t n = rank_trials(jobs, list);
    printf("\n%-4s %6s %6s %8s %9s %9s%s %9s %6s  %s\n", "best", "trial", "job", "resource",
           "score", "+-", metric_cells(jobs, -1, tmp), "seconds", "p",
           "likeliest configuration");
    for (int64_t i = 0; i < n && i < TOP; i++) {
        int64_t at = list[i].at, arm = likeliest[at];
        printf("%-4lld %6lld %6lld %8g %9s %9s%s %9.2f %6.3f  %s\n", (long long)(i + 1),
               (long long)jobs->trial[at], (long long)jobs->job[at], jobs->resource[at],
               weft_loss_show(jobs->loss[at], 5, tmp),
               weft_loss_show(jobs->bound[at], 5, tmp), metric_cells(jobs, at, tmp),
               jobs->seconds[at], arm < 0 ? 0 : summary->arms.after[arm],
               arm < 0 ? ""
                       : weft_config_brief(
                             weft_summary_config(summary, summary->arms.config[arm]), tmp));
    }
}

/* What programs reported of the best trial: its last number, and some before. */
static void print_reports(const weft_summary *summary, weft_arena *tmp)
{
    enum { MOST = 8 };
    const weft_jobs *jobs = &summary->jobs;
    if (jobs->n == 0) return;
    int64_t trial = jobs->trial[winner_of(jobs)];
    int64_t *row = WEFT_NEW(tmp, int64_t, summary->rounds), n = 0;
    for (int64_t i = 0; i < summary->rounds; i++)
        if (summary->row_trial[i] == trial) row[n++] = i;
    const char *text = "";
    int64_t shown = n < MOST ? n : MOST;
    for (int64_t i = 1; i <= shown; i++) {
        int64_t at = row[i * n / shown - 1];
        text =
            weft_arena_text(tmp, "%s%s%s after %g", text, *text ? ", " : "",
                            weft_loss_show(summary->lost[at], 4, tmp), summary->step[at]);
    }
    printf("reports   %lld; of trial %lld: %s\n", (long long)summary->rounds,
           (long long)trial, *text ? text : "none");
    int64_t full = 0;
    for (int64_t i = 0; i < summary->jobs.n; i++)
        full += summary->jobs.rounds[i] == WEFT_MOST_REPORTS;
    if (full > 0)
        printf(
            "of these  of each of %lld jobs that reported %d times or more the first %d, "
            "and the last\n",
            (long long)full, WEFT_MOST_REPORTS, WEFT_MOST_REPORTS - 1);
}

/* Times of the rounds, and sums over them of what is counted and spent. */
static void print_rounds(const weft_summary *summary, weft_arena *tmp)
{
    if (summary->step && summary->lost) {
        print_reports(summary, tmp);
        return;
    }
    double wall = summary->spent[0] > 0 ? summary->spent[0] : 1;
    printf("rounds    %lld in %.2f s: %.1f %% computing, %.1f %% waiting, %.1f %% in "
           "collectives\n",
           (long long)summary->rounds, summary->spent[0], 100 * summary->spent[1] / wall,
           100 * summary->spent[2] / wall, 100 * summary->spent[3] / wall);
    const char *text = "";
    for (int i = 0; summary->rows[i].name; i++)
        if (summary->rows[i].title && strcmp(summary->rows[i].unit, "count") == 0 &&
            !isnan(summary->row_sum[i]))
            text = weft_arena_text(tmp, "%s%s%.0f %s", text, *text ? ", " : "",
                                   summary->row_sum[i], summary->rows[i].title);
    for (int i = 0; i < WEFT_NSPENDING; i++) {
        double spent = weft_summary_spent(summary, &weft_spendings[i]);
        if (spent > 0)
            text = weft_arena_text(tmp, "%s%s%.4g %s", text, *text ? ", " : "", spent,
                                   weft_spendings[i].title);
    }
    if (*text) printf("in these  %s\n", text);
}

/* What was measured last in the rounds of a job that is not done, without what is counted
 * and spent. */
static void print_last(const weft_summary *summary, weft_arena *tmp)
{
    const char *text = "";
    for (int i = 0; summary->rows[i].name; i++) {
        const char *unit = summary->rows[i].unit;
        double x = summary->row_last[i];
        if ((strcmp(unit, "loss") != 0 && strcmp(unit, "1") != 0) || isnan(x)) continue;
        text = weft_arena_text(tmp, "%s%s%s %s", text, *text ? ", " : "",
                               summary->rows[i].name, weft_loss_show(x, 5, tmp));
    }
    if (*text) printf("last      %s\n", text);
}

/* ---- configurations, each of which was fitted or scored ---- */

/* A line of the list of best configurations. */
struct place {
    int64_t arm;
    int chosen;       /* 1: by the search, as its winner */
    weft_merit merit; /* of the job if that trained only this configuration */
    weft_rank rank;   /* of the configuration in a mixture */
};

/* Fits of single configurations are compared as the scheduler does. Of those of
 * mixtures the winner that the search chose comes first, then those of later mixtures, then
 * those of better rank. */
static int by_merit(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->merit.wins > 0) return -weft_merit_compare(&a->merit, &b->merit);
    if (a->chosen != b->chosen) return b->chosen - a->chosen;
    int64_t job_a = a->merit.rank.id, job_b = b->merit.rank.id;
    if (job_a != job_b) return job_a > job_b ? -1 : 1;
    return weft_rank_compare(&a->rank, &b->rank);
}

/* The merit of a job by its number; job numbers rise in the file. */
static weft_merit merit_of_job(const weft_jobs *jobs, int64_t job)
{
    return merit_of(jobs, weft_last_below(jobs->n, jobs->job, job));
}

/* The jobs of one configuration each, if there are several; else every configuration with
 * its score in the last mixture in which it was scored. */
static int64_t ranking(const weft_summary *summary, struct place *list, weft_arena *tmp)
{
    const weft_arms *arms = &summary->arms;
    int done = !weft_summary_value(summary, "unfinished")->text;
    const weft_value *won = weft_summary_value(summary, "winner_config");
    int64_t winner = done && won->known ? won->whole : -1;
    int64_t n = 0, singles = 0;
    for (int64_t i = 0; i < arms->n; i++) singles += arms->p[i] >= 1;
    char *seen = WEFT_NEW(tmp, char, summary->nconfig);
    for (int64_t i = arms->n - 1; i >= 0; i--) {
        int single = arms->p[i] >= 1;
        char *taken = &seen[weft_summary_place(summary, arms->config[i])];
        if (single != (singles > 1) || *taken || !(arms->p[i] > 0) || !(arms->count[i] > 0))
            continue;
        *taken = 1;
        list[n++] =
            (struct place){.arm = i,
                           .chosen = arms->config[i] == winner,
                           .merit = single ? merit_of_job(&summary->jobs, arms->job[i])
                                           : (weft_merit){.rank.id = arms->job[i]},
                           .rank = weft_arms_rank(arms, i)};
    }
    if (n > 1) qsort(list, (size_t)n, sizeof *list, by_merit);
    return n;
}

/* 1: scores are neither losses nor error rates. */
static int is_scored(const weft_arms *arms)
{
    int other = 0;
    for (int64_t i = 0; i < arms->n; i++)
        other |= (arms->score[i] < arms->loss[i] || arms->score[i] > arms->loss[i]) &&
                 (arms->score[i] < arms->error[i] || arms->score[i] > arms->error[i]);
    return other;
}

static void print_ranking(const weft_summary *summary, weft_arena *tmp)
{
    struct place *list = WEFT_NEW(tmp, struct place, summary->arms.n);
    int64_t n = ranking(summary, list, tmp);
    if (n < 2) return;
    int scored = is_scored(&summary->arms);
    printf("\n%-4s %7s %4s %7s %9s %9s %8s%s  %s\n", "best", "config", "job", "p",
           "samples", "loss", "error %", scored ? "     score" : "", "configuration");
    for (int64_t i = 0; i < n && i < TOP; i++) {
        int64_t a = list[i].arm;
        double error = 100 * summary->arms.error[a];
        printf(
            "%-4lld %7lld %4lld %7.4f %9.0f %9s %8s%s  %s\n", (long long)(i + 1),
            (long long)summary->arms.config[a], (long long)summary->arms.job[a],
            summary->arms.p[a], summary->arms.count[a],
            weft_loss_show(summary->arms.loss[a], 5, tmp),
            isnan(error) ? "-" : weft_arena_text(tmp, "%.3f", error),
            scored ? weft_arena_text(tmp, " %9s",
                                     weft_loss_show(summary->arms.score[a], 5, tmp))
                   : "",
            weft_config_brief(weft_summary_config(summary, summary->arms.config[a]), tmp));
    }
}

/* ---- objectives and limits ---- */

enum { WIDE = 10, SHOWN = 8 }; /* a column, at least; volumes */

/* The last job of each trial, in the order of these jobs: last[n]. */
static int64_t last_jobs(const weft_jobs *jobs, int64_t *last, weft_arena *tmp)
{
    int64_t n = 0, most = 0;
    for (int64_t i = 0; i < jobs->n; i++)
        if (jobs->trial[i] >= most) most = jobs->trial[i] + 1;
    int64_t *of = WEFT_NEW(tmp, int64_t, most);
    for (int64_t i = 0; i < jobs->n; i++) of[jobs->trial[i]] = i;
    for (int64_t i = 0; i < jobs->n; i++)
        if (of[jobs->trial[i]] == i) last[n++] = i;
    return n;
}

/* The last jobs as points to be minimised. */
static weft_point *points_of(const weft_jobs *jobs, int64_t n, const int64_t *last,
                             weft_arena *tmp)
{
    int m = jobs->goals.objectives;
    weft_point *point = WEFT_NEW(tmp, weft_point, n);
    for (int64_t i = 0; i < n; i++) {
        double *x = WEFT_NEW(tmp, double, m);
        for (int g = 0; g < m; g++)
            x[g] = jobs->goals.goal[g].sign * jobs->goal[g][last[i]];
        point[i] = (weft_point){last[i], jobs->excess[last[i]], x};
    }
    return point;
}

static void print_limits(const weft_jobs *jobs, int64_t n, const int64_t *last)
{
    const weft_goals *goals = &jobs->goals;
    int64_t within = 0;
    const char *between = "limits    ";
    for (int64_t i = 0; i < n; i++) within += !(jobs->excess[last[i]] > 0);
    for (int g = 0; g < goals->n; g++) {
        if (goals->goal[g].side == 0) continue;
        printf("%s%s %s %g", between, goals->goal[g].name,
               goals->goal[g].side > 0 ? "<=" : ">=", goals->goal[g].limit);
        between = ", ";
    }
    if (*between == ',')
        printf(": %lld of %lld trials are within\n", (long long)within, (long long)n);
}

static int goal_width(const weft_goal *goal)
{
    int n = (int)strlen(goal->name);
    return n > WIDE ? n : WIDE;
}

/* The configuration of a job of one; "": it has none. */
static const char *config_of(const weft_summary *summary, int64_t at, weft_arena *tmp)
{
    int64_t arm = weft_summary_likeliest(summary, tmp)[at];
    if (arm < 0) return "";
    return weft_config_brief(weft_summary_config(summary, summary->arms.config[arm]), tmp);
}

/* The front, by the first objective. point[n] is sorted. */
static void print_front(const weft_summary *summary, int64_t n, const weft_point *point,
                        weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    weft_rank *order = WEFT_NEW(tmp, weft_rank, n);
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++)
        if (jobs->front[point[i].id])
            order[size++] = weft_rank_of(point[i].x[0], point[i].x[1], point[i].id);
    if (size > 0) qsort(order, (size_t)size, sizeof *order, weft_rank_compare);
    printf("\n%-5s %6s %8s", "front", "trial", "resource");
    for (int g = 0; g < jobs->goals.objectives; g++)
        printf(" %*s", goal_width(&jobs->goals.goal[g]), jobs->goals.goal[g].name);
    printf("  configuration\n");
    for (int64_t i = 0; i < size; i++) {
        int64_t at = order[i].id;
        printf("%-5lld %6lld %8g", (long long)(i + 1), (long long)jobs->trial[at],
               jobs->resource[at]);
        for (int g = 0; g < jobs->goals.objectives; g++)
            printf(" %*.5g", goal_width(&jobs->goals.goal[g]), jobs->goal[g][at]);
        printf("  %s\n", config_of(summary, at, tmp));
    }
    if (size == 0) printf("none: no trial is within the limits\n");
}

/* The volume after some of the trials, in the order of their last jobs. */
static void print_volume(const weft_jobs *jobs, int64_t n, const weft_point *point,
                         weft_arena *tmp)
{
    int m = jobs->goals.objectives;
    double *worst = WEFT_NEW(tmp, double, m);
    for (int g = 0; g < m; g++) worst[g] = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int g = 0; g < m && !(point[i].excess > 0); g++)
            worst[g] = fmax(worst[g], point[i].x[g]);
    if (!isfinite(worst[0])) return;
    printf("volume    ");
    for (int64_t k = 1, told = 0; k <= SHOWN; k++) {
        int64_t some = k * n / SHOWN;
        if (some == told) continue;
        printf("%s%.5g after %lld", told > 0 ? ", " : "",
               weft_front_volume(some, point, m, worst), (long long)some);
        told = some;
    }
    printf(" trials; up to the worst within the limits,");
    for (int g = 0; g < m; g++)
        printf(" %s %.5g", jobs->goals.goal[g].name, jobs->goals.goal[g].sign * worst[g]);
    printf("\n");
}

/* Prints how many trials are within the limits, the front as a table, and the volume that
 * it dominates as trials came; nothing of a run without objectives and limits. */
static void print_goals(const weft_summary *summary, weft_arena *tmp)
{
    const weft_jobs *jobs = &summary->jobs;
    if (jobs->goals.n == 0 || jobs->n == 0) return;
    int64_t *last = WEFT_NEW(tmp, int64_t, jobs->n);
    int64_t n = last_jobs(jobs, last, tmp);
    if (jobs->goals.objectives > 0) {
        const weft_point *point = points_of(jobs, n, last, tmp);
        print_front(summary, n, point, tmp);
        print_volume(jobs, n, point, tmp);
    } else {
        printf("\n");
    }
    print_limits(jobs, n, last);
}

/* ---- the whole ---- */

static void print_times(const weft_summary *summary)
{
    double search = number_of(summary, "search_seconds");
    double refit = number_of(summary, "refit_seconds");
    printf("\nseconds: set-up %.2f, search %.2f", number_of(summary, "setup_seconds"),
           search);
    if (refit > 0) printf(" (%.2f without the refit)", search - refit);
    printf(", test %.2f; in all %.2f\n", number_of(summary, "test_seconds"),
           number_of(summary, "seconds"));
    const long long starts = whole_of(summary, "starts");
    printf("%-9s %10s %10s %10s   over %lld ranks", "where", "min", "mean", "max",
           whole_of(summary, "ranks"));
    if (starts > 1) printf(", of the last of %lld starts", starts);
    printf("\n");
    for (int i = 0; i < WEFT_NTIME; i++) {
        double unit = strcmp(weft_time_units[i], "GB") == 0 ? 1e9 : 1;
        printf("%-9s %10.3f %10.3f %10.3f   %s\n", weft_time_names[i],
               summary->times[i][0] / unit, summary->times[i][1] / unit,
               summary->times[i][2] / unit, weft_time_units[i]);
    }
}

/* 1 if the jobs of the run were done elsewhere, several at once. */
static int were_elsewhere(const weft_summary *summary)
{
    for (int i = 0; weft_tasks[i]; i++)
        if (strcmp(weft_tasks[i]->kind.name, text_of(summary, "task")) == 0)
            return weft_tasks[i]->remote.trade != NULL;
    return 0;
}

static void print_timeline(const weft_summary *summary)
{
    double share = number_of(summary, "utilisation");
    double busy = number_of(summary, "team_utilisation");
    const long long teams = whole_of(summary, "teams");
    const long long most = whole_of(summary, "most_teams");
    printf(
        "workers   %lld simulated for %.6g virtual seconds, %.1f %% busy; %lld team%s of "
        "ranks",
        whole_of(summary, "workers"), number_of(summary, "makespan"), 100 * share, teams,
        teams == 1 ? "" : "s");
    if (most > teams) printf(", %lld at most", most);
    if (were_elsewhere(summary))
        printf(", %.1f jobs at once elsewhere\n", busy);
    else
        printf(", %.1f %% busy\n", 100 * busy);
}

/* The number of its configuration in the space, or in /configs if the tuner made it. */
static void print_winner(const weft_summary *summary)
{
    const char *text = text_of(summary, "winner"), *none = text_of(summary, "no_winner");
    printf("winner    ");
    if (*none) {
        printf("none: %s\n", none);
        return;
    }
    if (summary->rounds > 0)
        printf("trial %lld, configuration ", whole_of(summary, "winner_trial"));
    printf("%lld: %s\n", whole_of(summary, "winner_config"),
           *text ? text : "the settings of the input file");
    const weft_value *refitted = weft_summary_value(summary, "refitted");
    if (refitted->known)
        printf("refit     trained once more, on the %lld rows of train and valid\n",
               (long long)refitted->whole);
    const char *measure = text_of(summary, "measure");
    if (*measure) printf("measure   %s\n", measure);
}

static void print_optimum(const weft_summary *summary)
{
    double best = number_of(summary, "optimum");
    if (isnan(best)) return;
    printf("optimum   %.8g in the space", best);
    if (!*text_of(summary, "no_winner"))
        printf(": regret of the winner %.3g", summary->score[WEFT_VALID].metric[0] - best);
    printf("\n");
}

static void print_clients(const weft_summary *summary)
{
    static const char *const key[] = {"clients_best_error", "clients_median_error",
                                      "clients_worst_error", "clients_std_error"};
    double x[4];
    for (int i = 0; i < 4; i++) x[i] = 100 * weft_summary_value(summary, key[i])->number;
    if (isnan(x[0])) return;
    printf(
        "clients   error of the best tenth %.3f %%, median %.3f %%, worst tenth %.3f %%; "
        "standard deviation %.3f points\n",
        x[0], x[1], x[2], x[3]);
}

static void print_privacy(const weft_summary *summary)
{
    if (!weft_summary_value(summary, "privacy_epsilon")->known) return;
    printf("privacy   epsilon %.4g at delta %.3g by client; weights alone %.4g, scores "
           "alone %.4g; sampling %s, noise %.4g, score_noise %.4g\n",
           number_of(summary, "privacy_epsilon"), number_of(summary, "privacy_delta"),
           number_of(summary, "privacy_epsilon_weights"),
           number_of(summary, "privacy_epsilon_scores"),
           text_of(summary, "privacy_sampling"), number_of(summary, "privacy_noise"),
           number_of(summary, "privacy_score_noise"));
}

static void print_kept(const weft_summary *summary)
{
    double bytes = number_of(summary, "kept_bytes");
    if (isnan(bytes)) return;
    printf("kept      %lld numbers of each of %lld clients, %.4g MB on disk\n",
           whole_of(summary, "kept_numbers"), whole_of(summary, "kept_clients"),
           bytes / 1e6);
}

/* ", sampler tpe, mixing fedex": those that are not the default. */
static const char *beside(const char *sampler, const char *mixing, weft_arena *tmp)
{
    int own = strcmp(sampler, "space") != 0, moves = strcmp(mixing, "none") != 0;
    return weft_arena_text(tmp, "%s%s%s%s", own ? ", sampler " : "", own ? sampler : "",
                           moves ? ", mixing " : "", moves ? mixing : "");
}

static void print_jobs(const weft_summary *summary, weft_arena *tmp)
{
    const char *verdict = weft_importance_verdict(summary, tmp);
    if (verdict) printf("matters   %s\n", verdict);
    if (summary->rounds > 0)
        print_trials(summary, tmp);
    else
        print_ranking(summary, tmp);
}

static void print_search(const weft_summary *summary, weft_arena *tmp)
{
    const char *unfinished = weft_summary_value(summary, "unfinished")->text;
    printf("run       %s\n", summary->path);
    printf("task      %s, tuner %s%s, seed %lld, %s%lld jobs\n", text_of(summary, "task"),
           text_of(summary, "tuner"),
           beside(text_of(summary, "sampler"), text_of(summary, "mixing"), tmp),
           whole_of(summary, "seed"),
           unfinished ? ""
                      : weft_arena_text(tmp, "%lld configurations, ",
                                        whole_of(summary, "configs")),
           whole_of(summary, "jobs"));
    if (*text_of(summary, "data"))
        printf("data      %s (%s)\n", text_of(summary, "data"),
               text_of(summary, "data_digest"));
}

static void print_unfinished(const weft_summary *summary, weft_arena *tmp)
{
    printf("unfinished: %s\n", text_of(summary, "unfinished"));
    if (summary->rounds > 0) print_last(summary, tmp);
    if (summary->jobs.n > 0) print_jobs(summary, tmp);
    print_goals(summary, tmp);
    print_timeline(summary);
    if (summary->rounds > 0) print_rounds(summary, tmp);
}

static void print_finished(const weft_summary *summary, weft_arena *tmp)
{
    printf("ranks     %lld on %s; OpenBLAS %s, kernel %s, weft %s, %s\n",
           whole_of(summary, "ranks"), text_of(summary, "hosts"), text_of(summary, "blas"),
           text_of(summary, "kernel"), text_of(summary, "version"),
           text_of(summary, "real"));
    print_winner(summary);
    print_score(summary, WEFT_VALID, tmp);
    print_score(summary, WEFT_TEST, tmp);
    print_clients(summary);
    print_kept(summary);
    print_privacy(summary);
    print_optimum(summary);
    print_lower(summary, tmp);
    const char *guess = weft_confusion_guess(&summary->confusion, tmp);
    if (guess) printf("guesses   %s\n", guess);
    weft_confusion_print(&summary->confusion);
    print_jobs(summary, tmp);
    print_goals(summary, tmp);
    print_times(summary);
    print_timeline(summary);
    if (summary->rounds > 0) print_rounds(summary, tmp);
    printf("digest    %s\n", text_of(summary, "digest"));
}

static void print_run(const weft_summary *summary, weft_arena *tmp)
{
    print_search(summary, tmp);
    if (weft_summary_value(summary, "unfinished")->text)
        print_unfinished(summary, tmp);
    else
        print_finished(summary, tmp);
}

/* Prints what was read of the runs. */
static weft_status print(const weft_summary *summary, int n, weft_style style, int trials,
                         weft_arena *tmp)
{
    weft_methods methods;
    if (trials) return weft_trials_print(summary, n, style == WEFT_JSON, tmp);
    TRY(weft_methods_find(summary, n, &methods, tmp));
    if (style == WEFT_JSON)
        weft_report_json(summary, n, &methods);
    else if (style == WEFT_CSV)
        weft_report_csv(summary, n, &methods, tmp);
    else if (n == 1)
        print_run(summary, tmp);
    else
        weft_report_comparison(summary, n, &methods, tmp);
    return WEFT_OK;
}

weft_status weft_report(const char *const *run, int n, weft_style style, int trials)
{
    WEFT_SCRATCH(mem);
    weft_summary *summary = WEFT_NEW(mem, weft_summary, n);
    weft_status st = WEFT_OK;
    for (int i = 0; i < n && st == WEFT_OK; i++)
        st = weft_summary_read(&summary[i], run[i], mem);
    if (st == WEFT_OK) st = print(summary, n, style, trials, mem);
    return st;
}

/* What `weft report` tells of objectives and limits: how many trials are within them, the
 * front, and the volume that it dominates. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int width_of(const weft_goal *goal)
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
        printf(" %*s", width_of(&jobs->goals.goal[g]), jobs->goals.goal[g].name);
    printf("  configuration\n");
    for (int64_t i = 0; i < size; i++) {
        int64_t at = order[i].id;
        printf("%-5lld %6lld %8g", (long long)(i + 1), (long long)jobs->trial[at],
               jobs->resource[at]);
        for (int g = 0; g < jobs->goals.objectives; g++)
            printf(" %*.5g", width_of(&jobs->goals.goal[g]), jobs->goal[g][at]);
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

void weft_front_print(const weft_summary *summary, weft_arena *tmp)
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

/* What a search by a Gaussian process learns from: of many results the best, the newest and
 * draws of the others; trials without a result, each once. RUN: np=1 */
#include "functions.h"
#include "sampler/process.h"

/* A gp of `results` trials, the loss of each its number, and of `flying` more in flight. */
static weft_process *gp_of(int results, int flying)
{
    struct minimizer *minimizer =
        minimizer_new("x0 = 0 .. 1\nx1 = 0 .. 1\n", "[run]\nsampler = gp\n", 9999, 1);
    for (int i = 0; i < results + flying; i++) {
        double at[2] = {uniform_of(8, i, 0), uniform_of(8, i, 1)};
        sampler_sees(minimizer, i, at, i < results ? (double)i : (double)NAN);
    }
    return minimizer->search.sampler_self;
}

static void learn(weft_process *process)
{
    weft_process_learn(process, weft_past_highest(&process->past, 10), 0);
}

/* How many of its points from `begin` to before `end` are of trials first .. last - 1. */
static int points_of(const weft_process *process, int64_t begin, int64_t end, int first,
                     int last)
{
    int n = 0;
    for (int64_t i = begin; i < end; i++)
        n += process->point[i].trial >= first && process->point[i].trial < last;
    return n;
}

/* 1: no trial is at two of its points. */
static int has_each_once(const weft_process *process)
{
    for (int64_t i = 0; i < process->npoint; i++)
        for (int64_t j = 0; j < i; j++)
            if (process->point[i].trial == process->point[j].trial) return 0;
    return 1;
}

/* Of 1,100: 450 best, 225 newest, 225 others. */
static void test_chosen(void)
{
    weft_process *at = gp_of(1100, 0), *later = gp_of(1150, 0);
    learn(at);
    learn(later);
    ok(at->known == 900 && at->npoint == 900, "of 1,100 results 900 are chosen: %d",
       (int)at->known);
    ok(points_of(at, 0, 900, 0, 450) == 450, "the 450 best of them");
    ok(points_of(at, 0, 900, 875, 1100) == 225, "the 225 newest");
    int early = points_of(at, 0, 900, 450, 662), late = points_of(at, 0, 900, 662, 875);
    ok(early + late == 225 && abs(early - late) < 60, "and draws of the others: %d and %d",
       early, late);
    ok(later->known == 950 &&
           memcmp(later->point, at->point, 900 * sizeof *at->point) == 0 &&
           points_of(later, 900, 950, 1100, 1150) == 50,
       "50 more are added to these");
}

static void test_most(void)
{
    static const int results[] = {1000, 1001, 1099, 1199};
    static const int known[] = {1000, 901, 999, 999};
    for (int i = 0; i < (int)LEN(results); i++) {
        weft_process *process = gp_of(results[i], 250);
        learn(process);
        ok(process->known == known[i], "of %d results %d are chosen: %d", results[i],
           known[i], (int)process->known);
        ok(process->npoint == known[i] + 200 &&
               points_of(process, known[i], known[i] + 200, results[i] + 50,
                         results[i] + 250) == 200,
           "of 250 in flight the last 200 are believed");
        ok(has_each_once(process), "no trial counts twice");
    }
}

/* Of few results, and with so many in flight that a choice serves several proposals: 600
 * make 18 of them, with less than a third of 1,000 results, and a third of 200 believed. */
static void test_crowd(void)
{
    weft_process *few = gp_of(12, 3), *crowd = gp_of(400, 600);
    learn(few);
    ok(few->known == 12 && few->npoint == 15 && has_each_once(few) &&
           points_of(few, 12, 15, 12, 15) == 3,
       "12 results and 3 in flight are 15 points");
    learn(crowd);
    ok(crowd->known == 332 && crowd->npoint == 332 + 66 && has_each_once(crowd),
       "with 600 in flight 332 of 400 results are chosen, and 66 believed: %d, %d",
       (int)crowd->known, (int)crowd->npoint);
    for (int i = 0; i < 17; i++) {
        double at[2] = {uniform_of(9, i, 0), uniform_of(9, i, 1)};
        weft_past_pending(crowd, 1000 + i, at, 1);
        learn(crowd);
    }
    ok(crowd->npoint == 332 + 66 + 17 && has_each_once(crowd),
       "17 more are added to these");
}

MAIN(alone, test_chosen, test_most, test_crowd)

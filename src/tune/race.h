/* What tuners have in common whose trials, each with weights of its own, run side by side:
 * all train up to the end of a rung, the best of them go on to the next. Without
 * eliminations there is one rung: random search. */
#ifndef WEFT_TUNE_RACE_H
#define WEFT_TUNE_RACE_H

#include "weft/tune.h"

#define WEFT_MOST_RUNGS 31

typedef struct weft_racer {
    int64_t done; /* resource asked for so far */
    double loss;  /* told last */
    int jobs;     /* asked so far */
    int out;      /* 1: eliminated */
    int open;     /* 1: a job is asked and not told yet */
} weft_racer;

typedef struct weft_race {
    /* options, WEFT_RACE_OPTS */
    int rate, eliminations, best;
    int64_t most, total, every;
    /* set by weft_race_setup */
    int n;                             /* trials; trial i is configuration i of the space */
    int64_t until[WEFT_MOST_RUNGS];    /* resource of a trial at the end of each rung */
    int64_t survivor[WEFT_MOST_RUNGS]; /* trials of each rung */
    int rung;
    int unasked, untold; /* trials of the rung whose last job in it was not asked, told */
    int next;            /* those before it are open, out or at the end of the rung */
    weft_racer *racer;   /* [n] */
} weft_race;

/* The options, for the table of a tuner whose instance has a member `race`. */
#define WEFT_RACE_OPT(type, name, kind, at, def, lo, hi, words, about)                     \
    {                                                                                      \
        name, kind, offsetof(type, race.at), def, lo, hi, words, about, 0                  \
    }
#define WEFT_RACE_OPTS(type)                                                               \
    WEFT_RACE_OPT(type, "rate", WEFT_INT, rate, "3", 2, 1000, NULL,                        \
                  "one of so many trials survives an elimination"),                        \
        WEFT_RACE_OPT(type, "eliminations", WEFT_INT, eliminations, "-1", -1,              \
                      WEFT_MOST_RUNGS - 1, NULL,                                           \
                      "number of them; 0: random search; -1: 3, or as many as the "        \
                      "configurations allow"),                                             \
        WEFT_RACE_OPT(type, "most", WEFT_LONG, most, "800", 1, 1e9, NULL,                  \
                      "resource of the last survivors, in the task's unit: rounds"),       \
        WEFT_RACE_OPT(type, "total", WEFT_LONG, total, "0", 0, 1e12, NULL,                 \
                      "resource of all trials together; 0: 5 most, as published, or "      \
                      "what makes all rungs equally long, if that is less"),               \
        WEFT_RACE_OPT(type, "every", WEFT_LONG, every, "0", 0, 1e9, NULL,                  \
                      "resource of a job; 0: up to the next elimination"),                 \
        WEFT_RACE_OPT(type, "winner", WEFT_CHOICE, best, "last", 0, 0, "last|best",        \
                      "best of the last survivors, or lowest score of any job")

/* Plans the rungs for `count` configurations: with eliminations all of them take part, else
 * the first total / most. With s_i trials in rung i = 0 .. e, s_i = floor(count / rate^i),
 * and r_i more resource in it, sum r_i = most, what is spent is
 *     s_e most + sum over i < e of (s_i - s_e) r_i  <=  total:
 * all r_i but the last get the same, and what is left goes to the first rungs that can
 * still use it. Where total is 0 it is 5 most, or s_e most + sum (s_i - s_e) r with the
 * r = most / (e + 1) of equal rungs if that is less, but at least what r_i = 1 takes. ECONF
 * where that is not possible. Local. */
WEFT_CHECKED weft_status weft_race_setup(weft_race *r, const char *tuner, int64_t count,
                                         weft_arena *mem);
/* Fills the next job but for rule and mixture; its trial is the configuration. Local. */
weft_asked weft_race_ask(weft_race *r, weft_job *job);
/* Enters a loss; after the last of a rung eliminates by (loss, trial), NaN last. Local. */
void weft_race_tell(weft_race *r, const weft_result *res);
/* 1: the trial is eliminated. Local. */
int weft_race_ended(const weft_race *r, int64_t trial);
/* Jobs in all. Local. */
int64_t weft_race_jobs(const weft_race *r);

#endif

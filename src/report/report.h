/* The contents of a run file for `weft report`, and the ways in which they are printed. */
#ifndef WEFT_REPORT_ROOM_H
#define WEFT_REPORT_ROOM_H

#include "result/result.h"
#include "weft/data/data.h"

/* ---- clients.c: the classes of clients ---- */

/* Training samples of each class, of some clients spread evenly over all. */
typedef struct weft_histograms {
    int64_t clients; /* that were read */
    int n;           /* classes */
    int64_t *count;  /* [clients][n] */
    int64_t *all;    /* [n] */
} weft_histograms;
/* The clients of a federation, or those that documents belong to; NULL: there are none. */
const weft_clients *weft_clients_of(const weft_data *data);
/* Reads those of at most so many clients, fewer if they are large. Owned by data->mem.
 * EFILE, EDATA. Cost O(their samples). */
WEFT_CHECKED weft_status weft_histograms_read(const weft_data *data, int64_t most,
                                              weft_histograms *histograms);

/* ---- runs ---- */

/* One fact of a run: an attribute of its file. */
typedef struct weft_fact {
    const char *name;
    enum { TEXT, WHOLE, NUMBER } type;
    const char *object; /* that has the attribute; NULL: the file */
    const char *key;    /* of the attribute; NULL: the name */
    const char *title;  /* in the comparison; NULL: not shown there */
} weft_fact;
enum { WEFT_NFACT = 57 };
extern const weft_fact weft_facts[WEFT_NFACT];

/* What was read of one fact; a number that the run does not have is NAN. */
typedef struct weft_value {
    int known; /* 1: the run has it */
    const char *text;
    int64_t whole;
    double number;
} weft_value;

/* The jobs, in the order of the file. */
typedef struct weft_jobs {
    int64_t n;
    int64_t *job, *trial, *rounds, *wins; /* [n] */
    int64_t *last; /* [n] 1: its trial could have no other after it; NULL: an older version
                      of weft did not write it */
    double *resource, *loss, *bound, *seconds; /* [n] */
    const weft_metric *metrics;
    double *metric[WEFT_MAX_METRICS]; /* [metrics][n] */
    int64_t nprinted;
    const char **printed; /* [nprinted] names of numbers that programs printed */
    double **number;      /* [nprinted][n] */
    weft_goals goals;     /* n = 0: no objectives and no limits */
    double *goal[WEFT_MAX_GOALS], *excess; /* [n] as measured */
    int64_t *front;                        /* [n] 1: on the front; NULL: no objectives */
} weft_jobs;

/* The arms of all jobs, in the order of the file. */
typedef struct weft_arms {
    int64_t n;
    int64_t *job, *config;                            /* [n] */
    double *p, *after, *loss, *error, *score, *count; /* score: loss or error */
} weft_arms;

typedef struct weft_summary {
    const char *path;
    const char *config; /* the input file */
    weft_value value[WEFT_NFACT];
    double times[WEFT_NTIME][3];
    weft_jobs jobs;
    weft_arms arms;
    int64_t rounds;  /* of all jobs */
    double spent[4]; /* their seconds: wall, compute, wait, comm */
    const weft_metric *rows;
    double row_sum[WEFT_MAX_METRICS];  /* [rows] over the rounds */
    double row_last[WEFT_MAX_METRICS]; /* [rows] last number of the last job; NAN: none */
    int64_t *row_trial;                /* [rounds] */
    double *step, *lost; /* [rounds] columns of reports of programs; NULL: there are none */
    const weft_metric *scores;
    weft_scores score[WEFT_NPART]; /* of the winner, without counts */
    weft_confusion confusion;
    int64_t nconfig;
    int64_t *id;       /* [nconfig] */
    const char **text; /* [nconfig] */
    int64_t dim;
    const char **axis, **type; /* [dim] names and types; type NULL: not written either */
    double *conf;              /* [nconfig][dim] */
} weft_summary;

extern const char *const weft_time_names[WEFT_NTIME], *const weft_time_units[WEFT_NTIME];

/* Reads a run file, or the journals of an unfinished run. EFILE. Owned by mem. */
WEFT_CHECKED weft_status weft_summary_read(weft_summary *summary, const char *path,
                                           weft_arena *mem);
/* The fact of that name. */
const weft_value *weft_summary_value(const weft_summary *summary, const char *name);
/* Index of the last of x[n], increasing, that is at most `most`; 0 if there is none. */
int64_t weft_last_below(int64_t n, const int64_t *x, int64_t most);
/* Index of configuration id among those of the file, which are in rising order. */
int64_t weft_summary_place(const weft_summary *summary, int64_t id);
/* The configuration as people write it. */
const char *weft_summary_config(const weft_summary *summary, int64_t id);
/* A configuration for tables: numbers to four digits where that is shorter. */
const char *weft_config_brief(const char *text, weft_arena *tmp);

/* The rank of arm i in its mixture. */
weft_rank weft_arms_rank(const weft_arms *arms, int64_t i);
/* The likeliest arm of each job's mixture after it, of equally likely ones the best, as
 * weft_winner_arm has it; -1: none. [jobs] Owned by mem. Cost O(arms log jobs). */
const int64_t *weft_summary_likeliest(const weft_summary *summary, weft_arena *mem);

/* The score of that name, of a part; NAN where the run has none. */
double weft_summary_score(const weft_summary *summary, int part, const char *name);
/* The scores that any of s[n] has, as a table. Owned by mem. */
const weft_metric *weft_summary_scores(const weft_summary *summary, int n, weft_arena *mem);

/* What the rounds of a run cost in all, such as bytes: columns of this unit are summed, and
 * shown by the scale. */
typedef struct weft_spending {
    const char *unit, *title;
    double scale;
} weft_spending;
enum { WEFT_NSPENDING = 3 };
extern const weft_spending weft_spendings[WEFT_NSPENDING];
/* That sum, scaled; 0 where the run has no column of the unit. */
double weft_summary_spent(const weft_summary *summary, const weft_spending *spending);

/* The methods of a comparison: runs that differ in nothing but seed, names of files and
 * limits are of one. */
typedef struct weft_methods {
    int n;   /* 0: the runs are of several tasks */
    int *of; /* [runs] methods are numbered in the order of their first runs */
    const char **settings; /* [n] "client.mu=0.1 server.optimizer=adam": the options in
                              which methods differ, without those that are not set */
} weft_methods;
/* The settings of a run; "" where methods are not told. */
const char *weft_methods_settings(const weft_methods *methods, int run);
/* The methods of s[n]. ECONF. Owned by mem. Cost O(n options). */
WEFT_CHECKED weft_status weft_methods_find(const weft_summary *summary, int n,
                                           weft_methods *methods, weft_arena *mem);
/* The runs s[n] to stdout: as comma-separated values, a line of names and one for each run,
 * numbers in full precision, empty where there is none; as JSON, an array with an object
 * for each. */
void weft_report_csv(const weft_summary *summary, int n, const weft_methods *methods,
                     weft_arena *tmp);
void weft_report_json(const weft_summary *summary, int n, const weft_methods *methods);

/* The trials of the runs s[n] to stdout, likewise: one line or object for each trial.
 * EFILE: a run of an older version. */
WEFT_CHECKED weft_status weft_trials_print(const weft_summary *summary, int n, int json,
                                           weft_arena *tmp);

/* A value of axis a to stdout as CSV has it: words by name; nothing where it is NAN. */
void weft_csv_value(const weft_summary *summary, int64_t a, double x, weft_arena *tmp);

/* "0.82 of the variance of the loss is client.lr (...)", or what the first two axes have
 * if neither is ahead, by the shares of weft_importance_print; NULL where these say
 * nothing: fewer than two axes or 20 results, or a forest that explains none. Owned by mem.
 * Cost O(trees axes n log n), n results, at most 2048. */
const char *weft_importance_verdict(const weft_summary *summary, weft_arena *mem);

/* The runs as a table for people. */
void weft_report_comparison(const weft_summary *summary, int n, const weft_methods *methods,
                            weft_arena *tmp);

#endif

/* Jobs and results, which tuners and tasks exchange, what tasks measure, and the records of
 * jobs that are done. No MPI. All functions are local. */
#ifndef LIBWEFT_SPACE_JOB_H
#define LIBWEFT_SPACE_JOB_H

#include "weft/space/mix.h"

/* ---- job and result ---- */

/* May the trial of a job win the run? */
typedef enum weft_eligibility {
    WEFT_WINS_LAST,     /* only if no other job can win; then the last such job wins */
    WEFT_WINS_RESOURCE, /* compared by resource (more is better), then by loss */
    WEFT_WINS_LOSS      /* compared by loss only */
} weft_eligibility;

/* "Train the weights of this trial further, each sample drawing from mix." */
typedef struct weft_job {
    int64_t id;    /* 0, 1, 2 ... in the order asked */
    int64_t trial; /* whose weights are trained */
    int64_t from;  /* trial whose weights a new trial copies; -1: none, it starts from
                      initial weights */
    int index; /* 0, 1 ... among this trial's jobs; part of the key of the samples' draws */
    double resource; /* to add, in the task's unit: fits of fmap, rounds of fed. 0: only
                        score */
    double feature_fraction; /* 0 < it <= 1: share of the full number of features */
    int last;                /* 1: no later job continues or copies this trial */
    weft_eligibility eligibility;
    weft_mix_update update; /* how the task changes the mixture every round; all zero: it
                               stays the same */
    weft_mix mix;           /* borrowed from the tuner until its next ask or tell */
} weft_job;

/* A job with the usual values: not a copy, the first of its trial, with all features, not
 * the last of its trial, eligible by resource, with a constant mixture. A tuner sets only
 * the members that differ. mix: borrowed; NULL: the mixing makes it. */
weft_job weft_job_new(int64_t trial, double resource, const weft_mix *mix);

/* ---- what a task measures ---- */

/* A quantity that a task measures: a column of the run file. Tables end with a row whose
 * name is NULL; a table that is NULL is empty. */
typedef struct weft_metric {
    const char *name; /* of the column, for programs that read the file */
    const char *about, *unit;
    const char *title; /* heading in progress lines and reports; if its last character is %,
                          they show 100 times the number. NULL: they do not show it */
} weft_metric;
#define WEFT_MAX_METRICS 32 /* of a table */

int weft_metrics_count(const weft_metric *table);
/* Index of the name in the table; -1: it is not there. */
int weft_metrics_find(const weft_metric *table, const char *name);
/* Converts a table to a text and back: one line per metric, of name, unit, title and about
 * with TABs between them. Owned by mem. */
const char *weft_metrics_text(const weft_metric *table, weft_arena *mem);
const weft_metric *weft_metrics_parse(const char *text, weft_arena *mem);
/* The next field of a line of fields with TABs between them, owned by mem; *at moves behind
 * it and its TAB. weft_line_skip moves *at behind the line. */
const char *weft_field_next(const char **at, weft_arena *mem);
void weft_line_skip(const char **at);
/* 1 if its title ends with %. */
int weft_metric_is_share(const weft_metric *metric);
/* "0.50000", a loss with that many decimals; where they do not show it, below 0.001 or from
 * 1e6 on, "1.234e-07" with one significant digit less. Owned by mem. */
const char *weft_loss_show(double x, int decimals, weft_arena *mem);
/* "error 12.340 %", "loss 0.500000", of a metric that has a title. Owned by mem. */
const char *weft_metric_show(const weft_metric *metric, double x, weft_arena *mem);

/* How a job failed. */
typedef enum weft_failure {
    WEFT_SUCCEEDED,
    WEFT_CRASHED,    /* it was begun */
    WEFT_NOT_STARTED /* it could not even be begun */
} weft_failure;

/* Real seconds of a unit: means over the ranks of the team. */
typedef struct weft_spent {
    double wall, compute, wait, comm;
} weft_spent;

/* What a search minimises, and what it limits: space/goals.h. */
typedef struct weft_aims {
    int n;         /* 0: the loss alone */
    double *x;     /* [n] borrowed for the life of the run: objectives, all to be minimised,
                      then what has only a limit */
    double excess; /* sum over the limits of how much of it a number is beyond; 0: none */
} weft_aims;

/* The result of a job. Sums are exact, and therefore equal on any number of ranks. */
typedef struct weft_result {
    int64_t job, trial;
    double resource; /* of the trial in all */
    double loss;     /* what tuners minimise: mean over the validation samples of the score
                        asked for, under the mixture; INFINITY when diverged. A task may
                        set NaN: the scheduler replaces it by INFINITY when the job ends, so
                        that searches, journals and run files have none */
    double bound; /* half the width of the 95 % interval of the loss; 0: it is exact; NAN:
                     not known */
    double cost;  /* virtual seconds if the task has a model of time, else the resource of
                     the job, or what it used of it */
    int by_error; /* 1: loss above and weft_result_score are error rates. 0: the latter is a
                     mean loss, and loss above as well or what the task makes of errors */
    int noised; /* 1: the loss has noise, drawn anew for each job, of which the bound above
                   tells; 0: what jobs are scored on is the same, and they are paired */
    int k, nmetric;
    double *metric;    /* [nmetric] by the task's table; NAN: not measured */
    double *arm_loss;  /* [k] sum of losses over the validation samples given to each */
    double *arm_wrong; /* [k] number of wrong answers */
    double *arm_count; /* [k] number of samples; 0 where not scored */
    double *arm_score; /* [k] scores that are neither mean loss nor error rate; else NAN */
    double *logp;      /* [k] log-probabilities after the last unit done; equal to the job's
                          if the mixture does not change */
    weft_aims aims;    /* set by the scheduler when the job ends */
    /* "name=number name=number ...": measurements whose names are not in the task's table,
     * which are only written to the run file and are not part of the digest. NULL: none.
     * Borrowed for the life of the run. */
    const char *note;
    /* Not recorded: how the job failed for a reason that may lie in the place where it was
     * done, as programs do that crash; its loss is then INFINITY. */
    weft_failure failure;
    const char *why;   /* on the first rank, where it failed; borrowed until the next job */
    int64_t nrow;      /* likewise: rows of a job without units, for its record */
    const double *row; /* [nrow][columns] */
    const weft_spent *spent; /* [nrow] */
} weft_result;

/* Mean score of configuration i, lower is better; NAN: none of its samples was scored. */
double weft_result_score(const weft_result *res, int i);
/* The mean validation loss of the job, the first metric of every task, which decides
 * between jobs of equal res->loss; NAN if it was not measured. As exact as res->loss. */
double weft_result_tie(const weft_result *res);
/* The rank of the job, with its trial as id; that of configuration i among those of the
 * mixture, with i as id. */
weft_rank weft_result_rank(const weft_result *res);
weft_rank weft_result_rank_of(const weft_result *res, int i);
/* 1: an error rate that is less than that of guesses by at most 1.96 of their standard
 * errors, or two points; guess = 0: not known. */
int weft_result_guesses(const weft_result *res, double guess);
/* A result with sums 0 and metrics NAN, owned by mem. */
weft_result weft_result_new(int k, int nmetric, weft_arena *mem);
/* The same without metrics, of zeros arm[WEFT_ARM_COLUMNS][k] that the caller owns. */
weft_result weft_result_in(int k, double *arm);
#define WEFT_ARM_COLUMNS 5 /* arm_loss, arm_wrong, arm_count, arm_score, logp */
/* Prepares the result for the first unit of a job of res->k configurations: sets the sums
 * to 0 and the log-probabilities to the job's. */
void weft_result_begin(weft_result *res, const weft_job *job);

/* ---- jobs that are done ---- */

/* State after a job: in memory, and written only if the run stops before its end. */
enum { WEFT_HELD = 2 };

/* A job with its result, and when and where it was done. */
typedef struct weft_job_record {
    weft_job job; /* with its own mixture */
    weft_result res;
    int64_t parent;    /* job whose state it began with; -1: none, a new state */
    int64_t worker;    /* simulated worker that did it, from 0 */
    double start, end; /* virtual seconds */
    int64_t team;      /* team of ranks that did it */
    int64_t ticket;    /* position in the order of results if run.clock = wall; -1: none */
    double began;      /* real seconds of searching before the job began, summed over all
                          starts of the run */
    double seconds;    /* real seconds that the job took */
    int kept;          /* 1: the state after it was written; WEFT_HELD */
    int64_t stored;    /* id of the job under which it was: its own, unless the search was
                          made longer since */
    uint64_t hash;     /* of the state after it */
    uint64_t weights;  /* hash of the tensors only */
    int64_t nunit;     /* units of the job, with a row for each; 0 if the task's jobs have
                          no units */
    int64_t done;      /* units done so far: rows that are packed */
    int ncolumn;
    double *row;       /* [nunit][ncolumn] by the task's table of rows */
    double *logp;      /* [nunit][k] log-probabilities after each unit */
    weft_spent *spent; /* [nunit] */
} weft_job_record;

/* The number of the packed form of records: another one for every change of it, so that
 * journals of other versions are told from damaged ones. */
#define WEFT_RECORD_FORMAT 7
/* The record of a job that is to be done: empty results, a copy of the mixture. */
weft_job_record weft_job_record_new(const weft_job *job, weft_arena *mem);
/* Allocates the metrics of the result, NAN, and the rows of units, 0. */
void weft_job_record_room(weft_job_record *record, int nmetric, int64_t nunit, int ncolumn,
                          weft_arena *mem);
/* Packed forms of a job, and of a record with its first `done` rows. Owned by mem. */
void *weft_job_pack(const weft_job *job, size_t *bytes, weft_arena *mem);
void *weft_job_record_pack(const weft_job_record *record, size_t *bytes, weft_arena *mem);
/* Hash of the packed form of a job. */
uint64_t weft_job_hash(const weft_job *job);
/* 1 if the bytes are a packed record; *job is the id of its job. */
int weft_job_record_is(const void *packed, size_t bytes, int64_t *job);
/* Real time at which the packed job ended, in seconds as weft_job_record.began. */
double weft_job_record_ended(const void *packed);
/* What the packed job of a record is, whatever its id: of weft_job_likeness(job). */
uint64_t weft_job_record_likeness(const void *packed);
uint64_t weft_job_likeness(const weft_job *job);
/* Unpacks into a record whose job, parent, worker, start and end are set already. Returns 0
 * if the packed job is another one, whatever its id, or the record is damaged. */
int weft_job_record_unpack(weft_job_record *record, const void *packed, weft_arena *mem);
/* Unpacks a whole record, with room for its rows. Returns 0 if it is damaged. */
int weft_job_record_read(weft_job_record *record, const void *packed, weft_arena *mem);
/* Digest of the arithmetic of e[n]: of each job, in order of id, the loss, the
 * log-probabilities after it and the hash of its weights. It does not depend on how jobs
 * are described, recorded or scheduled. */
uint64_t weft_job_record_digest(const weft_job_record *record, int64_t n);

#endif

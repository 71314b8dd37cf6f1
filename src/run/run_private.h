/* What the files of this layer share: a run that is set up, its trace on disk, the
 * scheduler. Private to run, and to its test. */
#ifndef WEFT_RUN_PRIVATE_H
#define WEFT_RUN_PRIVATE_H

#include "weft/run.h"

/* ---- a run, set up ------------------------------------------------------------------ */

typedef struct weft_run {
    weft_team *team;
    weft_conf *conf;
    weft_arena *mem;
    weft_run_opts opts;
    const weft_task *task;
    void *task_self;
    const weft_tuner *tuner;
    void *tuner_self;
    weft_space space;
    weft_data data;
    int opened; /* 1: data is open */
} weft_run;

/* Binds all that the configuration says and finds what it names. Collective over team. */
WEFT_CHECKED weft_status weft_run_bind(weft_run *r, weft_conf *conf, weft_team *team,
                                       weft_arena *mem);
/* Opens the data and sets task and tuner up. Collective. EDATA, ELIMIT, ECONF. */
WEFT_CHECKED weft_status weft_run_open(weft_run *r, const char *data);
void weft_run_close(weft_run *r);
/* Names of all sections an input file may have. Owned by mem. Local. */
const char *const *weft_run_sections(weft_arena *mem, int *n);
/* The names of the hosts, each once, in order of rank. Collective. Owned by mem. */
const char *weft_run_hosts(weft_team *team, weft_arena *mem);

/* ---- trace -------------------------------------------------------------------------- */

/* A job that is done. */
typedef struct weft_event {
    weft_job job; /* with its own mixture */
    weft_result res;
    double seconds; /* that the task took */
    uint64_t hash;  /* of the state after it */
} weft_event;

/* The packed form of a job, for journal and digest. Owned by mem. */
void *weft_job_pack(const weft_job *job, size_t *bytes, weft_arena *mem);
/* Digest of the events, in order, without their times. */
uint64_t weft_event_digest(const weft_event *e, int64_t n);

/* What lies beside the run file NAME.h5 while the run lives: NAME.d with the journal and
 * the states of trials. Rank 0 reads and writes it, all ranks agree on what came of it. */
typedef struct weft_trace {
    weft_team *team;
    weft_arena *mem;
    const char *path, *dir; /* NAME.h5, NAME.d */
    weft_journal journal;   /* rank 0 */
    const char *conf;       /* found in the journal: text of the configuration, or NULL */
    const char *data;       /* digest of the packed file */
    int64_t began;          /* seconds since 1970 */
    int64_t npast;
    const void **past; /* [npast] record of each job by its id, NULL where it is not done */
    int64_t ndone;
    int ndrop, roomdrop;
    const char **drop; /* [ndrop] files to be removed when the journal is next synced */
    double dropped;    /* journal.synced when files were last removed */
} weft_trace;

/* Opens the trace beside `path` and reads what is there. EFILE: not writable, in use, or,
 * where `fresh` is 1, a run file or an unfinished run is there already (fresh 2: these are
 * replaced), or, where it is 0, there is nothing to resume. Collective. */
WEFT_CHECKED weft_status weft_trace_open(weft_trace *t, const char *path, int fresh,
                                         weft_team *team, weft_arena *mem);
/* Begins a run: makes sure of `bytes` of free space and records the configuration. */
WEFT_CHECKED weft_status weft_trace_begin(weft_trace *t, const char *conf, const char *data,
                                          double bytes);
/* Fills the rest of an event whose job was done already and sets *found. EFILE: the journal
 * has another job of that id. Local. */
WEFT_CHECKED weft_status weft_trace_find(const weft_trace *t, weft_event *e, int *found);
/* Records an event and, where `state` is not NULL, first its state[n]. Collective. */
WEFT_CHECKED weft_status weft_trace_add(weft_trace *t, const weft_event *e,
                                        const real *state, int64_t n);
/* Reads the state[n] after an event. Collective. */
WEFT_CHECKED weft_status weft_trace_load(weft_trace *t, const weft_event *e, real *state,
                                         int64_t n);
void weft_trace_drop(weft_trace *t, const weft_event *e); /* its state is needed no more */
/* Closes it; `done` 1: removes NAME.d. Local. */
void weft_trace_close(weft_trace *t, int done);

/* ---- scheduler ---------------------------------------------------------------------- */

typedef struct weft_held weft_held;

/* Runs a tuner's jobs by a task. The first group of members is given, all else zero. */
typedef struct weft_sched {
    weft_team *team;
    const weft_task *task;
    void *task_self; /* set up */
    const weft_tuner *tuner;
    void *tuner_self;  /* set up and not asked yet; each rank has its own, alike */
    weft_trace *trace; /* NULL: keep nothing on disk */
    double time_limit, target;
    weft_arena *mem;

    int64_t n; /* events, in the order they were done; weft_sched_run sorts by job */
    weft_event *event; /* [n] */
    weft_event winner; /* where n > 0: of the jobs with one configuration that with the
                          lowest loss among those with most features and resource; without
                          such a job, the last */
    int64_t replayed;  /* jobs told from the journal */
    double seconds;    /* of the search, over all sessions */

    int64_t asked, room;
    double begun;
    weft_held *held; /* states that are in use */
    int nheld, roomheld;
} weft_sched;

/* To the end of the search. WEFT_STOP: by a signal or the time limit. Collective. */
WEFT_CHECKED weft_status weft_sched_run(weft_sched *s);
/* The arm of its mixture that won: the likeliest, ties by lower score. Local. */
int weft_winner_arm(const weft_event *e);
/* The winner's state, [nstate]. Collective. */
WEFT_CHECKED weft_status weft_sched_state(weft_sched *s, const real **state);
/* Catches SIGTERM, SIGUSR1 and SIGINT until weft_signals_free. Local. */
void weft_signals_catch(void);
void weft_signals_free(void);
int weft_signals_seen(void); /* number of the last one caught, or 0 */

/* ---- run file ----------------------------------------------------------------------- */

/* What is written to a run file beside the events. */
typedef struct weft_outcome {
    const weft_run *run;
    const weft_sched *sched;
    const char *config; /* text */
    const char *hosts;
    const real *state; /* of the winner */
    int64_t nstate, began;
    double loss[WEFT_NPART], error[WEFT_NPART]; /* of the winner; NAN where not scored */
    double setup, search, refit, test;          /* seconds */
    double times[5][3]; /* compute wait comm bytes memory, min mean max */
    uint64_t digest;
} weft_outcome;

#define WEFT_RUN_FORMAT    "weft run 1"
#define WEFT_WINNER_FORMAT "weft winner 1"

/* Writes the run file, by rank 0 alone. Local. */
WEFT_CHECKED weft_status weft_run_write(const char *path, const weft_outcome *o);
/* The winner of a run file or an exported winner: everything needed to score it. */
typedef struct weft_winner {
    const char *config; /* an input file that trains it alone */
    const char *text;   /* its configuration as people read it */
    double size;
    int64_t id; /* of its configuration in the space */
    int64_t job, trial, round, n;
    const real *state; /* [n] */
} weft_winner;
WEFT_CHECKED weft_status weft_winner_put(const weft_winner *w, weft_h5 *f);
WEFT_CHECKED weft_status weft_winner_read(weft_winner *w, const char *path,
                                          weft_arena *mem);

#endif

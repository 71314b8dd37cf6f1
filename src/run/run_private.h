/* What the files of this layer share: a run that is set up, its trace on disk, the
 * scheduler. Private to run, and to its test. */
#ifndef WEFT_RUN_PRIVATE_H
#define WEFT_RUN_PRIVATE_H

#include "trace.h"
#include "weft/run.h"
#include "weft/search.h"

/* ---- a run, set up ------------------------------------------------------------------ */

typedef struct weft_run {
    weft_team *world; /* all ranks */
    weft_team *team;  /* those that do a job together; the world where there is one team */
    weft_team own;    /* what team points to where there are several */
    int teams;
    weft_conf *conf;
    weft_arena *mem;
    weft_run_opts opts;
    const weft_task *task;
    void *task_self;
    weft_search search;
    weft_space space;
    weft_data data;
    int opened;                /* 1: data is open */
    const weft_likeness *like; /* that the data must have; NULL: any */
    const char *like_of;       /* file that it is of */
    const char *dir;           /* of the run; NULL: no job is done */
    double deadline;           /* by weft_now; 0: none */
    const char
        *defaults; /* "run.tuner = sha, ...": set by the task, where the user gave none */
    const char *unread; /* "[sha] [random]": sections of the file for other runs */
} weft_run;

/* Binds all that the configuration says and finds what it names. `fresh` 1: it is a user's,
 * 0: of a run that was begun, which is not questioned again. One team. Collective over
 * world. */
WEFT_CHECKED weft_status weft_run_bind(weft_run *r, weft_conf *conf, int fresh,
                                       weft_team *world, weft_arena *mem);
/* Checks the entries that this run does not read: their values, as if it did; and where
 * fresh is 1 that they may stand there. Every key must be read, but for plain values in a
 * file: of other tuners, of what the command line chose something else for, and those that
 * are the default. Sets r->unread. ECONF. Local. */
WEFT_CHECKED weft_status weft_run_keys(weft_run *r, int fresh);
/* Replaces entries of a run that is resumed by assignments "section.key=value" of options
 * on which no result depends (WEFT_PER_SESSION). ECONF: other ones. Local. */
WEFT_CHECKED weft_status weft_run_change(weft_conf *conf, int n, char *const *assignment);
/* "sha", "asha with sampler tpe, mixing fedex": what is not the default. Owned by r->mem.
 */
const char *weft_run_method(const weft_run *r);
/* Divides the ranks into run.teams teams; ECONF where they are fewer, but a run that is
 * resumed (fewer is 1) gets as many as there are ranks. Collective over world. */
WEFT_CHECKED weft_status weft_run_divide(weft_run *r, int fewer);
/* Opens the data and sets task and tuner up. Collective over world. EDATA, ELIMIT, ECONF.
 */
WEFT_CHECKED weft_status weft_run_open(weft_run *r, const char *data);
void weft_run_close(weft_run *r);
/* That trains a configuration of the task. Local. */
int64_t weft_run_resource(const weft_run *r);
/* Bytes of the largest state that a trial of one configuration has. Local. */
double weft_run_state_bytes(const weft_run *r);
/* Names of all sections an input file may have. Owned by mem. Local. */
const char *const *weft_run_sections(weft_arena *mem, int *n);
/* ---- seat.c, host.c ---- */

enum { WEFT_SEAT_TEXT = 64 };
/* What a rank has to work with. */
typedef struct weft_seat {
    char host[WEFT_SEAT_TEXT];
    char cores[WEFT_SEAT_TEXT]; /* that it may run on, "0-3,8"; "" unknown */
    double quota;               /* cores' worth of time of its control group; INFINITY */
    double memory, available;   /* bytes of the host; of them free */
    double room;                /* bytes that its control group or SLURM allows of them */
    char blas[WEFT_SEAT_TEXT];  /* the CPU that OpenBLAS takes this one for */
    int threads;                /* of OpenBLAS */
    double sgemm;               /* GFLOP/s */
    double share;               /* of a core that it had meanwhile, 0..1 */
} weft_seat;
/* The seats [size] of all ranks; measures the rate for `seconds`. Collective. Owned by mem.
 */
weft_seat *weft_seats(weft_team *team, double seconds, weft_arena *mem);
/* 1 if rank r is the first one on its host; how many ranks there are on it; the cores that
 * one or another of them may run on, as a list. Local. */
int weft_seat_first(const weft_seat *s, int r);
int weft_seat_ranks(const weft_seat *s, int size, int r);
const char *weft_seat_cores(const weft_seat *s, int size, int r, weft_arena *mem);
/* The hosts, each once, in order of rank, with the cores of their ranks: "n1 (cores 0-3) n2
 * (cores 0-3)". Local. Owned by mem. */
const char *weft_hosts(const weft_seat *s, int size, weft_arena *mem);
/* Warns of ranks that share fewer cores than they are, or less time or memory than they
 * need (`bytes` each), and of threads of OpenBLAS; returns how often. Local. */
int weft_seats_warn(const weft_seat *s, int size, double bytes);

/* ---- jobs that are done ------------------------------------------------------------- */

/* 1 if job a wins against job b. Local. */
int weft_job_record_beats(const weft_job_record *a, const weft_job_record *b);
/* For qsort: records by the ids of their jobs. Local. */
int weft_job_record_compare(const void *a, const void *b);
/* The arm of its mixture that won: the likeliest after the job, ties by lower score. */
int weft_winner_arm(const weft_job_record *e);
/* The configuration that won, conf[dim]: that of the arm; of a product of simplexes, the
 * likeliest entry of each block. */
void weft_winner_conf(const weft_job_record *e, double *conf);

/* ---- virtual time ------------------------------------------------------------------- */

/* The state of a trial in memory of its own. */
typedef struct weft_own_state {
    weft_state state;
    weft_arena *mem; /* NULL: there is none */
} weft_own_state;

typedef struct weft_cached weft_cached; /* a state that is kept */
typedef struct weft_trial weft_trial;

/* A job in flight: asked, and not told yet. */
typedef struct weft_flight {
    weft_job_record event; /* event.end: where the result is not known the earliest end */
    double seconds;        /* that it takes at least, virtual */
    int known;             /* 1: its result is here, so its end too */
    int replayed;          /* 1: from a journal */
    weft_cached *parent;   /* the state that it begins with; NULL: afresh */
    weft_cached *own;      /* the state after it, once known */
    weft_own_state state;  /* that, in memory, between these two; without a trace */
    int64_t sweep, affinity;
    double flops;     /* the costly ones are done first */
    int64_t place[2]; /* in the heaps below; -1: in none */
    struct weft_flight *next;
} weft_flight;

/* Jobs of which one comes first. */
typedef struct weft_flight_heap {
    int order; /* of the two that flight.c knows */
    int wall;  /* 1: of ends by tickets */
    int64_t n, room;
    weft_flight **item; /* [n] */
} weft_flight_heap;

typedef struct weft_flights {
    weft_arena *mem;
    int wall;                /* 1: results are told in the order of their tickets */
    int64_t ticket;          /* the next one; those of lost results are left out: */
    const int64_t *past;     /* [npast] tickets of earlier sessions, rising */
    int64_t npast, spent;    /* how many of these were told */
    int64_t most, workers;   /* workers that there are, that had a job yet */
    double now, overhead;    /* virtual time; seconds a job */
    weft_flight_heap ends;   /* all jobs in flight */
    weft_flight_heap deals;  /* of these, those that this team may do */
    int64_t sweep, affinity; /* of the last one that it took */
    int64_t *idle;           /* [nidle] workers that had a job and have none */
    int64_t nidle, roomidle;
    weft_flight *unused;
} weft_flights;

/* Begins at virtual time 0. workers  how many there are; 0: any number. For the wall clock
 * set q->wall, q->past and q->npast then, and call weft_flights_due. */
void weft_flights_setup(weft_flights *q, int64_t workers, double overhead, weft_arena *mem);
/* Sets the ticket that is told next. Local. */
void weft_flights_due(weft_flights *q);
/* 1 if a worker is free. Local. */
int weft_flights_idle(const weft_flights *q);
/* A free worker starts a job that takes `seconds` at least. Local. Cost O(log n) of n jobs
 * in flight, as of all below. */
weft_flight *weft_flights_start(weft_flights *q, const weft_job *job, double seconds);
/* Its result is known: it need not be done. Local. */
void weft_flights_known(weft_flights *q, weft_flight *f);
/* It is to be done, in the order of f->affinity and f->flops. Local. */
void weft_flights_queue(weft_flights *q, weft_flight *f);
/* Takes the job that is to be done next; NULL: none. Local. */
weft_flight *weft_flights_take(weft_flights *q);
/* Takes this one, which the team's leader took. Local. */
void weft_flights_took(weft_flights *q, weft_flight *f);
/* The job that is to be told next; NULL: results are missing, or none is in flight. */
weft_flight *weft_flights_next(const weft_flights *q);
/* That job is told: it is virtual time f->event.end, and its worker is free. *f holds until
 * the next start. Local. */
void weft_flights_end(weft_flights *q, weft_flight *f);

/* ---- scheduler ---------------------------------------------------------------------- */

/* A result of another team whose job was not asked here yet. */
typedef struct weft_early {
    int64_t job;
    const void *record; /* packed */
    struct weft_early *next;
} weft_early;

/* Runs a tuner's jobs by a task. The first group of members is given, all else zero. */
typedef struct weft_sched {
    weft_team *world; /* all ranks */
    weft_team *team;  /* this rank's team: it does a job; the world where teams is 1 */
    int teams;
    const weft_task *task;
    void *task_self;           /* set up for the team */
    weft_search *search;       /* set up and not asked yet; each rank has its own, alike */
    weft_trace *trace;         /* NULL: keep nothing on disk; one team */
    double time_limit, target; /* as in weft_run_opts */
    double checkpoint;         /* seconds between checkpoints of a job */
    int64_t workers;           /* simulated; 0: as many as the tuner asks for */
    int wall;                  /* 1: results are told as they come, not in virtual time */
    double overhead;           /* virtual seconds that asking and telling a job takes */
    double disk;               /* bytes that states which wait may take; 0: any */
    weft_arena *mem;

    int64_t n;              /* events that were told; weft_sched_run sorts by job */
    weft_job_record *event; /* [n] */
    weft_job_record winner; /* of these, where n > 0 */
    int64_t known;          /* jobs whose results are here, told or not */
    int64_t replayed;       /* of these, from the journal */
    double seconds;         /* of the search, over all sessions */
    weft_flights flights;   /* flights.now, .workers at the end: of the whole search */

    int64_t asked, room; /* room of event */
    int64_t roomjob;
    weft_flight **job; /* [asked] jobs in flight by id, NULL: told, */
    int64_t *row;      /* [asked] and then its place in event */
    int64_t roomrow;
    double begun, before; /* this session; seconds of the sessions before */
    double shown;         /* when progress was last shown */
    weft_job_record best; /* of those known, where known > 0 */
    int group;            /* this rank's team, 0 .. teams - 1 */
    weft_peers *peers;    /* of a leader, where there are several teams, */
    weft_claims *claims;  /* and what they claimed */
    weft_early *early;
    int64_t ticket;    /* that comes after this team\'s last one */
    int worked;        /* 1: the team did a unit in this session. The time limit waits for
                        * that, so that a chain of starts ends however short each is */
    int why;           /* to stop: what was found, see weft_stop_seen */
    weft_trial *trial; /* [ntrial] */
    int64_t ntrial, roomtrial;
    weft_cached *won;     /* state of the winner */
    weft_cached **newest; /* [nnewest] states that a later job may begin with */
    int64_t nnewest, roomnewest, unchecked;
    double kept; /* bytes of these */
    weft_cached *unused;
} weft_sched;

/* To the end of the search. WEFT_STOP: by a signal or the time limit. Collective over
 * world. */
WEFT_CHECKED weft_status weft_sched_run(weft_sched *s);

/* A result is here, of whichever team. Local. */
void weft_sched_enter(weft_sched *s, weft_flight *f);
/* 1 if the state after a job that has been done may be needed: by later jobs, or by the
 * winner. Local. */
int weft_sched_needs(const weft_sched *s, const weft_job_record *e);

/* Makes the teams known to each other and opens their journals. Collective over world. */
WEFT_CHECKED weft_status weft_crew_begin(weft_sched *s);
/* Hears of results of other teams and does jobs until it is known which one is told next.
 * Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_crew_work(weft_sched *s, weft_flight **next);
/* Ends the search of this team, which came to `st`, and waits for the others. Collective
 * over world. */
WEFT_CHECKED weft_status weft_crew_end(weft_sched *s, weft_status st);

/* Why a search ends for a team, by gravity. */
enum {
    WEFT_WHY_OVER = 1, /* it is told to its end */
    WEFT_WHY_LIMIT,    /* of time */
    WEFT_WHY_FAILED,   /* EFILE and the like */
    WEFT_WHY_SIGNAL    /* + the signal's number */
};
/* Why this rank finds that the team is to stop; 0: it is not. Local. */
int weft_stop_seen(const weft_sched *s);
/* WEFT_STOP with what a person needs to know, after so many of the units of a job in
 * flight. Local. */
WEFT_CHECKED weft_status weft_stop_now(weft_sched *s, int why, int64_t done, int64_t units);

/* Does a job, from its start or its last checkpoint, and gives the state after it, in
 * memory that the caller frees. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_job_run(weft_sched *s, weft_flight *f, weft_own_state *out);

/* Does a told job once more, from a state, NULL: afresh, and gives the state after it, the
 * same as it was. Collective over team. WEFT_STOP; EFILE where it is another one. */
WEFT_CHECKED weft_status weft_job_again(weft_sched *s, const weft_job_record *told,
                                        const weft_state *from, weft_own_state *out);

/* The state that a job which is asked begins with, pinned until it is told: of its trial,
 * or of the trial it copies, after the last told job; NULL: afresh. Ends the program where
 * the tuner breaks its promises. Local. */
weft_cached *weft_cache_pin(weft_sched *s, const weft_job *job);
/* Gives that state: as it was written, or, where the bound s->disk let go of it or its file
 * is lost, from doing again the jobs that led to it. Collective over team. */
WEFT_CHECKED weft_status weft_cache_begin(weft_sched *s, const weft_job *job,
                                          const weft_cached *parent, weft_state *state);
/* What its trial was given. Local. */
double weft_cache_resource(const weft_cached *parent);
/* The job that left it; -1: none. Local. */
int64_t weft_cache_job(const weft_cached *parent);
/* Keeps the state after a job that this team has done, if event.kept says so; frees it
 * otherwise. Collective over team. EFILE. */
WEFT_CHECKED weft_status weft_cache_keep(weft_sched *s, weft_flight *f,
                                         weft_own_state *own);
/* The result of a job is known: makes f->own. Local. */
void weft_cache_known(weft_sched *s, weft_flight *f);
/* The job is told; `leads` 1: it is the winner so far. Lets go of states that nothing needs
 * any more. Local. */
void weft_cache_told(weft_sched *s, weft_flight *f, int leads);
/* Lets go of the states of trials that the tuner, since some of its last tells, calls
 * ended. Local. Cost of all calls: O(1) a tell. */
void weft_cache_ended(weft_sched *s);
/* Where the states that wait for a later job take more than s->disk, lets the worst of them
 * go that no job in flight begins with, until the rest take 9/10 of it. To be called when
 * all free workers have asked. Local. */
void weft_cache_bound(weft_sched *s);
/* The winner's state, until weft_cache_free. Collective over team. */
WEFT_CHECKED weft_status weft_cache_winner(weft_sched *s, const weft_state **state);
/* Frees the states, however the search ended; their files stay. Local. */
void weft_cache_free(weft_sched *s);

/* Tell a person how far a job, and the search, is: one updating line on a terminal; in a
 * log a line a job, and one for rounds now and then. Local. */
void weft_show_round(weft_sched *s, const weft_job_record *e, int64_t done, double seconds);
void weft_show_job(weft_sched *s, const weft_job_record *e);

/* Starts a thread that names, in one warning, the ranks that keep their team from going on
 * for so many seconds, and what these do: ranks that stall say so in files of `dir`, and
 * the lowest of them looks who works, who waits, and who does not even say so. The thread
 * calls no MPI. Local. */
void weft_watchdog_start(const weft_team *world, double seconds, const char *dir);
/* Ends it; nothing where none was started. Local. */
void weft_watchdog_stop(void);

/* Catches SIGTERM, SIGUSR1 and SIGINT until weft_signals_free. Local. */
void weft_signals_catch(void);
void weft_signals_free(void);
int weft_signals_seen(void); /* number of the last one caught, or 0 */

/* ---- jobs side by side, for a plan -------------------------------------------------- */

typedef struct weft_order_job {
    int64_t id, after; /* results that were told before it was asked */
    double work;       /* operations */
} weft_order_job;

/* The order in which a search asks for jobs and is told. Zero but for what is given. */
typedef struct weft_order {
    weft_arena *mem;
    int wall;   /* given; 1: results are told as they come */
    int costly; /* given; 1: of jobs that are asked the costly ones are done first */
    int64_t n, room;
    weft_order_job *job; /* [n] by id */
    int64_t told, roomtell;
    int64_t *tell; /* [told] jobs */
    int64_t most;  /* that were asked and not told, at most */
} weft_order;
/* The next job is asked; a job is told. Local. */
void weft_order_ask(weft_order *o, double work);
void weft_order_tell(weft_order *o, int64_t job);
/* The share of the whole time in which so many equal teams would work, if all operations
 * took alike: 1 for one team. Local. Cost O(n teams). */
double weft_order_busy(const weft_order *o, int teams);

/* ---- run file ----------------------------------------------------------------------- */

/* Names of the numbers that jobs bring: what one must know to read their records. */
typedef struct weft_tables {
    const weft_metric *metrics, *rows, *scores;
    int dim;
    const weft_axis *axis; /* [dim]; their options are known by name, type and words alone
                              where they come from a journal */
} weft_tables;

/* These as a text, for the head of the journal. Owned by mem. Local. */
const char *weft_tables_text(const weft_tables *t, weft_arena *mem);

/* The jobs of a run: what the tables of the run file are made of. */
typedef struct weft_history {
    weft_tables tables;
    int64_t n;
    const weft_job_record *event; /* [n] by id */
    double optimum;               /* of the space, NAN: not known */
    int teams;
    int64_t workers;           /* that there were */
    double overhead, makespan; /* virtual seconds: of a job; of all */
    double seconds;            /* of the search */
} weft_history;

/* What is written to a run file beside the events. */
typedef struct weft_outcome {
    const weft_run *run;
    weft_history history;
    const weft_job_record *winner;
    const char *config; /* text */
    const char *hosts;
    const weft_state *state; /* of the winner */
    int ntensor;
    weft_tensor tensor[WEFT_MOST_TENSORS]; /* [ntensor] in state */
    int64_t began;
    weft_scores score[WEFT_NPART];     /* of the winner; NAN where not scored */
    double setup, search, refit, test; /* seconds */
    double times[5][3];                /* compute wait comm bytes memory, min mean max */
    uint64_t digest;
} weft_outcome;

/* Writes the tables of the jobs. Local. */
WEFT_CHECKED weft_status weft_history_put(weft_h5 *f, const weft_history *h);
/* Writes the run file, by rank 0 alone. Local. */
WEFT_CHECKED weft_status weft_run_write(const char *path, const weft_outcome *o);
/* The winner of a run file or an exported winner: everything needed to score it. */
typedef struct weft_winner {
    const char *config; /* an input file that trains it alone */
    const char *text;   /* its configuration as people read it */
    double size;
    int64_t id; /* of its configuration in the space */
    int64_t job, trial, round;
    int ntensor;
    weft_tensor tensor[WEFT_MOST_TENSORS]; /* [ntensor] in state */
    const real *state;
    const weft_metric *scores;     /* their table */
    weft_scores score[WEFT_NPART]; /* NAN where not scored; without counts */
    weft_likeness like;            /* of the data it was trained on */
    const char *origin[4];         /* as read: tuner, data and digests of the run */
} weft_winner;
/* Numbers in tensors that follow one another. Local. */
int64_t weft_tensors_size(int n, const weft_tensor *t);
WEFT_CHECKED weft_status weft_winner_put(const weft_winner *w, weft_h5 *f);
/* The same as a file of its own, with what the run file said of the run. */
WEFT_CHECKED weft_status weft_winner_export(const weft_winner *w, const char *run,
                                            weft_h5 *f);
WEFT_CHECKED weft_status weft_winner_read(weft_winner *w, const char *path,
                                          weft_arena *mem);

#endif

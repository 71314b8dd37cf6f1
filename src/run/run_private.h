/* What the files of this folder share: a run after set-up, ranks and hosts, jobs in flight,
 * the scheduler, the run file. Private to run and its tests. */
#ifndef WEFT_RUN_PRIVATE_H
#define WEFT_RUN_PRIVATE_H

#include "flight.h"
#include "trace.h"
#include "weft/run.h"
#include "weft/search.h"

/* ---- a run, set up ---- */

typedef struct weft_run {
    weft_team *world; /* all ranks */
    weft_team *team;  /* this rank's team, which does a job together; the world if there is
                         one team */
    weft_team own;    /* memory of *team if there are several */
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
    const weft_likeness *like; /* what the data must match; NULL: nothing */
    const char *like_of;       /* name of the file that `like` is from */
    const char *dir;           /* of the run; NULL: no job is done */
    const char *failed;        /* for the logs of failed jobs, likewise */
    double deadline;           /* by weft_now; 0: none */
    const char *defaults; /* "run.tuner = sha, ...": what the task set where the user gave
                             nothing */
    int fresh; /* 1: the configuration is a user's, 0: that of a run that was begun */
    const char *unread; /* "[sha] [random]": sections of the file that this run does not
                           read */
} weft_run;

/* Binds all options of the configuration and finds the plug-ins that it names. `fresh` 1:
 * the configuration is a user's and is checked; 0: it is that of a run that was started
 * before. The world is one team until weft_run_divide. Collective over world. ECONF. */
WEFT_CHECKED weft_status weft_run_bind(weft_run *r, weft_conf *conf, int fresh,
                                       weft_team *world, weft_arena *mem);
/* Checks the entries that this run does not read. Their values must be valid. With fresh =
 * 1 an unread entry is an error, with these exceptions for plain values in a file: options
 * of other tuners, options of a plug-in in place of which the command line names another,
 * and values equal to the default. Sets r->unread. ECONF. */
WEFT_CHECKED weft_status weft_run_keys(weft_run *r, int fresh);
/* Replaces an entry of a run that is resumed by the assignment "section.key=value" of an
 * option on which no result depends (WEFT_PER_SESSION). ECONF: another one. */
WEFT_CHECKED weft_status weft_run_change(weft_conf *conf, const char *assignment);
/* "sha", "asha with sampler tpe, mixing fedex": the tuner, and sampler and mixing if they
 * are not the default. Owned by r->mem. */
const char *weft_run_method(const weft_run *r);
/* Divides the ranks into run.teams teams. ECONF if there are fewer ranks, unless `fewer` is
 * 1, as in a resumed run, which then gets as many teams as ranks. Collective over world. */
WEFT_CHECKED weft_status weft_run_divide(weft_run *r, int fewer);
/* Has the sampler told the operations of jobs in place of virtual seconds if it counts
 * costs and those are no measure of them; after the task's setup. ECONF: there is no
 * measure. */
WEFT_CHECKED weft_status weft_run_price(weft_run *r);
/* Opens the data and sets up task and tuner. Collective over world. EDATA, ELIMIT,
 * ECONF. */
WEFT_CHECKED weft_status weft_run_open(weft_run *r, const char *data);
void weft_run_close(weft_run *r);
/* That trains a configuration of the task. */
int64_t weft_run_resource(const weft_run *r);
/* Bytes of the largest state of a trial of one configuration. */
double weft_run_state_bytes(const weft_run *r);
/* Names of all sections an input file may have. Owned by mem. */
const char *const *weft_run_sections(weft_arena *mem, int *n);
/* ---- placement.c, host.c ---- */

enum { WEFT_PLACEMENT_TEXT = 64 };
/* The resources of a rank: host, cores, memory, BLAS. */
typedef struct weft_placement {
    char host[WEFT_PLACEMENT_TEXT];
    char cores[WEFT_PLACEMENT_TEXT]; /* that it may run on, "0-3,8"; "" unknown */
    double quota;                    /* CPU limit of its control group, in cores; INFINITY:
                                        none */
    double memory, available;        /* bytes of the host's memory; of these available */
    double room;                     /* bytes that its control group or SLURM allows */
    char blas[WEFT_PLACEMENT_TEXT];  /* the CPU type that OpenBLAS has chosen */
    int threads;                     /* of OpenBLAS */
    double sgemm;                    /* GFLOP/s */
    double share; /* fraction of a core that it had during the measurement,
                     0..1 */
    int claim;    /* of the core, for all ranks bound to it; -1: none, or of another rank */
    int taken;    /* 1: the core is in use by another weft */
} weft_placement;
/* The resources [size] of all ranks; measures the sgemm rate for `seconds`. Claims the
 * cores that ranks are bound to, until weft_placements_leave. Collective. Owned by mem. */
weft_placement *weft_placements(weft_team *team, double seconds, weft_arena *mem);
/* Gives up the claim of this rank. */
void weft_placements_leave(const weft_placement *s, const weft_team *team);
/* The cores that a process may run on, from its file /proc/PID/status; unchanged if the
 * system does not tell. */
void weft_cores_of(const char *status, char text[WEFT_PLACEMENT_TEXT]);
/* Claims the core of a list if the launcher has bound this process to it alone. A handle to
 * be closed; -1: none. *taken 1: another weft has claimed it. */
int weft_core_claim(const char *list, int *taken);
/* 1 if rank r is the first on its host that may run on just these cores. */
int weft_placement_leads(const weft_placement *s, int r);
/* 1 if rank r is the first on its host; number of ranks on the host of r; list of the cores
 * that any of these may run on. */
int weft_placement_first(const weft_placement *s, int r);
int weft_placement_ranks(const weft_placement *s, int size, int r);
const char *weft_placement_cores(const weft_placement *s, int size, int r, weft_arena *mem);
/* The hosts, each once, in order of rank, with the cores of their ranks: "n1 (cores 0-3) n2
 * (cores 0-3)". Owned by mem. */
const char *weft_hosts(const weft_placement *s, int size, weft_arena *mem);
/* Warns if ranks share fewer cores than there are ranks, if CPU limit or memory is less
 * than they need (`bytes` each), and if OpenBLAS has several threads; returns the number of
 * warnings. */
int weft_placements_warn(const weft_placement *s, int size, double bytes);

/* ---- locks.c ---- */

/* Rank 0 locks a file in a directory, which the other ranks then try to lock: found[size].
 * EFILE: it cannot be made. Collective. */
WEFT_CHECKED weft_status weft_locks_try(const char *dir, weft_team *t, weft_lock *found,
                                        weft_arena *mem);
/* Warns, with the remedy, if the first rank with a fault found that locks do not work
 * between hosts or processes, or that the directory is another one on its host; returns the
 * number of warnings. */
int weft_locks_warn(const char *dir, const weft_lock *found, const weft_placement *s,
                    int size);

/* ---- jobs that are done ---- */

/* 1 if job a is better than job b by weft_merit_compare. */
int weft_job_record_beats(const weft_job_record *a, const weft_job_record *b);
/* For qsort: records by the ids of their jobs. */
int weft_job_record_compare(const void *a, const void *b);
/* The winning arm of a job's mixture: the most probable one after the job, of equally
 * probable ones that of the best weft_result_rank_of. */
int weft_winner_arm(const weft_job_record *e);
/* The winning configuration, into conf[dim]: that of the winning arm; for a product of
 * simplexes, composed of the winning entry of each block, likewise. */
void weft_winner_conf(const weft_job_record *e, double *conf);

/* ---- scheduler ---- */

/* A result of another team for a job that this team's tuner has not asked for yet. */
typedef struct weft_early {
    int64_t job;
    char *record; /* [room] packed */
    size_t room;
    struct weft_early *next;
} weft_early;

/* Whose turn a job is that a team has claimed. */
typedef struct weft_claimed {
    int taken; /* 1: another team's */
    int hops;  /* how often it was handed on */
    int tries; /* how often it has failed */
    int begun; /* 1: a program was started */
} weft_claimed;
#define WEFT_DOUBTS                                                                        \
    3 /* jobs that a team fails at before it waits for one that succeeds                   \
       */

/* The scheduler of a search. The caller sets the first group of members, the others to
 * zero. */
typedef struct weft_sched {
    weft_team *world; /* all ranks */
    weft_team *team;  /* this rank's team; the world if teams is 1 */
    int teams;
    const weft_task *task;
    void *task_self;           /* set up for the team */
    weft_search *search;       /* after setup; each rank has its own copy, and all make the
                                  same calls */
    weft_trace *trace;         /* NULL: nothing is kept on disk, one team only */
    double time_limit, target; /* as in weft_run_opts */
    double checkpoint;         /* seconds between checkpoints of a job */
    int64_t workers;           /* simulated workers; 0: unlimited */
    int wall;                  /* 1: results are told in the order in which they arrive, not
                                  in virtual time */
    double overhead;           /* virtual seconds per job for asking and telling */
    double disk;               /* bytes on disk for states of waiting trials; 0: no limit */
    weft_arena *mem;

    int64_t n;              /* jobs that were told; sorted by id at the end of
                               weft_sched_run */
    weft_job_record *event; /* [n] */
    weft_job_record winner; /* the best of these, if n > 0 */
    int64_t known;          /* jobs whose results are known, told or not */
    int64_t recorded;       /* jobs that this team has recorded since the start */
    int64_t part, parts;    /* of a job that was stopped: units done, and all; 0: none */
    int64_t replayed;       /* of these, from the journal */
    double seconds;         /* of the search, over all sessions */
    weft_flights flights;   /* at the end flights.now is the virtual duration of the
                               search */

    int64_t asked, room, roomjob; /* room of event; of job */
    weft_flight **job;            /* [asked] jobs in flight by id; NULL: told */
    int64_t *row;                 /* [asked] index in event of a job that was told */
    int64_t roomrow;
    double begun, before; /* start of this session; seconds of earlier sessions */
    double ran;           /* jobs that were done in this session, of some only a part */
    double shown;         /* time at which progress was last shown */
    weft_job_record best; /* best of the jobs whose results are known, if known > 0 */
    int group;            /* this rank's team, 0 .. teams - 1 */
    weft_peers *peers;    /* connection to the other leaders; NULL: not a leader, or one
                             team */
    weft_claims *claims;  /* claims of jobs, likewise */
    weft_early *early, *taken; /* taken: those that were found, for their memory */
    weft_claimed *turn;        /* [nturn] by job */
    int64_t nturn, roomturn;
    int rested;     /* 1: the team has had nothing to do since its last job */
    int64_t ticket; /* the ticket after this team's last one */
    /* whether failures of this team's jobs count (trust.c) */
    const char *who; /* "team 1 on n2" in lines of the log; NULL: not a leader, or one
                        team */
    int64_t trust,
        span;           /* failures that are still believed; how many are after a success */
    int streak, unsure; /* failures since the last success that counted; of these, those of
                           teams that are set aside */
    int works;          /* 1: a job of the run has succeeded: */
    weft_job_record example; /* the shortest one that began a trial */
    int aside, naside;       /* 1: this team is set aside; number of teams that are */
    int64_t *handed;         /* [nhanded] jobs that are this team's turn */
    int64_t nhanded, roomhanded;
    int64_t doubted[WEFT_DOUBTS]; /* [ndoubted] jobs that it failed at while no job of the
                                     run had succeeded */
    int ndoubted;
    int worked;        /* 1: the team did a unit in this session. The time limit is not
                        * applied before that, so that a chain of short sessions ends */
    int why;           /* reason to stop, see weft_stop_seen */
    weft_trial *trial; /* [ntrial] */
    int64_t ntrial, roomtrial;
    weft_cached *won;     /* state of the best trial so far */
    weft_cached **newest; /* [nnewest] states that a later job may begin with */
    int64_t nnewest, roomnewest, unchecked;
    double kept; /* their size in bytes */
    weft_cached *unused;
} weft_sched;

/* Runs the search to its end. WEFT_STOP: stopped by a signal or the time limit. Collective
 * over world. */
WEFT_CHECKED weft_status weft_sched_run(weft_sched *s);

/* Enters a result, of this or another team, which is now known. */
void weft_sched_enter(weft_sched *s, weft_flight *f);
/* 1 if the state after a job may be needed by later jobs, or as the winner's. */
int weft_sched_needs(const weft_sched *s, const weft_job_record *e);

/* Connects the teams and opens their journals. Collective over world. */
WEFT_CHECKED weft_status weft_teams_begin(weft_sched *s);
/* Receives results of other teams and does jobs until the result that is to be told next is
 * known: *next. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_teams_work(weft_sched *s, weft_flight **next);
/* Ends the search of this team, with its status `st`, and waits for the other teams.
 * Returns the common status. Collective over world. */
WEFT_CHECKED weft_status weft_teams_end(weft_sched *s, weft_status st);

/* Sets up what follows. */
void weft_trust_begin(weft_sched *s);
/* To be called when a result is known. */
void weft_trust_known(weft_sched *s, const weft_job_record *e);
/* Whose turn the job is; valid until the next call. */
weft_claimed *weft_trust_turn(weft_sched *s, int64_t job);
/* Removes from the list, and returns, a job that was handed to this team; NULL: none. */
weft_flight *weft_trust_handed(weft_sched *s);
/* Removes this job from the list: the one that the team's leader took. */
void weft_trust_took(weft_sched *s, int64_t job);
/* 1 if this team is to do no other jobs. */
int weft_trust_waits(const weft_sched *s);
/* Takes a message of another team if it is one about trust; 0 if not. */
int weft_trust_notice(weft_sched *s, const weft_message *m);
/* To be called when this team has done a job. *counts 0: it has failed, perhaps not by
 * itself; it is handed on, and nothing is to be recorded. ECONF: no team can start the
 * program. WEFT_STOP, EFILE. Collective over team. */
WEFT_CHECKED weft_status weft_trust_ended(weft_sched *s, const weft_job_record *e,
                                          int *counts);

/* Reasons for which the search of a team ends; of several teams' reasons the largest
 * holds. */
enum {
    WEFT_WHY_OVER = 1, /* all results are told */
    WEFT_WHY_LIMIT,    /* time limit */
    WEFT_WHY_BROKEN,   /* all teams are set aside */
    WEFT_WHY_FAILED,   /* EFILE and the like */
    WEFT_WHY_SIGNAL    /* plus the signal's number */
};
/* The reason that this rank knows for which the team must stop; 0: none. */
int weft_stop_seen(const weft_sched *s);
/* Returns WEFT_STOP with a message that gives the reason and the progress: `done` of the
 * `units` units of the job in flight. */
WEFT_CHECKED weft_status weft_stop_now(weft_sched *s, int why, int64_t done, int64_t units);

/* Does a job, from its start or its last checkpoint. *out is the state after it, whose
 * memory the caller frees. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_job_run(weft_sched *s, weft_flight *f, weft_own_state *out);

/* Repeats a job that was told, from the state `from` (NULL: a new one), to restore the
 * state after it, *out. Collective over team. WEFT_STOP; EFILE if the hash of the state
 * differs. */
WEFT_CHECKED weft_status weft_job_again(weft_sched *s, const weft_job_record *told,
                                        const weft_state *from, weft_own_state *out);

/* The state that a new job begins with: that of its trial, or of the trial that it copies,
 * after the last told job; NULL: a new one. It is kept until the job is told. Ends the
 * program if the tuner violates its contract. */
weft_cached *weft_cache_pin(weft_sched *s, const weft_job *job);
/* Reads that state; if it was removed because of s->disk, or its file is lost, repeats the
 * jobs that led to it. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_cache_begin(weft_sched *s, const weft_job *job,
                                          const weft_cached *parent, weft_state *state);
/* Total resource of its trial; parent NULL: 0. */
double weft_cache_resource(const weft_cached *parent);
/* The job after which it is the state; parent NULL: -1. */
int64_t weft_cache_job(const weft_cached *parent);
/* Stores the state after a job that this team has done if event.kept is 1, or holds it on
 * rank 0 and makes event.kept WEFT_HELD; frees it elsewhere. Collective over team. EFILE.
 */
WEFT_CHECKED weft_status weft_cache_keep(weft_sched *s, weft_flight *f,
                                         weft_own_state *own);
/* Makes f->own when the result of a job is known. */
void weft_cache_known(weft_sched *s, weft_flight *f);
/* To be called when a job is told; `leads` 1: it is the best so far. Removes states that
 * are no longer needed. */
void weft_cache_told(weft_sched *s, weft_flight *f, int leads);
/* Removes the states of trials that the tuner now reports as ended. Cost: amortised O(1)
 * per result. */
void weft_cache_ended(weft_sched *s);
/* If the states that wait for a later job take more than s->disk, removes those with the
 * highest losses that no job in flight begins with, until the rest takes 9/10 of it. To be
 * called when all free workers have asked. */
void weft_cache_bound(weft_sched *s);
/* Writes the states that are in memory only; when the run stops before its end. By rank 0.
 * EFILE. */
WEFT_CHECKED weft_status weft_cache_stop(weft_sched *s);
/* Loads the winner's state, which is valid until weft_cache_free. Collective over team. */
WEFT_CHECKED weft_status weft_cache_winner(weft_sched *s, const weft_state **state);
/* Frees the states in memory; their files stay. */
void weft_cache_free(weft_sched *s);

/* Show the progress of a job, and of the search: one line that is rewritten on a terminal;
 * in a log one line per job, and one for rounds every 10 s. */
void weft_show_round(weft_sched *s, const weft_job_record *e, int64_t done, double seconds);
void weft_show_job(weft_sched *s, const weft_job_record *e);
/* Shows which share of the scores of a part this rank has done, and tells the watchdog that
 * it goes on. */
void weft_show_scored(double share);

/* Starts a thread that detects that this rank makes no progress for `seconds`. Such ranks
 * write what they are doing to files in `dir`, and the lowest of them prints one warning
 * that names the ranks that the others wait for: those that compute, and those that write
 * nothing. The thread does not call MPI. */
void weft_watchdog_start(const weft_team *world, double seconds, const char *dir);
/* Stops the thread; does nothing if there is none. */
void weft_watchdog_stop(void);

/* Catches SIGTERM, SIGUSR1 and SIGINT until weft_signals_free. */
void weft_signals_catch(void);
void weft_signals_free(void);
int weft_signals_seen(void); /* number of the last one caught, or 0 */

/* ---- parallelism, for a plan ---- */

typedef struct weft_order_job {
    int64_t id, after; /* number of results that were told before it was asked for */
    double work;       /* operations */
} weft_order_job;

/* The order in which a search asks for jobs and is told their results. All members that are
 * not marked "given" start at zero. */
typedef struct weft_order {
    weft_arena *mem;
    int wall;   /* given; 1: results are told in the order in which they arrive */
    int costly; /* given; 1: of jobs that are asked expected operations: expensive jobs are
                   done first */
    int64_t n, room;
    weft_order_job *job; /* [n] by id */
    int64_t told, roomtell;
    int64_t *tell; /* [told] jobs */
    int64_t most;  /* largest number of jobs that were asked for and not told */
} weft_order;
/* Records that the next job is asked for, with `work` operations; that a job is told. */
void weft_order_ask(weft_order *o, double work);
void weft_order_tell(weft_order *o, int64_t job);
/* The fraction of the total time that `teams` equal teams would be busy, if all operations
 * took the same time: 1 for one team. Cost O(n teams). */
double weft_order_busy(const weft_order *o, int teams);

/* ---- run file ---- */

/* Descriptions of the task's metrics and of the axes: what is needed to read job
 * records. */
typedef struct weft_tables {
    const weft_metric *metrics, *rows, *scores;
    int dim;
    const weft_axis *axis; /* [dim]; if read from a journal, options have only name, type
                              and words */
} weft_tables;

/* The tables as a text, for the head of the journal. Owned by mem. */
const char *weft_tables_text(const weft_tables *t, weft_arena *mem);

/* The jobs of a run, from which the tables of the run file are made. */
typedef struct weft_history {
    weft_tables tables;
    int64_t n;
    const weft_job_record *event; /* [n] by id */
    double optimum;               /* least first metric of any configuration of the space;
                                     NAN: not known */
    weft_starts starts;
    int64_t workers;           /* number of simulated workers that had a job */
    double overhead, makespan; /* virtual seconds: overhead of a job; duration of the
                                  search */
    double seconds;            /* of the search */
} weft_history;

/* Sums up the starts among the times time[n], in their order; h->starts is not read. */
weft_starts weft_starts_sum(const weft_time *time, int64_t n, const weft_history *h);

/* Everything that is written to a run file. */
typedef struct weft_outcome {
    const weft_run *run;
    weft_history history;
    const weft_job_record *winner;
    const char *none;   /* why nothing won; NULL: `winner` did, and what is of it is set */
    const char *config; /* text */
    const char *hosts;
    const weft_state *state; /* of the winner */
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
    int64_t began;
    const char *directory;             /* in which the run was begun; NULL: not known */
    weft_scores score[WEFT_NPART];     /* of the winner; NAN where not scored */
    double setup, search, refit, test; /* seconds */
    double times[WEFT_NTIME][WEFT_NSPREAD];
    uint64_t digest;
} weft_outcome;

/* Writes the tables of the jobs. */
WEFT_CHECKED weft_status weft_history_put(weft_h5 *f, const weft_history *h);
/* Writes the run file; called by rank 0. EFILE. */
WEFT_CHECKED weft_status weft_run_write(const char *path, const weft_outcome *o);
/* Attributes of the run that found a winner. */
enum {
    WEFT_ORIGIN_TUNER,
    WEFT_ORIGIN_DATA,
    WEFT_ORIGIN_DATA_DIGEST,
    WEFT_ORIGIN_DIGEST,
    WEFT_NORIGIN
};
/* The winner of a run file or an exported winner: everything needed to score it. */
typedef struct weft_winner {
    const char *config; /* an input file that trains it alone; NULL: not to be written */
    const char *text;   /* its configuration as readable text */
    double size;
    int64_t id; /* number of its configuration in the space */
    int64_t job, trial, round;
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS]; /* [ntensor] in state */
    const real *state;
    const weft_metric *scores;     /* the table of scores */
    weft_scores score[WEFT_NPART]; /* NAN where not scored; without counts */
    weft_likeness like;            /* properties of the data that it was trained on */
    weft_vocab vocab; /* words to which the tensors refer by number: n, text, offset, and
                         hash when read from a file; n 0: they refer to none, or the file
                         is of an earlier version */
    const char *origin[WEFT_NORIGIN]; /* of the run; set when read from a file */
} weft_winner;
/* Total number of elements of the tensors. */
int64_t weft_tensors_size(int n, const weft_tensor *t);
WEFT_CHECKED weft_status weft_winner_put(const weft_winner *w, weft_h5 *f);
/* Writes the winner as a separate file, with the attributes of the run. EFILE. */
WEFT_CHECKED weft_status weft_winner_export(const weft_winner *w, const char *run,
                                            weft_h5 *f);
/* WEFT_OK if the run file has a winner. ENONE: it has none, with the reason; EFILE: it is
 * no run file, or one of an unfinished run. */
WEFT_CHECKED weft_status weft_winner_find(const char *path, weft_arena *mem);
WEFT_CHECKED weft_status weft_winner_read(weft_winner *w, const char *path,
                                          weft_arena *mem);
/* How the tensors after a job refer to words. */
weft_word_weights weft_word_weights_of(const weft_run *r, const weft_job *job);
/* Words of other data that a winner does not have, and how often they occur there. */
typedef struct weft_unknown {
    int64_t words, tokens;
    int64_t all_words, all_tokens; /* of the data; 0: tensors refer to no words */
} weft_unknown;
/* Makes *state, the winner of the file `run` for the data that r has open: a word has the
 * weights that it has in the winner, by name, or else those that training begins with.
 * EDATA: the data need another number of weights. Cost O(weights). */
WEFT_CHECKED weft_status weft_winner_state(const weft_run *r, const weft_winner *w,
                                           const char *run, const weft_job *job,
                                           weft_state *state, weft_unknown *unknown);

#endif

/* A run, set up: what the files of this folder work on, and how they set it up, change it
 * and use its winner. */
#ifndef WEFT_RUN_ROOM_H
#define WEFT_RUN_ROOM_H

#include "result/result.h"
#include "sched/sched.h"
#include "weft/task/task.h"
#include "weft/tune/search.h"

/* What a start gives a run that was begun before more of. */
typedef enum weft_growth {
    WEFT_STAYS,         /* nothing */
    WEFT_MORE_RESOURCE, /* for its only job */
    WEFT_MORE_JOBS      /* a longer search */
} weft_growth;

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
    weft_goals goals;
    weft_data data;
    weft_winner start; /* of run.start, if that is set */
    weft_given given;  /* of it, for the words and clients of the data */
    int opened;        /* 1: data is open */
    weft_arena *work;  /* of the task, once it is set up */
    weft_planned plan; /* jobs that the search is expected to have, once it was asked for */
    struct {
        weft_window window;        /* of the data that is opened */
        int whole;                 /* 1: as weft_env.whole */
        const weft_likeness *like; /* what the data must match; NULL: nothing */
        const char *like_of;       /* name of the file that `like` is from */
    } on;
    struct {
        const char *dir;    /* of the run; NULL: no job is done */
        const char *failed; /* for the logs of failed jobs, likewise */
    } place;
    struct {
        const char *defaults; /* "run.tuner = sha, ...": what the task set where the user
                                 gave nothing */
        const char *unread;   /* "[sha] [random]": sections that this run does not read */
    } told;
    struct {
        double deadline; /* by weft_now; 0: none */
        weft_growth growth;
        int fresh; /* 1: the configuration is a user's, 0: that of a run that was begun */
    } begun;
} weft_run;

/* ---- set-up ---- */

/* Binds all options of the configuration and finds the plug-ins that it names. `fresh` 1:
 * the configuration is a user's and is checked; 0: it is that of a run that was started
 * before. The world is one team until weft_run_divide. Collective over world. ECONF. */
WEFT_CHECKED weft_status weft_run_bind(weft_run *run, weft_conf *conf, int fresh,
                                       weft_team *world, weft_arena *mem);
/* Divides the ranks into run.teams teams. ECONF if there are fewer ranks, unless `fewer` is
 * 1, as in a resumed run, which then gets as many teams as ranks. Collective over world. */
WEFT_CHECKED weft_status weft_run_divide(weft_run *run, int fewer);
/* Opens the data and sets up task and tuner. Collective over world. EDATA, ELIMIT,
 * ECONF. */
WEFT_CHECKED weft_status weft_run_open(weft_run *run, const char *data);
void weft_run_close(weft_run *run);
/* Closes the data and frees what the task has made of them. */
void weft_run_release(weft_run *run);

/* "sha", "asha with sampler tpe, mixing fedex": the tuner, and sampler and mixing if they
 * are not the default. Owned by run->mem. */
const char *weft_run_method(const weft_run *run);
/* That trains a configuration of the task. */
int64_t weft_run_resource(const weft_run *run);
/* 1: the search is of one job, whose units do not depend on its resource. */
int weft_run_may_grow(const weft_run *run);
/* The factor of weft_task.cost's operations by which a job of so many virtual seconds has
 * more, where it repeats what its trial has done before; else 1. */
double weft_run_used(const weft_run *run, const weft_job *job, double seconds);
/* A result of the job by which all configurations have the same loss. */
void weft_run_invent(const weft_job *job, weft_result *res);
/* EDATA if the rows of the data are to be scored alone. */
WEFT_CHECKED weft_status weft_run_check_rows(const weft_data *data);

/* Puts the trials of the files that space.prior names into its value, a list as
 * weft_space_read takes it, in the order of files, trials and resources; `kinds` are those
 * of weft_task.tuned. Of an older run's trials each option with a range has the value of
 * its axis or constant there. A log line counts what is left out: trials with another value
 * of what has one value here, or of whose value nothing is known. ECONF: another task or
 * loss; EFILE. */
WEFT_CHECKED weft_status weft_run_prior(weft_run *run, const weft_kind *const *kinds,
                                        int nkind);

/* ---- keys of input files ---- */

/* Checks the entries that this run does not read. Their values must be valid. With fresh =
 * 1 an unread entry is an error, with these exceptions for plain values in a file: options
 * of other tuners, options of a plug-in in place of which the command line names another,
 * and values equal to the default. Sets run->unread. ECONF. */
WEFT_CHECKED weft_status weft_run_keys(weft_run *run, int fresh);
/* 1: an option of a plug-in is read with the others as they are in self. */
int weft_run_reads(const weft_kind *kind, const void *self, const char *name);
/* 1: the key is given on the command line. */
int weft_run_typed(const weft_run *run, const char *section, const char *key);
/* Replaces an entry of a run that is resumed by the assignment "section.key=value" of an
 * option on which no result depends (WEFT_PER_SESSION), or that may grow (WEFT_GROWS). Sets
 * *grown to 1 if it has grown. The value that it has already changes nothing. ECONF:
 * another one, or less. */
WEFT_CHECKED weft_status weft_run_change(weft_conf *conf, const char *assignment,
                                         int *grown);
/* What the assignment gives a run more of. */
weft_growth weft_run_grows(const char *assignment, weft_arena *mem);
/* Names of all sections an input file may have. Owned by mem. */
const char *const *weft_run_sections(weft_arena *mem, int *n);

/* ---- plans ---- */

/* A file of inputs/plans, which the Makefile makes a part of the program. */
typedef struct weft_plan {
    const char *name, *text; /* without its ending; its lines */
} weft_plan;
extern const weft_plan weft_plans[]; /* ended by a name NULL */

/* ---- states and weights ---- */

/* Sizes of the largest state of a trial of one configuration. */
weft_state weft_run_state(const weft_run *run);
/* How the tensors after a job refer to words. */
weft_word_weights weft_word_weights_of(const weft_run *run, const weft_job *job);
/* Names of the clients that the data belong to; *name NULL: they have none. Owned by
 * run->mem. EFILE. */
WEFT_CHECKED weft_status weft_member_names(const weft_run *run, int64_t *n,
                                           const char ***name);
/* by[..] 1 at the tensors after a job that have a row for each client. Returns 0 if none
 * has. */
int weft_has_clients(const weft_run *run, const weft_job *job, char by[WEFT_MAX_TENSORS]);

/* Words of other data that a winner does not have, and how often they occur there. */
typedef struct weft_unknown {
    int64_t words, tokens;
    int64_t all_words, all_tokens; /* of the data; 0: tensors refer to no words */
} weft_unknown;

/* Makes *state, the winner of the file `path` for the data that the run has open: a word
 * has the weights that it has in the winner, by name, or else those that training begins
 * with; so has a client, where it has a name, what it keeps, which is read from the
 * winner's file when it is asked for, and its rows of tensors (weft_task.winner.by_client).
 * EDATA: the data need other numbers. Cost O(weights).
 */
WEFT_CHECKED weft_status weft_winner_state(const weft_run *run, const weft_winner *winner,
                                           const char *path, const weft_job *job,
                                           weft_state *state, weft_unknown *unknown);

/* 1: run.start is set, and trials are going to be trained. */
int weft_run_starts(const weft_run *run);
/* Reads run.start, if it is set. ECONF: the task trains no network; EFILE, ENONE. */
WEFT_CHECKED weft_status weft_run_start_read(weft_run *run);
/* After the task was set up on the data, whose classes and columns are those of run.start:
 * sets run->given. EDATA: the tensors are others. */
WEFT_CHECKED weft_status weft_run_start_from(weft_run *run);

/* ---- a winner on other data ---- */

/* A winner whose weights are those for data that are open. */
typedef struct weft_winner_at {
    const char *run, *text; /* the file, and the configuration */
    weft_job job;
    weft_state state;
    weft_unknown unknown;
} weft_winner_at;
typedef weft_status weft_winner_fn(weft_run *run, const weft_winner_at *winner, void *ctx);

/* What a winner is used on. */
typedef struct weft_winner_on {
    const char *data;   /* packed file; NULL: none, as workers have the data */
    weft_window window; /* of it */
    int n;
    char **assignment; /* [n] "section.key=value" of options on which no result depends */
} weft_winner_on;

/* Opens the data for the winner of the file `path`, and calls the function. Collective over
 * world. EFILE; EDATA: the data are not like those that it was trained on; ECONF: its task
 * has no data, or data are lacking. */
WEFT_CHECKED weft_status weft_winner_use(const char *path, const weft_winner_on *on,
                                         weft_team *world, weft_winner_fn *fn, void *ctx);

/* ---- the end of a run ---- */

/* What the task measures and the axes of the space. */
weft_tables weft_run_tables(const weft_run *run);
/* Scores the winner, by run.refit after it was trained once more, and writes the run file,
 * of whose members outcome->config and outcome->hosts are set. ENONE: it is written, and
 * nothing won; WEFT_STOP, EFILE. Collective over world. */
WEFT_CHECKED weft_status weft_run_conclude(weft_run *run, weft_sched *sched,
                                           const weft_rundir *rundir,
                                           weft_outcome *outcome);

#endif

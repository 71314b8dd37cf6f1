/* A run, set up: what the files of this folder work on. */
#ifndef WEFT_RUN_INSTANCE_H
#define WEFT_RUN_INSTANCE_H

#include "result/result.h"
#include "sched/sched.h"
#include "weft/search.h"
#include "weft/task.h"

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
    weft_data data;
    weft_winner start; /* of run.start, if that is set */
    const real *from;  /* [nfrom] its weights, for the words of the data; NULL:
                          none */
    int64_t nfrom;
    const weft_kept *from_kept; /* what its clients keep, likewise */
    int opened;                 /* 1: data is open */
    weft_window window;         /* of the data that is opened */
    weft_arena *work;           /* of the task, once it is set up */
    int whole;                  /* 1: as weft_env.whole */
    const weft_likeness *like;  /* what the data must match; NULL: nothing */
    const char *like_of;        /* name of the file that `like` is from */
    const char *dir;            /* of the run; NULL: no job is done */
    const char *failed;         /* for the logs of failed jobs, likewise */
    double deadline;            /* by weft_now; 0: none */
    const char *defaults; /* "run.tuner = sha, ...": what the task set where the user gave
                             nothing */
    weft_growth growth;
    int fresh; /* 1: the configuration is a user's, 0: that of a run that was begun */
    const char *unread; /* "[sha] [random]": sections of the file that this run does not
                           read */
} weft_run;

#endif

/* What a task is given when it is set up. */
#ifndef WEFT_ENV_H
#define WEFT_ENV_H

#include "weft/data.h"
#include "weft/space.h"

/* Arguments of setup. */
typedef struct weft_env {
    weft_team *team;
    weft_conf *conf; /* for binding the options of the plug-ins that the task names
                        (features, models) */
    weft_data *data; /* NULL: run.data is not given (only if weft_need allows that) */
    weft_data *own;  /* weft_data_tell, by a task with data elsewhere; NULL: not asked */
    weft_space *space;
    uint64_t seed;
    double memory;   /* bytes a rank may use */
    weft_arena *mem; /* lives as long as the task */
    const char *dir; /* directory of the run, for states that are directories; NULL: no job
                        is going to be done */
    const char *failed;   /* directory for what failed jobs printed, made when there is any;
                             set where dir is */
    int (*stopped)(void); /* returns 1 when the run must stop; polled by steps that take
                             long, which then return WEFT_STOP. NULL: never */
    void (*scored)(double share); /* told by `score`, where that takes long, which share of
                                     its work this rank has done. NULL: nobody is told */
    double deadline;              /* of the run, by weft_now; 0: none */
    int whole;    /* 1: the model of a winner that is trained on the train and valid parts
                     together; train has their rows where they are no federation's */
    int scaled;   /* 1: run.scale has columns scaled by the training rows */
    int balanced; /* 1: run.class_weights = balanced: samples are trained on by the weights
                     of their classes, weft_class_weights; scores stay as they are */
    int scoring; /* 1: only `score` is going to be called, with a winner of other data: what
                   only trainings need is not asked of these */
} weft_env;

#endif

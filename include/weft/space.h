/* Search spaces, mixtures of configurations, and the job and result by which tuners and
 * tasks speak of them. Pure: no MPI, no files but the list of configurations. */
#ifndef WEFT_SPACE_H
#define WEFT_SPACE_H

#include "weft/base.h"

/* ---- search space ------------------------------------------------------------------- */

/* One axis: an option with a range. Values are numbers in the option's own units (choices
 * by index), so that a configuration is `double conf[dim]`. */
typedef struct weft_axis {
    const char *section; /* plug-in the option belongs to: "rff" */
    const weft_opt *opt;
    int log;          /* 1: log-uniform on lo..hi */
    double lo, hi;    /* numbers: inclusive range; integers uniform on lo..hi */
    int nvalue;       /* choices and bools: number of values, else 0 */
    double value[16]; /* [nvalue] */
} weft_axis;

/* Options of section [space]; the axes come from ranges in the other sections. */
typedef struct weft_space {
    int source;       /* 0 random, 1 grid, 2 list */
    int64_t configs;  /* how many configurations are searched; grid and list: 0 = all */
    int64_t levels;   /* grid points of a numeric axis */
    const char *file; /* list: TAB separated, first line names the options */
    int64_t seed;     /* of the draw; -1: the run's seed */
    /* set by weft_space_read */
    int dim;
    weft_axis *axis; /* [dim] */
    int64_t count;   /* configurations that weft_space_get gives */
    double *list;    /* [count][dim] for source list, else NULL */
} weft_space;

extern const weft_kind weft_space_kind; /* section [space] */

/* Reads section [space], and the axes from every ranged entry of the kinds' sections. For a
 * list file the axes are its columns (a column that no kind has: ECONF with the nearest;
 * one named "map", "id" or "#" is a label and skipped); values are checked like options. */
WEFT_CHECKED weft_status weft_space_read(weft_space *sp, weft_conf *c,
                                         const weft_kind *const *kinds, int nkind,
                                         uint64_t seed, weft_arena *mem);
/* Configuration i, 0 <= i < count (random: any i >= 0), into conf[dim]. Random draws are a
 * function of (seed, i, axis). */
void weft_space_get(const weft_space *sp, int64_t i, double *conf);
/* Writes the values of the axes of plug-in `kind` into its instance. */
void weft_space_put(const weft_space *sp, const double *conf, const weft_kind *kind,
                    void *self);
/* "gamma=0.01 kernel=gaussian" into text[n]. */
void weft_space_show(const weft_space *sp, const double *conf, char *text, size_t n);

/* ---- mixture ------------------------------------------------------------------------ */

/* k configurations and their probabilities. k = 1 is an ordinary trial. */
typedef struct weft_mix {
    int k, dim;
    int64_t *id;  /* [k] index of the configuration in the space, for people and ties */
    double *conf; /* [k][dim] in the units of the options */
    double *z;    /* [k] log-probabilities; -INFINITY when eliminated */
} weft_mix;

weft_mix weft_mix_new(int k, int dim, weft_arena *mem); /* uniform */
void weft_mix_copy(weft_mix *to, const weft_mix *from); /* same k and dim */
/* Index drawn by unit in [0,1): the inverse of the cumulated probabilities, in index order.
 */
int weft_mix_draw(const weft_mix *m, double unit);
/* The same from a table cum[k] made by weft_mix_cumulate, for many draws: O(log k). */
void weft_mix_cumulate(const weft_mix *m, double *cum);
int weft_mix_find(const double *cum, int k, double unit);
/* z_i <- z_i - eta grad_i - log sum_j exp(z_j - eta grad_j); eliminated ones stay so. */
void weft_mix_step(weft_mix *m, double eta, const double *grad);
/* Keeps the `keep` of the alive with the lowest loss[k] (ties: lower id), the rest get z =
 * -INFINITY, then re-normalises: uniform if `flat`, else in proportion. NaN counts as
 * INFINITY. */
void weft_mix_halve(weft_mix *m, const double *loss, int keep, int flat);
int weft_mix_alive(const weft_mix *m); /* number with z > -INFINITY */
int weft_mix_mode(const weft_mix *m);  /* first largest z */
/* One packed form serves messages, journal and digest. Sizes in bytes. */
size_t weft_mix_bytes(const weft_mix *m);
void weft_mix_pack(const weft_mix *m, void *to);

/* ---- job and result ----------------------------------------------------------------- */

/* "Train the weights of this trial further, each sample drawing its configuration from
 * mix." */
typedef struct weft_job {
    int64_t id;      /* 0, 1, 2 ... in the order asked */
    int64_t trial;   /* whose weights */
    int64_t from;    /* trial whose weights a new trial copies; -1: afresh */
    int round;       /* 0, 1 ... of this trial; keys the draws of samples */
    double resource; /* to add, in the task's unit; fmap: 1 fit. 0: only score */
    double size;     /* 0 < size <= 1: share of the full number of features (growth) */
    int last;        /* 1: no later job continues or copies this trial */
    int all;         /* 1: score eliminated configurations too (the literal method) */
    weft_mix mix;    /* borrowed from the tuner until its next ask or tell */
} weft_job;

/* What a job brought. Sums are exact, so equal on any number of ranks. */
typedef struct weft_result {
    int64_t job, trial;
    double resource; /* of the trial in all */
    double loss;     /* what tuners minimise: mean over the validation samples of the score
                        asked for, under the mixture; INFINITY when diverged */
    double valid_loss, valid_error; /* mean loss; share of wrong answers, 0..1 */
    double train_loss;              /* objective per training sample */
    double cost;                    /* seconds, virtual or real */
    double residual;                /* of the fit, relative */
    int iterations;                 /* of the fit */
    int accuracy; /* 1: loss above and weft_result_score are error rates, 0: losses */
    int k;
    double *arm_loss;  /* [k] sum of losses over the validation samples given to each */
    double *arm_wrong; /* [k] number of wrong answers */
    double *arm_count; /* [k] number of samples; 0 where not scored */
} weft_result;

/* Mean score of configuration i, lower is better; NAN where none of its samples was scored.
 */
double weft_result_score(const weft_result *r, int i);
weft_result weft_result_new(int k, weft_arena *mem);
size_t weft_result_bytes(int k);
void weft_result_pack(const weft_result *r, void *to);
void weft_result_unpack(weft_result *r, const void *from); /* r->k must agree */

#endif

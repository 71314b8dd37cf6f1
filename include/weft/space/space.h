/* Search spaces: axes and configurations. No MPI; the only file read is the list of
 * configurations. All functions are local. */
#ifndef LIBWEFT_SPACE_SPACE_H
#define LIBWEFT_SPACE_SPACE_H

#include "weft/base/conf.h"

/* A condition for an axis to exist: another axis has one of these values. */
typedef struct weft_axis_when {
    int axis;   /* index in the space of the other axis */
    int nvalue; /* 0: lo <= value <= hi */
    double lo, hi;
    double *value; /* [nvalue] */
} weft_axis_when;

/* One axis: an option with a range. Values are numbers in the option's own units (choices
 * by index), so that a configuration is `double conf[dim]`. A configuration that does not
 * have an axis, because a condition ("1 .. 3 when kind = tfidf") is not met, has NAN in its
 * place, and its option has its default. */
typedef struct weft_axis {
    const char *section; /* plug-in the option belongs to: "rff" */
    const weft_opt *opt;
    int log;       /* 1: log-uniform on lo..hi */
    double lo, hi; /* numbers: inclusive range; integers uniform on lo..hi */
    double step;   /* of "lo .. hi step s", which has its values; else 0 */
    int nvalue;    /* choices and bools: number of values, else 0 */
    double *value; /* [nvalue] */
    int has_near;  /* 1: `near` is believed to be about its best value */
    double near;
    int nwhen;            /* conditions, which must all be met; 0: it always exists */
    weft_axis_when *when; /* [nwhen] */
} weft_axis;

/* A combination that no configuration may have: all of these conditions met. */
typedef struct weft_forbidden {
    const char *text; /* "client.batch = 64 and client.epochs = 4 .. 9" */
    int n;
    weft_axis_when *part; /* [n] */
} weft_forbidden;

#define WEFT_MAX_GOALS 8 /* objectives and limits */

/* A result of a trial that is known before the search. */
typedef struct weft_known {
    int64_t trial;   /* 0, 1 ... in the order of the list */
    double resource; /* of the trial in all; NAN: that of the schedule */
    double loss;     /* INFINITY: it diverged */
    double tie;      /* decides between equal losses; NAN: not known */
    double excess,
        aim[WEFT_MAX_GOALS]; /* as in weft_aims, the loss first; NAN: not known */
    double other; /* 0: losses are compared with those of the search; j: with those of the
                     same j alone, as they are of other data */
    double *conf; /* [dim] */
} weft_known;

/* Options of section [space]; the axes come from ranges in the other sections. */
typedef struct weft_space {
    int source;       /* 0 random, 1 grid, 2 list */
    int64_t configs;  /* how many configurations are searched; grid and list: 0 = all */
    int64_t levels;   /* grid points of a numeric axis */
    const char *file; /* list: TAB separated, first line names the options; or the list */
    const char
        *first; /* random: such a list, with which the search begins, or "defaults" */
    const char *forbid; /* "key = values and key = values or ...", or "" */
    const char *prior;  /* trials that samplers are told, as weft_space_list has them */
    /* set by weft_space_read */
    uint64_t seed; /* of the draw */
    int dim;
    weft_axis *axis; /* [dim] */
    int *order;      /* [dim] all axes, each after those that its conditions name */
    int64_t count;   /* configurations that weft_space_config gives; for source random the
                        number asked for, beyond which it gives more */
    int64_t listed;  /* configurations in list: all of a list or grid; those of `first` */
    double *list;    /* [listed][dim]; NULL where there are none */
    int *line;       /* [listed] of a list's file */
    int nforbid;
    weft_forbidden *forbidden; /* [nforbid] */
    int64_t nknown;
    weft_known *known; /* [nknown] results of these trials, in the order of trials */
    /* set by the run before the tuner's setup */
    int64_t samples; /* that a fit has for training; 0: not known, or the task trains in
                        rounds */
    double guess;    /* error rate of guesses, 1 - 1 / classes; 0: not known */
    int64_t scored;  /* samples for validation; 0: not known */
    int objectives;  /* of results, weft_aims: how many are minimised; 0: the loss alone */
} weft_space;

extern const weft_kind weft_space_kind; /* section [space] */

/* Reads section [space], and the axes from every ranged entry of the kinds' sections; those
 * of a kind whose keys are the user's own have the options of weft_conf_open. For a
 * list file the axes are its columns (a column that no kind has: ECONF with the nearest;
 * one named "map", "id" or "#" is a label and skipped; written "client.lr" where several
 * kinds have an option "lr"); values are checked like options, and "-" is that of an axis
 * that the configuration does not have. Such an option may also have a range, which then
 * sets the scale of its axis and the bounds for neighbours.
 *     range when key = values and section.key = values ...
 * is an axis that exists only where these options have these values: "a .. b", "x | y",
 * "x". These options belong to the kinds; a name without section is of the axis' own
 * section. If one is an axis itself, its role must let it stay fixed for as long as this
 * axis; if not, its value decides whether the axis exists in all configurations or in none.
 * An axis whose condition names one that does not exist does not exist either.
 *     a .. b step c
 * of integers are a, a + c .. b. An axis has at most 4096 values.
 *     space.forbid = section.key = values and section.key = values or ...
 * are combinations that no configuration has, of conditions as after "when"; one of an axis
 * that a configuration lacks is not met. ECONF where a list or space.first has one, where
 * a grid has no other point, and where more than 999 of 1,000 random configurations have
 * one. Cost O(configurations), for random ones of 10,000 of them.
 *     a .. b near x, log a .. b near x
 * is an axis with a belief (weft_sampler_believe), of a random space. */
WEFT_CHECKED weft_status weft_space_read(weft_space *space, weft_conf *conf,
                                         const weft_kind *const *kinds, int nkind,
                                         uint64_t seed, weft_arena *mem);
/* Configuration i, 0 <= i < count (random: any i >= 0), into conf[dim]. Random draws are a
 * function of (seed, i, axis), the first of them that is not forbidden; the first
 * configurations are those of space->first. A grid has each configuration only once, also
 * where axes do not exist. */
void weft_space_config(const weft_space *space, int64_t i, double *conf);
/* The configuration of the options' defaults, or of the values of their axes next to them;
 * keys of the user's have none and keep the value in conf[dim]. Where that is forbidden,
 * random configuration 0. */
void weft_space_defaults(const weft_space *space, double *conf);
/* 1 if axis a exists in the configuration. Reads only the values of axes that come before a
 * in space->order. Cost O(conditions). */
int weft_space_is_active(const weft_space *space, const double *conf, int a);
/* Repairs a configuration after values of conf[dim] were changed: sets axes that no longer
 * exist to NAN, and draws a value, by (seed, key, axis), for those that exist now and are
 * NAN. Cost O(dim). */
void weft_space_settle(const weft_space *space, uint64_t seed, uint64_t key, double *conf);
/* The number of points of a space whose axes are all choices and integers, counting those
 * that conditions exclude; 0: it has others, none, or more than WEFT_FEW_POINTS points. */
int64_t weft_space_points(const weft_space *space);
#define WEFT_FEW_POINTS 100000
/* Marks a configuration of such a space in used[points]; where it is marked already, the
 * nearest that is not takes its place: that of the least sum over axes of the difference of
 * positions, 1 where the values of a choice differ or one lacks the axis; the first of
 * equal ones. Returns 0 where all are used, and changes nothing. Cost O(1), or
 * O(points dim). */
int weft_space_unused(const weft_space *space, char *used, double *conf, weft_arena *tmp);
/* The first axis, in space->order, whose value cannot be of this space: NAN though the axis
 * exists, a number though it does not, or, with source random, a number that is not on the
 * axis; -1: there is none. Cost O(dim). */
int weft_space_misfit(const weft_space *space, const double *conf);
/* The text of the first combination of space.forbid that the configuration has; NULL: it
 * has none. Cost O(conditions). */
const char *weft_space_forbids(const weft_space *space, const double *conf);
/* Writes the values of the axes of plug-in `kind` that the configuration has into its
 * instance, which has the defaults. */
void weft_space_put(const weft_space *space, const double *conf, const weft_kind *kind,
                    void *self);
/* Configuration i of a set around `centre`: 0 is the centre, the others move each axis that
 * may differ between samples (WEFT_PER_SAMPLE) by a uniform draw of up to +- eps of its
 * length (log axes: of its logarithm; lists and integers: up to ceil(eps (values - 1))
 * places), clipped to the axis. Other axes keep the centre's value; axes that come to exist
 * by a move are drawn; what is forbidden is drawn again, and is the centre where that does
 * not help. A function of (seed, centre, i). With the published ranges and
 * eps = 0.1 this gives the neighbours of FedEx's released program. */
void weft_space_perturb(const weft_space *space, const double *centre, double eps,
                        uint64_t seed, int64_t i, double *conf);
/* The position u of a value, not NAN, on its axis, 0 < u < 1 (0 and 1 occur only at the
 * ends of real axes); and the value at a position u in [0, 1].
 *     real     (v - lo) / (hi - lo); 0.5 where lo = hi
 *     integer  the same with lo - 1/2 and hi + 1/2, so that each value has an interval
 *              around it; the value at u is the one in whose interval u is
 *     list     value j of n has the interval j / n .. (j + 1) / n, and is in its middle
 * Log axes: the logarithms of value and ends. */
double weft_axis_unit(const weft_axis *axis, double value);
/* The index of the value of an axis' list that is nearest. */
int weft_axis_index(const weft_axis *axis, double value);
double weft_axis_value(const weft_axis *axis, double unit);
/* 1: the number is one of the values or, without values, from lo to hi. */
int weft_range_has(int nvalue, const double *value, double lo, double hi, double x);
/* 1: the values are numbers, so their order has a meaning; 0: choices, words and
 * bools. */
int weft_axis_is_ordered(const weft_axis *axis);
/* The next value of a list or an integer axis above (up > 0) or below; `value` itself if
 * there is none, and on real axes. */
double weft_axis_step(const weft_axis *axis, double value, int up);
/* The value of axis a that a random configuration has for the random number unit in [0, 1).
 */
double weft_space_resample(const weft_space *space, int a, double unit);
/* Hash of the axis's name. It is part of the key of the axis's random numbers, so that
 * fixing one axis does not change the draws of the others. */
uint64_t weft_axis_key(const weft_axis *axis);
/* "client.lr" into text[n]. */
void weft_axis_name(const weft_axis *axis, char *text, size_t n);
/* Points of a grid of at most `levels` on an axis; all its values where it has a list. */
int64_t weft_axis_levels(const weft_axis *axis, int64_t levels);
/* Point j of n of them, from the lower end to the upper. */
double weft_axis_point(const weft_axis *axis, int64_t j, int64_t n);
/* The range as written in an input file, "log 0.01 .. 1 when rff.kernel = gaussian", into
 * text[n]. */
void weft_axis_show(const weft_space *space, int a, char *text, size_t n);
/* "client.lr=0.1 server.lr=1", as on the command line, into text[n]; "-" is written for an
 * axis that the configuration does not have. */
void weft_axes_show(const weft_axis *axis, int dim, const double *conf, char *text,
                    size_t n);

#endif

/* Search spaces, mixtures of configurations, and the jobs and results that tuners and tasks
 * exchange. No MPI; the only file read is the list of configurations.
 * All functions are local. */
#ifndef WEFT_SPACE_H
#define WEFT_SPACE_H

#include "weft/base.h"

/* ---- rankings ---- */

/* The place of a job, a trial or a configuration in a ranking. All rankings are by it:
 * those of schedules, samplers, winners and reports. Lower is better in each member. */
typedef struct weft_rank {
    double loss; /* what is minimised; never NaN */
    double tie;  /* decides between equal losses, of which error rates have many: the mean
                    validation loss; never NaN */
    int64_t id;  /* decides between what is equal in both; differs within a ranking */
} weft_rank;

/* That of a loss and a mean validation loss: NaN counts as INFINITY, and with a loss that
 * is not finite, of a training that diverged, so does the other. */
weft_rank weft_rank_of(double loss, double tie, int64_t id);
/* 1: a is better than b. */
int weft_rank_before(weft_rank a, weft_rank b);
/* The same for qsort, the best first. */
int weft_rank_compare(const void *a, const void *b);

/* ---- search space ---- */

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
    int log;              /* 1: log-uniform on lo..hi */
    double lo, hi;        /* numbers: inclusive range; integers uniform on lo..hi */
    int nvalue;           /* choices and bools: number of values, else 0 */
    double value[16];     /* [nvalue] */
    int nwhen;            /* conditions, which must all be met; 0: it always exists */
    weft_axis_when *when; /* [nwhen] */
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
    int *order;      /* [dim] all axes, each after those that its conditions name */
    int64_t count;   /* configurations that weft_space_config gives; for source random the
                        number   asked for, beyond which it gives more */
    double *list;    /* [count][dim] for source list, and a grid with conditions; NULL */
    /* set by the run before the tuner's setup */
    int64_t samples; /* that a fit has for training; 0: not known, or the task trains in
                        rounds */
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
 * An axis whose condition names one that does not exist does not exist either. */
WEFT_CHECKED weft_status weft_space_read(weft_space *space, weft_conf *conf,
                                         const weft_kind *const *kinds, int nkind,
                                         uint64_t seed, weft_arena *mem);
/* Configuration i, 0 <= i < count (random: any i >= 0), into conf[dim]. Random draws are a
 * function of (seed, i, axis). A grid has each configuration only once, also where axes do
 * not exist. */
void weft_space_config(const weft_space *space, int64_t i, double *conf);
/* 1 if axis a exists in the configuration. Reads only the values of axes that come before a
 * in space->order. Cost O(conditions). */
int weft_space_is_active(const weft_space *space, const double *conf, int a);
/* Repairs a configuration after values of conf[dim] were changed: sets axes that no longer
 * exist to NAN, and draws a value, by (seed, key, axis), for those that exist now and are
 * NAN. Cost O(dim). */
void weft_space_settle(const weft_space *space, uint64_t seed, uint64_t key, double *conf);
/* The first axis, in space->order, whose value cannot be of this space: NAN though the axis
 * exists, a number though it does not, or, with source random, a number that is not on the
 * axis; -1: there is none. Cost O(dim). */
int weft_space_misfit(const weft_space *space, const double *conf);
/* Writes the values of the axes of plug-in `kind` that the configuration has into its
 * instance, which has the defaults. */
void weft_space_put(const weft_space *space, const double *conf, const weft_kind *kind,
                    void *self);
/* Configuration i of a set around `centre`: 0 is the centre, the others move each axis that
 * may differ between samples (WEFT_PER_SAMPLE) by a uniform draw of up to +- eps of its
 * length (log axes: of its logarithm; lists and integers: up to ceil(eps (values - 1))
 * places), clipped to the axis. Other axes keep the centre's value; axes that come to exist
 * by a move are drawn. A function of (seed, centre, i). With the published ranges and
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
void weft_space_show(const weft_space *space, const double *conf, char *text, size_t n);
void weft_axes_show(const weft_axis *axis, int dim, const double *conf, char *text,
                    size_t n);

/* ---- mixture ---- */

/* k configurations and their probabilities. k = 1 is an ordinary trial. A product of
 * simplexes, one for each axis (FedEx on a grid), has nblock > 1: entries off[b] ..
 * off[b+1]-1 form block b, whose probabilities sum to 1. A draw takes one entry of each
 * block; the configuration drawn is that of the entry of block 0, with value axis[b]
 * replaced by that of the entry of block b, for each b > 0. */
typedef struct weft_mix {
    int k, dim;
    int nblock;      /* 1 .. WEFT_MAX_BLOCKS; 1: one simplex */
    const int *off;  /* [nblock+1] borrowed; NULL: one simplex */
    const int *axis; /* [nblock] borrowed; NULL: one simplex */
    int64_t *id;     /* [k] number of the configuration, shown to users and used to break
                        ties: its index in the space, or a number that the tuner gives,
                        unique in the run */
    double *conf;    /* [k][dim] in the units of the options */
    double *logp;    /* [k] log-probabilities; -INFINITY when eliminated */
} weft_mix;
#define WEFT_MAX_BLOCKS 16

weft_mix weft_mix_new(int k, int dim, weft_arena *mem); /* uniform, one simplex */
/* Makes a mixture a product of nblock simplexes: off[nblock+1] increases from 0 to k;
 * axis[nblock]. Both are borrowed by the mixture and its copies. Blocks become uniform. */
void weft_mix_divide(weft_mix *mix, int nblock, const int *off, const int *axis);
/* First entry of block b; k where b = nblock. */
int weft_mix_off(const weft_mix *mix, int b);
void weft_mix_copy(weft_mix *to, const weft_mix *from); /* same k and dim */
/* Index drawn from one simplex by the random number unit in [0,1), by inversion of the
 * cumulative distribution in index order. Cost O(k). */
int weft_mix_draw(const weft_mix *mix, double unit);
/* The same from a table cum[k] of cumulative probabilities made by weft_mix_cumulate. Each
 * block of a product has its own table: weft_mix_find(cum + off[b], entries of b, unit)
 * returns an index within block b. Cost O(log k) a draw. */
void weft_mix_cumulate(const weft_mix *mix, double *cum);
int weft_mix_find(const double *cum, int k, double unit);
/* Draws one entry of each block by unit[nblock] in [0,1) into pick[nblock]. */
void weft_mix_pick(const weft_mix *mix, const double *unit, int *pick);
/* The most probable entry of each block, of equal ones the first, into pick[nblock]. */
void weft_mix_best(const weft_mix *mix, int *pick);
/* The configuration that the entries pick[nblock] make together, into conf[dim]. */
void weft_mix_compose(const weft_mix *mix, const int *pick, double *conf);
/* z_i <- z_i - eta grad_i - log sum_j exp(z_j - eta grad_j), the sum over the block of i;
 * eliminated ones stay eliminated. eta grad must be finite. Cost O(k). */
void weft_mix_step(weft_mix *mix, double eta, const double *grad);
/* For one simplex. Keeps the `keep` best entries by rank[k] of those not eliminated; the
 * others get z = -INFINITY. The probabilities of those kept are then set equal if `flat`,
 * else scaled to sum 1. rank[i].id is i. Cost O(k log k). */
void weft_mix_halve(weft_mix *mix, const weft_rank *rank, int keep, int flat);
int weft_mix_alive(const weft_mix *mix); /* entries that are not eliminated */
/* Entropy in nats, the sum over blocks. */
double weft_mix_entropy(const weft_mix *mix);

/* ---- rules that move a mixture every round ---- */

typedef enum weft_update_schedule {
    WEFT_UPDATE_NONE,         /* the mixture stays */
    WEFT_UPDATE_CONSTANT,     /* eta */
    WEFT_UPDATE_ROOT,         /* eta / sqrt t, t = 1, 2 ... (FedEx: auto) */
    WEFT_UPDATE_ADAPTIVE,     /* eta / sqrt(sum over rounds of |grad|_inf^2) */
    WEFT_UPDATE_AGGRESSIVE,   /* eta / |grad|_inf */
    WEFT_UPDATE_SCALE,        /* eta sqrt(2 ln k) */
    WEFT_UPDATE_HORIZON,      /* eta / sqrt(horizon): multiplicative weights, n known */
    WEFT_UPDATE_AS_PUBLISHED, /* exactly as in SysML 2019: p_i *= exp(-s_j /
                                 sqrt(horizon)) */
    WEFT_UPDATE_RACING        /* no steps: entries are eliminated, by weft_mix_race_step */
} weft_update_schedule;

/* How the scores of a round's clients change a mixture. k is the number of entries of a
 * block that are not eliminated. */
typedef struct weft_mix_update {
    weft_update_schedule schedule;
    double eta; /* 0: sqrt(2 ln k), of each block; RACING: the chance that the best entry
                   of a block is ever eliminated, 0 < eta < 1 */
    double horizon;  /* rounds; 0: their number so far, t */
    double discount; /* of the baseline: 0 last round, 1 plain mean */
    double floor;    /* in divisions, a probability below floor / k is replaced by floor /
                        k */
    double cutoff;   /* once the entropy (nats) is below it, the most probable entry of each
                        block gets probability 1 and keeps it; 0: never */
    int diff;        /* a client's score is 1: after - before; 0: after */
} weft_mix_update;

/* What an update rule keeps from round to round: part of a trial's state, zero at its
 * start. */
typedef struct weft_mix_update_state {
    double steps;      /* t, the number of rounds that changed the mixture */
    double base, mass; /* sums over past rounds: discount^age mean score; discount^age */
    double sumsq[WEFT_MAX_BLOCKS]; /* sum over rounds of |grad|_inf^2, for each block */
} weft_mix_update_state;

/* One round: client j of n drew entries pick[j][nblock] and scored before[j] and after[j]
 * (lower is better) with weight[j] (sum 1, >= 0). With its score s_j as rule->diff says
 *     grad_i = sum_j weight_j (s_j - base / mass) [i in pick_j] / max(p_i, floor / k),
 *     z <- z - step grad, normalised block by block,
 * where the baseline of the first round is 0, as in the released FedEx, or with
 * WEFT_UPDATE_HORIZON the mean of the round itself. WEFT_UPDATE_AS_PUBLISHED takes grad_i =
 * sum_j s_j [i in pick_j]. A probability below 2^-53, the resolution of the random numbers
 * that are used for draws, counts as 2^-53.
 * before  NULL allowed where rule->diff is 0
 * A score beyond +-1e100 or NaN is replaced by the worst of the other scores; a round in
 * which all scores are such, or n = 0, changes nothing: z is never NaN. Eliminated entries
 * stay eliminated. Cost O(n nblock + k). Khodak et al., "Federated Hyperparameter
 * Tuning: Challenges, Baselines, and Connections to Weight-Sharing", NeurIPS 2021,
 * algorithm 2, with the released program's schedules; WEFT_UPDATE_HORIZON and
 * WEFT_UPDATE_AS_PUBLISHED: Khodak et al., SysML 2019, section 4.1. */
void weft_mix_update_step(const weft_mix_update *rule, weft_mix_update_state *drift,
                          weft_mix *mix, int n, const int *pick, const double *before,
                          const double *after, const double *weight);

/* One round of a race, with clients as above: entries of a block have equal probabilities
 * until one of them is significantly worse than the best so far, and is eliminated. With m
 * the mean sum_j weight_j s_j of the round, x_j = n weight_j (s_j - m), r the root mean
 * square of x, S_i and V_i sums over all rounds, c = 4 draws,
 *     S_i += x_j / r,  V_i += x_j^2 / r^2  for i in pick_j,
 * and l the entry of lowest S that is not eliminated: entry i is eliminated as soon as,
 * with D = S_i - S_l, v = V_i + V_l + c, and k entries in the block,
 *     sqrt(c / v) exp(D^2 / 2v) >= (k - 1) / (2 eta).
 * If two entries are equally good and equally probable, each x_j is equally likely to have
 * been drawn by either of them, so that its contribution to D has a random sign of
 * probability 1/2 given its magnitude. This holds for any distribution of scores, however
 * unequal the clients are and however their mean moves from round to round. Therefore
 * exp(a D - a^2 (v - c) / 2) is a supermartingale for all a, the left side is its mean over
 * normal a of variance 1 / c, and the probability that it ever, in any round, reaches the
 * right side with D > 0 is at most eta / (k - 1): in sum at most eta for all entries that
 * could eliminate the best. Scores that do not distinguish the entries leave the mixture as
 * it is.
 * evidence  [2][k] S and V: part of a trial's state, zero at its start
 * Blocks must be uniform at the start. NaN and infinite scores are treated as in
 * weft_mix_update_step. A round whose scores are all equal changes nothing. Cost O(n
 * nblock + k). Racing: Maron, Moore, "Hoeffding races", NIPS 1993; the bound: Ville
 * 1939, Robbins, "Statistical methods related to the law of the iterated logarithm",
 * Annals of Mathematical Statistics 41, 1970, for symmetric increments de la Pena, "A
 * general class of exponential inequalities for martingales and ratios", Annals of
 * Probability 27, 1999. */
void weft_mix_race_step(const weft_mix_update *rule, double *evidence, weft_mix *mix, int n,
                        const int *pick, const double *before, const double *after,
                        const double *weight);

/* ---- job and result ---- */

/* May the trial of a job win the run? */
typedef enum weft_eligibility {
    WEFT_WINS_LAST,     /* only if no other job can win; then the last such job wins */
    WEFT_WINS_RESOURCE, /* compared by resource (more is better), then by loss */
    WEFT_WINS_LOSS      /* compared by loss only */
} weft_eligibility;

/* "Train the weights of this trial further, each sample drawing its configuration from
 * mix." */
typedef struct weft_job {
    int64_t id;      /* 0, 1, 2 ... in the order asked */
    int64_t trial;   /* whose weights are trained */
    int64_t from;    /* trial whose weights a new trial copies; -1: none, it starts from
                        initial weights */
    int index;       /* 0, 1 ... among this trial's jobs; part of the key of the samples'
                        draws */
    double resource; /* to add, in the task's unit: fits of fmap, rounds of fed. 0: only
                        score */
    double feature_fraction; /* 0 < it <= 1: share of the full number of features */
    int last;                /* 1: no later job continues or copies this trial */
    int score_eliminated;    /* 1: score eliminated configurations too (ws_sha.literal) */
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

/* One of the quantities that a task measures: a column of the run file. A table of them
 * ends with a row whose name is NULL; a table that is NULL is empty. */
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
    int k, nmetric;
    double *metric;    /* [nmetric] by the task's table; NAN: not measured */
    double *arm_loss;  /* [k] sum of losses over the validation samples given to each */
    double *arm_wrong; /* [k] number of wrong answers */
    double *arm_count; /* [k] number of samples; 0 where not scored */
    double *logp;      /* [k] log-probabilities after the last unit done; equal to the job's
                          if the mixture does not change */
    /* "name=number name=number ...": measurements whose names are not in the task's table,
     * which are only written to the run file and are not part of the digest. NULL: none.
     * Borrowed for the life of the run. */
    const char *note;
    /* Not recorded: how the job failed for a reason that may lie in the place where it was
     * done, as programs do that crash; its loss is then INFINITY. */
    weft_failure failure;
    const char *why; /* on the first rank, where it failed; borrowed until the next job */
} weft_result;

/* Mean score of configuration i, lower is better; NAN where none of its samples was scored.
 */
double weft_result_score(const weft_result *res, int i);
/* The mean validation loss of the job, the first metric of every task, which decides
 * between jobs of equal res->loss; NAN if it was not measured. As exact as res->loss. */
double weft_result_tie(const weft_result *res);
/* The rank of the job, with its trial as id; that of configuration i among those of the
 * mixture, with i as id. */
weft_rank weft_result_rank(const weft_result *res);
weft_rank weft_result_rank_of(const weft_result *res, int i);
/* A result with sums 0 and metrics NAN, owned by mem. */
weft_result weft_result_new(int k, int nmetric, weft_arena *mem);
/* The same without metrics, of zeros arm[WEFT_ARM_COLUMNS][k] that the caller owns. */
weft_result weft_result_in(int k, double *arm);
#define WEFT_ARM_COLUMNS 4 /* arm_loss, arm_wrong, arm_count, logp */
/* Prepares the result for the first unit of a job of res->k configurations: sets the sums
 * to 0 and the log-probabilities to the job's. */
void weft_result_begin(weft_result *res, const weft_job *job);

#define WEFT_MAX_SCORES 8 /* of a task's table of scores */

/* Scores of weights on a part of the data. */
typedef struct weft_scores {
    double metric[WEFT_MAX_SCORES]; /* by the task's table; NAN: not scored */
    double count;                   /* predictions scored */
} weft_scores;
weft_scores weft_scores_none(void);

/* ---- jobs that are done ---- */

/* Real seconds of a unit: means over the ranks of the team. */
typedef struct weft_spent {
    double wall, compute, wait, comm;
} weft_spent;

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
#define WEFT_RECORD_FORMAT 3
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
/* Unpacks into a record whose job, parent, worker, start and end are set already. Returns 0
 * if the packed job is another one, or the record is damaged. */
int weft_job_record_unpack(weft_job_record *record, const void *packed, weft_arena *mem);
/* Unpacks a whole record, with room for its rows. Returns 0 if it is damaged. */
int weft_job_record_read(weft_job_record *record, const void *packed, weft_arena *mem);
/* Digest of the arithmetic of e[n]: of each job, in order of id, the loss, the
 * log-probabilities after it and the hash of its weights. It does not depend on how jobs
 * are described, recorded or scheduled. */
uint64_t weft_job_record_digest(const weft_job_record *record, int64_t n);

#endif

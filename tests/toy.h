/* Federations for tests, small enough to be computed by hand: clients in memory and in a
 * packed file, softmax regression on them in doubles, and task fed set up on them. */
#ifndef WEFT_TOY_H
#define WEFT_TOY_H

#include "measured.h"
#include "results.h"
#include "scratch.h"

enum { D = 5, C = 3, W = C * (D + 1), MAX_TOYS = 32 };

/* ---- federations ---- */

/* Samples of n clients, in memory and in a packed file. */
struct toy {
    int n;
    int64_t (*count)[WEFT_NPART]; /* [n] */
    double **x;                   /* [n][all parts][D] */
    int32_t **label;              /* [n][all parts] */
    weft_data data;
    double memory; /* 0: enough */
};

static struct toy *toys[MAX_TOYS];
static int ntoy;

static const weft_opt no_options[] = {{0}};

/* Hands the newest toy over. */
static inline weft_status toy_read(const void *self, const char *source, weft_pack *pack)
{
    static const char *const name[C] = {"a", "b", "c"};
    const struct toy *toy = toys[ntoy - 1];
    (void)self;
    (void)source;
    weft_pack_split(pack, "as made");
    TRY(weft_pack_clients(pack, WEFT_REALS, &(weft_clients){.d = D, .stride = 1}));
    for (int c = 0; c < toy->n; c++)
        TRY(weft_pack_client_rows(pack, NULL, toy->count[c], toy->x[c], toy->label[c]));
    weft_pack_classes(pack, C, name);
    return WEFT_OK;
}

static const weft_reader toy_reader = {
    .kind = {.name = "toy", .about = "toy", .size = 1, .opts = no_options},
    .read = toy_read};

/* Sample i: standard normal, 1.5 more along the axis of its class, moved by client. */
static inline void make_sample(int64_t i, int c, double *x, int32_t *label)
{
    *label = (int32_t)(weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, 99, 0).v[0] % C);
    for (int d = 0; d < D; d++) {
        x[d] = (float)(normal_of(5, i, d, 0) + (d == *label ? 1.5 : 0) + 0.1 * (c % 4));
    }
}

/* Clients of count[n][3] samples, in memory alone; toy_open writes them. */
static inline struct toy *toy_made(int n, int64_t (*count)[WEFT_NPART])
{
    weft_check(ntoy < MAX_TOYS, "no room for another federation");
    struct toy *toy = toys[ntoy++] = WEFT_NEW(mem, struct toy, 1);
    toy->n = n;
    toy->count = weft_arena_alloc(mem, (size_t)n, sizeof *toy->count);
    toy->x = WEFT_NEW(mem, double *, n);
    toy->label = WEFT_NEW(mem, int32_t *, n);
    int64_t i = 0;
    for (int c = 0; c < n; c++) {
        int64_t total = 0;
        for (int p = 0; p < WEFT_NPART; p++) total += toy->count[c][p] = count[c][p];
        toy->x[c] = WEFT_NEW(mem, double, total *D);
        toy->label[c] = WEFT_NEW(mem, int32_t, total);
        for (int64_t e = 0; e < total; e++, i++)
            make_sample(i, c, toy->x[c] + e * D, toy->label[c] + e);
    }
    return toy;
}

/* Packs the newest toy, and opens it. */
static inline void toy_open(struct toy *toy)
{
    pack_to(&toy->data, &toy_reader, "nowhere", printed("toy%d.h5", ntoy - 1), "");
}

/* Clients of count[n][3] samples. */
static inline struct toy *toy_new(int n, int64_t (*count)[WEFT_NPART])
{
    struct toy *toy = toy_made(n, count);
    toy_open(toy);
    return toy;
}

static inline struct toy *five_clients(void)
{
    int64_t count[5][WEFT_NPART] = {
        {20, 7, 9}, {3, 2, 1}, {11, 4, 4}, {30, 1, 8}, {8, 8, 8}};
    return toy_new(5, count);
}

/* Of unlike sizes; some lack samples of a part. */
static inline struct toy *forty_clients(void)
{
    int64_t count[40][WEFT_NPART];
    for (int c = 0; c < 40; c++) {
        count[c][WEFT_TRAIN] = c % 13 == 5 ? 0 : 3 + 5 * c % 37;
        count[c][WEFT_VALID] = c % 11 == 3 ? 0 : 1 + c % 6;
        count[c][WEFT_TEST] = 1 + c % 4;
    }
    return toy_new(40, count);
}

/* ---- a task that stands ---- */

struct stand {
    void *self;
    weft_space space;
    weft_mix mix;
    weft_job job;
    weft_state state;
    weft_result res;
    double row[512][WEFT_MAX_METRICS];
    int rows;
};

static const weft_task *const fed = &weft_task_fed;

/* Sets the task up by the options, a text of an input file. */
static inline weft_status stand_up(struct stand *stand, struct toy *toy,
                                   const char *options, int k)
{
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    *stand = (struct stand){.self = weft_arena_alloc(mem, 1, fed->kind.size)};
    weft_conf_init(conf, mem);
    TRY(weft_conf_text(conf, "test", options));
    weft_env env = {.team = &world,
                    .data = &toy->data,
                    .seed = 3,
                    .memory = toy->memory > 0 ? toy->memory : 1e9,
                    .mem = mem};
    TRY(weft_agree(open_task(fed, stand->self, conf, &stand->space, env), &world));
    stand->mix = first_configs(&stand->space, k);
    stand->job = weft_job_new(0, 0, &stand->mix);
    stand->state = weft_state_new(fed, stand->self, &stand->job, mem);
    stand->res = result_of(fed, k);
    fed->start(stand->self, &stand->job, &stand->state);
    return WEFT_OK;
}

/* Runs units first .. last-1 of a job of `rounds`. */
static inline void units(struct stand *stand, int rounds, int first, int last)
{
    stand->job.resource = rounds;
    if (first == 0) weft_result_begin(&stand->res, &stand->job);
    for (int u = first; u < last; u++) {
        double *row = stand->row[stand->rows++];
        memset(row, 0, sizeof stand->row[0]);
        must(fed->step(stand->self, &stand->job, u, &stand->state, row, &stand->res));
    }
}

static inline struct stand *standing(struct toy *toy, const char *options, int k)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    must(stand_up(stand, toy, options, k));
    return stand;
}

static inline struct stand *trained(struct toy *toy, const char *options, int k, int rounds)
{
    struct stand *stand = standing(toy, options, k);
    units(stand, rounds, 0, rounds);
    return stand;
}

/* The scores of a part by the weights that a winner has. */
static inline weft_scores scored(struct stand *stand, weft_part part)
{
    weft_scores told;
    must(fed->winner.score(stand->self, &stand->job, &stand->state, part, &told));
    return told;
}

/* Where the options are refused, the message has that word. */
static inline void stand_refused(struct toy *toy, const char *options, const char *word)
{
    struct stand stand;
    weft_status st = stand_up(&stand, toy, options, 1);
    ok(st != WEFT_OK && says(word) && !strchr(weft_error(), '\n'), "%s: %s", word,
       weft_error());
}

/* Of all that a stand has. */
static inline uint64_t hash_of(const struct stand *stand)
{
    uint64_t h = weft_state_hash(&stand->state);
    h = result_hash(&stand->res, h);
    return weft_hash(stand->row, sizeof stand->row[0] * (size_t)stand->rows, h);
}

/* 1: a job of `rounds` that is stopped after every `each` of them goes on, in an instance
 * of its own, to that hash. */
static inline int goes_on_alike(struct toy *toy, const char *options, int k,
                                weft_mix_update moving, int rounds, int each,
                                uint64_t whole)
{
    int same = 1;
    for (int stop = 1; stop < rounds; stop += each) {
        struct stand *before = standing(toy, options, k),
                     *after = standing(toy, options, k);
        before->job.update = after->job.update = moving;
        units(before, rounds, 0, stop);
        must(weft_state_copy(&after->state, &before->state));
        result_copy(&after->res, &before->res);
        memcpy(after->row, before->row, sizeof after->row);
        after->rows = before->rows;
        units(after, rounds, stop, rounds);
        same &= hash_of(after) == whole;
    }
    return same;
}

/* ---- softmax regression in doubles ---- */

/* Sums over samples first .. first+n-1 of a client: gradients into g[W] (NULL: none),
 * losses, wrong answers. */
struct sums {
    double loss, wrong, n;
};

static inline struct sums softmax(const struct toy *toy, int c, int64_t first, int64_t n,
                                  const double *w, double *g)
{
    struct sums sums = {0};
    for (int64_t i = first; i < first + n; i++) {
        const double *x = toy->x[c] + i * D;
        double z[C], total = 0;
        int best = 0;
        for (int j = 0; j < C; j++) {
            z[j] = w[C * D + j];
            for (int d = 0; d < D; d++) z[j] += w[j * D + d] * x[d];
            if (z[j] > z[best]) best = j;
            total += exp(z[j]);
        }
        int label = toy->label[c][i];
        sums.loss += log(total) - z[label];
        sums.wrong += best != label;
        sums.n++;
        for (int j = 0; g && j < C; j++) {
            double e = exp(z[j]) / total - (j == label);
            for (int d = 0; d < D; d++) g[j * D + d] += e * x[d];
            g[C * D + j] += e;
        }
    }
    return sums;
}

static inline int64_t first_of(const struct toy *toy, int c, weft_part part)
{
    int64_t at = 0;
    for (int p = 0; p < (int)part; p++) at += toy->count[c][p];
    return at;
}

static inline struct sums part_score(const struct toy *toy, int c, weft_part part,
                                     const double *w)
{
    return softmax(toy, c, first_of(toy, c, part), toy->count[c][part], w, NULL);
}

static inline void wide(const real *w, double *out)
{
    for (int i = 0; i < W; i++) out[i] = (double)w[i];
}

/* A full-batch step of client c from w: w[W] in, out. */
static inline void full_step(const struct toy *toy, int c, double lr, double *w)
{
    double g[W] = {0};
    softmax(toy, c, 0, toy->count[c][0], w, g);
    for (int i = 0; i < W; i++) w[i] -= lr * g[i] / (double)toy->count[c][0];
}

static inline double distance(const real *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < W; i++) most = worse(most, fabs((double)a[i] - b[i]));
    return most;
}

/* Mean of full steps from w over the clients of a set; the sum of their samples. */
static inline double mean_step(const struct toy *toy, int set, double lr, const double *w,
                               double *mean)
{
    double sum = 0;
    memset(mean, 0, W * sizeof *mean);
    for (int c = 0; c < toy->n; c++) {
        if (!(set >> c & 1)) continue;
        double own[W];
        double n = (double)toy->count[c][WEFT_TRAIN];
        memcpy(own, w, sizeof own);
        full_step(toy, c, lr, own);
        for (int i = 0; i < W; i++) mean[i] += n * own[i];
        sum += n;
    }
    for (int i = 0; i < W; i++) mean[i] /= sum;
    return sum;
}

/* Sets of clients whose mean step from w gives the weights. */
static inline int sets_giving(const struct toy *toy, double lr, const double *w,
                              const real *weights)
{
    int found = 0;
    for (int set = 1; set < 1 << toy->n; set++) {
        double mean[W];
        mean_step(toy, set, lr, w, mean);
        found += distance(weights, mean) < 1e-6;
    }
    return found;
}

#endif

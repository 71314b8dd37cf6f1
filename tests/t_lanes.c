/* Small models computed together in vector lanes have the bits of models computed alone:
 * gradients and scores of networks, rounds and evaluations of unequal clients under
 * mixtures of all options.
 * RUN: np=1 np=2 np=3 */
#include "toy.h"
#include "vector_lanes.h"

#include "task/fed/round.h"

/* ---- networks ---- */

enum { INPUTS = 41, CLASSES = 19 };

/* Batches of 0 to `most` rows, one a lane. */
static weft_lane_batch batches(int most)
{
    int lanes = weft_lanes();
    const float **x = WEFT_NEW(mem, const float *, most *lanes);
    int32_t *label = WEFT_NEW(mem, int32_t, most * lanes);
    int *count = WEFT_NEW(mem, int, lanes);
    for (int l = 0; l < lanes; l++) {
        count[l] = l == 0 ? most : l * 7 % (most + 1);
        for (int i = 0; i < count[l]; i++) {
            float *row = WEFT_NEW(mem, float, INPUTS);
            for (int j = 0; j < INPUTS; j++)
                row[j] = (float)random_at(21, (uint64_t)((l * most + i) * INPUTS + j));
            x[i * lanes + l] = row;
            label[i * lanes + l] = (l + i) % CLASSES;
        }
    }
    return (weft_lane_batch){.n = most, .count = count, .x = x, .label = label};
}

/* The batch of one lane. */
static weft_batch alone(const weft_lane_batch *batch, int l)
{
    int lanes = weft_lanes();
    const float **row = WEFT_NEW(mem, const float *, batch->n);
    int32_t *label = WEFT_NEW(mem, int32_t, batch->n);
    for (int i = 0; i < batch->count[l]; i++) {
        row[i] = batch->x[i * lanes + l];
        label[i] = batch->label[i * lanes + l];
    }
    return (weft_batch){.n = batch->count[l], .x = row, .label = label};
}

static void *net_new(const char *name, const char *options, const weft_net **net)
{
    weft_shape shape = {.form = WEFT_REALS, .d = INPUTS, .classes = CLASSES};
    must(weft_net_find(name, net));
    void *self = bound_by(&(*net)->kind, options);
    must((*net)->setup(self, &shape));
    return self;
}

/* A step while the gradient is computed beside one by the whole gradient; lane 1 begins
 * with a weight that is infinite. */
static int moves_are_right(const weft_net *net, const void *self, void *work,
                           const weft_lane_batch *batch, int first)
{
    int lanes = weft_lanes(), sound[2][MAX_L];
    int64_t n = net->nweight(self);
    weft_sgd sgd[MAX_L];
    weft_score sum[MAX_L] = {{0}};
    real *w[2], *velocity[2], *g = WEFT_NEW(mem, real, n * lanes);
    real *start = randoms(22, n * lanes), *anchor = randoms(25, n * lanes),
         *drift = randoms(26, n * lanes);
    start[1] = INFINITY;
    for (int l = 0; l < lanes; l++) {
        sgd[l] = options_of(l, 0);
        sound[0][l] = sound[1][l] = 1;
    }
    for (int i = 0; i < 2; i++) {
        w[i] = randoms(23, n * lanes);
        w[i][1] = INFINITY;
        velocity[i] = randoms(24, n * lanes);
        weft_lanes_move move = {sgd,   batch->count, first, w[i],    velocity[i],
                                start, anchor,       drift, sound[i]};
        net->lanes_grad(self, work, first ? start : w[i], batch, g, i ? &move : NULL, sum);
        if (i == 0) weft_lanes_step(&move, n, g);
        for (int64_t e = 1; e < n * lanes; e += lanes) w[i][e] = velocity[i][e] = 0;
    }
    if (sound[0][0] != 1 || sound[0][1] != (batch->count[1] == 0)) return 0;
    return same(w[0], w[1], n * lanes) && same(velocity[0], velocity[1], n * lanes) &&
           memcmp(sound[0], sound[1], (size_t)lanes * sizeof(int)) == 0;
}

static void test_net(const char *name, const char *options, int most)
{
    int lanes = weft_lanes();
    const weft_net *net;
    void *self = net_new(name, options, &net);
    int64_t n = net->nweight(self);
    void *work = net->work(self, most, mem), *beside = net->lanes_work(self, most, mem);
    weft_lane_batch batch = batches(most);
    const real *w = randoms(20, n * lanes);
    real *g = WEFT_NEW(mem, real, n * lanes), *one[3];
    weft_score score[MAX_L] = {{0}};
    int good = 1;
    for (int i = 0; i < 3; i++) one[i] = WEFT_NEW(mem, real, n);
    net->lanes_grad(self, beside, w, &batch, g, NULL, score);
    net->lanes_score(self, beside, w, &batch, score);
    for (int l = 0; l < lanes; l++) {
        weft_batch own = alone(&batch, l);
        weft_score sum = {0};
        if (own.n == 0) continue;
        lane_of(w, n, lanes, l, one[0]);
        lane_of(g, n, lanes, l, one[1]);
        net->grad(self, work, one[0], &own, 0, 0, one[2], &sum);
        net->score(self, work, one[0], &own, &sum);
        good &= same(one[1], one[2], n) && memcmp(&sum, &score[l], sizeof sum) == 0;
    }
    ok(good, "%s: gradients and scores of batches of up to %d", name, most);
    good = moves_are_right(net, self, beside, &batch, 1);
    ok(good && moves_are_right(net, self, beside, &batch, 0), "%s: and steps", name);
}

/* ---- rounds ---- */

static struct stand *trained_so(struct toy *toy, const char *options, int k, int rounds,
                                int one)
{
    struct stand *stand = standing(toy, options, k);
    fed_task *own = stand->self;
    weft_check(own->work.lanes != NULL, "no lanes");
    if (one) own->work.lanes = NULL;
    units(stand, rounds, 0, rounds);
    return stand;
}

/* 40 clients of 0 to 39 training samples. */
static struct toy *unequal(void)
{
    int64_t count[40][WEFT_NPART];
    for (int c = 0; c < 40; c++) {
        count[c][WEFT_TRAIN] = c % 13 == 5 ? 0 : 3 + 5 * c % 37;
        count[c][WEFT_VALID] = c % 11 == 3 ? 0 : 1 + 7 * c % 26;
        count[c][WEFT_TEST] = 1 + c % 4;
    }
    return toy_new(40, count);
}

static void test_rounds(const char *what, const char *options, int k)
{
    struct toy *toy = unequal();
    const struct stand *stand[2];
    for (int one = 0; one < 2; one++) stand[one] = trained_so(toy, options, k, 4, one);
    ok(same(stand[0]->state.x, stand[1]->state.x, stand[0]->state.nx),
       "%s: the same weights", what);
    ok(memcmp(stand[0]->state.aux, stand[1]->state.aux, WEFT_KEPT_MARK * sizeof(double)) ==
           0,
       "%s: the same kept", what);
    ok(memcmp(stand[0]->row, stand[1]->row, 4 * sizeof stand[0]->row[0]) == 0,
       "%s: the same record", what);
    digest(weft_hash(stand[0]->state.x, (size_t)stand[0]->state.nx * sizeof(real), 0));
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_net("linear", "", 7);
    test_net("linear", "", 64);
    test_net("mlp", "[mlp]\nhidden = 33\n", 10);
    test_net("mlp", "[mlp]\nhidden = 21,35\n", 25);
    test_rounds("plain FedAvg", "[fed]\ncohort = 20\n[client]\nlr = 0.3\nbatch = 4\n", 1);
    test_rounds("every option",
                "[fed]\ncohort = 40\nscore_both = yes\nmax_valid = 17\neval_clients = 0\n"
                "eval_every = 2\n[client]\nlr = 0.01 .. 0.5\nmomentum = 0 .. 0.9\n"
                "mu = 0 .. 1\nweight_decay = 0 .. 0.1\nclip = 0 .. 3\nbatch = 1 .. 9\n"
                "epochs = 1 .. 4\n",
                7);
    test_rounds("a perceptron, of which some lanes diverge and some drop units",
                "[fed]\nmodel = mlp\ncohort = 30\n[mlp]\nhidden = 20,6\n"
                "[client]\nlr = log 0.1 .. 1e6\ndropout = 0 | 0.3\nbatch = 3\n"
                "max_samples = 11\nepochs = 2\nmax_change = 3\n",
                6);
    static const char *const algorithm[] = {"scaffold", "feddyn", "fednova", "fedexp",
                                            "fedhyper", "ditto",  "local",   "fedper",
                                            "fedrep",   "apfl",   "cpg",     "qffl"};
    for (size_t i = 0; i < LEN(algorithm); i++)
        test_rounds(algorithm[i],
                    printed("[fed]\nalgorithm = %s\nmodel = mlp\ncohort = 30\n"
                            "score_both = yes\neval_clients = 0\neval_every = 2\n"
                            "new_clients = 0.2\n[mlp]\nhidden = 9\n"
                            "[client]\nlr = log 0.01 .. 100\nmomentum = 0 .. 0.9\n"
                            "mu = 0 .. 1\nweight_decay = 0 .. 0.1\nclip = 0 | 3\n"
                            "batch = 3\nepochs = 1 .. 3\nmax_change = 30\n"
                            "[ditto]\nlr = log 0.01 .. 1\nepochs = 0 .. 2\n"
                            "[fedrep]\nepochs = 1 | 2\n"
                            "[apfl]\nshare = 0 .. 1\nrate = 0 .. 3\n",
                            algorithm[i]),
                    5);
    return tap_end();
}

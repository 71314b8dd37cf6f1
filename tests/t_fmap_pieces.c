/* Fits of task fmap in pieces: any division gives the bits of one fit, and the path ends
 * at the fit.
 * RUN: np=1 np=2 np=3 */
#include "fmap_stand.h"

/* ---- fits in pieces ---- */

#define PIECES "fmap.resource=iterations fmap.score=loss "

/* A trial of map 0 or 1 alone. */
static struct stand *alone(const char *options, int map)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    struct stand *stand = stand_up(options, even);
    stand->job.mix = weft_mix_new(1, stand->space.dim, mem);
    weft_space_config(&stand->space, map, stand->job.mix.conf);
    stand->job.mix.id[0] = map;
    stand->res = result_of(task, 1);
    return stand;
}

static void go_on(struct stand *stand, int iterations)
{
    stand->job.resource = iterations;
    run(stand);
    stand->job.index++;
}

static const real *model_of(const struct stand *stand)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = task->winner.tensors(stand->self, &stand->job, tensor);
    return stand->state.x + tensor[n - 2].at;
}

/* Largest difference of the weights of two trials. */
static double apart(const struct stand *a, const struct stand *b)
{
    double most = 0;
    for (int i = 0; i < W; i++)
        most = worse(most, fabs((double)model_of(a)[i] - (double)model_of(b)[i]));
    return most;
}

static void test_split(void)
{
    static const int part[][6] = {{9}, {4, 5}, {1, 1, 1, 1, 1, 4}, {3, 0, 6}};
    struct stand *one = NULL;
    for (int k = 0; k < 4; k++) {
        struct stand *stand = alone(PIECES, 0);
        for (int i = 0; i < 6; i++)
            if (part[k][i] > 0 || i < 3) go_on(stand, part[k][i]);
        if (k == 0) one = stand;
        ok(weft_state_hash(&one->state) == weft_state_hash(&stand->state) &&
               one->res.loss == stand->res.loss,
           "iterations in division %d give the bits of one job", k);
        if (k == 0) digest(weft_state_hash(&stand->state));
    }
}

/* The path ends at the fit; pieces beyond it change nothing. */
static void test_path(void)
{
    struct stand *stand = alone(PIECES, 0), *whole = alone("ridge.tol=1e-12", 0);
    go_on(whole, 1);
    double loss = INFINITY, residual = INFINITY;
    int falls = 1;
    for (int i = 0; i < 6; i++) {
        go_on(stand, 1);
        falls &= measured(task, &stand->res, "train_loss") < loss &&
                 measured(task, &stand->res, "residual") < residual;
        falls &= measured(task, &stand->res, "iterations") == 1;
        loss = measured(task, &stand->res, "train_loss");
        residual = measured(task, &stand->res, "residual");
    }
    ok(falls, "objective and residual fall with each iteration");
    go_on(stand, 300);
    ok(measured(task, &stand->res, "iterations") < 100,
       "nothing is left after %d iterations",
       6 + (int)measured(task, &stand->res, "iterations"));
    is_near(apart(stand, whole), 0, 1e-4, "the path ends at the fit");
    real last = model_of(stand)[0];
    go_on(stand, 10);
    ok(measured(task, &stand->res, "iterations") == 0 && model_of(stand)[0] == last,
       "and stays there");
}

/* Weights that were copied from a trial of another map, or the same one. */
static void test_copied(void)
{
    struct stand *stand = alone(PIECES, 0), *other = alone("ridge.tol=1e-12", 1);
    go_on(stand, 5);
    stand->job.trial++;
    weft_space_config(&stand->space, 1, stand->job.mix.conf);
    stand->job.mix.id[0] = 1;
    go_on(stand, 200);
    go_on(other, 1);
    is_near(apart(stand, other), 0, 1e-4,
            "weights of another map lead to the map's own fit");
}

/* Weights of nearly the same map are where a fit goes on from. */
static void test_near(void)
{
    struct stand *stand = alone(PIECES, 0), *fresh = alone(PIECES, 0);
    go_on(stand, 5);
    stand->job.mix.conf[1] *= 1.001;
    fresh->job.mix.conf[1] = stand->job.mix.conf[1];
    go_on(stand, 1);
    go_on(fresh, 1);
    double ahead = measured(task, &fresh->res, "train_loss") -
                   measured(task, &stand->res, "train_loss");
    ok(ahead > 0, "a copy of nearly the same map's weights is ahead by %g", ahead);
}

static void refuses(const char *options, const char *word)
{
    const double even[K] = {1. / 3, 1. / 3, 1. / 3};
    struct stand stand = {0};
    weft_status st = set_up(&stand, options, even);
    ok(st == WEFT_ECONF && says(word), "%s is refused, naming %s", options, word);
}

static void test_pieces(void)
{
    test_split();
    test_path();
    test_copied();
    test_near();
    refuses(PIECES "fmap.model=logistic", "fmap.model = ridge");
    refuses(PIECES "ridge.solver=cholesky", "ridge.solver = cg");
}

MAIN(ranks, test_pieces)

/* Rounds of every algorithm against those of a program in NumPy, tests/gold/rounds.py,
 * and of every rule and attack against those of tests/gold/robust.py. They say what a case
 * consists of: weights, what the server and clients keep, the
 * columns of rounds, results, scores, predictions. Each is done in vector lanes and one by
 * one. RUN: np=1 np=2 np=3 */
#include "task/fed/fed.h"
#include "toy.h"

enum { CLIENTS = 8, MOST = 4096, ARMS = 2 };

/* A case of the file. */
struct played {
    char name[32];
    char input[1024];
    double arm[ARMS], update[2];
    int arms, moves;
    int in_lanes;
    struct stand *stand;
};

static struct toy *eight_clients(void)
{
    int64_t count[CLIENTS][WEFT_NPART] = {{12, 4, 3}, {7, 3, 2}, {16, 5, 2}, {0, 2, 2},
                                          {9, 0, 3},  {5, 2, 0}, {23, 6, 4}, {1, 1, 1}};
    return toy_new(CLIENTS, count);
}

/* ---- what weft has ---- */

static void begin(struct played *played, struct toy *toy)
{
    int k = played->arms > 0 ? played->arms : 1;
    struct stand *stand = played->stand = standing(toy, played->input, k);
    for (int i = 0; i < played->arms; i++) stand->mix.conf[i] = played->arm[i];
    if (played->moves)
        stand->job.update = (weft_mix_update){.schedule = WEFT_UPDATE_CONSTANT,
                                              .eta = played->update[0],
                                              .discount = 1,
                                              .diff = (int)played->update[1]};
    if (!played->in_lanes) ((fed_task *)stand->self)->work.lanes = NULL;
}

static int put(double *x, int n, const double *from, int m)
{
    memcpy(x + n, from, (size_t)m * sizeof *x);
    return n + m;
}

static int result(const struct stand *stand, double *x)
{
    const weft_result *res = &stand->res;
    const double head[] = {res->loss, res->bound, res->cost};
    int n = put(x, put(x, 0, head, 3), res->metric, res->nmetric);
    for (int i = 0; i < res->k; i++) {
        const double arm[] = {res->arm_loss[i], res->arm_wrong[i], res->arm_count[i],
                              res->arm_score[i]};
        n = put(x, n, arm, 4);
    }
    return put(x, n, res->logp, res->k);
}

static weft_part part_named(const char *name)
{
    int part = WEFT_TRAIN;
    while (strcmp(name, weft_part_name[part]) != 0) part++;
    return (weft_part)part;
}

/* The job with the mixture after it, from which clients draw when the winner is scored. */
static weft_job job_after(const struct stand *stand)
{
    weft_job job = stand->job;
    job.mix.logp = stand->res.logp;
    return job;
}

/* Of all clients, of those that are new, and of each. */
static int scores(struct stand *stand, weft_part part, double *x)
{
    weft_scores told;
    weft_job job = job_after(stand);
    must(fed->winner.score(stand->self, &job, &stand->state, part, &told));
    int n = put(x, put(x, 0, &told.count, 1), told.metric, 8), columns = 4;
    const weft_members *members = told.members;
    int64_t m = world.rank == 0 && members ? members->n : 0;
    for (int64_t i = 0; i < m; i++) {
        x[n++] = (double)members->number[i];
        x[n++] = members->count[i];
        n = put(x, n, members->score + i * columns, columns);
    }
    weft_bcast(&world, &n, sizeof n, 0);
    weft_bcast(&world, x, (size_t)n * sizeof *x, 0);
    return n;
}

static int predictions(struct stand *stand, weft_part part, double *x)
{
    weft_predictions said;
    weft_job job = job_after(stand);
    weft_status st =
        fed->winner.predict(stand->self, &job, &stand->state, part, &said, mem);
    weft_check(st == WEFT_OK && said.n * said.classes < MOST, "%s", weft_error());
    return put(x, 0, said.score, (int)(said.n * said.classes));
}

static int kept(const struct stand *stand, int64_t c, double *x)
{
    int n = (int)weft_kept_each(stand->state.kept);
    real row[MOST];
    if (world.rank == 0) must(weft_kept_read(stand->state.kept, 1, &c, row));
    weft_bcast(&world, row, (size_t)n * sizeof *row, 0);
    for (int i = 0; i < n; i++) x[i] = (double)row[i];
    return n;
}

/* What weft has that `what` and `of` name; x[MOST]. */
static int found(struct played *played, const char *what, const char *of, double *x)
{
    struct stand *stand = played->stand;
    if (strcmp(what, "flops") == 0) {
        weft_cost cost = {0};
        fed->cost(stand->self, &stand->job, &cost);
        return put(x, 0, &cost.flops, 1);
    }
    if (strcmp(what, "row") == 0)
        return put(x, 0, stand->row[atoi(of)], FED_ROW_VALID_ERROR + 1);
    if (strcmp(what, "result") == 0) return result(stand, x);
    if (strcmp(what, "score") == 0) return scores(stand, part_named(of), x);
    if (strcmp(what, "predict") == 0) return predictions(stand, part_named(of), x);
    if (strcmp(what, "kept") == 0) return kept(stand, atoi(of), x);
    weft_check(strcmp(what, "x") == 0, "%s: unknown", what);
    for (int64_t i = 0; i < stand->state.nx; i++) x[i] = (double)stand->state.x[i];
    return (int)stand->state.nx;
}

/* ---- the file ---- */

/* The greatest error, relative to numbers above 1; NaN is right where it is expected. */
static double error_of(int n, const double *x, const double *gold)
{
    double off = 0;
    for (int i = 0; i < n; i++) {
        if (isnan(gold[i]) && isnan(x[i])) continue;
        off = worse(off, fabs(x[i] - gold[i]) / fmax(1, fabs(gold[i])));
    }
    return off;
}

/* Does a line of the file: WHAT OF NUMBER ... */
static void follow(struct played *played, struct toy *toy, const char *line)
{
    static double gold[MOST], x[MOST];
    char what[16], of[16];
    int at = 0, n = 0;
    weft_check(sscanf(line, "%15s %15s%n", what, of, &at) == 2, "%s", line);
    for (char *end; gold[n] = strtod(line + at, &end), end != line + at; n++)
        at = (int)(end - line);
    if (strcmp(what, "arms") == 0) {
        played->arms = put(played->arm, 0, gold, n);
        return;
    }
    if (strcmp(what, "update") == 0) {
        played->moves = put(played->update, 0, gold, n);
        return;
    }
    if (!played->stand) begin(played, toy);
    if (strcmp(what, "job") == 0) {
        played->stand->job.trial = atoi(of);
        played->stand->rows = 0;
        units(played->stand, (int)gold[0], 0, (int)gold[0]);
        return;
    }
    int m = found(played, what, of, x);
    is_near(m == n ? error_of(n, x, gold) : INFINITY, 0, 2e-5, "%s, %s: %s %s is NumPy's",
            played->name, played->in_lanes ? "in lanes" : "one by one", what, of);
}

static void test_cases(struct toy *toy, const char *name, int in_lanes)
{
    static char line[1 << 16];
    struct played played = {0};
    FILE *file = gold_of(name);
    int input = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "case ", 5) == 0) {
            played = (struct played){.in_lanes = in_lanes};
            sscanf(line, "case %31s", played.name);
            input = 1;
        } else if (strcmp(line, ".\n") == 0) {
            input = 0;
        } else if (input) {
            strncat(played.input, line, sizeof played.input - strlen(played.input) - 1);
        } else {
            follow(&played, toy, line);
        }
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *toy = eight_clients();
    for (int in_lanes = 1; in_lanes >= 0; in_lanes--) {
        test_cases(toy, "rounds.txt", in_lanes);
        test_cases(toy, "robust.txt", in_lanes);
    }
    return tap_end();
}

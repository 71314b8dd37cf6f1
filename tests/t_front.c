/* Points with several objectives: fronts, their order, what motpe takes, and volumes:
 * beside tests/gold/front.py, another way in NumPy, closed forms, and Monte Carlo; names
 * and limits of objectives, what they are measured by, and how ranks see limits. RUN: np=1
 */
#include "tap.h"
#include "weft/space/front.h"
#include "weft/space/goals.h"

enum { N = 24, MOST = 4, CHOSEN = 6 };

static double x[N][MOST];
static weft_point point[N];

static void make(int m)
{
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < m; k++)
            x[i][k] = (i * i * 7 + i * (3 + 5 * k) + k) % 17 / 4.0 + (i + k) % 3;
        point[i] = (weft_point){i, i % 7 == 3 ? i % 4 / 2.0 : 0, x[i]};
        if (i == 11) point[i].excess = INFINITY;
    }
}

/* ---- beside NumPy ---- */

static int reads(FILE *in, int n)
{
    int good = 1;
    for (int i = 0, id; i < n; i++) good &= fscanf(in, "%d", &id) == 1 && id == point[i].id;
    return (fscanf(in, " |") == 0) & good;
}

static void beside_numpy(FILE *in, int m)
{
    double gold = 0, reference[MOST] = {6, 6, 6, 6};
    make(m);
    double all = weft_front_volume(N, point, m, reference);
    for (int i = 0; i < N / 2; i++) { /* the order of what is given does not matter */
        weft_point one = point[i];
        point[i] = point[N - 1 - i];
        point[N - 1 - i] = one;
    }
    weft_front_order(N, point, m);
    ok(reads(in, N), "order of %d objectives as NumPy has it", m);
    make(m);
    weft_front_choose(N, point, m, CHOSEN);
    ok(reads(in, CHOSEN), "what motpe takes as NumPy has it");
    ok(fscanf(in, "%lf", &gold) == 1 && fabs(all - gold) < 1e-12 * gold, "volume %g", all);
}

/* ---- brute force: the definition ---- */

static void by_definition(int m)
{
    int front[N], good = 1;
    make(m);
    weft_front_of(N, point, m, front);
    for (int i = 0; i < N; i++) {
        int last = -1;
        for (int j = 0; j < N; j++) {
            int no_worse = 1, better = 0;
            for (int k = 0; k < m; k++) {
                no_worse &= x[j][k] <= x[i][k];
                better |= x[j][k] < x[i][k];
            }
            good &= weft_point_dominates(&point[j], &point[i], m) == (no_worse && better);
            if (no_worse && better && front[j] > last) last = front[j];
        }
        good &= front[i] == last + 1;
    }
    ok(good, "a point is one front behind the last one that has what dominates it");
}

/* ---- volumes ---- */

static void volumes(void)
{
    double one[] = {1, 2, 3}, two[] = {2, 1, 3}, far[] = {9, 0, 0}, end[] = {4, 4, 4};
    double same[] = {1, 2, 4};
    weft_point p[] = {{0, 0, one}, {1, 0, two}, {2, 0, far}, {3, 0, same}};
    ok(weft_front_volume(1, p, 2, end) == 6, "a rectangle");
    ok(weft_front_volume(2, p, 2, end) == 8, "two rectangles that overlap");
    ok(weft_front_volume(4, p, 2, end) == 8, "a point beyond the reference, and one twice");
    ok(weft_front_volume(2, p, 3, end) == 8, "two boxes");
    ok(weft_front_volume(0, p, 3, end) == 0, "nothing");
    p[0].excess = 1;
    ok(weft_front_volume(2, p, 2, end) == 6, "one beyond a limit adds nothing");
    enum { STEPS = 2000 };
    static double curve[STEPS][2];
    static weft_point of[STEPS];
    double unit[] = {1, 1}, sum = 0;
    for (int i = 0; i < STEPS; i++) { /* ZDT1's front, y = 1 - sqrt(x) */
        curve[i][0] = (double)i / STEPS;
        curve[i][1] = 1 - sqrt(curve[i][0]);
        of[i] = (weft_point){i, 0, curve[i]};
        sum += sqrt(curve[i][0]) / STEPS;
    }
    double all = weft_front_volume(STEPS, of, 2, unit);
    ok(fabs(all - sum) < 1e-9 && fabs(all - 2. / 3) < 1e-3, "2/3 under a root, %g", all);
}

static void monte_carlo(int m)
{
    enum { DRAWS = 200000 };
    double reference[MOST] = {5, 5, 5, 5}, box = 1;
    int64_t inside = 0;
    make(m);
    for (int k = 0; k < m; k++) box *= 5;
    for (int i = 0; i < DRAWS; i++) {
        double at[MOST];
        int under = 0;
        weft_rng4 rng = weft_rng_at(7, WEFT_RNG_TUNER, (uint64_t)i, (uint64_t)m, 0);
        for (int k = 0; k < m; k++) at[k] = 5 * weft_rng_unit(rng.v[k]);
        for (int j = 0; j < N && !under; j++) {
            under = !(point[j].excess > 0);
            for (int k = 0; k < m; k++) under &= x[j][k] <= at[k];
        }
        inside += under;
    }
    double p = (double)inside / DRAWS, all = weft_front_volume(N, point, m, reference);
    ok(fabs(p * box - all) < 4 * box * sqrt(p * (1 - p) / DRAWS),
       "volume %g of %d objectives, %g by Monte Carlo", all, m, p * box);
}

/* ---- names and limits ---- */

static int refused(const char *objectives, const char *limits, const char *why)
{
    weft_arena *tmp = weft_arena_new();
    weft_goals goals;
    weft_status st = weft_goals_read(&goals, objectives, limits, tmp);
    int good = st == WEFT_ECONF && strstr(weft_error(), why);
    if (!good) printf("# %s\n", weft_error());
    weft_arena_free(tmp);
    return good;
}

static void names(weft_arena *arena)
{
    weft_goals goals;
    must(weft_goals_read(&goals, "", "", arena));
    ok(goals.n == 0 && goals.objectives == 0, "nothing is said, and there is nothing");
    must(weft_goals_read(&goals, "loss, -size.mb", "bytes <= 1e6,loss>=-2", arena));
    ok(goals.n == 3 && goals.objectives == 2 && goals.goal[1].sign == -1 &&
           strcmp(goals.goal[1].name, "size.mb") == 0,
       "two objectives, one to be large, and a limit of its own");
    ok(goals.goal[0].side == -1 && goals.goal[0].limit == -2 && goals.goal[2].side == 1 &&
           goals.goal[2].limit == 1e6 && goals.goal[1].side == 0,
       "limits from above and below");
    ok(refused("loss", "", "one objective"), "one objective alone is refused");
    ok(refused("bytes, loss", "", "begins with"), "the first is the loss");
    ok(refused("loss, -loss", "", "twice"), "a name stands once");
    ok(refused("loss, front", "", "another"), "and is no column of the run file");
    ok(refused("loss, , bytes", "", "name"), "and is none that is empty");
    ok(refused("loss, bytes,", "", "name"), "or lacks behind a comma");
    ok(refused("loss, 3d", "", "name"), "or a number");
    ok(refused("", "bytes < 3", "<="), "a limit has <= or >=");
    ok(refused("", "bytes <= 3x", "number"), "and a number");
    ok(refused("", "bytes <= inf", "number"), "that is finite");
    ok(refused("", "bytes <= 3,", "number"), "and another behind a comma");
    ok(refused("", "bytes <= 3, bytes >= 1", "twice"), "one limit for a name");
    ok(refused("loss,a,b,c,d,e,f,g,h", "", "most"), "not any number of them");
    ok(weft_goals_read(&goals, "loss,a,b,c,d,e,f,g", "a <= 1", arena) == WEFT_OK,
       "but eight, of which each may have a limit");
}

static const weft_metric metrics[] = {
    {"valid_loss", "", "loss", NULL}, {"valid_error", "", "1", NULL}, {0}};
static const weft_metric rows[] = {
    {"after_loss", "", "loss", NULL}, {"bytes", "", "bytes", NULL}, {0}};
static const weft_metric spending[] = {
    {"energy", "", "J", NULL}, {"time", "", "s", NULL}, {0}};

static weft_job_record job(double loss, weft_arena *arena)
{
    weft_mix mix = weft_mix_new(1, 0, arena);
    weft_job one = weft_job_new(0, 1, &mix);
    weft_job_record record = weft_job_record_new(&one, arena);
    weft_job_record_room(&record, 2, 2, 2, arena);
    record.res.loss = loss;
    record.res.metric[0] = 0.5;
    record.res.metric[1] = 0.25;
    record.row[1] = 100;
    record.row[3] = 50;
    record.res.cost = 7;
    record.res.note = "sizes=4 size=3 speed=8";
    return record;
}

static void measured(weft_arena *arena)
{
    weft_goals goals;
    const weft_measured task = {
        .name = "own", .metrics = metrics, .rows = rows, .tells = 1, .timed = 1};
    must(weft_goals_read(&goals, "loss, error, -speed, bytes",
                         "bytes <= 200, seconds <= 10, size >= 6", arena));
    must(weft_goals_find(&goals, &task));
    weft_job_record first = job(0.3, arena), second = job(0.2, arena);
    ok(!weft_goals_measure(&goals, &first, NULL, NULL, arena), "all was measured");
    const double *own = first.res.aims.x;
    ok(own[0] == 0.3 && own[1] == 0.25 && own[2] == -8 && own[3] == 150 && own[4] == 7 &&
           own[5] == 3,
       "loss, metric, what was printed, sum of rounds, seconds");
    ok(first.res.aims.excess == 0.5, "half of a limit is lacking");
    ok(!weft_goals_measure(&goals, &second, &first, NULL, arena), "a trial goes on");
    ok(second.res.aims.x[3] == 300 && second.res.aims.x[4] == 14 &&
           second.res.aims.x[1] == 0.25,
       "what is spent adds up, scores do not");
    ok(fabs(second.res.aims.excess - (0.5 + 0.4 + 0.5)) < 1e-15, "and so do excesses");
    first = job(0.3, arena);
    first.res.note = "sizes=4 speed=nan";
    const char *lacks = weft_goals_measure(&goals, &first, NULL, NULL, arena);
    ok(lacks && strcmp(lacks, "speed") == 0, "what was not printed is named");
    first.res.loss = INFINITY;
    ok(!weft_goals_measure(&goals, &first, NULL, NULL, arena) &&
           isinf(first.res.aims.excess),
       "what diverged needs nothing");
    size_t bytes;
    weft_job_record again = job(1, arena);
    ok(weft_job_record_read(&again, weft_job_record_pack(&second, &bytes, arena), arena) &&
           again.res.aims.n == 6 && again.res.aims.x[4] == 14 &&
           again.res.aims.excess == second.res.aims.excess,
       "a record has them");
    const weft_measured other = {.name = "own", .metrics = metrics, .rows = rows};
    ok(weft_goals_find(&goals, &other) == WEFT_ECONF && strstr(weft_error(), "speed"),
       "a name that nobody measures is refused: %s", weft_error());
    must(weft_goals_read(&goals, "loss, -bytes", "", arena));
    must(weft_goals_find(&goals, &task));
    first = job(0.3, arena);
    weft_goals_measure(&goals, &first, NULL, NULL, arena);
    weft_goals_measure(&goals, &second, &first, NULL, arena);
    ok(second.res.aims.x[1] == -300, "what is spent may be to be large: %g",
       second.res.aims.x[1]);
    must(weft_goals_read(&goals, "loss, seconds", "", arena));
    const weft_measured by_clock = {
        .name = "own", .metrics = metrics, .rows = rows, .wall = 1};
    must(weft_goals_find(&goals, &by_clock));
    second.seconds = 2.5;
    ok(!weft_goals_measure(&goals, &second, NULL, NULL, arena) &&
           second.res.aims.x[1] == 2.5,
       "real seconds count with run.clock = wall");
    second.res.note = "seconds=4";
    ok(!weft_goals_measure(&goals, &second, &first, NULL, arena) &&
           second.res.aims.x[1] == 4,
       "or those that are told");
}

/* What only the run knows, a limit of 0, and columns of rounds that do not add up. */
static void more_measured(weft_arena *arena)
{
    weft_goals goals;
    const weft_measured task = {
        .name = "own", .metrics = metrics, .rows = rows, .keeps = 1, .pays = 1};
    const weft_after after = {.epsilon = 4, .model_bytes = 1200};
    weft_job_record first = job(0.3, arena), second = job(0.2, arena);
    must(weft_goals_read(&goals, "loss, model_bytes, epsilon",
                         "bytes <= 0, epsilon <= 1, loss <= -2", arena));
    must(weft_goals_find(&goals, &task));
    ok(weft_goals_ask(&goals, WEFT_GOAL_EPSILON) && !weft_goals_ask(&goals, WEFT_GOAL_COST),
       "goals ask for what they are about");
    ok(!weft_goals_measure(&goals, &first, NULL, &after, arena) &&
           !weft_goals_measure(&goals, &second, &first, &after, arena),
       "size and privacy are measured");
    ok(second.res.aims.x[1] == 1200 && second.res.aims.x[2] == 4,
       "of the trial, and do not add up");
    ok(fabs(second.res.aims.excess - (300 + 3 + 2.2 / 2)) < 1e-12,
       "beyond a limit of 0 the number counts as it is: %g", second.res.aims.excess);
    const weft_after none = {NAN, NAN};
    const char *lacks = weft_goals_measure(&goals, &first, NULL, &none, arena);
    ok(lacks && strcmp(lacks, "model_bytes") == 0, "what the task does not know is named");
    must(weft_goals_read(&goals, "loss, after_loss", "", arena));
    ok(weft_goals_find(&goals, &task) == WEFT_ECONF &&
           strstr(weft_error(),
                  "loss, epsilon, model_bytes, valid_loss, valid_error, bytes"),
       "losses of rounds are none of the trial: %s", weft_error());
    const weft_measured device = {.name = "own", .metrics = metrics, .rows = spending};
    must(weft_goals_read(&goals, "loss, energy, time", "", arena));
    ok(weft_goals_find(&goals, &device) == WEFT_OK &&
           goals.goal[1].source == WEFT_GOAL_ROWS && goals.goal[1].column == 0 &&
           goals.goal[2].column == 1,
       "joules and seconds of rounds are");
    must(weft_goals_read(&goals, "loss, epsilon", "", arena));
    ok(weft_goals_find(&goals, &device) == WEFT_ECONF,
       "nobody pays where nothing is private");
}

static void ranks(weft_arena *arena)
{
    weft_result good = weft_result_new(1, 1, arena), bad = good, lost = good;
    good.loss = 0.9;
    bad.loss = 0.1;
    bad.aims.excess = 0.5;
    lost.loss = INFINITY;
    ok(weft_rank_before(weft_result_rank(&good), weft_result_rank(&bad)),
       "what is within the limits is ahead of what is not");
    ok(weft_rank_before(weft_result_rank(&bad), weft_result_rank(&lost)),
       "which is ahead of what diverged");
    ok(!weft_rank_before(weft_result_rank(&lost), weft_result_rank(&bad)),
       "that has no excess, and is not ahead of it");
    ok(weft_result_point(&bad, 0, 2).excess == 0.5 &&
           isinf(weft_result_point(&lost, 0, 2).excess),
       "as a point, too");
    ok(weft_result_point(&good, 1, 2).excess > 1e200 &&
           isfinite(weft_result_point(&good, 1, 2).excess),
       "and guesses behind all but that");
}

/* All beyond a limit by as much are chosen from as if all were within. */
static void beyond(int m)
{
    int64_t chosen[CHOSEN];
    make(m);
    for (int i = 0; i < N; i++) point[i].excess = 0;
    weft_front_choose(N, point, m, CHOSEN);
    for (int i = 0; i < CHOSEN; i++) chosen[i] = point[i].id;
    make(m);
    for (int i = 0; i < N; i++) point[i].excess = 2;
    weft_front_choose(N, point, m, CHOSEN);
    int same = 1;
    for (int i = 0; i < CHOSEN; i++) same &= point[i].id == chosen[i];
    ok(same, "motpe takes the same of %d objectives where all exceed a limit alike", m);
}

static void test_order(void)
{
    FILE *in = gold_of("front.txt");
    for (int m = 2; m <= MOST; m++) {
        beside_numpy(in, m);
        by_definition(m);
        monte_carlo(m);
        beyond(m);
    }
    fclose(in);
}

static void test_goals(void)
{
    weft_arena *arena = weft_arena_new();
    names(arena);
    measured(arena);
    more_measured(arena);
    ranks(arena);
    weft_arena_free(arena);
}

MAIN(alone, test_order, volumes, test_goals)

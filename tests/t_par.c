/* Teams and process grids. RUN: np=1 np=2 np=3 np=4
 * Called with the argument "alone" it only starts and ends MPI, as a process that a
 * launcher with another PMI would start. */
#include "weft/math/linear.h"

#include <sys/wait.h>

#include "tap.h"

static double unit(uint64_t a, uint64_t b)
{
    return uniform_of(1, a, b);
}

static void test_deal(void)
{
    static const int64_t size[] = {0, 1, 255, 256, 257, 5000, 40000};
    int whole = 1, even = 1, covered = 1;
    for (int s = 0; s < 7; s++)
        for (int ranks = 1; ranks <= 9; ranks++) {
            int64_t at = 0, least = INT64_MAX, most = 0;
            for (int rank = 0; rank < ranks; rank++) {
                int64_t first, count;
                weft_deal(size[s], rank, ranks, &first, &count);
                covered &= first == at && count >= 0;
                whole &= count == 0 || first % WEFT_BLOCK == 0;
                at += count;
                int64_t blocks = (count + WEFT_BLOCK - 1) / WEFT_BLOCK;
                if (blocks < least) least = blocks;
                if (blocks > most) most = blocks;
            }
            covered &= at == size[s];
            even &= most - least <= 1;
        }
    ok(covered, "dealt rows are all rows, in order");
    ok(whole, "blocks are never divided");
    ok(even, "ranks differ by one block at most");
}

/* The rule as it is written: each job, the costly ones first, to the bin of least load. */
static void test_deal_many(const double *speed)
{
    enum { JOBS = 400, BINS = 37 };
    double cost[JOBS], load[BINS] = {0};
    int bin[JOBS], same = 1, done[JOBS] = {0};
    for (int i = 0; i < JOBS; i++) cost[i] = floor(40 * unit(7, (uint64_t)i));
    weft_deal_costs(JOBS, cost, BINS, speed, bin);
    for (int e = 0; e < JOBS; e++) {
        int next = -1, least = 0;
        for (int i = 0; i < JOBS; i++)
            if (!done[i] && (next < 0 || cost[i] > cost[next])) next = i;
        for (int b = 1; b < BINS; b++)
            if (load[b] < load[least]) least = b;
        done[next] = 1;
        load[least] += speed ? cost[next] / speed[least] : cost[next];
        same &= bin[next] == least;
    }
    ok(same, "400 jobs, of whose costs many are alike, go to the bins of least load");
}

static void test_deal_costs(void)
{
    static const double cost[] = {2, 5, 3, 3, 2, 1}, speed[] = {1, 3};
    int bin[6];
    weft_deal_costs(6, cost, 2, NULL, bin);
    ok(bin[1] == 0 && bin[2] == 1 && bin[3] == 1 && bin[0] == 0 && bin[4] == 1 &&
           bin[5] == 0,
       "jobs go to the bin with the least load, the dearest first");
    weft_deal_costs(6, cost, 2, speed, bin);
    ok(bin[1] == 0 && bin[2] == 1 && bin[3] == 1 && bin[0] == 1 && bin[4] == 1 &&
           bin[5] == 1,
       "a faster bin takes more");
    weft_deal_costs(0, cost, 2, NULL, bin);
    ok(bin[0] == 1, "no job is dealt to none");
}

static void test_sums(void)
{
    int64_t big[3] = {INT64_C(1) << 53, world.rank, 1};
    weft_sum_i64(&world, big, 3);
    ok(big[0] == world.size * (INT64_C(1) << 53) &&
           big[1] == world.size * (world.size - 1) / 2 && big[2] == world.size,
       "integers are summed");
    int32_t small[2] = {world.rank + 1, -1};
    weft_sum_i32(&world, small, 2);
    ok(small[0] == world.size * (world.size + 1) / 2 && small[1] == -world.size,
       "32-bit integers are summed");
    double whole[2] = {0x1p40 + world.rank, world.rank == 0 ? NAN : 1};
    weft_sum_whole_f64(&world, whole, 2);
    ok(whole[0] == 0x1p40 * world.size + world.size * (world.size - 1) / 2 &&
           isnan(whole[1]),
       "doubles that are whole numbers are summed, NAN stays");
    double most[2] = {world.rank, -world.rank};
    weft_max_f64(&world, most, 2);
    ok(most[0] == world.size - 1 && most[1] == 0, "the largest of all ranks is found");
    double parts[3] = {-0.0, -INFINITY, 0.1};
    double joined[3] = {0};
    for (int i = 0; i < 3; i++)
        if (i % world.size == world.rank) joined[i] = parts[i];
    weft_join_f64(&world, joined, 3);
    ok(memcmp(joined, parts, sizeof parts) == 0, "numbers of single ranks reach all");
    char word[8] = "";
    if (world.rank == world.size - 1) strcpy(word, "weft");
    weft_bcast(&world, word, sizeof word, world.size - 1);
    ok(strcmp(word, "weft") == 0, "bytes of the last rank reach all");
}

/* n numbers of each rank are summed in the buffer, halved by their owners, joined: of 0, of
 * fewer blocks than ranks, of an uneven number. */
static void test_sizes(weft_team *team, const char *how)
{
    static const int64_t size[] = {0, 1, 256, 700, 20000, 1000};
    int sums = 1, joined = 1;
    for (int s = 0; s < 6; s++) {
        int64_t n = size[s], first, count, shift = n > 0;
        weft_arena *tmp = weft_arena_new();
        int64_t *x = weft_parts_buffer(team, (size_t)(n + 1) * sizeof *x);
        real *half = WEFT_NEW(tmp, real, n + 1);
        for (int64_t i = 0; i < n; i++) x[i + shift] = i * (team->rank + 1);
        weft_parts_sum_i64(team, x + shift, (size_t)n);
        weft_deal(n, team->rank, team->size, &first, &count);
        for (int64_t i = first; i < first + count; i++) {
            sums &= x[i + shift] == i * team->size * (team->size + 1) / 2;
            half[i] = (real)(i % 1000) / 2;
        }
        weft_parts_join(team, half, 1, (size_t)n);
        for (int64_t i = 0; i < n; i++) joined &= !(half[i] * 2 - (real)(i % 1000) != 0);
        weft_arena_free(tmp);
    }
    ok(sums, "%s: each rank has the sums of its part", how);
    ok(joined, "%s: all ranks get the parts of all", how);
}

static void test_parts(weft_team *team, const char *how)
{
    enum { N = 600 };
    int sums = 1, joined = 1;
    test_sizes(team, how);
    int32_t *y = weft_parts_buffer(team, N * sizeof *y);
    int64_t first, count;
    weft_deal(N, team->rank, team->size, &first, &count);
    for (int round = 1; round < 200; round++) { /* a rank that is ahead writes too early */
        for (int i = 0; i < N; i++) y[i] = round * i;
        weft_parts_sum_i32(team, y, N);
        for (int64_t i = first; i < first + count; i++)
            sums &= y[i] == round * i * team->size;
    }
    ok(sums, "%s: so do 199 sums in a row, of 32 bits", how);
    enum { C = 3 };
    double *z = weft_parts_buffer(team, C * N * sizeof *z), large = 0x1p53 / team->size;
    real several[C * N];
    for (int i = 0; i < C * N; i++) {
        z[i] = floor(large) - i;
        several[i] = (real)(-1);
    }
    weft_parts_sum_whole_f64(team, z, C, N);
    for (int j = 0; j < C; j++)
        for (int64_t i = j * N + first; i < j * N + first + count; i++) {
            double is = (floor(large) - (double)i) * team->size;
            sums &= !(z[i] < is || z[i] > is);
            several[i] = (real)i;
        }
    ok(sums, "%s: and sums of several vectors of whole doubles", how);
    weft_parts_join(team, several, C, N);
    for (int i = 0; i < C * N; i++)
        joined &= !(several[i] < (real)i || several[i] > (real)i);
    ok(joined, "%s: the parts of several vectors reach all", how);
}

/* Each rank reads the buffers of all, where they are shared. */
static void test_shared(weft_team *team, int shared)
{
    int seen = 1;
    int64_t *own = weft_parts_buffer(team, sizeof *own);
    for (int round = 0; shared && round < 200; round++) {
        *own = 100 * round + team->rank;
        weft_parts_meet(team);
        for (int r = 0; r < team->size; r++)
            seen &= *(int64_t *)weft_parts_of(team, r) == 100 * round + r;
        weft_parts_meet(team);
    }
    ok(seen && (weft_parts_of(team, team->rank) == own) == shared,
       shared ? "ranks read each other's buffers" : "no buffer of another is read");
}

static void test_parts_both(void)
{
    test_parts(&world, "in shared memory");
    weft_team own;
    weft_team_split(&world, world.size > 1 ? 2 : 1, &own);
    test_parts(&own, "in shared memory of a team");
    test_shared(&own, own.size > 1);
    weft_team_free(&own);
    setenv("WEFT_SUMS_BY_MESSAGE", "1", 1);
    weft_team_split(&world, 1, &own);
    test_parts(&own, "by messages");
    test_shared(&own, 0);
    weft_team_free(&own);
    unsetenv("WEFT_SUMS_BY_MESSAGE");
}

static void test_join_bytes(weft_team *team, const char *how);

/* As if nodes had two ranks, which some numbers of ranks do not fill. */
static void test_nodes(void)
{
    weft_team own;
    setenv("WEFT_NODE_RANKS", "2", 1);
    weft_team_split(&world, 1, &own);
    test_parts(&own, "on nodes");
    test_shared(&own, own.size == 2);
    test_join_bytes(&own, "on nodes");
    weft_team_free(&own);
    unsetenv("WEFT_NODE_RANKS");
}

/* 3 r + 1 bytes of rank r. */
static void test_join_bytes(weft_team *team, const char *how)
{
    enum { MOST = 1024 };
    char x[MOST] = "", all[MOST];
    size_t count[MOST] = {0}, n = 0, own = 0;
    for (int r = 0; r < team->size; r++) {
        count[r] = (size_t)(3 * r + 1);
        if (r == team->rank) own = n;
        memset(all + n, 'a' + r, count[r]);
        n += count[r];
    }
    memset(x + own, 'a' + team->rank, count[team->rank]);
    weft_join_bytes(team, x, count);
    ok(memcmp(x, all, n) == 0 && x[n] == 0, "%s: all ranks get the bytes of all", how);
}

/* 60 numbers of five decades of magnitude, dealt to ranks, in each of 100 sums. */
static void test_exact(void)
{
    enum { SUMS = 100, TERMS = 60 };
    double sum[SUMS] = {0}, exact[SUMS] = {0};
    for (int j = 0; j < SUMS; j++)
        for (int i = 0; i < TERMS; i++) {
            double x = ldexp(floor(ldexp(unit((uint64_t)j, (uint64_t)i) - 0.5, 30)),
                             -30 - 17 * (i % 2));
            exact[j] += x;
            if (i % world.size == world.rank) sum[j] += x;
        }
    weft_sum_f64(&world, sum, SUMS, TERMS);
    double worst = 0;
    for (int j = 0; j < SUMS; j++) worst = worse(worst, fabs(sum[j] - exact[j]));
    ok(worst <= 0, "sums of doubles that integers hold are exact");
    digest(weft_hash(sum, sizeof sum, 0));
    double third = world.rank == 0 ? 1.0 / 3 : 0;
    weft_sum_f64(&world, &third, 1, 1);
    is_near(third, 1.0 / 3, ldexp(1, -61),
            "a sum is off by half a unit of 2^-scale at most");
}

/* Numbers whose bound is found first; then one of the last rank is none. */
static void test_unbounded(void)
{
    enum { N = 3 };
    int last = world.rank == world.size - 1;
    double x[N] = {0.25, last ? -8 : 1, 0.5}, sum[N];
    int64_t whole[N];
    double most = weft_largest_f64(&world, x, N), bound = most * world.size;
    int scale = weft_fix_scale(bound);
    for (int i = 0; i < N; i++) whole[i] = weft_fix(x[i], scale);
    weft_sum_whole(&world, whole, N, scale, bound, sum);
    ok(most == 8 && sum[0] == 0.25 * world.size && sum[1] == world.size - 9,
       "sums by the largest magnitude are exact");
    /* of vectors in one message: one that is 1e20 times as large, one that is not finite */
    const double many[3 * N] = {1e-20, 2e-20, 4e-20, 1, -2, last ? NAN : 4, 3, 5, -7};
    weft_sums_exact(&world, 3, many, N, N * world.size, sum);
    is_near(sum[0], 7e-20 * world.size, 1e-35, "a sum beside others has its own scale");
    ok(isnan(sum[1]) && sum[2] == world.size &&
           sum[2] == weft_sum_exact(&world, many + 6, N, N * world.size),
       "and its own NaN: the sums are those of each vector alone");
    const real small[N] = {0, last ? -0.5f : 0.25f, 0.125f};
    is_near(weft_largest(&world, small, N), 0.5, 0, "the largest may be below 1");
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        const real y[N] = {1, last ? (real)bad[k] : 2, 3};
        double none = weft_largest(&world, y, N);
        weft_sum_whole(&world, whole, N, weft_fix_scale(none), none, sum);
        ok(isinf(none) && none > 0 && isnan(sum[0]) && isnan(sum[1]),
           "%g on one rank makes sums NaN", bad[k]);
    }
}

static void test_agree(void)
{
    ok(weft_agree(WEFT_OK, &world) == WEFT_OK, "all well is agreed on");
    weft_status st = WEFT_OK;
    if (world.rank == world.size - 1)
        st = weft_fail(WEFT_EDATA, "rank %d: no data", world.rank);
    st = weft_agree(st, &world);
    char expected[64];
    snprintf(expected, sizeof expected, "rank %d: no data", world.size - 1);
    ok(st == WEFT_EDATA && strcmp(weft_error(), expected) == 0,
       "the failure of the last rank and its message reach all");
    st = weft_fail(WEFT_EFILE, "rank %d: no file", world.rank);
    st = weft_agree(st, &world);
    ok(st == WEFT_EFILE && strcmp(weft_error(), "rank 0: no file") == 0,
       "the message is that of the lowest rank that failed");
    st = world.rank == world.size - 1 ? weft_fail(WEFT_EDATA, "no data") : WEFT_STOP;
    ok(weft_agree(st, &world) == WEFT_EDATA, "failure weighs more than a request to stop");
}

/* A sum for which each rank is late by 50 ms more than the one before; returns 1 if at
 * least half of what this rank waited is counted as waiting. */
static int wait_for_late(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000L * world.rank}, NULL);
    weft_times_close(&world);
    weft_times before = world.times;
    double begin = world.since, mine = weft_now();
    int64_t x[1000] = {0};
    weft_sum_i64(&world, x, 1000);
    weft_times_close(&world);
    double wait = world.times.wait - before.wait;
    double spent =
        world.times.compute - before.compute + wait + world.times.comm - before.comm;
    is_near(spent, world.since - begin, 1e-9,
            "compute, wait and comm add up to the time passed");
    is_near(world.times.bytes - before.bytes, world.size > 1 ? 8000 : 0, 0,
            "bytes handed over are counted");
    double last = mine;
    weft_max_f64(&world, &last, 1);
    return wait >= 0.5 * (last - mine);
}

/* On a busy machine a rank may be late where it is to wait, but not every time. */
static void test_times(void)
{
    int counted = 0;
    for (int try = 0; try < 3; try++) counted |= wait_for_late();
    ok(counted, "waiting for slower ranks is counted as waiting");
    double computed = world.times.compute;
    nanosleep(&(struct timespec){.tv_nsec = 50000000L}, NULL);
    size_t *to = calloc((size_t)world.size, sizeof *to);
    int64_t x[1] = {0};
    weft_exchange(&world, x, to, x, to);
    free(to);
    ok(world.times.compute - computed >= 0.05,
       "what is done before an exchange is computing");
    double of_rank[2] = {(world.rank + 1) % world.size, 7}, out[2][WEFT_NSPREAD];
    weft_spread(&world, of_rank, 2, out);
    ok(out[0][WEFT_MIN] == 0 && out[0][WEFT_MAX] == world.size - 1 &&
           out[1][WEFT_MIN] == 7 && out[1][WEFT_MAX] == 7,
       "the spread has least and most");
    ok(out[0][WEFT_MIN_RANK] == world.size - 1 &&
           (world.size == 1 || out[0][WEFT_MAX_RANK] == world.size - 2) &&
           out[1][WEFT_MIN_RANK] == 0 && out[1][WEFT_MAX_RANK] == 0,
       "and which rank has them, of equal ones the lowest");
    is_near(out[0][WEFT_MEAN], (world.size - 1) / 2.0, 1e-12, "the spread has the mean");
}

/* Entry of a symmetric matrix, positive definite up to order 1000; a negative one on the
 * diagonal at `hole`. */
static double entry(int64_t i, int64_t j, int64_t hole)
{
    if (i == j) return i == hole ? -1 : 20 + (double)(i % 7);
    uint64_t a = (uint64_t)(i < j ? i : j), b = (uint64_t)(i < j ? j : i);
    return unit(a, b) - 0.5;
}

static void panel(void *ctx, int64_t r0, int64_t nr, int64_t c0, int64_t nc, double *a)
{
    for (int64_t i = 0; i < nr; i++)
        for (int64_t j = 0; j < nc; j++)
            a[i * nc + j] = entry(r0 + i, c0 + j, *(const int64_t *)ctx);
}

static void test_grid(int64_t n, int c)
{
    int64_t hole = -1, minor = -1;
    weft_grid *grid = weft_grid_factor(&world, n, panel, &hole, mem, &minor);
    ok(minor == 0, "a positive definite matrix of order %d is factored", (int)n);
    real *b = WEFT_NEW(mem, real, c * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int k = 0; k < c; k++)
                b[k * n + i] += (real)(entry(i, j, hole) * (double)(j % 5 + k));
    double bytes = world.times.bytes;
    weft_grid_solve(grid, c, b);
    is_near(world.times.bytes - bytes, world.size > 1 ? (double)(c * n) * sizeof *b : 0, 0,
            "ranks hand over the bytes of the solutions");
    double worst = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < c; k++)
            worst = worse(worst, fabs((double)b[k * n + i] - (double)(i % 5 + k)));
    weft_grid_free(grid);
    ok(worst < 1e-5 * (c + 4), "%d right sides of order %d are solved to 1e-5", c, (int)n);
    hole = n / 2;
    grid = weft_grid_factor(&world, n, panel, &hole, mem, &minor);
    weft_grid_free(grid);
    ok(minor == hole + 1, "the first minor that is not positive definite is named");
}

/* Runs this program in an environment of nothing but `variables`; its exit status. */
static int alone(const char *self, const char *variables)
{
    char command[1024];
    snprintf(command, sizeof command,
             "env -i PATH=\"$PATH\" HOME=\"$HOME\" ASAN_OPTIONS=\"$ASAN_OPTIONS\" %s '%s' "
             "alone 2>/dev/null",
             variables, self);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_launchers(const char *self)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!size) size = getenv("PMI_SIZE"); /* of MPICH's launcher */
    if (!size || atoi(size) != 1) return;
    ok(alone(self, "") == WEFT_OK, "a process without launcher starts");
    ok(alone(self, "SLURM_NTASKS=4") == WEFT_OK, "a process in a larger allocation starts");
    ok(alone(self, "SLURM_STEP_NUM_TASKS=4") == WEFT_ECONF,
       "a process that srun started as one of four but is alone is refused");
    ok(alone(self, "OMPI_COMM_WORLD_SIZE=2") == WEFT_ECONF,
       "a process of another mpirun is refused");
    ok(alone(self, "PMI_SIZE=2") == WEFT_ECONF, "so is one of MPICH's launcher");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        weft_status st = weft_par_start(&argc, &argv, &world);
        if (st == WEFT_OK) weft_par_end(&world);
        return (int)st;
    }
    ranks_begin(&argc, &argv); /* may run main anew */
    test_launchers(argv[0]);
    test_deal();
    test_deal_costs();
    double speed[37];
    for (int b = 0; b < 37; b++) speed[b] = 1 + b % 3;
    test_deal_many(NULL);
    test_deal_many(speed);
    test_sums();
    test_parts_both();
    test_join_bytes(&world, "on one node");
    test_nodes();
    test_exact();
    test_unbounded();
    test_agree();
    test_times();
    test_grid(5, 2);
    test_grid(200, 3);
    test_grid(700, 70);
    return tap_end();
}

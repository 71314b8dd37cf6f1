/* Section [compress] and fed.share: rounded numbers, largest numbers and sketches beside
 * tests/gold/compress.py; rounds with them by hand, in doubles; bytes; the same bits on any
 * ranks, in vector lanes, one by one and after stops; what is refused.
 * RUN: np=1 np=2 np=3 */
#include "task/fed/compress.h"
#include "toy.h"

enum { N = 90, FIRST = 5, SEED = 3, BIAS = C * D };

/* ---- numbers ---- */

static void sample(real *x)
{
    for (int i = 0; i < N; i++) x[i] = (real)((i * 37 % 101 - 50) / 16.0);
}

/* A sketch of the numbers of `sample`. */
static fed_sketch sketch_of(int rows, int64_t columns)
{
    return (fed_sketch){.rows = rows,
                        .columns = columns,
                        .seed = SEED,
                        .cells = WEFT_NEW(mem, double, rows *columns)};
}

/* What the module makes of a line's first words; returns how many numbers. */
static int made(const char *what, int a, int64_t b, fed_sketch *error, double *out)
{
    real x[N];
    weft_rng_row key = {SEED, WEFT_RNG_COMPRESS, 2, 7, 0};
    fed_sketch sketch = sketch_of(a, b > 0 ? b : 1);
    sample(x);
    if (strcmp(what, "quantize") == 0) fed_quantize(N, x, a, &key, FIRST);
    if (strcmp(what, "largest") == 0) fed_keep_largest(N, x, a, WEFT_REAL_MAX, NULL);
    if (b > 0) fed_sketch_add(&sketch, FIRST, N, x, 1);
    if (strcmp(what, "sketch") == 0) {
        memcpy(out, sketch.cells, (size_t)(a * b) * sizeof *out);
        *error = sketch_of(a, b);
        return (int)(a * b);
    }
    if (strcmp(what, "read") == 0) fed_sketch_read(&sketch, FIRST, N, x);
    if (strcmp(what, "taken") == 0) {
        fed_sketch_add(error, FIRST, N, x, 1);
        fed_sketch_read(error, FIRST, N, x);
        fed_keep_largest(N, x, 4, WEFT_REAL_MAX, NULL);
        fed_sketch_add(error, FIRST, N, x, -1);
    }
    for (int i = 0; i < N; i++) out[i] = (double)x[i];
    return N;
}

static void test_numpy(void)
{
    static char line[1 << 14];
    static double out[1024];
    fed_sketch error = {0};
    FILE *file = gold_of("compress.txt");
    while (fgets(line, sizeof line, file)) {
        char what[16];
        int a, at = 0;
        long long b;
        weft_check(sscanf(line, "%15s %d %lld%n", what, &a, &b, &at) == 3, "%s", line);
        int n = made(what, a, b, &error, out), i = 0;
        double off = 0;
        for (char *end; i < n; i++, at = (int)(end - line)) {
            double gold = strtod(line + at, &end);
            off = end == line + at ? INFINITY : worse(off, fabs(out[i] - gold));
        }
        is_near(off, 0, 2e-6, "%s %d %lld is NumPy's", what, a, b);
    }
    fclose(file);
}

/* By the closed form of one number's variance, unit^2 f (1 - f), f its part of a level. */
static void test_unbiased(void)
{
    enum { DRAWS = 20000 };
    for (int bits = 2; bits <= 8; bits += 3) {
        double sum[N] = {0}, levels = ldexp(1, bits - 1) - 1, most = 50 / 16.0, off = 0;
        real x[N], start[N];
        int near = 1;
        sample(start);
        for (int e = 0; e < DRAWS; e++) {
            weft_rng_row key = {SEED, WEFT_RNG_COMPRESS, (uint64_t)e, 1, 0};
            memcpy(x, start, sizeof x);
            fed_quantize(N, x, bits, &key, 0);
            for (int i = 0; i < N; i++) {
                double at = (double)x[i] * levels / most,
                       from = (double)start[i] * levels / most;
                near &= fabs(at - round(at)) < 1e-4 && fabs(at - from) < 1 + 1e-4;
                sum[i] += (double)x[i];
            }
        }
        for (int i = 0; i < N; i++) {
            double from = fabs((double)start[i]) * levels / most, f = from - floor(from);
            double error = most / levels * sqrt(f * (1 - f) / DRAWS);
            off = worse(off, fabs(sum[i] / DRAWS - (double)start[i]) / (error + 1e-9));
        }
        ok(near, "%d bits: a number becomes a level beside it", bits);
        is_near(off, 0, 4, "and its mean stays, in standard errors");
    }
    real x[3] = {1, -0.25F, 3}, zero[2] = {0};
    weft_rng_row key = {SEED, WEFT_RNG_COMPRESS, 0, 0, 0};
    int within = 1;
    for (int i = 1; i < 2000; i++) {
        real most[64];
        for (int e = 0; e < 64; e++) most[e] = (real)i / 7;
        fed_quantize(64, most, 31, &key, i * 64);
        for (int e = 0; e < 64; e++) within &= most[e] <= (real)i / 7;
    }
    ok(within, "no number becomes larger than the largest");
    fed_quantize(3, x, 32, &key, 0);
    fed_quantize(2, zero, 4, &key, 0);
    ok(x[1] <= -0.25F && x[1] >= -0.25F && !(zero[0] > 0) && !(zero[0] < 0),
       "32 bits change nothing, and zeros stay");
}

/* Halves of a vector draw as the whole does. */
static void test_places(void)
{
    real x[N], whole[N];
    weft_rng_row key = {SEED, WEFT_RNG_COMPRESS, 5, 6, 0};
    sample(whole);
    for (int i = 40; i < N; i++) whole[i] = whole[i - 40]; /* halves of one maximum */
    memcpy(x, whole, sizeof x);
    fed_quantize(N, whole, 3, &key, FIRST);
    fed_quantize(43, x, 3, &key, FIRST);
    fed_quantize(N - 43, x + 43, 3, &key, FIRST + 43);
    ok(memcmp(x, whole, sizeof x) == 0, "what a number draws is a function of its place");
}

/* All k, many ties, against an order by hand. */
static void test_largest(void)
{
    int right = 1, whole = 1;
    for (int k = 1; k <= N; k++) {
        real x[N], start[N], rest[N];
        for (int i = 0; i < N; i++)
            start[i] = (real)((i * 29 % 13 - 6) * (k % 3 == 0 ? 1e-30 : 0.3));
        memcpy(x, start, sizeof x);
        fed_keep_largest(N, x, k, 1, rest);
        for (int i = 0; i < N; i++) {
            int before = 0;
            for (int e = 0; e < N; e++)
                before += fabs((double)start[e]) > fabs((double)start[i]) ||
                          (!(fabs((double)start[e]) < fabs((double)start[i])) && e < i);
            double sent = before < k ? fmax(fmin((double)start[i], 1), -1) : 0;
            right &= !(fabs((double)x[i] - sent) > 0);
            whole &= !(fabs((double)x[i] + (double)rest[i] - (double)start[i]) > 1e-7);
        }
    }
    ok(right, "the largest, of equal ones the first, and none beyond the bound");
    ok(whole, "and the rest is what was not sent");
}

/* ---- rounds by hand ---- */

static const char plain[] = "[fed]\ncohort = 5\n[client]\nlr = 0.5\nbatch = 50\n";

/* The change of client c by a full step from w. */
static void change_of(const struct toy *toy, int c, const double *w, double *change)
{
    memcpy(change, w, W * sizeof *change);
    full_step(toy, c, 0.5, change);
    for (int i = 0; i < W; i++) change[i] -= w[i];
}

/* Rounds x[n] of a vector, as its place says. */
static void rounded(int n, double *x, int bits, uint64_t round, uint64_t who, int first)
{
    double most = 0, levels = ldexp(1, bits - 1) - 1;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (int i = 0; i < n; i++) {
        int place = first + i;
        weft_rng4 rng =
            weft_rng_at(SEED, WEFT_RNG_COMPRESS, round, who, (uint64_t)place / 8);
        uint64_t word = rng.v[place % 8 / 2];
        double u = (double)(place % 2 ? word >> 32 : word & 0xffffffffu) / 4294967296.0;
        double level = floor(fabs(x[i]) / most * levels + u);
        x[i] = (x[i] < 0 ? -1 : 1) * level * most / levels;
    }
}

static void test_quantized_rounds(struct toy *toy)
{
    const struct stand *stand =
        trained(toy, printed("%s[compress]\nclient = quantize\nbits = 4\n", plain), 1, 2);
    double w[W] = {0};
    for (int round = 0; round < 2; round++) {
        double mean[W] = {0};
        for (int c = 0; c < 5; c++) {
            double change[W];
            change_of(toy, c, w, change);
            rounded(BIAS, change, 4, (uint64_t)round, (uint64_t)c, 0);
            rounded(C, change + BIAS, 4, (uint64_t)round, (uint64_t)c, BIAS);
            for (int i = 0; i < W; i++)
                mean[i] += (double)toy->count[c][0] / 72 * change[i];
        }
        for (int i = 0; i < W; i++) w[i] += mean[i];
    }
    is_near(distance(stand->state.x, w), 0, 1e-5, "changes of 4 bits by tensors, by hand");
}

/* Leaves the k of x[n] of largest magnitude. */
static void left_largest(int n, double *x, int k)
{
    double all[64];
    memcpy(all, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        int before = 0;
        for (int e = 0; e < n; e++)
            before +=
                fabs(all[e]) > fabs(all[i]) || (!(fabs(all[e]) < fabs(all[i])) && e < i);
        if (before >= k) x[i] = 0;
    }
}

/* What client c keeps: turns, and what was not sent. */
static void kept_of(const struct stand *stand, int64_t c, double *turns, double *rest)
{
    real row[1 + W] = {0};
    if (world.rank == 0) must(weft_kept_read(stand->state.kept, 1, &c, row));
    weft_bcast(&world, row, sizeof row, 0);
    *turns = (double)row[0];
    wide(row + 1, rest);
}

/* Four rounds of some of the clients, whose rows tell who they were. */
static void test_largest_rounds(struct toy *toy, int cohort, double most)
{
    struct stand *stand = standing(
        toy,
        printed("[fed]\ncohort = %d\n[client]\nlr = 0.5\nbatch = 50\nmax_change = %g\n"
                "[compress]\nclient = topk\nshare = 0.2\n",
                cohort, most),
        1);
    double w[W] = {0}, rest[5][W] = {{0}}, turns[5] = {0}, off = 0;
    for (int round = 0; round < 4; round++) {
        double mean[W] = {0}, sum = 0, held[W];
        units(stand, 1, 0, 1);
        for (int c = 0; c < 5; c++) {
            double change[W], now, n = (double)toy->count[c][0];
            kept_of(stand, c, &now, held);
            if (!(now > turns[c])) continue;
            change_of(toy, c, w, change);
            for (int i = 0; i < W; i++) rest[c][i] = change[i] += rest[c][i];
            left_largest(W, change, 4); /* ceil(0.2 18) */
            for (int i = 0; i < W; i++) {
                change[i] = fmax(fmin(change[i], most), -most);
                rest[c][i] -= change[i];
                mean[i] += n * change[i];
                off = worse(off, fabs(rest[c][i] - held[i]));
            }
            turns[c] = now;
            sum += n;
        }
        for (int i = 0; i < W; i++) w[i] += mean[i] / sum;
    }
    is_near(distance(stand->state.x, w), 0, 1e-5,
            "the largest of %d clients, within %g, by hand", cohort, most);
    is_near(off, 0, 1e-5, "and what they keep");
}

/* The state behind the weights is the sketch of what was not taken. */
static void test_sketched_rounds(struct toy *toy)
{
    enum { ROWS = 3, COLUMNS = 5 };
    const struct stand *stand =
        trained(toy,
                printed("%s[compress]\nclient = sketch\nrows = 3\ncolumns = 5\n"
                        "share = 0.2\n",
                        plain),
                1, 3);
    double w[W] = {0}, cells[ROWS][COLUMNS] = {{0}}, off = 0;
    int at[ROWS][W], sign[ROWS][W];
    for (int i = 0; i < W; i++) {
        weft_rng4 rng = weft_rng_at(SEED, WEFT_RNG_COMPRESS, UINT64_MAX, 0, (uint64_t)i);
        for (int r = 0; r < ROWS; r++) {
            uint64_t half = r % 2 ? rng.v[r / 2] >> 32 : rng.v[r / 2] & 0xffffffffu;
            at[r][i] = (int)((half / 2) * COLUMNS / 2147483648u);
            sign[r][i] = half % 2 ? -1 : 1;
        }
    }
    for (int round = 0; round < 3; round++) {
        double mean[W];
        mean_step(toy, 31, 0.5, w, mean);
        for (int i = 0; i < W; i++)
            for (int r = 0; r < ROWS; r++)
                cells[r][at[r][i]] += sign[r][i] * (mean[i] - w[i]);
        for (int i = 0; i < W; i++) {
            double a = sign[0][i] * cells[0][at[0][i]], b = sign[1][i] * cells[1][at[1][i]],
                   c = sign[2][i] * cells[2][at[2][i]];
            mean[i] = fmax(fmin(a, b), fmin(fmax(a, b), c));
        }
        left_largest(W, mean, 4);
        for (int i = 0; i < W; i++) {
            w[i] += mean[i];
            for (int r = 0; r < ROWS; r++) cells[r][at[r][i]] -= sign[r][i] * mean[i];
        }
    }
    for (int i = 0; i < ROWS * COLUMNS; i++)
        off = worse(off,
                    fabs((double)stand->state.x[W + i] - cells[i / COLUMNS][i % COLUMNS]));
    is_near(distance(stand->state.x, w), 0, 1e-5, "three rounds of a sketch by hand");
    is_near(off, 0, 1e-5, "and what the server keeps of it");
}

/* Clients train from what they receive, and the server's weights take their changes. */
static void test_views(struct toy *toy)
{
    const struct stand *bits = trained(
        toy, printed("%s[compress]\nserver = quantize\nserver_bits = 5\n", plain), 1, 3);
    const struct stand *largest = trained(
        toy, printed("%s[compress]\nserver = topk\nserver_share = 0.3\n", plain), 1, 3);
    double w[2][W] = {{0}}, had[W] = {0};
    for (int round = 0; round < 3; round++) {
        for (int way = 0; way < 2; way++) {
            double view[W], mean[W];
            for (int i = 0; i < W; i++) view[i] = w[way][i] - (way ? had[i] : 0);
            if (way) left_largest(W, view, 6);
            for (int i = 0; way && i < W; i++) view[i] = had[i] += view[i];
            if (!way && round > 0) {
                rounded(BIAS, view, 5, (uint64_t)round, UINT64_MAX, 0);
                rounded(C, view + BIAS, 5, (uint64_t)round, UINT64_MAX, BIAS);
            }
            mean_step(toy, 31, 0.5, view, mean);
            for (int i = 0; i < W; i++) w[way][i] += mean[i] - view[i];
        }
    }
    is_near(distance(bits->state.x, w[0]), 0, 1e-5, "weights of 5 bits, by hand");
    is_near(distance(largest->state.x, w[1]), 0, 1e-5, "the largest differences, by hand");
    is_near(distance(largest->state.x + W, had), 0, 1e-5, "and what clients have");
}

/* Epochs with momentum and decay move the bias alone, also where a round is in lanes. */
static void test_shared(struct toy *toy, int in_lanes)
{
    struct stand *stand = standing(
        toy,
        "[fed]\ncohort = 5\nshare = bias$\n[client]\nlr = 0.3\nbatch = 50\nepochs = 3\n"
        "momentum = 0.5\nweight_decay = 0.1\nmu = 0.2\n",
        1);
    if (!in_lanes) ((fed_task *)stand->self)->work.lanes = NULL;
    double w[W] = {0};
    units(stand, 2, 0, 2);
    for (int round = 0; round < 2; round++) {
        double mean[W] = {0};
        for (int c = 0; c < 5; c++) {
            double own[W], v[W] = {0}, n = (double)toy->count[c][0];
            memcpy(own, w, sizeof own);
            for (int epoch = 0; epoch < 3; epoch++) {
                double g[W] = {0};
                softmax(toy, c, 0, toy->count[c][0], own, g);
                for (int i = BIAS; i < W; i++) {
                    double d = g[i] / n + 0.2 * (own[i] - w[i]) + 0.1 * own[i];
                    v[i] = 0.5 * v[i] + d;
                    own[i] -= 0.3 * v[i];
                }
            }
            for (int i = 0; i < W; i++) mean[i] += n / 72 * own[i];
        }
        memcpy(w, mean, sizeof w);
    }
    is_near(distance(stand->state.x, w), 0, 1e-6, "the shared bias alone moves, %s",
            in_lanes ? "in lanes" : "one by one");
    is_near(in_row(fed, stand->row[0], "bytes"), 5 * 2 * 4 * C, 0, "and is sent");
}

/* With two bits a block of a large tensor has one magnitude; others have theirs. */
static void test_blocks(struct toy *toy)
{
    enum { LARGE = 1000 }; /* of the first tensor */
    static const char text[] = "[fed]\ncohort = 1\nmodel = mlp\n[mlp]\nhidden = 200\n"
                               "[compress]\nclient = quantize\nbits = 2\n";
    struct stand *stand = standing(toy, text, 1);
    real start[LARGE];
    double most[2] = {0};
    memcpy(start, stand->state.x, sizeof start);
    units(stand, 1, 0, 1);
    int one = 1;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < LARGE; i++) {
            double moved = fabs((double)stand->state.x[i] - (double)start[i]);
            double *own = &most[i / FED_BLOCK];
            if (pass == 0) *own = fmax(*own, moved);
            if (pass == 1) one &= moved < 1e-7 || fabs(moved - *own) < 1e-7;
        }
    ok(one, "a block of %d numbers has one scale", FED_BLOCK);
    ok(fabs(most[0] - most[1]) > 1e-5, "and the next another");
}

/* A sketch moves no tensor that is not sent. */
static void test_sketch_shared(struct toy *toy)
{
    const struct stand *stand =
        trained(toy,
                "[fed]\ncohort = 5\nshare = weight\n[compress]\n"
                "client = sketch\nrows = 2\ncolumns = 3\nshare = 1\n",
                1, 3);
    double moved = 0, still = 0;
    for (int i = 0; i < W; i++) {
        double size = fabs((double)stand->state.x[i]);
        if (i < BIAS)
            moved = worse(moved, size);
        else
            still = worse(still, size);
    }
    ok(moved > 0 && !(still > 0), "a sketch moves no tensor that is not sent");
}

/* ---- bytes ---- */

/* Options in one line. */
static const char *flat(const char *options)
{
    char *text = printed("%s", options);
    for (char *at = text; (at = strchr(at, '\n'));) *at = ' ';
    return text;
}

/* Bytes of five clients, of 18 numbers in tensors of 15 and 3. */
static void test_bytes(struct toy *toy)
{
    static const struct {
        const char *options;
        double down, up;
    } cases[] = {
        {"", 72, 72},
        {"[compress]\nclient = quantize\nbits = 4\n", 72, 9 + 8},
        {"[compress]\nclient = quantize\nbits = 3\n", 72, 7 + 8},
        {"[compress]\nclient = quantize\nbits = 32\n", 72, 72},
        {"[compress]\nclient = topk\nshare = 0.1\n", 72, 2 * 4 + 2}, /* 2 of 5 bits */
        {"[compress]\nclient = topk\nshare = 0.5\n", 72, 9 * 4 + 3}, /* a map of 18 bits */
        {"[compress]\nclient = topk\nshare = 1\n", 72, 72},
        {"[compress]\nclient = sketch\nrows = 3\ncolumns = 5\n", 72, 60},
        {"[compress]\nserver = quantize\nserver_bits = 8\n", 18 + 8, 72},
        {"[compress]\nserver = topk\nserver_share = 0.1\nclient = quantize\nbits = 2\n", 10,
         5 + 8},
        {"algorithm = scaffold\n[compress]\nclient = quantize\nbits = 4\n", 144, 72 + 17},
        {"algorithm = fedexp\n[compress]\nclient = quantize\nbits = 4\n", 72, 4 + 17},
        {"share = weight\n[compress]\nclient = quantize\nbits = 4\n", 60, 8 + 4},
        {"share = weight\n[compress]\nclient = topk\nshare = 0.2\n", 60, 3 * 4 + 2},
        {"model = mlp\nshare = fc1.bias\n[mlp]\nhidden = 64\n[compress]\nclient = topk\n"
         "share = 0.0625\n",
         256, 4 * 4 + 3}, /* 4 of 6 bits */
        {"model = mlp\n[mlp]\nhidden = 200\n[compress]\nclient = quantize\nbits = 4\n",
         7212, 902 + 6 * 4}, /* tensors of 1000, 200, 600 and 3 */
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        const struct stand *stand =
            trained(toy,
                    printed("[device]\nup = 2\ndown = 5\nbyte_energy = 0.5\n[fed]\n"
                            "cohort = 5\n%s",
                            cases[i].options),
                    1, 1);
        const double *row = stand->row[0], bytes = cases[i].up + cases[i].down;
        is_near(in_row(fed, row, "bytes"), 5 * bytes, 1e-9, "bytes: %s",
                flat(cases[i].options));
        is_near(in_row(fed, row, "seconds"), cases[i].down / 5 + cases[i].up / 2, 1e-9,
                "its time");
        is_near(in_row(fed, row, "energy"), 5 * bytes / 2, 1e-9, "and energy");
    }
}

/* ---- the same bits ---- */

static const char *const ways[] = {
    "[compress]\nclient = quantize\nbits = 3\nserver = quantize\nserver_bits = 6\n",
    "[compress]\nclient = topk\nshare = 0.1\n",
    "algorithm = scaffold\n[compress]\nclient = topk\nshare = 0.2\nserver = quantize\n",
    "algorithm = ditto\n[compress]\nclient = topk\nshare = 0.2\n",
    "algorithm = fednova\nshare = weight\n[compress]\nclient = sketch\nrows = 2\n"
    "columns = 7\nshare = 0.3\n",
    "share = bias\n"};
enum { WAYS = sizeof ways / sizeof *ways };

static void test_same_bits(struct toy *toy)
{
    for (int i = 0; i < WAYS; i++) {
        const char *text =
            printed("[client]\nlr = log 0.01 .. 1\nmomentum = 0 .. 0.9\nbatch = 2 .. 9\n"
                    "[server]\nmomentum = 0.5\naverage = tail\n[device]\ndropout = 0.2\n"
                    "[fed]\ncohort = 7\nscore_both = yes\n%s",
                    ways[i]);
        weft_mix_update none = {.schedule = WEFT_UPDATE_NONE};
        struct stand *whole = trained(toy, text, 3, 6), *alone = standing(toy, text, 3);
        ((fed_task *)alone->self)->work.lanes = NULL;
        units(alone, 6, 0, 6);
        digest(hash_of(whole));
        ok(hash_of(whole) == hash_of(alone), "the same in lanes and one by one: %s",
           flat(ways[i]));
        ok(goes_on_alike(toy, text, 3, none, 6, 2, hash_of(whole)), "and after stops");
    }
    struct stand *none = trained(toy, "[fed]\ncohort = 7\n", 1, 4);
    ok(hash_of(trained(toy,
                       "[fed]\ncohort = 7\n[compress]\nclient = quantize\nbits = 32\n"
                       "server = quantize\nserver_bits = 32\n",
                       1, 4)) == hash_of(none),
       "32 bits both ways are what was sent before");
    ok(hash_of(trained(toy, "[fed]\ncohort = 7\n[compress]\nclient = none\n", 1, 4)) ==
           hash_of(none),
       "none is none");
    const struct stand *all =
        trained(toy, "[fed]\ncohort = 7\n[compress]\nclient = topk\nshare = 1\n", 1, 4);
    ok(memcmp(all->state.x, none->state.x, W * sizeof(real)) == 0,
       "all numbers of topk are all");
}

/* A trial that begins after others has no rest of theirs. */
static void test_beginnings(struct toy *toy)
{
    const char *text = printed("%s[compress]\nclient = sketch\nrows = 3\ncolumns = 5\n"
                               "server = topk\nserver_share = 0.2\n",
                               plain);
    const struct stand *first = trained(toy, text, 1, 2);
    struct stand *second = standing(toy, text, 1);
    for (int64_t i = W; i < second->state.nx; i++) second->state.x[i] = 7;
    units(second, 2, 0, 2);
    ok(second->state.nx == W + 15 + W && hash_of(first) == hash_of(second),
       "the first round begins with an empty sketch and the first weights");
}

/* ---- options ---- */

static void test_refused(struct toy *toy)
{
    static const char *const cases[][2] = {
        {"[compress]\nclient = topk\nshare = 0\n", "share"},
        {"[compress]\nclient = quantize\nbits = 1\n", "bits"},
        {"[compress]\nclient = quantize\nbits = 33\n", "bits"},
        {"[compress]\nclient = quantize\nbits = 31\n", "smaller compress.bits"},
        {"[compress]\nserver = quantize\nserver_bits = 31\n",
         "smaller compress.server_bits"},
        {"model = mlp\n[compress]\nclient = topk\nshare = 0.99\n",
         "smaller compress.share"},
        {"[compress]\nclient = sketch\n", "fewer columns"},
        {"[compress]\nclient = sketch\nrows = 3\ncolumns = 7\n", "fewer columns"},
        {"replacement = yes\n[compress]\nclient = topk\n",
         "but with compress.client = topk"},
        {"algorithm = fedper\n[compress]\nclient = topk\n", "fedper"},
        {"algorithm = local\n[compress]\nserver = quantize\n", "local"},
        {"algorithm = cpg\n[compress]\nclient = quantize\n", "cpg"},
        {"algorithm = scaffold\nshare = bias\n", "leave fed.share out"},
        {"share = nothing\n", "matches no tensor"},
        {"share = (\n", "regular expression"},
        {"[compress]\nserver = topk\n[device]\ndropout = 0.1\n", "device.availability"},
        {"[compress]\nserver = topk\n[device]\navailability = 0.9\n", "server = quantize"},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        stand_refused(toy, printed("[fed]\ncohort = 5\n%s", cases[i][0]), cases[i][1]);
    stand_refused(toy, "[fed]\ncohort = 4\n[compress]\nserver = topk\n", "fed.cohort = 5");
    toy->memory = 3000;
    stand_refused(toy, "[fed]\ncohort = 5\n[compress]\nclient = topk\n", "run.memory");
    toy->memory = 0;
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_numpy();
    test_unbiased();
    test_places();
    test_largest();
    struct toy *five = five_clients(), *forty = forty_clients();
    test_quantized_rounds(five);
    test_largest_rounds(five, 5, 16);
    test_largest_rounds(five, 2, 16);
    test_largest_rounds(five, 5, 0.3);
    test_sketched_rounds(five);
    test_views(five);
    test_shared(five, 1);
    test_shared(five, 0);
    test_blocks(five);
    test_sketch_shared(five);
    test_bytes(five);
    test_same_bits(forty);
    test_beginnings(five);
    test_refused(five);
    return tap_end();
}

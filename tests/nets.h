/* Networks that are set up on made-up data, and their gradients against central
 * differences. */
#ifndef TESTS_NETS_H
#define TESTS_NETS_H

#include "weft/net/net.h"

#include "tap.h"

/* ---- made-up rows and weights, by the same formula in gold/net.py ---- */

static inline uint32_t hash(int group, int64_t i)
{
    uint32_t x = (uint32_t)(((uint64_t)i + ((uint64_t)group << 26)) * 2654435761u);
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static inline double unit(int group, int64_t i)
{
    return (hash(group, i) >> 8) * 0x1p-24;
}

/* A network that is set up, a batch for it, weights and scratch. */
struct fixture {
    const weft_net *net;
    void *self, *work;
    weft_shape shape;
    weft_batch b;
    int64_t nw;
    real *w, *g; /* [nw] */
};

enum { SIZE = 7 }; /* of a word's vector */

static inline weft_shape documents(int d, int words, int classes)
{
    float *vectors = WEFT_NEW(mem, float, words *SIZE);
    for (int i = 0; i < words * SIZE; i++) vectors[i] = (float)unit(9, i) - 0.5f;
    return (weft_shape){.form = WEFT_TOKENS,
                        .d = d,
                        .classes = classes,
                        .words = words,
                        .length = d / 2.0,
                        .vector = SIZE,
                        .vectors = vectors};
}

static inline weft_shape sentences(int d, int words)
{
    return (weft_shape){.form = WEFT_SENTENCES,
                        .d = d,
                        .longest = d,
                        .classes = words,
                        .words = words,
                        .length = d / 2.0,
                        .replies = d / 2.0};
}

static inline weft_shape image(int channels, int height, int width, int classes)
{
    return (weft_shape){.form = WEFT_REALS,
                        .d = (int64_t)channels * height * width,
                        .channels = channels,
                        .height = height,
                        .width = width,
                        .classes = classes};
}

static inline weft_shape text(int d, int classes)
{
    return (weft_shape){.form = WEFT_CHARS, .d = d, .classes = classes};
}

/* The instance with options "hidden=3", "k1=2&f1=5" or "-", not set up yet. */
static inline void *bound(const weft_net *net, const char *options)
{
    return bound_with(&net->kind, strcmp(options, "-") == 0 ? "" : options, '&');
}

/* Rows of numbers, or windows of symbols. Easy ones: number j is high where j % classes is
 * the label, a window repeats the symbol before the label. */
static inline void fill_row(const weft_shape *shape, int i, int label, int easy, float *row,
                            uint8_t *window)
{
    int64_t d = shape->d;
    int c = shape->classes;
    for (int64_t j = 0; j < d; j++) {
        double x = unit(1, i * d + j);
        row[j] = (float)(easy ? 0.3 * x + (j % c == label) : x);
    }
    for (int64_t j = 0; j <= d; j++) {
        int symbol = (int)(hash(1, i * (d + 1) + j) % (uint32_t)c);
        window[j] = (uint8_t)(easy ? (label + c - (j < d)) % c : symbol);
    }
}

/* Documents of 1 to d words, the first and the second the shortest and the longest. Easy
 * ones hold a word of their class among others. */
static inline void fill_words(struct fixture *fixture, int easy)
{
    int n = fixture->b.n, d = (int)fixture->shape.d;
    const uint32_t **word = WEFT_NEW(mem, const uint32_t *, n);
    int *length = WEFT_NEW(mem, int, n);
    for (int i = 0; i < n; i++) {
        uint32_t *w = WEFT_NEW(mem, uint32_t, d);
        length[i] = i < 2 ? 1 + i * (d - 1) : 1 + (int)(hash(8, i) % (uint32_t)d);
        for (int j = 0; j < length[i]; j++)
            w[j] = hash(7, i * d + j) % (uint32_t)fixture->shape.words;
        if (easy) w[length[i] / 2] = (uint32_t)fixture->b.label[i];
        word[i] = w;
    }
    fixture->b.word = word;
    fixture->b.length = length;
}

/* Translations: sentences of such words; easy ones are the word of the class. */
static inline void fill_translations(struct fixture *fixture, int easy)
{
    int n = fixture->b.n;
    const uint32_t *const *word;
    fill_words(fixture, 0);
    word = fixture->b.word;
    fixture->b.reply = word;
    fixture->b.replies = fixture->b.length;
    if (!easy) return;
    const uint32_t **one = WEFT_NEW(mem, const uint32_t *, n);
    int *length = WEFT_NEW(mem, int, n);
    for (int i = 0; i < n; i++) {
        uint32_t *said = WEFT_NEW(mem, uint32_t, 1);
        *said = (uint32_t)fixture->b.label[i];
        one[i] = said;
        length[i] = 1;
    }
    fill_words(fixture, 1);
    fixture->b.reply = one;
    fixture->b.replies = length;
}

static inline void fill_batch(struct fixture *fixture, int n, int easy)
{
    const float **x = WEFT_NEW(mem, const float *, n);
    const uint8_t **chars = WEFT_NEW(mem, const uint8_t *, n);
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    for (int i = 0; i < n; i++) {
        float *row = WEFT_NEW(mem, float, fixture->shape.d);
        uint8_t *window = WEFT_NEW(mem, uint8_t, fixture->shape.d + 1);
        label[i] = (int32_t)(hash(2, i) % (uint32_t)fixture->shape.classes);
        fill_row(&fixture->shape, i, label[i], easy, row, window);
        x[i] = row;
        chars[i] = window;
    }
    weft_form form = fixture->shape.form;
    fixture->b = (weft_batch){.n = n,
                              .x = form == WEFT_REALS ? x : NULL,
                              .text = form == WEFT_CHARS ? chars : NULL,
                              .label = label};
    if (form == WEFT_TOKENS) fill_words(fixture, easy);
    if (form == WEFT_SENTENCES) fill_translations(fixture, easy);
}

static inline struct fixture fixture_new(const weft_net *net, const char *options,
                                         weft_shape shape, int n)
{
    struct fixture fixture = {.net = net, .shape = shape};
    fixture.self = bound(net, options);
    must(net->setup(fixture.self, &shape));
    fill_batch(&fixture, n, 0);
    fixture.nw = net->nweight(fixture.self);
    fixture.w = WEFT_NEW(mem, real, fixture.nw);
    fixture.g = WEFT_NEW(mem, real, fixture.nw);
    fixture.work = net->work(fixture.self, n, mem);
    net->init(fixture.self, 7, fixture.w);
    return fixture;
}

static inline weft_score grad_into(const struct fixture *fixture, double dropout,
                                   uint64_t key, real *g)
{
    weft_score score = {0};
    fixture->net->grad(fixture->self, fixture->work, fixture->w, &fixture->b, dropout, key,
                       g, &score);
    return score;
}

static inline weft_score grad(const struct fixture *fixture, double dropout, uint64_t key)
{
    return grad_into(fixture, dropout, key, fixture->g);
}

static inline weft_score score(const struct fixture *fixture)
{
    weft_score score = {0};
    fixture->net->score(fixture->self, fixture->work, fixture->w, &fixture->b, &score);
    return score;
}

static inline double norm(const real *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* |x - y| / |x|. */
static inline double apart(const real *x, const real *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    return sqrt(sum) / norm(x, n);
}

static inline real *copy(const struct fixture *fixture, const real *x)
{
    real *y = WEFT_NEW(mem, real, fixture->nw);
    memcpy(y, x, (size_t)fixture->nw * sizeof *y);
    return y;
}

/* 1: as many numbers have the same bits. */
static inline int same(const real *x, const real *y, int64_t n)
{
    return memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

/* The weights of tests/gold/lstm.py and seq2seq.py. */
static inline void weights_by_rule(struct fixture *fixture)
{
    for (int64_t i = 0; i < fixture->nw; i++)
        fixture->w[i] = (real)((i * i * 7 + i * 31) % 101 - 50) / 128;
}

/* The first number behind tensor i of n. */
static inline int64_t end_of(const struct fixture *fixture, const weft_tensor *tensor,
                             int i, int n)
{
    return i + 1 < n ? tensor[i + 1].at : fixture->nw;
}

/* The largest |a - b| / |b| of a tensor of two gradients. */
static inline double worst(const struct fixture *fixture, const real *a, const real *b)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = fixture->net->tensors(fixture->self, tensor);
    double most = 0;
    for (int k = 0; k < n; k++) {
        int64_t at = tensor[k].at;
        most = worse(most, apart(b + at, a + at, end_of(fixture, tensor, k, n) - at));
    }
    return most;
}

/* The result depends on the arguments alone, not on what a batch before it left. */
static inline void test_again(struct fixture p)
{
    real *again = copy(&p, p.g);
    weft_score a = grad(&p, 0.3, 5);
    struct fixture q = p;
    q.b.n = 4;
    grad_into(&q, 0, 0, again);
    weft_score b = grad_into(&p, 0.3, 5, again);
    ok(memcmp(&a, &b, sizeof a) == 0 && same(p.g, again, p.nw),
       "the result depends on the arguments alone");
    weft_score c = grad_into(&p, 0.3, 6, again);
    ok(a.loss != c.loss, "dropout depends on the key");
    ok(isfinite(grad(&p, 1, 1).loss), "all may be dropped");
}

/* Each derivative of a loss that is the sum over so many answers, which needs doubles. */
static inline void test_differences(struct fixture p, double answers, double dropout)
{
    if (sizeof(real) == 4) {
        skip(1, "central differences need REAL=double");
        return;
    }
    real *g = copy(&p, p.g);
    double step = 1e-5, most = 0;
    grad_into(&p, dropout, 7, g);
    for (int64_t i = 0; i < p.nw; i++) {
        real w = p.w[i];
        p.w[i] = w + (real)step;
        double up = grad(&p, dropout, 7).loss;
        p.w[i] = w - (real)step;
        double down = grad(&p, dropout, 7).loss;
        p.w[i] = w;
        most = worse(most, fabs((up - down) / (2 * step * answers) - (double)g[i]));
    }
    is_near(most, 0, 1e-8, "gradient is that of central differences, dropout %g", dropout);
}

static const double eps = sizeof(real) == 4 ? 0x1p-23 : 0x1p-52;

/* ---- central differences ---- */

/* Mean loss at w + step v under that dropout. */
static inline double moved(struct fixture *fixture, const real *w, const real *v,
                           double step, double dropout)
{
    for (int64_t i = 0; i < fixture->nw; i++)
        fixture->w[i] = (real)((double)w[i] + step * (double)v[i]);
    weft_score score = grad(fixture, dropout, 3);
    return score.loss / (double)score.count;
}

/* |derivative along v - central difference| / |derivative|. */
static inline double wrong_along(struct fixture *fixture, const real *w, const real *g,
                                 const real *v, double step, double dropout)
{
    double slope = 0;
    for (int64_t i = 0; i < fixture->nw; i++) slope += (double)g[i] * (double)v[i];
    double up = moved(fixture, w, v, step, dropout),
           down = moved(fixture, w, v, -step, dropout);
    return fabs((up - down) / (2 * step) - slope) / fabs(slope);
}

/* Along the gradient of each tensor, which no error of it leaves as it is: a derivative is
 * |g|^2 there. Third derivatives and kinks bound the step from above, rounding of the loss
 * from below; `share` is of the usual step. */
static inline void test_slopes(const weft_net *net, const char *options, weft_shape shape,
                               double dropout, double share)
{
    struct fixture fixture = fixture_new(net, options, shape, 4);
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = net->tensors(fixture.self, tensor);
    for (int64_t i = 0; i < fixture.nw; i++)
        fixture.w[i] = (real)(0.4 * (unit(5, i) - 0.5));
    grad(&fixture, dropout, 3);
    real *g = copy(&fixture, fixture.g), *w = copy(&fixture, fixture.w),
         *v = WEFT_NEW(mem, real, fixture.nw);
    double length = share * (sizeof(real) == 4 ? 1e-2 : 1e-5);
    double worst = 0;
    for (int i = 0; i < n; i++) {
        int64_t from = tensor[i].at, to = end_of(&fixture, tensor, i, n);
        /* the gradient of one tensor, and a direction of no meaning beside it */
        double scale = norm(g + from, to - from);
        double one = 1 / sqrt((double)(to - from));
        for (int64_t j = 0; j < fixture.nw; j++) v[j] = 0;
        for (int64_t j = from; j < to; j++)
            v[j] = (real)((double)g[j] / scale + one * (2 * unit(6, j) - 1));
        double off = wrong_along(&fixture, w, g, v, length, dropout);
        note("%s %s %s: off by %.1e", net->kind.name, options, tensor[i].name, off);
        worst = worse(worst, off);
    }
    ok(worst < (sizeof(real) == 4 ? 5e-2 : 1e-6),
       "%s %s, dropout %g: slopes are central differences", net->kind.name, options,
       dropout);
}

enum { SUMS = 16 };

/* The relative error of a tensor's gradient that its norm and its sums under signs show. */
static inline double gold_error(FILE *file, const weft_tensor *tensor, const real *g,
                                int64_t n)
{
    char name[32];
    double size, sum[SUMS] = {0}, gold, square = 0;
    if (fscanf(file, "%31s %lf", name, &size) != 2) weft_die("a line of a tensor");
    for (int64_t i = 0; i < n; i++) {
        uint32_t h = hash(0, i) >> 8;
        for (int j = 0; j < SUMS; j++) sum[j] += (double)g[i] * (1 - 2 * (int)(h >> j & 1));
    }
    for (int j = 0; j < SUMS; j++) {
        if (fscanf(file, "%lf", &gold) != 1) weft_die("a sum of a tensor");
        square += (sum[j] - gold) * (sum[j] - gold) / SUMS;
    }
    weft_check(strcmp(name, tensor->name) == 0, "%s is not %s", name, tensor->name);
    return worse(sqrt(square), fabs(norm(g, n) - size)) / size;
}

/* The largest such error of a tensor, all of which the file has. */
static inline double gold_errors(FILE *file, const struct fixture *fixture)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = fixture->net->tensors(fixture->self, tensor);
    double most = 0;
    for (int i = 0; i < n; i++)
        most = worse(most, gold_error(file, &tensor[i], fixture->g + tensor[i].at,
                                      end_of(fixture, tensor, i, n) - tensor[i].at));
    return most;
}

/* ---- sizes and refusals ---- */

static inline void is_size(const weft_net *net, const char *options, weft_shape shape,
                           int64_t weights)
{
    void *self = bound(net, options);
    ok(net->setup(self, &shape) == WEFT_OK && net->nweight(self) == weights,
       "%s %s has %d weights", net->kind.name, options, (int)weights);
}

static inline void is_refused(const weft_net *net, const char *options, weft_shape shape,
                              weft_status st, const char *part)
{
    void *self = bound(net, options);
    weft_status found = net->setup(self, &shape);
    ok(found == st && says(part) && !strchr(weft_error(), '\n'),
       "%s %s: refused, with '%s'", net->kind.name, options, part);
}

/* The next n numbers of a file. */
static inline real *read_reals(FILE *file, int64_t n)
{
    real *x = WEFT_NEW(mem, real, n);
    double one;
    for (int64_t i = 0; i < n; i++) {
        weft_check(fscanf(file, "%lf", &one) == 1, "only %" PRId64 " numbers", i);
        x[i] = (real)one;
    }
    return x;
}

#endif

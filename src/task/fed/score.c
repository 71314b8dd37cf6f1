/* The samples of a client in batches, and the scores of a model on them, alone or with the
 * client's own samples as neighbours. */
#include "round.h"
#include "weft/base/random.h"
#include "weft/math/kernels.h"
#include "weft/math/optim.h"

#include <float.h>
#include <math.h>

weft_status fed_look(fed_task *fed)
{
    if (!halt_is_due(&fed->env, &fed->told.asked)) return WEFT_OK;
    return weft_fail(WEFT_STOP, "the run was stopped");
}

void fed_shuffle(const fed_task *fed, const fed_turn *turn, int64_t client, int epoch,
                 int64_t n, int64_t take, int64_t *order)
{
    weft_rng_row key = {fed->env.seed, WEFT_RNG_BATCH, turn->round, (uint64_t)client,
                        (uint64_t)epoch << 40};
    for (int64_t i = 0; i < n; i++) order[i] = i;
    weft_shuffle_first(take, n, &key, order);
}

weft_batch fed_batch_of(const fed_task *fed, const fed_own *own,
                        const weft_samples *samples, const int64_t *at, int n)
{
    const fed_batch *rows = &fed->work.rows;
    const weft_clients *clients = fed->clients;
    weft_batch batch = {.n = n};
    if (samples->text) {
        for (int i = 0; i < n; i++) rows->text[i] = samples->text + at[i] * clients->stride;
        batch.text = rows->text;
        return batch;
    }
    batch.label = rows->label;
    for (int i = 0; i < n && samples->label; i++) rows->label[i] = samples->label[at[i]];
    for (int i = 0; i < n && samples->reply; i++) {
        rows->reply[i] = samples->reply[at[i]];
        rows->replies[i] = samples->replies[at[i]];
    }
    batch.reply = rows->reply;
    batch.replies = rows->replies;
    if (samples->word) {
        for (int i = 0; i < n; i++) {
            rows->word[i] = samples->word[at[i]];
            rows->length[i] = samples->length[at[i]];
        }
        batch.word = rows->word;
        batch.length = rows->length;
        if (!own || !own->some) return batch;
        batch.place = own->seats.place;
        batch.places = own->seats.n;
        batch.compact = 1;
        return batch;
    }
    for (int i = 0; i < n; i++) rows->x[i] = samples->x + at[i] * clients->d;
    batch.x = rows->x;
    return batch;
}

int64_t fed_spread(int64_t i, int64_t count, int64_t n)
{
    return (int64_t)((double)i * (double)n / (double)count);
}

weft_batch fed_batch_from(const fed_task *fed, const fed_own *own,
                          const weft_samples *samples, int64_t first, int64_t end,
                          int64_t count)
{
    const fed_workspace *work = &fed->work;
    int n = (int)(end - first < work->most ? end - first : work->most);
    for (int e = 0; e < n; e++) work->rows.at[e] = fed_spread(first + e, count, samples->n);
    return fed_batch_of(fed, own, samples, work->rows.at, n);
}

void fed_settle_score(weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out)
{
    double most = sum.count > 0 ? turn->most * sum.count : 0;
    if (!(sum.loss <= most)) sum.loss = most;
    out->loss[stage] = sum.loss;
    out->wrong[stage] = sum.wrong;
    out->count = sum.count;
}

void fed_settle_failure(const fed_task *fed, const fed_client *client, const fed_turn *turn,
                        fed_client_result *out)
{
    if (!turn->before) out->count = fed_predictions(fed, client, turn->part);
    out->loss[FED_AFTER] = fed->balance.worst * out->count;
    out->wrong[FED_AFTER] = out->weighed[FED_AFTER] = out->count;
}

const double *fed_class_weights(const fed_task *fed, const double *weight,
                                const weft_batch *batch)
{
    double *own = fed->work.rows.weight;
    for (int i = 0; i < batch->n; i++) own[i] = weight[batch->label[i]];
    return own;
}

void fed_score_model(const fed_task *fed, const real *w, const fed_own *own,
                     const weft_samples *samples, const fed_client *client,
                     const fed_turn *turn, int stage, fed_client_result *out)
{
    int64_t count = client->valid;
    void *net = fed->work.net;
    weft_score sum = {0}, weighed = {0};
    for (int64_t i = 0; i < count; i += fed->work.most) {
        weft_batch batch = fed_batch_from(fed, own, samples, i, count, count);
        fed->net->score(fed->model, net, w, &batch, &sum);
        if (!fed->balance.valid) continue;
        batch.weight = fed_class_weights(fed, fed->balance.valid, &batch);
        fed->net->score(fed->model, net, w, &batch, &weighed);
    }
    fed_settle_score(sum, turn, stage, out);
    out->weighed[stage] = weighed.wrong;
}

void fed_softmax(int classes, const real *z, real *e, double *p)
{
    int top = 0;
    double sum;
    for (int k = 1; k < classes; k++) top = z[k] > z[top] ? k : top;
    weft_softmax_terms(classes, z, (double)z[top], e, &sum);
    for (int k = 0; k < classes; k++) p[k] = (double)e[k] / sum;
}

int fed_each(const fed_task *fed)
{
    int chars = fed->env.data->form == WEFT_CHARS && fed->options.target == FED_ALL_SYMBOLS;
    return chars ? (int)fed->clients->d : 1;
}

/* Of some of a client's samples: their share of what is predicted for all. */
double fed_predictions(const fed_task *fed, const fed_client *client, weft_part part)
{
    const weft_data *data = fed->env.data;
    const weft_form_traits *form = weft_forms[data->form];
    if (!form->predictions || client->valid == 0)
        return (double)client->valid * fed_each(fed);
    int64_t all = weft_client_count(fed->clients, client->client, part);
    return form->predictions(data, part, client->client) * (double)client->valid /
           (double)all;
}

/* ---- neighbours ----
 * Answers in which a client's own training samples take part: their representations by the
 * server's weights are compared with those of the samples scored, a block of one with a
 * block of the other, so that memory does not grow with the client. Nothing is kept.
 *
 * Squared distances |a|^2 + |b|^2 - 2 a b by a product say, within the bound of its
 * rounding, which samples may be among the nearest; of these the distance is computed in
 * doubles. So the neighbours are the nearest in doubles, of equally near ones the first,
 * and depend neither on blocks nor on the CPU. */

enum {
    BLOCK_BYTES =
        32 << 20, /* of what is asked, and of what is stored, where a sample takes less
                   */
    STORED = 128, /* stored predictions that are packed at a time, */
    DEEP = 1024   /* and their numbers */
};

/* Predictions of some samples. */
struct block {
    int64_t n;
    real *h;         /* [n][wide] representations */
    real *z;         /* [n][classes] logits; NULL: not needed */
    double *square;  /* [n] squared lengths of h */
    int32_t *label;  /* [n] */
    int64_t samples; /* room */
};

/* A stored prediction that is near. */
struct neighbour {
    double square; /* of the distance; INFINITY: there is none */
    int32_t label;
};

struct search {
    fed_task *fed;
    const real *w;
    weft_neighbours neighbours;
    int wide, classes, each; /* each: predictions of a sample */
    struct block asked, stored;
    struct neighbour *near; /* [asked][k], the nearest first */
    void *packed;
    real *product; /* [asked][STORED] */
};

/* ---- memory ---- */

static int at_most(int64_t n, int64_t most)
{
    return (int)(n < 1 ? 1 : n < most ? n : most);
}

/* Room for as many samples of `most` as BLOCK_BYTES allow, each prediction taking `more`
 * besides.
 */
static struct block block_new(const struct search *search, int64_t most, size_t more,
                              int logits, weft_arena *tmp)
{
    size_t numbers = (size_t)search->wide + (logits ? (size_t)search->classes : 0);
    size_t one = (size_t)search->each *
                 (numbers * sizeof(real) + sizeof(double) + sizeof(int32_t) + more);
    int64_t n = at_most((int64_t)(BLOCK_BYTES / one), most), all = n * search->each;
    return (struct block){.samples = n,
                          .h = WEFT_NEW(tmp, real, all * search->wide),
                          .z = logits ? WEFT_NEW(tmp, real, all * search->classes) : NULL,
                          .square = WEFT_NEW(tmp, double, all),
                          .label = WEFT_NEW(tmp, int32_t, all)};
}

static struct search search_new(fed_task *fed, const real *w, const fed_client *client,
                                int64_t stored, weft_arena *tmp)
{
    weft_neighbours neighbours = fed->algorithm->neighbours(client->special);
    struct search search = {.fed = fed,
                            .w = w,
                            .neighbours = neighbours,
                            .wide = fed->net->width(fed->model),
                            .classes = fed->env.data->form == WEFT_CHARS
                                           ? fed->clients->symbols
                                           : fed->env.data->classes,
                            .each = fed_each(fed)};
    search.neighbours.k = at_most(stored * search.each, neighbours.k);
    size_t more = (size_t)search.neighbours.k * sizeof *search.near + STORED * sizeof(real);
    search.asked = block_new(&search, client->valid, more, 1, tmp);
    search.stored = block_new(&search, stored, 0, 0, tmp);
    int64_t asked = search.asked.samples * search.each;
    search.near = WEFT_NEW(tmp, struct neighbour, asked * search.neighbours.k);
    search.product = WEFT_NEW(tmp, real, asked * STORED);
    search.packed =
        weft_arena_alloc(tmp, weft_packed_bytes(at_most(search.wide, DEEP), STORED), 1);
    return search;
}

/* ---- representations ---- */

static double square_of(const real *h, int wide)
{
    double sum = 0;
    for (int i = 0; i < wide; i++) sum += (double)h[i] * (double)h[i];
    return sum;
}

/* Fills a block with samples first .. of `of` that are evenly spread over all. */
static void load_block(const struct search *search, const weft_samples *samples,
                       int64_t first, int64_t of, struct block *to)
{
    const fed_task *fed = search->fed;
    int64_t left = of - first, n = left < to->samples ? left : to->samples;
    to->n = n * search->each;
    for (int64_t i = 0; i < n; i += fed->work.most) {
        weft_batch batch = fed_batch_from(fed, NULL, samples, first + i, first + n, of);
        int64_t from = i * search->each;
        fed->net->represent(fed->model, fed->work.net, search->w, &batch,
                            to->h + from * search->wide,
                            to->z ? to->z + from * search->classes : NULL);
        for (int64_t e = 0; e < batch.n * search->each; e++)
            to->label[from + e] =
                batch.text ? batch.text[e / search->each][fed->clients->d - search->each +
                                                          e % search->each + 1]
                           : batch.label[e];
    }
    for (int64_t e = 0; e < to->n; e++)
        to->square[e] = square_of(to->h + e * search->wide, search->wide);
}

/* ---- comparison ---- */

/* product[asked][STORED] of all that is asked with the stored [j, j + m). */
static void multiply_blocks(const struct search *search, int64_t j, int m)
{
    for (int d = 0; d < search->wide; d += DEEP) {
        weft_packed packed;
        weft_packed_pack(&packed, at_most(search->wide - d, DEEP), m,
                         search->stored.h + j * search->wide + d, (size_t)search->wide, 1,
                         search->packed);
        weft_packed_times((int)search->asked.n, search->asked.h + d, (size_t)search->wide,
                          &packed, d > 0, search->product, STORED);
    }
}

static double distance2(const real *a, const real *b, int wide)
{
    double sum = 0;
    for (int i = 0; i < wide; i++) {
        double off = (double)a[i] - (double)b[i];
        sum += off * off;
    }
    return sum;
}

/* Puts a neighbour before those that are farther; the last one is dropped. */
static void insert_neighbour(struct neighbour *near, int k, struct neighbour one)
{
    int i = k - 1;
    for (; i > 0 && near[i - 1].square > one.square; i--) near[i] = near[i - 1];
    near[i] = one;
}

/* Compares asked prediction q with the stored [j, j + m). The product is off by at most
 * wide u (|a|^2 + |b|^2), u = EPSILON / 2 of reals, and twice it counts. */
static void pick_near(const struct search *search, int64_t q, int64_t j, int m)
{
    const double off = (search->wide + 4) *
                       (double)(sizeof(real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON);
    const real *product = search->product + q * STORED,
               *a = search->asked.h + q * search->wide;
    struct neighbour *near = search->near + q * search->neighbours.k;
    const double *square = search->stored.square + j;
    double own = search->asked.square[q], worst = near[search->neighbours.k - 1].square;
    for (int e = 0; e < m; e++) {
        double both = own + square[e];
        if (!(both - 2 * (double)product[e] - off * both < worst)) continue;
        struct neighbour one = {
            distance2(a, search->stored.h + (j + e) * search->wide, search->wide),
            search->stored.label[j + e]};
        if (!(one.square < worst)) continue;
        insert_neighbour(near, search->neighbours.k, one);
        worst = near[search->neighbours.k - 1].square;
    }
}

static void compare_blocks(const struct search *search)
{
    for (int64_t j = 0; j < search->stored.n; j += STORED) {
        int m = at_most(search->stored.n - j, STORED);
        multiply_blocks(search, j, m);
        for (int64_t q = 0; q < search->asked.n; q++) pick_near(search, q, j, m);
    }
}

/* ---- answers ---- */

/* Adds `share` of the neighbours' answer to p[classes]. Their weights are relative to that
 * of the nearest, as all may be too small for a number. */
static void add_near(const struct search *search, const struct neighbour *near, int n,
                     double share, real *e, double *p)
{
    double nearest = sqrt(near[0].square), sum;
    for (int i = 0; i < n; i++)
        e[i] = (real)((nearest - sqrt(near[i].square)) / search->neighbours.sigma);
    weft_softmax_terms(n, e, 0, e, &sum);
    for (int i = 0; i < n; i++) p[near[i].label] += share * ((double)e[i] / sum);
}

/* Adds loss and error of the answers; e[], p[classes]: scratch. */
static void add_answers(const struct search *search, real *e, double *p, weft_score *score)
{
    int c = search->classes;
    for (int64_t q = 0; q < search->asked.n; q++) {
        const struct neighbour *near = search->near + q * search->neighbours.k;
        const real *z = search->asked.z + q * c;
        int found = 0, best = 0, label = search->asked.label[q];
        while (found < search->neighbours.k && near[found].square < INFINITY) found++;
        double share = found > 0 ? search->neighbours.lambda : 0;
        fed_softmax(c, z, e, p);
        for (int j = 0; j < c; j++) p[j] *= 1 - share;
        if (found > 0) add_near(search, near, found, share, e, p);
        for (int j = 1; j < c; j++) best = p[j] > p[best] ? j : best;
        double loss = -log(p[label]);
        score->loss += loss;
        score->wrong += best != label || isnan(loss);
        score->count++;
    }
}

static weft_status score_near(struct search *search, const weft_samples *own,
                              const weft_samples *scored, int64_t count, weft_score *sum)
{
    weft_arena *tmp = search->fed->work.tmp;
    int most =
        search->neighbours.k > search->classes ? search->neighbours.k : search->classes;
    real *e = WEFT_NEW(tmp, real, most);
    double *p = WEFT_NEW(tmp, double, search->classes);
    for (int64_t i = 0; i < count; i += search->asked.samples) {
        load_block(search, scored, i, count, &search->asked);
        for (int64_t q = 0; q < search->asked.n * search->neighbours.k; q++)
            search->near[q].square = INFINITY;
        for (int64_t j = 0; j < own->n; j += search->stored.samples) {
            TRY(fed_look(search->fed));
            load_block(search, own, j, own->n, &search->stored);
            compare_blocks(search);
        }
        add_answers(search, e, p, sum);
    }
    return WEFT_OK;
}

weft_status fed_neighbours_score(fed_task *fed, const real *w, const fed_client *client,
                                 const fed_turn *turn, fed_client_result *out)
{
    weft_arena *tmp = fed->work.tmp;
    WEFT_REWIND(tmp);
    weft_samples own = {0}, scored = {0};
    weft_score sum = {0};
    TRY(weft_client_take(fed->clients, &client->at, turn->part, &scored, tmp));
    TRY(weft_client_take(fed->clients, &client->at, WEFT_TRAIN, &own, tmp));
    if (own.n == 0 || !(fed->algorithm->neighbours(client->special).lambda > 0)) {
        fed_score_model(fed, w, NULL, &scored, client, turn, FED_AFTER, out);
    } else {
        struct search search = search_new(fed, w, client, own.n, tmp);
        TRY(score_near(&search, &own, &scored, client->valid, &sum));
        fed_settle_score(sum, turn, FED_AFTER, out);
    }
    return WEFT_OK;
}

/* ---- set-up ---- */

weft_status fed_neighbours_check(const fed_task *fed)
{
    if (!fed->algorithm->neighbours || fed->net->width) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "fed.algorithm = %s compares samples by what the last layer takes, "
                     "which fed.model = %s does not give; use another network, or "
                     "fed.algorithm = fedavg",
                     fed->options.algorithm_name, fed->options.net_name);
}

double fed_neighbours_flops(const fed_task *fed)
{
    if (!fed->algorithm->neighbours) return 0;
    double each = fed_each(fed);
    double compared = each * fed->size.samples * each * fed->size.valid;
    return fed->size.samples * fed->net->flops(fed->model) / 3 +
           2 * fed->net->width(fed->model) * compared;
}

double fed_neighbours_bytes(const fed_task *fed)
{
    return fed->algorithm->neighbours ? 2.0 * BLOCK_BYTES : 0;
}

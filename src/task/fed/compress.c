/* Fewer bytes from clients to the server and back: numbers rounded at random, the largest
 * alone, sketches. Whatever is sent is computed here as it would arrive; what it would take
 * is counted. */
#include "compress.h"
#include "weft/base/base.h"

#include <math.h>
#include <regex.h>
#include <string.h>

/* ---- options ---- */

static const weft_opt compress_opts[] = {
    WEFT_CHOICE_OPT(
        "client", struct fed_compress, client, "none", "none|quantize|topk|sketch",
        "how clients send changes. quantize: numbers of compress.bits, rounded at "
        "random; topk: the largest alone, what is left is added to the client's "
        "next change; sketch: count sketches, of whose sum the server takes the "
        "largest"),
    WEFT_CHOICE_OPT(
        "server", struct fed_compress, server, "none", "none|quantize|topk",
        "how the server sends weights. quantize: rounded to "
        "compress.server_bits; topk: the largest differences to the weights that "
        "clients have, all of which must take part in every round"),
    WEFT_INT_OPT("bits", struct fed_compress, bits, "8", 2, 32,
                 "bits of a number of a client; 32: as it is"),
    WEFT_INT_OPT("server_bits", struct fed_compress, server_bits, "8", 2, 32,
                 "bits of a weight from the server; 32: as it is"),
    WEFT_REAL_OPT("share", struct fed_compress, share, "0.01", 1e-9, 1,
                  "share of the numbers that topk sends, or that are taken of a sketch"),
    WEFT_REAL_OPT("server_share", struct fed_compress, server_share, "0.01", 1e-9, 1,
                  "share of the differences that the server sends"),
    WEFT_INT_OPT("rows", struct fed_compress, rows, "5", 1, FED_SKETCH_ROWS - 1,
                 "rows of a sketch, whose median is taken"),
    WEFT_LONG_OPT("columns", struct fed_compress, columns, "1000", 1, 1e9,
                  "numbers in each row of a sketch"),
    {0},
};

static const weft_when compress_when[] = {{"bits", "client", "quantize"},
                                          {"server_bits", "server", "quantize"},
                                          {"share", "client", "topk|sketch"},
                                          {"server_share", "server", "topk"},
                                          {"rows", "client", "sketch"},
                                          {"columns", "client", "sketch"},
                                          {0}};

const weft_kind fed_compress_kind = WEFT_KIND(
    "compress", struct fed_compress, compress_opts,
    "task fed: fewer bytes between clients and the server", .when = compress_when);

/* ---- numbers ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Branches and calls of the library would take longer than the rest. */
void fed_quantize(int64_t n, real *x, int bits, const weft_rng_row *key, int64_t first)
{
    enum { DRAWN = 8 }; /* numbers by one call */
    double most = 0;
    if (bits == 32) return;
    for (int64_t i = 0; i < n; i++) most = larger(most, fabs((double)x[i]));
    if (!(most > 0)) return;
    double levels = ldexp(1, bits - 1) - 1, scale = levels / most, unit = most / levels;
    for (int64_t i = 0; i < n;) {
        int64_t place = first + i, end = i + DRAWN - place % DRAWN;
        weft_rng4 rng = weft_rng_at(key->seed, key->purpose, key->a, key->b,
                                    key->c + (uint64_t)(place / DRAWN));
        for (; i < n && i < end; i++, place++) {
            uint32_t word = (uint32_t)(rng.v[place % DRAWN / 2] >> 32 * (place % 2));
            double at = fabs((double)x[i]) * scale + (double)word * 0x1p-32;
            double level = (double)(int64_t)at;
            level = level < levels ? level : levels;
            x[i] = (real)copysign(level * unit, (double)x[i]);
        }
    }
}

/* Where the k largest begin: all whose key, without its last bits, is above that of `key`
 * are among them, and the first `ties` where it is equal. */
struct cut {
    uint64_t key;
    int shift;
    int64_t ties;
};

/* Ordered as magnitudes are; below 2^63. */
static uint64_t key_of(real x)
{
    double magnitude = fabs((double)x);
    uint64_t key;
    memcpy(&key, &magnitude, sizeof key);
    return key;
}

/* 1 <= k <= n. The key is found by its digits, the highest first. */
static struct cut cut_of(int64_t n, const real *x, int64_t k)
{
    enum { DIGIT = 9, KEY = 63, VALUES = 1 << DIGIT };
    struct cut cut = {.shift = KEY, .ties = k};
    for (int64_t equal = n; cut.shift > 0 && equal > cut.ties;) {
        int64_t count[VALUES] = {0}, digit = VALUES - 1;
        int shift = cut.shift - DIGIT;
        for (int64_t i = 0; i < n; i++) {
            uint64_t key = key_of(x[i]) >> shift;
            if (key >> DIGIT == cut.key) count[key & (VALUES - 1)]++;
        }
        for (; count[digit] < cut.ties; digit--) cut.ties -= count[digit];
        equal = count[digit];
        cut.key = cut.key << DIGIT | (uint64_t)digit;
        cut.shift = shift;
    }
    return cut;
}

void fed_keep_largest(int64_t n, real *x, int64_t k, real most, real *rest)
{
    struct cut cut = cut_of(n, x, k);
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = key_of(x[i]) >> cut.shift;
        int kept = key > cut.key || (key == cut.key && cut.ties > 0);
        if (kept && key == cut.key) cut.ties--;
        real sent = !kept ? 0 : x[i] > most ? most : x[i] < -most ? -most : x[i];
        if (rest) rest[i] = x[i] - sent;
        x[i] = sent;
    }
}

/* ---- sketches ---- */

/* The places of number i in the rows, and its signs there. */
struct seats {
    int64_t at[FED_SKETCH_ROWS];
    double sign[FED_SKETCH_ROWS];
};

static struct seats seats_of(const fed_sketch *sketch, int64_t i)
{
    struct seats seats;
    weft_rng4 rng =
        weft_rng_at(sketch->seed, WEFT_RNG_COMPRESS, UINT64_MAX, 0, (uint64_t)i);
    for (int r = 0; r < sketch->rows; r++) {
        uint64_t half = (uint32_t)(rng.v[r / 2] >> 32 * (r % 2));
        uint64_t column = (half >> 1) * (uint64_t)sketch->columns >> 31;
        seats.at[r] = r * sketch->columns + (int64_t)column;
        seats.sign[r] = half & 1 ? -1 : 1;
    }
    return seats;
}

void fed_sketch_add(const fed_sketch *sketch, int64_t first, int64_t n, const real *x,
                    double sign)
{
    for (int64_t i = 0; i < n; i++) {
        if (x[i] == 0) continue;
        struct seats seats = seats_of(sketch, first + i);
        for (int r = 0; r < sketch->rows; r++)
            sketch->cells[seats.at[r]] += sign * seats.sign[r] * (double)x[i];
    }
}

/* By exchanges of neighbours, without branches. */
static void sort(int n, double *x)
{
    for (int pass = 0; pass < n; pass++)
        for (int i = pass % 2; i + 1 < n; i += 2) {
            double a = x[i], b = x[i + 1];
            x[i] = a < b ? a : b;
            x[i + 1] = a < b ? b : a;
        }
}

void fed_sketch_read(const fed_sketch *sketch, int64_t first, int64_t n, real *x)
{
    int rows = sketch->rows;
    for (int64_t i = 0; i < n; i++) {
        double row[FED_SKETCH_ROWS];
        struct seats seats = seats_of(sketch, first + i);
        for (int r = 0; r < rows; r++) row[r] = seats.sign[r] * sketch->cells[seats.at[r]];
        sort(rows, row);
        x[i] = (real)((row[(rows - 1) / 2] + row[rows / 2]) / 2);
    }
}

/* ---- what is sent ---- */

const char *fed_fixed(const fed_task *fed)
{
    return fed->modes.compress ? fed->modes.compress->fixed : NULL;
}

static int travels(const struct fed_compress *compress, int t)
{
    return !compress->fixed || !compress->fixed[t];
}

/* ceil(share n), at least 1. */
static int64_t part_of(const struct fed_compress *compress, double share)
{
    int64_t k = (int64_t)ceil(share * (double)compress->sent);
    return k < compress->sent ? k : compress->sent;
}

/* Rounds the tensors of x that travel, block by block. */
static void round_all(const fed_task *fed, int bits, const weft_rng_row *key, real *x)
{
    for (int t = 0; t < fed->ntensor; t++) {
        int64_t at = fed->tensor[t].at, size = weft_tensors_size(1, &fed->tensor[t]);
        for (int64_t i = 0; travels(fed->modes.compress, t) && i < size; i += FED_BLOCK) {
            int64_t n = size - i < FED_BLOCK ? size - i : FED_BLOCK;
            fed_quantize(n, x + at + i, bits, key, at + i);
        }
    }
}

static weft_rng_row key_at(const fed_task *fed, uint64_t round, uint64_t who)
{
    return (weft_rng_row){fed->env.seed, WEFT_RNG_COMPRESS, round, who, 0};
}

void fed_compress_change(const fed_task *fed, uint64_t round, int64_t client, real *row,
                         real *change)
{
    const struct fed_compress *compress = fed->modes.compress;
    weft_rng_row key = key_at(fed, round, (uint64_t)client);
    if (compress->client == FED_QUANTIZE) round_all(fed, compress->bits, &key, change);
    if (compress->client != FED_TOPK) return;
    real *rest = row + fed->at.each - fed->nweight;
    for (int64_t i = 0; i < fed->nweight; i++) change[i] += rest[i];
    fed_keep_largest(fed->nweight, change, part_of(compress, compress->share),
                     (real)fed->client.max_change, rest);
}

/* Numbers of the sketch, which is behind the vectors of the server's optimizer. */
static int64_t sketched(const struct fed_compress *compress)
{
    return compress->client == FED_SKETCH ? compress->rows * compress->columns : 0;
}

static real *sketch_at(const fed_task *fed, real *x)
{
    return x + fed->at.slots + fed->at.nslot * fed->nweight;
}

/* The weights that clients have, behind it. */
static real *had_at(const fed_task *fed, real *x)
{
    return sketch_at(fed, x) + sketched(fed->modes.compress);
}

void fed_compress_mean(const fed_task *fed, real *x, real *delta)
{
    const struct fed_compress *compress = fed->modes.compress;
    if (compress->client != FED_SKETCH) return;
    WEFT_REWIND(fed->work.tmp);
    int64_t n = sketched(compress);
    real *kept = sketch_at(fed, x);
    fed_sketch sketch = {.rows = compress->rows,
                         .columns = compress->columns,
                         .seed = fed->env.seed,
                         .cells = WEFT_NEW(fed->work.tmp, double, n)};
    for (int64_t i = 0; i < n; i++) sketch.cells[i] = (double)kept[i];
    fed_sketch_add(&sketch, 0, fed->nweight, delta, 1);
    for (int t = 0; t < fed->ntensor; t++) {
        int64_t at = fed->tensor[t].at, size = weft_tensors_size(1, &fed->tensor[t]);
        if (travels(compress, t)) fed_sketch_read(&sketch, at, size, delta + at);
    }
    fed_keep_largest(fed->nweight, delta, part_of(compress, compress->share), WEFT_REAL_MAX,
                     NULL);
    fed_sketch_add(&sketch, 0, fed->nweight, delta, -1);
    for (int64_t i = 0; i < n; i++) kept[i] = (real)sketch.cells[i];
}

const real *fed_compress_view(const fed_task *fed, int64_t round, real *x, weft_arena *tmp)
{
    const struct fed_compress *compress = fed->modes.compress;
    real *had = had_at(fed, x);
    if (round == 0) {
        memset(sketch_at(fed, x), 0, (size_t)sketched(compress) * sizeof *x);
        if (compress->server == FED_TOPK) memcpy(had, x, (size_t)fed->nweight * sizeof *x);
    }
    if (compress->server == FED_WHOLE) return x;
    real *view = WEFT_NEW(tmp, real, fed->at.live);
    weft_rng_row key = key_at(fed, (uint64_t)round, UINT64_MAX);
    memcpy(view, x, (size_t)fed->at.live * sizeof *x);
    if (compress->server == FED_QUANTIZE) round_all(fed, compress->server_bits, &key, view);
    if (compress->server != FED_TOPK) return view;
    for (int64_t i = 0; i < fed->nweight; i++) view[i] -= had[i];
    fed_keep_largest(fed->nweight, view, part_of(compress, compress->server_share),
                     WEFT_REAL_MAX, NULL);
    for (int64_t i = 0; i < fed->nweight; i++) view[i] += had[i];
    return view;
}

void fed_compress_end(const fed_task *fed, real *x, const real *view)
{
    if (fed->modes.compress->server != FED_TOPK) return;
    memcpy(had_at(fed, x), view, (size_t)fed->nweight * sizeof *x);
}

/* ---- how much that is ---- */

int64_t fed_compress_kept(const fed_task *fed)
{
    const struct fed_compress *compress = fed->modes.compress;
    return compress && compress->client == FED_TOPK ? fed->nweight : 0;
}

int64_t fed_compress_state(const fed_task *fed)
{
    const struct fed_compress *compress = fed->modes.compress;
    if (!compress) return 0;
    return sketched(compress) + (compress->server == FED_TOPK ? fed->nweight : 0);
}

void fed_compress_amounts(const fed_task *fed, weft_amounts *amounts)
{
    const struct fed_compress *compress = fed->modes.compress;
    if (!compress) return;
    amounts->up += compress->up / sizeof(float) - (double)fed->nweight;
    amounts->down += compress->down / sizeof(float) - (double)fed->nweight;
}

/* Scales of the blocks of tensors that travel. */
static int64_t scales_of(const fed_task *fed)
{
    int64_t n = 0;
    for (int t = 0; t < fed->ntensor; t++)
        if (travels(fed->modes.compress, t))
            n += (weft_tensors_size(1, &fed->tensor[t]) + FED_BLOCK - 1) / FED_BLOCK;
    return n;
}

/* Bytes of k among n numbers: these, and their places. */
static double largest_bytes(int64_t k, int64_t n)
{
    int bits = 0;
    while ((int64_t)1 << bits < n) bits++;
    double list = ceil((double)k * bits / 8), map = ceil((double)n / 8);
    return sizeof(float) * (double)k + (k == n ? 0 : fmin(list, map));
}

static double bytes_of(const fed_task *fed, int how, int bits, double share)
{
    const struct fed_compress *compress = fed->modes.compress;
    double n = (double)compress->sent;
    if (how == FED_SKETCH) return sizeof(float) * (double)sketched(compress);
    if (how == FED_TOPK) return largest_bytes(part_of(compress, share), compress->sent);
    if (how == FED_QUANTIZE && bits < 32)
        return ceil(n * bits / 8) + sizeof(float) * (double)scales_of(fed);
    return sizeof(float) * n;
}

/* ---- setup ---- */

/* The tensors that do not match fed.share. ECONF. */
static weft_status fix_tensors(const fed_task *fed, struct fed_compress *compress)
{
    const char *text = fed->options.share;
    char *fixed = WEFT_NEW(fed->env.mem, char, fed->ntensor), why[128];
    regex_t pattern;
    int st = regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB);
    if (st != 0) {
        regerror(st, &pattern, why, sizeof why);
        return weft_fail(WEFT_ECONF,
                         "fed.share = %s is no regular expression of POSIX: %s; give one "
                         "that names of tensors match, such as weight$",
                         text, why);
    }
    compress->sent = 0;
    for (int t = 0; t < fed->ntensor; t++) {
        fixed[t] = regexec(&pattern, fed->tensor[t].name, 0, NULL, 0) != 0;
        if (!fixed[t]) compress->sent += weft_tensors_size(1, &fed->tensor[t]);
    }
    regfree(&pattern);
    if (compress->sent == 0)
        return weft_fail(WEFT_ECONF,
                         "fed.share = %s matches no tensor of fed.model = %s, the first of "
                         "which is %s; give a regular expression that some match",
                         text, fed->options.net_name, fed->tensor[0].name);
    if (compress->sent == fed->nweight)
        weft_log(WEFT_WARN, "fed.share = %s has no effect: all tensors match it", text);
    else
        compress->fixed = fixed;
    return WEFT_OK;
}

/* Beside what the algorithm sends: it must be all of the change, and further sums apart. */
static weft_status check_algorithm(const fed_task *fed, const weft_amounts *amounts)
{
    const char *name = fed->options.algorithm_name;
    if (fed->options.share[0] && fed->algorithm->courses)
        return weft_fail(WEFT_ECONF,
                         "fed.share and fed.algorithm = %s both say what clients train; "
                         "choose fedavg or fednova, or leave fed.share out",
                         name);
    if (amounts->up >= (double)(fed->nweight + amounts->sums)) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "section [compress] is for algorithms whose clients send the change of "
        "all weights, and those of fed.algorithm = %s do not; choose fedavg or "
        "another, or leave [compress] out",
        name);
}

/* Clients that have what was sent before were there. */
static weft_status check_modes(const fed_task *fed)
{
    const struct fed_compress *compress = fed->modes.compress;
    const weft_device *device = &fed->device;
    if (compress->server != FED_WHOLE && fed->modes.buffer)
        return weft_fail(WEFT_ECONF,
                         "compress.server is of the weights that a round begins with, and "
                         "with fed.aggregation = buffered each client begins with others; "
                         "leave it out, or set fed.aggregation = sync");
    if (compress->client == FED_TOPK && fed->options.replacement)
        return weft_fail(WEFT_ECONF,
                         "fed.replacement = yes draws a client twice in a round, but with "
                         "compress.client = topk a client keeps numbers from turn to turn; "
                         "set fed.replacement = no");
    if (compress->server != FED_TOPK) return WEFT_OK;
    if (fed->options.cohort >= fed->old.n && !fed->options.replacement &&
        device->available >= 1 && !(device->dropout > 0) && device->rows == 0)
        return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "compress.server = topk sends differences to what clients had, so that "
        "all of them must take part in every round: give fed.cohort = %lld "
        "without device.availability, dropout and file, or compress.server = "
        "quantize",
        (long long)fed->old.n);
}

/* That what is sent takes no more than all numbers. */
static weft_status check_bytes(const fed_task *fed)
{
    const struct fed_compress *compress = fed->modes.compress;
    double all = sizeof(float) * (double)compress->sent;
    int sketch = compress->client == FED_SKETCH;
    if (compress->up <= all && compress->down <= all) return WEFT_OK;
    if (sketch && compress->up > all)
        return weft_fail(WEFT_ECONF,
                         "compress.rows = %d of compress.columns = %lld are more numbers "
                         "than the %lld of a change; give fewer columns",
                         compress->rows, (long long)compress->columns,
                         (long long)compress->sent);
    const char *end = compress->up > all ? "client" : "server";
    int how = compress->up > all ? compress->client : compress->server;
    return weft_fail(WEFT_ECONF,
                     "compress.%s = %s takes %.0f bytes, and all numbers %.0f; give a "
                     "smaller compress.%s%s, or none",
                     end, how == FED_TOPK ? "topk" : "quantize",
                     fmax(compress->up, compress->down), all,
                     end[0] == 's' ? "server_" : "", how == FED_TOPK ? "share" : "bits");
}

weft_status fed_compress_setup(fed_task *fed, const weft_amounts *amounts)
{
    struct fed_compress *compress = WEFT_NEW(fed->env.mem, struct fed_compress, 1);
    TRY(weft_conf_bind(fed->env.conf, &fed_compress_kind, compress));
    int partial = fed->options.share[0] != 0;
    if (!partial && compress->client == FED_WHOLE && compress->server == FED_WHOLE)
        return WEFT_OK;
    fed->modes.compress = compress;
    compress->sent = fed->nweight;
    if (partial) TRY(fix_tensors(fed, compress));
    compress->up = bytes_of(fed, compress->client, compress->bits, compress->share);
    compress->down =
        bytes_of(fed, compress->server, compress->server_bits, compress->server_share);
    if (fed->env.scoring) return WEFT_OK;
    TRY(check_algorithm(fed, amounts));
    TRY(check_modes(fed));
    TRY(check_bytes(fed));
    weft_log(WEFT_INFO,
             "a client receives %.0f bytes of weights in a round and sends %.0f of its "
             "change; all are %.0f",
             compress->down, compress->up, sizeof(float) * (double)fed->nweight);
    return WEFT_OK;
}

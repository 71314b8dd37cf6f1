/* Jobs, their results, the records of both, and the tables of what tasks measure. */
#include "weft/space/job.h"
#include "weft/base/random.h"
#include "weft/space/scores.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Numbers from MIN_PLAIN to MAX_PLAIN are shown without an exponent. */
#define MIN_PLAIN 1e-3
#define MAX_PLAIN 1e6

enum { FIELDS = 4 };

typedef enum purpose { COUNT, WRITE, READ } purpose;

struct cursor {
    purpose purpose;
    char *to;         /* WRITE: the next byte */
    const char *from; /* READ: the next byte */
    size_t n;         /* COUNT: bytes so far; READ: bytes left */
    int bad;          /* READ: the bytes end too early, or hold an impossible value */
    weft_arena *mem;  /* READ: owns what is made */
};

/* The first bytes of a packed record. */
typedef struct record_head {
    int64_t id, bytes, job_bytes;
    double ended;
} record_head;

/* ---- jobs and results ---- */

weft_job weft_job_new(int64_t trial, double resource, const weft_mix *mix)
{
    weft_job job = {.trial = trial,
                    .from = -1,
                    .resource = resource,
                    .feature_fraction = 1,
                    .eligibility = WEFT_WINS_RESOURCE};
    if (mix) job.mix = *mix;
    return job;
}

double weft_result_score(const weft_result *res, int i)
{
    if (!(res->arm_count[i] > 0)) return NAN;
    if (!isnan(res->arm_score[i])) return res->arm_score[i];
    return (res->by_error ? res->arm_wrong : res->arm_loss)[i] / res->arm_count[i];
}

double weft_result_tie(const weft_result *res)
{
    return res->nmetric > 0 ? res->metric[0] : (double)NAN;
}

weft_rank weft_result_rank(const weft_result *res)
{
    weft_rank rank = weft_rank_of(res->loss, weft_result_tie(res), res->trial);
    rank.excess = res->aims.excess;
    return rank;
}

weft_rank weft_result_rank_of(const weft_result *res, int i)
{
    return weft_rank_of(weft_result_score(res, i), res->arm_loss[i] / res->arm_count[i], i);
}

int weft_result_guesses(const weft_result *res, double guess)
{
    const double most = 0.02; /* few samples tell little: that is no guess */
    double n = 0;
    if (!res->by_error || !(guess > 0)) return 0;
    for (int i = 0; i < res->k; i++) n += res->arm_count[i];
    double chance = 1.96 * sqrt(guess * (1 - guess) / n);
    return res->loss > guess - fmin(chance, most);
}

weft_result weft_result_new(int k, int nmetric, weft_arena *mem)
{
    weft_result res = weft_result_in(k, WEFT_NEW(mem, double, WEFT_ARM_COLUMNS *(size_t)k));
    res.nmetric = nmetric;
    res.metric = WEFT_NEW(mem, double, nmetric);
    for (int i = 0; i < nmetric; i++) res.metric[i] = NAN;
    return res;
}

weft_result weft_result_in(int k, double *arm)
{
    double *score = arm + 3 * (size_t)k;
    for (int i = 0; i < k; i++) score[i] = NAN;
    return (weft_result){.k = k,
                         .metric = arm,
                         .arm_loss = arm,
                         .arm_wrong = arm + k,
                         .arm_count = arm + 2 * (size_t)k,
                         .arm_score = score,
                         .logp = score + k};
}

void weft_result_begin(weft_result *res, const weft_job *job)
{
    size_t k = (size_t)res->k;
    memset(res->arm_loss, 0, k * sizeof(double));
    memset(res->arm_wrong, 0, k * sizeof(double));
    memset(res->arm_count, 0, k * sizeof(double));
    for (size_t i = 0; i < k; i++) res->arm_score[i] = NAN;
    memcpy(res->logp, job->mix.logp, k * sizeof(double));
    res->failure = WEFT_SUCCEEDED;
    res->why = NULL;
}

weft_scores weft_scores_none(void)
{
    weft_scores scores = {.count = 0};
    for (int i = 0; i < WEFT_MAX_SCORES; i++) scores.metric[i] = NAN;
    return scores;
}

/* ---- tables of metrics ---- */

/* Their text form is one line for each, of name, unit, title and about, separated by TABs.
 */

int weft_metrics_count(const weft_metric *table)
{
    int n = 0;
    while (table && table[n].name) n++;
    return n;
}

int weft_metrics_find(const weft_metric *table, const char *name)
{
    for (int i = 0; table && table[i].name; i++)
        if (strcmp(table[i].name, name) == 0) return i;
    return -1;
}

const char *weft_metrics_text(const weft_metric *table, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; table && table[i].name; i++)
        text =
            weft_arena_text(mem, "%s%s\t%s\t%s\t%s\n", text, table[i].name, table[i].unit,
                            table[i].title ? table[i].title : "", table[i].about);
    return text;
}

const char *weft_field_next(const char **at, weft_arena *mem)
{
    size_t n = strcspn(*at, "\t\n");
    const char *text = weft_arena_text(mem, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '\t');
    return text;
}

void weft_line_skip(const char **at)
{
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
}

const weft_metric *weft_metrics_parse(const char *text, weft_arena *mem)
{
    weft_metric *table = WEFT_NEW(mem, weft_metric, WEFT_MAX_METRICS + 1);
    for (int i = 0; i < WEFT_MAX_METRICS && *text; i++) {
        const char *field[FIELDS];
        for (int f = 0; f < FIELDS; f++) field[f] = weft_field_next(&text, mem);
        weft_line_skip(&text);
        table[i] = (weft_metric){.name = field[0],
                                 .about = field[3],
                                 .unit = field[1],
                                 .title = *field[2] ? field[2] : NULL};
    }
    return table;
}

int weft_metric_is_share(const weft_metric *metric)
{
    size_t n = metric->title ? strlen(metric->title) : 0;
    return n > 0 && metric->title[n - 1] == '%';
}

const char *weft_loss_show(double x, int decimals, weft_arena *mem)
{
    double size = fabs(x);
    if (isnan(x)) return "-";
    if (!(size > 0) || (size >= MIN_PLAIN && size < MAX_PLAIN))
        return weft_arena_text(mem, "%.*f", decimals, x);
    return weft_arena_text(mem, "%.*g", decimals - 1, x);
}

const char *weft_metric_show(const weft_metric *metric, double x, weft_arena *mem)
{
    if (!weft_metric_is_share(metric))
        return weft_arena_text(mem, "%s %s", metric->title, weft_loss_show(x, 6, mem));
    int n = (int)strlen(metric->title) - 1;
    return weft_arena_text(mem, "%.*s%.3f %%", n, metric->title, 100 * x);
}

/* ---- the packed form: members ---- */

/* The only packed form of jobs and their results, used for the journal, checkpoints,
 * messages between ranks, and for comparing what tuners ask. One function for each struct
 * goes through its members in order and counts, writes or reads each of them, as the cursor
 * says. */

static void walk_bytes(struct cursor *cursor, void *x, size_t n)
{
    if (n == 0) return;
    switch (cursor->purpose) {
    case COUNT: cursor->n += n; return;
    case WRITE:
        memcpy(cursor->to, x, n);
        cursor->to += n;
        return;
    default:
        cursor->bad |= cursor->n < n;
        if (cursor->bad) return;
        memcpy(x, cursor->from, n);
        cursor->from += n;
        cursor->n -= n;
    }
}

static void walk_whole(struct cursor *cursor, int64_t *x)
{
    walk_bytes(cursor, x, sizeof *x);
}

static void walk_int(struct cursor *cursor, int *x)
{
    int64_t wide = *x;
    walk_whole(cursor, &wide);
    if (cursor->purpose != READ) return;
    cursor->bad |= wide < INT_MIN || wide > INT_MAX;
    if (!cursor->bad) *x = (int)wide;
}

static void walk_number(struct cursor *cursor, double *x)
{
    walk_bytes(cursor, x, sizeof *x);
}

static void walk_hash(struct cursor *cursor, uint64_t *x)
{
    walk_bytes(cursor, x, sizeof *x);
}

/* Numbers that the record has room for already. */
static void walk_numbers(struct cursor *cursor, double *x, int64_t n)
{
    walk_bytes(cursor, x, (size_t)n * sizeof *x);
}

/* 1 if n times `each` items of 8 bytes may follow. */
static int may_follow(struct cursor *cursor, int64_t n, int64_t each)
{
    if (cursor->purpose != READ) return 1;
    cursor->bad |= n < 0 || (each > 0 && (uint64_t)n > cursor->n / 8 / (uint64_t)each);
    return !cursor->bad;
}

/* ---- the packed form: jobs ---- */

/* n integers, borrowed by a mixture. */
static const int *walk_ints(struct cursor *cursor, const int *x, int n)
{
    int *made = cursor->purpose == READ ? WEFT_NEW(cursor->mem, int, n) : NULL;
    for (int i = 0; i < n; i++) {
        int one = x ? x[i] : 0;
        walk_int(cursor, &one);
        if (made) made[i] = one;
    }
    return made ? made : x;
}

static void walk_mix(struct cursor *cursor, weft_mix *mix)
{
    int k = mix->k, dim = mix->dim, nblock = mix->nblock;
    walk_int(cursor, &k);
    walk_int(cursor, &dim);
    walk_int(cursor, &nblock);
    cursor->bad |= k < 1 || dim < 0 || nblock < 1 || nblock > WEFT_MAX_BLOCKS;
    if (!may_follow(cursor, k, 2 + (int64_t)dim)) return;
    if (cursor->purpose == READ) *mix = weft_mix_new(k, dim, cursor->mem);
    mix->nblock = nblock;
    if (nblock > 1) {
        mix->off = walk_ints(cursor, mix->off, nblock + 1);
        mix->axis = walk_ints(cursor, mix->axis, nblock);
    }
    walk_bytes(cursor, mix->id, (size_t)k * sizeof *mix->id);
    walk_numbers(cursor, mix->logp, k);
    walk_numbers(cursor, mix->conf, (int64_t)k * dim);
}

static void walk_job(struct cursor *cursor, weft_job *job)
{
    int wins = job->eligibility, schedule = job->update.schedule;
    walk_whole(cursor, &job->id);
    walk_whole(cursor, &job->trial);
    walk_whole(cursor, &job->from);
    walk_int(cursor, &job->index);
    walk_number(cursor, &job->resource);
    walk_number(cursor, &job->feature_fraction);
    walk_int(cursor, &job->last);
    walk_int(cursor, &wins);
    walk_int(cursor, &schedule);
    walk_number(cursor, &job->update.eta);
    walk_number(cursor, &job->update.horizon);
    walk_number(cursor, &job->update.discount);
    walk_number(cursor, &job->update.floor);
    walk_int(cursor, &job->update.diff);
    job->eligibility = (weft_eligibility)wins;
    job->update.schedule = (weft_update_schedule)schedule;
    walk_mix(cursor, &job->mix);
}

/* ---- the packed form: results ---- */

static void walk_result(struct cursor *cursor, weft_result *res)
{
    int k = res->k, nmetric = res->nmetric, flags = res->by_error | res->noised << 1;
    walk_whole(cursor, &res->job);
    walk_whole(cursor, &res->trial);
    walk_number(cursor, &res->resource);
    walk_number(cursor, &res->loss);
    walk_number(cursor, &res->bound);
    walk_number(cursor, &res->cost);
    walk_int(cursor, &flags);
    res->by_error = flags & 1;
    res->noised = flags >> 1;
    walk_int(cursor, &k);
    walk_int(cursor, &nmetric);
    cursor->bad |= k != res->k || nmetric < 0;
    if (!may_follow(cursor, nmetric, 1)) return;
    if (nmetric != res->nmetric) {
        res->nmetric = nmetric;
        res->metric = WEFT_NEW(cursor->mem, double, nmetric);
    }
    walk_numbers(cursor, res->metric, nmetric);
    walk_numbers(cursor, res->arm_loss, k);
    walk_numbers(cursor, res->arm_wrong, k);
    walk_numbers(cursor, res->arm_count, k);
    walk_numbers(cursor, res->arm_score, k);
    walk_numbers(cursor, res->logp, k);
    walk_int(cursor, &res->aims.n);
    if (!may_follow(cursor, res->aims.n, 1)) return;
    if (cursor->purpose == READ) res->aims.x = WEFT_NEW(cursor->mem, double, res->aims.n);
    walk_numbers(cursor, res->aims.x, res->aims.n);
    walk_number(cursor, &res->aims.excess);
}

static void walk_note(struct cursor *cursor, const char **note)
{
    int64_t n = *note ? (int64_t)strlen(*note) : 0;
    walk_whole(cursor, &n);
    if (cursor->purpose == COUNT) cursor->n += (size_t)n;
    if (cursor->purpose == WRITE && n > 0) {
        memcpy(cursor->to, *note, (size_t)n);
        cursor->to += n;
    }
    if (cursor->purpose != READ) return;
    cursor->bad |= n < 0 || (uint64_t)n > cursor->n;
    if (cursor->bad) return;
    *note = n > 0 ? weft_arena_text(cursor->mem, "%.*s", (int)n, cursor->from) : NULL;
    cursor->from += n;
    cursor->n -= (size_t)n;
}

/* The first `rows` rows of the record. */
static void walk_rows(struct cursor *cursor, weft_job_record *record, int64_t rows)
{
    int64_t n = rows, nunit = record->nunit;
    int ncolumn = record->ncolumn;
    walk_whole(cursor, &nunit);
    walk_whole(cursor, &n);
    walk_int(cursor, &ncolumn);
    cursor->bad |= n < 0 || n > nunit || ncolumn < 0 || ncolumn > WEFT_MAX_METRICS;
    if (cursor->bad || !may_follow(cursor, n, (int64_t)ncolumn + record->job.mix.k)) return;
    if (cursor->purpose == READ &&
        (!record->row || nunit != record->nunit || ncolumn != record->ncolumn))
        weft_job_record_room(record, record->res.nmetric, n, ncolumn, cursor->mem);
    record->nunit = nunit;
    record->done = n;
    walk_numbers(cursor, record->row, n * ncolumn);
    walk_numbers(cursor, record->logp, n * record->job.mix.k);
    walk_bytes(cursor, record->spent, (size_t)n * sizeof *record->spent);
}

static void walk_rest(struct cursor *cursor, weft_job_record *record)
{
    walk_whole(cursor, &record->parent);
    walk_whole(cursor, &record->worker);
    walk_number(cursor, &record->start);
    walk_number(cursor, &record->end);
    walk_whole(cursor, &record->team);
    walk_whole(cursor, &record->ticket);
    walk_number(cursor, &record->began);
    walk_number(cursor, &record->seconds);
    walk_int(cursor, &record->kept);
    walk_hash(cursor, &record->hash);
    walk_hash(cursor, &record->weights);
    walk_result(cursor, &record->res);
    walk_note(cursor, &record->res.note);
    if (!cursor->bad) walk_rows(cursor, record, record->done);
}

/* ---- records ---- */

static const int *copy_ints(const int *from, int n, weft_arena *mem)
{
    if (!from) return NULL;
    int *to = WEFT_NEW(mem, int, n);
    memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

weft_job_record weft_job_record_new(const weft_job *job, weft_arena *mem)
{
    const weft_mix *mix = &job->mix;
    weft_job_record record = {.job = *job, .ticket = -1, .stored = job->id};
    size_t k = (size_t)mix->k, dim = (size_t)mix->dim;
    /* one piece of memory: there may be very many records */
    double *own = WEFT_NEW(mem, double, k *(dim + 1) + k * (1 + WEFT_ARM_COLUMNS));
    record.job.mix.conf = own;
    record.job.mix.logp = own + k * dim;
    record.res = weft_result_in(mix->k, own + k * (dim + 1));
    record.job.mix.id = (int64_t *)(void *)(own + k * (dim + 1 + WEFT_ARM_COLUMNS));
    weft_mix_copy(&record.job.mix, mix);
    record.job.mix.off = copy_ints(mix->off, mix->nblock + 1, mem);
    record.job.mix.axis = copy_ints(mix->axis, mix->nblock, mem);
    return record;
}

void weft_job_record_room(weft_job_record *record, int nmetric, int64_t nunit, int ncolumn,
                          weft_arena *mem)
{
    if (nmetric != record->res.nmetric) {
        record->res.nmetric = nmetric;
        record->res.metric = WEFT_NEW(mem, double, nmetric);
        for (int i = 0; i < nmetric; i++) record->res.metric[i] = (double)NAN;
    }
    record->nunit = nunit;
    record->ncolumn = ncolumn;
    record->done = 0;
    record->row = record->logp = record->res.arm_loss; /* of no length */
    record->spent = NULL;
    if (nunit == 0) return;
    record->row = WEFT_NEW(mem, double, nunit *ncolumn);
    record->logp = WEFT_NEW(mem, double, nunit * record->job.mix.k);
    record->spent = WEFT_NEW(mem, weft_spent, nunit);
}

void *weft_job_pack(const weft_job *job, size_t *bytes, weft_arena *mem)
{
    weft_job own = *job;
    struct cursor cursor = {.purpose = COUNT};
    walk_job(&cursor, &own);
    *bytes = cursor.n;
    char *packed = WEFT_NEW(mem, char, cursor.n);
    cursor = (struct cursor){.purpose = WRITE, .to = packed};
    walk_job(&cursor, &own);
    return packed;
}

/* Of a packed job behind so many bytes. */
static uint64_t hash_behind(const weft_job *job, size_t skip)
{
    WEFT_SCRATCH(tmp);
    size_t bytes;
    const char *packed = weft_job_pack(job, &bytes, tmp);
    return weft_hash(packed + skip, bytes - skip, 0);
}

uint64_t weft_job_hash(const weft_job *job)
{
    return hash_behind(job, 0);
}

uint64_t weft_job_likeness(const weft_job *job)
{
    return hash_behind(job, sizeof job->id); /* the first member */
}

void *weft_job_record_pack(const weft_job_record *record, size_t *bytes, weft_arena *mem)
{
    weft_job_record own = *record;
    struct cursor cursor = {.purpose = COUNT};
    walk_job(&cursor, &own.job);
    record_head head = {.id = record->job.id,
                        .job_bytes = (int64_t)cursor.n,
                        .ended = record->began + record->seconds};
    walk_rest(&cursor, &own);
    *bytes = sizeof head + cursor.n;
    head.bytes = (int64_t)*bytes;
    char *packed = WEFT_NEW(mem, char, *bytes);
    memcpy(packed, &head, sizeof head);
    cursor = (struct cursor){.purpose = WRITE, .to = packed + sizeof head};
    walk_job(&cursor, &own.job);
    walk_rest(&cursor, &own);
    return packed;
}

int weft_job_record_is(const void *packed, size_t bytes, int64_t *job)
{
    record_head head;
    if (bytes < sizeof head) return 0;
    memcpy(&head, packed, sizeof head);
    *job = head.id;
    return head.id >= 0 && head.bytes == (int64_t)bytes && head.job_bytes > 0 &&
           head.job_bytes < head.bytes - (int64_t)sizeof head;
}

double weft_job_record_ended(const void *packed)
{
    record_head head;
    memcpy(&head, packed, sizeof head);
    return head.ended;
}

uint64_t weft_job_record_likeness(const void *packed)
{
    record_head head;
    memcpy(&head, packed, sizeof head);
    size_t id = sizeof head.id;
    return weft_hash((const char *)packed + sizeof head + id, (size_t)head.job_bytes - id,
                     0);
}

/* What follows the job of a packed record. */
static struct cursor after_job(const void *packed, weft_arena *mem)
{
    record_head head;
    memcpy(&head, packed, sizeof head);
    return (struct cursor){.purpose = READ,
                           .from = (const char *)packed + sizeof head + head.job_bytes,
                           .n = (size_t)(head.bytes - head.job_bytes) - sizeof head,
                           .mem = mem};
}

int weft_job_record_unpack(weft_job_record *record, const void *packed, weft_arena *mem)
{
    record_head head;
    memcpy(&head, packed, sizeof head);
    WEFT_SCRATCH(tmp);
    size_t bytes;
    const char *job = weft_job_pack(&record->job, &bytes, tmp);
    const size_t id = sizeof record->job.id;
    if (bytes != (size_t)head.job_bytes ||
        memcmp(job + id, (const char *)packed + sizeof head + id, bytes - id) != 0)
        return 0;
    /* The scheduler determines worker, start and end in virtual time. */
    weft_job_record own = *record;
    struct cursor cursor = after_job(packed, mem);
    walk_rest(&cursor, record);
    record->parent = own.parent;
    record->worker = own.worker;
    record->start = own.start;
    record->end = own.end;
    record->res.job = own.job.id;
    record->stored = head.id;
    return !cursor.bad && cursor.n == 0;
}

int weft_job_record_read(weft_job_record *record, const void *packed, weft_arena *mem)
{
    record_head head;
    memcpy(&head, packed, sizeof head);
    struct cursor cursor = {.purpose = READ,
                            .from = (const char *)packed + sizeof head,
                            .n = (size_t)head.job_bytes,
                            .mem = mem};
    *record = (weft_job_record){.stored = head.id};
    walk_job(&cursor, &record->job);
    if (cursor.bad || cursor.n != 0 || record->job.id != head.id) return 0;
    record->res = weft_result_new(record->job.mix.k, 0, mem);
    cursor = after_job(packed, mem);
    walk_rest(&cursor, record);
    return !cursor.bad && cursor.n == 0;
}

uint64_t weft_job_record_digest(const weft_job_record *record, int64_t n)
{
    uint64_t h = 0;
    for (int64_t i = 0; i < n; i++) {
        const weft_result *res = &record[i].res;
        h = weft_hash(&record[i].job.id, sizeof record[i].job.id, h);
        h = weft_hash(&res->loss, sizeof res->loss, h);
        h = weft_hash(res->logp, (size_t)res->k * sizeof *res->logp, h);
        h = weft_hash(&record[i].weights, sizeof record[i].weights, h);
    }
    return h;
}

/* Tables of metrics: those of all tasks of the registry, tables as texts, and the packed
 * form of jobs and results. */
#include "sched/sched.h"
#include "weft/task/task.h"

#include "tap.h"

/* ---- tables ---- */

/* Columns that every task's jobs and rounds have. */
static const char *const of_jobs[] = {
    "job",   "trial",    "from", "round", "rounds", "wins",   "k",       "size",
    "alive", "resource", "loss", "bound", "cost",   "regret", "seconds", NULL};
static const char *const of_rounds[] = {"job",     "trial", "unit", "wall",
                                        "compute", "wait",  "comm", NULL};
static const char *const none[] = {NULL};

static int is_clean(const char *text)
{
    return text && *text && !strpbrk(text, "\t\n");
}

static int is_sound(const weft_metric *table, const char *const *taken, int most)
{
    int sound = weft_metrics_count(table) <= most;
    for (int i = 0; table && table[i].name; i++) {
        const weft_metric *metric = &table[i];
        sound &=
            is_clean(metric->name) && is_clean(metric->about) && is_clean(metric->unit);
        sound &= !metric->title || is_clean(metric->title);
        sound &= strspn(metric->name, "abcdefghijklmnopqrstuvwxyz_0123456789") ==
                 strlen(metric->name);
        sound &= weft_metrics_find(table, metric->name) == i;
        for (int k = 0; taken[k]; k++) sound &= strcmp(taken[k], metric->name) != 0;
    }
    return sound;
}

static int is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int comes_back(const weft_metric *table)
{
    const weft_metric *back = weft_metrics_parse(weft_metrics_text(table, mem), mem);
    int same = weft_metrics_count(back) == weft_metrics_count(table);
    for (int i = 0; same && table && table[i].name; i++)
        same = is_same(back[i].name, table[i].name) &&
               is_same(back[i].unit, table[i].unit) &&
               is_same(back[i].title, table[i].title) &&
               is_same(back[i].about, table[i].about);
    return same;
}

static void test_task(const weft_task *task)
{
    const char *name = task->kind.name;
    ok(is_sound(task->traits.metrics, of_jobs, WEFT_MAX_METRICS),
       "%s: metrics of jobs are sound", name);
    ok(is_sound(task->traits.rows, of_rounds, WEFT_MAX_METRICS),
       "%s: columns of rounds are", name);
    ok(is_sound(task->traits.scores, none, WEFT_MAX_SCORES), "%s: scores are", name);
    ok(comes_back(task->traits.metrics) && comes_back(task->traits.rows) &&
           comes_back(task->traits.scores),
       "%s: the tables come back from their texts", name);
    ok(weft_metrics_count(task->traits.scores) > 0 &&
           weft_metrics_find(task->traits.metrics, "valid_loss") == 0,
       "%s: the first metric of a job is its validation loss, a winner has a score", name);
    ok(is_clean(task->traits.lost), "%s: it says where to look if no job has a finite loss",
       name);
}

static void test_show(void)
{
    weft_metric share = {"e", "a", "1", "error %"}, loss = {"l", "a", "loss", "loss"};
    ok(strcmp(weft_metric_show(&share, 0.12345, mem), "error 12.345 %") == 0,
       "a share is shown in percent");
    ok(strcmp(weft_metric_show(&loss, 0.5, mem), "loss 0.500000") == 0 &&
           strcmp(weft_metric_show(&loss, 0, mem), "loss 0.000000") == 0 &&
           strcmp(weft_metric_show(&loss, -1234.5, mem), "loss -1234.500000") == 0,
       "another number as it is");
    ok(weft_metrics_count(weft_metrics_parse("", mem)) == 0, "no text, no table");
    ok(strcmp(weft_metric_show(&loss, 1.25e-7, mem), "loss 1.25e-07") == 0 &&
           strcmp(weft_loss_show(-3.14159265e-7, 5, mem), "-3.142e-07") == 0 &&
           strcmp(weft_loss_show(5.34087e15, 5, mem), "5.341e+15") == 0 &&
           strcmp(weft_loss_show(INFINITY, 5, mem), "inf") == 0 &&
           strcmp(weft_loss_show(-NAN, 5, mem), "-") == 0,
       "a loss that decimals would show as 0, or that is large, has an exponent");
}

/* ---- records ---- */

enum { K = 5, DIM = 2, UNITS = 3, COLUMNS = 4, METRICS = 2 };

/* A mixture of two blocks, and all that can come of it. */
static weft_job_record record_new(void)
{
    static const int off[] = {0, 3, K}, axis[] = {0, 1};
    weft_mix mix = weft_mix_new(K, DIM, mem);
    weft_mix_divide(&mix, 2, off, axis);
    for (int i = 0; i < K * DIM; i++) mix.conf[i] = 0.25 * i;
    for (int i = 0; i < K; i++) mix.id[i] = 10 + i;
    weft_job job = weft_job_new(4, 3, &mix);
    job.id = 17;
    job.from = 2;
    job.index = 1;
    job.eligibility = WEFT_WINS_LOSS;
    job.update = (weft_mix_update){.schedule = WEFT_UPDATE_SCALE, .eta = 0.5, .diff = 1};
    weft_job_record record = weft_job_record_new(&job, mem);
    weft_job_record_room(&record, METRICS, UNITS, COLUMNS, mem);
    weft_result_begin(&record.res, &job);
    record.res.job = 17;
    record.res.loss = INFINITY;
    record.res.metric[1] = 0.75;
    record.res.arm_loss[2] = 6;
    record.res.note = "f1=0.5 lr=1e-3";
    record.parent = 11;
    record.worker = 3;
    record.start = 1;
    record.end = 2.5;
    record.began = 10;
    record.seconds = 0.5;
    record.kept = 1;
    record.hash = 77;
    record.weights = 78;
    record.done = UNITS;
    for (int i = 0; i < UNITS * COLUMNS; i++) record.row[i] = i;
    for (int i = 0; i < UNITS * K; i++) record.logp[i] = -i;
    record.spent[2].comm = 9;
    return record;
}

static int is_alike(const weft_job_record *a, const weft_job_record *b)
{
    size_t na, nb;
    const void *pa = weft_job_record_pack(a, &na, mem), *pb;
    pb = weft_job_record_pack(b, &nb, mem);
    return na == nb && memcmp(pa, pb, na) == 0;
}

static void test_record(void)
{
    weft_job_record record = record_new();
    size_t n;
    int64_t id = -1;
    const void *packed = weft_job_record_pack(&record, &n, mem);
    ok(weft_job_record_is(packed, n, &id) && id == 17, "packed bytes are a record's");
    ok(!weft_job_record_is(packed, n - 1, &id), "fewer are not");
    is_near(weft_job_record_ended(packed), 10.5, 0, "they say when the job ended");
    weft_job_record back;
    ok(weft_job_record_read(&back, packed, mem) && is_alike(&record, &back),
       "a record comes back whole");
    ok(back.job.mix.nblock == 2 && back.job.mix.off[1] == 3 && back.row[5] > 4.9 &&
           strcmp(back.res.note, record.res.note) == 0 && isnan(back.res.metric[0]) &&
           back.res.metric[1] > 0.7 && back.end > 2.4,
       "with blocks, rows, metrics and what else was measured");
    weft_job_record own = weft_job_record_new(&record.job, mem);
    own.worker = 8;
    ok(weft_job_record_unpack(&own, packed, mem) && own.worker == 8 && own.parent == 0,
       "filled in for a job that is known, it leaves virtual time to the scheduler");
    own.worker = record.worker;
    own.parent = record.parent;
    own.start = record.start;
    own.end = record.end;
    ok(is_alike(&record, &own), "and has all else");
    weft_job other = record.job;
    other.resource += 1;
    own = weft_job_record_new(&other, mem);
    ok(!weft_job_record_unpack(&own, packed, mem), "another job is found out");
}

static void test_part(void)
{
    weft_job_record record = record_new();
    record.done = 1;
    size_t n;
    weft_job_record back;
    const void *packed = weft_job_record_pack(&record, &n, mem);
    ok(weft_job_record_read(&back, packed, mem) && back.nunit == UNITS && back.done == 1 &&
           back.row[COLUMNS - 1] > 2.9,
       "a job in flight is packed with the rows that it has");
}

/* Any 8 bytes of a record may be wrong: it is read, or refused, and that is all. */
static void test_damage(void)
{
    weft_job_record record = record_new();
    const int64_t wrong[] = {-1, INT64_MAX, (int64_t)1 << 40, 1000};
    size_t n;
    const void *packed = weft_job_record_pack(&record, &n, mem);
    char *copy = WEFT_NEW(mem, char, n);
    int64_t id;
    int refused = 0;
    for (size_t at = 0; at + sizeof id <= n; at += sizeof id)
        for (int w = 0; w < 4; w++) {
            weft_job_record back;
            memcpy(copy, packed, n);
            memcpy(copy + at, &wrong[w], sizeof *wrong);
            refused += !weft_job_record_is(copy, n, &id) ||
                       !weft_job_record_read(&back, copy, mem);
        }
    ok(refused > 20, "lengths that cannot be are refused (%d)", refused);
}

static void test_digest(void)
{
    weft_job_record record = record_new();
    uint64_t h = weft_job_record_digest(&record, 1);
    record.row[0] = record.seconds = record.res.metric[0] = record.end = record.res.cost =
        99;
    ok(weft_job_record_digest(&record, 1) == h, "the digest knows no times and no metrics");
    record.weights++;
    ok(weft_job_record_digest(&record, 1) != h, "but weights");
    record.weights--;
    record.res.loss = 1;
    ok(weft_job_record_digest(&record, 1) != h, "and losses");
}

/* ---- which job is better ---- */

/* A merit by eligibility, resource, loss and job. */
static weft_merit merit(int wins, double resource, double loss, int64_t job)
{
    return (weft_merit){wins, resource, weft_rank_of(loss, NAN, job)};
}

static void test_merit(void)
{
    enum { NEVER = WEFT_WINS_LAST, MORE = WEFT_WINS_RESOURCE, LOSS = WEFT_WINS_LOSS };
    const struct {
        const char *what;
        weft_merit better, worse;
    } pairs[] = {
        {"one that may win", merit(MORE, 1, 9, 5), merit(NEVER, 9, 0, 1)},
        {"one that may win, however bad", merit(LOSS, 1, INFINITY, 5),
         merit(NEVER, 9, 0, 1)},
        {"of two that may not the later", merit(NEVER, 1, 9, 5), merit(NEVER, 9, 0, 4)},
        {"a finite loss", merit(MORE, 1, 9, 5), merit(MORE, 9, INFINITY, 1)},
        {"a finite loss, by losses", merit(LOSS, 1, 9, 5), merit(LOSS, 9, INFINITY, 1)},
        {"more resource", merit(MORE, 3, 9, 5), merit(MORE, 2, 1, 1)},
        {"a lower loss", merit(MORE, 3, 1, 5), merit(MORE, 3, 2, 1)},
        {"a lower loss, with less", merit(LOSS, 1, 1, 5), merit(LOSS, 9, 2, 1)},
        {"a lower loss, where one is by loss", merit(LOSS, 1, 1, 5), merit(MORE, 9, 2, 1)},
        {"a lower loss, where the other is", merit(MORE, 1, 1, 5), merit(LOSS, 9, 2, 1)},
        {"the earlier of equal ones", merit(MORE, 3, 1, 4), merit(MORE, 3, 1, 5)}};
    for (size_t i = 0; i < LEN(pairs); i++) {
        const weft_merit *a = &pairs[i].better, *b = &pairs[i].worse;
        ok(weft_merit_compare(a, b) > 0 && weft_merit_compare(b, a) < 0, "better: %s",
           pairs[i].what);
    }
}

int main(void)
{
    tap_begin();
    test_merit();
    for (int i = 0; weft_tasks[i]; i++) test_task(weft_tasks[i]);
    return TESTS(test_show, test_record, test_part, test_damage, test_digest);
}

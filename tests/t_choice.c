/* Rankings, and which job wins a run and which configuration of its mixture: every pair of
 * a list in its order, equal scores decided by losses.
 * RUN: np=1 */
#include "sched/sched.h"
#include "tap.h"

/* ---- ranks ---- */

/* 1: each of rank[n] is before all that follow it, and those are not before it. */
static int is_in_order(const weft_rank *rank, int n)
{
    int good = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            good &= weft_rank_before(rank[i], rank[j]) == (i < j);
            good &= weft_rank_compare(&rank[i], &rank[j]) == (i > j) - (i < j);
        }
    return good;
}

static void test_ranks(void)
{
    const weft_rank best_first[] = {
        weft_rank_of(0.1, 9, 8),    weft_rank_of(0.2, 1, 7),
        weft_rank_of(0.2, 2, 5),    weft_rank_of(0.2, 2, 6),
        weft_rank_of(0.2, NAN, 0),  weft_rank_of(0.2, INFINITY, 1),
        weft_rank_of(0.3, 0, 9),    weft_rank_of(INFINITY, 3, 10),
        weft_rank_of(NAN, NAN, 11), weft_rank_of(INFINITY, 1, 12),
    };
    ok(is_in_order(best_first, LEN(best_first)),
       "ranks are by loss, then by the second number, then by id; of what diverged by id");
}

/* ---- jobs ---- */

static weft_job_record *job_of(int64_t id, weft_eligibility wins, double resource,
                               double loss, double tie)
{
    weft_mix mix = weft_mix_new(1, 0, mem);
    weft_job job = weft_job_new(id, 1, &mix);
    job.id = id;
    job.eligibility = wins;
    weft_job_record *record = WEFT_NEW(mem, weft_job_record, 1);
    *record = weft_job_record_new(&job, mem);
    weft_job_record_room(record, 1, 0, 0, mem);
    record->res.resource = resource;
    record->res.loss = loss;
    record->res.metric[0] = tie;
    return record;
}

static void test_jobs(void)
{
    const weft_eligibility R = WEFT_WINS_RESOURCE, LAST = WEFT_WINS_LAST;
    const weft_job_record *const best_first[] = {
        job_of(7, R, 4, 0.2, 0.5),      job_of(2, R, 4, 0.2, 0.6),
        job_of(3, R, 4, 0.2, 0.6),      job_of(1, R, 4, 0.2, NAN),
        job_of(4, R, 4, 0.3, 0.1),      job_of(0, R, 2, 0.1, 0.1),
        job_of(5, R, 9, INFINITY, NAN), job_of(9, LAST, 9, 0.1, 0.1),
        job_of(8, LAST, 9, 0.0, 0.0),
    };
    int n = LEN(best_first), good = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            good &= weft_job_record_beats(best_first[i], best_first[j]) == (i < j);
    ok(good, "of jobs of equal resource and score the one of the lowest loss wins");
    const weft_job_record *a = job_of(0, WEFT_WINS_LOSS, 1, 0.2, 0.5),
                          *b = job_of(1, WEFT_WINS_LOSS, 9, 0.2, 0.6);
    ok(weft_job_record_beats(a, b), "so it does where any resource may win");
}

/* ---- configurations of a mixture ---- */

/* Two blocks of equally likely entries, of equal scores but in entries 2 and 5. */
static void test_arms(void)
{
    enum { K = 6, BLOCKS = 2 };
    static const int off[] = {0, 3, K}, axis[] = {0, 1};
    const double wrong[K] = {4, 4, NAN, 4, 4, 4}, loss[K] = {9, 5, 0, 7, 3, 5};
    weft_mix mix = weft_mix_new(K, BLOCKS, mem);
    weft_mix_divide(&mix, BLOCKS, off, axis);
    for (int i = 0; i < K; i++) mix.conf[2 * i] = mix.conf[2 * i + 1] = i;
    weft_job job = weft_job_new(0, 1, &mix);
    weft_job_record record = weft_job_record_new(&job, mem);
    weft_result_begin(&record.res, &record.job);
    record.res.by_error = 1;
    for (int i = 0; i < K; i++) {
        record.res.arm_count[i] = i == 2 ? 0 : 10;
        record.res.arm_wrong[i] = wrong[i];
        record.res.arm_loss[i] = loss[i];
    }
    double conf[BLOCKS];
    weft_winner_conf(&record, conf);
    ok(weft_winner_arm(&record) == 1 && conf[0] == 1,
       "of equal arms that of the lower loss wins");
    ok(conf[1] == 4, "in every block of a product");
    record.res.logp[0] += 1;
    record.res.logp[5] += 1;
    weft_winner_conf(&record, conf);
    ok(conf[0] == 0 && conf[1] == 5, "the most probable ones win whatever they score");
    record.res.arm_count[0] = 0;
    record.res.logp[0] -= 1;
    weft_winner_conf(&record, conf);
    ok(conf[0] == 1, "one that was not scored does not win against equals");
    weft_result_begin(&record.res, &record.job);
    int clear = 1;
    for (int i = 0; i < K; i++)
        clear &= !(record.res.arm_count[i] > 0) && isnan(weft_result_score(&record.res, i));
    ok(clear, "a job begins without scores of another");
}

MAIN(alone, test_ranks, test_jobs, test_arms)

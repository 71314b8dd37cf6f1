/* The rounds of all jobs in the run file: /rounds with one row for each, and /mix with the
 * probabilities after each. */
#include "rounds.h"
#include "columns.h"

#include <math.h>
#include <string.h>

typedef struct round_row {
    int64_t job, trial, unit;
    weft_spent spent;
} round_row;

#define SPENT(m, about)                                                                    \
    {                                                                                      \
#m, about, "s", offsetof(round_row, spent) + offsetof(weft_spent, m), 0            \
    }

static const weft_field columns[] = {
    WEFT_WHOLE(round_row, job,
               "job that the round was part of: row of /events, if it is done", "id"),
    WEFT_WHOLE(round_row, trial, "trial: whose weights were trained", "id"),
    WEFT_WHOLE(round_row, unit, "round of the trial, 1, 2 ...", "count"),
    SPENT(wall, "real time: mean over the ranks of the team"),
    SPENT(compute, "of the real time, computing and reading"),
    SPENT(wait, "of the real time, waiting for slower ranks"),
    SPENT(comm, "of the real time, in collectives"),
};

/* The jobs that are done, then those that are not. */
static int64_t all_jobs(const weft_history *history)
{
    return history->n + history->nflight;
}

static const weft_job_record *job_at(const weft_history *history, int64_t i)
{
    return i < history->n ? &history->record[i] : &history->flight[i - history->n];
}

/* Its rounds so far. */
static int64_t rounds_of(const weft_history *history, int64_t i)
{
    return i < history->n ? history->record[i].nunit : history->flight[i - history->n].done;
}

/* Number of rounds that the weights of each job had been trained before it. Events are in
 * the order of jobs. */
static int64_t *rounds_before(const weft_history *history, weft_arena *mem)
{
    int64_t all = all_jobs(history), most = 0;
    for (int64_t i = 0; i < all; i++)
        if (job_at(history, i)->job.id >= most) most = job_at(history, i)->job.id + 1;
    int64_t *after = WEFT_NEW(mem, int64_t, most), *before = WEFT_NEW(mem, int64_t, all);
    for (int64_t i = 0; i < all; i++) {
        const weft_job_record *record = job_at(history, i);
        before[i] = record->parent < 0 ? 0 : after[record->parent];
        after[record->job.id] = before[i] + rounds_of(history, i);
    }
    return before;
}

static weft_status put_rows(weft_h5 *file, const weft_history *history, int64_t n)
{
    int ncolumn = weft_metrics_count(history->tables.rows);
    const int64_t *before = rounds_before(history, file->mem);
    round_row *row = WEFT_NEW(file->mem, round_row, n), *at = row;
    double *x = WEFT_NEW(file->mem, double, n *ncolumn), *to = x;
    for (int64_t i = 0; i < all_jobs(history); i++) {
        const weft_job_record *record = job_at(history, i);
        int64_t rounds = rounds_of(history, i);
        for (int64_t u = 0; u < rounds; u++)
            *at++ = (round_row){.job = record->job.id,
                                .trial = record->job.trial,
                                .unit = before[i] + u + 1,
                                .spent = record->spent[u]};
        int64_t numbers = rounds * ncolumn;
        if (numbers > 0) memcpy(to, record->row, (size_t)numbers * sizeof *to);
        to += numbers;
    }
    TRY(weft_put_columns(file, "rounds", columns, WEFT_COUNT(columns), row, sizeof *row,
                         n));
    return weft_put_table(file, "rounds", "columns", history->tables.rows, x, n);
}

/* Mixtures of jobs have different sizes; rows have the length of the largest. */
static weft_status put_mix(weft_h5 *file, const weft_history *history, int64_t n, int most)
{
    int64_t all = all_jobs(history);
    double *p = WEFT_NEW(file->mem, double, n *most), *at = p;
    int64_t *config = WEFT_NEW(file->mem, int64_t, all * most);
    for (int64_t i = 0; i < all; i++) {
        const weft_job_record *record = job_at(history, i);
        int k = record->job.mix.k;
        for (int a = 0; a < most; a++)
            config[i * most + a] = a < k ? record->job.mix.id[a] : -1;
        for (int64_t u = 0; u < rounds_of(history, i); u++)
            for (int a = 0; a < most; a++)
                *at++ = a < k ? exp(record->logp[u * k + a]) : (double)NAN;
    }
    const int64_t p_shape[2] = {n, most}, config_shape[2] = {all, most};
    TRY(weft_h5_put(
        file, "/mix/p", WEFT_H5_F64, 2, p_shape, p, 1,
        "probability of each configuration after each round: one row per row of "
        "/rounds, columns as in /mix/config[job]; nan where a job has fewer",
        "1"));
    return weft_h5_put(
        file, "/mix/config", WEFT_H5_I64, 2, config_shape, config, 1,
        "configurations of each job's mixture, by their index in the space "
        "(/configs/id): one row per job, first those of /events; -1 where it has "
        "fewer",
        "id");
}

weft_status weft_put_rounds(weft_h5 *file, const weft_history *history)
{
    int64_t n = 0;
    int most = 0;
    for (int64_t i = 0; i < all_jobs(history); i++) {
        n += rounds_of(history, i);
        if (job_at(history, i)->job.mix.k > most) most = job_at(history, i)->job.mix.k;
    }
    if (n == 0) return WEFT_OK;
    TRY(put_rows(file, history, n));
    return most > 1 ? put_mix(file, history, n, most) : WEFT_OK;
}

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

static const weft_column columns[] = {
    WEFT_WHOLE(round_row, job, "job that the round was part of: row of /events", "id"),
    WEFT_WHOLE(round_row, trial, "trial: whose weights were trained", "id"),
    WEFT_WHOLE(round_row, unit, "round of the trial, 1, 2 ...", "count"),
    SPENT(wall, "real time: mean over the ranks of the team"),
    SPENT(compute, "of the real time, computing and reading"),
    SPENT(wait, "of the real time, waiting for slower ranks"),
    SPENT(comm, "of the real time, in collectives"),
};

/* Number of rounds that the weights of each job had been trained before it. Events are in
 * the order of jobs. */
static int64_t *rounds_before(const weft_history *history, weft_arena *mem)
{
    int64_t most = history->n > 0 ? history->record[history->n - 1].job.id + 1 : 0;
    int64_t *after = WEFT_NEW(mem, int64_t, most),
            *before = WEFT_NEW(mem, int64_t, history->n);
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        before[i] = record->parent < 0 ? 0 : after[record->parent];
        after[record->job.id] = before[i] + record->nunit;
    }
    return before;
}

static weft_status put_rows(weft_h5 *file, const weft_history *history, int64_t n)
{
    int ncolumn = weft_metrics_count(history->tables.rows);
    const int64_t *before = rounds_before(history, file->mem);
    round_row *row = WEFT_NEW(file->mem, round_row, n), *at = row;
    double *x = WEFT_NEW(file->mem, double, n *ncolumn), *to = x;
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        for (int64_t u = 0; u < record->nunit; u++)
            *at++ = (round_row){.job = record->job.id,
                                .trial = record->job.trial,
                                .unit = before[i] + u + 1,
                                .spent = record->spent[u]};
        int64_t numbers = record->nunit * ncolumn;
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
    double *p = WEFT_NEW(file->mem, double, n *most), *at = p;
    int64_t *config = WEFT_NEW(file->mem, int64_t, history->n * most);
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        int k = record->job.mix.k;
        for (int a = 0; a < most; a++)
            config[i * most + a] = a < k ? record->job.mix.id[a] : -1;
        for (int64_t u = 0; u < record->nunit; u++)
            for (int a = 0; a < most; a++)
                *at++ = a < k ? exp(record->logp[u * k + a]) : (double)NAN;
    }
    const int64_t p_shape[2] = {n, most}, config_shape[2] = {history->n, most};
    TRY(weft_h5_put(
        file, "/mix/p", WEFT_H5_F64, 2, p_shape, p, 1,
        "probability of each configuration after each round: one row per row of "
        "/rounds, columns as in /mix/config[job]; nan where a job has fewer",
        "1"));
    return weft_h5_put(file, "/mix/config", WEFT_H5_I64, 2, config_shape, config, 1,
                       "configurations of each job's mixture, by their index in the space "
                       "(/configs/id): one row per job; -1 where it has fewer",
                       "id");
}

weft_status weft_put_rounds(weft_h5 *file, const weft_history *history)
{
    int64_t n = 0;
    int most = 0;
    for (int64_t i = 0; i < history->n; i++) {
        n += history->record[i].nunit;
        if (history->record[i].job.mix.k > most) most = history->record[i].job.mix.k;
    }
    if (n == 0) return WEFT_OK;
    TRY(put_rows(file, history, n));
    return most > 1 ? put_mix(file, history, n, most) : WEFT_OK;
}

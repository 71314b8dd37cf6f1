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
static int64_t *rounds_before(const weft_history *h, weft_arena *mem)
{
    int64_t most = h->n > 0 ? h->record[h->n - 1].job.id + 1 : 0;
    int64_t *after = WEFT_NEW(mem, int64_t, most), *before = WEFT_NEW(mem, int64_t, h->n);
    for (int64_t i = 0; i < h->n; i++) {
        const weft_job_record *e = &h->record[i];
        before[i] = e->parent < 0 ? 0 : after[e->parent];
        after[e->job.id] = before[i] + e->nunit;
    }
    return before;
}

static weft_status put_rows(weft_h5 *f, const weft_history *h, int64_t n)
{
    int ncolumn = weft_metrics_count(h->tables.rows);
    const int64_t *before = rounds_before(h, f->mem);
    round_row *row = WEFT_NEW(f->mem, round_row, n), *at = row;
    double *x = WEFT_NEW(f->mem, double, n *ncolumn), *to = x;
    for (int64_t i = 0; i < h->n; i++) {
        const weft_job_record *e = &h->record[i];
        for (int64_t u = 0; u < e->nunit; u++)
            *at++ = (round_row){.job = e->job.id,
                                .trial = e->job.trial,
                                .unit = before[i] + u + 1,
                                .spent = e->spent[u]};
        int64_t numbers = e->nunit * ncolumn;
        if (numbers > 0) memcpy(to, e->row, (size_t)numbers * sizeof *to);
        to += numbers;
    }
    TRY(weft_put_columns(f, "rounds", columns, WEFT_COUNT(columns), row, sizeof *row, n));
    return weft_put_table(f, "rounds", "columns", h->tables.rows, x, n);
}

/* Mixtures of jobs have different sizes; rows have the length of the largest. */
static weft_status put_mix(weft_h5 *f, const weft_history *h, int64_t n, int most)
{
    double *p = WEFT_NEW(f->mem, double, n *most), *at = p;
    int64_t *config = WEFT_NEW(f->mem, int64_t, h->n * most);
    for (int64_t i = 0; i < h->n; i++) {
        const weft_job_record *e = &h->record[i];
        int k = e->job.mix.k;
        for (int a = 0; a < most; a++) config[i * most + a] = a < k ? e->job.mix.id[a] : -1;
        for (int64_t u = 0; u < e->nunit; u++)
            for (int a = 0; a < most; a++)
                *at++ = a < k ? exp(e->logp[u * k + a]) : (double)NAN;
    }
    const int64_t p_shape[2] = {n, most}, config_shape[2] = {h->n, most};
    TRY(weft_h5_put(
        f, "/mix/p", WEFT_H5_F64, 2, p_shape, p, 1,
        "probability of each configuration after each round: one row per row of "
        "/rounds, columns as in /mix/config[job]; nan where a job has fewer",
        "1"));
    return weft_h5_put(f, "/mix/config", WEFT_H5_I64, 2, config_shape, config, 1,
                       "configurations of each job's mixture, by their index in the space "
                       "(/configs/id): one row per job; -1 where it has fewer",
                       "id");
}

weft_status weft_put_rounds(weft_h5 *f, const weft_history *h)
{
    int64_t n = 0;
    int most = 0;
    for (int64_t i = 0; i < h->n; i++) {
        n += h->record[i].nunit;
        if (h->record[i].job.mix.k > most) most = h->record[i].job.mix.k;
    }
    if (n == 0) return WEFT_OK;
    TRY(put_rows(f, h, n));
    return most > 1 ? put_mix(f, h, n, most) : WEFT_OK;
}

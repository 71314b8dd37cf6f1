/* The rounds of all jobs in the run file: /rounds, a row each, and /mix, the probabilities
 * after each. Called by output.c. */
#include "columns.h"

#include <math.h>
#include <string.h>

typedef struct round_row {
    int64_t job, trial, unit;
    weft_round r;
} round_row;

#define IN_JOB(m, about, unit)                                                             \
    {                                                                                      \
#m, about, unit, offsetof(round_row, m), 1                                         \
    }
#define IN_ROUND(m, about, unit)                                                           \
    {                                                                                      \
#m, about, unit, offsetof(round_row, r) + offsetof(weft_round, m), 0               \
    }

static const weft_column columns[] = {
    IN_JOB(job, "job that the round was part of: row of /events", "id"),
    IN_JOB(trial, "trial: whose weights were trained", "id"),
    IN_JOB(unit, "round of the trial, 1, 2 ...", "count"),
    IN_ROUND(before_loss, "mean over the cohort's validation data, server's weights",
             "loss"),
    IN_ROUND(before_error, "share of wrong answers there, server's weights", "1"),
    IN_ROUND(after_loss, "the same, each client's own weights after its training", "loss"),
    IN_ROUND(after_error, "share of wrong answers, each client's own weights", "1"),
    IN_ROUND(train_loss, "mean over the local steps of clients that did not diverge",
             "loss"),
    IN_ROUND(clients, "averaged into the server's weights", "count"),
    IN_ROUND(diverged, "clients that diverged and were left out", "count"),
    IN_ROUND(dropped, "clients that were away, dropped out, came late or were not needed",
             "count"),
    IN_ROUND(samples, "local training samples seen", "count"),
    IN_ROUND(bytes, "sent up and down by all devices", "bytes"),
    IN_ROUND(seconds, "virtual time of the round", "s"),
    IN_ROUND(energy, "of all devices", "J"),
    IN_ROUND(entropy, "of the mixture after the round", "nat"),
    IN_ROUND(valid_loss,
             "of the server's weights on clients drawn for evaluation; nan: none", "loss"),
    IN_ROUND(valid_error, "share of wrong answers of the clients drawn for evaluation",
             "1"),
    IN_ROUND(wall, "real time: mean over the ranks of the team", "s"),
    IN_ROUND(compute, "of the real time, computing and reading", "s"),
    IN_ROUND(wait, "of the real time, waiting for slower ranks", "s"),
    IN_ROUND(comm, "of the real time, in collectives", "s"),
};

/* Rounds that the weights of each event had before it: those of the job that it went on
 * from, and before that one. Events are in the order of jobs. */
static int64_t *rounds_before(const weft_sched *s, weft_arena *mem)
{
    const int64_t most = s->n > 0 ? s->event[s->n - 1].job.id + 1 : 0;
    int64_t *after = WEFT_NEW(mem, int64_t, most), *before = WEFT_NEW(mem, int64_t, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        const weft_job_record *e = &s->event[i];
        before[i] = e->parent < 0 ? 0 : after[e->parent];
        after[e->job.id] = before[i] + e->nunit;
    }
    return before;
}

static weft_status put_rows(weft_h5 *f, const weft_sched *s, int64_t n)
{
    const int64_t *before = rounds_before(s, f->mem);
    round_row *row = WEFT_NEW(f->mem, round_row, n), *at = row;
    for (int64_t i = 0; i < s->n; i++) {
        const weft_job_record *e = &s->event[i];
        for (int64_t u = 0; u < e->nunit; u++)
            *at++ = (round_row){.job = e->job.id,
                                .trial = e->job.trial,
                                .unit = before[i] + u + 1,
                                .r = e->round[u]};
    }
    return weft_put_columns(f, "rounds", columns, WEFT_COUNT(columns), row, sizeof *row, n);
}

/* Jobs have mixtures of different sizes: rows are as long as the longest. */
static weft_status put_mix(weft_h5 *f, const weft_sched *s, int64_t n, int most)
{
    double *p = WEFT_NEW(f->mem, double, n *most), *at = p;
    int64_t *config = WEFT_NEW(f->mem, int64_t, s->n * most);
    for (int64_t i = 0; i < s->n; i++) {
        const weft_job_record *e = &s->event[i];
        const int k = e->job.mix.k;
        for (int a = 0; a < most; a++) config[i * most + a] = a < k ? e->job.mix.id[a] : -1;
        for (int64_t u = 0; u < e->nunit; u++)
            for (int a = 0; a < most; a++)
                *at++ = a < k ? exp(e->logp[u * k + a]) : (double)NAN;
    }
    const int64_t p_shape[2] = {n, most}, config_shape[2] = {s->n, most};
    TRY(weft_h5_put(f, "/mix/p", WEFT_H5_F64, 2, p_shape, p, 1,
                    "probability of each configuration after each round: one row a row of "
                    "/rounds, columns as in /mix/config[job]; nan where a job has fewer",
                    "1"));
    return weft_h5_put(f, "/mix/config", WEFT_H5_I64, 2, config_shape, config, 1,
                       "configurations of each job's mixture, by their index in the space "
                       "(/configs/id): one row a job; -1 where it has fewer",
                       "id");
}

weft_status weft_put_rounds(weft_h5 *f, const weft_sched *s)
{
    int64_t n = 0;
    int most = 0;
    for (int64_t i = 0; i < s->n; i++) {
        n += s->event[i].nunit;
        if (s->event[i].job.mix.k > most) most = s->event[i].job.mix.k;
    }
    if (n == 0) return WEFT_OK;
    TRY(put_rows(f, s, n));
    return most > 1 ? put_mix(f, s, n, most) : WEFT_OK;
}

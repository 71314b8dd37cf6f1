/* Trials that race in rungs; see race.h. The schedule is that of FedEx's released program
 * for rate^eliminations trials: Khodak et al., "Federated Hyperparameter Tuning:
 * Challenges, Baselines, and Connections to Weight-Sharing", NeurIPS 2021. Called by sha
 * and fedex. */
#include "race.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TRIALS = 1000000 };

enum { PUBLISHED = 3, BUDGET = 5 }; /* eliminations; total / most */

/* Eliminations that so many trials and `most` allow, no more than are published. */
static int count_eliminations(const weft_race *r, int64_t count)
{
    int e = 0;
    for (; e < PUBLISHED && e + 1 < r->most && count >= r->rate; count /= r->rate) e++;
    return e;
}

/* The budget where none is given, for rungs with so many trials besides the last ones. */
static int64_t usual_total(const weft_race *r, int64_t last, int64_t weight)
{
    const int64_t least = last * r->most + weight;
    const int64_t equal = last * r->most + weight * (r->most / (r->eliminations + 1));
    const int64_t usual = equal < BUDGET * r->most ? equal : BUDGET * r->most;
    return usual > least ? usual : least;
}

/* Trials of each rung. */
static weft_status count_survivors(weft_race *r, const char *tuner, int64_t count)
{
    int64_t n = count, needed = 1;
    for (int i = 0; i <= r->eliminations; i++, n /= r->rate) {
        r->survivor[i] = n;
        if (n > 0) continue;
        for (int e = 0; e < r->eliminations && needed < MOST_TRIALS; e++) needed *= r->rate;
        return weft_fail(
            WEFT_ECONF,
            "%s: %lld configurations do not survive %d eliminations at rate "
            "%d; expected at least %lld (space.configs), or fewer %s.eliminations",
            tuner, (long long)count, r->eliminations, r->rate, (long long)needed, tuner);
    }
    return WEFT_OK;
}

/* Resource of each rung, cumulated. */
static weft_status plan_rungs(weft_race *r, const char *tuner)
{
    const int e = r->eliminations;
    const int64_t last = r->survivor[e];
    int64_t weight = 0, at = 0;
    for (int i = 0; i < e; i++) weight += r->survivor[i] - last;
    if (r->total == 0) r->total = usual_total(r, last, weight);
    int64_t left = r->total - last * r->most;
    const int64_t each = weight > 0 ? left / weight : 0;
    if (left < weight)
        return weft_fail(WEFT_ECONF,
                         "%s.total = %lld is too little for %lld trials up to %s.most = "
                         "%lld; expected at least %lld, or another number of eliminations",
                         tuner, (long long)r->total, (long long)r->survivor[0], tuner,
                         (long long)r->most, (long long)(last * r->most + weight));
    left -= each * weight;
    for (int i = 0; i < e; i++) {
        const int64_t cost = r->survivor[i] - last, more = left / cost;
        left -= more * cost;
        at += each + more;
        r->until[i] = at;
    }
    r->until[e] = r->most;
    if (at < r->most) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s.total = %lld is more than %lld trials of %s.most = %lld can use "
                     "with %d eliminations; expected less, or more trials (space.configs)",
                     tuner, (long long)r->total, (long long)r->survivor[0], tuner,
                     (long long)r->most, e);
}

static void begin_rung(weft_race *r, int rung)
{
    r->rung = rung;
    r->next = 0;
    r->unasked = r->untold = (int)r->survivor[rung];
}

weft_status weft_race_setup(weft_race *r, const char *tuner, int64_t count, weft_arena *mem)
{
    if (r->eliminations < 0) r->eliminations = count_eliminations(r, count);
    if (r->eliminations == 0 && r->total == 0) r->total = BUDGET * r->most;
    if (r->eliminations == 0 && r->total / r->most < count) count = r->total / r->most;
    if (count < 1 || count > MOST_TRIALS)
        return weft_fail(WEFT_ECONF,
                         "%s: %lld trials; expected 1 to %d, by space.configs and, without "
                         "eliminations, %s.total / %s.most",
                         tuner, (long long)count, MOST_TRIALS, tuner, tuner);
    TRY(count_survivors(r, tuner, count));
    if (r->eliminations > 0)
        TRY(plan_rungs(r, tuner));
    else
        r->until[0] = r->most;
    if (r->every == 0) r->every = r->most;
    r->n = (int)count;
    begin_rung(r, 0);
    r->racer = WEFT_NEW(mem, weft_racer, r->n);
    return WEFT_OK;
}

weft_asked weft_race_ask(weft_race *r, weft_job *job)
{
    const int64_t until = r->until[r->rung];
    for (; r->next < r->n; r->next++) {
        weft_racer *c = &r->racer[r->next];
        if (c->out || c->open || c->done == until) continue;
        const int64_t more = until - c->done < r->every ? until - c->done : r->every;
        c->done += more;
        c->open = 1;
        if (c->done == until) r->unasked--;
        *job = (weft_job){.trial = r->next,
                          .from = -1,
                          .index = c->jobs++,
                          .resource = (double)more,
                          .feature_fraction = 1,
                          .last = c->done == r->most,
                          .eligibility = r->best ? WEFT_WINS_LOSS : WEFT_WINS_RESOURCE};
        return WEFT_JOB;
    }
    return r->rung == r->eliminations && r->unasked == 0 ? WEFT_DONE : WEFT_WAIT;
}

/* A trial that came to the end of a rung, to be sorted. */
typedef struct finisher {
    double loss;
    int trial;
} finisher;

static int by_loss(const void *left, const void *right)
{
    const finisher *a = left, *b = right;
    if (a->loss != b->loss) return a->loss < b->loss ? -1 : 1;
    return a->trial - b->trial;
}

static void eliminate(weft_race *r)
{
    weft_arena *tmp = weft_arena_new();
    finisher *order = WEFT_NEW(tmp, finisher, r->n);
    int n = 0;
    for (int i = 0; i < r->n; i++)
        if (!r->racer[i].out) order[n++] = (finisher){r->racer[i].loss, i};
    qsort(order, (size_t)n, sizeof *order, by_loss);
    for (int e = (int)r->survivor[r->rung + 1]; e < n; e++)
        r->racer[order[e].trial].out = 1;
    weft_arena_free(tmp);
    begin_rung(r, r->rung + 1);
}

void weft_race_tell(weft_race *r, const weft_result *res)
{
    weft_check(res->trial >= 0 && res->trial < r->n && r->racer[res->trial].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    const int i = (int)res->trial;
    weft_racer *c = &r->racer[i];
    c->open = 0;
    c->loss = isnan(res->loss) ? INFINITY : res->loss;
    if (c->done < r->until[r->rung]) {
        if (i < r->next) r->next = i;
        return;
    }
    r->untold--;
    if (r->untold == 0 && r->rung < r->eliminations) eliminate(r);
}

int weft_race_ended(const weft_race *r, int64_t trial)
{
    return r->racer[trial].out;
}

int64_t weft_race_jobs(const weft_race *r)
{
    int64_t n = 0, from = 0;
    for (int i = 0; i <= r->eliminations; from = r->until[i++])
        n += r->survivor[i] * ((r->until[i] - from + r->every - 1) / r->every);
    return n;
}

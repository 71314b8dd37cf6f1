/* The weights of a winner for other data, whose words and clients may be others, and trials
 * that begin with the weights of another run (run.start). The file is the run file of that
 * run or its exported winner; classes, columns and words are told by name. */
#include "run.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"

#include <string.h>

weft_state weft_run_state(const weft_run *run)
{
    weft_state size = {0};
    run->task->nstate(run->task_self, NULL, &size);
    return size;
}

weft_word_weights weft_word_weights_of(const weft_run *run, const weft_job *job)
{
    weft_word_weights weights = {0};
    if (run->task->winner.words) run->task->winner.words(run->task_self, job, &weights);
    return weights;
}

/* The weights of every network but those of words, and those of the words that the winner
 * has, place[n] by the words of the data; the other rows of `to` stay. */
static void place_words(const weft_winner *winner, const weft_word_weights *weights,
                        const int64_t *place, real *to)
{
    int64_t at = weights->table.at, d = weights->table.d, n = weights->vocab->n;
    const real *from = winner->state;
    for (int i = 0; i < weights->networks; i++) {
        memcpy(to, from, (size_t)(at + d) * sizeof *to); /* with the row of no word */
        from += at + d;
        to += at + d;
        for (int64_t k = 0; k < n; k++)
            if (place[k] >= 0)
                memcpy(to + k * d, from + place[k] * d, (size_t)d * sizeof *to);
        from += winner->vocab.n * d;
        to += n * d;
    }
}

static weft_unknown count_unknown(const weft_vocab *vocab, const int64_t *place)
{
    weft_unknown unknown = {.all_words = vocab->n};
    for (int64_t i = 0; i < vocab->n; i++) {
        unknown.words += place[i] < 0;
        unknown.tokens += place[i] < 0 ? vocab->count[i] : 0;
        unknown.all_tokens += vocab->count[i];
    }
    return unknown;
}

/* 1 if each word has the same number in the winner's vocabulary. */
static int are_same(const weft_vocab *vocab, const weft_vocab *winners,
                    const int64_t *place)
{
    int same = vocab->n == winners->n;
    for (int64_t i = 0; same && i < vocab->n; i++) same = place[i] == i;
    return same;
}

/* ---- clients ---- */

weft_status weft_member_names(const weft_run *run, int64_t *n, const char ***name)
{
    const weft_clients *clients = run->data.clients ? run->data.clients : run->data.owners;
    *n = clients ? clients->n : 0;
    *name = NULL;
    if (!clients || !clients->named) return WEFT_OK;
    *name = WEFT_NEW(run->mem, const char *, *n);
    for (int64_t c = 0; c < *n; c++)
        TRY(weft_client_name(clients, c, &(*name)[c], run->mem));
    return WEFT_OK;
}

static int keep_alike(const weft_run *run, const weft_winner *winner)
{
    return weft_run_state(run).each == (winner->rows ? winner->rows->each : 0);
}

enum { OTHERS, PLACED, BY_NUMBER };

/* Gives clients of the data the rows of those of the winner that have their names, or their
 * numbers where not both have names; others are as before a first turn. */
static weft_status place_rows(const weft_run *run, const weft_winner *winner,
                              const weft_state *state, int *placed)
{
    int64_t n;
    const char **name;
    weft_stored *rows = winner->rows;
    *placed = !rows && !state->kept ? PLACED : OTHERS;
    if (!rows || !state->kept || rows->each != state->each) return WEFT_OK;
    TRY(weft_member_names(run, &n, &name));
    int named = name && winner->member && winner->nmember == rows->n;
    if (!named && n != rows->n) return WEFT_OK;
    *placed = named ? PLACED : BY_NUMBER;
    int64_t *client = NULL;
    if (named) {
        weft_names own = {.mem = run->mem};
        for (int64_t c = 0; c < n; c++) weft_names_find(&own, name[c]);
        client = WEFT_NEW(run->mem, int64_t, rows->m);
        for (int64_t i = 0; i < rows->m; i++)
            client[i] = weft_names_index(&own, winner->member[rows->client[i]]);
    }
    weft_stored_give(rows, client, state->kept);
    return WEFT_OK;
}

/* Where clients are told by their numbers alone, the data should be those of the winner. */
static void warn_of_numbers(const weft_run *run, const weft_winner *winner,
                            const char *path)
{
    if (strcmp(winner->origin[WEFT_ORIGIN_DATA_DIGEST], run->data.digest) == 0) return;
    weft_log(WEFT_WARN,
             "clients are told by their numbers alone: those of %s, which is other data, "
             "begin with what the clients of %s keep",
             run->data.path, path);
}

/* ---- tensors with a row for each client ---- */

static weft_status refuse(const weft_run *run, const char *path, int64_t n, int64_t need)
{
    return weft_fail(WEFT_EDATA,
                     "the winner of %s has %lld weights and statistics, %s needs %lld; "
                     "columns or classes of the two data sets differ, or the clients, or "
                     "the words of which these keep numbers",
                     path, (long long)n, run->data.path, (long long)need);
}

int weft_has_clients(const weft_run *run, const weft_job *job, char by[WEFT_MAX_TENSORS])
{
    int any = 0;
    memset(by, 0, WEFT_MAX_TENSORS);
    if (run->task->winner.by_client) run->task->winner.by_client(run->task_self, job, by);
    for (int i = 0; i < WEFT_MAX_TENSORS; i++) any |= by[i];
    return any;
}

/* The winner's clients, of which those of the data take the rows. */
struct places {
    int64_t rows, n; /* clients of the winner, of the data */
    int64_t *of;     /* [n] -1: the winner lacks it */
    int64_t lacks;
};

/* Clients are found by their names, or by their numbers where not both have names. */
static weft_status find_clients(const weft_run *run, const weft_winner *winner,
                                const char *path, struct places *places)
{
    const char **name;
    weft_names known = {.mem = run->mem};
    TRY(weft_member_names(run, &places->n, &name));
    int named = name && winner->member && winner->nmember == places->rows;
    if (!named && places->n != places->rows)
        return weft_fail(WEFT_EDATA,
                         "the winner of %s has weights of %lld clients, told by their "
                         "numbers alone, and %s has %lld; take data with as many, or name "
                         "clients in both",
                         path, (long long)places->rows, run->data.path,
                         (long long)places->n);
    if (!named) warn_of_numbers(run, winner, path);
    places->of = WEFT_NEW(run->mem, int64_t, places->n);
    for (int64_t c = 0; named && c < places->rows; c++)
        weft_names_find(&known, winner->member[c]);
    for (int64_t c = 0; c < places->n; c++) {
        places->of[c] = named ? weft_names_index(&known, name[c]) : c;
        places->lacks += places->of[c] < 0;
    }
    if (places->lacks > 0)
        weft_log(places->lacks == places->n ? WEFT_WARN : WEFT_INFO,
                 "%lld of %lld clients are unknown to %s and have the mean of what its "
                 "clients have",
                 (long long)places->lacks, (long long)places->n, path);
    return WEFT_OK;
}

/* y[places->n][n] from x[places->rows][n]. */
static void place_clients(const struct places *places, int64_t n, const real *x, real *y)
{
    WEFT_SCRATCH(tmp);
    double *sum = WEFT_NEW(tmp, double, n);
    for (int64_t c = 0; c < places->rows && places->lacks > 0; c++)
        for (int64_t i = 0; i < n; i++) sum[i] += (double)x[c * n + i];
    for (int64_t c = 0; c < places->n; c++) {
        if (places->of[c] >= 0)
            memcpy(y + c * n, x + places->of[c] * n, (size_t)n * sizeof *y);
        else
            for (int64_t i = 0; i < n; i++)
                y[c * n + i] = (real)(sum[i] / (double)places->rows);
    }
}

/* The winner's tensors; by[..] 1 at those with a row for each client. */
static weft_status place_by_client(const weft_run *run, const weft_winner *winner,
                                   const char *path, const weft_job *job, const char *by,
                                   weft_state *state)
{
    weft_tensor own[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(run->task, run->task_self, job, own);
    int same = n == winner->ntensor;
    struct places found = {0};
    for (int i = 0; i < n && same; i++) {
        const weft_tensor *from = &winner->tensor[i];
        int64_t rows = by[i] ? from->dims[0] : 1, to = by[i] ? own[i].dims[0] : 1;
        if (by[i]) found.rows = rows;
        same = weft_tensors_size(1, from) * to == weft_tensors_size(1, &own[i]) * rows;
    }
    if (!same)
        return weft_fail(WEFT_EDATA,
                         "the winner of %s has other weights by client than the network "
                         "here; choose the same network, context.form, size and tensors",
                         path);
    TRY(find_clients(run, winner, path, &found));
    for (int i = 0; i < n; i++) {
        const real *x = winner->state + winner->tensor[i].at;
        int64_t size = weft_tensors_size(1, &own[i]);
        if (by[i])
            place_clients(&found, size / own[i].dims[0], x, state->x + own[i].at);
        else
            memcpy(state->x + own[i].at, x, (size_t)size * sizeof *x);
    }
    return WEFT_OK;
}

/* ---- what the winner does not know ---- */

/* Dimensions of a tensor, of four; n numbers in each. */
static void dims_of(const weft_tensor *tensor, int64_t dims[4])
{
    for (int k = 0; k < 4; k++) dims[k] = k < tensor->nd ? tensor->dims[k] : 1;
}

/* Puts x into the first rows of each dimension of y. */
static void place_first(const weft_tensor *from, const real *x, const weft_tensor *to,
                        real *y)
{
    int64_t a[4], b[4];
    dims_of(from, a);
    dims_of(to, b);
    for (int64_t i = 0; i < a[0]; i++)
        for (int64_t j = 0; j < a[1]; j++)
            for (int64_t k = 0; k < a[2]; k++)
                memcpy(y + ((i * b[1] + j) * b[2] + k) * b[3],
                       x + ((i * a[1] + j) * a[2] + k) * a[3], (size_t)a[3] * sizeof *x);
}

static int are_equal(int n, const weft_tensor *a, const weft_tensor *b)
{
    int same = 1;
    for (int i = 0; i < n && same; i++) {
        int64_t x[4], y[4];
        dims_of(&a[i], x);
        dims_of(&b[i], y);
        same = memcmp(x, y, sizeof x) == 0;
    }
    return same;
}

/* The state that training begins with, and in it the winner's tensors. */
static weft_status place_known(const weft_run *run, const weft_winner *winner,
                               const char *path, const weft_job *job, int n,
                               const weft_tensor *known, weft_state *state)
{
    weft_tensor own[WEFT_MAX_TENSORS];
    weft_task_tensors(run->task, run->task_self, job, own);
    if (n != winner->ntensor || !are_equal(n, known, winner->tensor))
        return weft_fail(WEFT_EDATA,
                         "the winner of %s has tensors of other sizes than the network "
                         "here; choose the same network",
                         path);
    run->task->start(run->task_self, job, state);
    for (int i = 0; i < n; i++)
        place_first(&known[i], winner->state + winner->tensor[i].at, &own[i],
                    state->x + own[i].at);
    return WEFT_OK;
}

/* ---- the winner ---- */

/* Weights that refer to words take those of the same words. */
static weft_status place_by_word(const weft_run *run, const weft_winner *winner,
                                 const char *path, const weft_job *job,
                                 const weft_word_weights *weights, weft_state *state,
                                 weft_unknown *unknown)
{
    int64_t n = weft_tensors_size(winner->ntensor, winner->tensor);
    WEFT_REWIND(run->mem);
    const int64_t *place = weft_vocab_places(weights->vocab, &winner->vocab, run->mem);
    int64_t networks =
        weights->networks * (weights->table.at + weights->table.d * (winner->vocab.n + 1));
    if (are_same(weights->vocab, &winner->vocab, place)) {
        memcpy(state->x, winner->state, (size_t)n * sizeof *state->x);
    } else if (n > networks || winner->rows) { /* numbers of words, maybe, elsewhere */
        return refuse(run, path, n, n);
    } else {
        if (run->task->start) run->task->start(run->task_self, job, state);
        place_words(winner, weights, place, state->x);
    }
    *unknown = count_unknown(weights->vocab, place);
    return WEFT_OK;
}

weft_status weft_winner_state(const weft_run *run, const weft_winner *winner,
                              const char *path, const weft_job *job, weft_state *state,
                              weft_unknown *unknown)
{
    weft_tensor own[WEFT_MAX_TENSORS];
    weft_word_weights weights = weft_word_weights_of(run, job);
    int64_t n = weft_tensors_size(winner->ntensor, winner->tensor);
    int nown = weft_task_tensors(run->task, run->task_self, job, own), placed;
    int64_t need = weft_tensors_size(nown, own);
    *unknown = (weft_unknown){0};
    *state = weft_state_new(run->task, run->task_self, job, run->mem);
    if (run->task->winner.known) {
        weft_tensor known[WEFT_MAX_TENSORS];
        int nknown = run->task->winner.known(run->task_self, job, known);
        if (nknown > 0) return place_known(run, winner, path, job, nknown, known, state);
    }
    char by[WEFT_MAX_TENSORS];
    if (weft_has_clients(run, job, by))
        return place_by_client(run, winner, path, job, by, state);
    TRY(place_rows(run, winner, state, &placed));
    if (placed == OTHERS) {
        int64_t all = winner->rows ? winner->rows->n * winner->rows->each : 0;
        return refuse(run, path, n + all, need + state->members * state->each);
    }
    if (weights.vocab)
        need += weights.networks * weights.table.d * (winner->vocab.n - weights.vocab->n);
    if (n != need) return refuse(run, path, n, need);
    if (placed == BY_NUMBER) warn_of_numbers(run, winner, path);
    if (!weights.vocab) {
        memcpy(state->x, winner->state, (size_t)n * sizeof *state->x);
        return WEFT_OK;
    }
    return place_by_word(run, winner, path, job, &weights, state, unknown);
}

/* ---- run.start ---- */

int weft_run_starts(const weft_run *run)
{
    return *run->opts.start && !run->on.like;
}

weft_status weft_run_start_read(weft_run *run)
{
    if (!weft_run_starts(run)) return WEFT_OK;
    if (!run->task->start || !run->task->winner.tensors)
        return weft_fail(WEFT_ECONF,
                         "run.start = %s: task %s trains no weights that are given to it; "
                         "take it out",
                         run->opts.start, run->task->kind.name);
    for (int i = 0; i < run->space.dim; i++)
        if (run->space.axis[i].opt->role == WEFT_SHAPE)
            return weft_fail(WEFT_ECONF,
                             "run.start = %s: %s.%s is a range that changes the number of "
                             "weights; give it one value",
                             run->opts.start, run->space.axis[i].section,
                             run->space.axis[i].opt->name);
    TRY(weft_winner_read(&run->start, run->opts.start, run->mem));
    run->start.like.more = 1;
    return WEFT_OK;
}

weft_status weft_run_start_from(weft_run *run)
{
    if (!weft_run_starts(run)) return WEFT_OK;
    weft_mix mix = weft_mix_new(1, run->space.dim, run->mem);
    weft_job job = weft_job_new(0, 1, &mix); /* of a trial of the first configuration */
    weft_tensor own[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(run->task, run->task_self, &job, own), same = 1;
    const weft_winner *start = &run->start;
    for (int i = 0; i < n && n == start->ntensor; i++)
        same &= strcmp(own[i].name, start->tensor[i].name) == 0;
    weft_state state;
    weft_unknown unknown;
    if (n != start->ntensor || !same || !keep_alike(run, start))
        return weft_fail(WEFT_EDATA,
                         "the winner of run.start = %s has other tensors than the network "
                         "here; choose the same network",
                         run->opts.start);
    TRY(weft_winner_state(run, start, run->opts.start, &job, &state, &unknown));
    run->given = (weft_given){state.x, weft_tensors_size(n, own), state.kept};
    if (unknown.words > 0)
        weft_log(WEFT_INFO,
                 "%lld of %lld words are unknown to run.start = %s and begin as in other "
                 "runs",
                 (long long)unknown.words, (long long)unknown.all_words, run->opts.start);
    return WEFT_OK;
}

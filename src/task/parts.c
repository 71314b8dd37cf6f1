/* What tasks share: states of trials, made, copied, broadcast and hashed; when a unit is
 * left; documents and intervals. */
#include "parts.h"
#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/math/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRACE 5.0 /* seconds in which a unit may still end */

/* ---- states ---- */

static size_t bytes_of_x(const weft_state *state)
{
    return (size_t)state->nx * sizeof *state->x;
}

int weft_task_tensors(const weft_task *task, const void *self, const weft_job *job,
                      weft_tensor out[WEFT_MAX_TENSORS])
{
    return task->winner.tensors ? task->winner.tensors(self, job, out) : 0;
}

weft_state weft_state_new(const weft_task *task, const void *self, const weft_job *job,
                          weft_arena *mem)
{
    weft_state state = {0};
    task->nstate(self, job, &state);
    state.x = WEFT_NEW(mem, real, state.nx);
    state.aux = WEFT_NEW(mem, double, state.naux);
    if (state.each > 0) state.kept = weft_kept_new(state.members, state.each, mem);
    return state;
}

weft_status weft_state_copy(weft_state *to, const weft_state *from)
{
    weft_check(to->nx == from->nx, "a state of %lld weights for a job of %lld",
               (long long)from->nx, (long long)to->nx);
    int64_t n = to->naux < from->naux ? to->naux : from->naux;
    if (to->nx > 0) memcpy(to->x, from->x, bytes_of_x(to));
    if (n > 0) memcpy(to->aux, from->aux, (size_t)n * sizeof *to->aux);
    return to->kept && from->kept ? weft_kept_copy(to->kept, from->kept) : WEFT_OK;
}

double weft_state_bytes(const weft_state *state)
{
    return (double)state->nx * sizeof(real) + (double)state->naux * sizeof(double);
}

double weft_state_kept_bytes(const weft_state *state)
{
    return state->each > 0 ? weft_kept_bytes(state->members, state->each) : 0;
}

void weft_state_bcast(weft_team *team, weft_state *state)
{
    weft_bcast(team, state->x, bytes_of_x(state), 0);
    weft_bcast(team, state->aux, (size_t)state->naux * sizeof *state->aux, 0);
}

uint64_t weft_state_hash(const weft_state *state)
{
    return weft_hash(state->aux, (size_t)state->naux * sizeof *state->aux,
                     weft_hash(state->x, bytes_of_x(state), 0));
}

/* ---- jobs ---- */

int halt_is_asked(const weft_env *env)
{
    return (env->stopped && env->stopped()) ||
           (env->deadline > 0 && weft_now() >= env->deadline);
}

int halt_is_due(const weft_env *env, double *asked)
{
    if (!halt_is_asked(env)) return 0;
    double now = weft_now();
    if (!(*asked > 0)) *asked = now;
    return now - *asked >= GRACE;
}

void weft_result_single(weft_result *res, double loss, double wrong, double cost)
{
    res->loss = res->arm_loss[0] = loss;
    res->arm_wrong[0] = wrong;
    res->arm_count[0] = 1;
    res->cost = cost;
}

void weft_scores_judge(const weft_predictions *said, const weft_truth *truth, int first,
                       weft_scores *out, weft_arena *mem)
{
    weft_quality quality = weft_quality_of(said, truth, mem);
    weft_quality_put(&quality, out->metric + first);
    out->confusion = quality.confusion;
    out->fit = quality.fit;
}

/* ---- documents ---- */

weft_status weft_word_shape(const weft_word_keys *keys, weft_data *data, int64_t longest,
                            const weft_env *env, weft_shape *shape)
{
    weft_vectors own;
    TRY(weft_data_words(data, (weft_tokenizer)keys->tokenizer));
    const weft_vocab *vocab = &data->vocab[keys->tokenizer];
    if (vocab->n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: no document has a word by tokenizer = %s; choose another, or "
                         "check the texts",
                         data->path, weft_tok_name[keys->tokenizer]);
    TRY(weft_vectors_read(vocab, keys->vectors, keys->dim, env->seed, &own, env->mem));
    if (*keys->vectors && env->team->rank == 0)
        weft_log(own.found > 0 ? WEFT_INFO : WEFT_WARN, "%s has %lld of %lld words%s",
                 keys->vectors, (long long)own.found, (long long)vocab->n,
                 own.found > 0 ? ""
                               : ": all vectors are drawn at random; are its words those "
                                 "of this language and tokenizer?");
    if (env->data->longest == 0) env->data->longest = longest;
    shape->form = WEFT_TOKENS;
    shape->d = longest;
    shape->words = vocab->n;
    shape->vector = own.d;
    shape->vectors = own.value;
    return WEFT_OK;
}

weft_status weft_word_unused(const weft_word_keys *keys, const char *section,
                             const char *path)
{
    const char *key = *keys->vectors ? "vectors" : "tokenizer";
    if (!*keys->vectors && keys->tokenizer == WEFT_TOK_SPLIT)
        return WEFT_OK; /* the default */
    return weft_fail(WEFT_ECONF,
                     "%s.%s = %s, but %s has no documents; take it out, or pack them "
                     "by `weft pack folder` or `text`",
                     section, key,
                     *keys->vectors ? keys->vectors : weft_tok_name[keys->tokenizer], path);
}

static int longer_first(const void *a, const void *b)
{
    const weft_length *x = a, *y = b;
    if (x->words != y->words) return x->words > y->words ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void weft_lengths_sort(int64_t n, weft_length *length)
{
    if (n > 0) qsort(length, (size_t)n, sizeof *length, longer_first);
}

weft_shape weft_clients_shape(const weft_data *data, const weft_clients *clients, int every)
{
    int chars = data->form == WEFT_CHARS;
    return (weft_shape){.form = chars ? WEFT_CHARS : WEFT_REALS,
                        .d = clients->d,
                        .channels = clients->channels,
                        .height = clients->height,
                        .width = clients->width,
                        .classes = chars ? clients->symbols : data->classes,
                        .every = chars && every};
}

weft_seats weft_seats_new(int64_t words, int64_t most, weft_arena *mem)
{
    weft_seats seats = {.place = WEFT_NEW(mem, int32_t, words),
                        .word = WEFT_NEW(mem, uint32_t, most)};
    for (int64_t i = 0; i < words; i++) seats.place[i] = -1;
    return seats;
}

void weft_seats_add(weft_seats *seats, int64_t n, const uint32_t *word)
{
    for (int64_t i = 0; i < n; i++) {
        if (seats->place[word[i]] >= 0) continue;
        seats->place[word[i]] = seats->n;
        seats->word[seats->n++] = word[i];
    }
}

void weft_seats_clear(weft_seats *seats)
{
    for (int i = 0; i < seats->n; i++) seats->place[seats->word[i]] = -1;
    seats->n = 0;
}

/* ---- scores of clients ---- */

weft_interval weft_interval_of(int drawn, double x, double q, double score, double around,
                               weft_population all)
{
    weft_interval interval = {score, INFINITY};
    if (drawn == 0) return interval;
    double drop = 1 / x - 1 / all.sum;
    double share = drop * drop * q + (all.square - q) / (all.sum * all.sum);
    if (!(share > 0)) interval.half = 0;
    if (!(share > 0) || drawn < 2) return interval;
    double spread = sqrt(around / (x - q / x));
    interval.half = weft_student(drawn - 1) * spread * sqrt(share);
    return interval;
}

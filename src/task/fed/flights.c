/* The clients in flight of asynchronous rounds. Who starts when, and when each ends, is a
 * function of the seed, of configurations that were drawn and of devices, so that every
 * rank computes it without communication. Ends are in virtual seconds since the last step.
 */
#include "buffer.h"
#include "weft/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the queue ---- */

/* An update, or a client that was late. */
struct landed {
    fed_flight flight;
    const double *conf;
};

struct fed_queue {
    const fed_task *fed;
    const weft_mix *mix;
    int64_t trial, step;
    weft_arena *mem;
    fed_flight *flight; /* [concurrency] */
    double *conf;       /* [concurrency][dim] */
    weft_heap busy;     /* numbers of those in flight, the first to end first */
    int64_t *spare;     /* [concurrency - busy.n] the others */
    int64_t *out;       /* [nout] places of clients that cannot start, ascending */
    int64_t nout, room;
    int64_t started;       /* at this step */
    struct landed *landed; /* [nlanded] */
    int64_t nlanded, roomlanded;
    int64_t arrived;  /* updates among them */
    weft_closing end; /* so far; end.seconds is the clock */
};

static int ends_before(const void *left, const void *right, const void *flight)
{
    const fed_flight *a = (const fed_flight *)flight + *(const int64_t *)left,
                     *b = (const fed_flight *)flight + *(const int64_t *)right;
    if (a->end < b->end || a->end > b->end) return a->end < b->end;
    return a->client < b->client;
}

/* The place of a client among those that are trained. */
static int64_t place_of(const fed_group *group, int64_t client)
{
    if (!group->client) return client;
    const int64_t *at =
        bsearch(&client, group->client, (size_t)group->n, sizeof client, weft_rising_i64);
    weft_check(at != NULL, "client %lld is in flight, and not trained", (long long)client);
    return at - group->client;
}

/* The place of the q-th of those that can start. */
static int64_t startable(const fed_queue *queue, int64_t q)
{
    int64_t low = 0, high = queue->nout;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (queue->out[middle] - middle <= q)
            low = middle + 1;
        else
            high = middle;
    }
    return q + low;
}

/* These m places cannot start any more; sorts them. */
static void take_out(fed_queue *queue, int64_t m, int64_t *place)
{
    weft_sort_i64(m, place);
    WEFT_GROW(queue->mem, queue->out, queue->nout + m, &queue->room);
    int64_t *out = queue->out, i = queue->nout, j = m;
    for (int64_t end = i + j; j > 0; end--)
        out[end - 1] = i > 0 && out[i - 1] > place[j - 1] ? out[--i] : place[--j];
    queue->nout += m;
}

static fed_queue *queue_new(const fed_task *fed, int64_t trial, const weft_mix *mix,
                            int64_t step, const double *state, weft_arena *mem)
{
    int64_t n = fed->modes.buffer->concurrency, dim = fed->env.space->dim;
    fed_queue *queue = WEFT_NEW(mem, fed_queue, 1);
    *queue = (fed_queue){.fed = fed, .mix = mix, .trial = trial, .step = step, .mem = mem};
    queue->flight = WEFT_NEW(mem, fed_flight, n);
    queue->conf = WEFT_NEW(mem, double, n *dim);
    queue->busy =
        (weft_heap){.size = sizeof(int64_t), .before = ends_before, .of = queue->flight};
    queue->spare = WEFT_NEW(mem, int64_t, n);
    memcpy(queue->flight, state, (size_t)n * sizeof *queue->flight);
    memcpy(queue->conf, state + n * FED_FLIGHT, (size_t)(n * dim) * sizeof *queue->conf);
    int64_t *place = WEFT_NEW(mem, int64_t, n);
    for (int64_t i = 0; i < n; i++) {
        if (!(queue->flight[i].status > 0)) {
            queue->spare[i - queue->busy.n] = i;
            continue;
        }
        place[queue->busy.n] = place_of(&fed->old, (int64_t)queue->flight[i].client);
        weft_heap_push(&queue->busy, &i, queue->mem);
    }
    take_out(queue, queue->busy.n, place);
    return queue;
}

/* ---- starts ---- */

/* The turn that a client begins now. */
static void start(fed_queue *queue, int64_t number, fed_client *client)
{
    const fed_task *fed = queue->fed;
    int64_t n = fed->modes.buffer->concurrency, i = queue->spare[n - queue->busy.n - 1];
    fed_flight *one = &queue->flight[i];
    int pick[WEFT_MAX_BLOCKS] = {0};
    fed_cohort of = {
        .trial = queue->trial, .mix = *queue->mix, .turn.round = (uint64_t)queue->step};
    client->client = number;
    client->conf = queue->conf + i * fed->env.space->dim;
    fed_draw_configuration(fed, &of, (uint64_t)queue->started, pick, client);
    fed_size(fed, &(fed_turn){.part = WEFT_VALID}, client);
    weft_work work = fed_work_of(fed, client);
    weft_turn turn = weft_device_turn(&fed->device, number, queue->step, &work);
    double deadline = fed->device.deadline;
    if (deadline > 0 && turn.seconds > deadline) {
        double share = deadline / turn.seconds;
        if (turn.status == WEFT_AVERAGED) turn.status = WEFT_LATE;
        turn = (weft_turn){turn.status, deadline, share * turn.energy, share * turn.bytes};
    }
    *one = (fed_flight){.status = 1 + (double)turn.status,
                        .client = (double)number,
                        .version = (double)queue->step,
                        .place = (double)queue->started++,
                        .end = queue->end.seconds + turn.seconds,
                        .energy = turn.energy,
                        .bytes = turn.bytes};
    for (int b = 0; b < queue->mix->nblock; b++) one->pick[b] = pick[b];
    weft_heap_push(&queue->busy, &i, queue->mem);
}

/* The number of a draw in the keys of fed_draw: the first of a step is that of the round.
 */
static uint64_t key_of(const fed_queue *queue)
{
    uint64_t step = (uint64_t)queue->step, started = (uint64_t)queue->started;
    return started == 0 ? step : (uint64_t)1 << 62 | started << 40 | step;
}

/* Starts clients in all free places, as far as there are clients. */
static void start_all(fed_queue *queue)
{
    const fed_task *fed = queue->fed;
    const fed_group *group = &fed->old;
    int64_t free = fed->modes.buffer->concurrency - queue->busy.n,
            left = group->n - queue->nout, m = free < left ? free : left;
    if (m <= 0) return;
    int64_t *place = WEFT_NEW(queue->mem, int64_t, m);
    int64_t *number = WEFT_NEW(queue->mem, int64_t, m);
    fed_client client = {.special =
                             weft_arena_alloc(queue->mem, 1, fed->algorithm->kind.size)};
    fed_draw(fed, &(fed_group){.n = left}, key_of(queue), m, 0, place, queue->mem);
    for (int64_t i = 0; i < m; i++) {
        place[i] = startable(queue, place[i]);
        number[i] = group->client ? group->client[place[i]] : place[i];
    }
    weft_client_fetch(fed->clients, m, number);
    for (int64_t i = 0; i < m; i++) start(queue, number[i], &client);
    take_out(queue, m, place);
}

/* ---- ends ---- */

/* The next client in flight ends its turn. */
static void land(fed_queue *queue)
{
    int64_t i, dim = queue->fed->env.space->dim;
    weft_heap_take(&queue->busy, 0, &i);
    const fed_buffer *buffer = queue->fed->modes.buffer;
    fed_flight *one = &queue->flight[i];
    weft_closing *end = &queue->end;
    weft_turn_status status = (weft_turn_status)((int)one->status - 1);
    int old =
        status == WEFT_AVERAGED && queue->step - (int64_t)one->version > buffer->oldest;
    end->seconds = one->end;
    end->energy += one->energy;
    end->bytes += one->bytes;
    end->away += status == WEFT_AWAY;
    end->dropped += status == WEFT_DROPPED;
    end->late += status == WEFT_LATE;
    end->surplus += old;
    if (status == WEFT_LATE || (status == WEFT_AVERAGED && !old)) {
        double *conf = WEFT_NEW(queue->mem, double, dim);
        memcpy(conf, queue->conf + i * dim, (size_t)dim * sizeof *conf);
        WEFT_GROW(queue->mem, queue->landed, queue->nlanded, &queue->roomlanded);
        queue->landed[queue->nlanded++] = (struct landed){*one, conf};
        queue->arrived += status == WEFT_AVERAGED;
    }
    *one = (fed_flight){0};
    queue->spare[buffer->concurrency - queue->busy.n - 1] = i;
}

/* Goes on until a step has its updates, or nobody is left to wait for. */
static void advance(fed_queue *queue)
{
    int64_t size = queue->fed->modes.buffer->size;
    while (queue->arrived < size) {
        double now = queue->end.seconds;
        const int64_t *first = queue->busy.at;
        if (queue->busy.n == 0 || queue->flight[*first].end > now) start_all(queue);
        if (queue->busy.n == 0) break;
        land(queue);
    }
}

/* The state of the queue after its step: ends are from then on. */
static void put_state(const fed_queue *queue, double *state)
{
    int64_t n = queue->fed->modes.buffer->concurrency, dim = queue->fed->env.space->dim;
    for (int64_t i = 0; i < n; i++)
        if (queue->flight[i].status > 0) queue->flight[i].end -= queue->end.seconds;
    memcpy(state, queue->flight, (size_t)n * sizeof *queue->flight);
    memcpy(state + n * FED_FLIGHT, queue->conf, (size_t)(n * dim) * sizeof *queue->conf);
}

fed_queue *fed_buffer_advance(const fed_task *fed, const fed_trial_state *trial,
                              const weft_mix *mix, weft_arena *tmp)
{
    fed_queue *queue = queue_new(fed, (int64_t)trial->head->trial, mix,
                                 (int64_t)trial->head->round, trial->flights, tmp);
    advance(queue);
    return queue;
}

weft_closing fed_buffer_end(const fed_queue *queue)
{
    return queue->end;
}

/* ---- the cohort ---- */

/* Updates first, each in the order of their starts. */
static int by_start(const void *left, const void *right)
{
    const fed_flight *a = &((const struct landed *)left)->flight,
                     *b = &((const struct landed *)right)->flight;
    if (a->status < b->status || a->status > b->status)
        return a->status < b->status ? -1 : 1;
    if (a->version < b->version || a->version > b->version)
        return a->version < b->version ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* The entries that were drawn, into pick[nblock]; -1: the mixture has them no more.
 * conf[dim]: scratch. */
static void find_entries(const weft_mix *mix, const struct landed *landed, double *conf,
                         int *pick)
{
    int found = 1;
    for (int b = 0; b < mix->nblock; b++) {
        pick[b] = (int)landed->flight.pick[b];
        found &= pick[b] >= weft_mix_off(mix, b) && pick[b] < weft_mix_off(mix, b + 1) &&
                 mix->logp[pick[b]] > -INFINITY;
        if (!found) break;
    }
    if (found) weft_mix_compose(mix, pick, conf);
    if (found && memcmp(conf, landed->conf, (size_t)mix->dim * sizeof *conf) == 0) return;
    for (int b = 0; b < mix->nblock; b++) pick[b] = -1;
}

fed_cohort fed_buffer_cohort(fed_queue *queue, const fed_turn *turn, weft_arena *tmp)
{
    const fed_task *fed = queue->fed;
    const weft_mix *mix = queue->mix;
    fed_cohort cohort = fed_cohort_new(fed, turn, queue->trial, mix, queue->nlanded, tmp);
    if (queue->nlanded > 0)
        qsort(queue->landed, (size_t)queue->nlanded, sizeof *queue->landed, by_start);
    for (int64_t j = 0; j < queue->nlanded; j++) {
        const struct landed *landed = &queue->landed[j];
        fed_client *client = &cohort.client[j];
        int late = j >= queue->arrived;
        *client = (fed_client){.client = (int64_t)landed->flight.client,
                               .begun = (int64_t)landed->flight.version,
                               .lost = late,
                               .late = late,
                               .special = client->special,
                               .conf = client->conf};
        client->aged = fed_buffer_factor(fed->modes.buffer,
                                         (double)queue->step - landed->flight.version);
        find_entries(mix, landed, client->conf, cohort.pick + j * mix->nblock);
        memcpy(client->conf, landed->conf, (size_t)mix->dim * sizeof *client->conf);
        fed_configure(fed, client);
        fed_size(fed, turn, client);
    }
    cohort.n = queue->arrived;
    return cohort;
}

void fed_buffer_charge(const fed_queue *queue, fed_cohort *cohort)
{
    cohort->n = queue->nlanded;
}

/* ---- versions ---- */

/* The steps, plus 1, of the versions that are kept; 0: none. */
static double *versions_of(const fed_task *fed, const fed_trial_state *trial)
{
    return trial->flights + fed_buffer_doubles(fed) - fed->modes.buffer->versions;
}

static real *version_at(const fed_task *fed, const fed_trial_state *trial, int64_t i)
{
    return trial->x + fed->modes.buffer->at + i * fed->at.live;
}

const real *fed_buffer_from(const fed_task *fed, const fed_trial_state *trial,
                            const fed_client *client)
{
    const double *kept = versions_of(fed, trial);
    if (client->begun == (int64_t)trial->head->round) return trial->x;
    for (int64_t i = 0; i < fed->modes.buffer->versions; i++)
        if ((int64_t)kept[i] == client->begun + 1) return version_at(fed, trial, i);
    weft_die("the weights of step %lld are not kept", (long long)client->begun);
}

weft_status fed_buffer_turns(fed_task *fed, const fed_trial_state *trial,
                             const fed_turns *turns)
{
    const fed_client *client = turns->client;
    for (int64_t j = 0, end; j < turns->n; j = end) {
        for (end = j + 1; end < turns->n && client[end].begun == client[j].begun;) end++;
        fed_turn turn = *turns->turn;
        turn.round = (uint64_t)client[j].begun;
        fed_turns some = *turns;
        some.turn = &turn;
        some.from = fed_buffer_from(fed, trial, &client[j]);
        some.n = end - j;
        some.client += j;
        some.told += j;
        if (some.row) some.row += j;
        TRY(fed_take_turns(fed, &some));
    }
    return WEFT_OK;
}

/* needed[age] = 1: a client in flight began so many steps before the next. */
static char *needed_by(const fed_queue *queue)
{
    const fed_buffer *buffer = queue->fed->modes.buffer;
    char *needed = WEFT_NEW(queue->mem, char, buffer->oldest + 1);
    for (int64_t i = 0; i < queue->busy.n; i++) {
        const fed_flight *one = &queue->flight[((const int64_t *)queue->busy.at)[i]];
        int64_t age = queue->step + 1 - (int64_t)one->version;
        if ((int)one->status == 1 + WEFT_AVERAGED && age <= buffer->oldest) needed[age] = 1;
    }
    return needed;
}

void fed_buffer_commit(const fed_queue *queue, fed_trial_state *trial)
{
    const fed_task *fed = queue->fed;
    const fed_buffer *buffer = fed->modes.buffer;
    const char *needed = needed_by(queue);
    double *kept = versions_of(fed, trial);
    int64_t free = -1;
    put_state(queue, trial->flights);
    for (int64_t i = 0; i < buffer->versions; i++) {
        int64_t age = queue->step + 2 - (int64_t)kept[i];
        if (age > buffer->oldest || !needed[age]) kept[i] = 0;
        if (!(kept[i] > 0)) free = i;
    }
    if (buffer->oldest < 1 || !needed[1]) return;
    weft_check(free >= 0, "no room for the weights of step %lld", (long long)queue->step);
    kept[free] = (double)queue->step + 1;
    memcpy(version_at(fed, trial, free), trial->x, (size_t)fed->at.live * sizeof(real));
}

void fed_buffer_record(const fed_cohort *cohort, int64_t step, double *row)
{
    double sum = 0, n = 0;
    for (int64_t j = 0; j < cohort->n; j++) {
        if (cohort->client[j].lost) continue;
        double age = (double)(step - cohort->client[j].begun);
        row[FED_ROW_STALEST] = fmax(row[FED_ROW_STALEST], age);
        sum += age;
        n++;
    }
    if (n > 0) row[FED_ROW_STALENESS] = sum / n;
}

/* ---- virtual time of jobs ---- */

/* The fewest epochs of any configuration; 0: not known, as an algorithm's options may
 * change what a turn takes. *varies: 1 if configurations take unlike times. */
static int fewest_epochs(const fed_task *fed, int *varies)
{
    const weft_space *space = fed->env.space;
    double fewest = fed->client.epochs;
    int known = 1;
    *varies = 0;
    for (int i = 0; i < space->dim; i++) {
        const weft_axis *axis = &space->axis[i];
        int own = strcmp(axis->section, fed->algorithm->kind.name) == 0;
        int epochs = strcmp(axis->section, fed_training_kind.name) == 0 &&
                     weft_opt_is(axis->opt, "epochs");
        *varies |= own | epochs;
        known &= !own;
        if (!epochs) continue;
        double least = axis->nvalue > 0 ? axis->value[0] : axis->lo;
        for (int v = 1; v < axis->nvalue; v++) least = fmin(least, axis->value[v]);
        fewest = axis->nwhen > 0 ? fmin(fewest, least) : least;
    }
    return known ? (int)fewest : 0;
}

/* Seconds that every turn takes at least, where all are used; else 0. */
static double least_of(const fed_task *fed, int epochs)
{
    const weft_device *device = &fed->device;
    const fed_buffer *buffer = fed->modes.buffer;
    int lossy = device->available < 1 || device->dropout > 0 || device->deadline > 0 ||
                device->rows > 0 || fed->old.n < 3 * buffer->concurrency;
    double least = INFINITY;
    if (lossy || epochs < 1) return 0;
    for (int64_t i = 0; i < fed->old.n; i++) {
        fed_client client = {.client = fed->old.client ? fed->old.client[i] : i,
                             .options = fed->client,
                             .special = fed->special};
        client.options.epochs = epochs;
        fed_size(fed, &(fed_turn){.part = WEFT_VALID}, &client);
        weft_work work = fed_work_of(fed, &client);
        least = fmin(least, weft_device_turn(device, client.client, 0, &work).seconds);
    }
    return least;
}

weft_status fed_buffer_setup(fed_task *fed)
{
    fed_buffer *buffer = fed->modes.buffer;
    if (!buffer) return WEFT_OK;
    TRY(fed_buffer_lay(fed, buffer));
    if (fed->env.scoring) return WEFT_OK;
    int epochs = fewest_epochs(fed, &buffer->varies);
    buffer->least = buffer->varies ? least_of(fed, epochs) : 0;
    return WEFT_OK;
}

/* The virtual seconds of steps first .. last-1 of a trial. */
static double seconds_of(const fed_task *fed, const weft_job *job, int64_t first,
                         int64_t last)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_within(mem);
    double *state = WEFT_NEW(mem, double, fed_buffer_doubles(fed)), sum = 0;
    for (int64_t step = 0; step < last; step++) {
        fed_queue *queue = queue_new(fed, job->trial, &job->mix, step, state, tmp);
        advance(queue);
        put_state(queue, state);
        if (step >= first) sum += queue->end.seconds;
        weft_arena_reset(tmp, 0);
    }
    weft_arena_free(mem);
    return sum;
}

double fed_buffer_seconds(const fed_task *fed, const weft_job *job, double before)
{
    const fed_buffer *buffer = fed->modes.buffer;
    int64_t first = (int64_t)before, n = (int64_t)job->resource;
    double sum;
    if (buffer->varies && (job->mix.k > 1 || first > 0)) {
        double turns = (double)(n * buffer->size) / (double)buffer->concurrency - 1;
        return fmax(turns, 0) * buffer->least;
    }
    sum = seconds_of(fed, job, first, first + n);
    return sum > 0 || job->mix.k > 1 ? sum : job->resource;
}

/* The options of asynchronous rounds, what they can be combined with, and what they add to
 * the state of a trial. */
#include "buffer.h"
#include "compress.h"
#include "weft/base/conf.h"

#include <math.h>
#include <string.h>

/* ---- options ---- */

enum { CONSTANT, POLYNOMIAL, HINGE };

static const weft_opt buffer_opts[] = {
    WEFT_LONG_OPT("size", fed_buffer, size, "0", 0, 1e6,
                  "updates of clients that make a step of the server; 0: fed.cohort"),
    WEFT_LONG_OPT("concurrency", fed_buffer, concurrency, "0", 0, 1e6,
                  "clients that train at once; 0: twice as many as a step has updates"),
    WEFT_CHOICE_OPT("staleness", fed_buffer, staleness, "polynomial",
                    "constant|polynomial|hinge",
                    "factor of an update's weight by its staleness s, the steps of the "
                    "server since it began. polynomial: (1 + s)^-a; hinge: 1 up to b, then "
                    "1 / (a (s - b) + 1)"),
    WEFT_REAL_OPT("a", fed_buffer, a, "0.5", 0, 10, "polynomial, hinge: how fast it falls"),
    WEFT_REAL_OPT("b", fed_buffer, b, "4", 0, 1e5, "hinge: staleness up to which it is 1"),
    WEFT_LONG_OPT("max_staleness", fed_buffer, oldest, "100", 0, 1e5,
                  "updates with more are dropped; so many versions of the weights are "
                  "kept, at most concurrency"),
    {0},
};

static const weft_when buffer_when[] = {
    {"a", "staleness", "polynomial|hinge"}, {"b", "staleness", "hinge"}, {0}};

const weft_kind fed_buffer_kind = WEFT_KIND(
    "buffer", fed_buffer, buffer_opts,
    "task fed: asynchronous rounds, fed.aggregation = buffered", .when = buffer_when);

/* Refuses options that nothing reads, or leaves them out where the command line has made
 * rounds synchronous. */
static weft_status check_idle(const fed_task *fed)
{
    weft_conf *conf = fed->env.conf;
    fed_buffer unused;
    TRY(weft_conf_bind(conf, &fed_buffer_kind, &unused));
    const weft_entry *chosen = weft_conf_find(conf, "fed", "aggregation");
    int typed = chosen && weft_conf_is_typed(chosen);
    for (int i = 0; i < conf->n; i++) {
        const weft_entry *entry = &conf->entry[i];
        if (strcmp(entry->section, fed_buffer_kind.name) != 0) continue;
        if (!typed || weft_conf_is_typed(entry))
            return weft_entry_fail(entry, "nothing in this run reads it, for rounds are "
                                          "synchronous; take it out, or choose "
                                          "fed.aggregation = buffered");
    }
    weft_conf_drop(conf, fed_buffer_kind.name, NULL);
    return WEFT_OK;
}

/* ECONF: the numbers do not fit each other, or the clients. */
static weft_status check_numbers(const fed_task *fed, const fed_buffer *buffer)
{
    long long size = (long long)buffer->size, at_once = (long long)buffer->concurrency;
    const weft_entry *cohort = weft_conf_find(fed->env.conf, "fed", "cohort");
    if (cohort && fed->options.cohort != buffer->size)
        return weft_entry_fail(
            cohort, "a step has buffer.size = %lld updates; give one of the two", size);
    if (fed->clients && at_once > fed->old.n)
        return weft_fail(WEFT_ECONF,
                         "buffer.concurrency = %lld, but %s has %lld clients%s, and each "
                         "is in flight once; choose at most so many",
                         at_once, fed->env.data->path, (long long)fed->old.n,
                         fed->fresh.n > 0 ? " without those of fed.new_clients" : "");
    if (size > at_once)
        return weft_fail(WEFT_ECONF,
                         "buffer.size = %lld updates make a step, but buffer.concurrency "
                         "= %lld clients train at once; make it at least as large",
                         size, at_once);
    return WEFT_OK;
}

weft_status fed_buffer_open(fed_task *fed)
{
    fed->modes.buffer = NULL;
    if (fed->options.aggregation == FED_SYNC) return check_idle(fed);
    fed_buffer *buffer = WEFT_NEW(fed->env.mem, fed_buffer, 1);
    TRY(weft_conf_bind(fed->env.conf, &fed_buffer_kind, buffer));
    if (buffer->size == 0) buffer->size = fed->options.cohort;
    if (buffer->concurrency == 0) {
        int64_t most = fed->clients ? fed->old.n : INT64_MAX;
        buffer->concurrency = 2 * buffer->size < most ? 2 * buffer->size : most;
    }
    if (!fed->env.scoring) TRY(check_numbers(fed, buffer));
    fed->options.cohort = buffer->size;
    fed->modes.buffer = buffer;
    return WEFT_OK;
}

/* ---- set-up ---- */

int64_t fed_buffer_reals(const fed_task *fed)
{
    const fed_buffer *buffer = fed->modes.buffer;
    return buffer ? buffer->versions * fed->at.live : 0;
}

int64_t fed_buffer_doubles(const fed_task *fed)
{
    const fed_buffer *buffer = fed->modes.buffer;
    if (!buffer) return 0;
    return buffer->concurrency * (FED_FLIGHT + fed->env.space->dim) + buffer->versions;
}

/* ECONF: it cannot be combined. */
static weft_status check_options(const fed_task *fed)
{
    if (fed->options.replacement)
        return weft_fail(WEFT_ECONF,
                         "fed.replacement = yes draws a client twice, and with "
                         "fed.aggregation = buffered each is in flight once; set it to no");
    if (fed->device.over > 1)
        return weft_fail(WEFT_ECONF,
                         "device.over = %g starts more devices than a round waits for, and "
                         "fed.aggregation = buffered waits for none; take it out, "
                         "buffer.concurrency says how many train at once",
                         fed->device.over);
    if (!weft_device_timed(&fed->device))
        return weft_fail(WEFT_ECONF,
                         "fed.aggregation = buffered is in the order of virtual time, and "
                         "nothing takes any; give device.sample_seconds, flops, up, down "
                         "or latency, or choose sync");
    return WEFT_OK;
}

static weft_status check_memory(const fed_task *fed, const fed_buffer *buffer)
{
    double bytes = (double)fed_buffer_reals(fed) * sizeof(real) +
                   (double)fed_buffer_doubles(fed) * sizeof(double);
    if (bytes > fed->env.memory)
        return weft_fail(WEFT_ELIMIT,
                         "buffer.max_staleness = %lld and buffer.concurrency = %lld keep "
                         "%lld versions of %lld numbers, which takes %.3g GB of memory; "
                         "run.memory allows %g GB a rank: make one of them smaller, or "
                         "allow more",
                         (long long)buffer->oldest, (long long)buffer->concurrency,
                         (long long)buffer->versions, (long long)fed->at.live, bytes / 1e9,
                         fed->env.memory / 1e9);
    weft_log(WEFT_INFO,
             "steps of %lld updates, %lld clients in flight: a state has up to %lld older "
             "versions of the server's weights, %.4g MB",
             (long long)buffer->size, (long long)buffer->concurrency,
             (long long)buffer->versions, bytes / 1e6);
    return WEFT_OK;
}

weft_status fed_buffer_lay(const fed_task *fed, fed_buffer *buffer)
{
    buffer->versions =
        buffer->oldest < buffer->concurrency ? buffer->oldest : buffer->concurrency;
    buffer->at = fed->at.slots + fed->nweight * fed->at.nslot + fed_compress_state(fed);
    if (fed->env.scoring) return WEFT_OK;
    TRY(check_options(fed));
    return check_memory(fed, buffer);
}

double fed_buffer_factor(const fed_buffer *buffer, double s)
{
    switch (buffer->staleness) {
    case POLYNOMIAL: return pow(1 + s, -buffer->a);
    case HINGE: return s <= buffer->b ? 1 : 1 / (buffer->a * (s - buffer->b) + 1);
    default: return 1;
    }
}

/* Devices of a federation in virtual time: the behaviour of each in a round, and the end of
 * the round. See device.h. Over-selection as in Bonawitz et al., "Towards federated
 * learning at scale: system design", MLSys 2019. */
#include "device.h"
#include "weft/rng.h"

#include <math.h>
#include <stdlib.h>

enum { CONSTANT, EXPONENTIAL, LOGNORMAL, TRACE };
enum { OF_SPEED, OF_STATUS }; /* purposes of random numbers */

static const double most = 1e30;

static const weft_opt opts[] = {
    WEFT_CHOICE_OPT(
        "speed", weft_device, speed, "constant", "constant|exponential|lognormal|trace",
        "differences between devices. constant: none; exponential, lognormal: distribution "
        "of the time of work, with the mean of speed 1; trace: from a table"),
    WEFT_BOOL_OPT("redraw", weft_device, redraw, "no",
                  "a client's speed is drawn in every round, not once"),
    WEFT_REAL_OPT("sigma", weft_device, sigma, "1", 0, 10,
                  "lognormal: standard deviation of the logarithm of the time"),
    WEFT_REAL_OPT("sample_seconds", weft_device, sample_seconds, "0", 0, 1e9,
                  "virtual seconds to train on one sample at speed 1"),
    WEFT_REAL_OPT("flops", weft_device, flops, "0", 0, 1e30,
                  "operations per virtual second at speed 1; 0: they take no time"),
    WEFT_REAL_OPT("up", weft_device, up, "0", 0, 1e30,
                  "bytes sent per virtual second; 0: sending takes no time"),
    WEFT_REAL_OPT("down", weft_device, down, "0", 0, 1e30,
                  "bytes received per virtual second; 0: receiving takes no time"),
    WEFT_REAL_OPT("latency", weft_device, latency, "0", 0, 1e9,
                  "virtual seconds before bytes flow, once each way"),
    WEFT_REAL_OPT("availability", weft_device, available, "1", 0, 1,
                  "probability that a device that was drawn is available"),
    WEFT_REAL_OPT("dropout", weft_device, dropout, "0", 0, 1,
                  "probability that a device that started drops out during the round"),
    WEFT_REAL_OPT("power", weft_device, power, "0", 0, 1e9,
                  "power in watts while a device computes"),
    WEFT_REAL_OPT("byte_energy", weft_device, byte_energy, "0", 0, 1e9,
                  "joule per byte sent or received"),
    WEFT_REAL_OPT("deadline", weft_device, deadline, "0", 0, 1e30,
                  "virtual seconds after which a round ends with the devices that have "
                  "answered; 0: none. A later one is scored like one that diverged"),
    WEFT_REAL_OPT("over", weft_device, over, "1", 1, 100,
                  "devices started per device needed (over-selection); a round ends when "
                  "enough have answered, and the others have no score"),
    WEFT_TEXT_OPT("file", weft_device, file, "", "speed = trace: table of devices"),
    {0},
};

const weft_kind weft_device_kind = {
    .name = "device",
    .about = "task fed: speed, network, drop-out, deadline, energy in virtual time",
    .size = sizeof(weft_device),
    .opts = opts};

/* ECONF if no device can ever answer. */
static weft_status check_answers(const weft_device *device)
{
    int answers = device->rows == 0 && device->available > 0 && device->dropout < 1;
    for (int64_t i = 0; i < device->rows; i++) {
        const double *p = device->row + i * WEFT_PROFILE;
        answers |= p[WEFT_AVAILABLE] > 0 && p[WEFT_DROPOUT] < 1;
    }
    if (answers) return WEFT_OK;
    if (device->rows > 0)
        return weft_fail(WEFT_EDATA,
                         "%s: every device has availability 0 or dropout 1, so that none "
                         "answers and nothing is trained; expected availability above 0 "
                         "and dropout below 1",
                         device->file);
    return weft_fail(WEFT_ECONF,
                     "device.availability = %g with device.dropout = %g: no device ever "
                     "answers, so that nothing is trained; expected availability above 0 "
                     "and dropout below 1",
                     device->available, device->dropout);
}

weft_status weft_device_setup(weft_device *device, int64_t clients, uint64_t seed,
                              weft_arena *mem)
{
    device->seed = seed;
    device->rows = 0;
    int named = device->file[0] != '\0';
    if (device->speed == TRACE && !named)
        return weft_fail(WEFT_ECONF, "device.speed = trace needs device.file, the table of "
                                     "devices");
    if (device->speed != TRACE && named)
        return weft_fail(WEFT_ECONF,
                         "device.file = %s is read only with device.speed = trace; set it, "
                         "or take the file out",
                         device->file);
    if (named) TRY(weft_device_trace(device, clients, mem));
    return check_answers(device);
}

int64_t weft_device_started(const weft_device *device, int64_t m, int64_t clients)
{
    /* In binary, 10 x 1.3 is slightly more than 13. */
    double n = ceil((double)m * device->over * (1 - 1e-12));
    return n < (double)clients ? (int64_t)n : clients;
}

/* The speed, network and chances of a client in a round, into p[WEFT_PROFILE]. */
static void profile(const weft_device *device, int64_t client, int64_t round, double *p)
{
    const double same[WEFT_PROFILE] = {1, device->up, device->down, device->available,
                                       device->dropout};
    for (int i = 0; i < WEFT_PROFILE; i++) p[i] = same[i];
    if (device->speed == CONSTANT) return;
    uint64_t when = device->redraw ? (uint64_t)round + 1 : 0;
    weft_rng4 rng =
        weft_rng_at(device->seed, WEFT_RNG_DEVICE, OF_SPEED, (uint64_t)client, when);
    double unit = weft_rng_unit(rng.v[0]);
    double z[2];
    if (device->speed == EXPONENTIAL) p[WEFT_SPEED] = 1 / -log1p(-unit);
    if (device->speed == LOGNORMAL) {
        weft_rng_normal_pair(&rng, z);
        p[WEFT_SPEED] = exp(device->sigma * device->sigma / 2 - device->sigma * z[0]);
    }
    if (device->speed != TRACE) return;
    int64_t row = device->keyed ? client : (int64_t)(unit * (double)device->rows);
    for (int i = 0; i < WEFT_PROFILE; i++) p[i] = device->row[row * WEFT_PROFILE + i];
}

/* Seconds for an amount at a rate; a rate of 0 is not a limit. */
static double lasting(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

weft_turn weft_device_turn(const weft_device *device, int64_t client, int64_t round,
                           const weft_work *work)
{
    double p[WEFT_PROFILE];
    profile(device, client, round, p);
    double busy =
        (work->samples * device->sample_seconds + lasting(work->flops, device->flops)) /
        p[WEFT_SPEED];
    double network = 2 * device->latency + lasting(work->down, p[WEFT_DOWN]) +
                     lasting(work->up, p[WEFT_UP]);
    weft_turn turn = {.status = WEFT_AVERAGED,
                      .seconds = fmin(network + busy, most),
                      .bytes = work->down + work->up};
    turn.energy = device->power * busy + device->byte_energy * turn.bytes;
    if (p[WEFT_AVAILABLE] >= 1 && p[WEFT_DROPOUT] <= 0) return turn;

    weft_rng4 rng = weft_rng_at(device->seed, WEFT_RNG_DEVICE, OF_STATUS, (uint64_t)client,
                                (uint64_t)round);
    if (weft_rng_unit(rng.v[0]) >= p[WEFT_AVAILABLE])
        return (weft_turn){.status = WEFT_AWAY};
    if (weft_rng_unit(rng.v[1]) >= p[WEFT_DROPOUT]) return turn;
    double share = weft_rng_unit(rng.v[2]);
    return (weft_turn){WEFT_DROPPED, share * turn.seconds, share * turn.energy,
                       share * turn.bytes};
}

/* An answer on its way to the server. */
struct answer {
    double seconds;
    int place;
};

static int by_time(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    if (x->seconds < y->seconds) return -1;
    if (x->seconds > y->seconds) return 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Marks as LATE the turns that answer after the deadline, and as SURPLUS the others that
 * answer after the m-th. Returns the time at which the round ends. */
static double end_of(const weft_device *device, int m, int n, weft_turn *turn,
                     weft_arena *tmp)
{
    struct answer *all = WEFT_NEW(tmp, struct answer, n);
    int answers = 0;
    double end = 0;
    for (int j = 0; j < n; j++) {
        end = fmax(end, turn[j].seconds);
        if (turn[j].status == WEFT_AVERAGED)
            all[answers++] = (struct answer){turn[j].seconds, j};
    }
    qsort(all, (size_t)answers, sizeof *all, by_time);
    if (answers >= m) end = all[m - 1].seconds;
    double deadline = device->deadline > 0 ? device->deadline : INFINITY;
    for (int i = 0; i < answers; i++) {
        weft_turn_status *status = &turn[all[i].place].status;
        if (all[i].seconds > deadline)
            *status = WEFT_LATE;
        else if (i >= m)
            *status = WEFT_SURPLUS;
    }
    return fmin(end, deadline);
}

weft_closing weft_device_close(const weft_device *device, int m, int n, weft_turn *turn,
                               weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    weft_closing closing = {.seconds = end_of(device, m, n, turn, tmp)};
    weft_arena_reset(tmp, mark);
    for (int j = 0; j < n; j++) {
        weft_turn *one = &turn[j];
        if (one->seconds > closing.seconds) { /* stops at the end of the round */
            double share = closing.seconds / one->seconds;
            *one = (weft_turn){one->status, closing.seconds, share * one->energy,
                               share * one->bytes};
        }
        closing.away += one->status == WEFT_AWAY;
        closing.dropped += one->status == WEFT_DROPPED;
        closing.late += one->status == WEFT_LATE;
        closing.surplus += one->status == WEFT_SURPLUS;
        closing.energy += one->energy;
        closing.bytes += one->bytes;
    }
    return closing;
}

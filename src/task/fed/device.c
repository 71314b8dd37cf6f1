/* The devices of a federation in virtual time: the behaviour of each in a round, and the
 * end of the round. What a device does is a function of (seed, client, round) and of its
 * work, which are known when the cohort is drawn. Every rank therefore computes the
 * behaviour of the whole cohort before training, and only clients that will be averaged are
 * trained. With the default options all devices answer immediately, at no cost, and no
 * random number is drawn. Over-selection as in Bonawitz et al., "Towards federated learning
 * at scale: system design", MLSys 2019. */
#include "round.h"
#include "weft/base/files.h"
#include "weft/base/random.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTANT, EXPONENTIAL, HALFNORMAL, LOGNORMAL, TRACE };
enum { OF_SPEED, OF_STATUS }; /* purposes of random numbers */

static const double longest = 1e30; /* virtual seconds */

static const weft_opt device_opts[] = {
    WEFT_CHOICE_OPT(
        "speed", weft_device, speed, "constant",
        "constant|exponential|halfnormal|lognormal|trace",
        "differences between devices. constant: none; exponential, halfnormal (FedBuff), "
        "lognormal: distribution of the time of work, with the mean of speed 1; trace: "
        "from "
        "a table"),
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
    WEFT_TEXT_OPT("file", weft_device, file, "", "speed = trace: table of devices",
                  .names_file = 1),
    {0},
};

const weft_kind weft_device_kind =
    WEFT_KIND("device", weft_device, device_opts,
              "task fed: speed, network, drop-out, deadline, energy in virtual time");

/* A device that is as the section says. */
static void fill_profile(const weft_device *device, double *p)
{
    const double same[WEFT_PROFILE] = {1, device->up, device->down, device->available,
                                       device->dropout};
    memcpy(p, same, sizeof same);
}

/* ---- tables of devices ---- */

enum { CLIENT = WEFT_PROFILE, NAMES };

static const char *const column_names[NAMES] = {"speed",        "up",      "down",
                                                "availability", "dropout", "client"};

/* A table being read. */
struct table {
    weft_device *device;
    int64_t clients;
    weft_arena *mem;
    int line;          /* from 1 */
    int columns;       /* of every line; 0: names not read yet */
    int column[NAMES]; /* column of each name; -1: none */
    double *row;       /* [room][WEFT_PROFILE] */
    char *filled;      /* [room] where there is a column client */
    int64_t room;
};

static weft_status read_names(struct table *table, int n, char *const *field)
{
    for (int k = 0; k < NAMES; k++) table->column[k] = -1;
    for (int i = 0; i < n && i < NAMES; i++) {
        int k = 0;
        while (k < NAMES && strcmp(column_names[k], field[i]) != 0) k++;
        if (k == NAMES)
            return weft_fail(WEFT_EDATA,
                             "%s:%d: there is no column \"%s\"; did you mean \"%s\"?",
                             table->device->file, table->line, field[i],
                             weft_nearest(field[i], column_names, NAMES));
        if (table->column[k] >= 0)
            return weft_fail(WEFT_EDATA, "%s:%d: there are two columns \"%s\"; keep one",
                             table->device->file, table->line, field[i]);
        table->column[k] = i;
    }
    if (n > NAMES)
        return weft_fail(WEFT_EDATA, "%s:%d: %d columns, expected at most %d",
                         table->device->file, table->line, n, NAMES);
    table->columns = n;
    table->device->keyed = table->column[CLIENT] >= 0;
    return WEFT_OK;
}

/* Finds the row of the table that a line belongs to. */
static weft_status find_row(struct table *table, char *const *field, int64_t *row)
{
    *row = table->device->rows;
    if (!table->device->keyed) return WEFT_OK;
    const char *text = field[table->column[CLIENT]];
    char *end;
    const long long c = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || c < 0 || c >= table->clients)
        return weft_fail(WEFT_EDATA, "%s:%d: client %s, expected 0 .. %lld",
                         table->device->file, table->line, text,
                         (long long)table->clients - 1);
    if (table->filled[c])
        return weft_fail(WEFT_EDATA, "%s:%d: client %lld has a line already; keep one",
                         table->device->file, table->line, c);
    table->filled[c] = 1;
    *row = c;
    return WEFT_OK;
}

/* One number of a column, checked. */
static weft_status read_number(const struct table *table, int k, const char *text,
                               double *x)
{
    char *end;
    *x = strtod(text, &end);
    int chance = k == WEFT_AVAILABLE || k == WEFT_DROPOUT;
    int fits = k == WEFT_SPEED ? *x > 0 : *x >= 0 && (!chance || *x <= 1);
    if (end != text && *end == '\0' && isfinite(*x) && fits) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s:%d: %s is \"%s\", expected %s", table->device->file,
                     table->line, column_names[k], text,
                     chance            ? "a probability, 0 .. 1"
                     : k == WEFT_SPEED ? "a number above 0; 1 is the section's speed"
                                       : "bytes a second, 0 for any");
}

static weft_status read_device(struct table *table, char *const *field)
{
    int64_t row;
    TRY(find_row(table, field, &row));
    table->row = weft_grow(table->mem, table->row, WEFT_PROFILE * sizeof *table->row, row,
                           &table->room);
    double *p = table->row + row * WEFT_PROFILE;
    fill_profile(table->device, p);
    for (int k = 0; k < WEFT_PROFILE; k++)
        if (table->column[k] >= 0)
            TRY(read_number(table, k, field[table->column[k]], &p[k]));
    table->device->rows++;
    return WEFT_OK;
}

static weft_status read_row(void *self, const weft_lines *row)
{
    struct table *table = self;
    table->line = row->line;
    if (table->columns > 0) return read_device(table, row->field);
    TRY(read_names(table, row->n, row->field));
    if (!table->device->keyed) return WEFT_OK;
    table->room = table->clients;
    table->row = WEFT_NEW(table->mem, double, table->clients *WEFT_PROFILE);
    table->filled = WEFT_NEW(table->mem, char, table->clients);
    return WEFT_OK;
}

/* EDATA if a client has no row. */
static weft_status check_complete(const struct table *table)
{
    const char *file = table->device->file;
    if (table->device->rows == 0)
        return weft_fail(WEFT_EDATA,
                         "%s: holds no device; expected a line of names, such as speed or "
                         "client, and at least one of numbers",
                         file);
    for (int64_t c = 0; table->device->keyed && c < table->clients; c++)
        if (!table->filled[c])
            return weft_fail(WEFT_EDATA,
                             "%s: client %lld has no line; add it, or leave the column "
                             "client out to give clients lines at random",
                             file, (long long)c);
    return WEFT_OK;
}

weft_status weft_device_trace(weft_device *device, int64_t clients, weft_arena *mem)
{
    struct table table = {.device = device, .clients = clients, .mem = mem};
    FILE *in = fopen(device->file, "r");
    if (!in)
        return weft_fail(WEFT_EFILE,
                         "%s: %s; expected the table of devices that device.file names",
                         device->file, strerror(errno));
    weft_lines rows = {.path = device->file, .wrong = WEFT_EDATA, .commas = 1};
    TRY(weft_lines_read(&rows, in, read_row, &table));
    device->row = table.row;
    return check_complete(&table);
}

/* ---- set-up ---- */

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

int weft_device_timed(const weft_device *device)
{
    return device->sample_seconds > 0 || device->flops > 0 || device->up > 0 ||
           device->down > 0 || device->latency > 0 || device->rows > 0;
}

int64_t weft_device_started(const weft_device *device, int64_t m, int64_t clients)
{
    /* In binary, 100 x 1.1 is slightly more than 110. */
    double n = ceil((double)m * device->over * (1 - 1e-12));
    return n < (double)clients ? (int64_t)n : clients;
}

int64_t fed_started(const fed_task *fed)
{
    return weft_device_started(&fed->device, fed->options.cohort,
                               fed->options.replacement ? INT64_MAX : fed->old.n);
}

/* ---- rounds ---- */

/* The speed, network and chances of a client, into p[WEFT_PROFILE]. */
static void profile(const weft_device *device, int64_t client, double *p)
{
    fill_profile(device, p);
    if (device->speed == CONSTANT) return;
    weft_rng4 rng =
        weft_rng_at(device->seed, WEFT_RNG_DEVICE, OF_SPEED, (uint64_t)client, 0);
    double unit = weft_rng_unit(rng.v[0]);
    double z[2];
    if (device->speed == EXPONENTIAL) p[WEFT_SPEED] = 1 / -log1p(-unit);
    if (device->speed == HALFNORMAL || device->speed == LOGNORMAL)
        weft_rng_normal_pair(&rng, z);
    if (device->speed == HALFNORMAL) /* a mean time of 1: E|z| = sqrt(2 / pi) */
        p[WEFT_SPEED] = 0.7978845608028654 / fmax(fabs(z[0]), 1e-9);
    if (device->speed == LOGNORMAL)
        p[WEFT_SPEED] = exp(device->sigma * device->sigma / 2 - device->sigma * z[0]);
    if (device->speed != TRACE) return;
    int64_t row = device->keyed ? client : (int64_t)(unit * (double)device->rows);
    memcpy(p, device->row + row * WEFT_PROFILE, WEFT_PROFILE * sizeof *p);
}

/* Seconds for an amount at a rate; a rate of 0 is not a limit. */
static double lasting(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

/* Random numbers of what a device does in a round. */
static weft_rng4 chances_of(const weft_device *device, int64_t client, int64_t round)
{
    return weft_rng_at(device->seed, WEFT_RNG_DEVICE, OF_STATUS, (uint64_t)client,
                       (uint64_t)round);
}

int weft_device_is_there(const weft_device *device, int64_t client, int64_t round)
{
    double p[WEFT_PROFILE];
    profile(device, client, p);
    if (p[WEFT_AVAILABLE] >= 1) return 1;
    weft_rng4 rng = chances_of(device, client, round);
    return weft_rng_unit(rng.v[0]) < p[WEFT_AVAILABLE];
}

int weft_device_leaves(const weft_device *device)
{
    int leaves = device->rows == 0 && device->available < 1;
    for (int64_t i = 0; i < device->rows; i++)
        leaves |= device->row[i * WEFT_PROFILE + WEFT_AVAILABLE] < 1;
    return leaves;
}

weft_turn weft_device_turn(const weft_device *device, int64_t client, int64_t round,
                           const weft_work *work)
{
    double p[WEFT_PROFILE];
    profile(device, client, p);
    double busy =
        (work->samples * device->sample_seconds + lasting(work->flops, device->flops)) /
        p[WEFT_SPEED];
    double network = 2 * device->latency + lasting(work->down, p[WEFT_DOWN]) +
                     lasting(work->up, p[WEFT_UP]);
    weft_turn turn = {.status = WEFT_AVERAGED,
                      .seconds = fmin(network + busy, longest),
                      .bytes = work->down + work->up};
    turn.energy = device->power * busy + device->byte_energy * turn.bytes;
    if (p[WEFT_AVAILABLE] >= 1 && p[WEFT_DROPOUT] <= 0) return turn;

    weft_rng4 rng = chances_of(device, client, round);
    if (weft_rng_unit(rng.v[0]) >= p[WEFT_AVAILABLE])
        return (weft_turn){.status = WEFT_AWAY};
    if (weft_rng_unit(rng.v[1]) >= p[WEFT_DROPOUT]) return turn;
    double share = weft_rng_unit(rng.v[2]);
    return (weft_turn){WEFT_DROPPED, share * turn.seconds, share * turn.energy,
                       share * turn.bytes};
}

/* Marks as LATE the turns that answer after the deadline, and as SURPLUS the others that
 * answer after the m-th. Returns the time at which the round ends. */
static double end_of(const weft_device *device, int m, int n, weft_turn *turn,
                     weft_arena *tmp)
{
    weft_placed *all = WEFT_NEW(tmp, weft_placed, n);
    int answers = 0;
    double end = 0;
    for (int j = 0; j < n; j++) {
        end = fmax(end, turn[j].seconds);
        if (turn[j].status == WEFT_AVERAGED)
            all[answers++] = (weft_placed){turn[j].seconds, j};
    }
    weft_sort_rising(answers, all);
    if (answers >= m) end = all[m - 1].value;
    double deadline = device->deadline > 0 ? device->deadline : INFINITY;
    for (int i = 0; i < answers; i++) {
        weft_turn_status *status = &turn[all[i].at].status;
        if (all[i].value > deadline)
            *status = WEFT_LATE;
        else if (i >= m)
            *status = WEFT_SURPLUS;
    }
    return fmin(end, deadline);
}

weft_closing weft_device_close(const weft_device *device, int m, int n, weft_turn *turn,
                               weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_closing closing = {.seconds = end_of(device, m, n, turn, tmp)};
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

/* Simulated devices: probabilities, times and energies against closed forms, the end of
 * rounds against values by hand, and refusal of invalid traces.
 * RUN: np=1 */
#include "scratch.h"
#include "task/fed/fed.h"

enum { ROUNDS = 20000 };

/* A section [device] of that text, set up for so many clients. NULL: it failed. */
static const weft_device *device(const char *text, int64_t clients)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_device *device = WEFT_NEW(mem, weft_device, 1);
    const char *section = printed("[device]\n%s\n", text);
    weft_status st = weft_conf_text(&conf, "test", section);
    if (st == WEFT_OK) st = weft_conf_bind(&conf, &weft_device_kind, device);
    if (st == WEFT_OK) st = weft_device_setup(device, clients, 7, mem);
    return st == WEFT_OK ? device : NULL;
}

static const weft_work unit_work = {.samples = 1};

/* ---- one device ---- */

static void test_default(void)
{
    const weft_device *d = device("", 10);
    weft_work work = {1e6, 1e12, 1e9, 1e9};
    weft_turn turn = weft_device_turn(d, 3, 4, &work);
    ok(turn.status == WEFT_AVERAGED && !(turn.seconds > 0) && !(turn.energy > 0),
       "without options a device answers at once, at no cost");
    is_near(turn.bytes, 2e9, 0, "its bytes are counted");
}

static void test_seconds(void)
{
    const weft_device *d =
        device("sample_seconds = 0.5\nflops = 1e6\nup = 100\ndown = 1000\nlatency = 0.25\n"
               "power = 3\nbyte_energy = 0.01",
               10);
    weft_work work = {.samples = 10, .flops = 2e6, .down = 500, .up = 700};
    weft_turn turn = weft_device_turn(d, 0, 0, &work);
    is_near(turn.seconds, 0.5 + 0.5 + 7 + 7, 1e-12,
            "seconds: latency twice, down, samples and operations, up");
    is_near(turn.energy, 3 * 7 + 0.01 * 1200, 1e-12, "energy: computing and bytes");
}

/* Mean seconds over clients and rounds. */
static double mean_seconds(const weft_device *device, int clients, int rounds)
{
    double sum = 0;
    for (int c = 0; c < clients; c++)
        for (int r = 0; r < rounds; r++)
            sum += weft_device_turn(device, c, r, &unit_work).seconds;
    return sum / clients / rounds;
}

/* Time of a half-normal variable with mean 2: P(t <= x) = erf(x / (2 sqrt(pi))). */
static void test_halfnormal(void)
{
    const weft_device *half = device("speed = halfnormal\nsample_seconds = 2", ROUNDS);
    is_near(mean_seconds(half, ROUNDS, 1), 2, 0.04,
            "half-normal seconds: mean over clients");
    for (double x = 0.5; x < 6; x *= 2) {
        int below = 0;
        for (int c = 0; c < ROUNDS; c++)
            below += weft_device_turn(half, c, 0, &unit_work).seconds <= x;
        is_near((double)below / ROUNDS, erf(x / (2 * sqrt(acos(-1)))), 0.02,
                "half-normal seconds: share below %g", x);
    }
}

static void test_speeds(void)
{
    test_halfnormal();
    const weft_device *once = device("speed = exponential\nsample_seconds = 2", ROUNDS);
    const weft_device *normal =
        device("speed = lognormal\nsigma = 0.5\nsample_seconds = 2", ROUNDS);
    is_near(mean_seconds(once, ROUNDS, 1), 2, 0.04,
            "exponential seconds: mean over clients");
    is_near(mean_seconds(normal, ROUNDS, 1), 2, 0.04,
            "lognormal seconds: mean over clients");
    double first = weft_device_turn(once, 5, 0, &unit_work).seconds;
    is_near(weft_device_turn(once, 5, 9, &unit_work).seconds, first, 0,
            "a client keeps its speed");
}

static void test_chances(void)
{
    const weft_device *d = device("dropout = 0.3\navailability = 0.8\nsample_seconds = 2\n"
                                  "power = 1",
                                  10);
    int away = 0, dropped = 0;
    double lost = 0, energy = 0;
    for (int r = 0; r < ROUNDS; r++) {
        weft_turn turn = weft_device_turn(d, r % 10, r, &unit_work);
        away += turn.status == WEFT_AWAY;
        dropped += turn.status == WEFT_DROPPED;
        lost += turn.status == WEFT_DROPPED ? turn.seconds : 0;
        energy += turn.energy;
    }
    /* Four standard deviations of a share of 20,000 are 0.013. */
    is_near((double)away / ROUNDS, 0.2, 0.012, "a fifth of the devices is away");
    is_near((double)dropped / (ROUNDS - away), 0.3, 0.015, "30 %% of the rest drop out");
    is_near(lost / dropped, 1, 0.04, "half-way through, in the mean");
    is_near(energy / (ROUNDS - away), 2 * (1 - 0.15), 0.03,
            "and have spent half of their energy");
    ok(!device("availability = 0", 10) && says("device.availability = 0") &&
           !device("dropout = 1", 10) && says("no device ever answers"),
       "devices of which none ever answers are refused");
    ok(device("availability = 0.001\ndropout = 0.999", 10) != NULL,
       "those that seldom do are not");
}

/* ---- rounds ---- */

static weft_turn six[6];

/* A round of six devices, of which so many answers are needed. */
static weft_closing closed(const weft_device *d, int needed)
{
    const weft_turn start[6] = {{WEFT_AVERAGED, 5, 10, 100}, {WEFT_DROPPED, 9, 9, 90},
                                {WEFT_AVERAGED, 2, 4, 100},  {WEFT_AWAY, 0, 0, 0},
                                {WEFT_AVERAGED, 8, 16, 100}, {WEFT_AVERAGED, 5, 10, 100}};
    memcpy(six, start, sizeof six);
    return weft_device_close(d, needed, 6, six, mem);
}

static void test_closing(void)
{
    const weft_device *d = device("", 10), *hurried = device("deadline = 4", 10);
    weft_closing closing = closed(d, 2);
    ok(closing.surplus == 2 && closing.late == 0 && closing.dropped == 1 &&
           closing.away == 1,
       "a round counts what became of its devices");
    ok(six[2].status == WEFT_AVERAGED && six[0].status == WEFT_AVERAGED &&
           six[5].status == WEFT_SURPLUS,
       "the first answers are averaged, ties in the order of the cohort");
    is_near(closing.seconds, 5, 0, "a round ends with the last answer it needs");
    is_near(closing.energy, 10 + 5 + 4 + 10 + 10, 1e-12, "who is not needed stops then");
    is_near(closing.bytes, 100 + 50 + 100 + 62.5 + 100, 1e-12, "and sends no more");

    closing = closed(d, 5);
    ok(closing.late == 0, "all are averaged where more are needed than answer");
    is_near(closing.seconds, 9, 0, "a round ends when nobody is left to wait for");

    closing = closed(d, 4);
    is_near(closing.seconds, 8, 0, "and for nobody where just as many answer");

    closing = closed(hurried, 2);
    ok(closing.late == 3 && six[2].status == WEFT_AVERAGED,
       "a deadline cuts off the slower ones");
    is_near(closing.seconds, 4, 0, "and ends the round");

    const weft_device *both = device("deadline = 6", 10);
    closing = closed(both, 2);
    ok(closing.late == 1 && six[4].status == WEFT_LATE && closing.surplus == 1 &&
           six[5].status == WEFT_SURPLUS,
       "late is who would have missed the deadline, whenever the round ends");
    is_near(closing.seconds, 5, 0, "which is before it, with enough answers");
    closing = closed(device("deadline = 5", 10), 3);
    ok(closing.late == 1 && six[0].status == WEFT_AVERAGED,
       "who answers at the deadline is in time");
    closing = weft_device_close(hurried, 2, 0, six, mem);
    ok(!(closing.seconds > 0), "a round of no devices ends at once");
}

/* Mean virtual seconds of rounds of other clients each, of which m answers are needed. */
static double mean_round(const weft_device *device, int m)
{
    enum { MAX_TURNS = 64 };
    int n = (int)weft_device_started(device, m, 1000);
    double sum = 0;
    for (int r = 0; r < ROUNDS; r++) {
        weft_turn turn[MAX_TURNS];
        for (int j = 0; j < n; j++)
            turn[j] = weft_device_turn(device, (int64_t)r * n + j, r, &unit_work);
        sum += weft_device_close(device, m, n, turn, mem).seconds;
    }
    return sum / ROUNDS;
}

/* Expected time of the m-th of n answers, exponential with mean 1, or of the deadline if
 * that is earlier. While i have answered the next comes at rate n - i, so the time spent
 * with i answers is P(the (i+1)-th comes before the deadline) / (n - i). */
static double expected(int m, int n, double deadline)
{
    double p = isfinite(deadline) ? -expm1(-deadline) : 1;
    double sum = 0;
    for (int i = 0; i < m; i++) {
        double fewer = 0; /* P(at most i of n by the deadline) */
        for (int j = 0; j <= i && p < 1; j++)
            fewer += exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1)) * pow(p, j) *
                     pow(1 - p, n - j);
        sum += (1 - fewer) / (n - i);
    }
    return sum;
}

static void test_round_times(void)
{
    static const struct {
        const char *options, *what;
        int m, n;
        double deadline;
    } cases[] = {
        {"", "all of 10: the harmonic sum", 10, 10, INFINITY},
        {"over = 1.3", "10 of 13", 10, 13, INFINITY},
        {"over = 2", "20 of 40", 20, 40, INFINITY},
        {"deadline = 1.5", "all of 10 or a deadline", 10, 10, 1.5},
        {"over = 1.3\ndeadline = 1.2", "10 of 13 or a deadline", 10, 13, 1.2},
        {"deadline = 0.5", "one device or a deadline", 1, 1, 0.5},
    };
    double harmonic = 0;
    for (int i = 1; i <= 10; i++) harmonic += 1.0 / i;
    is_near(expected(10, 10, INFINITY), harmonic, 1e-12,
            "closed forms agree: harmonic sum");
    is_near(expected(1, 1, 0.5), 1 - exp(-0.5), 1e-12, "closed forms agree: deadline");
    for (size_t i = 0; i < LEN(cases); i++) {
        const weft_device *d = device(
            printed("speed = exponential\nsample_seconds = 1\n%s", cases[i].options), 1000);
        double mean = mean_round(d, cases[i].m);
        double theory = expected(cases[i].m, cases[i].n, cases[i].deadline);
        ok(weft_device_started(d, cases[i].m, 1000) == cases[i].n,
           "%d devices are started for %d", cases[i].n, cases[i].m);
        note("%s: %.4f, expected %.4f", cases[i].what, mean, theory);
        is_near(mean / theory, 1, 0.02, "round time within 2 %%: %s", cases[i].what);
    }
    const weft_device *d = device("over = 3", 20);
    ok(weft_device_started(d, 10, 20) == 20, "no more are started than there are");
    ok(weft_device_started(device("over = 1.1", 1000), 100, 1000) == 110,
       "110 of 100, whose product with 1.1 is more in binary");
}

/* ---- traces ---- */

/* Writes a trace and reads it for three clients. */
static const weft_device *trace(const char *text)
{
    const char *path = write_text("trace.tsv", text);
    return device(printed("speed = trace\nup = 8\nsample_seconds = 1\nfile = %s", path), 3);
}

static void test_trace(void)
{
    const weft_device *device = trace("client\tspeed\tdropout\n"
                                      "2\t4\t0\n0\t0.5\t0\n1\t1\t1\n");
    weft_work work = {.samples = 2, .up = 16};
    is_near(device ? weft_device_turn(device, 0, 0, &work).seconds : 0, 4 + 2, 1e-12,
            "a client has the speed of its line, and the section's where there is none");
    is_near(device ? weft_device_turn(device, 2, 0, &work).seconds : 0, 0.5 + 2, 1e-12,
            "in any order of lines");
    ok(device && weft_device_turn(device, 1, 0, &work).status == WEFT_DROPPED,
       "and its chances");
    device = trace("speed,availability\r\n2,1\r\n4,1\r\n\r\n");
    int fast = 0;
    for (int c = 0; device && c < 1000; c++)
        fast += weft_device_turn(device, c, 0, &unit_work).seconds < 0.3;
    is_near(fast, 500, 70, "without a column client, lines are given at random");
}

static void test_bad_traces(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "holds no device"},
        {"speed\n", "holds no device"},
        {"client\tsped\n", ":1: there is no column \"sped\"; did you mean \"speed\"?"},
        {"up\tup\n", ":1: there are two columns \"up\""},
        {"speed\tup\n1\n", ":2: 1 fields, expected the 2"},
        {"speed\tup\n1\t2\t3\n", ":2: 3 fields, expected the 2"},
        {"speed\n1\nfast\n", ":3: speed is \"fast\", expected a number above 0"},
        {"speed\n0\n", ":2: speed is \"0\""},
        {"up\n-1\n", ":2: up is \"-1\", expected bytes a second"},
        {"up\nnan\n", ":2: up is \"nan\""},
        {"up\n-nan\n", ":2: up is \"-nan\""},
        {"dropout\n1.5\n", ":2: dropout is \"1.5\", expected a probability"},
        {"speed\n1 x\n", ":2: speed is \"1 x\""},
        {"client\tspeed\n3\t1\n", ":2: client 3, expected 0 .. 2"},
        {"client\tspeed\nAnn\t1\n", ":2: client Ann, expected 0 .. 2"},
        {"client\tspeed\n1\t1\n1\t2\n", ":3: client 1 has a line already"},
        {"client\tspeed\n0\t1\n1\t2\n", "client 2 has no line"},
        {"speed\tup\tdown\tdropout\tavailability\tclient\tx\n", ":1: 7 columns"},
        {"dropout\tavailability\n1\t1\n0\t0\n", "every device has availability 0 or"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        const weft_device *device = trace(cases[i].text);
        ok(!device && says(cases[i].says), "a bad trace is refused: %s", cases[i].says);
    }
    ok(!device("speed = trace", 3) && says("needs device.file"), "a trace needs its file");
    ok(!device("file = x", 3) && says("device.speed = trace"),
       "a file needs speed = trace");
    ok(!device("speed = trace\nfile = /nowhere/x", 3) && says("/nowhere/x: No such file"),
       "a file that is not there is named");
    ok(!device("speed = trace\nfile = /", 3) && says("/: Is a directory"),
       "what cannot be read is named");
}

MAIN(scratch, test_default, test_seconds, test_speeds, test_chances, test_closing,
     test_round_times, test_trace, test_bad_traces)

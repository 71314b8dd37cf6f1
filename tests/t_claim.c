/* Leaders of teams: messages arrive complete and in order while their sender computes; a
 * job is claimed by exactly one leader, through shared memory and through files; a leader
 * that leaves waits for all.
 * RUN: np=1 np=2 np=4 */
#include "scratch.h"
#include "weft/base/files.h"

enum { MESSAGES = 12, JOBS = 400, TICKETS = 50 };

#define HANGS 1800.0 /* seconds */

/* From nothing to far more than MPI sends at once. */
static size_t length_of(int i)
{
    static const size_t lengths[] = {0, 1, 3991, 3992, 3993, 100000};
    return lengths[i % 6];
}

static unsigned char byte_of(int rank, int i, size_t at)
{
    return (unsigned char)((size_t)rank * 31 + (size_t)i * 7 + at);
}

static void send_all(weft_peers *peers)
{
    for (int i = 0; i < MESSAGES; i++) {
        size_t n = 2 + length_of(i);
        unsigned char *text = WEFT_NEW(mem, unsigned char, n);
        text[0] = (unsigned char)world.rank;
        text[1] = (unsigned char)i;
        for (size_t at = 0; at + 2 < n; at++) text[at + 2] = byte_of(world.rank, i, at);
        weft_peers_send(peers, text, n);
    }
}

/* 1 if it is the next message of its sender, as it was sent. */
static int is_right(const weft_message *message, int *next)
{
    const unsigned char *text = (const unsigned char *)message->data;
    int rank = text[0], i = text[1];
    int right = i == next[rank]++ && message->bytes == 2 + length_of(i);
    for (size_t at = 0; right && at + 2 < message->bytes; at++)
        right = text[at + 2] == byte_of(rank, i, at);
    return right;
}

/* The file by which a rank tells that it has all messages, as rank 0 calls no function of
 * MPI. */
static const char *told(int rank)
{
    static char path[TEMPORARY + 20];
    snprintf(path, sizeof path, "%s/told-%d", scratch, rank);
    return path;
}

static void tell(void)
{
    FILE *file = fopen(told(world.rank), "w");
    weft_check(file, "no file %s", told(world.rank));
    fclose(file);
}

static int all_told(void)
{
    for (int r = 1; r < world.size; r++)
        if (access(told(r), F_OK) != 0) return 0;
    return 1;
}

/* 1: what a queue had no room for is sent in the sender's next call. */
static int sends_in_calls(void)
{
    char mpi[64];
    weft_par_library(mpi, sizeof mpi);
    return strncmp(mpi, "MPICH", 5) == 0;
}

static void test_messages(void)
{
    weft_peers *peers = weft_peers_join(&world, world.size, mem);
    int *next = WEFT_NEW(mem, int, world.size);
    int right = 1, got = 0;
    weft_message message;
    int calls = sends_in_calls();
    if (world.rank == 0) send_all(peers); /* and receives nothing */
    double start = weft_now();
    int all = world.rank > 0;
    while (!all && weft_now() - start < HANGS) {
        all = all_told();
        if (calls) weft_peers_here(peers);
    }
    while (world.rank > 0 && got < MESSAGES && weft_now() - start < HANGS)
        if (weft_peers_receive(peers, &message, mem)) {
            right &= is_right(&message, next);
            got++;
        }
    if (world.rank > 0) tell();
    ok(right && all && (world.rank == 0 || got == MESSAGES),
       "messages of 2 to 100,002 bytes arrive while their sender %s",
       calls ? "asks whether something came" : "computes");
    if (world.rank > 0) send_all(peers);
    int due = MESSAGES * (world.size - 1);
    while (got < due && weft_now() - start < HANGS)
        if (weft_peers_receive(peers, &message, mem)) {
            right &= is_right(&message, next);
            got++;
        }
    ok(right && got == due, "those of all leaders, each in its order");
    ok(!weft_peers_receive(peers, &message, mem), "and no other");
    weft_peers_send(peers, "lost", 4); /* nobody receives it */
    weft_peers_leave(peers, 1 + world.rank);
}

static void test_leaving(void)
{
    weft_peers *peers = weft_peers_join(&world, world.size, mem);
    double start = weft_now();
    int why = 0;
    if (world.rank > 0) /* the others see why the first one left */
        while (!(why = weft_peers_left(peers)) && weft_now() - start < HANGS)
            weft_nap(1e-3);
    weft_peers_leave(peers, 7); /* this one waits for them */
    ok(world.rank == 0 || why == 7, "a leader that has left is seen, and why");
}

/* How often each job, or ticket, was had by some leader. */
static int is_once_each(int32_t *had, int n)
{
    weft_sum_i32(&world, had, (size_t)n);
    int once = 1;
    for (int i = 0; i < n; i++) once &= had[i] == 1;
    return once;
}

static void test_claims(const char *way)
{
    weft_peers *peers = weft_peers_join(&world, world.size, mem);
    int32_t job[JOBS] = {0}, *ticket = WEFT_NEW(mem, int32_t, TICKETS * world.size);
    weft_claims *claims = weft_claims_open(peers, scratch, 5, mem);
    for (int i = 0; i < JOBS; i++) job[i] = weft_claim(claims, i);
    int again = 0, rising = 1;
    for (int i = 0; i < JOBS; i++) again += weft_claim(claims, i);
    int64_t last = 4;
    for (int i = 0; i < TICKETS; i++) {
        int64_t mine = weft_claim_ticket(claims);
        rising &= mine > last && mine < 5 + TICKETS * world.size;
        if (mine >= 5 && mine < 5 + TICKETS * world.size) ticket[mine - 5]++;
        last = mine;
    }
    ok(is_once_each(job, JOBS), "%s: each job is claimed by one leader", way);
    ok(again == 0, "%s: and not again", way);
    ok(rising && is_once_each(ticket, TICKETS * world.size),
       "%s: tickets are drawn once each, without gaps", way);
    weft_peers_leave(peers, 1);
    weft_claims_close(claims);
    if (world.rank == 0)
        for (int i = 0; i < JOBS; i++)
            remove(printed("%s/" WEFT_CLAIM_NAME, scratch, (long long)i));
    if (world.rank == 0)
        for (int i = 0; i < 5 + TICKETS * world.size; i++)
            remove(printed("%s/" WEFT_TICKET_NAME, scratch, (long long)i));
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_messages();
    test_leaving();
    unsetenv("WEFT_CLAIMS_BY_FILE");
    test_claims("memory");
    setenv("WEFT_CLAIMS_BY_FILE", "1", 1);
    test_claims("files");
    return tap_end();
}

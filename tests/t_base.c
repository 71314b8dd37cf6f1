/* Room base: errors, arenas, random numbers, heaps.
 * RUN: np=1 np=2 */
#include "tap.h"

#include <Random123/philox.h>

static void test_errors(void)
{
    ok(weft_fail(WEFT_EDATA, "row %d", 7) == WEFT_EDATA, "a failure returns its status");
    ok(says("row 7"), "a failure leaves its message");
    ok(weft_fail(WEFT_ECONF, "file: %s", weft_error()) == WEFT_ECONF && says("file: row 7"),
       "a message may hold the message before");
    weft_error_set("of rank 2");
    ok(strcmp(weft_error(), "of rank 2") == 0, "a message can be set");
    static const char *const list[] = {"alpha", "gamma", "kernel", "preprocess"};
    ok(strcmp(weft_nearest("gama", list, 4), "gamma") == 0, "gama is nearest to gamma");
    ok(strcmp(weft_nearest("KERNAL", list, 4), "kernel") == 0,
       "KERNAL is nearest to kernel");
    ok(strcmp(weft_nearest("preproc", list, 4), "preprocess") == 0,
       "preproc is nearest to preprocess");
    ok(strcmp(weft_nearest("x", list, 0), "") == 0, "nothing is nearest in an empty list");
}

static int all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0) return 0;
    return 1;
}

static void test_arena(void)
{
    weft_arena *arena = weft_arena_new();
    ok(weft_arena_mark(arena) == 0 && weft_arena_held(arena) == 0, "a new arena is empty");
    double *x = WEFT_NEW(arena, double, 3);
    x[0] = 1;
    int aligned = 1, zero = 1;
    for (size_t n = 1; n < 300000; n = 3 * n + 1) {
        char *p = weft_arena_alloc(arena, n, 1);
        aligned = aligned && (uintptr_t)p % 64 == 0;
        zero = zero && all_zero(p, n);
        memset(p, 255, n);
    }
    ok(aligned, "memory is aligned to 64 bytes");
    ok(zero, "memory is zero");
    ok(weft_arena_alloc(arena, 0, 8) != NULL, "no elements are still a place");

    size_t mark = weft_arena_mark(arena);
    for (int round = 0; round < 3; round++) {
        char *p = weft_arena_alloc(arena, 40, 1), *q = weft_arena_alloc(arena, 200000, 1);
        zero = zero && all_zero(p, 40) && all_zero(q, 200000);
        memset(p, 255, 40);
        memset(q, 255, 200000);
        weft_arena_reset(arena, mark);
    }
    ok(zero, "memory is zero again after a reset");
    ok(weft_arena_mark(arena) == mark, "a reset returns to its mark");
    size_t held = weft_arena_held(arena);
    memset(weft_arena_alloc(arena, 200000, 1), 255, 200000);
    weft_arena_reset(arena, mark);
    ok(weft_arena_held(arena) == held, "scratch in a loop is not asked for again");
    ok(x[0] == 1 && x[1] == 0, "a reset leaves what is older");
    ok(strcmp(weft_arena_text(arena, "%d-%s", 12, "ab"), "12-ab") == 0,
       "texts are formatted");
    weft_arena_free(arena);
    weft_arena_free(NULL);
}

/* Philox4x64-10 as in section 3.3 of the paper, with constants from there. */
static weft_rng4 reference(uint64_t k0, uint64_t k1, const uint64_t counter[4])
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    for (int round = 0; round < 10; round++) {
        wide p = (wide)0xD2E7470EE14C6C93 * c[0], q = (wide)0xCA5A826395121157 * c[2];
        uint64_t next[4] = {(uint64_t)(q >> 64) ^ c[1] ^ k0, (uint64_t)q,
                            (uint64_t)(p >> 64) ^ c[3] ^ k1, (uint64_t)p};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B97F4A7C15;
        k1 += 0xBB67AE8584CAA73B;
    }
    return (weft_rng4){{c[0], c[1], c[2], c[3]}};
}

/* An array of half a block and `beside` bytes in the other half; 1: when it grows, these
 * are still there. */
static int neighbour_stays(size_t half, size_t beside)
{
    weft_arena *arena = weft_arena_new();
    int64_t room = 0;
    weft_arena_alloc(arena, 64, 1);
    size_t mark = weft_arena_mark(arena);
    weft_arena_alloc(arena, 2 * half - 1, 1);
    weft_arena_reset(arena, mark);
    char *array = weft_regrow(arena, NULL, 1, (int64_t)half - 1, &room);
    char *other = weft_arena_alloc(arena, beside, 1);
    memset(other, 7, beside);
    weft_arena_alloc(arena, 2 * half, 1);
    size_t held = weft_arena_held(arena);
    weft_regrow(arena, array, 1, (int64_t)half, &room);
    int stays = weft_arena_held(arena) > held && other[0] == 7 && other[beside - 1] == 7;
    weft_arena_free(arena);
    return stays;
}

static void test_regrow(void)
{
    enum { HALF = 1 << 17, LINE = 64 };
    ok(neighbour_stays(HALF, HALF - 1) && neighbour_stays(HALF, HALF - LINE - 1),
       "an array that grows leaves what stands beside it in a block");
    weft_arena *arena = weft_arena_new();
    int64_t room = 0;
    weft_arena_alloc(arena, 64, 1);
    char *array = weft_regrow(arena, NULL, 1, HALF - 1, &room);
    array[5] = 3;
    weft_arena_alloc(arena, HALF, 1);
    size_t held = weft_arena_held(arena);
    array = weft_regrow(arena, array, 1, HALF, &room);
    size_t more = weft_arena_held(arena) - held;
    ok(more >= HALF && more <= HALF + LINE && array[5] == 3,
       "one with a block of its own gives that back");
    size_t end = weft_arena_mark(arena);
    weft_arena_alloc(arena, 8 * HALF, 1);
    weft_arena_reset(arena, end);
    ok(weft_arena_mark(arena) == end && array[5] == 3, "marks stay what they were");
    weft_arena_free(arena);
}

static void test_rng(void)
{
    /* Known answers of Random123, kat_vectors: philox4x64 10. */
    static const uint64_t zero[4] = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc,
                                     0xd7e772cee186176b, 0x7e68b68aec7ba23b};
    static const uint64_t pi[4] = {0xa528f45403e61d95, 0x38c72dbd566e9788,
                                   0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6};
    static const uint64_t at_pi[4] = {0x243f6a8885a308d3, 0x13198a2e03707344,
                                      0xa4093822299f31d0, 0x082efa98ec4e6c89};
    weft_rng4 rng = weft_rng_at(0, (weft_purpose)0, 0, 0, 0);
    ok(memcmp(rng.v, zero, sizeof zero) == 0, "philox gives the known answer for zeros");
    rng = reference(0x452821e638d01377, 0xbe5466cf34e90c6c, at_pi);
    ok(memcmp(rng.v, pi, sizeof pi) == 0, "the reference gives the known answer for pi");
    static const uint64_t counter[4] = {5, 1ULL << 40, 77, 0};
    weft_rng4 expected = reference(42, WEFT_RNG_DATA, counter);
    rng = weft_rng_at(42, WEFT_RNG_DATA, counter[0], counter[1], counter[2]);
    ok(memcmp(&rng, &expected, sizeof rng) == 0,
       "key is (seed, purpose), counter (a, b, c, 0)");
}

static void test_normal(void)
{
    weft_rng4 rng = {{0}};
    ok(weft_rng_unit(0) == 0 && weft_rng_unit(UINT64_MAX) == 1 - 0x1p-53,
       "units are in [0, 1) and have 53 bits");
    enum { N = 20000 };
    double sum = 0, square = 0, fourth = 0;
    for (uint64_t i = 0; i < N; i++) {
        double z[4];
        rng = weft_rng_at(1, WEFT_RNG_TEST, i, 0, 0);
        weft_rng_normal(&rng, z);
        for (int j = 0; j < 4; j++) {
            sum += z[j];
            square += z[j] * z[j];
            fourth += z[j] * z[j] * z[j] * z[j];
        }
    }
    /* five standard deviations of the means of 80000 draws: 1, 2 and 96 are the variances
     */
    is_near(sum / (4 * N), 0, 5 * sqrt(1.0 / (4 * N)), "normal numbers have mean 0");
    is_near(square / (4 * N), 1, 5 * sqrt(2.0 / (4 * N)), "and variance 1");
    is_near(fourth / (4 * N), 3, 5 * sqrt(96.0 / (4 * N)), "and fourth moment 3");
    weft_rng4 extreme = {{UINT64_MAX, 0, 0, 0}};
    double z[4];
    weft_rng_normal(&extreme, z);
    ok(isfinite(z[0]) && isfinite(z[2]), "no normal number is infinite");
    /* xxHash's own vector: XXH3 of nothing, seed 0 */
    ok(weft_hash("", 0, 0) == 0x2d06800538d394c2, "the hash is XXH3");
    digest(weft_hash(&rng, sizeof rng, 3));
}

/* ---- heaps ---- */

/* An item that knows its index. */
struct ball {
    int weight;
    int64_t at;
};

static int is_lighter(const void *a, const void *b, const void *of)
{
    (void)of;
    return (*(struct ball *const *)a)->weight < (*(struct ball *const *)b)->weight;
}

static void note_place(void *item, int64_t at)
{
    (*(struct ball **)item)->at = at;
}

/* Balls of distinct weights: pushed, some made lighter or heavier, some taken from within,
 * then taken in order. */
static void test_heap(void)
{
    enum { N = 1000 };
    struct ball *x = WEFT_NEW(mem, struct ball, N);
    weft_heap heap = {
        .size = sizeof(struct ball *), .before = is_lighter, .moved = note_place};
    int64_t order[N];
    weft_shuffle(N, 1, order, mem);
    for (int i = 0; i < N; i++) {
        struct ball *b = &x[i];
        b->weight = 4 * (int)order[i];
        weft_heap_push(&heap, &b, mem);
    }
    int known = 1;
    for (int i = 0; i < N; i++) known &= ((struct ball **)heap.at)[x[i].at] == &x[i];
    ok(heap.n == N && known, "items of a heap are told their index");
    for (int i = 0; i < N; i += 3) {
        x[i].weight += i % 2 ? 4 * (N / 2) + 1 : -4 * (N / 2) - 1;
        weft_heap_settle(&heap, x[i].at);
    }
    for (int i = 1; i < N; i += 3) {
        struct ball *b;
        weft_heap_take(&heap, x[i].at, &b);
        known &= b == &x[i];
    }
    ok(known, "any item can be taken");
    int64_t n = heap.n;
    int sorted = 1, last = -4 * N;
    for (struct ball *b; heap.n > 0; last = b->weight) {
        weft_heap_take(&heap, 0, &b);
        sorted &= b->weight > last && b != &x[1];
    }
    ok(sorted && n == N - N / 3, "the others leave in their order");
}

/* Leaves its scopes by a return in the middle; the bytes in use within. */
static size_t leave_early(weft_arena *arena)
{
    WEFT_REWIND(arena);
    weft_arena_alloc(arena, 1000, 1);
    for (int i = 0; i < 3; i++) {
        WEFT_REWIND(arena);
        weft_arena_alloc(arena, 100000, 1);
        if (i == 1) return weft_arena_mark(arena);
    }
    return 0;
}

static void test_scopes(void)
{
    WEFT_SCRATCH(arena);
    weft_arena_alloc(arena, 10, 1);
    size_t mark = weft_arena_mark(arena);
    size_t within = leave_early(arena);
    ok(within > mark + 100000 && within < mark + 110000,
       "a scope in a loop releases its memory in each turn");
    ok(weft_arena_mark(arena) == mark,
       "a return releases that of all scopes that it leaves");
}

static void test_sorting(void)
{
    weft_placed list[] = {{2, 0}, {-1, 1}, {2, 2}, {INFINITY, 3}, {-1, 4}};
    const int up[] = {1, 4, 0, 2, 3}, down[] = {3, 0, 2, 1, 4};
    int rises = 1, falls = 1;
    weft_sort_rising(5, list);
    for (int i = 0; i < 5; i++) rises &= list[i].at == up[i];
    weft_sort_falling(5, list);
    for (int i = 0; i < 5; i++) falls &= list[i].at == down[i];
    ok(rises, "numbers rise, equal ones in the order of their places");
    ok(falls, "or fall, equal ones likewise");
    double x[] = {3, -2, 0.5};
    int64_t n[] = {5, -7, 0};
    weft_sort_f64(3, x);
    weft_sort_i64(3, n);
    ok(x[0] < x[1] && x[1] < x[2] && n[0] == -7 && n[2] == 5, "plain numbers rise");
    weft_sort_rising(0, NULL);
}

MAIN(ranks, test_errors, test_arena, test_regrow, test_rng, test_normal, test_heap,
     test_scopes, test_sorting)

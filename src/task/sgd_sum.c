/* Exact sums of the gradients of a batch's pieces. A batch is divided into a number of
 * pieces that does not depend on the number of ranks. Each rank computes the gradients of
 * some pieces, and their sum is exact, so that its bits do not depend on the ranks: numbers
 * are converted to integers, in a unit for each block of weights that is set by the largest
 * magnitude in all pieces. The largest number of a block keeps 29 bits, less those for
 * carries; floats have 24. Each rank sums a part of the weights, and takes their steps.
 * Called by sgd_step.c. */
#include "sgd.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

#ifdef WEFT_DOUBLE
#define ROOM         61 /* bits of a sum */
#define SUM_OF_PARTS weft_parts_sum_i64
#else
#define ROOM         30
#define SUM_OF_PARTS weft_parts_sum_i32
#endif

/* The pieces are dealt to the ranks in order and in reverse order in turns, as documents
 * are to pieces, so that ranks with equally many have nearly as many words, too. */
static void deal_pieces(sgd_pieces *p, const weft_team *team)
{
    int last = team->size - 1;
    for (int64_t lap = 0; lap * team->size < p->n; lap++) {
        int64_t piece = lap * team->size + (lap % 2 ? last - team->rank : team->rank);
        if (piece < p->n) p->own[p->count++] = (int)piece;
    }
}

sgd_pieces sgd_pieces_new(const sgd *t, const sgd_model *m, int64_t room, weft_arena *tmp)
{
    weft_team *team = t->env.team;
    sgd_pieces p = {.n = t->parts,
                    .own = WEFT_NEW(tmp, int, t->parts),
                    .from = WEFT_NEW(tmp, int, t->parts + 1),
                    .room = room,
                    .at = m->table.at,
                    .parts = m->table.at};
    int alone = p.n == 1; /* each rank computes the same */
    if (alone)
        p.count = 1;
    else
        deal_pieces(&p, team);
    p.g = WEFT_NEW(tmp, real, (p.count > 0 ? p.count : 1) * room);
    if (alone || team->size == 1) return p;
    weft_deal(p.at, team->rank, team->size, &p.part, &p.parts);
    p.sum = weft_parts_buffer(team, (size_t)room * sizeof *p.sum);
    p.most = WEFT_NEW(tmp, double, (room + BLOCK - 1) / BLOCK);
    return p;
}

/* The share of the batch's samples that a piece of this rank has. */
static double share_of(const sgd_pieces *p, int i)
{
    const int *from = p->from + p->own[i];
    return (double)(from[1] - from[0]) / p->from[p->n];
}

static int length_of(int64_t block, int64_t n)
{
    int64_t left = n - block * BLOCK;
    return (int)(left < BLOCK ? left : BLOCK);
}

/* The largest magnitude of x[n], compared by bits, so that a number that is not finite is
 * the largest. */
static double largest(int n, const real *x)
{
    sgd_whole top = 0;
    for (int i = 0; i < n; i++) {
        sgd_whole bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= (sgd_whole)(((uint64_t)1 << (8 * sizeof bits - 1)) - 1);
        top = bits > top ? bits : top;
    }
    real r;
    memcpy(&r, &top, sizeof r);
    return isfinite(r) ? (double)r : INFINITY;
}

/* The largest magnitude in block b of what this rank's pieces contribute. */
static double most_of(const sgd_pieces *p, int64_t b, int64_t n)
{
    double most = 0;
    for (int i = 0; i < p->count; i++) {
        double share = share_of(p, i);
        if (!(share > 0)) continue;
        double own = largest(length_of(b, n), p->g + i * p->room + b * BLOCK);
        most = fmax(most, share * own);
    }
    return most;
}

/* The power of two that the numbers of a block are multiplied by. */
static int scale_of(const sgd_pieces *p, double most)
{
    int exponent;
    frexp(most * p->n, &exponent);
    return ROOM - (exponent < -80 ? -80 : exponent); /* it and its inverse are finite */
}

/* sum = block b of what this rank's pieces contribute, times 2^up, each to the next whole
 * number towards zero. */
static void sum_block(const sgd_pieces *p, int64_t b, int64_t n, int up, sgd_whole *sum)
{
    int many = length_of(b, n);
    memset(sum, 0, (size_t)many * sizeof *sum);
    for (int i = 0; i < p->count; i++) {
        const real *x = p->g + i * p->room + b * BLOCK;
        real by = (real)ldexp(share_of(p, i), up);
        for (int e = 0; e < many && by > 0; e++) sum[e] += (sgd_whole)(x[e] * by);
    }
}

static void read_block(int n, const sgd_whole *sum, double unit, real *to)
{
    real by = (real)unit;
    for (int i = 0; i < n; i++) to[i] = (real)sum[i] * by;
}

/* Where one rank has all pieces: a block at a time, which stays in cache. */
static int sum_alone(sgd_pieces *p, int64_t n)
{
    sgd_whole sum[BLOCK];
    for (int64_t b = 0; b * BLOCK < n; b++) {
        double most = most_of(p, b, n);
        if (!isfinite(most)) return 0;
        if (p->n == 1) continue;
        int up = scale_of(p, most);
        sum_block(p, b, n, up, sum);
        read_block(length_of(b, n), sum, ldexp(1, -up), p->g + b * BLOCK);
    }
    return 1;
}

/* Numbers [first, first + count) of the sum. */
static void read_range(sgd_pieces *p, int64_t first, int64_t count)
{
    int64_t end = first + count;
    for (int64_t i = first; i < end;) {
        int64_t next = (i / BLOCK + 1) * BLOCK;
        if (next > end) next = end;
        read_block((int)(next - i), p->sum + i, p->most[i / BLOCK], p->g + i);
        i = next;
    }
}

/* Numbers from p->at on: the words of the batch, whose rows all ranks step. */
static void sum_words(const sgd *t, sgd_pieces *p, int64_t n)
{
    weft_team *team = t->env.team;
    int64_t first, count, words = n - p->at;
    if (words == 0) return;
    SUM_OF_PARTS(team, p->sum + p->at, (size_t)words);
    weft_deal(words, team->rank, team->size, &first, &count);
    read_range(p, p->at + first, count);
    weft_parts_join(team, p->g + p->at, (size_t)words);
}

int sgd_pieces_sum(const sgd *t, sgd_pieces *p, int64_t n)
{
    int64_t nblock = (n + BLOCK - 1) / BLOCK;
    if (!p->sum) return sum_alone(p, n);
    for (int64_t b = 0; b < nblock; b++) p->most[b] = most_of(p, b, n);
    weft_max_f64(t->env.team, p->most, (size_t)nblock);
    for (int64_t b = 0; b < nblock; b++) {
        if (!isfinite(p->most[b])) return 0;
        int up = scale_of(p, p->most[b]);
        sum_block(p, b, n, up, p->sum + b * BLOCK);
        p->most[b] = ldexp(1, -up);
    }
    SUM_OF_PARTS(t->env.team, p->sum, (size_t)p->at);
    read_range(p, p->part, p->parts);
    sum_words(t, p, n);
    return 1;
}

void sgd_pieces_join(const sgd *t, const sgd_pieces *p, real *x)
{
    if (p->sum) weft_parts_join(t->env.team, x, (size_t)p->at);
}

/* Exact sums of the gradients of a batch's pieces. A batch is divided into a number of
 * pieces that does not depend on the number of ranks. Each rank computes the gradients of
 * some pieces, and their sum is exact, so that its bits do not depend on the ranks: numbers
 * are converted to integers, in a unit for each block of weights that is set by the largest
 * magnitude in all pieces. The largest number of a block keeps 29 bits, less those for
 * carries; floats have 24. Each rank sums a part of the weights, and takes their steps:
 * ranks that share memory read the gradients of each other there, others exchange the
 * integers. */
#include "sum.h"
#include "words.h"

#include <math.h>
#include <string.h>

#ifdef WEFT_DOUBLE
#define ROOM         61 /* bits of a sum */
#define SUM_OF_PARTS weft_parts_sum_i64
#else
#define ROOM         30
#define SUM_OF_PARTS weft_parts_sum_i32
#endif

/* ---- pieces ---- */

/* The rank that computes a piece. Pieces are dealt in order and in reverse order in turns,
 * as documents are to pieces, so that ranks with equally many have nearly as many words,
 * too. */
static int rank_of(int piece, int size)
{
    int lap = piece / size, turn = piece % size;
    return lap % 2 ? size - 1 - turn : turn;
}

/* Each rank's buffer has room for what is exchanged, then for the gradients of its
 * pieces. */
static void place_pieces(sgd_pieces *p, weft_team *team)
{
    int laps = (p->n + team->size - 1) / team->size;
    p->exchange =
        weft_parts_buffer(team, (size_t)(1 + laps) * (size_t)p->room * sizeof(real));
    p->out = p->exchange + p->room;
    if (weft_parts_of(team, 0)) p->sharers = team->size;
    for (int i = 0; i < p->n; i++) {
        int r = rank_of(i, team->size);
        real *of = r == team->rank ? p->exchange : weft_parts_of(team, r);
        if (r == team->rank) p->own[p->count++] = i;
        if (of) p->g[i] = of + (1 + i / team->size) * p->room;
    }
    weft_deal(p->table.at, team->rank, team->size, &p->part, &p->parts);
}

static void keep_all_pieces(sgd_pieces *p, weft_arena *tmp)
{
    p->out = WEFT_NEW(tmp, real, p->n * p->room);
    for (int i = 0; i < p->n; i++) {
        p->own[p->count++] = i;
        p->g[i] = p->out + i * p->room;
    }
    p->parts = p->table.at;
}

/* Blocks that begin before number i of a gradient: blocks of WEFT_BLOCK weights, then the
 * rows of words. */
static int64_t blocks_before(const sgd_pieces *p, int64_t i)
{
    int64_t at = p->table.at, plain = i < at ? i : at;
    int64_t rows = i > at ? (i - at + p->table.d - 1) / p->table.d : 0;
    return (plain + WEFT_BLOCK - 1) / WEFT_BLOCK + rows;
}

sgd_pieces sgd_pieces_new(const sgd *t, const sgd_model *m, int64_t room, weft_arena *tmp)
{
    weft_team *team = t->env.team;
    int longest = m->table.d > WEFT_BLOCK ? m->table.d : WEFT_BLOCK;
    sgd_pieces p = {.n = t->parts,
                    .own = WEFT_NEW(tmp, int, t->parts),
                    .from = WEFT_NEW(tmp, int, t->parts + 1),
                    .g = WEFT_NEW(tmp, real *, t->parts),
                    .block = WEFT_NEW(tmp, sgd_whole, longest),
                    .room = room,
                    .table = m->table,
                    .sharers = 1};
    if (p.n == 1 || team->size == 1)
        keep_all_pieces(&p, tmp); /* a piece alone is computed by every rank */
    else
        place_pieces(&p, team);
    if (!p.exchange || p.sharers > 1) return p;
    p.sum = (sgd_whole *)(void *)p.exchange;
    p.most = WEFT_NEW(tmp, double, blocks_before(&p, room));
    return p;
}

/* The share of the batch's samples that a piece has. */
static double share_of(const sgd_pieces *p, int piece)
{
    return (double)(p->from[piece + 1] - p->from[piece]) / p->from[p->n];
}

/* ---- a block ---- */

/* Numbers [first, first + n) of a gradient. */
typedef struct span {
    int64_t first;
    int n;
} span;

static span span_of(const sgd_pieces *p, int64_t block)
{
    int64_t at = p->table.at, row = block - blocks_before(p, at);
    if (row >= 0) return (span){at + row * p->table.d, p->table.d};
    int64_t first = block * WEFT_BLOCK, left = at - first;
    return (span){first, (int)(left < WEFT_BLOCK ? left : WEFT_BLOCK)};
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

/* The largest magnitude of what the pieces that this rank reads contribute. */
static double most_of(const sgd_pieces *p, span s)
{
    double most = 0;
    for (int i = 0; i < p->n; i++) {
        double share = share_of(p, i);
        if (p->g[i] && share > 0)
            most = fmax(most, share * largest(s.n, p->g[i] + s.first));
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

/* sum = what the pieces that this rank reads contribute, times 2^up, each to the next whole
 * number towards zero. */
static void sum_block(const sgd_pieces *p, span s, int up, sgd_whole *sum)
{
    memset(sum, 0, (size_t)s.n * sizeof *sum);
    for (int i = 0; i < p->n; i++) {
        double share = share_of(p, i);
        if (!p->g[i] || !(share > 0)) continue;
        const real *x = p->g[i] + s.first;
        real by = (real)ldexp(share, up);
        for (int e = 0; e < s.n; e++) sum[e] += (sgd_whole)(x[e] * by);
    }
}

static void read_block(int n, const sgd_whole *sum, double unit, real *to)
{
    real by = (real)unit;
    for (int i = 0; i < n; i++) to[i] = (real)sum[i] * by;
}

/* ---- where this rank reads all pieces ---- */

/* A block at a time, which stays in cache. */
static int sum_whole_block(sgd_pieces *p, int64_t block)
{
    span s = span_of(p, block);
    double most = most_of(p, s);
    if (!isfinite(most)) return 0;
    if (p->n == 1) return 1;
    int up = scale_of(p, most);
    sum_block(p, s, up, p->block);
    read_block(s.n, p->block, ldexp(1, -up), p->out + s.first);
    return 1;
}

static int sum_here(const sgd *t, sgd_pieces *p, const sgd_words *k)
{
    double failed = 0;
    int64_t plain = blocks_before(p, p->table.at);
    int64_t first = blocks_before(p, p->part), end = blocks_before(p, p->part + p->parts);
    if (p->sharers > 1) weft_parts_meet(t->env.team);
    for (int64_t b = first; b < end; b++)
        if (!sum_whole_block(p, b)) failed = 1;
    for (int i = 0; i < k->seats.n; i++)
        if (sgd_words_own(k, i) && !sum_whole_block(p, plain + i)) failed = 1;
    if (p->sharers > 1) weft_max_f64(t->env.team, &failed, 1);
    return !(failed > 0);
}

/* ---- where ranks exchange integers ---- */

/* Numbers [first, first + count) of the sum. */
static void read_range(sgd_pieces *p, int64_t first, int64_t count)
{
    int64_t end = first + count;
    for (int64_t i = first; i < end;) {
        int64_t block = blocks_before(p, i + 1) - 1;
        span s = span_of(p, block);
        int64_t next = s.first + s.n < end ? s.first + s.n : end;
        read_block((int)(next - i), p->sum + i, p->most[block], p->out + i);
        i = next;
    }
}

/* The words of the batch, whose rows all ranks step. */
static void sum_words(weft_team *team, sgd_pieces *p, int64_t n)
{
    int64_t at = p->table.at, first, count;
    if (n == 0) return;
    SUM_OF_PARTS(team, p->sum + at, (size_t)n);
    weft_deal(n, team->rank, team->size, &first, &count);
    read_range(p, at + first, count);
    weft_parts_join(team, p->out + at, 1, (size_t)n);
}

static int sum_by_message(const sgd *t, sgd_pieces *p, const sgd_words *k)
{
    int64_t words = (int64_t)k->seats.n * p->table.d;
    int64_t nblock = blocks_before(p, p->table.at + words);
    for (int64_t b = 0; b < nblock; b++) p->most[b] = most_of(p, span_of(p, b));
    weft_max_f64(t->env.team, p->most, (size_t)nblock);
    for (int64_t b = 0; b < nblock; b++) {
        if (!isfinite(p->most[b])) return 0;
        span s = span_of(p, b);
        int up = scale_of(p, p->most[b]);
        sum_block(p, s, up, p->sum + s.first);
        p->most[b] = ldexp(1, -up);
    }
    SUM_OF_PARTS(t->env.team, p->sum, (size_t)p->table.at);
    read_range(p, p->part, p->parts);
    sum_words(t->env.team, p, words);
    return 1;
}

int sgd_pieces_sum(const sgd *t, sgd_pieces *p, const sgd_words *k)
{
    return p->sum ? sum_by_message(t, p, k) : sum_here(t, p, k);
}

void sgd_pieces_join(const sgd *t, const sgd_pieces *p, real *x)
{
    if (p->exchange) weft_parts_join(t->env.team, x, 1, (size_t)p->table.at);
}

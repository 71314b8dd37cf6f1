/* What ranks exchange in a step: sums of gradients, and rows of words.
 *
 * A batch is divided into a number of pieces that does not depend on the number of ranks.
 * Each rank computes the gradients of some pieces, and their sum is exact, so that its bits
 * do not depend on the ranks: numbers are converted to integers, in a unit for each block
 * of weights that is set by the largest magnitude in all pieces. The largest number of a
 * block keeps 29 bits, less those for carries; floats have 24. Each rank sums a part of the
 * weights, and takes their steps: ranks that share memory read the gradients of each other
 * there, others exchange the integers.
 *
 * A step changes the rows of the batch's words alone; the others take its decays when they
 * are next read. */
#include "sgd.h"

#include <math.h>
#include <string.h>

#ifdef WEFT_DOUBLE
#define ROOM         61 /* bits of a sum */
#define SUM_OF_PARTS weft_parts_sum_i64
#else
#define ROOM         30
#define SUM_OF_PARTS weft_parts_sum_i32
#endif

enum { OWED = 4096 }; /* steps that a row may owe */

/* ---- rows of words ---- */

sgd_words sgd_words_new(const sgd_task *sgd, const sgd_model *model,
                        const sgd_pieces *pieces, int64_t batch, int64_t steps,
                        weft_arena *tmp)
{
    sgd_words words = {.table = model->table,
                       .team = sgd->env.team,
                       .sharers = pieces->sharers,
                       .exchange = pieces->exchange,
                       .room = steps < OWED ? steps : OWED};
    if (words.table.rows == 0) return words;
    words.pace = WEFT_NEW(tmp, weft_pace, words.room);
    words.most = (pieces->room - words.table.at) / words.table.d;
    words.seats = weft_seats_new(sgd->shape.words, batch * sgd->shape.d, tmp);
    words.row = WEFT_NEW(tmp, int64_t, words.most);
    words.taken = WEFT_NEW(tmp, int64_t, words.table.rows);
    return words;
}

void sgd_words_seat(sgd_words *words, const sgd_task *sgd, int n, const int64_t *row)
{
    if (words->table.rows == 0) return;
    weft_seats_clear(&words->seats);
    for (int i = 0; i < n; i++) {
        int length;
        const uint32_t *word = sgd->source->words(sgd, row[i], &length);
        weft_seats_add(&words->seats, length, word);
    }
    for (int i = 0; i < words->seats.n; i++)
        words->row[i] = (int64_t)words->seats.word[i] + 1;
}

/* The rank that keeps a row up to date, of those that share memory. */
static int keeper_of(const sgd_words *words, int64_t row)
{
    return (int)(row % words->sharers);
}

/* 1 if this rank does; where memory is not shared, every rank does. */
static int keeps_row(const sgd_words *words, int64_t row)
{
    return words->sharers == 1 || keeper_of(words, row) == words->team->rank;
}

/* 1 if this rank steps the row of the word that has that place. */
static int steps_word(const sgd_words *words, int place)
{
    return keeps_row(words, words->row[place]);
}

/* The row words->row[i] in the weights, or a vector of the optimizer, x. */
static real *row_in(const sgd_words *words, real *x, int64_t i)
{
    return x + words->table.at + words->row[i] * words->table.d;
}

/* The rows words->row[n] of x, each from its keeper. */
static void get_rows(const sgd_words *words, int64_t n, real *x)
{
    int64_t d = words->table.d;
    size_t bytes = (size_t)d * sizeof *x;
    if (words->sharers == 1) return;
    for (int64_t i = 0; i < n; i++)
        if (keeps_row(words, words->row[i]))
            memcpy(words->exchange + i * d, row_in(words, x, i), bytes);
    weft_parts_meet(words->team);
    for (int64_t i = 0; i < n; i++) {
        if (keeps_row(words, words->row[i])) continue;
        const real *of = weft_parts_of(words->team, keeper_of(words, words->row[i]));
        memcpy(row_in(words, x, i), of + i * d, bytes);
    }
    weft_parts_meet(words->team);
}

/* A row that this rank keeps takes the steps that it owes. */
static void pay_row(sgd_words *words, const sgd_model *model, int64_t row, real *w,
                    real *slots)
{
    int64_t from = words->taken[row], at = words->table.at + row * words->table.d;
    weft_descent_idle(&model->train.descent, words->pace + from, words->nstep - from,
                      words->table.d, w + at, slots + at, model->n);
    words->taken[row] = words->nstep;
}

void sgd_words_settle(sgd_words *words, const sgd_model *model, int64_t n, real *w,
                      real *slots)
{
    for (int64_t i = 0; i < n; i++)
        if (keeps_row(words, words->row[i])) pay_row(words, model, words->row[i], w, slots);
    get_rows(words, n, w);
}

/* All rows that this rank keeps, after which nothing is owed. */
static void settle_own_rows(sgd_words *words, const sgd_model *model, real *w, real *slots)
{
    for (int64_t row = 0; row < words->table.rows; row++)
        if (keeps_row(words, row)) pay_row(words, model, row, w, slots);
    memset(words->taken, 0, (size_t)words->table.rows * sizeof *words->taken);
    words->nstep = 0;
}

void sgd_words_step(sgd_words *words, const sgd_model *model, weft_pace pace, real *w,
                    real *g, real *slots)
{
    const weft_descent *descent = &model->train.descent;
    if (words->table.rows == 0) return;
    if (words->nstep == words->room) settle_own_rows(words, model, w, slots);
    words->pace[words->nstep++] = pace;
    for (int i = 0; i < words->seats.n; i++) {
        if (!steps_word(words, i)) continue;
        weft_descent_step(descent, &pace, words->table.d, row_in(words, w, i),
                          g + (int64_t)i * words->table.d, row_in(words, slots, i),
                          model->n);
        words->taken[words->row[i]] = words->nstep;
    }
}

void sgd_words_end(sgd_words *words, const sgd_model *model, real *w, real *slots)
{
    for (int64_t from = 0; from < words->table.rows; from += words->most) {
        int64_t left = words->table.rows - from,
                n = left < words->most ? left : words->most;
        for (int64_t i = 0; i < n; i++) words->row[i] = from + i;
        sgd_words_settle(words, model, n, w, slots);
        for (int s = 0; s < model->slots; s++) get_rows(words, n, slots + s * model->n);
    }
}

/* ---- pieces of a batch ---- */

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
static void place_pieces(sgd_pieces *pieces, weft_team *team)
{
    int laps = (pieces->n + team->size - 1) / team->size;
    pieces->exchange =
        weft_parts_buffer(team, (size_t)(1 + laps) * (size_t)pieces->room * sizeof(real));
    pieces->out = pieces->exchange + pieces->room;
    if (weft_parts_of(team, 0)) pieces->sharers = team->size;
    for (int i = 0; i < pieces->n; i++) {
        int r = rank_of(i, team->size);
        real *of = r == team->rank ? pieces->exchange : weft_parts_of(team, r);
        if (r == team->rank) pieces->own[pieces->count++] = i;
        if (of) pieces->g[i] = of + (1 + i / team->size) * pieces->room;
    }
    weft_deal(pieces->table.at, team->rank, team->size, &pieces->part, &pieces->parts);
}

static void keep_all_pieces(sgd_pieces *pieces, weft_arena *tmp)
{
    pieces->out = WEFT_NEW(tmp, real, pieces->n * pieces->room);
    for (int i = 0; i < pieces->n; i++) {
        pieces->own[pieces->count++] = i;
        pieces->g[i] = pieces->out + i * pieces->room;
    }
    pieces->parts = pieces->table.at;
}

/* Blocks that begin before number i of a gradient: blocks of WEFT_BLOCK weights, then the
 * rows of words. */
static int64_t blocks_before(const sgd_pieces *pieces, int64_t i)
{
    int64_t at = pieces->table.at, plain = i < at ? i : at;
    int64_t rows = i > at ? (i - at + pieces->table.d - 1) / pieces->table.d : 0;
    return (plain + WEFT_BLOCK - 1) / WEFT_BLOCK + rows;
}

sgd_pieces sgd_pieces_new(const sgd_task *sgd, const sgd_model *model, int64_t room,
                          weft_arena *tmp)
{
    weft_team *team = sgd->env.team;
    int longest = model->table.d > WEFT_BLOCK ? model->table.d : WEFT_BLOCK;
    sgd_pieces pieces = {.n = sgd->opts.parts,
                         .own = WEFT_NEW(tmp, int, sgd->opts.parts),
                         .from = WEFT_NEW(tmp, int, sgd->opts.parts + 1),
                         .g = WEFT_NEW(tmp, real *, sgd->opts.parts),
                         .block = WEFT_NEW(tmp, sgd_whole, longest),
                         .room = room,
                         .table = model->table,
                         .sharers = 1};
    if (pieces.n == 1 || team->size == 1)
        keep_all_pieces(&pieces, tmp); /* a piece alone is computed by every rank */
    else
        place_pieces(&pieces, team);
    if (!pieces.exchange || pieces.sharers > 1) return pieces;
    pieces.sum = (sgd_whole *)(void *)pieces.exchange;
    pieces.most = WEFT_NEW(tmp, double, blocks_before(&pieces, room));
    return pieces;
}

/* The share of the batch's samples that a piece has. */
static double share_of(const sgd_pieces *pieces, int piece)
{
    return (double)(pieces->from[piece + 1] - pieces->from[piece]) /
           pieces->from[pieces->n];
}

/* ---- the sum of a block ---- */

/* Numbers [first, first + n) of a gradient. */
struct span {
    int64_t first;
    int n;
};

static struct span span_of(const sgd_pieces *pieces, int64_t block)
{
    int64_t at = pieces->table.at, row = block - blocks_before(pieces, at);
    if (row >= 0) return (struct span){at + row * pieces->table.d, pieces->table.d};
    int64_t first = block * WEFT_BLOCK, left = at - first;
    return (struct span){first, (int)(left < WEFT_BLOCK ? left : WEFT_BLOCK)};
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
static double most_of(const sgd_pieces *pieces, struct span span)
{
    double most = 0;
    for (int i = 0; i < pieces->n; i++) {
        double share = share_of(pieces, i);
        if (pieces->g[i] && share > 0)
            most = fmax(most, share * largest(span.n, pieces->g[i] + span.first));
    }
    return most;
}

/* The power of two that the numbers of a block are multiplied by. */
static int scale_of(const sgd_pieces *pieces, double most)
{
    int exponent;
    frexp(most * pieces->n, &exponent);
    return ROOM - (exponent < -80 ? -80 : exponent); /* it and its inverse are finite */
}

/* sum = what the pieces that this rank reads contribute, times 2^up, each to the next whole
 * number towards zero. */
static void sum_block(const sgd_pieces *pieces, struct span span, int up, sgd_whole *sum)
{
    memset(sum, 0, (size_t)span.n * sizeof *sum);
    for (int i = 0; i < pieces->n; i++) {
        double share = share_of(pieces, i);
        if (!pieces->g[i] || !(share > 0)) continue;
        const real *x = pieces->g[i] + span.first;
        real by = (real)ldexp(share, up);
        for (int e = 0; e < span.n; e++) sum[e] += (sgd_whole)(x[e] * by);
    }
}

static void read_block(int n, const sgd_whole *sum, double unit, real *to)
{
    real by = (real)unit;
    for (int i = 0; i < n; i++) to[i] = (real)sum[i] * by;
}

/* ---- sums where this rank reads all pieces ---- */

/* A block at a time, which stays in cache. */
static int sum_whole_block(sgd_pieces *pieces, int64_t block)
{
    struct span span = span_of(pieces, block);
    double most = most_of(pieces, span);
    if (!isfinite(most)) return 0;
    if (pieces->n == 1) return 1;
    int up = scale_of(pieces, most);
    sum_block(pieces, span, up, pieces->block);
    read_block(span.n, pieces->block, ldexp(1, -up), pieces->out + span.first);
    return 1;
}

static int sum_here(const sgd_task *sgd, sgd_pieces *pieces, const sgd_words *words)
{
    double failed = 0;
    int64_t plain = blocks_before(pieces, pieces->table.at);
    int64_t first = blocks_before(pieces, pieces->part),
            end = blocks_before(pieces, pieces->part + pieces->parts);
    if (pieces->sharers > 1) weft_parts_meet(sgd->env.team);
    for (int64_t b = first; b < end; b++)
        if (!sum_whole_block(pieces, b)) failed = 1;
    for (int i = 0; i < words->seats.n; i++)
        if (steps_word(words, i) && !sum_whole_block(pieces, plain + i)) failed = 1;
    if (pieces->sharers > 1) weft_max_f64(sgd->env.team, &failed, 1);
    return !(failed > 0);
}

/* ---- sums where ranks exchange integers ---- */

/* Numbers [first, first + count) of the sum. */
static void read_range(sgd_pieces *pieces, int64_t first, int64_t count)
{
    int64_t end = first + count;
    for (int64_t i = first; i < end;) {
        int64_t block = blocks_before(pieces, i + 1) - 1;
        struct span span = span_of(pieces, block);
        int64_t next = span.first + span.n < end ? span.first + span.n : end;
        read_block((int)(next - i), pieces->sum + i, pieces->most[block], pieces->out + i);
        i = next;
    }
}

/* The words of the batch, whose rows all ranks step. */
static void sum_words(weft_team *team, sgd_pieces *pieces, int64_t n)
{
    int64_t at = pieces->table.at, first, count;
    if (n == 0) return;
    SUM_OF_PARTS(team, pieces->sum + at, (size_t)n);
    weft_deal(n, team->rank, team->size, &first, &count);
    read_range(pieces, at + first, count);
    weft_parts_join(team, pieces->out + at, 1, (size_t)n);
}

static int sum_by_message(const sgd_task *sgd, sgd_pieces *pieces, const sgd_words *known)
{
    int64_t words = (int64_t)known->seats.n * pieces->table.d;
    int64_t nblock = blocks_before(pieces, pieces->table.at + words);
    for (int64_t b = 0; b < nblock; b++)
        pieces->most[b] = most_of(pieces, span_of(pieces, b));
    weft_max_f64(sgd->env.team, pieces->most, (size_t)nblock);
    for (int64_t b = 0; b < nblock; b++) {
        if (!isfinite(pieces->most[b])) return 0;
        struct span span = span_of(pieces, b);
        int up = scale_of(pieces, pieces->most[b]);
        sum_block(pieces, span, up, pieces->sum + span.first);
        pieces->most[b] = ldexp(1, -up);
    }
    SUM_OF_PARTS(sgd->env.team, pieces->sum, (size_t)pieces->table.at);
    read_range(pieces, pieces->part, pieces->parts);
    sum_words(sgd->env.team, pieces, words);
    return 1;
}

int sgd_pieces_sum(const sgd_task *sgd, sgd_pieces *pieces, const sgd_words *words)
{
    return pieces->sum ? sum_by_message(sgd, pieces, words) : sum_here(sgd, pieces, words);
}

void sgd_pieces_join(const sgd_task *sgd, const sgd_pieces *pieces, real *x)
{
    if (pieces->exchange) weft_parts_join(sgd->env.team, x, 1, (size_t)pieces->table.at);
}

/* Section [compress]: fewer bytes from clients to the server and back. Every step is a
 * function of numbers, options and identities, computed alike on all ranks.
 *
 * client, of a client's change on its way to the server:
 *   quantize  each number becomes one of 2^bits - 1 levels, at random so that its mean
 * stays (fed_quantize) topk      the numbers of largest magnitude alone are sent; what is
 * left is kept by the client and added to its next change (fed_keep_largest) sketch    the
 * sum of changes is sent as a count sketch, of which the server takes the numbers of
 * largest magnitude and keeps the rest for the next round (fed_compress_mean) server, of
 * the weights that clients receive and train from (fed_compress_view): quantize  the
 * weights, rounded anew in each round: clients need to have heard nothing before. Caldas,
 * Konecny, McMahan, Talwalkar, "Expanding the reach of federated learning by reducing
 * client resource requirements", 2018 topk      the numbers of largest magnitude of the
 * difference to what clients have, all of which take part in each round. Philippenko,
 * Dieuleveut, "Preserved central model for faster bidirectional compression", NeurIPS 2021,
 * with alpha = 1 The server's own weights are never rounded, and they are what evaluations
 * score.
 *
 * fed.share: tensors that do not match it are not trained and not sent; all clients have
 * them from the start.
 *
 * Bytes that are counted: numbers and scales take 4; b bits b / 8; places of k among n
 * numbers ceil(log2 n) bits each, or a bit for each number if that is less. Sums that an
 * algorithm has beside the change are sent whole. */
#ifndef WEFT_TASK_FED_COMPRESS_H
#define WEFT_TASK_FED_COMPRESS_H

#include "fed.h"
#include "weft/base/random.h"

enum { FED_WHOLE, FED_QUANTIZE, FED_TOPK, FED_SKETCH }; /* compress.client, .server */
enum { FED_BLOCK = 512 };                               /* numbers that share a scale */

struct fed_compress {
    int client, server, bits, server_bits;
    double share, server_share; /* of the numbers, sent by topk and taken of a sketch */
    int rows;                   /* of a sketch, */
    int64_t columns;
    /* set by fed_compress_setup */
    const char *fixed; /* [tensors] 1: it does not travel (fed.share); NULL: all do */
    int64_t sent;      /* numbers of those that do */
    double up, down;   /* bytes of a change, and of what a client receives */
};

extern const weft_kind fed_compress_kind; /* section [compress] */

/* Reads section [compress] and fed.share, and sets fed->modes.compress; NULL: neither asks
 * for anything. amounts: what the algorithm needs. Called when fed->tensor is known. ECONF:
 * options that contradict each other, save nothing, or need what the algorithm or the
 * devices do not give. Local. */
WEFT_CHECKED weft_status fed_compress_setup(fed_task *fed, const weft_amounts *amounts);

/* [tensors] 1: it is not trained by algorithms without courses; NULL: all are. */
const char *fed_fixed(const fed_task *fed);
/* Changes what the algorithm's weights take up and down, in numbers of 4 bytes. */
void fed_compress_amounts(const fed_task *fed, weft_amounts *amounts);
/* Numbers that a client keeps behind those of the algorithm, and that the server has at the
 * end of a state's x: a sketch of what was not taken, then the weights that clients have.
 */
int64_t fed_compress_kept(const fed_task *fed);
int64_t fed_compress_state(const fed_task *fed);

/* Makes change[nweight] of a client what is sent. row[each]: what it keeps, which ends with
 * the numbers of fed_compress_kept, in and out. None of the numbers becomes larger than
 * client.max_change. */
void fed_compress_change(const fed_task *fed, uint64_t round, int64_t client, real *row,
                         real *change);
/* What the server has of the mean change delta[nweight], by its state x: of a sketch the
 *     e <- e + S delta,   delta <- the k = ceil(share n) largest of U e,   e <- e - S
 * delta, with S x the sketch, U e the estimates: FetchSGD without momentum, as that is the
 * server's. A sketch is linear, so that the mean of sketches is that of the mean. Rothchild
 * et al., "FetchSGD: communication-efficient federated learning with sketching", ICML 2020.
 */
void fed_compress_mean(const fed_task *fed, real *x, real *delta);
/* The state that clients train from in a round, at least its weights and the server's
 * further numbers: x itself, or a copy in tmp with other weights. */
const real *fed_compress_view(const fed_task *fed, int64_t round, real *x, weft_arena *tmp);
/* At the end of a round: clients have what they received. */
void fed_compress_end(const fed_task *fed, real *x, const real *view);

/* ---- numbers ---- */

/* Rounds x[n] to bits: with m = max |x| and L = 2^(bits-1) - 1 levels,
 *     x <- sign(x) (m / L) floor(|x| L / m + u),   u uniform in [0, 1),
 * of mean x. Number i draws half i % 2 of word i / 2 of the key's row, counted from
 * `first`. 32 bits: x stays. Alistarh, Grubic, Li, Tomioka, Vojnovic, "QSGD:
 * communication-efficient SGD via gradient quantization and encoding", NeurIPS 2017,
 * section 4: blocks, scaled by their maxima. Cost O(n). */
void fed_quantize(int64_t n, real *x, int bits, const weft_rng_row *key, int64_t first);

/* Leaves of x[n] the k of largest magnitude, of equal ones the first, each within +-most,
 * and 0 elsewhere; rest[n] = what was taken away, NULL: not needed. Stich, Cordonnier,
 * Jaggi, "Sparsified SGD with memory", NeurIPS 2018; Lin, Han, Mao, Wang, Dally, "Deep
 * gradient compression", ICLR 2018, without their momentum correction. Cost O(n), 7 passes
 * at most. */
void fed_keep_largest(int64_t n, real *x, int64_t k, real most, real *rest);

/* A count sketch cells[rows][columns]: in row r number i is added to one column, with one
 * sign, both drawn by half r of the words (seed, WEFT_RNG_COMPRESS, -1, 0, i): its lowest
 * bit set means minus, the others place it. Charikar, Chen, Farach-Colton, "Finding
 * frequent items in data streams", 2002. Cost O(n rows). */
enum { FED_SKETCH_ROWS = 8 }; /* halves of the words */
typedef struct fed_sketch {
    int rows;
    int64_t columns;
    uint64_t seed;
    double *cells;
} fed_sketch;
/* Adds sign x[n], the numbers from `first` on. */
void fed_sketch_add(const fed_sketch *sketch, int64_t first, int64_t n, const real *x,
                    double sign);
/* x[n] = estimates of these: the median over rows, of an even number the mean of the two in
 * the middle. */
void fed_sketch_read(const fed_sketch *sketch, int64_t first, int64_t n, real *x);

#endif

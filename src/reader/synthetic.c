/* Built-in data from a seed: `images` or `documents`, for demonstrations and tests, and
 * federations (synthetic_clients.c). In both, feature maps differ in quality: the classes
 * depend on the bandwidth of a kernel and on preprocessing, or on the order of words, on
 * case and on punctuation. Only keyed random numbers and integer arithmetic are used, so
 * the bytes are the same everywhere.
 *
 * An image is one of its class's smooth patterns, shifted, with a contrast and a brightness
 * of its own, as a negative in two of five images (so that the mean of a class says
 * little), in noise. */
#include "synthetic.h"

#include <math.h>
#include <string.h>

#define GRID     4  /* a pattern is GRID x GRID random heights, interpolated */
#define PATTERNS 2  /* of a class */
#define NEGATIVE 40 /* per cent of images that are negatives */
#define SHIFT    1  /* pixels, at most */
#define BLOCK    512
#define PIXELS   256 /* of an image */

#define FEDERATED "federated="

static const weft_opt options[] = {
    WEFT_LONG_OPT(
        "seed", weft_synthetic, seed, "-1", -1, 9e15,
        "seed of all random numbers; -1: 0, and LEAF's 931231 with federated=leaf"),
    WEFT_LONG_OPT("rows", weft_synthetic, rows, "4000", 8, 1e9,
                  "training rows; validation and test get a quarter of it each"),
    WEFT_INT_OPT("classes", weft_synthetic, classes, "0", 0, 100,
                 "classes; 0: 2 of documents, 5 of leaf, else 10"),
    WEFT_INT_OPT("d", weft_synthetic, d, "0", 0, 1e6,
                 "pixels of an image, a square number, or numbers of a client's sample; 0: "
                 "256 or 60"),
    WEFT_INT_OPT("words", weft_synthetic, words, "60", 1, 1e6,
                 "words of a document, on average"),
    WEFT_LONG_OPT("clients", weft_synthetic, clients, "0", 0, 1e12,
                  "clients of a federation; 0: 1000, and none of images and documents"),
    WEFT_INT_OPT("clusters", weft_synthetic, clusters, "1", 1, 100,
                 "leaf: clusters of clients, equally likely"),
    WEFT_REAL_OPT(
        "samples", weft_synthetic, samples, "60", 5, 1e6,
        "generated, stored: samples of a client, on average; no client has less than 5"),
    WEFT_REAL_OPT(
        "spread", weft_synthetic, spread, "1", 0, 3,
        "generated, stored: standard deviation of the logarithm of a client's samples"),
    WEFT_REAL_OPT("alpha", weft_synthetic, alpha, "0.5", 0, 1e9,
                  "generated, stored: how far clients' models are from the common one"),
    WEFT_REAL_OPT("beta", weft_synthetic, beta, "0.5", 0, 1e9,
                  "generated, stored: how far clients' inputs are from each other"),
    WEFT_REAL_OPT("valid", weft_synthetic, valid, "0.1", 0, 0.9,
                  "federated: share of a client's samples for validation"),
    WEFT_REAL_OPT("test", weft_synthetic, test, "0.1", 0, 0.9,
                  "federated: share of a client's samples for the test"),
    {0},
};

/* ---- images ---- */

/* Height -128..127 of a pattern at a point of the grid, which is a torus. */
static int height(const weft_synthetic *synthetic, int pattern, int gx, int gy)
{
    weft_rng4 rng = synthetic_rng(synthetic, -1 - pattern, gy % GRID * GRID + gx % GRID);
    return (int)(rng.v[0] >> 56) - 128;
}

/* Bilinear interpolation at (x, y) pixels, in units of 1/65536 of a height. */
static int64_t surface(const int *grid, int side, int x, int y)
{
    int u = x * GRID * 256 / side, v = y * GRID * 256 / side;
    int gx = u / 256, gy = v / 256, fx = u % 256, fy = v % 256;
    const int *a = grid + gy * (GRID + 1) + gx, *b = a + GRID + 1;
    return (int64_t)(256 - fy) * ((256 - fx) * a[0] + fx * a[1]) +
           (int64_t)fy * ((256 - fx) * b[0] + fx * b[1]);
}

/* Sum of four uniform bytes of the word's low half, centred: standard deviation 148. */
static int noise(uint32_t word)
{
    return (int)(word & 255) + (int)(word >> 8 & 255) + (int)(word >> 16 & 255) +
           (int)(word >> 24) - 510;
}

void weft_synthetic_image(const weft_synthetic *synthetic, int64_t row, int label,
                          uint8_t *x)
{
    weft_rng4 rng = synthetic_rng(synthetic, row, 0);
    int side = (int)lround(sqrt(synthetic->d));
    int pattern = label * PATTERNS + (int)(rng.v[1] % PATTERNS);
    int shift_x = (int)(rng.v[1] >> 8 & 255) % (2 * SHIFT + 1),
        shift_y = (int)(rng.v[1] >> 16 & 255) % (2 * SHIFT + 1);
    int contrast = 32 + (int)(rng.v[2] % 64), bright = 128 + (int)(rng.v[2] >> 32) % 64;
    if (rng.v[3] % 100 < NEGATIVE) contrast = -contrast;
    int grid[(GRID + 1) * (GRID + 1)];
    for (int i = 0; i < (GRID + 1) * (GRID + 1); i++)
        grid[i] = height(synthetic, pattern, i % (GRID + 1), i / (GRID + 1));
    for (int i = 0; i < synthetic->d; i++) {
        if (i % 8 == 0) rng = synthetic_rng(synthetic, row, 1 + i / 8);
        int64_t shape =
            surface(grid, side, (i % side + shift_x) % side, (i / side + shift_y) % side);
        int value = bright + (int)(shape * contrast / (64 * 65536)) +
                    noise((uint32_t)(rng.v[i % 8 / 2] >> 32 * (i % 2))) / 4;
        x[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static weft_status images(const weft_synthetic *synthetic, const int64_t *rows,
                          weft_pack *pack)
{
    int side = (int)lround(sqrt(synthetic->d));
    if (side * side != synthetic->d)
        return weft_fail(WEFT_ECONF, "d = %d is no square number; try %d", synthetic->d,
                         side * side);
    TRY(weft_pack_matrix(pack, WEFT_BYTES, synthetic->d, rows));
    weft_pack_image(pack, 1, side, side);
    int64_t n = rows[0] + rows[1] + rows[2];
    uint8_t *x = WEFT_NEW(pack->mem, uint8_t, (int64_t)BLOCK * synthetic->d);
    int32_t *label = WEFT_NEW(pack->mem, int32_t, BLOCK);
    for (int64_t start = 0; start < n; start += BLOCK) {
        int64_t count = n - start < BLOCK ? n - start : BLOCK;
        for (int64_t i = 0; i < count; i++) {
            label[i] = (int32_t)((start + i) % synthetic->classes);
            weft_synthetic_image(synthetic, start + i, label[i], x + i * synthetic->d);
        }
        TRY(weft_pack_rows(pack, count, x, label));
    }
    return WEFT_OK;
}

/* ---- the reader ---- */

static weft_status documents(const weft_synthetic *synthetic, const int64_t *rows,
                             weft_pack *pack)
{
    int64_t row = 0;
    for (int part = 0; part < WEFT_NPART; part++) {
        for (int64_t i = 0; i < rows[part]; i++, row++) {
            size_t mark = weft_arena_mark(pack->scratch), n;
            int label = (int)(row % synthetic->classes);
            const char *name =
                weft_arena_text(pack->scratch, "document %lld", (long long)row);
            const char *text =
                weft_synthetic_document(synthetic, row, label, &n, pack->scratch);
            TRY(weft_pack_document(pack, (weft_part)part, name, text, n, label));
            weft_arena_reset(pack->scratch, mark);
        }
    }
    return WEFT_OK;
}

static weft_status synthetic_read(const void *self, const char *source, weft_pack *pack)
{
    static const char *const what[] = {"images", "documents", FEDERATED "leaf",
                                       FEDERATED "generated", FEDERATED "stored"};
    enum { IMAGES, DOCUMENTS, NWHAT = sizeof what / sizeof *what };
    weft_synthetic synthetic = *(const weft_synthetic *)self;
    int kind = 0;
    while (kind < NWHAT && strcmp(source, what[kind]) != 0) kind++;
    if (kind == NWHAT)
        return weft_fail(WEFT_ECONF, "there are no synthetic '%s'; did you mean '%s'?",
                         source, weft_nearest(source, what, NWHAT));
    if (synthetic.classes == 1)
        return weft_fail(WEFT_ECONF, "classes = 1 where two or more are needed");
    if (kind > DOCUMENTS)
        return weft_synthetic_clients(&synthetic, source + strlen(FEDERATED), pack);
    int text = kind == DOCUMENTS;
    if (synthetic.seed < 0) synthetic.seed = 0;
    if (synthetic.d == 0) synthetic.d = PIXELS;
    if (synthetic.classes == 0) synthetic.classes = text ? 2 : 10;
    if (synthetic.classes > synthetic.rows)
        return weft_fail(WEFT_ECONF,
                         "classes = %d of rows = %lld; two or more are needed, and a "
                         "row of each",
                         synthetic.classes, (long long)synthetic.rows);
    weft_pack_numbered(pack, synthetic.classes);
    weft_pack_split(pack, "made in this order: train, valid, test");
    const int64_t rows[WEFT_NPART] = {synthetic.rows, synthetic.rows / 4,
                                      synthetic.rows / 4};
    return text ? documents(&synthetic, rows, pack) : images(&synthetic, rows, pack);
}

extern const weft_reader weft_reader_synthetic;
const weft_reader weft_reader_synthetic = {
    .kind = {.name = "synthetic",
             .about =
                 "built-in data: images, documents, federated=leaf, generated or stored",
             .size = sizeof(weft_synthetic),
             .opts = options},
    .read = synthetic_read,
};

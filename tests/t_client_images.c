/* Images that differ by client when they are dealt: noise that grows with the number of the
 * client, and turns. Beside formulas of their own.
 * RUN: np=1 np=2 */
#include "packing.h"

enum { CHANNELS = 2, SIDE = 6, D = CHANNELS * SIDE * SIDE, WHITE = 255 };

/* Images of which each pixel is its place, or of one grey. */
struct drawn {
    int64_t rows;
    int form, grey, flat, image;
};
enum { FORM_BYTES, FORM_REALS };

static const weft_opt options[] = {
    WEFT_LONG_OPT("rows", struct drawn, rows, "300", 1, 1e9, "of each part"),
    WEFT_CHOICE_OPT("form", struct drawn, form, "bytes", "bytes|reals", "of pixels"),
    WEFT_INT_OPT("grey", struct drawn, grey, "0", 0, WHITE,
                 "of all pixels; 0: their place"),
    WEFT_BOOL_OPT("flat", struct drawn, flat, "no", "twice as wide as high"),
    WEFT_BOOL_OPT("image", struct drawn, image, "yes", "no: rows are no images"),
    {0},
};

static weft_status drawn_read(const void *self, const char *source, weft_pack *pack)
{
    const struct drawn *drawn = self;
    const int64_t rows[WEFT_NPART] = {drawn->rows, drawn->rows, drawn->rows};
    (void)source;
    weft_pack_numbered(pack, 2);
    weft_pack_split(pack, "as drawn");
    TRY(weft_pack_matrix(pack, drawn->form == FORM_BYTES ? WEFT_BYTES : WEFT_REALS, D,
                         rows));
    if (drawn->image)
        weft_pack_image(pack, drawn->flat ? 1 : CHANNELS, SIDE, SIDE * (1 + drawn->flat));
    for (int64_t r = 0; r < WEFT_NPART * drawn->rows; r++) {
        uint8_t byte[D];
        double x[D];
        int32_t label = (int32_t)(r % 2);
        for (int i = 0; i < D; i++)
            x[i] = byte[i] = (uint8_t)(drawn->grey ? drawn->grey : i);
        TRY(weft_pack_rows(pack, 1, drawn->form == FORM_BYTES ? (void *)byte : x, &label));
    }
    return WEFT_OK;
}

static const weft_reader reader = {
    .kind = WEFT_KIND("drawn", struct drawn, options, "images"), .read = drawn_read};

/* Which must succeed. */
static void make(const char *words)
{
    weft_check(packed(&reader, "nowhere", words), "%s", weft_error());
}

/* Pixel i of the sample; of bytes 0 .. 1 in the library, here 0 .. 255. */
static double pixel(const weft_samples *own, int64_t row, int i, double unit)
{
    return (double)own->x[row * D + i] * unit;
}

/* ---- turns ---- */

/* Where a pixel of an image that was turned r quarters, counterclockwise, comes from. */
static int origin(int r, int i)
{
    int plane = i / (SIDE * SIDE), y = i / SIDE % SIDE, x = i % SIDE;
    const int from[4][2] = {
        {y, x}, {x, SIDE - 1 - y}, {SIDE - 1 - y, SIDE - 1 - x}, {SIDE - 1 - x, y}};
    return (plane * SIDE + from[r][0]) * SIDE + from[r][1];
}

static void test_turns(int n, const char *form, double unit)
{
    make(printed("clients=12 rotations=%d form=%s", n, form));
    int64_t wrong = 0, seen = 0;
    for (int64_t c = 0; c < 12; c++)
        for (int p = 0; p < WEFT_NPART; p++) {
            weft_samples own = samples(c, (weft_part)p);
            for (int64_t r = 0; r < own.n; r++, seen++)
                for (int i = 0; i < D; i++)
                    wrong += fabs(pixel(&own, r, i, unit) -
                                  origin((int)(c % n) * (4 / n), i)) > 1e-4;
        }
    ok(seen == 900 && wrong == 0, "%s, rotations = %d: client c is turned by c mod %d",
       form, n, n);
}

static void test_flat(void)
{
    make("clients=2 rotations=2 flat=yes form=reals");
    weft_samples a = samples(0, WEFT_TEST), b = samples(1, WEFT_TEST);
    int64_t wrong = 0;
    for (int i = 0; i < D; i++) wrong += a.x[i] != (float)i || b.x[i] != (float)(D - 1 - i);
    ok(wrong == 0, "images that are not square are turned upside down");
}

/* ---- noise ---- */

/* Moments of the noise of client c: counts, mean, variance, of the fourth power by that of
 * the variance, and products of neighbours by the variance. */
static void moments(int64_t c, double grey, double unit, double *out)
{
    memset(out, 0, 5 * sizeof *out);
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_samples own = samples(c, (weft_part)p);
        for (int64_t i = 0; i < own.n * D; i++) {
            double e = pixel(&own, 0, (int)i, unit) - grey;
            out[0]++;
            out[1] += e;
            out[2] += e * e;
            out[3] += e * e * e * e;
            if (i > 0) out[4] += e * (pixel(&own, 0, (int)i - 1, unit) - grey);
        }
    }
    for (int i = 1; i < 5; i++) out[i] /= out[0];
    out[3] /= out[2] * out[2];
    out[4] /= out[2];
}

/* Client c of n has variance noise (c + 1) / n, of bytes in units of white and that of
 * rounding, 1/12, besides. */
static void test_noise(const char *form, double noise, double unit)
{
    enum { N = 3 };
    double white = unit > 1 ? WHITE : 1;
    make(printed("clients=3 noise=%g form=%s grey=128", noise, form));
    for (int64_t c = 0; c < N; c++) {
        double is[5], variance = noise * (double)(c + 1) / N * white * white;
        if (unit > 1) variance += 1.0 / 12;
        moments(c, 128, unit, is);
        double root = sqrt(is[0]);
        ok(fabs(is[1]) < 4.5 * sqrt(variance) / root, "%s, client %d: mean 0 (%.4f)", form,
           (int)c, is[1]);
        ok(fabs(is[2] / variance - 1) < 4.5 * sqrt(2) / root, "variance %.3f (%.3f)",
           variance, is[2]);
        ok(fabs(is[3] - 3) < 4.5 * sqrt(24) / root, "as of a normal (kurtosis %.3f)",
           is[3]);
        ok(fabs(is[4]) < 4.5 / root, "without regard to neighbours (%.4f)", is[4]);
    }
}

/* Rows, parts and seeds have noise of their own. */
static void test_noise_differs(void)
{
    make("clients=1 noise=1 form=reals grey=128");
    weft_samples train = samples(0, WEFT_TRAIN), test = samples(0, WEFT_TEST);
    float first = train.x[0];
    int64_t equal = 0;
    for (int64_t i = 0; i < D; i++)
        equal += (train.x[i] == train.x[D + i]) + (train.x[i] == test.x[i]);
    for (int64_t i = 4; i < D; i++) equal += train.x[i] == train.x[i - 4];
    for (int64_t i = 0; i < train.n * test.n; i++)
        equal += train.x[i / test.n * D] == test.x[i % test.n * D] &&
                 train.x[i / test.n * D + 1] == test.x[i % test.n * D + 1];
    ok(equal == 0, "rows, parts and pixels have noise of their own");
    make("clients=1 noise=1 form=reals grey=128 seed=1");
    ok(samples(0, WEFT_TRAIN).x[0] != first, "and so have seeds");
}

/* Of pixels at 230 and a deviation of 51 those above white, by the normal distribution. */
static void test_white(void)
{
    make("clients=1 noise=0.04 grey=230 rows=1000");
    weft_samples own = samples(0, WEFT_TRAIN);
    double n = 1000 * D, above = 0, share = erfc((254.5 - 230) / 51 / sqrt(2)) / 2;
    for (int64_t i = 0; i < own.n * D; i++) above += pixel(&own, 0, (int)i, WHITE) > 254.5;
    ok(fabs(above / n - share) < 4.5 * sqrt(share * (1 - share) / n),
       "what is above white is white (%.4f of %.4f)", above / n, share);
    make("clients=1 noise=0.04 grey=1 rows=1000");
    own = samples(0, WEFT_TRAIN);
    double below = 0;
    for (int64_t i = 0; i < own.n * D; i++) below += pixel(&own, 0, (int)i, WHITE) < 0.5;
    share = erfc(0.5 / 51 / sqrt(2)) / 2;
    ok(fabs(below / n - share) < 4.5 * sqrt(share * (1 - share) / n),
       "what is below black is black (%.4f of %.4f)", below / n, share);
}

/* ---- the whole ---- */

static const char *digest_of(const char *words)
{
    make(words);
    return data.digest;
}

static void test_same_again(void)
{
    const char *words = "clients=5 noise=0.1 rotations=4";
    const char *a = digest_of(words), *b = digest_of(words);
    ok(strcmp(a, b) == 0, "the same at every packing");
    printf("# digest %s\n", a);
    ok(strcmp(digest_of("clients=5"), digest_of("clients=5 rotations=1 noise=0")) == 0,
       "and without both as if there were none");
}

static void test_refused(void)
{
    static const char *const bad[][4] = {
        {"clients=2 image=no noise=0.1 form=reals", "noise = 0.1", "leave it out",
         "noise on what is no image"},
        {"clients=2 image=no rotations=4", "rotations = 4", "leave it out",
         "turns of what is no image"},
        {"clients=2 flat=yes rotations=4", "rotations = 4", "rotations=2",
         "quarter turns of images that are not square"},
        {"clients=2 rotations=3", "rotations", "1, 2, 4", "other turns"},
        {"clients=2 noise=-1", "noise", "-1", "negative noise"},
        {"noise=0.1", "noise", "clients = N", "noise of nobody"}};
    for (size_t i = 0; i < LEN(bad); i++)
        refuses(&reader, "", bad[i][0], WEFT_ECONF, bad[i][1], bad[i][2], bad[i][3]);
    refuses(&weft_reader_synthetic, "documents", "rows=40 clients=2 noise=0.1", WEFT_ECONF,
            "noise = 0.1", "leave it out", "noise on documents");
    refuses(&weft_reader_synthetic, "documents", "rows=40 clients=2 rotations=2",
            WEFT_ECONF, "rotations = 2", "leave it out", "turns of documents");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    for (int n = 1; n <= 4; n *= 2) test_turns(n, "bytes", WHITE);
    test_turns(4, "reals", 1);
    test_noise("bytes", 0.01, WHITE);
    test_noise("reals", 0.5, 1);
    return TESTS(test_flat, test_noise_differs, test_white, test_same_again, test_refused);
}

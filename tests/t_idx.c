/* Reader `idx`: MNIST's format with all its number types, compressed or not, and the
 * one-line errors for damaged files and files of different sets.
 * RUN: np=1 */
#include "packing.h"

#include <zlib.h>

/* The head of a file of that type; returns its bytes. */
static size_t head(uint8_t *to, int type, int sides, const int *side)
{
    to[0] = to[1] = 0;
    to[2] = (uint8_t)type;
    to[3] = (uint8_t)sides;
    for (int i = 0; i < 4 * sides; i++)
        to[4 + i] = (uint8_t)(side[i / 4] >> (24 - 8 * (i % 4)));
    return 4 + 4 * (size_t)sides;
}

static void write_file(const char *name, const uint8_t *bytes, size_t n)
{
    size_t length = strlen(name);
    if (length < 3 || strcmp(name + length - 3, ".gz") != 0) {
        write_bytes(name, bytes, n);
        return;
    }
    make_way(name);
    gzFile f = gzopen(at(name), "wb");
    weft_check(f != NULL && gzwrite(f, bytes, (unsigned)n) == (int)n && gzclose(f) == Z_OK,
               "%s", name);
}

enum { ROOM = 100000, H = 3, W = 4, PIXELS = H * W };

/* n images of H x W bytes, the first pixel their number, the last one 255, and labels 1, 2,
 * 3, 1 ... */
static void write_set(const char *dir, const char *prefix, const char *suffix, int n)
{
    static uint8_t bytes[ROOM];
    size_t at = head(bytes, 0x08, 3, (const int[]){n, H, W});
    for (int i = 0; i < n * PIXELS; i++)
        bytes[at++] = (uint8_t)(i % PIXELS == 0            ? i / PIXELS
                                : i % PIXELS == PIXELS - 1 ? 255
                                                           : 7);
    write_file(printed("%s/%s-images-idx3-ubyte%s", dir, prefix, suffix), bytes, at);
    at = head(bytes, 0x08, 1, &n);
    for (int i = 0; i < n; i++) bytes[at++] = (uint8_t)(1 + i % 3);
    write_file(printed("%s/%s-labels-idx1-ubyte%s", dir, prefix, suffix), bytes, at);
}

/* Rows that are not the image of their first pixel, or not with its label. */
static int64_t wrong_rows(void)
{
    int64_t wrong = 0;
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t i = 0; i < data.part[p].n; i++) {
            const uint8_t *x = data.part[p].byte + i * PIXELS;
            wrong += data.part[p].label[i] != x[0] % 3 || x[1] != 7 || x[PIXELS - 1] != 255;
        }
    return wrong;
}

/* ---- sets ---- */

static void test_sets(void)
{
    write_set("mnist", "train", "", 60);
    write_set("mnist", "t10k", "", 9);
    ok(packed(&weft_reader_idx, at("mnist"), "") && parts_are(54, 6, 9) &&
           data.form == WEFT_BYTES && wrong_rows() == 0,
       "MNIST's four files are images with their labels");
    ok(data.classes == 3 && strcmp(data.class_name[0], "1") == 0,
       "classes have their numbers");
    int64_t side[3] = {0};
    weft_status st = weft_h5_read_long(&data.file, "/", "channels", &side[0]);
    if (st == WEFT_OK) st = weft_h5_read_long(&data.file, "/", "height", &side[1]);
    if (st == WEFT_OK) st = weft_h5_read_long(&data.file, "/", "width", &side[2]);
    ok(st == WEFT_OK && side[0] == 1 && side[1] == H && side[2] == W,
       "and images their shape");
    const char *digest = data.digest;
    write_set("gz", "train", ".gz", 60);
    write_set("gz", "t10k", ".gz", 9);
    ok(packed(&weft_reader_idx, at("gz"), "") && strcmp(data.digest, digest) == 0,
       "compressed ones are the same");
    write_set("gz", "train", "", 60);
    ok(packed(&weft_reader_idx, at("gz/train-images-idx3-ubyte.gz"), "") &&
           strcmp(data.digest, digest) == 0,
       "a file may be there both ways, and be given itself");
    write_set("more", "letters-train", ".gz", 60);
    ok(packed(&weft_reader_idx, at("more"), "valid=0.2 test=0.3") &&
           parts_are(30, 12, 18) && wrong_rows() == 0,
       "without a test its rows are divided");
    write_set("more", "digits-train", "", 60);
    write_set("more", "digits-test", "", 9);
    ok(packed(&weft_reader_idx, at("more/digits-train-images-idx3-ubyte"), "") &&
           parts_are(54, 6, 9),
       "one of several sets is named by its training images");
    refuses(&weft_reader_idx, at("more"), "", WEFT_EDATA, "letters-train-images",
            "digits-train-images", "several sets in a directory");
}

static void test_clients(void)
{
    ok(packed(&weft_reader_idx, at("mnist"), "clients=5 partition=iid") &&
           data.clients != NULL && data.clients->channels == 1 &&
           data.clients->height == H && data.clients->width == W,
       "their shape is known to a federation");
    int n = 40;
    static uint8_t bytes[ROOM];
    size_t end = head(bytes, 0x08, 4, (const int[]){n, 3, H, W});
    write_bytes("colour/train-images-idx4-ubyte", bytes, end + (size_t)n * 3 * PIXELS);
    end = head(bytes, 0x08, 1, &n);
    for (int i = 0; i < n; i++) bytes[end++] = (uint8_t)(i % 2);
    write_bytes("colour/train-labels-idx1-ubyte", bytes, end);
    ok(packed(&weft_reader_idx, at("colour"), "clients=4 partition=iid") &&
           data.clients->channels == 3 && data.clients->d == 3 * PIXELS,
       "four sides are rows, channels, height and width");
}

/* ---- numbers ---- */

/* Rows of two numbers of a type, most significant byte first; whether the first is found.
 */
static int reads(int type, const uint8_t *number, int width, float want)
{
    int n = 30, two[] = {n, 2};
    static uint8_t bytes[ROOM];
    size_t end = head(bytes, type, 2, two);
    for (int i = 0; i < 2 * n; i++, end += (size_t)width)
        memcpy(bytes + end, number, (size_t)width);
    write_bytes("types/train-images-idx2", bytes, end);
    end = head(bytes, 0x0c, 1, &n);
    for (int i = 0; i < n; i++, end += 4)
        memcpy(bytes + end, (uint8_t[]){255, 255, 255, (uint8_t)(254 + i % 2)}, 4);
    write_bytes("types/train-labels-idx1", bytes, end);
    if (!packed(&weft_reader_idx, at("types"), "")) return 0;
    const weft_rows *rows = &data.part[WEFT_TRAIN];
    int good = data.form == WEFT_REALS && rows->d == 2 && rows->value[0] == want &&
               rows->value[2 * rows->n - 1] == want && data.classes == 2 &&
               strcmp(data.class_name[0], "-2") == 0;
    return good;
}

static void test_types(void)
{
    ok(reads(0x09, (const uint8_t[]){0x80}, 1, -128), "signed bytes");
    ok(reads(0x0b, (const uint8_t[]){0xff, 0x01}, 2, -255), "short integers");
    ok(reads(0x0c, (const uint8_t[]){0, 1, 0, 2}, 4, 65538), "integers");
    ok(reads(0x0d, (const uint8_t[]){0xbf, 0xc0, 0, 0}, 4, -1.5f), "floats");
    ok(reads(0x0e, (const uint8_t[]){0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}, 8,
             0.1f),
       "doubles, and labels that are negative");
}

/* ---- damage ---- */

/* The set with a file of these bytes is refused. */
static void refused(const char *name, const void *bytes, size_t n, weft_status st,
                    const char *a, const char *b, const char *what)
{
    write_set("bad", "train", "", 60);
    write_set("bad", "t10k", "", 9);
    write_bytes(printed("bad/%s", name), bytes, n);
    fails(pack(&weft_reader_idx, at("bad"), "x.h5", ""), st, a, b, what);
}

static void test_damage(void)
{
    static uint8_t x[ROOM];
    const char *images = "train-images-idx3-ubyte", *labels = "train-labels-idx1-ubyte";
    size_t n = head(x, 0x08, 3, (const int[]){60, H, W});
    refused(images, x, n + 60 * PIXELS - 1, WEFT_EDATA, "60 rows of 12 bytes", "fewer",
            "a file cut short");
    refused(images, x, n + 60 * PIXELS + 1, WEFT_EDATA, "60 rows of 12 bytes", "more",
            "a file too long");
    refused(images, x, 9, WEFT_EDATA, images, "sides", "a head cut short");
    refused(images, "", 0, WEFT_EDATA, images, "no IDX file", "an empty file");
    refused(images, "PNG and so on", 13, WEFT_EDATA, images, "no IDX file", "another file");
    n = head(x, 0x08, 3, (const int[]){0x7fffffff, 0x7fffffff, 0x7fffffff});
    refused(images, x, n, WEFT_EDATA, images, "sides", "sides beyond any memory");
    n = head(x, 0x08, 3, (const int[]){0x7fffffff, H, W});
    refused(images, x, n, WEFT_EDATA, images, "fewer", "more rows than the file can hold");
    n = head(x, 0x08, 3, (const int[]){60, 0, W});
    refused(images, x, n, WEFT_EDATA, images, "sides", "images of no pixels");
    n = head(x, 0x0a, 3, (const int[]){60, H, W});
    refused(images, x, n, WEFT_EDATA, images, "no IDX file", "an unknown type");
    n = head(x, 0x08, 1, (const int[]){59});
    refused(labels, x, n + 59, WEFT_EDATA, "59 labels", "60 rows", "a label too few");
    n = head(x, 0x0d, 1, (const int[]){60});
    refused(labels, x, n + 240, WEFT_EDATA, labels, "whole number",
            "labels with fractions");
    n = head(x, 0x08, 3, (const int[]){9, W, H});
    refused("t10k-images-idx3-ubyte", x, n + 9 * PIXELS, WEFT_EDATA, "t10k-images", "shape",
            "a test of another shape");
}

static void test_missing(void)
{
    static uint8_t x[ROOM];
    size_t n = head(x, 0x0d, 3, (const int[]){60, H, W});
    memset(x + n, 0x7f, 60 * PIXELS * 4);
    memset(x + n, 0xff, 4);
    write_set("nan", "train", "", 60);
    write_bytes("nan/train-images-idx3-ubyte", x, n + 60 * PIXELS * 4);
    refuses(&weft_reader_idx, at("nan"), "", WEFT_EDATA, "nan", "finite",
            "a number that is none");
    weft_check(truncate(at("gz/t10k-images-idx3-ubyte.gz"), 30) == 0, "truncate");
    refuses(&weft_reader_idx, at("gz"), "", WEFT_EDATA, "t10k-images-idx3-ubyte.gz",
            "cut short", "a compressed file cut short");
    weft_check(unlink(at("mnist/train-labels-idx1-ubyte")) == 0, "unlink");
    refuses(&weft_reader_idx, at("mnist"), "", WEFT_EFILE, "train-labels-idx1-ubyte",
            "labels of", "images without labels");
    mkdir(at("empty"), 0777);
    refuses(&weft_reader_idx, at("empty"), "", WEFT_EFILE, "empty", "train-images",
            "an empty directory");
    refuses(&weft_reader_idx, at("none"), "", WEFT_EFILE, "none", "No such file",
            "a missing one");
    ok(access(at("x.h5"), F_OK) != 0, "and none of them leaves a file");
}

MAIN(scratch, test_sets, test_clients, test_types, test_damage, test_missing)

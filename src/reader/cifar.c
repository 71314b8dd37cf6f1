/* CIFAR-10: the official archive of the binary version, a directory of five training
 * batches and a test batch. An image is a label byte and 3 planes (red, green, blue) of 32
 * x 32 bytes. Four batches are for training, the fifth (the last 10,000 of 50,000 images)
 * for validation. Krizhevsky, "Learning multiple layers of features from tiny images",
 * 2009. */
#include "reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define SIDE    32
#define PIXELS  (3 * SIDE * SIDE)
#define IMAGE   (1 + PIXELS)
#define CLASSES 10
#define BATCHES 6
#define VALID   4 /* the validation batch: training before it, test after it */

struct cifar {
    int64_t images; /* of a batch */
};

static const weft_opt options[] = {
    WEFT_LONG_OPT("images", struct cifar, images, "10000", 1, 1e6,
                  "images in each of the six files"),
    {0},
};

static weft_status read_names(const char *source, weft_pack *pack)
{
    char *text, *line;
    size_t n;
    const char *name[CLASSES];
    int found = 0;
    const char *path = weft_arena_text(pack->mem, "%s/batches.meta.txt", source);
    TRY(weft_read_all(path, pack->mem, &text, &n));
    for (char *at = text, *end = text + n; (line = weft_line(&at, end, &n)) != NULL;) {
        if (n == 0) continue;
        if (found < CLASSES) name[found] = line;
        found++;
    }
    if (found != CLASSES)
        return weft_fail(
            WEFT_EDATA,
            "%s names %d classes where %d are expected; unpack the archive again", path,
            found, CLASSES);
    weft_pack_classes(pack, CLASSES, name);
    return weft_pack_source(pack, path);
}

static weft_status check_size(const char *path, int64_t images)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return weft_fail(WEFT_EFILE,
                         "cannot read %s: %s; give the directory of the binary version, "
                         "cifar-10-batches-bin",
                         path, strerror(errno));
    if (info.st_size == images * IMAGE) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has %lld bytes where %lld (%lld images of %d) are expected; "
                     "download or unpack the archive again",
                     path, (long long)info.st_size, (long long)images * IMAGE,
                     (long long)images, IMAGE);
}

static weft_status read_batch(const char *path, int64_t images, weft_pack *pack)
{
    size_t mark = weft_arena_mark(pack->scratch), n;
    char *text;
    TRY(check_size(path, images));
    TRY(weft_read_all(path, pack->scratch, &text, &n));
    uint8_t *x = WEFT_NEW(pack->scratch, uint8_t, images * PIXELS);
    int32_t *label = WEFT_NEW(pack->scratch, int32_t, images);
    for (int64_t i = 0; i < images; i++) {
        const char *image = text + i * IMAGE;
        label[i] = (unsigned char)image[0];
        if (label[i] >= CLASSES)
            return weft_fail(WEFT_EDATA,
                             "%s: image %lld has label %d where 0 to %d are expected; is "
                             "this the binary version of CIFAR-10?",
                             path, (long long)i, (int)label[i], CLASSES - 1);
        memcpy(x + i * PIXELS, image + 1, PIXELS);
    }
    TRY(weft_pack_rows(pack, images, x, label));
    weft_arena_reset(pack->scratch, mark);
    return weft_pack_source(pack, path);
}

static weft_status cifar_read(const void *self, const char *source, weft_pack *pack)
{
    const struct cifar *cifar = self;
    static const char *const file[BATCHES] = {"data_batch_1.bin", "data_batch_2.bin",
                                              "data_batch_3.bin", "data_batch_4.bin",
                                              "data_batch_5.bin", "test_batch.bin"};
    const int64_t rows[WEFT_NPART] = {VALID * cifar->images, cifar->images, cifar->images};
    TRY(read_names(source, pack));
    TRY(weft_pack_matrix(pack, WEFT_BYTES, PIXELS, rows));
    weft_pack_image(pack, 3, SIDE, SIDE);
    for (int i = 0; i < BATCHES; i++)
        TRY(read_batch(weft_arena_text(pack->mem, "%s/%s", source, file[i]), cifar->images,
                       pack));
    weft_pack_split(pack, "data_batch_1 to 4 train, data_batch_5 valid, test_batch test, "
                          "in the order of the files");
    return WEFT_OK;
}

extern const weft_reader weft_reader_cifar;
const weft_reader weft_reader_cifar = {
    .kind = {.name = "cifar",
             .about = "CIFAR-10, directory of the binary archive",
             .size = sizeof(struct cifar),
             .opts = options},
    .read = cifar_read,
};

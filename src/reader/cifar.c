/* CIFAR-10 and CIFAR-100: the official archives of the binary version, a directory of five
 * training batches and a test batch, or of one file for each. An image is a label byte, in
 * CIFAR-100 after one of its group of classes ("coarse label"), and 3 planes (red, green,
 * blue) of 32 x 32 bytes. The last 10,000 of 50,000 images are for validation. Krizhevsky,
 * "Learning multiple layers of features from tiny images", 2009. */
#include "reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIDE    32
#define PIXELS  (3 * SIDE * SIDE)
#define BATCHES 6
#define VALID   4   /* the validation batch: training before it, test after it */
#define MOST    100 /* classes */

struct cifar {
    int64_t images; /* of a batch */
};

/* An archive of the binary version. */
static const struct archive {
    const char *about, *directory;
    int classes, groups;       /* groups 0: an image has no byte for them */
    const char *names;         /* file with the names of the classes */
    const char *file[BATCHES]; /* NULL: its batches are in the file before */
} archives[] = {
    {.about = "CIFAR-10",
     .directory = "cifar-10-batches-bin",
     .classes = 10,
     .names = "batches.meta.txt",
     .file = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
              "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}},
    {.about = "CIFAR-100",
     .directory = "cifar-100-binary",
     .classes = 100,
     .groups = 20,
     .names = "fine_label_names.txt",
     .file = {"train.bin", NULL, NULL, NULL, NULL, "test.bin"}},
};

static const weft_opt options[] = {
    WEFT_LONG_OPT(
        "images", struct cifar, images, "10000", 1, 1e6,
        "images in each of the six batches; CIFAR-100's file for training has five"),
    {0},
};

static weft_status read_names(const struct archive *archive, const char *source,
                              weft_pack *pack)
{
    char *text, *line;
    size_t n;
    const char *name[MOST];
    int found = 0;
    const char *path = weft_arena_text(pack->mem, "%s/%s", source, archive->names);
    TRY(weft_read_all(path, pack->mem, &text, &n));
    for (char *at = text, *end = text + n; (line = weft_line(&at, end, &n)) != NULL;) {
        if (n == 0) continue;
        if (found < archive->classes) name[found] = line;
        found++;
    }
    if (found != archive->classes)
        return weft_fail(
            WEFT_EDATA,
            "%s names %d classes where %d are expected; unpack the archive again", path,
            found, archive->classes);
    weft_pack_classes(pack, archive->classes, name);
    return weft_pack_source(pack, path);
}

/* Bytes of an image of the archive before its pixels. */
static int head_of(const struct archive *archive)
{
    return archive->groups > 0 ? 2 : 1;
}

static weft_status check_size(const struct archive *archive, const char *path,
                              int64_t images)
{
    struct stat info;
    int each = head_of(archive) + PIXELS;
    if (stat(path, &info) != 0)
        return weft_fail(WEFT_EFILE,
                         "cannot read %s: %s; give the directory of the binary version, "
                         "%s",
                         path, strerror(errno), archive->directory);
    if (info.st_size == images * each) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has %lld bytes where %lld (%lld images of %d) are expected; "
                     "download or unpack the archive again",
                     path, (long long)info.st_size, (long long)images * each,
                     (long long)images, each);
}

/* EDATA: the bytes before the pixels of image i are no labels of the archive, or its class
 * is of another group elsewhere. group[classes]: that of each class, -1 not known yet. */
static weft_status check_labels(const struct archive *archive, const char *path, int64_t i,
                                const unsigned char *head, int *group)
{
    int label = head[head_of(archive) - 1];
    if (label >= archive->classes)
        return weft_fail(WEFT_EDATA,
                         "%s: image %lld has label %d where 0 to %d are expected; is "
                         "this the binary version of %s?",
                         path, (long long)i, label, archive->classes - 1, archive->about);
    if (archive->groups == 0) return WEFT_OK;
    if (head[0] >= archive->groups || (group[label] >= 0 && group[label] != head[0]))
        return weft_fail(WEFT_EDATA,
                         "%s: image %lld of class %d has coarse label %d where %s has one "
                         "of %d for each class; download or unpack the archive again",
                         path, (long long)i, label, (int)head[0], archive->about,
                         archive->groups);
    group[label] = head[0];
    return WEFT_OK;
}

/* group[classes] as of check_labels. */
static weft_status read_file(const struct archive *archive, const char *path,
                             int64_t images, int *group, weft_pack *pack)
{
    WEFT_REWIND(pack->scratch);
    size_t n;
    char *text;
    TRY(check_size(archive, path, images));
    TRY(weft_read_all(path, pack->scratch, &text, &n));
    uint8_t *x = WEFT_NEW(pack->scratch, uint8_t, images * PIXELS);
    int32_t *label = WEFT_NEW(pack->scratch, int32_t, images);
    for (int64_t i = 0; i < images; i++) {
        const unsigned char *image =
            (const unsigned char *)text + i * (head_of(archive) + PIXELS);
        TRY(check_labels(archive, path, i, image, group));
        label[i] = image[head_of(archive) - 1];
        memcpy(x + i * PIXELS, image + head_of(archive), PIXELS);
    }
    TRY(weft_pack_rows(pack, images, x, label));
    return weft_pack_source(pack, path);
}

/* The archive in a directory: that whose first file is there, else the first. */
static const struct archive *find_archive(const char *source, weft_arena *tmp)
{
    const char *second = weft_arena_text(tmp, "%s/%s", source, archives[1].file[0]);
    return &archives[access(second, F_OK) == 0];
}

static weft_status cifar_read(const void *self, const char *source, weft_pack *pack)
{
    const struct cifar *cifar = self;
    const struct archive *archive = find_archive(source, pack->scratch);
    const int64_t rows[WEFT_NPART] = {VALID * cifar->images, cifar->images, cifar->images};
    int *group = WEFT_NEW(pack->mem, int, MOST);
    for (int k = 0; k < MOST; k++) group[k] = -1;
    TRY(read_names(archive, source, pack));
    TRY(weft_pack_matrix(pack, WEFT_BYTES, PIXELS, rows));
    weft_pack_image(pack, 3, SIDE, SIDE);
    for (int i = 0, batches; i < BATCHES; i += batches) {
        for (batches = 1; i + batches < BATCHES && !archive->file[i + batches];) batches++;
        TRY(read_file(archive,
                      weft_arena_text(pack->mem, "%s/%s", source, archive->file[i]),
                      batches * cifar->images, group, pack));
    }
    for (int k = 0; k < archive->classes; k++)
        if (group[k] < 0) group[k] = 0; /* of a class without rows, which is refused */
    if (archive->groups > 0) weft_pack_class_groups(pack, archive->groups, group);
    weft_pack_split(pack,
                    archive->groups > 0
                        ? "train.bin train, its last fifth valid, test.bin test, in the "
                          "order of the files"
                        : "data_batch_1 to 4 train, data_batch_5 valid, test_batch test, "
                          "in the order of the files");
    return WEFT_OK;
}

WEFT_PLUGIN(reader, cifar) = {
    .kind = WEFT_KIND("cifar", struct cifar, options,
                      "CIFAR-10 or CIFAR-100, directory of the binary archive"),
    .read = cifar_read,
};

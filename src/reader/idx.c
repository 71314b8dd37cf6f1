/* Files in IDX format, compressed by gzip or not: MNIST and those that follow it (Fashion,
 * Kuzushiji, EMNIST). A file is 2 zero bytes, the type of its numbers, how many sides it
 * has, each as 4 bytes, then the numbers, the most significant byte first. SOURCE is the
 * directory of the files, or the file of the training images: train-images-idx3-ubyte; the
 * names of the other files are made from its name (labels, idx1; t10k or test). LeCun,
 * Cortes, Burges, "The MNIST database of handwritten digits". */
#include "reader.h"
#include "weft/base/base.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK_BYTES ((int64_t)1 << 22)
#define MAX_ROW     ((int64_t)INT32_MAX) /* numbers; times a side below 2^32 it fits */

enum { MAX_SIDES = 8 };
enum { UBYTE = 0x08, SBYTE = 0x09, SHORT = 0x0b, INT = 0x0c, FLOAT = 0x0d, DOUBLE = 0x0e };

struct images {
    weft_split split;
};

static const weft_opt options[] = {
    WEFT_SPLIT_OPTS(struct images, split, "training rows", "", ", where it has no files"),
    {0},
};

struct idx {
    const char *path;
    int type, sides;
    int64_t side[MAX_SIDES]; /* side[0] rows of */
    int64_t d;               /* numbers */
    const uint8_t *bytes;    /* [side[0]][d] numbers as in the file */
};

/* ---- a file ---- */

/* Bytes of a number of that type; 0: there is no such type. */
static int width(int type)
{
    switch (type) {
    case UBYTE:
    case SBYTE: return 1;
    case SHORT: return 2;
    case INT:
    case FLOAT: return 4;
    case DOUBLE: return 8;
    default: return 0;
    }
}

static uint64_t big_endian(const uint8_t *p, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++) x = x << 8 | p[i];
    return x;
}

static double number(int type, const uint8_t *p)
{
    uint64_t u = big_endian(p, width(type));
    float f;
    double d;
    switch (type) {
    case UBYTE: return (double)u;
    case SBYTE: return (int8_t)(uint8_t)u;
    case SHORT: return (int16_t)(uint16_t)u;
    case INT: return (int32_t)(uint32_t)u;
    case FLOAT: memcpy(&f, &(uint32_t){(uint32_t)u}, sizeof f); return (double)f;
    default: memcpy(&d, &u, sizeof d); return d;
    }
}

static weft_status read_idx(const char *path, struct idx *idx, weft_pack *pack)
{
    char *text;
    size_t n;
    TRY(weft_read_bytes(path, pack->mem, &text, &n));
    const uint8_t *head = (const uint8_t *)text;
    if (n < 4 || head[0] != 0 || head[1] != 0 || width(head[2]) == 0 || head[3] == 0 ||
        head[3] > MAX_SIDES)
        return weft_fail(WEFT_EDATA,
                         "%s is no IDX file: it does not begin with 0, 0, a type of "
                         "numbers and 1 to %d sides",
                         path, MAX_SIDES);
    *idx = (struct idx){.path = path, .type = head[2], .sides = head[3], .d = 1};
    size_t begin = 4 + 4 * (size_t)idx->sides;
    for (int i = 0; i < idx->sides && n >= begin; i++) {
        idx->side[i] = (int64_t)big_endian(head + 4 + 4 * (size_t)i, 4);
        if (i > 0 && idx->d <= MAX_ROW) idx->d *= idx->side[i];
    }
    if (n < begin || idx->d <= 0 || idx->d > MAX_ROW)
        return weft_fail(WEFT_EDATA, "%s: its sides are cut short or not those of images",
                         path);
    int64_t row = idx->d * width(idx->type), rest = (int64_t)(n - begin);
    if (rest % row != 0 || rest / row != idx->side[0])
        return weft_fail(WEFT_EDATA,
                         "%s announces %lld rows of %lld bytes and has %s; fetch it again",
                         path, (long long)idx->side[0], (long long)row,
                         rest / row < idx->side[0] ? "fewer" : "more");
    idx->bytes = head + begin;
    return weft_pack_source(pack, path);
}

/* ---- names ---- */

/* Length of a name without a final ".gz". */
static size_t stem(const char *name)
{
    size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".gz") == 0 ? n - 3 : n;
}

/* The file of training images in a directory. */
static weft_status find_images(const char *dir, const char **path, weft_arena *mem)
{
    const char **name, *found = NULL, *other = NULL;
    int64_t n = weft_dir_list(dir, &name, mem);
    if (n < 0) return weft_unreadable(dir);
    for (int64_t i = 0; i < n; i++) {
        const char *one = name[i];
        if (*one == '.' || !strstr(one, "train-images") || !strstr(one, "idx")) continue;
        int same = found != NULL && stem(one) == stem(found) &&
                   strncmp(one, found, stem(one)) == 0;
        if (found != NULL && !same) other = one;
        if (found == NULL || (same && stem(one) == strlen(one))) found = one;
    }
    if (found == NULL)
        return weft_fail(WEFT_EFILE, "%s has no file train-images-idx3-ubyte or .gz", dir);
    if (other != NULL)
        return weft_fail(WEFT_EDATA, "%s has %s and %s; give one of them as the source",
                         dir, found, other);
    *path = weft_arena_text(mem, "%s/%s", dir, found);
    return WEFT_OK;
}

/* The path with the last `from` of its name replaced; itself where there is none. */
static const char *replaced(const char *path, const char *from, const char *to,
                            weft_arena *mem)
{
    const char *at = NULL;
    for (const char *s = weft_basename(path); (s = strstr(s, from)) != NULL; s++) at = s;
    if (at == NULL) return path;
    return weft_arena_text(mem, "%.*s%s%s", (int)(at - path), path, to, at + strlen(from));
}

/* The labels of these images: "labels" and one side in the name. */
static const char *labels_of(const char *images, weft_arena *mem)
{
    char *path = weft_arena_text(mem, "%s", replaced(images, "images", "labels", mem));
    char *at = strstr(path + (weft_basename(path) - path), "idx");
    if (at != NULL && at[3] >= '1' && at[3] <= '9') at[3] = '1';
    return path;
}

/* The path, with or without ".gz", whichever exists; NULL: neither does. */
static const char *existing(const char *path, weft_arena *mem)
{
    struct stat info;
    const char *bare = weft_arena_text(mem, "%.*s", (int)stem(path), path);
    const char *packed = weft_arena_text(mem, "%s.gz", bare);
    if (stat(path, &info) == 0) return path;
    if (stat(bare, &info) == 0) return bare;
    return stat(packed, &info) == 0 ? packed : NULL;
}

/* The name of a file of test images beside others, that is not named as theirs; NULL: there
 * is none. */
static const char *test_beside(const char *images, weft_arena *mem)
{
    const char *slash = strrchr(images, '/'), **name;
    const char *dir =
        slash ? weft_arena_text(mem, "%.*s", (int)(slash - images), images) : ".";
    int64_t n = weft_dir_list(dir, &name, mem);
    for (int64_t i = 0; i < n; i++)
        if (*name[i] != '.' && strstr(name[i], "images") && strstr(name[i], "idx") &&
            (strstr(name[i], "t10k") || strstr(name[i], "test")))
            return name[i];
    return NULL;
}

/* Tells that there is no test: what is there, and how it would be named. */
static void tell_no_test(const char *images, weft_arena *mem)
{
    const char *beside = test_beside(images, mem), *name = weft_basename(images);
    if (!beside) {
        weft_log(WEFT_WARN, "%s has no test beside it; its rows are divided", images);
        return;
    }
    const char *wanted = replaced(name, "train", "t10k", mem);
    weft_log(WEFT_WARN,
             "%s beside %s is not used, for its name is not %s; rows of training are "
             "divided in its place: name both alike%s",
             beside, images,
             strcmp(wanted, name) == 0
                 ? "that of the training images with t10k in the place of train"
                 : wanted,
             strcmp(wanted, name) == 0 ? ", train-... and t10k-..." : "");
}

/* ---- images and labels ---- */

/* Rows and labels of training and test, one after the other. */
struct set {
    struct idx images, classes;
};

static weft_status read_set(const char *images, struct set *set, weft_pack *pack)
{
    const char *name = labels_of(images, pack->mem), *labels = existing(name, pack->mem);
    if (labels == NULL || strcmp(labels, images) == 0)
        return weft_fail(WEFT_EFILE, "there is no %s, with the labels of %s", name, images);
    TRY(read_idx(images, &set->images, pack));
    TRY(read_idx(labels, &set->classes, pack));
    if (set->images.sides < 2)
        return weft_fail(WEFT_EDATA, "%s holds single numbers where images are expected",
                         images);
    if (set->classes.sides != 1 || set->classes.type > INT)
        return weft_fail(WEFT_EDATA, "%s does not hold one whole number a row, its class",
                         labels);
    if (set->classes.side[0] == set->images.side[0]) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s has %lld labels and %s %lld rows", labels,
                     (long long)set->classes.side[0], images,
                     (long long)set->images.side[0]);
}

static weft_status check_alike(const struct idx *a, const struct idx *b)
{
    int same = a->type == b->type && a->sides == b->sides;
    for (int i = 1; i < a->sides && same; i++) same = a->side[i] == b->side[i];
    if (same) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s and %s differ in the shape or type of their rows",
                     a->path, b->path);
}

static weft_status read_labels(const struct set *set, weft_labels *labels, int32_t *label)
{
    const struct idx *idx = &set->classes;
    labels->path = idx->path;
    for (int64_t i = 0; i < idx->side[0]; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "%.0f",
                         number(idx->type, idx->bytes + i * width(idx->type)));
        TRY(weft_labels_find(labels, i + 1, text, (size_t)n, &label[i]));
    }
    return WEFT_OK;
}

/* Rows are images where they have 2 sides, or 3: channels, height, width. */
static void tell_shape(const struct idx *idx, weft_pack *pack)
{
    if (idx->sides != 3 && idx->sides != 4) return;
    const int64_t *end = idx->side + idx->sides;
    weft_pack_image(pack, idx->sides == 4 ? (int)end[-3] : 1, (int)end[-2], (int)end[-1]);
}

/* Rows order[] of training and, behind these, the test. */
static weft_status hand_over(const struct set *train, const struct set *test,
                             const int64_t *order, const int32_t *label, weft_pack *pack)
{
    const struct idx *idx = &train->images;
    int bytes = idx->type == UBYTE;
    int64_t own = idx->side[0], n = own + test->images.side[0], d = idx->d;
    int64_t fit = BLOCK_BYTES / (d * 8) + 1, most = fit < n ? fit : n;
    uint8_t *byte = WEFT_NEW(pack->scratch, uint8_t, bytes ? most * d : 0);
    double *value = WEFT_NEW(pack->scratch, double, bytes ? 0 : most *d);
    int32_t *class = WEFT_NEW(pack->mem, int32_t, most);
    for (int64_t start = 0; start < n; start += most) {
        int64_t count = n - start < most ? n - start : most;
        for (int64_t i = 0; i < count; i++) {
            int64_t from = order[start + i], k = from < own ? from : from - own;
            const uint8_t *at = from < own ? idx->bytes : test->images.bytes;
            at += k * d * width(idx->type);
            class[i] = label[from];
            if (bytes) memcpy(byte + i * d, at, (size_t)d);
            for (int64_t j = 0; j < d && !bytes; j++)
                value[i * d + j] = number(idx->type, at + j * width(idx->type));
        }
        TRY(weft_pack_rows(pack, count, bytes ? (void *)byte : value, class));
    }
    return WEFT_OK;
}

/* ---- the reader ---- */

/* test: without rows where there is none. */
static weft_status pack_sets(const struct set *train, const struct set *test,
                             const weft_split *split, const char *source, weft_pack *pack)
{
    int64_t n = train->images.side[0], all = n + test->images.side[0];
    weft_labels labels = {.mem = pack->mem};
    int32_t *label = WEFT_NEW(pack->mem, int32_t, all);
    weft_source_rows rows = {.n = all, .end = {n, n, all}, .label = label};
    weft_parts parts;
    TRY(read_labels(train, &labels, label));
    if (test->images.path) {
        TRY(check_alike(&train->images, &test->images));
        TRY(read_labels(test, &labels, label + n));
        rows.own[WEFT_TEST] = weft_basename(test->images.path);
    }
    TRY(weft_labels_close(&labels, source, label, all, pack));
    TRY(weft_divide(split, &rows, &parts, pack));
    TRY(weft_pack_matrix(pack, train->images.type == UBYTE ? WEFT_BYTES : WEFT_REALS,
                         train->images.d, parts.rows));
    tell_shape(&train->images, pack);
    return hand_over(train, test, parts.order, label, pack);
}

static weft_status idx_read(const void *self, const char *source, weft_pack *pack)
{
    const struct images *how = self;
    const char *images = source, *other;
    struct stat info;
    struct set train, test = {0};
    if (stat(source, &info) != 0) return weft_unreadable(source);
    if (S_ISDIR(info.st_mode)) TRY(find_images(source, &images, pack->mem));
    TRY(read_set(images, &train, pack));
    other = existing(replaced(images, "train", "t10k", pack->mem), pack->mem);
    if (other == NULL)
        other = existing(replaced(images, "train", "test", pack->mem), pack->mem);
    if (other == NULL || strcmp(other, images) == 0)
        tell_no_test(images, pack->mem);
    else
        TRY(read_set(other, &test, pack));
    return pack_sets(&train, &test, &how->split, source, pack);
}

WEFT_PLUGIN(reader, idx) = {
    .kind = WEFT_KIND("idx", struct images, options,
                      "MNIST and its like: a directory of IDX files, gzip or not"),
    .read = idx_read,
};

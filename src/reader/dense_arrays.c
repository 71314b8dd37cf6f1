/* Which arrays are the rows and the labels of a table, or of images, and their shapes. */
#include "dense_arrays.h"
#include "weft/log.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* The names of a pair of arrays. */
struct array_pair {
    const char *path, *x;
    const char *y_path, *y; /* y_path NULL: there is none */
    weft_part part;
};

/* The arrays of a file. */
struct contents {
    const char *path;
    const char **name; /* [n] */
    int64_t n;
    weft_arena *mem;
};

static const char *const x_names[] = {"x",      "X",      "data",  "features",
                                      "images", "inputs", "arr_0", NULL};
static const char *const y_names[] = {"y",      "Y",       "label", "labels",
                                      "target", "targets", "arr_1", NULL};
static const char *const part_names[WEFT_NPART][4] = {
    {"train"}, {"valid", "val", "validation"}, {"test"}};

/* The array of that name; NULL. */
static const char *has(const struct contents *file, const char *name)
{
    for (int64_t i = 0; i < file->n; i++)
        if (strcmp(file->name[i] + (*file->name[i] == '/'), name) == 0)
            return file->name[i];
    return NULL;
}

/* The array that one of the names, alone or with the part's in one of its forms, is of. */
static const char *find(const struct contents *file, const char *const *name, int part)
{
    for (int i = 0; name[i]; i++) {
        const char *found = part < 0 ? has(file, name[i]) : NULL;
        for (int k = 0; part >= 0 && k < 3 && part_names[part][k] && !found; k++) {
            const char *word = part_names[part][k], *base = name[i];
            found = has(file, weft_arena_text(file->mem, "%s_%s", base, word));
            if (!found) found = has(file, weft_arena_text(file->mem, "%s_%s", word, base));
            if (!found) found = has(file, weft_arena_text(file->mem, "%s/%s", word, base));
        }
        if (found) return found;
    }
    return NULL;
}

static weft_status not_found(const struct contents *file, const char *option,
                             const char *what)
{
    const char *all = "";
    enum { MOST = 8 };
    for (int64_t i = 0; i < file->n && i < MOST; i++)
        all = weft_arena_text(file->mem, "%s%s%s", all, i > 0 ? ", " : "", file->name[i]);
    return weft_fail(WEFT_ECONF, "%s = NAME says which array of %s has %s; it has %s%s",
                     option, file->path, what, *all ? all : "none",
                     file->n > MOST ? ", ..." : "");
}

/* Finds the arrays of a file by their names, of the parts or of all rows. */
static weft_status guess(const struct contents *file, int scored, struct array_pair *pairs,
                         int *n)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        const char *x = find(file, x_names, p);
        if (x)
            pairs[(*n)++] = (struct array_pair){file->path, x, file->path,
                                                find(file, y_names, p), (weft_part)p};
    }
    if (*n < 2 || pairs[0].part != WEFT_TRAIN || scored) {
        *n = 1;
        pairs[0] = (struct array_pair){file->path, find(file, x_names, -1), file->path,
                                       find(file, y_names, -1), WEFT_TRAIN};
    }
    if (!pairs[0].x) return not_found(file, "x", "the rows");
    return WEFT_OK;
}

/* The items of a list with commas, at most WEFT_NPART; how many. */
static int divide(const char *list, const char *item[WEFT_NPART + 1], weft_arena *mem)
{
    char *rest, *copy = weft_arena_text(mem, "%s", list);
    int n = 0;
    for (char *one = strtok_r(copy, ",", &rest); one && n <= WEFT_NPART;
         one = strtok_r(NULL, ",", &rest))
        item[n++] = one;
    return n;
}

/* The arrays that the options name in a file: of all rows, of train and test, or of train,
 * valid and test. */
static weft_status name_pairs(const struct contents *file, const weft_dense_named *named,
                              struct array_pair *pairs, int *n)
{
    static const weft_part parts[WEFT_NPART][WEFT_NPART] = {
        {WEFT_TRAIN}, {WEFT_TRAIN, WEFT_TEST}, {WEFT_TRAIN, WEFT_VALID, WEFT_TEST}};
    const char *x[WEFT_NPART + 1], *y[WEFT_NPART + 1];
    int nx = divide(named->x, x, file->mem), ny = divide(named->y, y, file->mem);
    if (nx == 0 && ny == 1) x[nx++] = find(file, x_names, -1);
    if (nx == 1 && !x[0]) return not_found(file, "x", "the rows");
    if (nx < 1 || nx > WEFT_NPART || (ny > 0 && ny != nx))
        return weft_fail(WEFT_ECONF,
                         "x = %s names %d arrays and y = %s %d; give as many of each: of "
                         "all rows, of train and test, or of train, valid and test",
                         named->x, nx, named->y, ny);
    for (*n = 0; *n < nx; ++*n) {
        const char *label = ny > 0 ? y[*n] : nx == 1 ? find(file, y_names, -1) : NULL;
        pairs[*n] =
            (struct array_pair){file->path, x[*n], file->path, label, parts[nx - 1][*n]};
    }
    return WEFT_OK;
}

/* The pairs of a part's file; of npy files y[] are the files of labels. */
static weft_status pairs_of(const weft_dense_named *named, const char *path, int scored,
                            const char *y, struct array_pair *pairs, int *n,
                            weft_arena *mem)
{
    struct contents file = {.path = path, .mem = mem};
    if (weft_array_is(path) == WEFT_ARRAY_NPY) {
        *n = 1;
        pairs[0] = (struct array_pair){path, "", y, "", WEFT_TRAIN};
        return WEFT_OK;
    }
    TRY(weft_array_names(path, &file.name, &file.n, mem));
    if (*named->x == '\0' && *named->y == '\0') return guess(&file, scored, pairs, n);
    return name_pairs(&file, named, pairs, n);
}

/* ---- shapes ---- */

static weft_status check_pair(const weft_array *x, const weft_array *y, weft_arena *mem)
{
    const char *where = weft_array_where(x, mem);
    if (weft_array_texts(x))
        return weft_fail(WEFT_EDATA,
                         "%s is of texts where rows of numbers are expected; write a table "
                         "as CSV, as pandas' to_csv does",
                         where);
    if (!y->path) return WEFT_OK;
    if (x->dims[0] != y->dims[0])
        return weft_fail(WEFT_EDATA, "%s has %lld rows and %s %lld; they must be as many",
                         where, (long long)x->dims[0], weft_array_where(y, mem),
                         (long long)y->dims[0]);
    int64_t most = 1000;
    if (y->nd > 2 || weft_array_width(y) > (weft_array_texts(y) ? 1 : most))
        return weft_fail(WEFT_EDATA,
                         "%s has the shape %s where a label, or numbers to predict, of "
                         "each row are expected",
                         weft_array_where(y, mem), weft_array_shape(y, mem));
    return WEFT_OK;
}

/* 1: the first of three sides may be that of channels, and the last may not. */
static int channels_first(const int64_t side[3])
{
    enum { MOST = 4 };
    return side[0] <= MOST || side[2] > MOST;
}

/* The sides of images, and where their planes are; none in a table. ECONF. */
static weft_status set_image(const char *shape, weft_dense_arrays *arrays, weft_arena *mem)
{
    const weft_array *x = &arrays->x[0];
    int64_t side[3] = {1, x->dims[1], x->dims[2]};
    if (x->nd == WEFT_ARRAY_DIMS) memcpy(side, x->dims + 1, sizeof side);
    int first = channels_first(side), *image = arrays->image;
    if (x->nd < 3 && *shape == '\0') return WEFT_OK;
    if (*shape != '\0') {
        TRY(weft_shape_read(shape, arrays->d, image));
        first = x->nd < WEFT_ARRAY_DIMS || (image[0] == side[0] && image[1] == side[1]);
        if (!first && (image[0] != side[2] || image[1] != side[0]))
            return weft_fail(WEFT_ECONF,
                             "shape = %s, where %s is %s; give its channels x height x "
                             "width",
                             shape, weft_array_where(x, mem), weft_array_shape(x, mem));
    } else {
        for (int i = 0; i < 3; i++) image[i] = (int)side[first ? i : (i + 2) % 3];
    }
    if (first) return WEFT_OK;
    arrays->place = WEFT_NEW(mem, int64_t, arrays->d);
    int64_t pixels = arrays->d / image[0];
    for (int64_t k = 0; k < arrays->d; k++)
        arrays->place[k] = k % pixels * image[0] + k / pixels;
    return WEFT_OK;
}

static void tell(const weft_dense_arrays *arrays, weft_arena *mem)
{
    const int *image = arrays->image;
    for (int i = 0; i < arrays->n; i++) {
        const weft_array *x = &arrays->x[i], *y = &arrays->y[i];
        const char *what = "", *label = "";
        if (image[0] > 0)
            what = weft_arena_text(mem, ", images of %d x %d x %d%s", image[0], image[1],
                                   image[2],
                                   arrays->place ? ", whose channels are last there" : "");
        if (y->path)
            label =
                weft_arena_text(mem, "; the label is %s, %s %s", weft_array_where(y, mem),
                                weft_array_shape(y, mem), weft_element_name[y->type]);
        weft_log(WEFT_INFO, "%s: %s %s%s%s", weft_array_where(x, mem),
                 weft_array_shape(x, mem), weft_element_name[x->type], what, label);
    }
}

/* ---- opening ---- */

static weft_status open_pair(const struct array_pair *names, weft_dense_arrays *arrays,
                             weft_pack *pack)
{
    int i = arrays->n++;
    weft_array *x = &arrays->x[i], *y = &arrays->y[i];
    int labelled = names->y_path && names->y;
    arrays->part[i] = names->part;
    TRY(weft_array_open(x, names->path, names->x, pack));
    if (labelled) TRY(weft_array_open(y, names->y_path, names->y, pack));
    TRY(check_pair(x, y, pack->mem));
    if (i == 0) arrays->d = weft_array_width(x);
    if (i == 0) arrays->labelled = labelled;
    if (weft_array_width(x) != arrays->d || labelled != arrays->labelled ||
        weft_array_width(y) != weft_array_width(&arrays->y[0]))
        return weft_fail(WEFT_EDATA, "%s is %s%s where %s is %s%s; parts must be alike",
                         weft_array_where(x, pack->mem), weft_array_shape(x, pack->mem),
                         labelled ? "" : ", without labels,",
                         weft_array_where(&arrays->x[0], pack->mem),
                         weft_array_shape(&arrays->x[0], pack->mem),
                         arrays->labelled ? "" : ", without labels");
    arrays->first[i + 1] = arrays->first[i] + x->dims[0];
    return WEFT_OK;
}

/* Opens the arrays of one part's file; *labels of the list y[ny] of files are taken. */
static weft_status open_file(const weft_dense_named *named, const char *path,
                             weft_part part, int scored, const char *y,
                             weft_dense_arrays *arrays, weft_pack *pack)
{
    struct array_pair pairs[WEFT_NPART] = {{0}};
    int n = 0;
    if (weft_array_is(path) == WEFT_ARRAY_NONE)
        return weft_fail(WEFT_EDATA,
                         "of the files of a table some are arrays and %s is none; give all "
                         "the same format",
                         path);
    TRY(pairs_of(named, path, scored, y, pairs, &n, pack->mem));
    if (n > 1 && (part != WEFT_TRAIN || arrays->n > 0))
        return weft_fail(WEFT_ECONF, "%s has arrays of several parts; name one by x and y",
                         path);
    for (int i = 0; i < n; i++) {
        if (n == 1) pairs[i].part = part;
        if (arrays->n == WEFT_NPART ||
            (arrays->n > 0 && pairs[i].part <= arrays->part[arrays->n - 1]))
            return weft_fail(WEFT_ECONF,
                             "valid_file and test_file are for sources of one part; leave "
                             "them out, or name the arrays of train by x and y");
        TRY(open_pair(&pairs[i], arrays, pack));
    }
    return WEFT_OK;
}

weft_status weft_dense_arrays_open(const weft_dense_named *named,
                                   const char *const path[WEFT_NPART], int scored,
                                   weft_dense_arrays **out, weft_pack *pack)
{
    const char *y[WEFT_NPART + 1];
    int ny = divide(named->y, y, pack->mem), npy = 0;
    weft_dense_arrays *arrays = *out = WEFT_NEW(pack->mem, weft_dense_arrays, 1);
    for (int p = 0; p < WEFT_NPART; p++) {
        if (*path[p] == '\0') continue;
        int one = weft_array_is(path[p]) == WEFT_ARRAY_NPY;
        const char *label = one && npy < ny ? y[npy++] : NULL;
        if (label) TRY(weft_pack_source(pack, label));
        TRY(open_file(named, path[p], (weft_part)p, scored, label, arrays, pack));
    }
    if (npy > 0 && npy != ny)
        return weft_fail(WEFT_ECONF,
                         "y = %s names %d files; give one for each file of rows", named->y,
                         ny);
    TRY(set_image(named->shape, arrays, pack->mem));
    arrays->row = WEFT_NEW(pack->mem, double, arrays->d);
    tell(arrays, pack->mem);
    return WEFT_OK;
}

/* The place of the 1 in each row, the others being 0; NULL: that is not so. */
static int32_t *places_of(const weft_array *y, weft_arena *mem)
{
    int64_t width = weft_array_width(y), n = y->dims[0];
    if (!y->path || y->nd != 2 || width < 2 || weft_array_texts(y)) return NULL;
    double *row = WEFT_NEW(mem, double, width);
    int32_t *place = WEFT_NEW(mem, int32_t, n);
    for (int64_t i = 0; i < n; i++) {
        weft_array_numbers(y, i * width, 1, width, row);
        int ones = 0;
        for (int64_t k = 0; k < width; k++) {
            int one = row[k] == 1;
            if (one) place[i] = (int32_t)k;
            ones += one;
            if (!one && !(row[k] == 0)) return NULL;
        }
        if (ones != 1) return NULL;
    }
    return place;
}

void weft_dense_arrays_classes(weft_dense_arrays *arrays, weft_arena *mem)
{
    int32_t *place[WEFT_NPART];
    for (int i = 0; i < arrays->n; i++)
        if ((place[i] = places_of(&arrays->y[i], mem)) == NULL) return;
    for (int i = 0; i < arrays->n; i++) {
        weft_array *y = &arrays->y[i];
        weft_log(
            WEFT_INFO,
            "%s has a single 1 in each row: its column, from 0, is the class; target = "
            "regression predicts the numbers",
            weft_array_where(y, mem));
        y->nd = 1;
        y->dims[1] = 1;
        y->type = WEFT_EL_I32;
        y->size = sizeof **place;
        y->at = (const unsigned char *)place[i];
    }
}

void weft_dense_arrays_close(weft_dense_arrays *arrays)
{
    for (int i = 0; arrays && i < arrays->n; i++) {
        weft_array_close(&arrays->x[i]);
        weft_array_close(&arrays->y[i]);
    }
}

/* Tables and images in arrays of HDF5: which arrays are the rows and the labels, and their
 * shapes. A table is read at once, images are where they are as they are packed. */
#include "dense.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>

/* Rows in arrays, file after file or part after part. */
struct weft_dense_arrays {
    int n;                      /* pairs of arrays */
    weft_part part[WEFT_NPART]; /* of each pair */
    weft_array x[WEFT_NPART], y[WEFT_NPART];
    int labelled;                  /* 1: there are y */
    int64_t first[WEFT_NPART + 1]; /* row of each pair */
    int64_t d;                     /* numbers of a row of x */
    int64_t *from;  /* [rows->d] column of x, or d + column of y, that a column of
                       the table is; -1: none */
    int64_t *place; /* [d] of an image's numbers, plane by plane, in a row of x; NULL: as
                       they are */
    double *row;    /* [d] scratch */
};

/* ---- names ---- */

/* The names of a pair of arrays. */
struct array_pair {
    const char *path, *x, *y; /* y NULL: there is none */
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
static const char *array_named(const struct contents *file, const char *name)
{
    for (int64_t i = 0; i < file->n; i++)
        if (strcmp(file->name[i] + (*file->name[i] == '/'), name) == 0)
            return file->name[i];
    return NULL;
}

/* The array that one of the names, alone or with the part's in one of its forms, is of. */
static const char *find_array(const struct contents *file, const char *const *name,
                              int part)
{
    for (int i = 0; name[i]; i++) {
        const char *found = part < 0 ? array_named(file, name[i]) : NULL;
        for (int k = 0; part >= 0 && k < 3 && part_names[part][k] && !found; k++) {
            const char *word = part_names[part][k], *base = name[i];
            found = array_named(file, weft_arena_text(file->mem, "%s_%s", base, word));
            if (!found)
                found = array_named(file, weft_arena_text(file->mem, "%s_%s", word, base));
            if (!found)
                found = array_named(file, weft_arena_text(file->mem, "%s/%s", word, base));
        }
        if (found) return found;
    }
    return NULL;
}

static weft_status not_found(const struct contents *file, const char *option,
                             const char *what)
{
    static const char frame[] =
        "; of a frame of pandas, read_hdf(F).to_csv() makes a table";
    static const char *const known[][2] = {
        {"block0_values", frame},
        {"_i_table/", frame},
        {"/indptr", "; of a sparse matrix, write X.toarray()"}};
    const char *all = "", *remedy = "";
    enum { MOST = 8, KNOWN = sizeof known / sizeof *known };
    for (int64_t i = 0; i < file->n && i < MOST; i++)
        all = weft_arena_text(file->mem, "%s%s%s", all, i > 0 ? ", " : "", file->name[i]);
    for (int64_t i = 0; i < file->n; i++)
        for (int k = 0; k < KNOWN; k++)
            if (strstr(file->name[i], known[k][0])) remedy = known[k][1];
    return weft_fail(WEFT_ECONF, "%s = NAME says which array of %s has %s; it has %s%s%s",
                     option, file->path, what, *all ? all : "none",
                     file->n > MOST ? ", ..." : "", remedy);
}

/* Finds the arrays of a file by their names, of the parts or of all rows. */
static weft_status guess_pairs(const struct contents *file, int scored,
                               struct array_pair *pairs, int *n)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        const char *x = find_array(file, x_names, p);
        if (x)
            pairs[(*n)++] = (struct array_pair){file->path, x, find_array(file, y_names, p),
                                                (weft_part)p};
    }
    if (*n < 2 || pairs[0].part != WEFT_TRAIN || scored) {
        *n = 1;
        pairs[0] = (struct array_pair){file->path, find_array(file, x_names, -1),
                                       find_array(file, y_names, -1), WEFT_TRAIN};
    }
    if (!pairs[0].x) return not_found(file, "x", "the rows");
    return WEFT_OK;
}

/* The items of a list with commas, at most WEFT_NPART; how many. */
static int divide_list(const char *list, const char *item[WEFT_NPART + 1], weft_arena *mem)
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
    int nx = divide_list(named->x, x, file->mem), ny = divide_list(named->y, y, file->mem);
    if (nx == 0 && ny == 1) x[nx++] = find_array(file, x_names, -1);
    if (nx == 1 && !x[0]) return not_found(file, "x", "the rows");
    if (nx < 1 || nx > WEFT_NPART || (ny > 0 && ny != nx))
        return weft_fail(WEFT_ECONF,
                         "x = %s names %d arrays and y = %s %d; give as many of each: of "
                         "all rows, of train and test, or of train, valid and test",
                         named->x, nx, named->y, ny);
    for (*n = 0; *n < nx; ++*n) {
        const char *label = ny > 0 ? y[*n] : nx == 1 ? find_array(file, y_names, -1) : NULL;
        pairs[*n] = (struct array_pair){file->path, x[*n], label, parts[nx - 1][*n]};
    }
    return WEFT_OK;
}

/* The pairs of a part's file. */
static weft_status pairs_of(const weft_dense_named *named, const char *path, int scored,
                            struct array_pair *pairs, int *n, weft_arena *mem)
{
    struct contents file = {.path = path, .mem = mem};
    TRY(weft_array_names(path, &file.name, &file.n, mem));
    if (*named->x == '\0' && *named->y == '\0') return guess_pairs(&file, scored, pairs, n);
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
        return weft_fail(WEFT_EDATA, "%s has %lld rows and %s %lld; %s", where,
                         (long long)x->dims[0], weft_array_where(y, mem),
                         (long long)y->dims[0],
                         x->nd == 2 && x->dims[1] == y->dims[0]
                             ? "it lies transposed, as MATLAB, R and Julia write arrays: "
                               "write x[:].T"
                         : y->nd == 2 && y->dims[1] == x->dims[0]
                             ? "the labels lie in a row: write y[:].T"
                             : "they must be as many");
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
static weft_status set_image(const char *shape, weft_dense_rows *rows)
{
    weft_dense_arrays *arrays = rows->arrays;
    weft_arena *mem = rows->mem;
    const weft_array *x = &arrays->x[0];
    int64_t side[3] = {1, x->dims[1], x->dims[2]};
    if (x->nd == WEFT_ARRAY_DIMS) memcpy(side, x->dims + 1, sizeof side);
    int first = channels_first(side), *image = rows->image;
    if (x->nd < 3 && *shape == '\0') return WEFT_OK;
    if (*shape != '\0') {
        TRY(weft_shape_read(shape, arrays->d, image));
        first = x->nd < WEFT_ARRAY_DIMS || (image[0] == side[0] && image[1] == side[1]);
        if (!first && (image[0] != side[2] || image[1] != side[0]))
            return weft_fail(
                WEFT_ECONF,
                "shape = %s, where %s is %s; give its channels x height x width", shape,
                weft_array_where(x, mem), weft_array_shape(x, mem));
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

static void tell_arrays(const weft_dense_rows *rows)
{
    const weft_dense_arrays *arrays = rows->arrays;
    const int *image = rows->image;
    weft_arena *mem = rows->mem;
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
    int labelled = names->y != NULL;
    arrays->part[i] = names->part;
    TRY(weft_array_open(x, names->path, names->x, pack));
    if (labelled) TRY(weft_array_open(y, names->path, names->y, pack));
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

/* Opens the arrays of one part's file. */
static weft_status open_file(const weft_dense_named *named, const char *path,
                             weft_part part, int scored, weft_dense_arrays *arrays,
                             weft_pack *pack)
{
    struct array_pair pairs[WEFT_NPART] = {{0}};
    int n = 0;
    if (!weft_array_is(path))
        return weft_fail(WEFT_EDATA,
                         "of the files of a table some are arrays and %s is none; give all "
                         "the same format",
                         path);
    TRY(pairs_of(named, path, scored, pairs, &n, pack->mem));
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
                                   weft_dense_rows *rows, weft_pack *pack)
{
    weft_dense_arrays *arrays = rows->arrays = WEFT_NEW(pack->mem, weft_dense_arrays, 1);
    for (int p = 0; p < WEFT_NPART; p++)
        if (*path[p] != '\0')
            TRY(open_file(named, path[p], (weft_part)p, scored, arrays, pack));
    TRY(set_image(named->shape, rows));
    arrays->row = WEFT_NEW(pack->mem, double, arrays->d);
    rows->room = arrays->first[arrays->n];
    tell_arrays(rows);
    return WEFT_OK;
}

const char *weft_dense_arrays_path(const weft_dense_arrays *arrays)
{
    return arrays->x[0].path;
}

void weft_dense_arrays_close(weft_dense_arrays *arrays)
{
    for (int i = 0; arrays && i < arrays->n; i++) {
        weft_array_close(&arrays->x[i]);
        weft_array_close(&arrays->y[i]);
    }
}

/* ---- images ---- */

int weft_dense_bytes(const weft_dense_rows *rows)
{
    for (int i = 0; i < rows->arrays->n; i++)
        if (rows->arrays->x[i].type != WEFT_EL_U8) return 0;
    return 1;
}

void weft_dense_image(const weft_dense_rows *rows, int64_t i, int bytes, void *x)
{
    const weft_dense_arrays *arrays = rows->arrays;
    int k = 0;
    while (i >= arrays->first[k + 1]) k++;
    const weft_array *array = &arrays->x[k];
    int64_t first = (i - arrays->first[k]) * arrays->d, *place = arrays->place;
    if (bytes) {
        const unsigned char *from = array->at + first;
        unsigned char *to = x;
        if (!place) memcpy(to, from, (size_t)arrays->d);
        for (int64_t c = 0; place && c < arrays->d; c++) to[c] = from[place[c]];
        return;
    }
    double *to = x;
    weft_array_numbers(array, first, 1, arrays->d, place ? arrays->row : to);
    for (int64_t c = 0; place && c < arrays->d; c++) to[c] = arrays->row[place[c]];
}

/* ---- numbers that are none ---- */

static weft_status bad_number(const weft_array *x, int64_t row, int64_t column,
                              double value, weft_arena *mem)
{
    int whole = isfinite((float)value), missing = isnan(value);
    const char *what = whole ? "a number of so many digits that doubles do not hold it; is "
                               "it an identifier? leave the column out"
                       : missing ? "where a number is expected; missing = median fills "
                                   "gaps of tables, images have none"
                                 : "where a finite number is expected; mend the row";
    return weft_fail(WEFT_EDATA, "%s: row %lld, column %lld is %g, %s",
                     weft_array_where(x, mem), (long long)row + 1, (long long)column + 1,
                     value, what);
}

/* 1: a number of x is NaN, beyond floats, or may be rounded. */
static int is_doubtful(const weft_array *x, double value)
{
    return !isfinite((float)value) || (x->type < WEFT_EL_F32 && !(fabs(value) < 0x1p53));
}

/* ---- what is no number ---- */

/* The array of pair k, and the element of it, that column c, of x or behind these of y, of
 * row i of the pair is. */
static const weft_array *element_of(const weft_dense_arrays *arrays, int k, int64_t i,
                                    int64_t c, int64_t *at)
{
    int of_y = c >= arrays->d;
    const weft_array *array = of_y ? &arrays->y[k] : &arrays->x[k];
    *at = of_y ? i * weft_array_width(array) + c - arrays->d : i * arrays->d + c;
    return array;
}

static weft_status bad_cell(const weft_array *array, int64_t row, int64_t column,
                            weft_column_kind kind, const char *text, weft_arena *mem)
{
    return weft_fail(WEFT_EDATA,
                     "%s: row %lld, column %lld is '%.40s' where a %s is expected; give "
                     "one, or remove the row",
                     weft_array_where(array, mem), (long long)row + 1,
                     (long long)column + 1, text, weft_column_kind_name[kind]);
}

/* A table that is read from a pair of arrays. */
struct reading {
    int k;
    const weft_csv *how;
    weft_dense_rows *rows;
    weft_arena *tmp; /* of a row */
};

/* The cell of column j, which is no number, in row i of the pair. EDATA. */
static weft_status read_cell(const struct reading *reading, int64_t i, int64_t j,
                             double *cell)
{
    weft_dense_rows *rows = reading->rows;
    weft_dense_column *to = &rows->at[j];
    weft_column_kind kind = to->kind;
    int64_t at;
    const weft_array *array =
        element_of(rows->arrays, reading->k, i, rows->arrays->from[j], &at);
    int owner = kind == WEFT_COLUMN_GROUP || kind == WEFT_COLUMN_CLIENT,
        named = owner || kind == WEFT_COLUMN_CATEGORY, texts = weft_array_texts(array),
        answer = weft_is_answer(kind);
    const char *text = "0";
    double x = NAN;
    if (named || texts) text = weft_array_text(array, at, reading->tmp);
    if (!texts)
        weft_array_numbers(array, at, 1, 1, &x);
    else if (!weft_cell_number(&reading->how->marks, text, &x, reading->tmp))
        x = NAN;
    int missing = texts ? weft_cell_missing(text) : isnan(x);
    if (answer && array->type < WEFT_EL_F32 && fabs(x) > 0x1p53) {
        text = weft_array_text(array, at, reading->tmp);
        if (weft_number_lost(text)) x = NAN;
    }
    int fails = missing && (owner || !reading->how->unlabelled);
    if (kind == WEFT_COLUMN_CATEGORY)
        fails = missing && reading->how->missing == WEFT_MISSING_REFUSE;
    if (kind == WEFT_COLUMN_WEIGHT) fails = !(x >= 0 && isfinite(x));
    const char *shown = texts ? text : weft_arena_text(reading->tmp, "%g", x);
    if (fails)
        return bad_cell(array, i, at % weft_array_width(array), kind, shown, rows->mem);
    to->place = rows->arrays->from[j];
    if (answer) weft_dense_answer(rows, to, array->path, i + 1, missing ? "" : text, x);
    to->seen.missing += missing && kind == WEFT_COLUMN_CATEGORY;
    *cell = x;
    if (named) *cell = missing ? NAN : (double)weft_dense_name_number(rows, to, text);
    return WEFT_OK;
}

/* Row i of the pair. EDATA: a number is infinite, or NaN where there are no gaps. */
static weft_status read_row(const struct reading *reading, int64_t i)
{
    weft_dense_rows *rows = reading->rows;
    const weft_dense_arrays *arrays = rows->arrays;
    const weft_array *x = &arrays->x[reading->k];
    double *to = rows->value + (arrays->first[reading->k] + i) * rows->d;
    weft_array_numbers(x, i * arrays->d, 1, arrays->d, arrays->row);
    for (int64_t j = 0; j < rows->d; j++) {
        int64_t from = arrays->from[j];
        weft_dense_column *column = &rows->at[j];
        to[j] = from >= 0 && from < arrays->d ? arrays->row[from] : NAN;
        if (column->kind == WEFT_COLUMN_DROPPED) continue;
        if (column->kind != WEFT_COLUMN_NUMBER) {
            if (from >= 0) TRY(read_cell(reading, i, j, &to[j]));
        } else if (is_doubtful(x, to[j])) {
            if (!isnan(to[j]) || reading->how->missing == WEFT_MISSING_REFUSE)
                return bad_number(x, i, from, to[j], rows->mem);
            column->seen.missing++;
        }
    }
    return WEFT_OK;
}

/* The label of row i of a pair; "": it has none. */
static const char *label_of(const weft_dense_arrays *arrays, int k, int64_t from, int64_t i,
                            weft_arena *mem)
{
    int64_t at;
    if (from < 0) return "";
    const weft_array *array = element_of(arrays, k, i, from, &at);
    double x = 0;
    if (!weft_array_texts(array)) weft_array_numbers(array, at, 1, 1, &x);
    return isnan(x) ? "" : weft_array_text(array, at, mem);
}

/* ---- rows ---- */

/* Where the columns of a table whose rows are scored come from. EDATA. */
static weft_status place_like(const weft_dense_like *like, weft_dense_arrays *arrays,
                              int64_t n, weft_arena *mem)
{
    int64_t lacks = 0, c = 0, label = 0;
    for (int64_t j = 0; j < n; j++) lacks += weft_is_answer(like->columns->at[j].kind);
    int whole = arrays->d == n && !arrays->labelled;
    if (!whole && arrays->d != n - lacks)
        return weft_fail(WEFT_EDATA,
                         "%s has %lld columns where %lld are expected, as in the table "
                         "that was learnt without its label",
                         weft_array_where(&arrays->x[0], mem), (long long)arrays->d,
                         (long long)(n - lacks));
    for (int64_t j = 0; j < n; j++) {
        int answer = weft_is_answer(like->columns->at[j].kind);
        arrays->from[j] = whole || !answer   ? c++
                          : arrays->labelled ? arrays->d + label++
                                             : -1;
    }
    return WEFT_OK;
}

/* The columns of x, and behind them those of y. ECONF. */
static weft_status set_columns(weft_dense_arrays *arrays, const weft_csv *how,
                               weft_dense_rows *rows)
{
    const char *path = weft_array_where(&arrays->x[0], rows->mem);
    int64_t k = arrays->labelled ? weft_array_width(&arrays->y[0]) : 0, n = arrays->d + k;
    weft_csv named = *how;
    int last = strcmp(how->label, "last") == 0;
    if (last != (k > 0))
        return weft_fail(WEFT_ECONF,
                         last ? "%s has no labels beside it: y = NAME says which array has "
                                "them, label = NUMBER which of its own columns"
                              : "%s has labels by y, so that label = %s has no effect; "
                                "leave one of them out",
                         path, how->label);
    if (k > 0) named.label = weft_arena_text(rows->mem, "%lld", (long long)arrays->d + 1);
    for (int64_t i = 1; i < k; i++)
        named.label = weft_arena_text(rows->mem, "%s,%lld", named.label,
                                      (long long)(arrays->d + 1 + i));
    const char **none = WEFT_NEW(rows->mem, const char *, n);
    for (int64_t j = 0; j < n; j++) none[j] = "0";
    named.header = WEFT_HEADER_NO;
    rows->head = (weft_csv_head){.columns = n, .line = 1};
    TRY(weft_csv_begin(path, &named, none, NULL, &rows->head, rows->mem));
    return weft_csv_kinds(path, &named, rows);
}

/* Prepares the columns of a table. */
static weft_status begin_table(weft_dense_arrays *arrays, const weft_csv *how,
                               const weft_dense_like *like, weft_dense_rows *rows)
{
    if (!like->columns) TRY(set_columns(arrays, how, rows));
    arrays->from = WEFT_NEW(rows->mem, int64_t, rows->d);
    for (int64_t j = 0; j < rows->d; j++) arrays->from[j] = j;
    return like->columns ? place_like(like, arrays, rows->d, rows->mem) : WEFT_OK;
}

/* The cells of a pair. */
static weft_status read_table(const weft_csv *how, weft_dense_rows *rows, int k,
                              weft_arena *tmp)
{
    const struct reading reading = {k, how, rows, tmp};
    for (int64_t i = 0; i < rows->arrays->x[k].dims[0]; i++) {
        TRY(read_row(&reading, i));
        weft_arena_reset(tmp, 0);
    }
    return WEFT_OK;
}

/* Labels of a pair, and the ends of its rows. */
static weft_status read_labels(const weft_csv *how, weft_dense_rows *rows, int k,
                               weft_arena *tmp)
{
    const weft_dense_arrays *arrays = rows->arrays;
    const char *where =
        weft_array_where(arrays->labelled ? &arrays->y[k] : &arrays->x[k], rows->mem);
    int64_t from = rows->at           ? arrays->from[rows->head.label]
                   : arrays->labelled ? arrays->d
                                      : -1;
    rows->labels.path = where;
    for (int64_t i = 0; i < arrays->first[k + 1] - arrays->first[k]; i++) {
        WEFT_REWIND(tmp);
        const char *label = label_of(arrays, k, from, i, tmp);
        if (*label == '\0' && !how->unlabelled)
            return weft_fail(
                WEFT_EDATA,
                "%s: row %lld has no label, or NaN; give one, or remove the row", where,
                (long long)i + 1);
        TRY(rows->at ? weft_dense_row(rows, i + 1, label)
                     : weft_dense_answered(rows, where, i + 1, label));
    }
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

/* Makes classes of labels whose rows have a single 1 among zeros, and tells it. */
static void make_classes(weft_dense_arrays *arrays, weft_arena *mem)
{
    int32_t *place[WEFT_NPART];
    for (int i = 0; i < arrays->n; i++)
        if ((place[i] = places_of(&arrays->y[i], mem)) == NULL) return;
    for (int i = 0; i < arrays->n; i++) {
        weft_array *y = &arrays->y[i];
        weft_log(WEFT_INFO,
                 "%s has a single 1 in each row: its column, from 0, is the class; target "
                 "= regression predicts the numbers",
                 weft_array_where(y, mem));
        y->nd = 1;
        y->dims[1] = 1;
        y->type = WEFT_EL_I32;
        y->size = sizeof **place;
        y->at = (const unsigned char *)place[i];
    }
}

static weft_status check_numbers(const weft_dense_arrays *arrays, const weft_array *x,
                                 weft_arena *mem)
{
    for (int64_t i = 0; x->type >= WEFT_EL_U64 && i < x->dims[0]; i++) {
        weft_array_numbers(x, i * arrays->d, 1, arrays->d, arrays->row);
        for (int64_t c = 0; c < arrays->d; c++)
            if (is_doubtful(x, arrays->row[c]))
                return bad_number(x, i, c, arrays->row[c], mem);
    }
    return WEFT_OK;
}

/* Images have one label, and no gaps. */
static weft_status check_images(const weft_dense_arrays *arrays, const weft_csv *how,
                                weft_dense_rows *rows)
{
    if (!rows->answer) rows->answer = WEFT_NEW(rows->mem, weft_dense_column, 1);
    if (!how->unlabelled && !arrays->labelled)
        return weft_fail(WEFT_ECONF,
                         "%s has no labels beside it: y = NAME says which array has them",
                         weft_array_where(&arrays->x[0], rows->mem));
    if (arrays->labelled && weft_array_width(&arrays->y[0]) != 1)
        return weft_fail(WEFT_EDATA,
                         "%s has the shape %s where one label an image is expected; of "
                         "rows of 0 and 1, y.argmax(1) is it",
                         weft_array_where(&arrays->y[0], rows->mem),
                         weft_array_shape(&arrays->y[0], rows->mem));
    for (int k = 0; k < arrays->n; k++)
        TRY(check_numbers(arrays, &arrays->x[k], rows->mem));
    return WEFT_OK;
}

weft_status weft_read_arrays(const weft_csv *how, const weft_dense_like *like,
                             weft_dense_rows *rows)
{
    weft_dense_arrays *arrays = rows->arrays;
    int images = rows->image[0] > 0;
    WEFT_SCRATCH(tmp);
    if (how->target != WEFT_TARGET_REGRESSION && !like->target_scale)
        make_classes(arrays, rows->mem);
    weft_status st =
        images ? check_images(arrays, how, rows) : begin_table(arrays, how, like, rows);
    if (images) rows->d = arrays->d;
    for (int k = 0; k < arrays->n && st == WEFT_OK; k++) {
        if (!images) st = read_table(how, rows, k, tmp);
        if (st == WEFT_OK) st = read_labels(how, rows, k, tmp);
        weft_arena_reset(tmp, 0);
        for (int p = (int)arrays->part[k]; p < WEFT_NPART; p++) rows->end[p] = rows->n;
    }
    return st;
}

/* Arrays in HDF5 files of other programs: opened, their elements read as numbers or
 * labels. */
#include "reader.h"
#include "weft/base/files.h"
#include "weft/store/file.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const weft_element_name[] = {"uint8",   "int32",   "uint64", "int64",
                                         "float32", "float64", "text"};

/* ---- what an array is ---- */

const char *weft_array_where(const weft_array *array, weft_arena *mem)
{
    return weft_arena_text(mem, "%s of %s", array->name, array->path);
}

const char *weft_array_shape(const weft_array *array, weft_arena *mem)
{
    const char *text = "";
    for (int i = 0; i < array->nd; i++)
        text = weft_arena_text(mem, "%s%s%lld", text, i > 0 ? " x " : "",
                               (long long)array->dims[i]);
    return text;
}

int64_t weft_array_width(const weft_array *array)
{
    return array->dims[1] * array->dims[2] * array->dims[3];
}

int weft_array_texts(const weft_array *array)
{
    return array->type == WEFT_EL_TEXT;
}

/* ---- elements ---- */

#define NUMBERS(type)                                                                      \
    for (int64_t i = 0; i < n; i++, at += by) {                                            \
        type element;                                                                      \
        memcpy(&element, at, sizeof element);                                              \
        x[i] = (double)element;                                                            \
    }                                                                                      \
    return

void weft_array_numbers(const weft_array *array, int64_t first, int64_t step, int64_t n,
                        double *x)
{
    const unsigned char *at = array->at + (size_t)first * array->size;
    size_t by = (size_t)step * array->size;
    switch (array->type) {
    case WEFT_EL_U8: NUMBERS(uint8_t);
    case WEFT_EL_I32: NUMBERS(int32_t);
    case WEFT_EL_U64: NUMBERS(uint64_t);
    case WEFT_EL_I64: NUMBERS(int64_t);
    case WEFT_EL_F32: NUMBERS(float);
    case WEFT_EL_F64: NUMBERS(double);
    default: weft_die("numbers of an array of texts");
    }
}

/* The shortest text from which a double, or a float, is read again. */
static const char *number_text(double x, int is_float, weft_arena *mem)
{
    enum { SURE = 6, ENOUGH = 9 }; /* digits that a float keeps, and that tell it */
    char *text = WEFT_NEW(mem, char, WEFT_CSV_NUMBER);
    weft_csv_number(x, text);
    for (int n = SURE; n <= ENOUGH && is_float && x > floor(x); n++) {
        const char *own = weft_arena_text(mem, "%.*g", n, x);
        if (!(fabs((double)strtof(own, NULL) - x) > 0)) return own;
    }
    return text;
}

const char *weft_array_text(const weft_array *array, int64_t i, weft_arena *mem)
{
    if (array->type == WEFT_EL_TEXT) return array->text[i];
    const unsigned char *at = array->at + (size_t)i * array->size;
    double x;
    int64_t whole;
    if (array->type == WEFT_EL_I64 || array->type == WEFT_EL_U64) {
        memcpy(&whole, at, sizeof whole);
        return array->type == WEFT_EL_I64
                   ? weft_arena_text(mem, "%lld", (long long)whole)
                   : weft_arena_text(mem, "%llu", (unsigned long long)whole);
    }
    weft_array_numbers(array, i, 1, 1, &x);
    return number_text(x + 0.0, array->type == WEFT_EL_F32, mem); /* "-0" is "0" */
}

#define BLOCK ((size_t)1 << 22)

/* ---- files ---- */

int weft_array_is(const char *path)
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    char head[8] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    return n == sizeof head && memcmp(head, hdf5, sizeof head) == 0;
}

/* Maps the whole file of a descriptor, which stays open. */
static weft_status map_fd(const char *path, int fd, weft_array *array)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return weft_unreadable(path);
    array->mapped = (size_t)info.st_size;
    array->map = NULL;
    if (array->mapped == 0) return weft_fail(WEFT_EDATA, "%s is empty", path);
    void *at = mmap(NULL, array->mapped, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return weft_unreadable(path);
    array->map = at;
    return WEFT_OK;
}

static weft_status map_file(const char *path, weft_array *array)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return weft_unreadable(path);
    weft_status st = map_fd(path, fd, array);
    close(fd);
    return st;
}

void weft_array_close(weft_array *array)
{
    if (array->map) munmap(array->map, array->mapped);
    array->map = NULL;
}

/* The datasets of a file that another program wrote. */
static weft_status list_h5(weft_h5 *file, const char ***name, int64_t *n)
{
    const char *format = "";
    if (weft_h5_has(file, "/@weft_version"))
        TRY(weft_h5_read_attr(file, "/", "format", &format));
    if (*format == '\0') return weft_h5_list(file, name, n);
    return weft_fail(WEFT_EDATA,
                     "%s is packed already (%s); it is used as it is, by run.data or weft "
                     "tune --data",
                     file->path, format);
}

weft_status weft_array_names(const char *path, const char ***name, int64_t *n,
                             weft_arena *mem)
{
    weft_h5 file;
    TRY(weft_h5_open(&file, path, mem));
    weft_status st = list_h5(&file, name, n);
    weft_h5_close(&file);
    return st;
}

/* ---- numbers that are not in the file as in memory ---- */

/* Rows of a block of about BLOCK bytes. */
static int64_t block_rows(const weft_array *array)
{
    size_t row = (size_t)weft_array_width(array) * array->size;
    int64_t rows = row > 0 ? (int64_t)(BLOCK / row) : array->dims[0];
    if (rows > array->dims[0]) rows = array->dims[0];
    return rows > 1 ? rows : 1;
}

/* ---- opening ---- */

/* EDATA: the array has no elements. */
static weft_status check_empty(const weft_array *array, weft_arena *mem)
{
    if (array->dims[0] > 0 && weft_array_width(array) > 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s has the shape %s: there is nothing in it",
                     weft_array_where(array, mem), weft_array_shape(array, mem));
}

/* Maps the file, which has the elements as memory has them from byte `at` on. */
static weft_status place_array(int64_t at, weft_array *array, weft_arena *mem)
{
    TRY(map_file(array->path, array));
    double bytes =
        (double)array->dims[0] * (double)weft_array_width(array) * (double)array->size;
    if (at > (int64_t)array->mapped || bytes > (double)((int64_t)array->mapped - at))
        return weft_fail(WEFT_EDATA,
                         "%s is cut short: its shape %s of %s takes %.0f bytes; "
                         "write it again",
                         weft_array_where(array, mem), weft_array_shape(array, mem),
                         weft_element_name[array->type], bytes);
    array->at = (const unsigned char *)array->map + at;
    return WEFT_OK;
}

/* Numbers of HDF5 that are packed, in chunks or of other types, as memory has them. */
static weft_status copy_h5(const weft_h5set *set, const weft_h5kind *kind,
                           weft_array *array, weft_pack *pack)
{
    enum { MOST = 64 }; /* blocks that a chunk's rows may take */
    int64_t block = block_rows(array), rows = kind->rows;
    if (rows > block && rows <= MOST * block) block = rows;
    if (rows > 1 && rows < block) block -= block % rows;
    int fd;
    TRY(weft_pack_scratch(pack, &fd));
    size_t row = (size_t)weft_array_width(array) * array->size;
    weft_arena *tmp = weft_arena_new();
    void *to = weft_arena_alloc(tmp, (size_t)block, row);
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < array->dims[0] && st == WEFT_OK; i += block) {
        int64_t count = array->dims[0] - i < block ? array->dims[0] - i : block;
        st = weft_h5_set_rows(set, kind->type, i, count, to);
        int err = st == WEFT_OK ? weft_file_write(fd, to, (size_t)count * row) : 0;
        if (err != 0)
            st =
                weft_fail(WEFT_EFILE, "cannot write beside the packed file: %s; free space",
                          strerror(err));
    }
    weft_arena_free(tmp);
    if (st == WEFT_OK) st = map_fd(array->path, fd, array);
    close(fd);
    array->at = array->map;
    return st;
}

static weft_status take_h5(const weft_h5set *set, weft_array *array, weft_pack *pack)
{
    static const weft_element element[] = {
        [WEFT_H5_U8] = WEFT_EL_U8,   [WEFT_H5_I64] = WEFT_EL_I64,
        [WEFT_H5_U64] = WEFT_EL_U64, [WEFT_H5_F32] = WEFT_EL_F32,
        [WEFT_H5_F64] = WEFT_EL_F64, [WEFT_H5_TEXT] = WEFT_EL_TEXT};
    weft_h5kind kind;
    int64_t n;
    TRY(weft_h5_set_kind(set, &kind));
    array->nd = set->nd;
    memcpy(array->dims, set->dims, sizeof array->dims);
    array->type = element[kind.type];
    if (kind.type == WEFT_H5_TEXT)
        return weft_h5_set_texts(set, &array->text, &n, pack->mem);
    array->size = weft_h5_size(kind.type);
    TRY(check_empty(array, pack->mem));
    return kind.at < 0 ? copy_h5(set, &kind, array, pack)
                       : place_array(kind.at, array, pack->mem);
}

/* 1: the element is that number, which of 32 bits it is also when rounded. */
static int is_gap(const weft_array *array, double x, double gap)
{
    float near = (float)gap;
    return (x <= gap && x >= gap) ||
           (array->type == WEFT_EL_F32 && x <= (double)near && x >= (double)near);
}

/* EDATA where an element is the number that stands for a gap. */
static weft_status check_gaps(const weft_array *array, const char *key, double gap,
                              weft_arena *mem)
{
    int64_t d = weft_array_width(array);
    double *x = WEFT_NEW(mem, double, d);
    for (int64_t i = 0; i < array->dims[0]; i++) {
        weft_array_numbers(array, i * d, 1, d, x);
        for (int64_t j = 0; j < d; j++)
            if (is_gap(array, x[j], gap))
                return weft_fail(WEFT_EDATA,
                                 "%s, row %lld, has %.9g, its %s, which stands for a "
                                 "missing value; write NaN in its place",
                                 weft_array_where(array, mem), (long long)i + 1, gap, key);
    }
    return WEFT_OK;
}

/* EDATA where an attribute that is `none` changes numbers, NAN: stands for a gap. */
static weft_status check_attr(const weft_array *array, const char *key, double x,
                              double none, weft_arena *mem)
{
    if (isnan(none)) return check_gaps(array, key, x, mem);
    if (!(fabs(x - none) > 0)) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s has %s = %.9g, so that its numbers mean others; write "
                     "them as xarray or netCDF4 read them, without it",
                     weft_array_where(array, mem), key, x);
}

/* EDATA where numbers mean others by the attributes that netCDF's programs apply. */
static weft_status check_meaning(weft_h5 *file, const weft_array *array, weft_arena *mem)
{
    static const struct {
        const char *key;
        double none; /* the value that changes nothing; NAN: it is a gap */
    } meaning[] = {{"scale_factor", 1},
                   {"add_offset", 0},
                   {"_FillValue", (double)NAN},
                   {"missing_value", (double)NAN}};
    for (size_t i = 0; i < sizeof meaning / sizeof *meaning; i++) {
        const char *key = meaning[i].key;
        double *x;
        int64_t n;
        if (!weft_h5_has(file, weft_arena_text(mem, "%s@%s", array->name, key))) continue;
        TRY(weft_h5_read_nums(file, array->name, key, &x, &n));
        for (int64_t k = 0; k < n; k++)
            TRY(check_attr(array, key, x[k], meaning[i].none, mem));
    }
    return WEFT_OK;
}

static weft_status open_h5(weft_array *array, weft_pack *pack)
{
    weft_h5 file;
    weft_h5set set;
    TRY(weft_h5_open(&file, array->path, pack->mem));
    weft_status st = weft_h5_set_open(&set, &file, array->name);
    if (st == WEFT_OK) {
        st = take_h5(&set, array, pack);
        if (st == WEFT_OK && array->type != WEFT_EL_TEXT)
            st = check_meaning(&file, array, pack->mem);
        weft_h5_set_close(&set);
    }
    weft_h5_close(&file);
    return st;
}

/* The full name of an array: that of HDF5 may lack its slash. EDATA: there is none. */
static weft_status find_name(const char *path, const char *name, const char **full,
                             weft_arena *mem)
{
    const char **all, *known = "";
    int64_t n, shown = 0;
    enum { MOST = 8 };
    TRY(weft_array_names(path, &all, &n, mem));
    for (int64_t i = 0; i < n; i++) {
        *full = all[i];
        if (strcmp(all[i], name) == 0) return WEFT_OK;
        if (all[i][0] == '/' && strcmp(all[i] + 1, name) == 0) return WEFT_OK;
        if (shown++ < MOST)
            known = weft_arena_text(mem, "%s%s%s", known, i > 0 ? ", " : "", all[i]);
    }
    if (n == 0) return weft_fail(WEFT_EDATA, "%s has no arrays in it", path);
    return weft_fail(WEFT_EDATA, "%s has no array '%s'; did you mean '%s'? it has %s%s",
                     path, name, weft_nearest(name, all, (int)n), known,
                     n > MOST ? ", ..." : "");
}

weft_status weft_array_open(weft_array *array, const char *path, const char *name,
                            weft_pack *pack)
{
    *array = (weft_array){.path = path, .name = ""};
    TRY(find_name(path, name, &array->name, pack->mem));
    weft_status st = open_h5(array, pack);
    if (st != WEFT_OK) weft_array_close(array);
    return st;
}

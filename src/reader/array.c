/* Arrays in files of other programs: opened, brought into C's order, their elements read as
 * numbers or labels. */
#include "reader.h"
#include "weft/base/files.h"
#include "weft/store/file.h"
#include "weft/store/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An array in bytes as a file has it. */
struct array_raw {
    weft_array array;  /* at: NULL */
    int64_t at;        /* place of its first element in the file */
    int fortran, swap; /* 1: the first index is the fastest; the high byte is first */
};

const char *const weft_element_name[] = {"uint8", "int8",   "uint16", "int16",   "uint32",
                                         "int32", "uint64", "int64",  "float32", "float64",
                                         "text",  "text",   "text"};

/* ---- what an array is ---- */

const char *weft_array_where(const weft_array *array, weft_arena *mem)
{
    if (*array->name == '\0') return array->path;
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
    return array->type >= WEFT_EL_BYTES;
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
    case WEFT_EL_I8: NUMBERS(int8_t);
    case WEFT_EL_U16: NUMBERS(uint16_t);
    case WEFT_EL_I16: NUMBERS(int16_t);
    case WEFT_EL_U32: NUMBERS(uint32_t);
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
    if (array->type == WEFT_EL_BYTES)
        return weft_arena_text(mem, "%.*s", (int)array->size, (const char *)at);
    if (array->type == WEFT_EL_UCS4) {
        size_t n = array->size / sizeof(uint32_t), to = 0;
        char *text = WEFT_NEW(mem, char, 4 * n + 1);
        for (size_t k = 0; k < n; k++) {
            uint32_t code;
            memcpy(&code, at + k * sizeof code, sizeof code);
            if (code == 0) break;
            to += weft_utf8_put(code & 0x1fffff, text + to);
        }
        return text;
    }
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

/* ---- the head of NumPy's npy files ---- */

/* A dictionary of Python (NEP 1, "A simple file format for
 * NumPy arrays"), {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. */
enum { FIRST = 10, SECOND = 12, LONGEST = 1 << 16 }; /* bytes of a head */

static weft_status npy_damaged(const struct array_raw *raw, const char *what,
                               weft_arena *mem)
{
    return weft_fail(WEFT_EDATA, "%s %s; write it again by numpy.save",
                     weft_array_where(&raw->array, mem), what);
}

/* What stands behind 'key': in the dictionary; NULL. */
static const char *value_of(const char *text, const char *key, weft_arena *mem)
{
    const char *at = strstr(text, weft_arena_text(mem, "'%s'", key));
    if (!at) return NULL;
    at += strlen(key) + 2;
    at += strspn(at, " ");
    if (*at++ != ':') return NULL;
    return at + strspn(at, " ");
}

/* What to do about elements of other types, by their letter. */
static const char *remedy_of(char letter)
{
    switch (letter) {
    case 'O':
        return "Python objects: x.astype(float) makes numbers, a DataFrame's "
               "to_csv a table";
    case 'V': return "records: pandas.DataFrame(x).to_csv writes a table";
    case 'c': return "complex numbers: write real and imaginary parts as columns";
    case 'M':
    case 'm': return "times: x.astype('int64') makes numbers";
    case 'f':
        return "floats of a size that is not read: x.astype('float32') makes such "
               "as are";
    default: return "elements that are not read: x.astype('float32') makes such as are";
    }
}

static weft_status read_type(struct array_raw *raw, const char *descr, weft_arena *mem)
{
    static const struct {
        char letter;
        int bytes;
        weft_element type;
    } known[] = {{'u', 1, WEFT_EL_U8},  {'b', 1, WEFT_EL_U8},  {'i', 1, WEFT_EL_I8},
                 {'u', 2, WEFT_EL_U16}, {'i', 2, WEFT_EL_I16}, {'u', 4, WEFT_EL_U32},
                 {'i', 4, WEFT_EL_I32}, {'u', 8, WEFT_EL_U64}, {'i', 8, WEFT_EL_I64},
                 {'f', 4, WEFT_EL_F32}, {'f', 8, WEFT_EL_F64}, {'S', 0, WEFT_EL_BYTES},
                 {'U', 0, WEFT_EL_UCS4}};
    weft_array *array = &raw->array;
    char letter = *descr == '[' ? 'V' : '?', *end;
    long bytes = 0;
    if (*descr == '\'' && strchr("<>|=", descr[1]) && descr[1] != '\0') {
        letter = descr[2];
        bytes = letter != '\0' ? strtol(descr + 3, &end, 10) : 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int text = known[i].bytes == 0 && bytes > 0 && bytes < LONGEST;
        if (letter != known[i].letter || (bytes != known[i].bytes && !text)) continue;
        array->type = known[i].type;
        array->size = (size_t)bytes * (letter == 'U' ? sizeof(uint32_t) : 1);
        raw->swap = descr[1] == '>';
        return WEFT_OK;
    }
    return weft_fail(WEFT_EDATA, "%s is of %s", weft_array_where(array, mem),
                     remedy_of(letter));
}

static weft_status read_shape(struct array_raw *raw, const char *text, weft_arena *mem)
{
    double most = 0x1p46, elements = 1; /* bytes of which are fewer than 2^63 */
    weft_array *array = &raw->array;
    if (*text != '(') return npy_damaged(raw, "has no shape in its head", mem);
    const char *at = text + 1 + strspn(text + 1, " ");
    for (array->nd = 0; *at != ')'; array->nd++) {
        char *end;
        long long n = strtoll(at, &end, 10);
        if (end == at || n < 0) return npy_damaged(raw, "has no shape in its head", mem);
        elements *= (double)n;
        if (array->nd == WEFT_ARRAY_DIMS || elements > most)
            return weft_fail(WEFT_EDATA,
                             "%s has the shape %.60s where 1 to %d dimensions are "
                             "expected; reshape it",
                             weft_array_where(array, mem), text, WEFT_ARRAY_DIMS);
        array->dims[array->nd] = n;
        at = end + strspn(end, " L");
        if (*at == ',') at += 1 + strspn(at + 1, " ");
    }
    for (int i = array->nd; i < WEFT_ARRAY_DIMS; i++) array->dims[i] = 1;
    if (array->nd > 0) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s is one number, not an array; name another one",
                     weft_array_where(array, mem));
}

/* The head of an npy file, whose first n bytes are given. EDATA, naming raw->array's path
 * and name. */
static weft_status read_npy_head(struct array_raw *raw, const unsigned char *byte, size_t n,
                                 weft_arena *mem)
{
    static const char magic[] = "\x93NUMPY";
    size_t first = FIRST, length;
    if (n < SECOND || memcmp(byte, magic, sizeof magic - 1) != 0)
        return npy_damaged(raw, "is no npy file, or cut short", mem);
    length = (size_t)byte[8] | (size_t)byte[9] << 8;
    if (byte[6] > 1) length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (byte[6] > 1) first = SECOND;
    if (byte[6] > 3 || length > LONGEST || length > n - first)
        return npy_damaged(raw, "is of an unknown version, or cut short in its head", mem);
    const char *text =
        weft_arena_text(mem, "%.*s", (int)length, (const char *)byte + first);
    const char *descr = value_of(text, "descr", mem), *shape = value_of(text, "shape", mem),
               *fortran = value_of(text, "fortran_order", mem);
    if (!descr || !shape || !fortran)
        return npy_damaged(raw, "has no head of NumPy's", mem);
    TRY(read_type(raw, descr, mem));
    TRY(read_shape(raw, shape, mem));
    raw->fortran = *fortran == 'T' && raw->array.nd > 1;
    raw->at += (int64_t)(first + length);
    return WEFT_OK;
}

/* ---- files ---- */

weft_array_kind weft_array_is(const char *path)
{
    static const char npy[] = "\x93NUMPY", zip[] = "PK\x03\x04", empty[] = "PK\x05\x06",
                      hdf5[] = "\x89HDF\r\n\x1a\n";
    char head[8] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    if (n >= 6 && memcmp(head, npy, 6) == 0) return WEFT_ARRAY_NPY;
    if (n >= 4 && (memcmp(head, zip, 4) == 0 || memcmp(head, empty, 4) == 0))
        return WEFT_ARRAY_NPZ;
    return n == 8 && memcmp(head, hdf5, 8) == 0 ? WEFT_ARRAY_HDF5 : WEFT_ARRAY_NONE;
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

/* The name of an array that np.savez wrote as NAME.npy. */
static const char *without_ending(const char *name, weft_arena *mem)
{
    size_t n = strlen(name);
    int npy = n > 4 && strcmp(name + n - 4, ".npy") == 0;
    return weft_arena_text(mem, "%.*s", (int)(npy ? n - 4 : n), name);
}

static weft_status list_npz(const char *path, const char ***name, int64_t *n,
                            weft_arena *mem)
{
    weft_array file = {0};
    weft_zip_entry *entry = NULL;
    TRY(map_file(path, &file));
    weft_status st = weft_zip_list(path, file.map, file.mapped, &entry, n, mem);
    weft_array_close(&file);
    TRY(st);
    *name = WEFT_NEW(mem, const char *, *n);
    int arrays = 0;
    for (int64_t i = 0; i < *n; i++) {
        (*name)[i] = without_ending(entry[i].name, mem);
        arrays |= strcmp((*name)[i], entry[i].name) != 0;
    }
    if (arrays || *n == 0) return WEFT_OK;
    return weft_fail(
        WEFT_EDATA,
        "%s is a zip archive without arrays of NumPy; unpack it, or, of Excel, "
        "write it by analysis/totable.py",
        path);
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
    weft_array_kind kind = weft_array_is(path);
    if (kind == WEFT_ARRAY_NPZ) return list_npz(path, name, n, mem);
    if (kind == WEFT_ARRAY_HDF5) {
        TRY(weft_h5_open(&file, path, mem));
        weft_status st = list_h5(&file, name, n);
        weft_h5_close(&file);
        return st;
    }
    *name = WEFT_NEW(mem, const char *, 1);
    **name = "";
    *n = 1;
    return WEFT_OK;
}

/* ---- C's order ---- */

/* Copies `count` elements to `to`, each `by` bytes behind the one before; swap 1: with
 * their bytes in reverse. */
static void scatter(const unsigned char *from, int64_t count, size_t size, int swap,
                    unsigned char *to, size_t by)
{
    for (int64_t i = 0; i < count; i++, from += size, to += by)
        for (size_t k = 0; k < size; k++) to[k] = from[swap ? size - 1 - k : k];
}

/* The place, among the rows' elements in Fortran's order, of element t in C's. */
static int64_t fortran_place(const weft_array *array, int64_t t)
{
    const int64_t *dims = array->dims;
    int64_t c = t % dims[3], b = t / dims[3] % dims[2], a = t / dims[3] / dims[2];
    return a + dims[1] * (b + dims[2] * c);
}

/* Rows [first, first + count) of an array in C's order, from those in the file. */
static void gather(const struct array_raw *raw, const unsigned char *from, int64_t first,
                   int64_t count, unsigned char *to)
{
    const weft_array *array = &raw->array;
    int64_t width = weft_array_width(array);
    size_t size = array->size;
    if (!raw->fortran) {
        scatter(from + (size_t)(first * width) * size, count * width, size, raw->swap, to,
                size);
        return;
    }
    for (int64_t t = 0; t < width; t++) {
        int64_t at = fortran_place(array, t) * array->dims[0] + first;
        scatter(from + (size_t)at * size, count, size, raw->swap, to + (size_t)t * size,
                (size_t)width * size);
    }
}

static weft_status write_block(int fd, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t n = write(fd, from, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return weft_fail(WEFT_EFILE,
                             "cannot write beside the packed file: %s; free space",
                             strerror(errno));
        from += n;
        bytes -= (size_t)n;
    }
    return WEFT_OK;
}

/* Rows of a block of about BLOCK bytes. */
static int64_t block_rows(const weft_array *array)
{
    size_t row = (size_t)weft_array_width(array) * array->size;
    int64_t rows = row > 0 ? (int64_t)(BLOCK / row) : array->dims[0];
    if (rows > array->dims[0]) rows = array->dims[0];
    return rows > 1 ? rows : 1;
}

/* Writes the rows in C's order to a file without a name, and maps that. */
static weft_status reorder(const struct array_raw *raw, weft_array *array, weft_pack *pack)
{
    const unsigned char *from = (const unsigned char *)array->map + raw->at;
    int64_t block = block_rows(array);
    size_t row = (size_t)weft_array_width(array) * array->size;
    weft_array made = *array;
    int fd;
    TRY(weft_pack_scratch(pack, &fd));
    weft_arena *tmp = weft_arena_new();
    unsigned char *rows = weft_arena_alloc(tmp, (size_t)block, row + 1);
    weft_status st = WEFT_OK;
    for (int64_t i = 0; i < array->dims[0] && st == WEFT_OK; i += block) {
        int64_t count = array->dims[0] - i < block ? array->dims[0] - i : block;
        gather(raw, from, i, count, rows);
        st = write_block(fd, rows, (size_t)count * row);
    }
    weft_arena_free(tmp);
    if (st == WEFT_OK) st = map_fd(array->path, fd, &made);
    close(fd);
    TRY(st);
    weft_array_close(array);
    *array = made;
    array->at = made.map;
    return WEFT_OK;
}

/* The array whose head is known, in the file that array->map is of. */
static weft_status place_array(const struct array_raw *raw, weft_array *array,
                               weft_pack *pack)
{
    void *map = array->map;
    size_t mapped = array->mapped;
    *array = raw->array;
    array->map = map;
    array->mapped = mapped;
    double bytes =
        (double)array->dims[0] * (double)weft_array_width(array) * (double)array->size;
    if (array->dims[0] == 0 || weft_array_width(array) == 0)
        return weft_fail(WEFT_EDATA, "%s has the shape %s: there is nothing in it",
                         weft_array_where(array, pack->mem),
                         weft_array_shape(array, pack->mem));
    if (raw->at > (int64_t)mapped || bytes > (double)((int64_t)mapped - raw->at))
        return weft_fail(WEFT_EDATA,
                         "%s is cut short: its shape %s of %s takes %.0f bytes, of which "
                         "%lld are there; write it again",
                         weft_array_where(array, pack->mem),
                         weft_array_shape(array, pack->mem), weft_element_name[array->type],
                         bytes, (long long)((int64_t)mapped - raw->at));
    if (raw->swap && array->type == WEFT_EL_UCS4)
        return weft_fail(WEFT_EDATA,
                         "%s has texts with the high byte first; x.astype('U') turns them",
                         weft_array_where(array, pack->mem));
    if (raw->fortran || (raw->swap && array->size > 1 && array->type < WEFT_EL_BYTES))
        return reorder(raw, array, pack);
    array->at = (const unsigned char *)map + raw->at;
    return WEFT_OK;
}

/* ---- opening ---- */

static weft_status open_npy(weft_array *array, weft_pack *pack)
{
    struct array_raw raw = {.array = *array};
    TRY(map_file(array->path, array));
    TRY(read_npy_head(&raw, array->map, array->mapped, pack->mem));
    return place_array(&raw, array, pack);
}

/* Expands a file of an archive, and maps it in place of the archive. */
static weft_status expand(const weft_zip_entry *entry, weft_array *array, weft_pack *pack)
{
    weft_array made = *array;
    int fd;
    TRY(weft_pack_scratch(pack, &fd));
    weft_status st = weft_zip_expand(array->path, array->map, entry, fd);
    if (st == WEFT_OK) st = map_fd(weft_array_where(array, pack->mem), fd, &made);
    close(fd);
    TRY(st);
    weft_array_close(array);
    *array = made;
    return WEFT_OK;
}

static weft_status open_npz(weft_array *array, weft_pack *pack)
{
    struct array_raw raw = {.array = *array};
    weft_zip_entry *entry = NULL;
    int64_t n, i = 0;
    TRY(map_file(array->path, array));
    TRY(weft_zip_list(array->path, array->map, array->mapped, &entry, &n, pack->mem));
    while (i < n && strcmp(without_ending(entry[i].name, pack->mem), array->name) != 0) i++;
    weft_check(i < n, "no array %s", array->name);
    raw.at = entry[i].at;
    if (entry[i].deflated) {
        TRY(expand(&entry[i], array, pack));
        raw.at = 0;
    }
    size_t left = entry[i].deflated ? array->mapped : (size_t)entry[i].stored;
    TRY(read_npy_head(&raw, (const unsigned char *)array->map + raw.at, left, pack->mem));
    return place_array(&raw, array, pack);
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
        if (st == WEFT_OK) st = write_block(fd, to, (size_t)count * row);
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
    struct array_raw raw;
    int64_t n;
    TRY(weft_h5_set_kind(set, &kind));
    array->nd = set->nd;
    memcpy(array->dims, set->dims, sizeof array->dims);
    array->type = element[kind.type];
    if (kind.type == WEFT_H5_TEXT)
        return weft_h5_set_texts(set, &array->text, &n, pack->mem);
    array->size = weft_h5_size(kind.type);
    if (kind.at < 0 && array->dims[0] > 0 && weft_array_width(array) > 0)
        return copy_h5(set, &kind, array, pack);
    raw = (struct array_raw){.array = *array, .at = kind.at < 0 ? 0 : kind.at};
    TRY(map_file(array->path, array));
    return place_array(&raw, array, pack);
}

static weft_status open_h5(weft_array *array, weft_pack *pack)
{
    weft_h5 file;
    weft_h5set set;
    TRY(weft_h5_open(&file, array->path, pack->mem));
    weft_status st = weft_h5_set_open(&set, &file, array->name);
    if (st == WEFT_OK) {
        st = take_h5(&set, array, pack);
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
    weft_array_kind kind = weft_array_is(path);
    *array = (weft_array){.path = path, .name = ""};
    if (kind == WEFT_ARRAY_NPZ || kind == WEFT_ARRAY_HDF5)
        TRY(find_name(path, name, &array->name, pack->mem));
    weft_status st = kind == WEFT_ARRAY_NPZ    ? open_npz(array, pack)
                     : kind == WEFT_ARRAY_HDF5 ? open_h5(array, pack)
                                               : open_npy(array, pack);
    if (st != WEFT_OK) weft_array_close(array);
    return st;
}

/* What an HDF5 file has: objects by name, their attributes, texts and numbers; rows of
 * datasets, written, appended and read in pieces, and lists of texts, of datasets that h5.c
 * has made; and datasets of files that other programs wrote. */
#include "h5.h"

#include <stdlib.h>
#include <string.h>

#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info2_t object_info;
#define VISIT(file, call, ctx)                                                             \
    H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, call, ctx, H5O_INFO_BASIC)
#else
typedef H5O_info_t object_info;
#define VISIT(file, call, ctx) H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, call, ctx)
#endif

/* ---- objects ---- */

/* The length of the beginning of a name, "/train" of "/train/x", that is a link to
 * something by its name, in this file or in another, as weft makes none; 0: there is no
 * such link. */
static int named_link(const weft_h5 *file, const char *name)
{
    WEFT_SCRATCH(tmp);
    int found = 0;
    for (const char *end = name; *end != '\0' && found == 0;) {
        H5L_info_t link;
        end += 1 + strcspn(end + 1, "/");
        const char *part = weft_arena_text(tmp, "%.*s", (int)(end - name), name);
        if (H5Lget_info(file->file, part, &link, H5P_DEFAULT) < 0) break;
        if (link.type != H5L_TYPE_HARD) found = (int)(end - name);
    }
    return found;
}

/* EFILE if the way to an object leads through a soft or external link: what is there may be
 * of another file, or nothing. */
static weft_status check_own(const weft_h5 *file, const char *name)
{
    int length = named_link(file, name);
    if (length == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%.*s of %s is a soft or external link, which weft does not follow; "
                     "put what it leads to in its place, or make the file again",
                     length, name, file->path);
}

int weft_h5_has(weft_h5 *file, const char *name)
{
    const char *at = strchr(name, '@');
    WEFT_SCRATCH(tmp);
    const char *object =
        weft_arena_text(tmp, "%.*s", at ? (int)(at - name) : (int)strlen(name), name);
    int has = named_link(file, object) > 0; /* so that it is opened, which refuses it */
    if (!has)
        has = H5Oexists_by_name(file->file, object, H5P_DEFAULT) > 0 &&
              (!at || H5Aexists_by_name(file->file, object, at + 1, H5P_DEFAULT) > 0);
    return has;
}

/* ---- attributes ---- */

/* A text that HDF5 has read, which is freed, in mem. */
static const char *take_text(char *raw, weft_arena *mem)
{
    const char *text = weft_arena_text(mem, "%s", raw != NULL ? raw : "");
    free(raw);
    return text;
}

/* Writes a new attribute of an open object. */
static weft_status write_attr(const weft_h5 *file, hid_t object, const char *key,
                              hid_t type, const void *data)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attr = H5Acreate2(object, key, type, space, H5P_DEFAULT, H5P_DEFAULT);
    weft_status st = WEFT_OK;
    if (attr < 0 || H5Awrite(attr, type, data) < 0)
        st = weft_h5_fail(file, "write attribute", key);
    weft_h5_drop(attr);
    weft_h5_drop(space);
    return st;
}

weft_status weft_h5_text_attr(const weft_h5 *file, hid_t object, const char *key,
                              const char *text)
{
    return write_attr(file, object, key, weft_h5_type(WEFT_H5_TEXT), &text);
}

/* Writes an attribute of the object `name` in place of an older one. */
static weft_status put_attr(const weft_h5 *file, const char *name, const char *key,
                            hid_t type, const void *data)
{
    hid_t object = H5Oopen(file->file, name, H5P_DEFAULT);
    if (object < 0) return weft_h5_fail(file, "open", name);
    if (H5Aexists(object, key) > 0) H5Adelete(object, key);
    weft_status st = write_attr(file, object, key, type, data);
    weft_h5_drop(object);
    return st;
}

weft_status weft_h5_put_attr(weft_h5 *file, const char *name, const char *key,
                             const char *text)
{
    return put_attr(file, name, key, weft_h5_type(WEFT_H5_TEXT), &text);
}

weft_status weft_h5_put_num(weft_h5 *file, const char *name, const char *key, double x)
{
    return put_attr(file, name, key, H5T_NATIVE_DOUBLE, &x);
}

weft_status weft_h5_put_long(weft_h5 *file, const char *name, const char *key, int64_t x)
{
    return put_attr(file, name, key, H5T_NATIVE_INT64, &x);
}

/* Reads one scalar attribute of the class of type (text or number). */
static weft_status read_attr(const weft_h5 *file, const char *name, const char *key,
                             hid_t type, void *data)
{
    TRY(check_own(file, name));
    hid_t attr = H5Aopen_by_name(file->file, name, key, H5P_DEFAULT, H5P_DEFAULT);
    if (attr < 0)
        return weft_fail(WEFT_EFILE,
                         "%s has no attribute %s@%s; it is another kind of file, or "
                         "of another version of weft",
                         file->path, name, key);
    hid_t found = H5Aget_type(attr), space = H5Aget_space(attr);
    int text = H5Tget_class(type) == H5T_STRING;
    int fits = text ? H5Tis_variable_str(found) > 0 : H5Tget_class(found) != H5T_STRING;
    weft_status st = WEFT_OK;
    if (!fits || H5Sget_simple_extent_npoints(space) != 1)
        st = weft_fail(WEFT_EFILE,
                       "attribute %s@%s of %s is not one %s; make the file again", name,
                       key, file->path, text ? "text" : "number");
    if (st == WEFT_OK && H5Aread(attr, type, data) < 0)
        st = weft_h5_fail(file, "read attribute", key);
    weft_h5_drop(space);
    weft_h5_drop(found);
    weft_h5_drop(attr);
    return st;
}

weft_status weft_h5_read_attr(weft_h5 *file, const char *name, const char *key,
                              const char **text)
{
    char *raw = NULL;
    TRY(read_attr(file, name, key, weft_h5_type(WEFT_H5_TEXT), &raw));
    *text = take_text(raw, file->mem);
    return WEFT_OK;
}

weft_status weft_h5_find_attr(weft_h5 *file, const char *name, const char *key,
                              const char **text)
{
    if (!weft_h5_has(file, weft_arena_text(file->mem, "%s@%s", name, key))) return WEFT_OK;
    return weft_h5_read_attr(file, name, key, text);
}

weft_status weft_h5_read_num(weft_h5 *file, const char *name, const char *key, double *x)
{
    return read_attr(file, name, key, H5T_NATIVE_DOUBLE, x);
}

weft_status weft_h5_read_nums(weft_h5 *file, const char *name, const char *key, double **x,
                              int64_t *n)
{
    TRY(check_own(file, name));
    hid_t attr = H5Aopen_by_name(file->file, name, key, H5P_DEFAULT, H5P_DEFAULT);
    if (attr < 0) return weft_h5_fail(file, "open attribute", key);
    hid_t found = H5Aget_type(attr), space = H5Aget_space(attr);
    weft_status st = WEFT_OK;
    *n = H5Sget_simple_extent_npoints(space);
    *x = WEFT_NEW(file->mem, double, *n);
    if (H5Tget_class(found) != H5T_INTEGER && H5Tget_class(found) != H5T_FLOAT)
        st = weft_fail(WEFT_EFILE,
                       "attribute %s@%s of %s is no number; write it as one, or remove it",
                       name, key, file->path);
    else if (*n > 0 && H5Aread(attr, H5T_NATIVE_DOUBLE, *x) < 0)
        st = weft_h5_fail(file, "read attribute", key);
    weft_h5_drop(space);
    weft_h5_drop(found);
    weft_h5_drop(attr);
    return st;
}

weft_status weft_h5_read_long(weft_h5 *file, const char *name, const char *key, int64_t *x)
{
    return read_attr(file, name, key, H5T_NATIVE_INT64, x);
}

/* ---- open datasets ---- */

void weft_h5_set_close(weft_h5set *set)
{
    weft_h5_drop(set->space);
    weft_h5_drop(set->set);
    set->space = set->set = -1;
}

/* EFILE where the numbers are in other files: weft's checksums say nothing of these. */
static weft_status check_layout(const weft_h5set *set)
{
    hid_t list = H5Dget_create_plist(set->set);
    int inside = H5Pget_layout(list) != H5D_VIRTUAL && H5Pget_external_count(list) == 0;
    weft_h5_drop(list);
    if (inside) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s of %s is virtual or in an external file, where weft does not read "
                     "it; copy the numbers into the file, or make it again",
                     set->name, set->file->path);
}

/* EFILE where the file is too short for the numbers that the dataset announces, so that no
 * memory is asked for because of a damaged size. Filters make deflate's ratio possible. */
static weft_status check_size(const weft_h5set *set)
{
    double most_ratio = 1032;
    hid_t type = H5Dget_type(set->set), list = H5Dget_create_plist(set->set);
    hsize_t size = 0;
    H5Fget_filesize(set->file->file, &size);
    double bytes = (double)H5Tget_size(type), most = (double)size;
    for (int i = 0; i < set->nd; i++) bytes *= (double)set->dims[i];
    if (H5Pget_nfilters(list) != 0) most *= most_ratio;
    weft_h5_drop(list);
    weft_h5_drop(type);
    if (bytes <= most) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s of %s announces %.0f bytes, more than the file can hold; make the "
                     "file again",
                     set->name, set->file->path, bytes);
}

static int is_whole(hid_t type)
{
    return H5Tget_class(type) == H5T_INTEGER;
}

/* EFILE where HDF5 would round the numbers, of NaN to 0, without a word. */
static weft_status check_whole(const weft_h5set *set, hid_t wanted)
{
    if (set->whole || !is_whole(wanted)) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s of %s is not of whole numbers, as it has to be; make the file "
                     "again",
                     set->name, set->file->path);
}

/* Learns the shape. */
static weft_status measure(weft_h5set *set)
{
    hsize_t dims[WEFT_H5_DIMS];
    weft_h5_drop(set->space);
    set->space = H5Dget_space(set->set);
    set->nd = set->space < 0 ? 0 : H5Sget_simple_extent_ndims(set->space);
    if (set->nd < 1 || set->nd > WEFT_H5_DIMS)
        return weft_fail(WEFT_EFILE,
                         "%s of %s has %d dimensions where 1 to %d are expected; make "
                         "the file again",
                         set->name, set->file->path, set->nd, WEFT_H5_DIMS);
    H5Sget_simple_extent_dims(set->space, dims, NULL);
    for (int i = 0; i < WEFT_H5_DIMS; i++)
        set->dims[i] = i < set->nd ? (int64_t)dims[i] : 1;
    return set->file->temp == NULL ? check_size(set) : WEFT_OK;
}

/* `cache`: bytes of chunks that HDF5 may keep in memory. */
static weft_status set_open(weft_h5set *set, weft_h5 *file, const char *name, size_t cache)
{
    *set = (weft_h5set){.file = file, .name = name, .set = -1, .space = -1};
    if (!weft_h5_has(file, name))
        return weft_fail(WEFT_EFILE,
                         "%s has no dataset %s; it is another kind of file, or of "
                         "another version of weft",
                         file->path, name);
    TRY(check_own(file, name));
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(list, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, cache,
                       H5D_CHUNK_CACHE_W0_DEFAULT);
    set->set = H5Dopen2(file->file, name, list);
    weft_status st = set->set < 0 ? weft_h5_fail(file, "open", name) : check_layout(set);
    if (st == WEFT_OK) st = measure(set);
    if (st == WEFT_OK) {
        hid_t type = H5Dget_type(set->set);
        set->whole = is_whole(type);
        weft_h5_drop(type);
    }
    weft_h5_drop(list);
    if (st != WEFT_OK) weft_h5_set_close(set);
    return st;
}

weft_status weft_h5_set_open(weft_h5set *set, weft_h5 *file, const char *name)
{
    return set_open(set, file, weft_arena_text(file->mem, "%s", name), 0);
}

/* Opens a dataset for a single, possibly large, piece. */
static weft_status once(weft_h5set *set, weft_h5 *file, const char *name)
{
    return set_open(set, file, name, H5D_CHUNK_CACHE_NBYTES_DEFAULT);
}

weft_status weft_h5_no_rows(const weft_h5set *set, int64_t first, int64_t count)
{
    return weft_fail(WEFT_EFILE,
                     "%s of %s has %lld rows where rows %lld to %lld are "
                     "expected; make the file again",
                     set->name, set->file->path, (long long)set->dims[0], (long long)first,
                     (long long)(first + count));
}

/* Selects rows [first, first + count); gives the space of as many rows in memory. EFILE
 * where the dataset has no such rows. */
static weft_status select_rows(const weft_h5set *set, int64_t first, int64_t count,
                               hid_t *memory)
{
    if (first < 0 || count < 0 || first > set->dims[0] - count)
        return weft_h5_no_rows(set, first, count);
    hsize_t from[WEFT_H5_DIMS] = {(hsize_t)first}, size[WEFT_H5_DIMS];
    for (int i = 0; i < WEFT_H5_DIMS; i++) size[i] = (hsize_t)set->dims[i];
    size[0] = (hsize_t)count;
    H5Sselect_hyperslab(set->space, H5S_SELECT_SET, from, NULL, size, NULL);
    *memory = H5Screate_simple(set->nd, size, NULL);
    return *memory >= 0 ? WEFT_OK : weft_h5_fail(set->file, "select rows of", set->name);
}

static weft_status write_rows(const weft_h5set *set, weft_h5type type, int64_t first,
                              int64_t count, const void *data)
{
    hid_t memory = -1;
    weft_status st = select_rows(set, first, count, &memory);
    if (st == WEFT_OK && (H5Dwrite(set->set, weft_h5_type(type), memory, set->space,
                                   H5P_DEFAULT, data) < 0 ||
                          set->file->io->error != 0))
        st = weft_h5_fail(set->file, "write", set->name);
    weft_h5_drop(memory);
    return st;
}

weft_status weft_h5_set_rows(const weft_h5set *set, weft_h5type type, int64_t first,
                             int64_t count, void *data)
{
    hid_t memory = -1, kind = weft_h5_type(type);
    weft_status st = check_whole(set, kind);
    if (st == WEFT_OK) st = select_rows(set, first, count, &memory);
    if (st == WEFT_OK && count > 0 &&
        H5Dread(set->set, kind, memory, set->space, H5P_DEFAULT, data) < 0)
        st = weft_h5_fail(set->file, "read", set->name);
    weft_h5_drop(memory);
    return st;
}

/* ---- pieces ---- */

weft_status weft_h5_put_rows(weft_h5 *file, const char *name, weft_h5type type,
                             int64_t first, int64_t count, const void *data)
{
    if (count == 0) return WEFT_OK;
    weft_h5set set;
    TRY(once(&set, file, name));
    weft_status st = write_rows(&set, type, first, count, data);
    weft_h5_set_close(&set);
    return st;
}

weft_status weft_h5_append(weft_h5 *file, const char *name, weft_h5type type, int64_t count,
                           const void *data)
{
    if (count == 0) return WEFT_OK;
    weft_h5set set;
    TRY(once(&set, file, name));
    int64_t first = set.dims[0];
    hsize_t size[WEFT_H5_DIMS];
    for (int i = 0; i < WEFT_H5_DIMS; i++) size[i] = (hsize_t)set.dims[i];
    size[0] += (hsize_t)count;
    weft_status st = WEFT_OK;
    if (H5Dset_extent(set.set, size) < 0) st = weft_h5_fail(file, "write", name);
    if (st == WEFT_OK) st = measure(&set);
    if (st == WEFT_OK) st = write_rows(&set, type, first, count, data);
    weft_h5_set_close(&set);
    return st;
}

weft_status weft_h5_read_rows(weft_h5 *file, const char *name, weft_h5type type,
                              int64_t width, int64_t first, int64_t count, void *data)
{
    weft_h5set set;
    TRY(once(&set, file, name));
    double numbers = 1; /* of a row: any file's fit a double */
    for (int i = 1; i < set.nd; i++) numbers *= (double)set.dims[i];
    int fits = numbers >= (double)width && numbers <= (double)width;
    weft_status st =
        fits ? weft_h5_set_rows(&set, type, first, count, data)
             : weft_fail(WEFT_EFILE,
                         "%s of %s has %.0f numbers a row where %lld are expected; make "
                         "the file again",
                         name, file->path, numbers, (long long)width);
    weft_h5_set_close(&set);
    return st;
}

weft_status weft_h5_shape(weft_h5 *file, const char *name, int *nd, int64_t *dims)
{
    weft_h5set set;
    TRY(once(&set, file, name));
    *nd = set.nd;
    for (int i = 0; i < WEFT_H5_DIMS; i++) dims[i] = set.dims[i];
    weft_h5_set_close(&set);
    return WEFT_OK;
}

weft_status weft_h5_length(weft_h5 *file, const char *name, int64_t *n)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS];
    TRY(weft_h5_shape(file, name, &nd, dims));
    *n = dims[0];
    return WEFT_OK;
}

weft_status weft_h5_read_all(weft_h5 *file, const char *name, weft_h5type type,
                             int64_t width, void **rows, int64_t *n)
{
    TRY(weft_h5_length(file, name, n));
    *rows = weft_arena_alloc(file->mem, (size_t)(*n * width), weft_h5_size(type));
    return weft_h5_read_rows(file, name, type, width, 0, *n, *rows);
}

/* ---- texts ---- */

weft_status weft_h5_set_text(const weft_h5set *set, int64_t row, const char **text,
                             weft_arena *mem)
{
    char *raw = NULL;
    TRY(weft_h5_set_rows(set, WEFT_H5_TEXT, row, 1, &raw));
    *text = take_text(raw, mem);
    return WEFT_OK;
}

weft_status weft_h5_read_texts(weft_h5 *file, const char *name, const char ***text,
                               int64_t *n)
{
    weft_h5set set;
    TRY(once(&set, file, name));
    *n = 0;
    *text = NULL;
    weft_status st = set.nd == 1 ? weft_h5_set_texts(&set, text, n, file->mem) : WEFT_OK;
    weft_h5_set_close(&set);
    return st;
}

/* ---- datasets of other programs ---- */

struct found {
    const char **name; /* [n] */
    int64_t n, room;
    weft_arena *mem;
};

static herr_t on_object(hid_t at, const char *name, const object_info *info, void *ctx)
{
    struct found *found = ctx;
    (void)at;
    if (info->type != H5O_TYPE_DATASET) return 0;
    found->name =
        weft_grow(found->mem, found->name, sizeof *found->name, found->n, &found->room);
    found->name[found->n++] = weft_arena_text(found->mem, "/%s", name);
    return 0;
}

weft_status weft_h5_list(weft_h5 *file, const char ***name, int64_t *n)
{
    struct found found = {.mem = file->mem};
    if (VISIT(file->file, on_object, &found) < 0) return weft_h5_fail(file, "list", "");
    *name = found.name;
    *n = found.n;
    return WEFT_OK;
}

/* The type as which all numbers of that one are read without loss. */
static int type_of(hid_t type, weft_h5type *to)
{
    size_t bytes = H5Tget_size(type);
    int unsign = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        *to = WEFT_H5_I64;
        if (bytes == sizeof(int64_t) && unsign) *to = WEFT_H5_U64;
        if (bytes == 1 && unsign) *to = WEFT_H5_U8;
        return bytes <= sizeof(int64_t);
    case H5T_ENUM: *to = WEFT_H5_F32; return bytes == 1;
    case H5T_FLOAT:
        *to = bytes <= sizeof(float) ? WEFT_H5_F32 : WEFT_H5_F64;
        return bytes <= sizeof(double);
    case H5T_STRING: *to = WEFT_H5_TEXT; return 1;
    default: return 0;
    }
}

/* The place of numbers that are in the file as in memory; -1. */
static int64_t place_of(const weft_h5set *set, hid_t type, weft_h5type as)
{
    if (as == WEFT_H5_TEXT) return -1;
    hid_t own = weft_h5_type(as), create = H5Fget_create_plist(set->file->file);
    hsize_t before = 1;
    H5Pget_userblock(create, &before);
    int alike = before == 0 && H5Tequal(own, type) > 0;
    weft_h5_drop(create);
    weft_h5_drop(own);
    haddr_t at = alike ? H5Dget_offset(set->set) : HADDR_UNDEF;
    return at == HADDR_UNDEF ? -1 : (int64_t)at;
}

/* EFILE where the numbers are compressed in a way that this library does not read. */
static weft_status check_filters(const weft_h5set *set, hid_t list)
{
    char name[64] = "";
    for (int i = 0; i < H5Pget_nfilters(list); i++) {
        size_t values = 0;
        unsigned flags;
        H5Z_filter_t filter = H5Pget_filter2(list, (unsigned)i, &flags, &values, NULL,
                                             sizeof name, name, NULL);
        if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
        return weft_fail(WEFT_EFILE,
                         "%s of %s is compressed by %s, which this HDF5 does not read; "
                         "write it with compression = gzip, or none",
                         set->name, set->file->path, *name ? name : "a plug-in");
    }
    return WEFT_OK;
}

weft_status weft_h5_set_kind(const weft_h5set *set, weft_h5kind *kind)
{
    hid_t type = H5Dget_type(set->set), list = H5Dget_create_plist(set->set);
    hsize_t chunk[WEFT_H5_DIMS] = {1};
    int known = type_of(type, &kind->type);
    if (H5Pget_layout(list) == H5D_CHUNKED) H5Pget_chunk(list, WEFT_H5_DIMS, chunk);
    kind->rows = (int64_t)chunk[0];
    kind->at = known ? place_of(set, type, kind->type) : -1;
    weft_status st = check_filters(set, list);
    weft_h5_drop(list);
    weft_h5_drop(type);
    if (known || st != WEFT_OK) return st;
    return weft_fail(WEFT_EFILE,
                     "%s of %s is of records or other things than numbers and texts; write "
                     "it as numbers, or as CSV",
                     set->name, set->file->path);
}

/* n texts of `size` bytes each, without what fills them up. */
static weft_status read_fixed(const weft_h5set *set, hid_t type, const char **text,
                              int64_t n, weft_arena *mem)
{
    size_t size = H5Tget_size(type);
    char *all = weft_arena_alloc(mem, (size_t)n, size);
    if (n > 0 && H5Dread(set->set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0)
        return weft_h5_fail(set->file, "read", set->name);
    int blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    for (int64_t i = 0; i < n; i++) {
        const char *at = all + (size_t)i * size;
        size_t bytes = strnlen(at, size);
        while (blanks && bytes > 0 && at[bytes - 1] == ' ') bytes--;
        text[i] = weft_arena_text(mem, "%.*s", (int)bytes, at);
    }
    return WEFT_OK;
}

/* n texts of variable length, in whatever character set. */
static weft_status read_variable(const weft_h5set *set, hid_t type, const char **text,
                                 int64_t n, weft_arena *mem)
{
    char **raw = WEFT_NEW(mem, char *, n);
    if (n > 0 && H5Dread(set->set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
        return weft_h5_fail(set->file, "read", set->name);
    for (int64_t i = 0; i < n; i++) text[i] = take_text(raw[i], mem);
    return WEFT_OK;
}

weft_status weft_h5_set_texts(const weft_h5set *set, const char ***text, int64_t *n,
                              weft_arena *mem)
{
    hid_t type = H5Dget_type(set->set);
    *n = set->dims[0];
    for (int i = 1; i < set->nd; i++) *n *= set->dims[i];
    *text = WEFT_NEW(mem, const char *, *n);
    weft_status st = WEFT_OK;
    if (H5Tget_class(type) != H5T_STRING)
        st = weft_fail(WEFT_EFILE, "%s of %s is not of texts", set->name, set->file->path);
    else if (H5Tis_variable_str(type) > 0)
        st = read_variable(set, type, *text, *n, mem);
    else
        st = read_fixed(set, type, *text, *n, mem);
    weft_h5_drop(type);
    return st;
}

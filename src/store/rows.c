/* Rows of HDF5 datasets: written, appended and read, in pieces; lists of texts. Called for
 * datasets that h5.c has made. */
#include "h5.h"

#include <string.h>

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
    TRY(weft_h5_own(file, name));
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
    hid_t memory = -1, kind = weft_h5_type(type);
    weft_status st = select_rows(set, first, count, &memory);
    if (st == WEFT_OK &&
        (H5Dwrite(set->set, kind, memory, set->space, H5P_DEFAULT, data) < 0 ||
         *set->file->error != 0))
        st = weft_h5_fail(set->file, "write", set->name);
    weft_h5_drop(memory);
    weft_h5_drop(kind);
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
    weft_h5_drop(kind);
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

/* ---- texts ---- */

/* Rows [first, first + count) of a list of texts into text[count]. */
static weft_status read_texts(const weft_h5set *set, int64_t first, int64_t count,
                              const char **text, weft_arena *mem)
{
    char **raw = WEFT_NEW(mem, char *, count);
    TRY(weft_h5_set_rows(set, WEFT_H5_TEXT, first, count, raw));
    for (int64_t i = 0; i < count; i++)
        text[i] = weft_arena_text(mem, "%s", raw[i] != NULL ? raw[i] : "");
    hsize_t size = (hsize_t)count;
    hid_t type = weft_h5_text_type(), space = H5Screate_simple(1, &size, NULL);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
    weft_h5_drop(space);
    weft_h5_drop(type);
    return WEFT_OK;
}

weft_status weft_h5_set_text(const weft_h5set *set, int64_t row, const char **text,
                             weft_arena *mem)
{
    return read_texts(set, row, 1, text, mem);
}

weft_status weft_h5_read_texts(weft_h5 *file, const char *name, const char ***text,
                               int64_t *n)
{
    weft_h5set set;
    TRY(once(&set, file, name));
    *n = set.nd == 1 ? set.dims[0] : 0;
    *text = WEFT_NEW(file->mem, const char *, *n);
    weft_status st = *n > 0 ? read_texts(&set, 0, *n, *text, file->mem) : WEFT_OK;
    weft_h5_set_close(&set);
    return st;
}

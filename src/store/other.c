/* Datasets of HDF5 files that other programs wrote. */
#include "h5.h"
#include "weft/h5other.h"

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

/* ---- names ---- */

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

/* ---- kinds ---- */

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

/* ---- texts ---- */

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
    for (int64_t i = 0; i < n; i++)
        text[i] = weft_arena_text(mem, "%s", raw[i] != NULL ? raw[i] : "");
    if (n > 0) H5Dvlen_reclaim(type, set->space, H5P_DEFAULT, raw);
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

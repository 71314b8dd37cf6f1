/* Attributes of HDF5 files: texts and numbers by name, and whether something exists. */
#include "h5.h"

#include <string.h>

/* Writes a new attribute of an open object. */
static weft_status write_attr(const weft_h5 *f, hid_t object, const char *key, hid_t type,
                              const void *data)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attr = H5Acreate2(object, key, type, space, H5P_DEFAULT, H5P_DEFAULT);
    weft_status st = WEFT_OK;
    if (attr < 0 || H5Awrite(attr, type, data) < 0)
        st = weft_h5_fail(f, "write attribute", key);
    weft_h5_drop(attr);
    weft_h5_drop(space);
    return st;
}

weft_status weft_h5_text_attr(const weft_h5 *f, hid_t object, const char *key,
                              const char *text)
{
    hid_t type = weft_h5_text_type();
    weft_status st = write_attr(f, object, key, type, &text);
    weft_h5_drop(type);
    return st;
}

int weft_h5_has(weft_h5 *f, const char *name)
{
    const char *at = strchr(name, '@');
    if (at == NULL) return H5Oexists_by_name(f->file, name, H5P_DEFAULT) > 0;
    weft_arena *tmp = weft_arena_new();
    const char *object = weft_arena_text(tmp, "%.*s", (int)(at - name), name);
    int has = H5Oexists_by_name(f->file, object, H5P_DEFAULT) > 0 &&
              H5Aexists_by_name(f->file, object, at + 1, H5P_DEFAULT) > 0;
    weft_arena_free(tmp);
    return has;
}

/* Writes an attribute of the object `name` in place of an older one. */
static weft_status put(const weft_h5 *f, const char *name, const char *key, hid_t type,
                       const void *data)
{
    hid_t object = H5Oopen(f->file, name, H5P_DEFAULT);
    if (object < 0) return weft_h5_fail(f, "open", name);
    if (H5Aexists(object, key) > 0) H5Adelete(object, key);
    weft_status st = write_attr(f, object, key, type, data);
    weft_h5_drop(object);
    return st;
}

weft_status weft_h5_put_attr(weft_h5 *f, const char *name, const char *key,
                             const char *text)
{
    hid_t type = weft_h5_text_type();
    weft_status st = put(f, name, key, type, &text);
    weft_h5_drop(type);
    return st;
}

weft_status weft_h5_put_num(weft_h5 *f, const char *name, const char *key, double x)
{
    return put(f, name, key, H5T_NATIVE_DOUBLE, &x);
}

weft_status weft_h5_put_long(weft_h5 *f, const char *name, const char *key, int64_t x)
{
    return put(f, name, key, H5T_NATIVE_INT64, &x);
}

/* Reads one scalar attribute of the class of type (text or number). */
static weft_status read_attr(const weft_h5 *f, const char *name, const char *key,
                             hid_t type, void *data)
{
    hid_t attr = H5Aopen_by_name(f->file, name, key, H5P_DEFAULT, H5P_DEFAULT);
    if (attr < 0)
        return weft_fail(WEFT_EFILE,
                         "%s has no attribute %s@%s; it is another kind of file, or "
                         "of another version of weft",
                         f->path, name, key);
    hid_t found = H5Aget_type(attr), space = H5Aget_space(attr);
    int text = H5Tget_class(type) == H5T_STRING;
    int fits = text ? H5Tis_variable_str(found) > 0 : H5Tget_class(found) != H5T_STRING;
    weft_status st = WEFT_OK;
    if (!fits || H5Sget_simple_extent_npoints(space) != 1)
        st = weft_fail(WEFT_EFILE,
                       "attribute %s@%s of %s is not one %s; make the file again", name,
                       key, f->path, text ? "text" : "number");
    if (st == WEFT_OK && H5Aread(attr, type, data) < 0)
        st = weft_h5_fail(f, "read attribute", key);
    weft_h5_drop(space);
    weft_h5_drop(found);
    weft_h5_drop(attr);
    return st;
}

weft_status weft_h5_read_attr(weft_h5 *f, const char *name, const char *key,
                              const char **text)
{
    hid_t type = weft_h5_text_type(), scalar = H5Screate(H5S_SCALAR);
    char *raw = NULL;
    weft_status st = read_attr(f, name, key, type, &raw);
    if (st == WEFT_OK) *text = weft_arena_text(f->mem, "%s", raw != NULL ? raw : "");
    if (raw != NULL) H5Dvlen_reclaim(type, scalar, H5P_DEFAULT, &raw);
    weft_h5_drop(scalar);
    weft_h5_drop(type);
    return st;
}

weft_status weft_h5_read_num(weft_h5 *f, const char *name, const char *key, double *x)
{
    return read_attr(f, name, key, H5T_NATIVE_DOUBLE, x);
}

weft_status weft_h5_read_long(weft_h5 *f, const char *name, const char *key, int64_t *x)
{
    return read_attr(f, name, key, H5T_NATIVE_INT64, x);
}

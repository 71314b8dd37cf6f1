/* What an HDF5 file has: objects by name, and their attributes, texts and numbers. */
#include "h5.h"

#include <string.h>

/* ---- objects ---- */

/* The length of the beginning of a name, "/train" of "/train/x", that is a link to
 * something by its name, in this file or in another, as weft makes none; 0: there is no
 * such link. */
static int named_link(const weft_h5 *file, const char *name)
{
    weft_arena *tmp = weft_arena_new();
    int found = 0;
    for (const char *end = name; *end != '\0' && found == 0;) {
        H5L_info_t link;
        end += 1 + strcspn(end + 1, "/");
        const char *part = weft_arena_text(tmp, "%.*s", (int)(end - name), name);
        if (H5Lget_info(file->file, part, &link, H5P_DEFAULT) < 0) break;
        if (link.type != H5L_TYPE_HARD) found = (int)(end - name);
    }
    weft_arena_free(tmp);
    return found;
}

weft_status weft_h5_own(const weft_h5 *file, const char *name)
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
    weft_arena *tmp = weft_arena_new();
    const char *object =
        weft_arena_text(tmp, "%.*s", at ? (int)(at - name) : (int)strlen(name), name);
    int has = named_link(file, object) > 0; /* so that it is opened, which refuses it */
    if (!has)
        has = H5Oexists_by_name(file->file, object, H5P_DEFAULT) > 0 &&
              (!at || H5Aexists_by_name(file->file, object, at + 1, H5P_DEFAULT) > 0);
    weft_arena_free(tmp);
    return has;
}

/* ---- attributes ---- */

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
    hid_t type = weft_h5_text_type();
    weft_status st = write_attr(file, object, key, type, &text);
    weft_h5_drop(type);
    return st;
}

/* Writes an attribute of the object `name` in place of an older one. */
static weft_status put(const weft_h5 *file, const char *name, const char *key, hid_t type,
                       const void *data)
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
    hid_t type = weft_h5_text_type();
    weft_status st = put(file, name, key, type, &text);
    weft_h5_drop(type);
    return st;
}

weft_status weft_h5_put_num(weft_h5 *file, const char *name, const char *key, double x)
{
    return put(file, name, key, H5T_NATIVE_DOUBLE, &x);
}

weft_status weft_h5_put_long(weft_h5 *file, const char *name, const char *key, int64_t x)
{
    return put(file, name, key, H5T_NATIVE_INT64, &x);
}

/* Reads one scalar attribute of the class of type (text or number). */
static weft_status read_attr(const weft_h5 *file, const char *name, const char *key,
                             hid_t type, void *data)
{
    TRY(weft_h5_own(file, name));
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
    hid_t type = weft_h5_text_type(), scalar = H5Screate(H5S_SCALAR);
    char *raw = NULL;
    weft_status st = read_attr(file, name, key, type, &raw);
    if (st == WEFT_OK) *text = weft_arena_text(file->mem, "%s", raw != NULL ? raw : "");
    if (raw != NULL) H5Dvlen_reclaim(type, scalar, H5P_DEFAULT, &raw);
    weft_h5_drop(scalar);
    weft_h5_drop(type);
    return st;
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

weft_status weft_h5_read_long(weft_h5 *file, const char *name, const char *key, int64_t *x)
{
    return read_attr(file, name, key, H5T_NATIVE_INT64, x);
}

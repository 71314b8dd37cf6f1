/* What all calls of HDF5 share: failures of one line, handles and types. */
#include "file.h"
#include "h5.h"
#include "seal.h"

#include <stdio.h>
#include <string.h>

static herr_t keep_first(unsigned depth, const H5E_error2_t *error, void *text)
{
    if (depth == 0) snprintf(text, 512, "%s", error->desc != NULL ? error->desc : "");
    return 0;
}

weft_status weft_h5_fail(const weft_h5 *file, const char *what, const char *name)
{
    char text[512] = "";
    const char *remedy = "make the file again";
    int err = *file->error;
    if (file->seal != NULL && file->seal->bad >= 0) return weft_seal_fail(file->seal);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
    if (err != 0) remedy = weft_file_remedy(err);
    return weft_fail(WEFT_EFILE, "cannot %s %s%s%s: %s; %s", what, name,
                     *name ? " of " : "", file->path, err != 0 ? strerror(err) : text,
                     remedy);
}

herr_t weft_h5_drop(hid_t handle)
{
    return handle >= 0 && H5Idec_ref(handle) < 0 ? -1 : 0;
}

hid_t weft_h5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    weft_check(type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                   H5Tset_cset(type, H5T_CSET_UTF8) >= 0,
               "HDF5 has no text type");
    return type;
}

size_t weft_h5_size(weft_h5type type)
{
    static const size_t size[] = {[WEFT_H5_U8] = 1,  [WEFT_H5_I32] = 4,
                                  [WEFT_H5_U32] = 4, [WEFT_H5_I64] = 8,
                                  [WEFT_H5_U64] = 8, [WEFT_H5_F32] = 4,
                                  [WEFT_H5_F64] = 8, [WEFT_H5_TEXT] = sizeof(char *)};
    return size[type];
}

hid_t weft_h5_type(weft_h5type type)
{
    switch (type) {
    case WEFT_H5_U8: return H5Tcopy(H5T_NATIVE_UINT8);
    case WEFT_H5_I32: return H5Tcopy(H5T_NATIVE_INT32);
    case WEFT_H5_U32: return H5Tcopy(H5T_NATIVE_UINT32);
    case WEFT_H5_I64: return H5Tcopy(H5T_NATIVE_INT64);
    case WEFT_H5_U64: return H5Tcopy(H5T_NATIVE_UINT64);
    case WEFT_H5_F32: return H5Tcopy(H5T_NATIVE_FLOAT);
    case WEFT_H5_F64: return H5Tcopy(H5T_NATIVE_DOUBLE);
    case WEFT_H5_TEXT: return weft_h5_text_type();
    default: weft_die("no HDF5 type %d", (int)type);
    }
}

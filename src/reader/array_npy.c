/* The head of NumPy's npy files: a dictionary of Python (NEP 1, "A simple file format for
 * NumPy arrays"), {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. */

#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 10, SECOND = 12, LONGEST = 1 << 16 }; /* bytes of a head */

static weft_status damaged(const weft_array_raw *raw, const char *what, weft_arena *mem)
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

static weft_status read_type(weft_array_raw *raw, const char *descr, weft_arena *mem)
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

static weft_status read_shape(weft_array_raw *raw, const char *text, weft_arena *mem)
{
    double most = 0x1p46, elements = 1; /* bytes of which are fewer than 2^63 */
    weft_array *array = &raw->array;
    if (*text != '(') return damaged(raw, "has no shape in its head", mem);
    const char *at = text + 1 + strspn(text + 1, " ");
    for (array->nd = 0; *at != ')'; array->nd++) {
        char *end;
        long long n = strtoll(at, &end, 10);
        if (end == at || n < 0) return damaged(raw, "has no shape in its head", mem);
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

weft_status weft_npy_head(weft_array_raw *raw, const unsigned char *byte, size_t n,
                          weft_arena *mem)
{
    static const char magic[] = "\x93NUMPY";
    size_t first = FIRST, length;
    if (n < SECOND || memcmp(byte, magic, sizeof magic - 1) != 0)
        return damaged(raw, "is no npy file, or cut short", mem);
    length = (size_t)byte[8] | (size_t)byte[9] << 8;
    if (byte[6] > 1) length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (byte[6] > 1) first = SECOND;
    if (byte[6] > 3 || length > LONGEST || length > n - first)
        return damaged(raw, "is of an unknown version, or cut short in its head", mem);
    const char *text =
        weft_arena_text(mem, "%.*s", (int)length, (const char *)byte + first);
    const char *descr = value_of(text, "descr", mem), *shape = value_of(text, "shape", mem),
               *fortran = value_of(text, "fortran_order", mem);
    if (!descr || !shape || !fortran) return damaged(raw, "has no head of NumPy's", mem);
    TRY(read_type(raw, descr, mem));
    TRY(read_shape(raw, shape, mem));
    raw->fortran = *fortran == 'T' && raw->array.nd > 1;
    raw->at += (int64_t)(first + length);
    return WEFT_OK;
}

/* What an array is, and its elements as numbers or labels. */
#include "reader.h"
#include "weft/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A character of UCS-4 as UTF-8; returns its bytes. */
static size_t put_character(uint32_t code, char *to)
{
    if (code < 0x80) {
        *to = (char)code;
        return 1;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(lead[more] | (code >> 6 * more & 0x3f));
    for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return (size_t)more + 1;
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
            to += put_character(code & 0x1fffff, text + to);
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

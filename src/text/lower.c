/* Lower case of a word as Python's str.lower() gives it: Unicode's simple mapping, except
 * for the two capitals that have a mapping in SpecialCasing.txt which does not depend on
 * the language. Called when a data set is packed. */
#include "char.h"

#include <string.h>

#include <utf8proc.h>

enum {
    CAPITAL_DOTTED_I = 0x130, /* becomes i and a combining dot */
    COMBINING_DOT = 0x307,
    CAPITAL_SIGMA = 0x3a3, /* becomes the final sigma at the end of a word */
    FINAL_SIGMA = 0x3c2,
    UTF8_MAX = 4 /* bytes of a character */
};

/* The output; n goes on counting when room is used up. */
struct writer {
    uint8_t *out;
    size_t n, room;
};

/* Unicode's property Case_Ignorable: marks, formats, modifiers, and the signs that occur
 * inside words (Word_Break = MidLetter, MidNumLet or Single_Quote). */
static int ignorable(int32_t code)
{
    static const uint16_t inside[] = {'\'',   '.',    ':',    0xb7,   0x387,  0x55f,
                                      0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                      0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (code == inside[i]) return 1;
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return 1;
    default: return 0;
    }
}

/* Unicode's property Cased, of characters that are not ignorable: letters with a case, and
 * ordinals, Roman numerals and letters in circles or squares. */
static int cased(int32_t code)
{
    static const int32_t other[][2] = {
        {0xaa, 0xaa},       {0xba, 0xba},       {0x2160, 0x217f},  {0x24b6, 0x24e9},
        {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (other[i][0] <= code && code <= other[i][1]) return 1;
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT: return 1;
    default: return 0;
    }
}

/* Unicode's condition Final_Sigma for the bytes [i, j) of the word: a cased letter before
 * them and none after them, ignorable characters in between being skipped. */
static int is_final(const uint8_t *word, size_t n, size_t i, size_t j)
{
    int before = 0, after = 0, skip = 1;
    size_t step;
    while (skip && i > 0) {
        do i--;
        while ((word[i] & 0xc0) == 0x80);
        int32_t code = weft_char_code(word + i, &step);
        skip = ignorable(code);
        before = !skip && cased(code);
    }
    skip = 1;
    for (; skip && j < n; j += step) {
        int32_t code = weft_char_code(word + j, &step);
        skip = ignorable(code);
        after = !skip && cased(code);
    }
    return before && !after;
}

static void put(struct writer *writer, int32_t code)
{
    uint8_t bytes[UTF8_MAX];
    size_t n = (size_t)utf8proc_encode_char(code, bytes);
    if (writer->n + n <= writer->room) memcpy(writer->out + writer->n, bytes, n);
    writer->n += n;
}

size_t weft_lower(const char *token, size_t n, char *out, size_t room)
{
    const uint8_t *word = (const uint8_t *)token;
    struct writer writer = {.out = (uint8_t *)out, .room = room};
    for (size_t i = 0, step; i < n; i += step) {
        int32_t code = weft_char_code(word + i, &step);
        if (code == CAPITAL_DOTTED_I) {
            put(&writer, 'i');
            put(&writer, COMBINING_DOT);
        } else if (code == CAPITAL_SIGMA && is_final(word, n, i, i + step)) {
            put(&writer, FINAL_SIGMA);
        } else {
            put(&writer, utf8proc_tolower(code));
        }
    }
    return writer.n;
}

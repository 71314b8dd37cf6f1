/* Characters: their code points and classes, well-formed UTF-8, and lower case. Those
 * outside ASCII are looked up in utf8proc. */
#include "char.h"
#include "weft/text/text.h"

#include <string.h>
#include <utf8proc.h>

enum {
    S_ = CHAR_SPACE,
    P_ = CHAR_PUNCT,
    A_ = CHAR_WORD,
    D_ = CHAR_WORD | CHAR_DIGIT,
    U_ = CHAR_PUNCT | CHAR_WORD
};

/* clang-format off */
const uint8_t weft_char_ascii[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S_, S_, S_, S_, S_, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, S_, S_, S_, S_,
    S_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_,
    D_, D_, D_, D_, D_, D_, D_, D_, D_, D_, P_, P_, P_, P_, P_, P_,
    P_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_,
    A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, P_, P_, P_, P_, U_,
    P_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_,
    A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, A_, P_, P_, P_, P_, 0
};
/* clang-format on */

enum { NEXT_LINE = 0x85 }; /* the only control character outside ASCII that is whitespace */

int32_t weft_char_code(const uint8_t *p, size_t *n)
{
    utf8proc_int32_t code;
    *n = (size_t)utf8proc_iterate(p, -1, &code);
    return code;
}

unsigned weft_char_wide(const uint8_t *p, size_t *n)
{
    int32_t code = weft_char_code(p, n);
    int is = (int)utf8proc_category(code);
    if (is == UTF8PROC_CATEGORY_ND) return CHAR_WORD | CHAR_DIGIT;
    if ((is >= UTF8PROC_CATEGORY_LU && is <= UTF8PROC_CATEGORY_LO) ||
        is == UTF8PROC_CATEGORY_NL || is == UTF8PROC_CATEGORY_NO)
        return CHAR_WORD;
    if ((is >= UTF8PROC_CATEGORY_MN && is <= UTF8PROC_CATEGORY_ME) ||
        (is >= UTF8PROC_CATEGORY_PC && is <= UTF8PROC_CATEGORY_SO))
        return CHAR_PUNCT;
    int space = is >= UTF8PROC_CATEGORY_ZS && is <= UTF8PROC_CATEGORY_ZP;
    return space || code == NEXT_LINE ? CHAR_SPACE : 0;
}

size_t weft_utf8_check(const char *text, size_t n)
{
    static const uint64_t high = 0x8080808080808080u;
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if ((word & high) == 0) { /* eight ASCII characters */
                i += sizeof word;
                continue;
            }
        }
        utf8proc_int32_t c;
        utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                  (utf8proc_ssize_t)(n - i), &c);
        if (bytes <= 0) return i;
        i += (size_t)bytes;
    }
    return n;
}

/* ---- lower case ---- */

/* Lower case of a word as Python's str.lower() gives it: Unicode's simple mapping, except
 * for the two capitals that have a mapping in SpecialCasing.txt which does not depend on
 * the language. */
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
    int is = (int)utf8proc_category(code);
    return is == UTF8PROC_CATEGORY_MN || is == UTF8PROC_CATEGORY_ME ||
           is == UTF8PROC_CATEGORY_CF || is == UTF8PROC_CATEGORY_LM ||
           is == UTF8PROC_CATEGORY_SK;
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
    int is = (int)utf8proc_category(code);
    return is >= UTF8PROC_CATEGORY_LU && is <= UTF8PROC_CATEGORY_LT;
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

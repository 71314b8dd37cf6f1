/* Characters: their code points and classes. Those outside ASCII are looked up in utf8proc.
 */
#include "char.h"

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
    switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return CHAR_WORD;
    case UTF8PROC_CATEGORY_ND: return CHAR_WORD | CHAR_DIGIT;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO: return CHAR_PUNCT;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return CHAR_SPACE;
    default: return code == NEXT_LINE ? CHAR_SPACE : 0;
    }
}

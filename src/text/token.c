/* Tokens of a text: whitespace tokens without their punctuation ("remove"), or broken where
 * punctuation begins and ends ("split"). Whitespace is that of Python's str.split(),
 * punctuation the Unicode categories M, P and S. Characters outside ASCII are looked up in
 * utf8proc. Called when a data set is packed. */
#include "char.h"

#include <string.h>

#include <utf8proc.h>

const char *const weft_tok_name[WEFT_NTOK] = {"remove", "split", "treebank", "kim"};

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

/* A text, or a part of it. */
typedef struct span {
    const uint8_t *p, *end;
} span;

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

/* Takes the longest run of whitespace, of punctuation (whose class is returned) or of
 * others (0) from the start of a text that is not empty. */
static inline unsigned take(span *text, span *run)
{
    const uint8_t *p = text->p;
    size_t step;
    unsigned kind = char_class(p, &step) & (CHAR_SPACE | CHAR_PUNCT);
    do {
        p += step;
    } while (p < text->end && (char_class(p, &step) & (CHAR_SPACE | CHAR_PUNCT)) == kind);
    *run = (span){text->p, p};
    text->p = p;
    return kind;
}

static void split(span text, weft_token_fn fn, void *ctx)
{
    while (text.p < text.end) {
        span run;
        if (take(&text, &run) != CHAR_SPACE)
            fn(ctx, (const char *)run.p, (size_t)(run.end - run.p));
    }
}

/* A whitespace token in one piece is passed on unchanged; the pieces of others are joined
 * in buffer, which has room for the whole text. */
static void remove_punct(span text, weft_token_fn fn, void *ctx, uint8_t *buffer)
{
    const uint8_t *token = buffer;
    size_t n = 0;
    while (text.p < text.end) {
        span run;
        unsigned kind = take(&text, &run);
        size_t len = (size_t)(run.end - run.p);
        if (kind == CHAR_SPACE) {
            if (n > 0) fn(ctx, (const char *)token, n);
            n = 0;
        } else if (kind == 0 && n == 0) {
            token = run.p;
            n = len;
        } else if (kind == 0) {
            if (token != buffer) memcpy(buffer, token, n);
            token = buffer;
            memcpy(buffer + n, run.p, len);
            n += len;
        }
    }
    if (n > 0) fn(ctx, (const char *)token, n);
}

/* Kim's cleaning of sentences, clean_str of his process_data.py: characters other than
 * ASCII letters, digits and (),!?'` separate words; , ! ( ) ? are words; 's 've 're 'd 'll
 * and n't begin one; all is in lower case. Endings are recognised only in lower case, as in
 * clean_str. */
static int begins_ending(const uint8_t *p, const uint8_t *end)
{
    static const char *const endings[] = {"'s", "'ve", "n't", "'re", "'d", "'ll"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if ((size_t)(end - p) >= n && memcmp(p, endings[i], n) == 0) return 1;
    }
    return 0;
}

static void kim(span text, weft_token_fn fn, void *ctx, char *buffer)
{
    size_t n = 0;
    for (const uint8_t *p = text.p; p < text.end; p++) {
        int letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        int word = letter || (*p >= '0' && *p <= '9') || *p == '\'' || *p == '`';
        if (n > 0 && (!word || begins_ending(p, text.end))) {
            fn(ctx, buffer, n);
            n = 0;
        }
        if (word) buffer[n++] = (char)(*p >= 'A' && *p <= 'Z' ? *p + 'a' - 'A' : *p);
        if (*p != '\0' && strchr("(),!?", *p)) fn(ctx, (const char *)p, 1);
    }
    if (n > 0) fn(ctx, buffer, n);
}

void weft_tokenize(weft_tokenizer tok, const char *text, size_t n, weft_token_fn fn,
                   void *ctx, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const uint8_t *p = (const uint8_t *)text;
    span all = {p, p + n};
    switch (tok) {
    case WEFT_TOK_REMOVE: remove_punct(all, fn, ctx, WEFT_NEW(tmp, uint8_t, n)); break;
    case WEFT_TOK_SPLIT: split(all, fn, ctx); break;
    case WEFT_TOK_TREEBANK:
        weft_treebank(p, n, fn, ctx, WEFT_NEW(tmp, uint8_t, n + 1));
        break;
    case WEFT_TOK_KIM: kim(all, fn, ctx, WEFT_NEW(tmp, char, n)); break;
    case WEFT_NTOK: weft_die("no such tokenizer");
    }
    weft_arena_reset(tmp, mark);
}

/* Tokens of a text: whitespace tokens without their punctuation ("remove"), or broken where
 * punctuation begins and ends ("split"). Whitespace is that of Python's str.split(),
 * punctuation the Unicode categories M, P and S. */
#include "char.h"

#include <string.h>

const char *const weft_tok_name[WEFT_NTOK] = {"remove", "split", "treebank", "kim"};

/* A text, or a part of it. */
struct span {
    const uint8_t *p, *end;
};

/* Takes the longest run of whitespace, of punctuation (whose class is returned) or of
 * others (0) from the start of a text that is not empty. */
static inline unsigned take(struct span *text, struct span *run)
{
    const uint8_t *p = text->p;
    size_t step;
    unsigned kind = char_class(p, &step) & (CHAR_SPACE | CHAR_PUNCT);
    do {
        p += step;
    } while (p < text->end && (char_class(p, &step) & (CHAR_SPACE | CHAR_PUNCT)) == kind);
    *run = (struct span){text->p, p};
    text->p = p;
    return kind;
}

static void split(struct span text, weft_token_fn fn, void *ctx)
{
    while (text.p < text.end) {
        struct span run;
        if (take(&text, &run) != CHAR_SPACE)
            fn(ctx, (const char *)run.p, (size_t)(run.end - run.p));
    }
}

/* A whitespace token in one piece is passed on unchanged; the pieces of others are joined
 * in buffer, which has room for the whole text. */
static void remove_punct(struct span text, weft_token_fn fn, void *ctx, uint8_t *buffer)
{
    const uint8_t *token = buffer;
    size_t n = 0;
    while (text.p < text.end) {
        struct span run;
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

static void kim(struct span text, weft_token_fn fn, void *ctx, char *buffer)
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
    struct span all = {p, p + n};
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

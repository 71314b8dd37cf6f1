/* Tokens of a text: whitespace tokens without their punctuation ("remove"), or broken where
 * punctuation begins and ends ("split"); those of NLTK ("treebank"), and of Kim's program
 * ("kim"). Whitespace is that of Python's str.split(), punctuation the Unicode categories
 * M, P and S. */
#include "char.h"

#include <string.h>

const char *const weft_tok_name[WEFT_NTOK] = {"remove", "split", "treebank", "kim"};

/* ---- words and punctuation ---- */

/* A text, or a part of it. */
struct span {
    const uint8_t *p, *end;
};

/* Takes the longest run of whitespace, of punctuation (whose class is returned) or of
 * others (0) from the start of a text that is not empty. */
static inline unsigned take_run(struct span *text, struct span *run)
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
        if (take_run(&text, &run) != CHAR_SPACE)
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
        unsigned kind = take_run(&text, &run);
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

/* ---- Kim ---- */

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

/* ---- Penn Treebank ---- */

/* Penn Treebank tokens as NLTK's NLTKWordTokenizer gives them, which is what
 * word_tokenize(text, preserve_line=True) returns. NLTK rewrites the whole text about
 * thirty times by regular expressions that put spaces around signs and before suffixes, and
 * finally splits it at whitespace. Of these rules only that of the final period looks
 * across whitespace, so here each whitespace token is cut separately: a first pass marks
 * gaps at punctuation, further ones at suffixes and contractions, in NLTK's order, since a
 * rule depends on the gaps of the rules before it. */

/* Marks of a byte of a whitespace token. */
enum {
    GAP = 1,         /* a space is put before it */
    EARLY_GAP = 2,   /* already before the rule for closing apostrophes is applied */
    OPEN = 4,        /* a quote that opens: becomes `` */
    SINGLE_QUOTE = 8 /* an apostrophe that is not half of a '' */
};

enum { SHORTEST = 5, LONGEST = 6 }; /* bytes of a contraction that is one run of letters */
enum { LOWER = 0x20 };              /* the bit that makes an ASCII letter lower-case */

/* A whitespace token and its context. */
struct chunk {
    const uint8_t *s; /* [n] */
    size_t n;
    size_t period;    /* position of the final period of the text; not in this token if >=
                         n */
    int first, last;  /* 1: the text begins, ends with it */
    int blank_before; /* 1: U+0020 comes before it */
    int blank_after;  /* 1: U+0020 follows it */
    uint8_t *mark;    /* [n + 1] 0 before and after */
};

/* A word that is cut before letter `cut`. */
struct contraction {
    const char *word;
    int cut;
};

static int is_word(const struct chunk *chunk, size_t i)
{
    size_t step;
    return i < chunk->n && (char_class(chunk->s + i, &step) & CHAR_WORD) != 0;
}

/* The character at i in lower case, as Python's re compares letters when it ignores case:
 * it also takes dotted and dotless i for i and the long s for s. */
static int fold(const struct chunk *chunk, size_t i, size_t *step)
{
    int32_t code = chunk->s[i];
    *step = 1;
    if (code >= 0x80) code = weft_char_code(chunk->s + i, step);
    if ('A' <= code && code <= 'Z') return code - 'A' + 'a';
    if (code == 0x130 || code == 0x131) return 'i';
    return code == 0x17f ? 's' : code;
}

static void set(const struct chunk *chunk, size_t i, int what)
{
    chunk->mark[i] = (uint8_t)(chunk->mark[i] | what);
}

/* Makes n bytes at i a token of their own; returns where they end. */
static size_t pad(const struct chunk *chunk, size_t i, size_t n)
{
    set(chunk, i, GAP);
    set(chunk, i + n, GAP);
    return i + n;
}

static size_t pad_early(const struct chunk *chunk, size_t i, size_t n)
{
    set(chunk, i, EARLY_GAP);
    return pad(chunk, i, n);
}

/* 1 if bytes i and i + 1 are equal. */
static int is_double(const struct chunk *chunk, size_t i)
{
    return i + 1 < chunk->n && chunk->s[i + 1] == chunk->s[i];
}

/* ---- signs ---- */

/* 1 if a single letter that is not a clitic is at i, as in 'a'. */
static int is_single(const struct chunk *chunk, size_t i)
{
    size_t step;
    if (!is_word(chunk, i)) return 0;
    int letter = fold(chunk, i, &step);
    return !is_word(chunk, i + step) && !(letter < 0x80 && strchr("mtsdn", letter));
}

/* An apostrophe or '', which opens a quotation if `opened`. */
static size_t cut_apostrophe(const struct chunk *chunk, size_t i, int opened)
{
    if (is_double(chunk, i)) {
        if (opened) set(chunk, i, OPEN);
        return pad(chunk, i, 2);
    }
    set(chunk, i, SINGLE_QUOTE);
    if (is_single(chunk, i + 1)) set(chunk, i + 1, GAP | EARLY_GAP);
    return i + 1;
}

/* A comma or colon, unless a digit follows. NLTK's rule takes the next character with it,
 * so that the second of two is cut at its left side only. */
static size_t cut_comma(const struct chunk *chunk, size_t i)
{
    size_t step;
    if (i + 1 < chunk->n && (char_class(chunk->s + i + 1, &step) & CHAR_DIGIT))
        return i + 1;
    i = pad_early(chunk, i, 1);
    return i < chunk->n && (chunk->s[i] == ',' || chunk->s[i] == ':') ? i + 1 : i;
}

/* An ellipsis, or the final period. */
static size_t cut_period(const struct chunk *chunk, size_t i)
{
    size_t n = 1;
    while (i + n < chunk->n && chunk->s[i + n] == '.') n++;
    return n > 1 || i == chunk->period ? pad_early(chunk, i, n) : i + n;
}

/* Quotation marks outside ASCII; *opens: a quote after it opens a quotation. */
static size_t cut_wide(const struct chunk *chunk, size_t i, int *opens)
{
    size_t step;
    switch (weft_char_code(chunk->s + i, &step)) {
    case 0xab: /* guillemets and curved quotes that open */
    case 0x2018:
    case 0x201c:
    case 0x201e: *opens = 1; return pad_early(chunk, i, step);
    case 0xbb: /* and that close */
    case 0x2019:
    case 0x201d: return pad(chunk, i, step);
    default: return i + step;
    }
}

/* A sign that opens nothing, or any other character. */
static size_t cut_other(const struct chunk *chunk, size_t i, int *opens)
{
    int sign = chunk->s[i];
    if (sign == '\0') return i + 1;
    if (strchr(")]}>*", sign)) return pad(chunk, i, 1);
    if (strchr(";@#$%&?!", sign)) return pad_early(chunk, i, 1);
    switch (sign) {
    case ',':
    case ':': return cut_comma(chunk, i);
    case '.': return cut_period(chunk, i);
    case '-': return is_double(chunk, i) ? pad(chunk, i, 2) : i + 1;
    default: return sign < 0x80 ? i + 1 : cut_wide(chunk, i, opens);
    }
}

/* Marks the gaps at signs. Returns whether there is a lone apostrophe. */
static int cut_signs(const struct chunk *chunk)
{
    int lone = 0, opens = chunk->blank_before;
    for (size_t i = 0; i < chunk->n;) {
        int opened = opens;
        opens = 0;
        switch (chunk->s[i]) {
        case '"':
            opens = chunk->first && i == 0;
            if (opened || opens) set(chunk, i, OPEN);
            i = pad(chunk, i, 1);
            break;
        case '`':
            opens = 1;
            i = pad_early(chunk, i, is_double(chunk, i) ? 2 : 1);
            break;
        case '\'':
            lone |= !is_double(chunk, i);
            i = cut_apostrophe(chunk, i, opened);
            break;
        case '(':
        case '[':
        case '{':
        case '<':
            opens = 1;
            i = pad(chunk, i, 1);
            break;
        default: i = cut_other(chunk, i, &opens);
        }
    }
    return lone;
}

/* ---- suffixes and contractions ---- */

/* 1 if a space comes before i. */
static int is_end(const struct chunk *chunk, size_t i)
{
    return (i == chunk->n && (chunk->blank_after || chunk->last)) || (chunk->mark[i] & GAP);
}

/* 1 if two letters, both small or both capital, and then a space are at i. */
static int is_suffix(const struct chunk *chunk, size_t i, const char *small,
                     const char *capital)
{
    return i + 2 <= chunk->n && is_end(chunk, i + 2) &&
           (memcmp(chunk->s + i, small, 2) == 0 || memcmp(chunk->s + i, capital, 2) == 0);
}

/* Apostrophes that are followed by a space before the next rule is applied. */
static void cut_closing(const struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->n; i++)
        if ((chunk->mark[i] & SINGLE_QUOTE) &&
            ((chunk->mark[i + 1] & EARLY_GAP) || (i + 1 == chunk->n && chunk->blank_after)))
            set(chunk, i, GAP);
}

/* 's 'm 'd, and apostrophes that are followed by a space now. */
static void cut_genitives(const struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->n; i++) {
        if (!(chunk->mark[i] & SINGLE_QUOTE)) continue;
        int letter = i + 1 < chunk->n ? chunk->s[i + 1] | LOWER : 0;
        int clitic = letter == 's' || letter == 'm' || letter == 'd';
        if (is_end(chunk, i + 1) || (clitic && is_end(chunk, i + 2))) set(chunk, i, GAP);
    }
}

/* 'll 're 've n't */
static void cut_verbs(const struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->n; i++) {
        if (!(chunk->mark[i] & SINGLE_QUOTE)) continue;
        if (is_suffix(chunk, i + 1, "ll", "LL") || is_suffix(chunk, i + 1, "re", "RE") ||
            is_suffix(chunk, i + 1, "ve", "VE"))
            set(chunk, i, GAP);
        if (i == 0 || i + 1 >= chunk->n || !is_end(chunk, i + 2)) continue;
        int negation = (chunk->s[i - 1] == 'n' && chunk->s[i + 1] == 't') ||
                       (chunk->s[i - 1] == 'N' && chunk->s[i + 1] == 'T');
        if (negation && (i == 1 || chunk->s[i - 2] != '\'')) set(chunk, i - 1, GAP);
    }
}

/* 1 if a word ends at i. */
static int is_bound(const struct chunk *chunk, size_t i)
{
    return (chunk->mark[i] & GAP) || !is_word(chunk, i);
}

/* Where the contraction that starts at i ends, 0 if none does; *cut: where to cut it. */
static size_t match_end(const struct chunk *chunk, size_t i,
                        const struct contraction *contraction, size_t *cut)
{
    size_t step;
    for (int k = 0; contraction->word[k]; k++, i += step) {
        if (i >= chunk->n || fold(chunk, i, &step) != contraction->word[k]) return 0;
        if (k == contraction->cut) *cut = i;
    }
    return i;
}

/* Cuts the contraction that starts at i, the start of a word, if one does. */
static void cut_contraction(const struct chunk *chunk, size_t i)
{
    static const struct contraction list[] = {{"cannot", 3}, {"d'ye", 1},  {"gimme", 3},
                                              {"gonna", 3},  {"gotta", 3}, {"lemme", 3},
                                              {"more'n", 4}, {"wanna", 3}};
    size_t cut = 0;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        if ((chunk->s[i] | LOWER) != list[k].word[0]) continue;
        size_t end = match_end(chunk, i, &list[k], &cut);
        if (end == 0 || !is_bound(chunk, end)) continue;
        int is_wanna = list[k].word[0] == 'w'; /* must stand before whitespace */
        if (is_wanna && end < chunk->n && !(chunk->mark[end] & GAP)) continue;
        pad(chunk, i, cut - i);
        pad(chunk, cut, end - cut);
    }
}

static void cut_contractions(const struct chunk *chunk)
{
    int inside = 0;
    for (size_t i = 0, step; i < chunk->n; i += step) {
        int word = (char_class(chunk->s + i, &step) & CHAR_WORD) != 0;
        if (word && (!inside || (chunk->mark[i] & GAP))) cut_contraction(chunk, i);
        inside = word;
    }
}

/* 'tis and 'twas after a space. From the right, so that the gap after one has no effect on
 * others of the same rule. */
static void cut_tis(const struct chunk *chunk)
{
    static const struct contraction list[] = {{"'tis", 2}, {"'twas", 2}};
    int blank = chunk->first || chunk->blank_before;
    size_t cut = 0;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (size_t i = chunk->n; i-- > 0;) {
            if (!(chunk->mark[i] & SINGLE_QUOTE)) continue;
            size_t end = match_end(chunk, i, &list[k], &cut);
            if (end == 0 || !is_bound(chunk, end)) continue;
            if ((i == 0 && blank) || (chunk->mark[i] & GAP)) pad(chunk, cut, end - cut);
        }
}

/* ---- the text ---- */

/* Marks all gaps; plain: there are no signs. */
static void cut_chunk(const struct chunk *chunk, int plain)
{
    if (plain) {
        cut_contraction(chunk, 0);
        return;
    }
    int lone = cut_signs(chunk);
    if (lone) {
        cut_closing(chunk);
        cut_genitives(chunk);
        cut_verbs(chunk);
    }
    cut_contractions(chunk);
    if (lone) cut_tis(chunk);
}

/* Passes the pieces between gaps to fn, quotes as `` and '', and clears the marks. */
static void emit(const struct chunk *chunk, weft_token_fn fn, void *ctx)
{
    for (size_t i = 0, end; i < chunk->n; i = end) {
        for (end = i + 1; end < chunk->n && !(chunk->mark[end] & GAP);) end++;
        if (chunk->mark[i] & OPEN)
            fn(ctx, "``", 2);
        else if (chunk->s[i] == '"')
            fn(ctx, "''", 2);
        else
            fn(ctx, (const char *)chunk->s + i, end - i);
    }
    memset(chunk->mark, 0, chunk->n + 1);
}

/* Length of a sign at p that may come between the final period and the end; 0 if there is
 * none. */
static size_t closing_sign(const uint8_t *p)
{
    size_t step;
    if (*p < 0x80) return *p && strchr("])}>\"' ", *p) ? 1 : 0;
    int32_t code = weft_char_code(p, &step);
    return code == 0xbb || code == 0x201d || code == 0x2019 ? step : 0;
}

/* Position of the period that ends the text, followed only by closing signs, spaces and
 * then whitespace; n if there is none. */
static size_t final_period(const uint8_t *text, size_t n)
{
    size_t at = n, step;
    while (at > 0 && text[at - 1] != '.') at--;
    if (at <= 1) return n; /* something must come before it */
    for (size_t i = at; i < n; i += step) {
        step = closing_sign(text + i);
        if (step == 0) {
            while (i < n && (char_class(text + i, &step) & CHAR_SPACE)) i += step;
            return i == n ? at - 1 : n;
        }
        int quote = text[i] == '"' || (text[i] == '\'' && i + 1 < n && text[i + 1] == '\'');
        if (quote && text[i - 1] == ' ') return n; /* it opens */
    }
    return at - 1;
}

/* *n: length of the whitespace token at p; returns the classes that all its characters
 * have. */
static unsigned token_length(const uint8_t *p, const uint8_t *end, size_t *n)
{
    const uint8_t *start = p;
    unsigned all = CHAR_WORD;
    for (size_t step; p < end; p += step) {
        unsigned k = char_class(p, &step);
        if (k & CHAR_SPACE) break;
        all &= k;
    }
    *n = (size_t)(p - start);
    return all;
}

static void treebank(const uint8_t *text, size_t n, weft_token_fn fn, void *ctx,
                     uint8_t *mark)
{
    size_t period = final_period(text, n);
    for (size_t i = 0, step; i < n; i += step) {
        if (char_class(text + i, &step) & CHAR_SPACE) continue;
        struct chunk chunk = {
            .s = text + i, .period = period - i, .first = i == 0, .mark = mark};
        unsigned all = token_length(text + i, text + n, &chunk.n);
        step = chunk.n;
        if ((all & CHAR_WORD) && (chunk.n < SHORTEST || chunk.n > LONGEST)) {
            fn(ctx, (const char *)chunk.s, chunk.n);
            continue;
        }
        chunk.last = i + step == n;
        chunk.blank_before = i > 0 && text[i - 1] == ' ';
        chunk.blank_after = !chunk.last && text[i + step] == ' ';
        cut_chunk(&chunk, (all & CHAR_WORD) != 0);
        emit(&chunk, fn, ctx);
    }
}

void weft_tokenize(weft_tokenizer tok, const char *text, size_t n, weft_token_fn fn,
                   void *ctx, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const uint8_t *p = (const uint8_t *)text;
    struct span all = {p, p + n};
    switch (tok) {
    case WEFT_TOK_REMOVE: remove_punct(all, fn, ctx, WEFT_NEW(tmp, uint8_t, n)); break;
    case WEFT_TOK_SPLIT: split(all, fn, ctx); break;
    case WEFT_TOK_TREEBANK: treebank(p, n, fn, ctx, WEFT_NEW(tmp, uint8_t, n + 1)); break;
    case WEFT_TOK_KIM: kim(all, fn, ctx, WEFT_NEW(tmp, char, n)); break;
    case WEFT_NTOK: weft_die("no such tokenizer");
    }
}

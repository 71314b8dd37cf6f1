/* Symbols of running text: the vocabularies of LEAF and of FedEx. Private to reader. */
#ifndef WEFT_READER_ALPHABET_H
#define WEFT_READER_ALPHABET_H

#include "weft/pack.h"

/* Choices of an option "vocabulary". */
enum { WEFT_VOCAB_LEAF, WEFT_VOCAB_FEDEX };
#define WEFT_VOCAB_WORDS "leaf|fedex"
#define WEFT_VOCAB_ABOUT                                                                   \
    "symbols: leaf: 80; fedex: 101, Python's printable ones after pad and unknown"
#define WEFT_UNKNOWN_ABOUT                                                                 \
    "symbol in place of what leaf's vocabulary lacks, one of it; none: that is an error"

typedef struct weft_alphabet {
    int n;               /* symbols */
    int16_t symbol[256]; /* of a byte; -1: none */
    const char *name;    /* of the vocabulary */
} weft_alphabet;

/* `unknown` NULL: LEAF's has no symbol for characters that it lacks. ECONF. */
WEFT_CHECKED weft_status weft_alphabet_setup(weft_alphabet *alphabet, int vocabulary,
                                             const char *unknown);
/* The symbols of text[n] to out[n]; returns how many. A character of several bytes is one
 * symbol. At a character without symbol it ends and *bad is its place, otherwise n. */
int64_t weft_alphabet_map(const weft_alphabet *alphabet, const char *text, size_t n,
                          uint8_t *out, size_t *bad);
/* EDATA: "<where> has the character ..., which ..."; `where` names file and place. */
WEFT_CHECKED weft_status weft_alphabet_fail(const weft_alphabet *alphabet,
                                            const char *where, const char *text);
/* Tells the packer the classes: symbols as they are, or "\\n" and the like. */
void weft_alphabet_classes(int vocabulary, weft_pack *pack);

#endif

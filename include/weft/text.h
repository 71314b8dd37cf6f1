/* Text: well-formed UTF-8, tokens, lower case, stop words, articles of newsgroups. */
#ifndef WEFT_TEXT_H
#define WEFT_TEXT_H

#include "weft/arena.h"
#include "weft/status.h"

/* Four tokenizers: drop punctuation, split at punctuation, Penn Treebank (NLTK), Kim's
 * cleaning of sentences (process_data.py of "Convolutional neural networks for sentence
 * classification", EMNLP 2014), whose tokens are in lower case. */
typedef enum weft_tokenizer {
    WEFT_TOK_REMOVE,
    WEFT_TOK_SPLIT,
    WEFT_TOK_TREEBANK,
    WEFT_TOK_KIM,
    WEFT_NTOK
} weft_tokenizer;
#define WEFT_TOK_WORDS "remove/simple|split/custom|treebank/nltk|kim"
extern const char
    *const weft_tok_name[WEFT_NTOK]; /* "remove", "split", "treebank", "kim" */

/* Called with each token of a text, in order. */
typedef void (*weft_token_fn)(void *ctx, const char *token, size_t n);
/* Splits UTF-8 text into tokens. Whitespace and punctuation (Unicode categories M, P, S)
 * are Python's; WEFT_TOK_TREEBANK gives what NLTK's NLTKWordTokenizer gives. The text must
 * be well-formed; tokens last until fn returns, and fn must not use tmp. Cost O(n). */
void weft_tokenize(weft_tokenizer tok, const char *text, size_t n, weft_token_fn fn,
                   void *ctx, weft_arena *tmp);
/* 1 if the token is in the English stop list, as it is, capitalised, or without its
 * punctuation. */
int weft_is_stop(const char *token, size_t n);
/* Writes the token in lower case, as Python's str.lower(), to out[room], without a final
 * NUL. Returns its bytes; if they are more than room, out is incomplete; room = 2 n always
 * suffices. */
size_t weft_lower(const char *token, size_t n, char *out, size_t room);

/* The first byte of text[n] that is not well-formed UTF-8, or n. Cost O(n). */
size_t weft_utf8_check(const char *text, size_t n);

/* The parts of an article that scikit-learn's fetch_20newsgroups(remove=) can remove. */
enum { WEFT_NEWS_HEADERS = 1, WEFT_NEWS_FOOTERS = 2, WEFT_NEWS_QUOTES = 4 };
/* Converts a list "headers,footers,quotes" to flags; "" is none. ECONF with the nearest
 * name. */
WEFT_CHECKED weft_status weft_news_flags(const char *list, int *flags, weft_arena *mem);
/* Removes the parts selected by flags, in place; *text and *n are then those of the rest.
 * The text is UTF-8. Cost O(n). */
void weft_news_strip(int flags, char **text, size_t *n);

#endif

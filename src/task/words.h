/* Documents as networks over words take them: the keys that tasks sgd and fed share, and
 * the shape of their inputs. Included only by src/task/. */
#ifndef WEFT_TASK_WORDS_H
#define WEFT_TASK_WORDS_H

#include "weft/task.h"

typedef struct weft_word_keys {
    const char *vectors;
    int tokenizer, dim;
} weft_word_keys;

/* Their rows in the table of a task's options; `keys` is a member of the task. */
#define WEFT_WORD_OPTS(task, keys)                                                         \
    WEFT_CHOICE_OPT("tokenizer", task, keys.tokenizer, "split", WEFT_TOK_WORDS,            \
                    "documents: tokenizer that splits them into words"),                   \
        WEFT_TEXT_OPT(                                                                     \
            "vectors", task, keys.vectors, "",                                             \
            "documents: file of word vectors in word2vec's text or binary format. Words "  \
            "that are not in it, or all without a file, begin with U(-0.25, 0.25)"),       \
        WEFT_INT_OPT("dim", task, keys.dim, "300", 1, 4096,                                \
                     "documents: length of word vectors, if no file is given")

/* Sets the members of a shape that documents have, but not length, for the words of d,
 * which it loads, and documents of up to `longest` words; sets env->data->longest, unless
 * the data that a winner was trained on have set it. The vectors are in env->mem. EFILE,
 * EDATA: see weft_data_words and weft_vectors_read; no document has a word. */
WEFT_CHECKED weft_status weft_word_shape(const weft_word_keys *keys, weft_data *data,
                                         int64_t longest, const weft_env *env,
                                         weft_shape *shape);

/* ECONF if vectors or a tokenizer are given for data without documents, at `path`. */
WEFT_CHECKED weft_status weft_word_unused(const weft_word_keys *keys, const char *section,
                                          const char *path);

/* The distinct words of some documents, each with a place, from 0 on. */
typedef struct weft_seats {
    int32_t *place; /* [words of the vocabulary] -1: none */
    uint32_t *word; /* [n] by place */
    int n;
} weft_seats;
/* Room for up to `most` of the words of a vocabulary. */
weft_seats weft_seats_new(int64_t words, int64_t most, weft_arena *mem);
/* Gives places to those of word[n] that have none. */
void weft_seats_add(weft_seats *seats, int64_t n, const uint32_t *word);
/* Takes all places away. Cost O(places). */
void weft_seats_clear(weft_seats *seats);

#endif

/* What tasks share: when a unit is left, results of a single configuration, documents that
 * networks read and texts that they write, intervals for scores of clients. Private to
 * src/task/. */
#ifndef WEFT_TASK_PARTS_H
#define WEFT_TASK_PARTS_H

#include "weft/data/data.h"
#include "weft/space/scores.h"
#include "weft/task/task.h"
#include "weft/text/text.h"

/* ---- jobs ---- */

/* 1: the run is asked to stop, or its time is over. */
int halt_is_asked(const weft_env *env);
/* 1 if this rank should leave its unit. A run that is asked to stop ends between units,
 * where nothing is lost. A unit that has not ended some seconds later is left: its step
 * returns WEFT_STOP, and a resume repeats it from the last checkpoint, with the same bits.
 * *asked: when it first saw that the run is to stop; 0 at first. */
int halt_is_due(const weft_env *env, double *asked);

/* The result of a job of one configuration: its loss, share of wrong answers (NAN: not
 * known) and cost. */
void weft_result_single(weft_result *res, double loss, double wrong, double cost);
/* What a metric says of errors, after "share of wrong answers". */
#define WEFT_ERROR_OF_NUMBERS                                                              \
    "; of numbers, mean squared error over the variance of the training targets, which "   \
    "is "                                                                                  \
    "1 - R2"
/* The measures of all predictions together, from metric[first] of the scores on, confusion
 * and fit; owned by mem. */
void weft_scores_judge(const weft_predictions *said, const weft_truth *truth, int first,
                       weft_scores *out, weft_arena *mem);

/* ---- documents ---- */

/* Keys of tasks that train networks over words. */
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
            "that are not in it, or all without a file, begin with U(-0.25, 0.25)",        \
            .names_file = 1),                                                              \
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

/* A sample, and its number of words. */
typedef struct weft_length {
    int64_t at;
    int words, place;
} weft_length;
/* Sorts by decreasing words, those of equal numbers by their places. */
void weft_lengths_sort(int64_t n, weft_length *length);

/* Inputs and outputs of a network on rows or running text of clients; every: as in
 * weft_shape, of text. */
weft_shape weft_clients_shape(const weft_data *data, const weft_clients *clients,
                              int every);

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

/* ---- texts that networks write (texts.c) ---- */

/* How good they are, by the members that samples belong to, such as directions of
 * translation; rows of tables of scores. */
/* clang-format off */
#define WEFT_TEXT_SCORES \
    {"bleu", "BLEU of the translations, as sacrebleu's with 13a tokens", "0 to 100", "BLEU"}, \
    {"chrf", "chrF2 of the translations, as sacrebleu's", "0 to 100", "chrF"}
/* clang-format on */
typedef struct weft_texts weft_texts;
weft_texts *weft_texts_new(int64_t members, weft_arena *mem);
/* Adds word[n], which was written for sample i, from 0, of a member's part. */
void weft_texts_add(weft_texts *texts, const weft_data *data, weft_part part,
                    int64_t member, int64_t i, int n, const uint32_t *word);
/* Sums over the ranks of a team. Collective over team. */
void weft_texts_join(weft_team *team, int64_t members, weft_texts *texts);
/* score[2] of a member, and how many texts it has; means over those that have some, NAN if
 * none has. */
int64_t weft_texts_score(const weft_texts *texts, int64_t member, double *score);
void weft_texts_mean(const weft_texts *texts, int64_t members, double *score);

/* ---- scores of clients ---- */

/* The weights of all clients, which are their numbers of samples: known without their
 * data. */
typedef struct weft_population {
    double sum, square; /* of the weights, and of their squares; exact below 2^53 */
} weft_population;

typedef struct weft_interval {
    double score; /* sum w s / sum w over the clients drawn; NAN: none has weight */
    double half;  /* score +- half is a 95 % confidence interval for the score of all
                     clients; INFINITY if fewer than two clients, and not all, were drawn */
} weft_interval;

/* The score of a population and its 95 % interval, from clients drawn without replacement
 * with equal chances. With X, Q the sums of w and w^2 over the sample, W, P those of all:
 *     spread^2 = around / (X (1 - Q / X^2)),
 *     half     = t spread sqrt((1/X - 1/W)^2 Q + (P - Q) / W^2),  t: Student's, m - 1.
 * drawn   clients of weight > 0 in the sample: m
 * x, q    X and Q
 * score   sum w s / X
 * around  sum w (s - score)^2
 * The root is the standard error of a ratio given which clients were drawn, if scores have
 * equal variance: (1/X - 1/W) w is the excess weight of a drawn client, w / W the missing
 * weight of each other. It is 0 when all are drawn, and sqrt(1/m - 1/n) for equal weights.
 * With weights as skewed as in Shakespeare it covers 95 to 97 % at m = 10, 20, 100; the
 * usual one, from sum w^2 (s - score)^2 / X^2, 86, 89, 92 %. Cost O(drawn). Royall,
 * Cumberland, Journal of the American Statistical Association 73, 1978. */
weft_interval weft_interval_of(int drawn, double x, double q, double score, double around,
                               weft_population all);

#endif

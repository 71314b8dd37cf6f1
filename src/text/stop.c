/* The English stop list of NLTK (stopwords corpus), 179 words, and each word capitalised
 * and without its apostrophe. Called when a data set is packed. */
#include "weft/text.h"

#include <stdlib.h>
#include <string.h>

/* The words that are not capitalised, in the order of strcmp. */
static const char *const list[] = {
    "a",         "about",   "above",     "after",      "again",    "against",  "ain",
    "all",       "am",      "an",        "and",        "any",      "are",      "aren",
    "aren't",    "arent",   "as",        "at",         "be",       "because",  "been",
    "before",    "being",   "below",     "between",    "both",     "but",      "by",
    "can",       "couldn",  "couldn't",  "couldnt",    "d",        "did",      "didn",
    "didn't",    "didnt",   "do",        "does",       "doesn",    "doesn't",  "doesnt",
    "doing",     "don",     "don't",     "dont",       "down",     "during",   "each",
    "few",       "for",     "from",      "further",    "had",      "hadn",     "hadn't",
    "hadnt",     "has",     "hasn",      "hasn't",     "hasnt",    "have",     "haven",
    "haven't",   "havent",  "having",    "he",         "her",      "here",     "hers",
    "herself",   "him",     "himself",   "his",        "how",      "i",        "if",
    "in",        "into",    "is",        "isn",        "isn't",    "isnt",     "it",
    "it's",      "its",     "itself",    "just",       "ll",       "m",        "ma",
    "me",        "mightn",  "mightn't",  "mightnt",    "more",     "most",     "mustn",
    "mustn't",   "mustnt",  "my",        "myself",     "needn",    "needn't",  "neednt",
    "no",        "nor",     "not",       "now",        "o",        "of",       "off",
    "on",        "once",    "only",      "or",         "other",    "our",      "ours",
    "ourselves", "out",     "over",      "own",        "re",       "s",        "same",
    "shan",      "shan't",  "shant",     "she",        "she's",    "shes",     "should",
    "should've", "shouldn", "shouldn't", "shouldnt",   "shouldve", "so",       "some",
    "such",      "t",       "than",      "that",       "that'll",  "thatll",   "the",
    "their",     "theirs",  "them",      "themselves", "then",     "there",    "these",
    "they",      "this",    "those",     "through",    "to",       "too",      "under",
    "until",     "up",      "ve",        "very",       "was",      "wasn",     "wasn't",
    "wasnt",     "we",      "were",      "weren",      "weren't",  "werent",   "what",
    "when",      "where",   "which",     "while",      "who",      "whom",     "why",
    "will",      "with",    "won",       "won't",      "wont",     "wouldn",   "wouldn't",
    "wouldnt",   "y",       "you",       "you'd",      "you'll",   "you're",   "you've",
    "youd",      "youll",   "your",      "youre",      "yours",    "yourself", "yourselves",
    "youve"};

enum { LONGEST = 10 }; /* bytes of a listed word */

static int order(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

int weft_is_stop(const char *token, size_t n)
{
    char word[LONGEST + 1] = "";
    if (n == 0 || n > LONGEST || memchr(token, 0, n)) return 0;
    memcpy(word, token, n);
    if ('A' <= word[0] && word[0] <= 'Z') word[0] = (char)(word[0] - 'A' + 'a');
    return bsearch(word, list, sizeof list / sizeof *list, sizeof *list, order) != NULL;
}

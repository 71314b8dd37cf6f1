/* Users out of LEAF's JSON files, one at a time. Private to the reader of LEAF's files. */
#ifndef WEFT_READER_LEAF_H
#define WEFT_READER_LEAF_H

#include "alphabet.h"
#include "reader.h"

/* What all samples have in common, learnt from the first one. */
typedef struct weft_leaf_form {
    int64_t d;      /* numbers of a row, or characters of a window; 0: not known yet */
    int text;       /* windows with the character that follows */
    int documents;  /* lists of texts, as [id, date, query, user, text], of which one is */
    int64_t column; /* element, from 0, that is it */
    enum { WEFT_LEAF_OPEN, WEFT_LEAF_NUMBERS, WEFT_LEAF_WORDS } labelled; /* what y is of */
    weft_labels labels; /* words that are labels */
    weft_alphabet alphabet;
} weft_leaf_form;

/* Files of a part, in the order of their names. */
typedef struct weft_leaf_files {
    const char **path; /* [n] */
    int64_t n, room;
} weft_leaf_files;
/* The *.json of a source: a file or a directory, all in part[WEFT_TRAIN]; *divided 1: a
 * directory that has train/, whose directories are the parts. EFILE: there are none; ECONF:
 * one of them would be replaced by what is packed. */
WEFT_CHECKED weft_status weft_leaf_find(const char *source,
                                        weft_leaf_files part[WEFT_NPART], int *divided,
                                        weft_pack *pack);

typedef struct weft_leaf_user {
    const char *name, *file;
    int64_t n;                   /* samples */
    const double *x;             /* [n][d]; of text NULL */
    const char *const *document; /* [n] texts, of documents */
    const int32_t *label;        /* [n] numbers, or those of words in the form's labels */
    const uint8_t *text;         /* [n][d] symbols */
    const uint8_t *next;         /* [n] the symbols that follow */
} weft_leaf_user;

typedef struct weft_leaf weft_leaf;
/* The users of the files path[n], in their order. `gapped`: LEAF's released program, where
 * it divides text, counts the samples between train and test as samples of the test, by
 * mistake. */
weft_leaf *weft_leaf_open(const char *const *path, int64_t n, int gapped,
                          weft_leaf_form *form, weft_arena *mem);
/* The next user, who may have no samples, NULL after the last; good until the next call.
 * EFILE, EDATA: not JSON, or not LEAF's; names file, user and sample. */
WEFT_CHECKED weft_status weft_leaf_next(weft_leaf *leaf, const weft_leaf_user **user);
/* Adds the files, of which all users were read, to the sources of the packed file. */
void weft_leaf_sources(const weft_leaf *leaf, weft_pack *pack);
void weft_leaf_close(weft_leaf *leaf);

/* Packs the users' documents, each user a client. Those of leaf[part], NULL where there is
 * none, are of that part; those of the train part alone, or without a valid or test part of
 * their own, are divided within each user by the shares. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_leaf_documents(weft_leaf *const leaf[WEFT_NPART],
                                             const weft_leaf_form *form,
                                             const weft_split *split, const char *source,
                                             weft_pack *pack);

#endif

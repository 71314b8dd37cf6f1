/* Labelled documents while they are packed, and their encoding. Private to the readers
 * `text` and `folder`. */
#ifndef WEFT_READER_DOCUMENTS_H
#define WEFT_READER_DOCUMENTS_H

#include "reader.h"

typedef struct weft_document {
    const char *name; /* for messages and the packed file */
    const char *text; /* [n] UTF-8 */
    size_t n;
    const char *client; /* whose it is; NULL: nobody's, as all are */
} weft_document;

/* Documents in the order in which they were read: first those to be divided by shares, then
 * those of a separate source for validation, then those of one for the test. */
typedef struct weft_documents {
    weft_document *document; /* [n] */
    int32_t *label;          /* [n] */
    int64_t n, room, label_room;
    int64_t end[WEFT_NPART];     /* documents of the sources of train; of valid; of test */
    const char *own[WEFT_NPART]; /* separate source of a part; NULL: none */
    weft_labels labels;
} weft_documents;

/* Adds a document of class label[n_label], found in that line (0: none) of labels.path.
 * EDATA as weft_labels_find. */
WEFT_CHECKED weft_status weft_documents_add(weft_documents *documents,
                                            weft_document document, int64_t line,
                                            const char *label, size_t n_label,
                                            weft_arena *mem);
/* Takes document i out, and its class, if no other document has it; other classes of higher
 * numbers move up. Cost O(n). */
void weft_documents_drop(weft_documents *documents, int64_t i);
/* Hands all documents over: the first end[WEFT_TRAIN] are shuffled and divided by shares,
 * except that no share is taken for a part with a source of its own. */
WEFT_CHECKED weft_status weft_documents_pack(weft_documents *documents, const char *source,
                                             weft_split split, weft_pack *pack);

/* Hands all documents over in their order, to be scored by the winner of a run, or one that
 * was trained on a packed file: `like`, whose classes theirs are, and of clients, if its
 * are; there is one at least. Their labels may all be "". EFILE; EDATA: `like` is of no
 * texts, or lacks a class. */
WEFT_CHECKED weft_status weft_documents_score(weft_documents *documents, const char *like,
                                              weft_pack *pack);

typedef enum weft_encoding {
    WEFT_ENC_AUTO, /* UTF-8 where it is well-formed, else Windows-1252 */
    WEFT_ENC_UTF8,
    WEFT_ENC_LATIN1,
    WEFT_ENC_CP1252 /* Latin-1 but for 27 characters in 0x80..0x9f */
} weft_encoding;
#define WEFT_ENCODING_WORDS "auto|utf-8|latin1|cp1252"

/* Makes *text of *n bytes UTF-8, in mem; returns 1 if it was not well-formed UTF-8 and was
 * taken as Windows-1252 for that (WEFT_ENC_AUTO). Bytes that Windows-1252 lacks are control
 * characters as in Latin-1 (WHATWG, "Encoding Standard"). Cost O(n). */
int weft_text_decode(weft_encoding encoding, char **text, size_t *n, weft_arena *mem);

#endif

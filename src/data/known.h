/* What a winner is stored with of sentences in several languages. Private to data. */
#ifndef WEFT_DATA_KNOWN_H
#define WEFT_DATA_KNOWN_H

#include "weft/translations.h"

/* The vocabulary of that name in GROUP/vocab, in file->mem. EFILE, EDATA. */
WEFT_CHECKED weft_status weft_pieces_open(weft_h5 *file, const char *group,
                                          const char *name, const weft_bpe **bpe);
/* GROUP/direction, of translations->n languages, all of which are known then. EFILE,
 * EDATA. */
WEFT_CHECKED weft_status weft_directions_read(weft_h5 *file, const char *group,
                                              weft_translations *translations);

#endif

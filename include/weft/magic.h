/* Files that are no text, told by how they begin. */
#ifndef WEFT_MAGIC_H
#define WEFT_MAGIC_H

#include "weft/status.h"

#include <stddef.h>

/* EDATA where text[n], the beginning of file `path`, is that of a known kind of file that
 * is no text in UTF-8: compressed, an archive, HDF5, NumPy, Parquet, UTF-16 and others; the
 * message names the kind and the remedy. 262 bytes tell all of them. */
WEFT_CHECKED weft_status weft_text_only(const char *path, const char *text, size_t n);

#endif

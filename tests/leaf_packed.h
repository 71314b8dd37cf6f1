/* A data set of LEAF that is packed and opened. Included by t_leaf.c and t_leaf_split.c. */
#ifndef WEFT_TEST_LEAF_PACKED_H
#define WEFT_TEST_LEAF_PACKED_H

#include "leaf.h"

static weft_data data;

static int opened(const char *name)
{
    weft_status st = weft_data_open(&data, at(name), &world, mem);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK;
}

static int packed(const char *source, const char *out, const char *options)
{
    weft_status st = pack(&weft_reader_leaf, source, out, options);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK && opened(out);
}

static weft_samples samples(int64_t c, weft_part part)
{
    weft_samples samples = {0};
    must(weft_client_read(data.clients, c, part, &samples, mem));
    return samples;
}

#endif

/* The vocabularies of a packed file, and the words in them. */
#include "federation.h"

const char *weft_token_name(weft_data *data, const char *group, int tok, const char *what)
{
    return weft_arena_text(data->mem, "/%s/%s/%s", group, weft_tok_name[tok], what);
}

weft_status weft_data_vocab(weft_data *data, weft_tokenizer tok)
{
    const char *name = weft_token_name(data, "vocab", tok, "hash");
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(&data->file, name, &nd, dims));
    int64_t n = dims[0];
    uint64_t *hash = WEFT_NEW(data->mem, uint64_t, n),
             *lower = WEFT_NEW(data->mem, uint64_t, n);
    uint8_t *stop = WEFT_NEW(data->mem, uint8_t, n);
    TRY(weft_h5_read_rows(&data->file, name, WEFT_H5_U64, 1, 0, n, hash));
    TRY(weft_h5_read_rows(&data->file, weft_token_name(data, "vocab", tok, "lower"),
                          WEFT_H5_U64, 1, 0, n, lower));
    TRY(weft_h5_read_rows(&data->file, weft_token_name(data, "vocab", tok, "stop"),
                          WEFT_H5_U8, 1, 0, n, stop));
    data->vocab[tok] = (weft_vocab){.n = n, .hash = hash, .lower = lower, .stop = stop};
    return WEFT_OK;
}

weft_status weft_data_words(weft_data *data, weft_tokenizer tok)
{
    weft_vocab *vocab = &data->vocab[tok];
    int64_t *count = WEFT_NEW(data->mem, int64_t, vocab->n);
    TRY(weft_vocab_words(vocab, &data->file,
                         weft_arena_text(data->mem, "/vocab/%s", weft_tok_name[tok])));
    TRY(weft_h5_read_rows(&data->file, weft_token_name(data, "vocab", tok, "count"),
                          WEFT_H5_I64, 1, 0, vocab->n, count));
    vocab->count = count;
    return WEFT_OK;
}

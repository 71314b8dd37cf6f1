/* The rows of an open data set as features read them. */
#include "weft/data.h"

static weft_status load_tokens(void *of, weft_tokenizer tok)
{
    return weft_data_tokens(of, tok);
}

weft_source weft_data_source(weft_data *d)
{
    return (weft_source){.form = d->form,
                         .classes = d->classes,
                         .part = d->part,
                         .vocab = d->vocab,
                         .path = d->path,
                         .team = d->team,
                         .tokens = load_tokens,
                         .of = d};
}

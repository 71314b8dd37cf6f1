/* The rows of an open data set as features read them. */
#include "weft/data.h"

static weft_status load_tokens(void *of, weft_tokenizer tok)
{
    return weft_data_tokens(of, tok);
}

weft_source weft_data_source(weft_data *data)
{
    return (weft_source){.form = data->form,
                         .classes = data->classes,
                         .part = data->part,
                         .vocab = data->vocab,
                         .path = data->path,
                         .team = data->team,
                         .tokens = load_tokens,
                         .of = data};
}

/* The table of the forms of samples, by which the rest of the program knows them, and the
 * match of data with a winner's by the form of both. */
#include "data.h"

#include <string.h>

static const weft_form_traits form_bytes = {
    .name = "bytes", .hold = "bytes", .reader = "dense", .match = data_match_rows};
static const weft_form_traits form_reals = {.name = "reals",
                                            .hold = "rows of numbers",
                                            .read = "takes rows of numbers",
                                            .net = "linear, mlp or cnn",
                                            .reader = "dense",
                                            .match = data_match_rows};
static const weft_form_traits form_tokens = {.name = "tokens",
                                             .hold = "documents",
                                             .read = "reads documents",
                                             .net = "txtcnn",
                                             .reader = "text",
                                             .match = data_match_rows};
static const weft_form_traits form_chars = {.name = "chars",
                                            .hold = "text",
                                            .read = "reads text",
                                            .net = "lstm",
                                            .reader = "dense",
                                            .unclassed = "characters of text have none",
                                            .match = data_match_alphabet};

const weft_form_traits *const weft_forms[WEFT_NFORM] = {[WEFT_BYTES] = &form_bytes,
                                                        [WEFT_REALS] = &form_reals,
                                                        [WEFT_TOKENS] = &form_tokens,
                                                        [WEFT_CHARS] = &form_chars,
                                                        [WEFT_SENTENCES] =
                                                            &data_form_sentences};

weft_form weft_form_find(const char *name)
{
    int k = 0;
    while (k < WEFT_NFORM && strcmp(name, weft_forms[k]->name) != 0) k++;
    return (weft_form)k;
}

weft_status weft_data_match(weft_data *data, const weft_likeness *like, const char *whose)
{
    if (like->classes == 0) return WEFT_OK; /* trained without data: the task decides */
    if (data->form != like->form)
        return weft_fail(WEFT_EDATA,
                         "%s holds %s, but the winner of %s was trained on %s; pack the "
                         "data by the same reader",
                         data->path, weft_forms[data->form]->hold, whose,
                         weft_forms[like->form]->hold);
    TRY(data_match_shape(data, like, whose));
    data->longest = like->longest;
    return weft_forms[data->form]->match(data, like, whose);
}

/* Which networks read which samples, for messages. */
#include "form.h"

static const struct {
    const char *read, *hold, *net;
} forms[WEFT_NFORM] = {
    [WEFT_REALS] = {"takes rows of numbers", "rows of numbers", "linear, mlp or cnn"},
    [WEFT_TOKENS] = {"reads documents", "documents", "txtcnn"},
    [WEFT_CHARS] = {"reads text", "text", "lstm"},
    [WEFT_SENTENCES] = {"translates", "sentences in several languages", "seq2seq"},
};

weft_status net_check_form(const char *name, weft_form form, const weft_shape *shape)
{
    if (shape->form == form) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "model = %s %s, the data set holds %s; use model = %s",
                     name, forms[form].read, forms[shape->form].hold,
                     forms[shape->form].net);
}

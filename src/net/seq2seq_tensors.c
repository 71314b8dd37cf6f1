/* The tensors of the translation network, by one list in their order. */
#include "seq2seq.h"

#include <stdio.h>
#include <string.h>

/* The tensors in their order; `out` may be NULL. */
struct list {
    weft_tensor *out;
    int n;
    int64_t end;
};

static int64_t add(struct list *list, int64_t rows, int64_t columns, const char *name)
{
    int64_t at = list->end;
    if (list->out) {
        weft_tensor *tensor = &list->out[list->n];
        *tensor = (weft_tensor){.at = at, .nd = columns ? 2 : 1, .dims = {rows, columns}};
        snprintf(tensor->name, sizeof tensor->name, "%s", name);
    }
    list->n++;
    list->end += rows * (columns ? columns : 1);
    return at;
}

static seq2seq_lstm add_lstm(struct list *list, const char *name, int l,
                             const char *direction, int in, int h)
{
    static const char *const kind[] = {"weight_ih", "weight_hh", "bias_ih"};
    int columns[] = {in, h, 0};
    int64_t at[3];
    for (int k = 0; k < 3; k++) {
        char text[64];
        snprintf(text, sizeof text, "%s.%s_l%d%s", name, kind[k], l, direction);
        at[k] = add(list, 4 * (int64_t)h, columns[k], text);
    }
    return (seq2seq_lstm){.ih = at[0], .hh = at[1], .bias = at[2]};
}

static seq2seq_offsets offsets_in(const seq2seq_net *seq2seq, struct list *list)
{
    seq2seq_offsets offsets;
    int h = seq2seq->hidden, e = seq2seq->embedding, words = seq2seq->shape.classes;
    offsets.source = add(list, seq2seq->shape.words, e, "source.weight");
    for (int l = 0; l < seq2seq->layers; l++)
        for (int k = 0; k < 2; k++)
            offsets.encoder[l][k] =
                add_lstm(list, "encoder", l, k ? "_reverse" : "", l ? h : e, h / 2);
    offsets.target = add(list, words, e, "target.weight");
    for (int l = 0; l < seq2seq->layers; l++)
        offsets.decoder[l] = add_lstm(list, "decoder", l, "",
                                      l               ? h
                                      : seq2seq->feed ? e + h
                                                      : e,
                                      h);
    offsets.attention = add(list, h, h, "attention.weight");
    offsets.combine = add(list, h, 2 * (int64_t)h, "combine.weight");
    offsets.output = seq2seq->tied ? offsets.target : add(list, words, h, "output.weight");
    offsets.bias = add(list, words, 0, "output.bias");
    offsets.all = list->end;
    return offsets;
}

seq2seq_offsets seq2seq_offsets_of(const seq2seq_net *seq2seq)
{
    struct list list = {0};
    return offsets_in(seq2seq, &list);
}

int seq2seq_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    struct list list = {.out = out};
    offsets_in(self, &list);
    return list.n;
}

int seq2seq_role(const weft_tensor *tensor)
{
    static const char *const words[] = {"source.", "target.", "output."};
    int source = strncmp(tensor->name, "source.", 7) == 0 ||
                 strncmp(tensor->name, "encoder.", 8) == 0;
    int role = source ? 0 : WEFT_OF_TARGET;
    for (int k = 0; k < 3; k++)
        if (strncmp(tensor->name, words[k], 7) == 0) role |= WEFT_OF_WORDS;
    return role;
}

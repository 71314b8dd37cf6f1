/* The translation network's tensors, by one list in their order; its work space, packed
 * weights, and parts of a batch. */
#include "recurrent.h"

#include <string.h>

/* ---- tensors ---- */

static seq2seq_offsets offsets_in(const seq2seq_net *seq2seq, net_layout *layout)
{
    seq2seq_offsets offsets;
    int h = seq2seq->hidden, e = seq2seq->embedding, words = seq2seq->shape.classes;
    offsets.source = net_layout_add(layout, seq2seq->shape.words, e, "source.weight");
    for (int l = 0; l < seq2seq->layers; l++)
        for (int k = 0; k < 2; k++)
            offsets.encoder[l][k] = net_layout_lstm(
                layout, "encoder", l, k ? "_reverse" : "", l ? h : e, h / 2, 1);
    offsets.target = net_layout_add(layout, words, e, "target.weight");
    for (int l = 0; l < seq2seq->layers; l++)
        offsets.decoder[l] = net_layout_lstm(layout, "decoder", l, "",
                                             l               ? h
                                             : seq2seq->feed ? e + h
                                                             : e,
                                             h, 1);
    offsets.attention = net_layout_add(layout, h, h, "attention.weight");
    offsets.combine = net_layout_add(layout, h, 2 * (int64_t)h, "combine.weight");
    offsets.output =
        seq2seq->tied ? offsets.target : net_layout_add(layout, words, h, "output.weight");
    offsets.bias = net_layout_add(layout, words, 0, "output.bias");
    offsets.all = layout->end;
    return offsets;
}

seq2seq_offsets seq2seq_offsets_of(const seq2seq_net *seq2seq)
{
    net_layout layout = {0};
    return offsets_in(seq2seq, &layout);
}

int seq2seq_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    net_layout layout = {.out = out};
    offsets_in(self, &layout);
    return layout.n;
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

/* ---- memory ---- */

static void memories_new(const seq2seq_net *seq2seq, seq2seq_scratch *scratch,
                         weft_arena *mem)
{
    int h = seq2seq->hidden, longest = (int)seq2seq->shape.d, n = scratch->room.sentences;
    scratch->memory = WEFT_NEW(mem, seq2seq_memory, n);
    for (int i = 0; i < n; i++)
        scratch->memory[i] = (seq2seq_memory){.score = net_matrix_new(h, longest, mem),
                                              .mean = net_matrix_new(longest, h, mem)};
    scratch->e = WEFT_NEW(mem, real, scratch->room.sources * scratch->ld);
    scratch->de = WEFT_NEW(mem, real, scratch->room.sources * scratch->ld);
}

static void layers_new(const seq2seq_net *seq2seq, seq2seq_scratch *scratch,
                       weft_arena *mem)
{
    const seq2seq_room *room = &scratch->room;
    int h = seq2seq->hidden, e = seq2seq->embedding;
    size_t n = (size_t)room->translations * scratch->ld;
    for (int l = 0; l < seq2seq->layers; l++) {
        net_recurrent *layer = scratch->encoder[l];
        int in = seq2seq->feed ? e + h : e;
        for (int k = 0; k < 2; k++)
            layer[k] =
                net_recurrent_new(l ? h : e, h / 2, k, room->sentences, room->sources, mem);
        layer[1].x = layer[0].x;
        scratch->c0[l] = WEFT_NEW(mem, real, n);
        scratch->y0[l] = WEFT_NEW(mem, real, n);
        scratch->dy0[l] = WEFT_NEW(mem, real, n);
        layer = &scratch->decoder[l];
        *layer =
            net_recurrent_new(l ? h : in, h, 0, room->translations, room->targets, mem);
        layer->c0 = scratch->c0[l];
        layer->y0 = scratch->y0[l];
    }
}

seq2seq_scratch *seq2seq_scratch_new(const seq2seq_net *seq2seq, seq2seq_room room,
                                     weft_arena *mem)
{
    seq2seq_scratch *scratch = WEFT_NEW(mem, seq2seq_scratch, 1);
    int longest = (int)seq2seq->shape.d, h = seq2seq->hidden;
    size_t rows = (size_t)room.targets,
           most = (size_t)(room.sources > room.targets ? room.sources : room.targets);
    scratch->room = room;
    scratch->tmp = mem;
    scratch->ld = net_stride(h);
    scratch->ldj = net_stride(2 * (int64_t)h + seq2seq->embedding);
    scratch->lda = net_stride(longest);
    scratch->ldc = net_stride(seq2seq->shape.classes);
    scratch->source = net_steps_new(room.sentences, room.sources, mem);
    scratch->target = net_steps_new(room.translations, room.targets, mem);
    scratch->source_order = WEFT_NEW(mem, int, room.sentences);
    scratch->source_place = WEFT_NEW(mem, int, room.sentences);
    scratch->target_order = WEFT_NEW(mem, int, room.translations);
    layers_new(seq2seq, scratch, mem);
    memories_new(seq2seq, scratch, mem);
    scratch->attention = net_pair_new(h, h, mem);
    scratch->combine = net_pair_new(2 * h, h, mem);
    scratch->output = net_pair_new(h, seq2seq->shape.classes, mem);
    scratch->query = WEFT_NEW(mem, real, rows * scratch->ld);
    scratch->joint = WEFT_NEW(mem, real, rows * scratch->ldj);
    scratch->out = WEFT_NEW(mem, real, rows * scratch->ld);
    scratch->alpha = WEFT_NEW(mem, real, rows * scratch->lda);
    scratch->kept = WEFT_NEW(mem, real, rows * scratch->ld);
    scratch->logit = WEFT_NEW(mem, real, room.logits * scratch->ldc);
    scratch->dout = WEFT_NEW(mem, real, rows * scratch->ld);
    scratch->djoint = WEFT_NEW(mem, real, rows * scratch->ldj);
    scratch->dquery = WEFT_NEW(mem, real, rows * scratch->ld);
    scratch->dx = WEFT_NEW(mem, real, most * scratch->ldj);
    scratch->dalpha = WEFT_NEW(mem, real, scratch->lda);
    return scratch;
}

/* Rows for `n` sentences of up to `longest` words, for fewer if they are long. */
static int rows_for(int n, int64_t longest)
{
    int64_t all = n * longest;
    if (all > SEQ2SEQ_ROWS) all = longest > SEQ2SEQ_ROWS ? longest : SEQ2SEQ_ROWS;
    return (int)all;
}

void *seq2seq_work(const void *self, int most, weft_arena *mem)
{
    const seq2seq_net *seq2seq = self;
    int n = most < SEQ2SEQ_PART ? most : SEQ2SEQ_PART;
    int targets = rows_for(n, seq2seq->shape.longest + 1);
    return seq2seq_scratch_new(seq2seq,
                               (seq2seq_room){.sentences = n,
                                              .translations = n,
                                              .sources = rows_for(n, seq2seq->shape.d),
                                              .targets = targets,
                                              .logits = targets},
                               mem);
}

/* ---- weights ---- */

void seq2seq_pack(const seq2seq_net *seq2seq, seq2seq_scratch *scratch, const real *w,
                  int back)
{
    seq2seq_offsets offsets = seq2seq_offsets_of(seq2seq);
    for (int l = 0; l < seq2seq->layers; l++) {
        const net_lstm *at = &offsets.decoder[l];
        net_recurrent_pack(&scratch->decoder[l], w + at->ih, w + at->hh, w + at->bias[0],
                           back);
        for (int k = 0; k < 2; k++) {
            at = &offsets.encoder[l][k];
            net_recurrent_pack(&scratch->encoder[l][k], w + at->ih, w + at->hh,
                               w + at->bias[0], back);
        }
    }
    net_pair_pack(&scratch->attention, w + offsets.attention, back);
    net_pair_pack(&scratch->combine, w + offsets.combine, back);
    net_pair_pack(&scratch->output, w + offsets.output, back);
}

/* ---- parts ---- */

/* order[n] = the n sentences by decreasing length[n] + more, equal ones in their order;
 * sets steps. */
static void sort_by_length(int n, const int *length, int more, int *order, net_steps *steps)
{
    steps->n = n;
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && steps->length[at - 1] < length[i] + more; at--) {
            steps->length[at] = steps->length[at - 1];
            order[at] = order[at - 1];
        }
        steps->length[at] = length[i] + more;
        order[at] = i;
    }
    net_steps_count(steps);
}

/* Sentences from `first` on that there is room for. */
static int fitting(const seq2seq_scratch *scratch, const weft_batch *batch, int first)
{
    const seq2seq_room *room = &scratch->room;
    int n = 0, sources = 0, targets = 0;
    for (int i = first; i < batch->n && n < room->sentences; i++, n++) {
        sources += batch->length[i];
        targets += batch->reply ? batch->replies[i] + 1 : 0;
        if (sources > room->sources || targets > room->targets) break;
    }
    return n;
}

seq2seq_part seq2seq_part_at(const seq2seq_net *seq2seq, seq2seq_scratch *scratch,
                             const real *w, const weft_batch *batch, int first)
{
    seq2seq_part part = {.seq2seq = seq2seq,
                         .scratch = scratch,
                         .offsets = seq2seq_offsets_of(seq2seq),
                         .w = w,
                         .batch = batch,
                         .first = first,
                         .n = fitting(scratch, batch, first)};
    weft_check(part.n > 0, "a sentence is longer than %lld or %lld words",
               (long long)seq2seq->shape.d, (long long)seq2seq->shape.longest);
    sort_by_length(part.n, batch->length + first, 0, scratch->source_order,
                   &scratch->source);
    if (batch->reply)
        sort_by_length(part.n, batch->replies + first, 1, scratch->target_order,
                       &scratch->target);
    size_t at = 0;
    for (int i = 0; i < part.n; i++) {
        scratch->source_place[scratch->source_order[i]] = i;
        scratch->memory[i].e = scratch->e + at;
        scratch->memory[i].de = scratch->de + at;
        at += (size_t)batch->length[first + i] * scratch->ld;
    }
    return part;
}

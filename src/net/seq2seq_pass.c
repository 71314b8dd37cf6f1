/* A batch of the translation network: parts of a few sentences, each through the encoder,
 * the decoder and the output layer, and back. */
#include "seq2seq.h"
#include "softmax.h"

#include <math.h>
#include <string.h>

/* ---- the loss ---- */

/* The losses of all rows; unless dbias is NULL, `logit` then holds share times the
 * gradient, and the bias's is added to dbias. */
static void judge(const seq2seq_part *part, double share, real *dbias, weft_score *score)
{
    seq2seq_scratch *scratch = part->scratch;
    int words = part->seq2seq->shape.classes;
    real *z = scratch->logit;
    seq2seq_logits(part, 0, net_steps_rows(&scratch->target));
    for (int t = 0; t < scratch->target.longest; t++)
        for (int i = 0; i < net_steps_at(&scratch->target, t); i++, z += scratch->ldc) {
            int n;
            const uint32_t *word = seq2seq_target(part, scratch->target_order[i], &n);
            uint32_t label = t < n ? word[t] : SEQ2SEQ_END;
            weft_softmax_smooth(words, z, (int)label, share, part->seq2seq->smoothing,
                                dbias ? z : NULL, score);
            for (int j = 0; dbias && j < words; j++) dbias[j] += z[j];
        }
}

static void judge_back(const seq2seq_part *part, real *g)
{
    seq2seq_scratch *scratch = part->scratch;
    int rows = net_steps_rows(&scratch->target);
    weft_outer(rows, part->seq2seq->shape.classes, scratch->logit, scratch->ldc,
               part->seq2seq->hidden, scratch->kept, scratch->ld, 1,
               g + part->offsets.output, (size_t)part->seq2seq->hidden, scratch->tmp);
    weft_packed_times(rows, scratch->logit, scratch->ldc, &scratch->output_back.packed, 0,
                      scratch->dout, scratch->ld);
}

void seq2seq_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                  double dropout, uint64_t key, real *g, weft_score *score)
{
    const seq2seq_net *seq2seq = self;
    memset(g, 0, (size_t)seq2seq_offsets_of(seq2seq).all * sizeof *g);
    if (!batch->again) seq2seq_pack(seq2seq, work, w, 1);
    for (int i = 0; i < batch->n;) {
        seq2seq_part part = seq2seq_part_at(seq2seq, work, w, batch, i);
        part.share = (int)lrint(dropout * NET_DROP_SCALE);
        part.key = key;
        seq2seq_encode(&part);
        seq2seq_decode(&part);
        judge(&part, 1.0 / batch->n, g + part.offsets.bias, score);
        judge_back(&part, g);
        seq2seq_decode_back(&part, g);
        seq2seq_encode_back(&part, g);
        i += part.n;
    }
}

void seq2seq_score(const void *self, void *work, const real *w, const weft_batch *batch,
                   weft_score *score)
{
    const seq2seq_net *seq2seq = self;
    if (!batch->again) seq2seq_pack(seq2seq, work, w, 0);
    for (int i = 0; i < batch->n;) {
        seq2seq_part part = seq2seq_part_at(seq2seq, work, w, batch, i);
        seq2seq_encode(&part);
        seq2seq_decode(&part);
        judge(&part, 0, NULL, score);
        i += part.n;
    }
}

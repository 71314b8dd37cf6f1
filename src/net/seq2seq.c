/* A network that translates: an encoder of bidirectional LSTM layers, a decoder of LSTM
 * layers that begins with the encoder's last states, and attention over the encoder's
 * outputs e by the decoder's output y (Luong, Pham, Manning, EMNLP 2015, "general"):
 *     a = softmax_s(e_s' A y),  o = tanh(C [sum_s a_s e_s; y]),  z = O o + b.
 * With feed = 1, o is also part of the decoder's next input (input feeding). Loss: the
 * cross-entropy of the next word, with label smoothing, summed over a translation and its
 * end, mean over sentences. Weights are those of torch.nn.Embedding, LSTM with one bias,
 * and Linear. seq2seq_pass.c and seq2seq_beam.c compute. */
#include "seq2seq.h"
#include "form.h"
#include "init.h"

#include <math.h>

static const weft_opt seq2seq_opts[] = {
    WEFT_INT_OPT("embedding", seq2seq_net, embedding, "128", 1, 4096,
                 "length of the vectors of words", .role = WEFT_SHAPE),
    WEFT_INT_OPT("hidden", seq2seq_net, hidden, "128", 2, 8192,
                 "units of a decoder's layer, half of them in each direction of the "
                 "encoder's; even",
                 .role = WEFT_SHAPE),
    WEFT_INT_OPT("layers", seq2seq_net, layers, "2", 1, SEQ2SEQ_LAYERS,
                 "layers of the encoder and of the decoder", .role = WEFT_SHAPE),
    WEFT_INT_OPT("feed", seq2seq_net, feed, "0", 0, 1,
                 "1: what attention gave is part of the decoder's next input"),
    WEFT_INT_OPT("tied", seq2seq_net, tied, "0", 0, 1,
                 "1: the output layer has the vectors of the target's words; needs "
                 "embedding = hidden"),
    WEFT_REAL_OPT("smoothing", seq2seq_net, smoothing, "0", 0, 0.9,
                  "label smoothing: the share of the loss that all words have alike",
                  .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("beam", seq2seq_net, beam, "1", 1, 1000,
                 "translations that are kept of a sentence while it is translated; 1: the "
                 "best word at each step"),
    WEFT_REAL_OPT("penalty", seq2seq_net, penalty, "0", 0, 10,
                  "of short translations in a beam: log probabilities are divided by "
                  "((5 + words) / 6)^penalty, the end counted as a word (Wu et al. 2016)"),
    {0},
};

static weft_status seq2seq_setup(void *self, const weft_shape *shape)
{
    seq2seq_net *seq2seq = self;
    TRY(net_check_form("seq2seq", WEFT_SENTENCES, shape));
    if (seq2seq->hidden % 2)
        return weft_fail(WEFT_ECONF,
                         "seq2seq.hidden = %d is odd, but the encoder has half of them in "
                         "each direction; make it even",
                         seq2seq->hidden);
    if (seq2seq->tied && seq2seq->embedding != seq2seq->hidden)
        return weft_fail(WEFT_ECONF,
                         "seq2seq.tied = 1 needs seq2seq.embedding = seq2seq.hidden, not "
                         "%d and %d",
                         seq2seq->embedding, seq2seq->hidden);
    seq2seq->shape = *shape;
    return WEFT_OK;
}

static int64_t seq2seq_nweight(const void *self)
{
    return seq2seq_offsets_of(self).all;
}

/* U(-0.1, 0.1) for vectors of words; of the others U(-1/sqrt h, 1/sqrt h), h the units of
 * the layer, of combine its inputs, as PyTorch's. */
static void seq2seq_init(const void *self, uint64_t seed, real *w)
{
    const seq2seq_net *seq2seq = self;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = seq2seq_tensors(seq2seq, tensor);
    seq2seq_offsets offsets = seq2seq_offsets_of(seq2seq);
    for (int k = 0; k < n; k++) {
        int64_t at = tensor[k].at, end = k + 1 < n ? tensor[k + 1].at : offsets.all;
        double units = seq2seq->hidden;
        if (at < offsets.target) units /= 2;
        if (at == offsets.combine) units *= 2;
        double bound = 1 / sqrt(units);
        if (at == offsets.source || at == offsets.target) bound = 0.1;
        weft_init_uniform(seed, k, bound, end - at, w + at);
    }
}

/* Three products with each weight and word, of two operations each; of attention, two with
 * each source word. */
static double seq2seq_flops(const void *self)
{
    const seq2seq_net *seq2seq = self;
    seq2seq_offsets offsets = seq2seq_offsets_of(seq2seq);
    double h = seq2seq->hidden, source = seq2seq->shape.length,
           target = seq2seq->shape.translated + 1;
    double encoder = (double)(offsets.target - offsets.encoder[0][0].ih);
    double decoder = (double)(offsets.combine - offsets.decoder[0].ih) + 2 * h * h +
                     h * seq2seq->shape.classes;
    return 6 * (source * encoder + target * (decoder + 2 * source * h));
}

extern const weft_net weft_net_seq2seq;
const weft_net weft_net_seq2seq = {
    .kind = {.name = "seq2seq",
             .about = "translation: LSTM encoder, decoder with attention",
             .size = sizeof(seq2seq_net),
             .opts = seq2seq_opts},
    .setup = seq2seq_setup,
    .nweight = seq2seq_nweight,
    .tensors = seq2seq_tensors,
    .role = seq2seq_role,
    .init = seq2seq_init,
    .flops = seq2seq_flops,
    .work = seq2seq_work,
    .grad = seq2seq_grad,
    .score = seq2seq_score,
    .translate = seq2seq_translate,
};

/* A network that translates: an encoder of bidirectional LSTM layers, a decoder of LSTM
 * layers that begins with the encoder's last states, and attention over the encoder's
 * outputs e by the decoder's output y (Luong, Pham, Manning, EMNLP 2015, "general"):
 *     a = softmax_s(e_s' A y),  o = tanh(C [sum_s a_s e_s; y]),  z = O o + b.
 * With feed = 1, o is also part of the decoder's next input (input feeding). Loss: the
 * cross-entropy of the next word, with label smoothing, summed over a translation and its
 * end, mean over sentences. Weights are those of torch.nn.Embedding, LSTM with one bias,
 * and Linear. */
#include "recurrent.h"
#include "weft/math/optim.h"

#include <math.h>
#include <string.h>

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

static seq2seq_offsets offsets_of(const seq2seq_net *seq2seq)
{
    net_layout layout = {0};
    return offsets_in(seq2seq, &layout);
}

static int seq2seq_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    net_layout layout = {.out = out};
    offsets_in(self, &layout);
    return layout.n;
}

static int seq2seq_role(const weft_tensor *tensor)
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

static seq2seq_scratch *scratch_new(const seq2seq_net *seq2seq, seq2seq_room room,
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

static void *seq2seq_work(const void *self, int most, weft_arena *mem)
{
    const seq2seq_net *seq2seq = self;
    int n = most < SEQ2SEQ_PART ? most : SEQ2SEQ_PART;
    int targets = rows_for(n, seq2seq->shape.longest + 1);
    return scratch_new(seq2seq,
                       (seq2seq_room){.sentences = n,
                                      .translations = n,
                                      .sources = rows_for(n, seq2seq->shape.d),
                                      .targets = targets,
                                      .logits = targets},
                       mem);
}

/* ---- weights ---- */

static void pack_weights(const seq2seq_net *seq2seq, seq2seq_scratch *scratch,
                         const real *w, int back)
{
    seq2seq_offsets offsets = offsets_of(seq2seq);
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

/* The part that begins at sentence `first`, in order: as many as there is room for. */
static seq2seq_part part_at(const seq2seq_net *seq2seq, seq2seq_scratch *scratch,
                            const real *w, const weft_batch *batch, int first)
{
    seq2seq_part part = {.seq2seq = seq2seq,
                         .scratch = scratch,
                         .offsets = offsets_of(seq2seq),
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

/* ---- the network ---- */

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
    return offsets_of(self).all;
}

/* U(-0.1, 0.1) for vectors of words; of the others U(-1/sqrt h, 1/sqrt h), h the units of
 * the layer, of combine its inputs, as PyTorch's. */
static void seq2seq_init(const void *self, uint64_t seed, real *w)
{
    const seq2seq_net *seq2seq = self;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = seq2seq_tensors(seq2seq, tensor);
    seq2seq_offsets offsets = offsets_of(seq2seq);
    for (int k = 0; k < n; k++) {
        int64_t at = tensor[k].at;
        double units = seq2seq->hidden;
        if (at < offsets.target) units /= 2;
        if (at == offsets.combine) units *= 2;
        double bound = 1 / sqrt(units);
        if (at == offsets.source || at == offsets.target) bound = 0.1;
        weft_init_uniform(seed, k, bound, weft_tensors_size(1, &tensor[k]), w + at);
    }
}

/* Three products with each weight and word, of two operations each; of attention, two with
 * each source word. */
static double seq2seq_flops(const void *self)
{
    const seq2seq_net *seq2seq = self;
    seq2seq_offsets offsets = offsets_of(seq2seq);
    double h = seq2seq->hidden, source = seq2seq->shape.length,
           target = seq2seq->shape.replies + 1;
    double encoder = (double)(offsets.target - offsets.encoder[0][0].ih);
    double decoder = (double)(offsets.combine - offsets.decoder[0].ih) + 2 * h * h +
                     h * seq2seq->shape.classes;
    return 6 * (source * encoder + target * (decoder + 2 * source * h));
}

/* ---- the loss ---- */

/* logit[n][ldc] of rows [row, row + n) of `kept`. */
static void find_logits(const seq2seq_part *part, int row, int n)
{
    seq2seq_scratch *scratch = part->scratch;
    const real *bias = part->w + part->offsets.bias;
    weft_packed_times(n, scratch->kept + row * scratch->ld, scratch->ld,
                      &scratch->output.to.packed, 0, scratch->logit, scratch->ldc);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < part->seq2seq->shape.classes; j++)
            scratch->logit[i * scratch->ldc + j] += bias[j];
}

/* The losses of all rows; unless dbias is NULL, `logit` then holds share times the
 * gradient, and the bias's is added to dbias. */
static void judge(const seq2seq_part *part, double share, real *dbias, weft_score *score)
{
    seq2seq_scratch *scratch = part->scratch;
    int words = part->seq2seq->shape.classes;
    real *z = scratch->logit;
    find_logits(part, 0, net_steps_rows(&scratch->target));
    for (int t = 0; t < scratch->target.longest; t++)
        for (int i = 0; i < net_steps_at(&scratch->target, t); i++, z += scratch->ldc) {
            int at = part->first + scratch->target_order[i];
            uint32_t label =
                t < part->batch->replies[at] ? part->batch->reply[at][t] : SEQ2SEQ_END;
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
    weft_packed_times(rows, scratch->logit, scratch->ldc, &scratch->output.back.packed, 0,
                      scratch->dout, scratch->ld);
}

/* g NULL: the score alone. */
static void seq2seq_grad(const void *self, void *work, const real *w,
                         const weft_batch *batch, double dropout, uint64_t key, real *g,
                         weft_score *score)
{
    const seq2seq_net *seq2seq = self;
    if (g) memset(g, 0, (size_t)offsets_of(seq2seq).all * sizeof *g);
    if (!batch->again) pack_weights(seq2seq, work, w, g != NULL);
    for (int i = 0; i < batch->n;) {
        seq2seq_part part = part_at(seq2seq, work, w, batch, i);
        part.share = (int)lrint(dropout * NET_DROP_SCALE);
        part.key = key;
        seq2seq_encode(&part);
        seq2seq_decode(&part);
        judge(&part, 1.0 / batch->n, g ? g + part.offsets.bias : NULL, score);
        i += part.n;
        if (!g) continue;
        judge_back(&part, g);
        seq2seq_decode_back(&part, g);
        seq2seq_encode_back(&part, g);
    }
}

static void seq2seq_score(const void *self, void *work, const real *w,
                          const weft_batch *batch, weft_score *score)
{
    seq2seq_grad(self, work, w, batch, 0, 0, NULL, score);
}

/* ---- translation ---- */

/* Beam search. The rows of a step are the live translations of all sentences, `width` of
 * each side by side; between steps the rows are those of the parents of the translations
 * that live on. A translation ends where its end is among the best `width` of its
 * sentence's next ones; a sentence is done when `width` have ended, or its translations are
 * as long as the longest. */

/* The next translation: a row of the step, and a word after it. */
struct next {
    double score; /* sum of log probabilities; where width is 1, the last word's logit */
    int row;
    uint32_t word;
};

/* The search of a part. */
struct search {
    const seq2seq_part *part;
    int width;          /* translations that are kept of a sentence */
    int longest;        /* words of any translation */
    int live;           /* rows of a sentence: 1 at the first step, then width */
    double *score;      /* [rows] */
    uint32_t *word;     /* [rows] words before the step */
    uint32_t *said;     /* [rows][longest] words of each translation, */
    uint32_t *next;     /* and of those of the next step */
    struct next *best;  /* [2 width] of a sentence, then those that live on */
    struct next *alive; /* [rows] */
    int *ended;         /* [sentences] translations that have ended */
    double *top;        /* [sentences] the best score of these by length */
    real *spare;        /* [rows][ld] */
};

/* Words of the longest translation of a sentence of so many. */
static int longest_of(const seq2seq_net *seq2seq, int source)
{
    int64_t most = 2 * (int64_t)source + 10;
    return (int)(most < seq2seq->shape.longest ? most : seq2seq->shape.longest);
}

static double by_length(const struct search *search, double score, int words)
{
    return score / pow((5.0 + words) / 6.0, search->part->seq2seq->penalty);
}

/* Puts a candidate in its place among best[*n], at most `most`; of equal scores the earlier
 * one is first. */
static void put_candidate(struct next candidate, int most, struct next *best, int *n)
{
    int at = *n < most ? (*n)++ : most;
    if (at == most && !(candidate.score > best[most - 1].score)) return;
    if (at == most) at--;
    for (; at > 0 && candidate.score > best[at - 1].score; at--) best[at] = best[at - 1];
    best[at] = candidate;
}

/* log sum_j exp(z[j]) */
static double log_sum(int n, const real *z)
{
    double top, sum, log_of_sum = weft_softmax_many(n, z, NULL, &top, &sum);
    return top + log_of_sum;
}

/* The best 2 width next translations of sentence i. Returns their number. */
static int find_next(const struct search *search, int i)
{
    const seq2seq_scratch *scratch = search->part->scratch;
    int words = search->part->seq2seq->shape.classes, width = search->width, n = 0;
    for (int k = 0; k < search->live; k++) {
        int row = i * width + k;
        const real *z = scratch->logit + row * scratch->ldc;
        if (!(search->score[row] > -INFINITY)) continue;
        double all = width > 1 ? search->score[row] - log_sum(words, z) : 0;
        for (int j = 0; j < words; j++)
            put_candidate((struct next){all + (double)z[j], row, (uint32_t)j}, 2 * width,
                          search->best, &n);
    }
    return n;
}

/* Keeps the translation that ends after `words` words if it is the sentence's best. */
static void end_translation(struct search *search, int i, struct next next, int words,
                            uint32_t *const *word, int *length)
{
    double score = by_length(search, next.score, words + 1);
    int sentence = search->part->first + i;
    search->ended[i]++;
    if (search->ended[i] > 1 && !(score > search->top[i])) return;
    search->top[i] = score;
    length[sentence] = words;
    memcpy(word[sentence], search->said + (size_t)next.row * search->longest,
           (size_t)words * sizeof **word);
}

/* After step t: the translations of sentence i that end, and those that live on. One that
 * is as long as it may be ends there, if none has ended. */
static void choose_next(struct search *search, int i, int t, uint32_t *const *word,
                        int *length)
{
    const seq2seq_part *part = search->part;
    int width = search->width, n = find_next(search, i), alive = 0;
    int last = t == longest_of(part->seq2seq, part->batch->length[part->first + i]);
    for (int k = 0; k < n; k++) {
        struct next next = search->best[k];
        if (next.word == SEQ2SEQ_END && k < width)
            end_translation(search, i, next, t, word, length);
        if (next.word != SEQ2SEQ_END && alive < width && !last)
            search->alive[i * width + alive++] = next;
    }
    struct next best = {search->score[i * width], i * width, SEQ2SEQ_END};
    if (last && search->ended[i] == 0) end_translation(search, i, best, t, word, length);
    if (last) search->ended[i] = width;
    if (search->ended[i] >= width) alive = 0;
    for (; alive < width; alive++)
        search->alive[i * width + alive] = (struct next){-INFINITY, i * width, SEQ2SEQ_END};
}

/* x[rows][ld] <- the rows of the parents. */
static void take_parents(const struct search *search, int rows, size_t ld, real *x)
{
    for (int r = 0; r < rows; r++)
        memcpy(search->spare + r * ld, x + search->alive[r].row * ld, ld * sizeof *x);
    memcpy(x, search->spare, (size_t)rows * ld * sizeof *x);
}

/* Makes the rows of step t those of the translations that live on. */
static void move_on(struct search *search, int t)
{
    const seq2seq_part *part = search->part;
    seq2seq_scratch *scratch = part->scratch;
    int rows = scratch->target.n, longest = search->longest;
    size_t row = (size_t)scratch->target.first[t];
    for (int l = 0; l < part->seq2seq->layers; l++) {
        net_recurrent *layer = &scratch->decoder[l];
        take_parents(search, rows, layer->ld, layer->c + row * layer->ld);
        take_parents(search, rows, layer->ld, layer->y + row * layer->ld);
    }
    take_parents(search, rows, scratch->ld, scratch->kept + row * scratch->ld);
    for (int r = 0; r < rows; r++) {
        const uint32_t *said = search->said + (size_t)search->alive[r].row * longest;
        uint32_t *next = search->next + (size_t)r * longest;
        memcpy(next, said, (size_t)t * sizeof *next);
        search->word[r] = search->alive[r].word;
        search->score[r] = search->alive[r].score;
        if (t < longest) next[t] = search->word[r];
    }
    uint32_t *said = search->said;
    search->said = search->next;
    search->next = said;
    search->live = search->width;
}

static int all_ended(const struct search *search)
{
    int n = 0;
    for (int i = 0; i < search->part->n; i++) n += search->ended[i] >= search->width;
    return n == search->part->n;
}

static struct search search_new(const seq2seq_part *part, weft_arena *tmp)
{
    int width = part->seq2seq->beam, rows = part->n * width;
    int longest = longest_of(part->seq2seq, part->scratch->source.longest);
    return (struct search){.part = part,
                           .width = width,
                           .longest = longest,
                           .live = 1,
                           .score = WEFT_NEW(tmp, double, rows),
                           .word = WEFT_NEW(tmp, uint32_t, rows),
                           .said = WEFT_NEW(tmp, uint32_t, (size_t)rows * longest),
                           .next = WEFT_NEW(tmp, uint32_t, (size_t)rows * longest),
                           .best = WEFT_NEW(tmp, struct next, 2 * width),
                           .alive = WEFT_NEW(tmp, struct next, rows),
                           .ended = WEFT_NEW(tmp, int, part->n),
                           .top = WEFT_NEW(tmp, double, part->n),
                           .spare = WEFT_NEW(tmp, real, (size_t)rows * part->scratch->ld)};
}

/* `width` rows a sentence at each step. */
static void set_steps(const struct search *search)
{
    const seq2seq_part *part = search->part;
    net_steps *steps = &part->scratch->target;
    int width = search->width;
    steps->n = part->n * width;
    for (int r = 0; r < steps->n; r++) {
        part->scratch->target_order[r] = r / width;
        steps->length[r] = search->longest + 1;
        search->word[r] = SEQ2SEQ_BEGIN;
    }
    net_steps_count(steps);
}

static void translate_part(seq2seq_part *part, uint32_t *const *word, int *length)
{
    WEFT_SCRATCH(tmp);
    struct search search = search_new(part, tmp);
    set_steps(&search);
    part->word = search.word;
    seq2seq_encode(part);
    for (int t = 0; !all_ended(&search); t++) {
        seq2seq_decode_steps(part, t, t + 1);
        find_logits(part, part->scratch->target.first[t], part->scratch->target.n);
        for (int i = 0; i < part->n; i++)
            if (search.ended[i] < search.width) choose_next(&search, i, t, word, length);
        move_on(&search, t);
    }
}

/* Room for parts of the batch. */
static seq2seq_room room_for(const seq2seq_net *seq2seq, const weft_batch *batch, int width)
{
    int n = batch->n < SEQ2SEQ_PART ? batch->n : SEQ2SEQ_PART, source = 1;
    for (int i = 0; i < batch->n; i++)
        source = batch->length[i] > source ? batch->length[i] : source;
    return (seq2seq_room){.sentences = n,
                          .translations = n * width,
                          .sources = n * source,
                          .targets = n * width * (longest_of(seq2seq, source) + 1),
                          .logits = n * width};
}

static void seq2seq_translate(const void *self, const real *w, const weft_batch *batch,
                              uint32_t *const *word, int *length)
{
    const seq2seq_net *seq2seq = self;
    WEFT_SCRATCH(mem);
    seq2seq_scratch *scratch =
        scratch_new(seq2seq, room_for(seq2seq, batch, seq2seq->beam), mem);
    pack_weights(seq2seq, scratch, w, 0);
    for (int i = 0; i < batch->n;) {
        seq2seq_part part = part_at(seq2seq, scratch, w, batch, i);
        translate_part(&part, word, length);
        i += part.n;
    }
}

WEFT_PLUGIN(net, seq2seq) = {
    .kind = WEFT_KIND("seq2seq", seq2seq_net, seq2seq_opts,
                      "translation: LSTM encoder, decoder with attention"),
    .setup = seq2seq_setup,
    .nweight = seq2seq_nweight,
    .tensors = seq2seq_tensors,
    .role = seq2seq_role,
    .init = seq2seq_init,
    .flops = seq2seq_flops,
    .work = seq2seq_work,
    .grad = seq2seq_grad,
    .score = seq2seq_score,
    .write = seq2seq_translate,
};

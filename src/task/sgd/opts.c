/* Options of the task sgd and of its section [train]. */
#include "opts.h"
#include "weft/conf.h"
#include "weft/translations.h"

#include <math.h>
#include <string.h>

const weft_opt sgd_opts[] = {
    WEFT_TEXT_OPT("model", sgd_task, net_name, "mlp",
                  "network that is trained; `weft list nets`"),
    WEFT_WORD_OPTS(sgd_task, words),
    WEFT_CHOICE_OPT("target", sgd_task, target, "last", "last|all",
                    "text: characters of a window that are predicted: the last, or all"),
    WEFT_CHOICE_OPT("score", sgd_task, score, "accuracy", WEFT_MEASURES,
                    "score on the development part that is minimised and stops "
                    "training: " WEFT_MEASURES_ABOUT
                    "The last four take another pass over the rows. With folds, the mean "
                    "over their parts. Of equal scores the lower mean "
                    "loss wins"),
    WEFT_CHOICE_OPT(
        "keep", sgd_task, keep, "best", "best|last",
        "weights that are scored: of the epoch that was best on the development part, or "
        "of the last. A training that diverged has the loss infinity in either case"),
    WEFT_LONG_OPT("patience", sgd_task, patience, "0", 0, 1e9,
                  "epochs without improvement on the development part after which training "
                  "stops; 0: it does not. If it does, a job lasts as many virtual seconds "
                  "as epochs trained, on average over folds"),
    WEFT_LONG_OPT(
        "steps", sgd_task, steps, "0", 0, 1e12,
        "steps per epoch, the unit of resource; 0: as many as process each sample once"),
    WEFT_REAL_OPT("dev", sgd_task, dev, "0", 0, 0.9,
                  "share of the training samples that is the development part; 0: the "
                  "valid part of the data, or with folds a tenth"),
    WEFT_LONG_OPT("folds", sgd_task, folds, "0", 0, 1000,
                  "cross-validation over the train and valid parts in that many folds, "
                  "each with a network of its own; groups of rows stay whole; 0: none"),
    WEFT_LONG_OPT("fold", sgd_task, fold, "-1", -1, 999,
                  "the fold that is trained, from 0; -1: all"),
    WEFT_BOOL_OPT("literal", sgd_task, literal, "no",
                  "with folds: the development part is what is held out, as in published "
                  "programs that stop and select on their test folds"),
    WEFT_INT_OPT(
        "parts", sgd_task, parts, "4", 1, 4096,
        "pieces into which a batch is divided for the ranks. Their gradients are summed "
        "exactly: results depend on the pieces, not on the number of ranks"),
    {0},
};

const weft_metric sgd_metrics[] = {
    {"valid_loss", "mean loss on the development part, of the weights that are kept",
     "loss", NULL},
    {"valid_error",
     "share of wrong answers on the development part; of numbers, mean squared error over "
     "the variance of the training targets, which is 1 - R2",
     "1", "error %"},
    {"train_loss", "mean over the samples of the last epoch, as they were trained on",
     "loss", NULL},
    {"best_epoch", "epoch whose weights are kept; mean over folds", "count", NULL},
    {"epochs", "epochs trained; mean over folds", "count", NULL},
    {"fold_error", "share of wrong answers on what the folds hold out; nan: no folds", "1",
     "held out %"},
    {"fold_half", "half the width of the 95 % interval of fold_error", "1", NULL},
    {"fold_loss", "mean loss on what the folds hold out", "loss", NULL},
    {0}};

const weft_metric sgd_columns[] = {
    {"valid_loss", "mean loss on the development part after the epoch", "loss", NULL},
    {"valid_error", "share of wrong answers on the development part after the epoch", "1",
     NULL},
    {"train_loss", "mean over the samples of the epoch, as they were trained on", "loss",
     NULL},
    {"fold", "number of the fold", "index", NULL},
    {"samples", "samples trained on", "count", "samples"},
    {"diverged", "1: the training diverged", "0 or 1", "diverged"},
    {0}};

const weft_metric sgd_scores[] = {
    {"loss",
     "mean loss; with folds, over their networks, and in place of valid what each holds "
     "out",
     "loss", "loss"},
    {"error",
     "share of wrong answers, of the same samples; of numbers, mean squared error over the "
     "variance of the training targets, which is 1 - R2",
     "1", "error %"},
    WEFT_QUALITY_SCORES,
    {"bleu", "translations: BLEU as sacrebleu's, mean over directions", "0 to 100", "BLEU"},
    {"chrf", "translations: chrF2 as sacrebleu's, mean over directions", "0 to 100",
     "chrF"},
    {0}};

#define L2(i, key, which)                                                                  \
    WEFT_REAL_OPT(key, sgd_train, l2[i], "0", 0, 1e6,                                      \
                  "the same for the weights of the " which                                 \
                  " layer alone, without biases, added to weight_decay; without effect "   \
                  "in configurations without such a layer",                                \
                  .role = WEFT_PER_TRIAL)

#define NOISE "0.3"

static const weft_opt train_opts[] = {
    WEFT_CHOICE_OPT("optimizer", sgd_train, descent.optimizer, "sgd", "sgd|adam|adadelta",
                    "update rule", .role = WEFT_SHAPE),
    WEFT_REAL_OPT("lr", sgd_train, descent.lr, "0.1", 1e-12, 1e6,
                  "initial learning rate; the paper of Adadelta has 1",
                  .role = WEFT_PER_TRIAL, .leads = 1),
    WEFT_REAL_OPT("momentum", sgd_train, descent.momentum, "0", 0, 0.9999,
                  "sgd: momentum, the fraction of the last step that is added",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("weight_decay", sgd_train, descent.weight_decay, "0", 0, 1e6,
                  "weight decay: multiple of the weights that is added to the gradient",
                  .role = WEFT_PER_TRIAL),
    L2(0, "l2_1", "first"),
    L2(1, "l2_2", "second"),
    L2(2, "l2_3", "third"),
    L2(3, "l2_4", "fourth"),
    WEFT_REAL_OPT("beta1", sgd_train, descent.beta1, "0.9", 0, 0.99999,
                  "adam: decay of the mean", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("beta2", sgd_train, descent.beta2, "0.999", 0, 0.999999,
                  "adam: decay of the square", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("rho", sgd_train, descent.rho, "0.95", 0, 0.99999,
                  "adadelta: decay of the squares", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("epsilon", sgd_train, descent.epsilon, "1e-6", 1e-30, 1,
                  "adam: added to the root; adadelta: under the roots",
                  .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT(
        "schedule", sgd_train, descent.schedule, "constant",
        "constant|exponential|inverse|linear|cosine|step",
        "the rate in epoch e. constant: lr; exponential: lr (1 - decay)^e; inverse: lr / "
        "(1 + decay e); linear, cosine: down to 0 after `horizon` epochs; step: times "
        "`factor` at `reductions` equal distances within the horizon",
        .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("decay", sgd_train, descent.decay, "0", 0, 0.9999,
                  "schedules exponential and inverse: decay per epoch",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("horizon", sgd_train, descent.horizon, "25", 1e-6, 1e9,
                  "schedules linear and cosine: epochs until the rate is 0; step: epochs "
                  "of a training",
                  .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("reductions", sgd_train, descent.reductions, "2", 0, 1000,
                 "schedule step: number of times that the rate is reduced",
                 .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("factor", sgd_train, descent.factor, "0.1", 1e-6, 1,
                  "schedule step: what the rate is multiplied by", .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("batch", sgd_train, batch, "50", 1, 1 << 20, "samples per step",
                 .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("dropout", sgd_train, dropout, "0", 0, 0.9999,
                  "share of units that are dropped in a step, if the network has dropout",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("noise", sgd_train, noise, NOISE, 0, 0.9999,
                  "translation: share of the words that are left out of a sentence to be "
                  "translated into its own language, else they are only copied",
                  .role = WEFT_PER_TRIAL),
    WEFT_BOOL_OPT("balance", sgd_train, balance, "no",
                  "weights of classes in this configuration, as run.class_weights = "
                  "balanced has them in all",
                  .role = WEFT_PER_TRIAL),
    {0},
};

static const weft_when train_when[] = {{"momentum", "optimizer", "sgd"},
                                       {"beta1", "optimizer", "adam"},
                                       {"beta2", "optimizer", "adam"},
                                       {"rho", "optimizer", "adadelta"},
                                       {"epsilon", "optimizer", "adam|adadelta"},
                                       {"decay", "schedule", "exponential|inverse"},
                                       {"horizon", "schedule", "linear|cosine|step"},
                                       {"reductions", "schedule", "step"},
                                       {"factor", "schedule", "step"},
                                       {0}};

const weft_kind sgd_train_kind = {.name = "train",
                                  .about = "task sgd: steps of the training",
                                  .size = sizeof(sgd_train),
                                  .opts = train_opts,
                                  .when = train_when};
const weft_kind *const sgd_parts[] = {&sgd_train_kind, &weft_context_kind, NULL};

weft_status sgd_check_noise(const sgd_task *sgd)
{
    const weft_entry *entry = weft_conf_find(sgd->env.conf, "train", "noise");
    const weft_translations *of = sgd->env.data->translations;
    if (!entry || (strcmp(entry->value, NOISE) == 0 && !weft_conf_is_typed(entry)))
        return WEFT_OK;
    for (int64_t i = 0; of && i < of->directions; i++)
        if (of->direction[i].source == of->direction[i].target) return WEFT_OK;
    return weft_entry_fail(entry,
                           "nothing in this run reads it: %s has no translations of a "
                           "language to itself; take it out",
                           sgd->env.data->path);
}

void sgd_take_whole(sgd_task *sgd)
{
    sgd->folds = sgd->patience = 0;
    sgd->fold = -1;
    sgd->literal = 0;
    sgd->dev = 0;
    sgd->keep = SGD_KEEP_LAST;
    sgd->score = WEFT_BY_LOSS;
}

double sgd_refit(const void *self, const weft_result *res)
{
    const sgd_task *sgd = self;
    double epochs = res->metric[sgd->keep == SGD_KEEP_BEST ? SGD_BEST_EPOCH : SGD_EPOCHS];
    return isfinite(epochs) ? fmax(floor(epochs + 0.5), 1) : res->resource;
}

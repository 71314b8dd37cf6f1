/* The options of federated training, sections [fed], [client] and [choose], and what it
 * measures: columns of jobs and rounds, and scores. */
#include "attack.h"
#include "buffer.h"
#include "choice.h"
#include "compress.h"
#include "privacy.h"
#include "rule.h"
#include "task/parts.h"
#include "task/programs.h"
#include "weft/space/scores.h"

const weft_opt fed_task_opts[] = {
    WEFT_TEXT_OPT("model", fed_task, options.net_name, "linear",
                  "network that is trained: `weft list nets`; or worker: any model, that "
                  "a program of yours trains"),
    WEFT_TEXT_OPT(
        "algorithm", fed_task, options.algorithm_name, "fedavg",
        "what clients do and keep, and how the server uses it; `weft list algorithms`"),
    WEFT_WORD_OPTS(fed_task, options.words),
    WEFT_CHOICE_OPT(
        "aggregation", fed_task, options.aggregation, "sync", "sync|buffered",
        "sync: rounds, which wait for their clients; buffered: the server moves "
        "whenever some updates have arrived, section [buffer]"),
    WEFT_LONG_OPT("cohort", fed_task, options.cohort, "10", 1, 1e6,
                  "number of clients that are averaged in a round"),
    WEFT_BOOL_OPT("replacement", fed_task, options.replacement, "no",
                  "a client may be drawn twice in a round (the released FedEx)"),
    WEFT_CHOICE_OPT("choose", fed_task, options.choose, "uniform",
                    "uniform|size|loss|oort|available",
                    "which clients are asked: with equal chances; in proportion to their "
                    "training samples; of some those with the highest loss; those of most "
                    "use, by loss, samples and time; or those that are available"),
    WEFT_CHOICE_OPT(
        "average", fed_task, options.average, "weighted", "weighted|plain",
        "weights of clients in the average: number of training samples, or equal"),
    WEFT_CHOICE_OPT(
        "score", fed_task, options.score, "error", "error|loss|worst10|balanced|f1|auc",
        "score by which configurations are compared: error rate, of equal ones "
        "the mean loss; mean loss alone; the error rate of the tenth of clients "
        "where it is largest; the mean over the classes of their error rates, by the "
        "validation samples of all clients that are trained; or 1 - macro F1, or 1 - AUC, "
        "of the validation samples of all clients together, by weights before training at "
        "the end of a job. A client that diverged or was late gets the worst: 1, or 2 ln "
        "classes, which the search also takes for larger losses; scores of the winner are "
        "as they are"),
    WEFT_CHOICE_OPT("score_weights", fed_task, options.score_weights, "personal",
                    "personal|global",
                    "weights that are scored: each client's after its training, or the "
                    "server's; with the latter the winner is scored without training"),
    WEFT_CHOICE_OPT("select", fed_task, options.select, "pooled",
                    "pooled|bound|last|best|eval",
                    "rounds whose score counts. pooled: the last fed.pool. bound: the same "
                    "plus half its 95 % interval, the worst score if a client gives none. "
                    "last; best of all (released FedEx). eval: an evaluation of "
                    "fed.eval_clients at the end, without deadline"),
    WEFT_LONG_OPT("pool", fed_task, options.pool, "10", 1, 1e5,
                  "number of rounds whose scores are pooled"),
    WEFT_BOOL_OPT("score_both", fed_task, options.score_both, "no",
                  "score every client before and after its training, even if not needed"),
    WEFT_LONG_OPT(
        "max_valid", fed_task, options.max_valid, "0", 0, 1e9,
        "validation samples of a client that are scored in a round, evenly spread; 0: all"),
    WEFT_LONG_OPT(
        "eval_clients", fed_task, options.eval_clients, "-1", -1, 1e12,
        "clients evaluated on validation data at the end of a job; 0: all; -1: none"),
    WEFT_LONG_OPT(
        "eval_every", fed_task, options.eval_every, "0", 0, 1e9,
        "rounds between evaluations for the record, of fed.eval_clients; 0: none"),
    WEFT_LONG_OPT("test_clients", fed_task, options.test_clients, "0", 0, 1e12,
                  "clients that the winner is scored on; 0: all"),
    WEFT_REAL_OPT(
        "new_clients", fed_task, options.new_share, "0", 0, 0.9,
        "share of clients that are kept out of training and scored apart at the end"),
    WEFT_INT_OPT(
        "new_epochs", fed_task, options.new_epochs, "1", 1, 1e6,
        "passes of these clients over their samples before they are scored; cpg: as "
        "many turns, of which the embedding learns alone; knn: none"),
    WEFT_TEXT_OPT("share", fed_task, options.share, "",
                  "tensors that are trained and sent, by a regular expression (POSIX, "
                  "extended) for their names; the others stay as they began. Nothing: all"),
    WEFT_CHOICE_OPT("target", fed_task, options.target, "last", "last|all",
                    "characters of a window that are predicted: the last, or all"),
    {0},
};

static const weft_opt client_opts[] = {
    WEFT_REAL_OPT("lr", fed_training, sgd.lr, "0.1", 0, 1e6, "learning rate",
                  .role = WEFT_PER_SAMPLE, .leads = 1),
    WEFT_REAL_OPT("momentum", fed_training, sgd.momentum, "0", 0, 1,
                  "momentum of SGD, reset in every round", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("weight_decay", fed_training, sgd.weight_decay, "0", 0, 1e6,
                  "weight decay: multiple of the weights that is added to the gradient",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("mu/prox", fed_training, sgd.mu, "0", 0, 1e6,
                  "strength of the proximal term towards the weights received (FedProx)",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("clip", fed_training, sgd.clip, "0", 0, 1e12,
                  "largest norm of a gradient; 0: no clipping", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("dropout", fed_training, dropout, "0", 0, 0.99,
                  "share of units left out in training", .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("batch", fed_training, batch, "10", 1, 65536, "samples per step",
                 .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("epochs", fed_training, epochs, "1", 1, 1e6,
                 "passes over a client's samples in a round", .role = WEFT_PER_SAMPLE),
    WEFT_LONG_OPT("max_samples", fed_training, max_samples, "0", 0, 1e12,
                  "samples per pass, drawn anew for each; 0: all"),
    WEFT_REAL_OPT("max_change", fed_training, max_change, "16", 1e-6, 1e6,
                  "a weight that changes by more in a round counts as divergence"),
    {0},
};

const weft_kind fed_training_kind =
    WEFT_KIND("client", fed_training, client_opts, "task fed: the training of a client");

static const weft_opt choice_opts[] = {
    WEFT_REAL_OPT("candidates", fed_choice, candidates, "2", 1, 1e6,
                  "loss: clients drawn for each that is asked; those of them with the "
                  "highest loss are asked"),
    {0},
};

const weft_kind fed_choice_kind = WEFT_KIND("choose", fed_choice, choice_opts,
                                            "task fed: who is asked, where fed.choose is "
                                            "loss");

const weft_kind *const fed_parts[] = {&fed_training_kind,
                                      &weft_server_kind,
                                      &weft_device_kind,
                                      &weft_parameters_kind,
                                      &fed_buffer_kind,
                                      &fed_choice_kind,
                                      &fed_compress_kind,
                                      &fed_rule_kind,
                                      &fed_attack_kind,
                                      &fed_privacy_kind,
                                      NULL};

/* ---- metrics ---- */

/* In the order of their enum in fed.h, as are all tables here. */
const weft_metric fed_metrics[] = {
    {"valid_loss", "mean validation loss under the mixture, by fed.score_weights", "loss",
     NULL},
    {"valid_error", "share of wrong answers under the mixture, by fed.score_weights", "1",
     NULL},
    {"global_loss",
     "loss before local training: of the server's weights, or of own models; nan: not "
     "scored",
     "loss", NULL},
    {"global_error", "share of wrong answers before local training; nan: not scored", "1",
     "global %"},
    {"personal_loss", "after local training; nan: not scored", "loss", NULL},
    {"personal_error", "after local training; nan: not scored", "1", "local %"},
    {"train_loss", "mean over the local steps of clients that did not diverge", "loss",
     NULL},
    {0}};

const weft_metric fed_rows[] = {
    {"after_loss",
     "mean over the cohort's validation data, each client's own weights after its training",
     "loss", "loss"},
    {"before_loss", "the same before training: server's weights, or own models", "loss",
     NULL},
    {"train_loss", "mean over the local steps of clients that did not diverge", "loss",
     NULL},
    {"after_error", "share of wrong answers, each client's own weights", "1", NULL},
    {"before_error", "share of wrong answers, weights before training", "1", NULL},
    {"clients", "clients averaged into the server's weights", "count", "clients averaged"},
    {"diverged", "clients that diverged and were left out", "count", "diverged"},
    {"dropped", "clients that were unavailable, dropped out or missed the deadline",
     "count", "lost to device or deadline"},
    {"surplus",
     "clients of an over-selection that were slower than those needed, or updates older "
     "than buffer.max_staleness",
     "count", "surplus"},
    {"samples", "samples processed in local training", "count", NULL},
    {"bytes", "bytes sent and received by all devices", "bytes", NULL},
    {"seconds", "virtual time of the round", "s", NULL},
    {"energy", "energy of all devices", "J", NULL},
    {"entropy", "entropy of the mixture after the round", "nat", NULL},
    {"valid_loss", "of the server's weights on clients drawn for evaluation; nan: none",
     "loss", NULL},
    {"valid_error", "share of wrong answers of the clients drawn for evaluation", "1",
     NULL},
    {"staleness",
     "fed.aggregation = buffered: steps of the server since clients began, mean over those "
     "averaged",
     "count", NULL},
    {"stalest", "fed.aggregation = buffered: the largest of these", "count", NULL},
    {0}};

/* clang-format off */
#define SCORES \
    {"loss", "before local training: of the server's weights, or of own models", "loss", \
     "loss"}, \
    {"error", "share of wrong answers before local training", "1", "error %"}, \
    {"personal_loss", "after local training", "loss", "personal loss"}, \
    {"personal_error", "share of wrong answers after local training", "1", \
     "personal error %"}
/* clang-format on */

const weft_metric fed_client_table[] = {SCORES, {0}};
const weft_metric fed_writing_table[] = {SCORES, WEFT_TEXT_SCORES, {0}};
const weft_metric fed_score_table[] = {
    SCORES,
    {"new_loss", "of clients kept out of training, before they adapt", "loss", NULL},
    {"new_error", "of clients kept out of training, before they adapt", "1", "new error %"},
    {"adapted_loss", "of the same, after fed.new_epochs", "loss", NULL},
    {"adapted_error", "of the same, after fed.new_epochs", "1", "adapted error %"},
    WEFT_QUALITY_SCORES, /* before local training, of at most 2^20 samples of all clients */
    WEFT_TEXT_SCORES,    /* of texts written before local training, mean over clients */
    {0}};

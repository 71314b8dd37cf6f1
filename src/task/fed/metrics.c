/* What task fed measures: columns of jobs and rounds, and scores. */
#include "metrics.h"
#include "task/parts.h"
#include "weft/measure.h"

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
    {"surplus", "clients of an over-selection that were slower than those needed", "count",
     "surplus"},
    {"samples", "samples processed in local training", "count", NULL},
    {"bytes", "bytes sent and received by all devices", "bytes", NULL},
    {"seconds", "virtual time of the round", "s", NULL},
    {"energy", "energy of all devices", "J", NULL},
    {"entropy", "entropy of the mixture after the round", "nat", NULL},
    {"valid_loss", "of the server's weights on clients drawn for evaluation; nan: none",
     "loss", NULL},
    {"valid_error", "share of wrong answers of the clients drawn for evaluation", "1",
     NULL},
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
const weft_metric fed_direction_table[] = {SCORES, WEFT_TRANSLATED_SCORES, {0}};
const weft_metric fed_score_table[] = {
    SCORES,
    {"new_loss", "of clients kept out of training, before they adapt", "loss", NULL},
    {"new_error", "of clients kept out of training, before they adapt", "1", "new error %"},
    {"adapted_loss", "of the same, after fed.new_epochs", "loss", NULL},
    {"adapted_error", "of the same, after fed.new_epochs", "1", "adapted error %"},
    WEFT_QUALITY_SCORES, /* before local training, of at most 2^20 samples of all clients */
    WEFT_TRANSLATED_SCORES, /* of sentences, before local training, mean over clients */
    {0}};

/* Federated averaging: the mean change of the clients is a step of the server's optimizer.
 * McMahan, Moore, Ramage, Hampson, Aguera y Arcas, AISTATS 2017; with client.mu FedProx:
 * Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, MLSys 2020. */
#include "weft/algorithm/algorithm.h"

static const weft_opt no_options[] = {{0}};

WEFT_PLUGIN(algorithm, fedavg) = {
    .kind = {"fedavg", "federated averaging; with client.mu FedProx", 1, no_options, NULL}};

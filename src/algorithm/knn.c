/* FedAvg, whose clients remember their own training samples when they answer:
 *     p = lambda p_near + (1 - lambda) p_net,  p_near(y) ~ sum over the k nearest whose
 *     label is y of exp(-distance / sigma),
 * by Euclidean distances between representations by the server's weights. Marfoq, Neglia,
 * Kameni, Vidal, ICML 2022 (kNN-Per), which has one lambda for each client. */
#include "weft/algorithm/algorithm.h"

static const weft_opt knn_opts[] = {
    WEFT_INT_OPT("k", weft_neighbours, k, "10", 1, 1024,
                 "neighbours of a sample; of a client with fewer samples all",
                 .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("lambda", weft_neighbours, lambda, "0.5", 0, 1,
                  "share of neighbours in an answer; 0: the network alone",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("sigma", weft_neighbours, sigma, "1", 1e-6, 1e6,
                  "distance at which a neighbour counts 1/e", .role = WEFT_PER_SAMPLE),
    {0},
};

static weft_neighbours knn_neighbours(const void *options)
{
    return *(const weft_neighbours *)options;
}

WEFT_PLUGIN(algorithm, knn) = {
    .kind = WEFT_KIND("knn", weft_neighbours, knn_opts,
                      "fedavg, whose clients' own samples take part in answers"),
    .neighbours = knn_neighbours,
};

/* A worker in C, by weft/worker/worker.h alone: 100 clients find the mean of their numbers. The
 * loss of a client is half the squared distance of the weights from its own numbers' mean;
 * a step of gradient descent goes there. Its first argument is the number of weights, two
 * or more, which two tensors share.
 *
 *   cc -O2 -Iinclude inputs/clients.c -o clients -lm
 *   weft tune inputs/worker.ini worker.run='./clients 10' fed.score=loss
 */
#include "weft/worker/worker.h"

enum { CLIENTS = 100, SAMPLES = 10 };

/* The mean of the client's numbers of weight i. */
static float mean(int64_t client, int64_t i)
{
    return (float)((client * 7 + i * 3) % 11) / 11 - 0.5f;
}

/* Adds the losses of count samples; an answer is wrong where a weight is off by 1. */
static void score(const weft_worker *worker, const weft_worker_turn *turn, const float *w,
                  int stage, weft_worker_scores *out)
{
    double loss = 0;
    int wrong = 0;
    for (int64_t i = 0; i < worker->nweight; i++) {
        double gap = (double)w[i] - (double)mean(turn->client, i);
        loss += gap * gap / 2;
        wrong |= gap > 1 || gap < -1;
    }
    out->count[stage] = turn->scored;
    out->wrong[stage] = wrong ? turn->scored : 0;
    out->loss[stage] = loss / (double)worker->nweight * (double)turn->scored;
}

static const char *train(void *of, const weft_worker_turn *turn, weft_worker_scores *out)
{
    const weft_worker *worker = of;
    float lr = (float)weft_worker_number(turn->json, "options", "lr"),
          mu = (float)weft_worker_number(turn->json, "options", "mu");
    int trained[2] = {weft_worker_trains(turn->json, 0), weft_worker_trains(turn->json, 1)};
    const float *anchor = weft_worker_place(turn->json, "anchor"),
                *drift = weft_worker_place(turn->json, "drift");
    if (turn->before) score(worker, turn, turn->weights, 0, out);
    for (int64_t i = 0; turn->train && i < worker->nweight; i++) {
        float w = turn->weights[i], slope = w - mean(turn->client, i);
        slope += mu * (w - anchor[i]) + (drift ? drift[i] : 0);
        turn->answer[i] = trained[i >= worker->nweight / 2] ? w - lr * slope : w;
    }
    out->steps = turn->samples;
    if (turn->after) score(worker, turn, turn->answer, 1, out);
    return NULL;
}

int main(int argc, char **argv)
{
    static int64_t counts[CLIENTS][3];
    char tensors[128];
    int64_t n = argc > 1 ? atoll(argv[1]) : 10;
    for (int c = 0; c < CLIENTS; c++)
        for (int part = 0; part < 2; part++) counts[c][part] = SAMPLES;
    snprintf(tensors, sizeof tensors,
             "[{\"name\":\"low\",\"shape\":[%lld]},{\"name\":\"high\",\"shape\":[%lld]}]",
             (long long)(n / 2), (long long)(n - n / 2));
    weft_worker worker = {.clients = CLIENTS,
                          .counts = counts[0],
                          .tensors = tensors,
                          .nweight = n,
                          .weights = (float *)calloc((size_t)n, sizeof(float)),
                          .worst = 10,
                          .knows = "[\"tensors\",\"anchor\",\"drift\"]",
                          .turn = train};
    worker.of = &worker;
    return weft_worker_serve(&worker);
}

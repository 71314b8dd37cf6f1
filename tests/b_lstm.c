/* Local training of the character LSTM of 2 layers of h units, embedding 8, 80 characters,
 * 102 symbols, prediction of the last one: gradient and a step of SGD with momentum and
 * weight decay, as in PyTorch. Prints name,size,seconds,rate (GFLOP/s of the 480 h (12 h +
 * 32) operations of a sample), share of sgemm's just before and after,
 * samples per second. Processor time, best of many, one thread.
 * RUN: np=1 */
#include "weft/math/kernels.h"

#include "nets.h"

enum { STEPS = 80, SYMBOLS = 102 };

static void bench(int hidden, int batch, double seconds)
{
    weft_shape shape = {.form = WEFT_CHARS, .d = STEPS, .classes = SYMBOLS};
    struct fixture fixture =
        fixture_new(&weft_net_lstm, printed("hidden=%d", hidden), shape, batch);
    real *m = WEFT_NEW(mem, real, fixture.nw);
    weft_sgd sgd = {.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-4};
    double best = INFINITY, sgemm = weft_cpu_sgemm(0.1);
    for (double end = processor_seconds() + seconds; processor_seconds() < end;) {
        double start = processor_seconds();
        grad(&fixture, 0, 0);
        weft_sgd_step(&sgd, fixture.nw, 0, fixture.w, fixture.g, m, NULL);
        best = fmin(best, processor_seconds() - start);
    }
    sgemm = fmax(sgemm, weft_cpu_sgemm(0.1));
    double h = hidden, rate = 6 * STEPS * h * (12 * h + 32) * batch / best / 1e9;
    printf("lstm train,%dx2x%d,%.3g,%.4g,%.2f,%.4g\n", batch, hidden, best, rate,
           rate / sgemm, batch / best);
    fflush(stdout);
}

/* Arguments: hidden batch seconds; or none. */
int main(int argc, char **argv)
{
    tap_begin();
    printf("name,size,seconds,rate,share,samples/s\n");
    if (argc > 3) {
        bench(atoi(argv[1]), atoi(argv[2]), atof(argv[3]));
        return 0;
    }
    static const int hidden[] = {256, 200, 100}, batch[] = {10, 32, 128};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) bench(hidden[i], batch[j], 1.5);
    return 0;
}

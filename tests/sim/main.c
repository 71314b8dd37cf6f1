/* weft tune on simulated ranks: the whole program but for HDF5, ScaLAPACK, the samples and
 * the training, under SimGrid's smpirun. tests/sim/forecast.sh runs it.
 * usage: smpirun ... weft-sim INPUT.ini [section.key=value ...] */
#include "par/handle.h"
#include "sim.h"
#include "weft/par/par.h"
#include "weft/run/run.h"

#include <stdio.h>
#include <stdlib.h>

/* Prints the seconds of training of all ranks, by rounds. Collective. */
static void tell_charged(int rank)
{
    double sum[SIM_ROUNDS];
    MPI_Allreduce(charged, sum, SIM_ROUNDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("/sim/charged");
    for (int i = 0; i < SIM_ROUNDS; i++) printf(" %.9g", sum[i]);
    printf("\n");
}

/* Prints the number of files that all ranks made or renamed. Collective. */
static void tell_files(int rank)
{
    int64_t sum;
    MPI_Allreduce(&files_made, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("/sim/files %lld\n", (long long)sum);
}

int main(int argc, char **argv)
{
    weft_team world;
    weft_conf conf;
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    weft_arena *mem = weft_arena_new();
    weft_conf_init(&conf, mem);
    weft_check(argc > 1, "usage: weft-sim INPUT.ini [section.key=value ...]");
    weft_status st = weft_conf_read(&conf, argv[1]);
    for (int i = 2; i < argc && st == WEFT_OK; i++) st = weft_conf_set(&conf, argv[i]);
    if (st == WEFT_OK) st = weft_run_tune(&conf, 1, &world);
    tell_charged(world.rank);
    tell_files(world.rank);
    if (st != WEFT_OK && world.rank == 0) fprintf(stderr, "weft-sim: %s\n", weft_error());
    weft_arena_free(mem);
    weft_par_end(&world);
    return st;
}

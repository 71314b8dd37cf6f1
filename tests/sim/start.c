/* Start of a simulated rank: SimGrid has no threads, and no launcher need be checked. The
 * linker calls this function in place of weft_par_start (--wrap). */
#include "par/handle.h"
#include "weft/base/base.h"

weft_status __wrap_weft_par_start(int *argc, char ***argv, weft_team *world);

weft_status __wrap_weft_par_start(int *argc, char ***argv, weft_team *world)
{
    MPI_Init(argc, argv);
    *world = (weft_team){0};
    set_comm(world, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->size);
    weft_log_set(WEFT_INFO, world->rank);
    world->since = weft_now();
    return WEFT_OK;
}

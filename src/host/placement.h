/* The resources of a rank: host, cores, memory and measured speed. */
#ifndef WEFT_HOST_PLACEMENT_H
#define WEFT_HOST_PLACEMENT_H

#include "core.h"
#include "weft/team.h"

/* The resources of a rank: host, cores, memory, BLAS. */
typedef struct weft_placement {
    char host[WEFT_PLACEMENT_TEXT];
    char cores[WEFT_PLACEMENT_TEXT]; /* that it may run on, "0-3,8"; "" unknown */
    double quota;                    /* CPU limit of its control group, in cores; INFINITY:
                                        none */
    double memory, available;        /* bytes of the host's memory; of these available */
    double room;                     /* bytes that its control group or SLURM allows */
    char blas[WEFT_PLACEMENT_TEXT];  /* the CPU type that OpenBLAS has chosen */
    int threads;                     /* of OpenBLAS */
    double sgemm;                    /* GFLOP/s */
    double share; /* fraction of a core that it had during the measurement,
                     0..1 */
    int claim;    /* of the core, for all ranks bound to it; -1: none, or of another rank */
    int taken;    /* 1: the core is in use by another weft */
} weft_placement;

/* The resources [size] of all ranks; measures the sgemm rate for `seconds`. Claims the
 * cores that ranks are bound to, until weft_placements_leave. Collective. Owned by mem. */
weft_placement *weft_placements(weft_team *team, double seconds, weft_arena *mem);

/* Gives up the claim of this rank. */
void weft_placements_leave(const weft_placement *placement, const weft_team *team);
/* 1 if rank r is the first on its host that may run on just these cores. */
int weft_placement_leads(const weft_placement *placement, int r);

#endif

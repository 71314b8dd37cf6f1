/* Hosts, cores and memory of all ranks, and warnings of problems with these. */
#ifndef WEFT_HOST_HOSTS_H
#define WEFT_HOST_HOSTS_H

#include "placement.h"

/* 1 if rank r is the first on its host; number of ranks on the host of r; list of the cores
 * that any of these may run on. */
int weft_placement_first(const weft_placement *placement, int r);
int weft_placement_ranks(const weft_placement *placement, int size, int r);
const char *weft_placement_cores(const weft_placement *placement, int size, int r,
                                 weft_arena *mem);

/* The rank that had the smallest share of a core while it was measured, the first of these.
 */
int weft_placement_busiest(const weft_placement *placement, int size);

/* The hosts, each once, in order of rank, with the cores of their ranks: "n1 (cores 0-3) n2
 * (cores 0-3)". Owned by mem. */
const char *weft_hosts(const weft_placement *placement, int size, weft_arena *mem);

/* Warns if ranks share fewer cores than there are ranks, if CPU limit or memory is less
 * than they need (`bytes` each), and if OpenBLAS has several threads; returns the number of
 * warnings. */
int weft_placements_warn(const weft_placement *placement, int size, double bytes);

#endif

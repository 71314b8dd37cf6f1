/* Processes: how they start and end, how a team is divided, time accounts, what a rank
 * does. What teams are for stands in team.h. Only src/par calls MPI. */
#ifndef WEFT_PAR_H
#define WEFT_PAR_H

#include "weft/team.h"

/* Starts MPI (MPI_THREAD_FUNNELED), sets one BLAS thread, log rank and die hook; warns
 * where OpenBLAS runs on less than the CPU can do. Refuses the silent singletons of a
 * launcher that does not speak MPI's PMI (srun --mpi=none): it says that it started many
 * processes, each of which is alone (ECONF, MPI ended or not begun); the first of them has
 * the message, the others have none. Collective. */
WEFT_CHECKED weft_status weft_par_start(int *argc, char ***argv, weft_team *world);
void weft_par_end(weft_team *world);
/* A team of this rank alone; nothing to be freed. MPI must be running. Local. */
weft_team weft_team_alone(void);
/* "Open MPI v4.1.4" into text[n]; also before MPI is started. Local. */
void weft_par_library(char *text, size_t n);
/* ELIMIT where a limit of address space (ulimit -v) leaves less than OpenBLAS maps at its
 * first product, which it would try for ever. Local. */
WEFT_CHECKED weft_status weft_par_room(void);

/* Returns once every rank of the team is here; those that wait sleep, 10 ms at a time, and
 * leave the CPU to others, where a barrier would spin. Collective. */
void weft_sleep(weft_team *t);
/* Brings the account of time up to date: adds the time since the last call to
 * times.compute. Local. */
void weft_times_close(weft_team *t);
/* The same; from now on time goes to the account of another team of this rank. Local. */
void weft_times_move(weft_team *from, weft_team *to);

/* ---- what a rank does --------------------------------------------------------------- */

/* Noted by the main thread, read by others. */
typedef struct weft_activity {
    const char *phase; /* "trains"; a constant */
    int64_t job, unit; /* -1: of none */
    int waits;         /* 1: in a collective, for the other ranks of its team */
    int first, size;   /* ranks of the world that this team is of; size 0: none yet */
    double since;      /* weft_now of the last change of any of these */
} weft_activity;
/* Begins a phase. Local. */
void weft_activity_set(const char *phase, int64_t job, int64_t unit);
/* May be called by any thread. Local. */
weft_activity weft_activity_get(void);

/* ---- teams within a team ------------------------------------------------------------ */

/* `size` ranks in `parts` teams of neighbours, 1 <= parts <= size, as even as possible: the
 * first size % parts ones are larger by one. Ranks of a part, its first rank, the part of a
 * rank. Local. */
int weft_team_size(int size, int parts, int part);
int weft_team_first(int size, int parts, int part);
int weft_team_of(int size, int parts, int rank);
/* Makes the team that this rank is in, with its own ranks and account of time. Collective
 * over t. */
void weft_team_split(const weft_team *t, int parts, weft_team *own);
void weft_team_free(weft_team *t); /* Collective over it */

#endif

/* Processes: start and end, dividing ranks into teams, measuring where time goes, messages
 * between teams, the present activity of a rank. Collectives are in team.h. Only src/par
 * calls MPI. */
#ifndef LIBWEFT_PAR_PAR_H
#define LIBWEFT_PAR_PAR_H

#include "weft/par/team.h"

/* Starts MPI (MPI_THREAD_FUNNELED), sets one BLAS thread, the rank of the log and the die
 * hook. Where OpenBLAS does not know the CPU, the program is first executed anew, with
 * kernels chosen for it; warns if they are slower than the CPU supports. ECONF if the
 * launcher started several processes but does not support MPI's PMI (srun --mpi=none), so
 * that each would be a separate run of one rank; MPI is then not running, and only the
 * first process has a message; ECONF, too, if libraries of two MPIs are loaded. Ranks that
 * outnumber their cores sleep from then on while they wait (src/par/mpis.c). Collective. */
WEFT_CHECKED weft_status weft_par_start(int *argc, char ***argv, weft_team *world);
/* Ends MPI. Collective. */
void weft_par_end(weft_team *world);
/* Number of processes that the launcher started; 1 without a launcher. */
int weft_par_launched(void);
/* 1 under the mpirun of Open MPI 4, whose lines on the exit status hide what ranks print on
 * stderr. That of Open MPI 5 mixes lines that a rank prints on stderr and stdout at once.
 */
int weft_par_hides_stderr(void);
/* In place of weft_par_start, where weft_par_launched is 1: a world of this process,
 * without MPI, whose start takes longer than what a short command does. What communicates
 * within a team does nothing then; weft_team_split and the like must not be called. */
void weft_par_alone(weft_team *world);
/* A team of only this rank; it needs no weft_team_free. MPI must be running. */
weft_team weft_team_alone(void);
/* "Open MPI v4.1.4" or "MPICH v4.0.2" into text[n]; also before MPI is started. */
void weft_par_library(char *text, size_t n);
/* ELIMIT if a limit of data (ulimit -d) is less than the buffers of OpenBLAS's threads,
 * which exist before main: they would retry forever, and be waited for at exit. So the
 * process is to end by _exit. To be called first. */
WEFT_CHECKED weft_status weft_par_begin(void);
/* ELIMIT if a limit of the address space (ulimit -v) leaves less than OpenBLAS maps at its
 * first product: OpenBLAS would otherwise retry forever. */
WEFT_CHECKED weft_status weft_par_room(void);

/* A barrier whose waiting ranks sleep, up to 10 ms at a time, while MPI_Barrier would keep
 * the CPU busy. Collective. */
void weft_sleep(weft_team *team);
/* Collective. all[size][bytes] from `bytes` of each rank, the same number on all. */
void weft_collect(weft_team *team, const void *mine, size_t bytes, void *all);
/* The connection of two ranks. */
typedef struct weft_trip {
    double latency; /* seconds from one to the other: half a round trip of 8 bytes */
    double rate;    /* bytes a second in messages of 4 MB */
} weft_trip;
/* Collective. Measures the best of several round trips between two ranks a != b while the
 * others wait; all ranks get the result. Takes about 10 ms and sends 80 MB. */
weft_trip weft_trip_try(weft_team *team, int a, int b);

/* ---- activity of a rank ---- */

/* What this rank is doing: set by the main thread, read by the watchdog's thread. */
typedef struct weft_activity {
    const char *phase; /* "trains"; a constant */
    int64_t job, unit; /* -1: of none */
    int waits;         /* 1: in a collective, waiting for the other ranks of its team */
    int first, size;   /* ranks of the world that this team is of; size 0: none yet */
    double since;      /* weft_now at the last change of this struct */
} weft_activity;
/* Sets the phase, job and unit. */
void weft_activity_set(const char *phase, int64_t job, int64_t unit);
/* A copy of the present activity; may be called by any thread. */
weft_activity weft_activity_now(void);

/* ---- teams within a team ---- */

/* Division of `size` ranks into `parts` teams of consecutive ranks, 1 <= parts <= size, as
 * equal as possible: the first size % parts ones are larger by one. The functions return
 * the first rank of a part, and the part of a rank. */
int weft_team_first(int size, int parts, int part);
int weft_team_of(int size, int parts, int rank);
/* *own: the team that this rank belongs to, with its own ranks and times. Collective over
 * t. */
void weft_team_split(const weft_team *team, int parts, weft_team *own);
void weft_team_free(weft_team *team); /* Collective over it */

/* ---- leaders of teams ---- */

/* The leaders are the first ranks of the teams. Between weft_peers_join and
 * weft_peers_leave they exchange messages and divide jobs among them without waiting for
 * each other. */

typedef struct weft_peers weft_peers;

/* A message from another leader. */
typedef struct weft_message {
    char *data;
    size_t bytes;
} weft_message;

/* Connects the leaders of the teams of weft_team_split; NULL on ranks that are not leaders.
 * Owned by mem. Collective over t. */
weft_peers *weft_peers_join(const weft_team *team, int parts, weft_arena *mem);
/* Sends a copy of the bytes to all other leaders; messages of a leader arrive in order.
 * Returns at once. Cost O(bytes leaders). */
void weft_peers_send(weft_peers *peers, const void *data, size_t bytes);
/* Receives the next message that has arrived, into mem, and returns 1; 0 if there is none.
 */
int weft_peers_receive(weft_peers *peers, weft_message *out, weft_arena *mem);
/* 1 if something has arrived for weft_peers_receive or weft_peers_left. */
int weft_peers_here(weft_peers *peers);
/* 1 if all others have left and all their messages were received. */
int weft_peers_alone(const weft_peers *peers);
/* The largest `why` of the leaders that have left; 0: none has left. */
int weft_peers_left(weft_peers *peers);
/* Tells the others that this leader leaves, and why (a number >= 1), waits until all have
 * left, and frees p. Messages that were not received are lost. Collective over the
 * leaders. */
void weft_peers_leave(weft_peers *peers, int why);

/* A job is done by the team whose leader claims it first. If all leaders are on one node,
 * claims are atomic operations on shared memory; else, or if WEFT_CLAIMS_BY_FILE is set in
 * the environment, a claim is the creation of a file, in which only one can succeed. If a
 * fault of the file system lets two leaders claim a job, it is done twice, with the same
 * result. */
typedef struct weft_claims weft_claims;
/* Starts with no job claimed. dir: directory for the files of claims and tickets, of which
 * none may exist yet; they stay as long as the search, as a leader that has not heard of a
 * result yet would claim its job again. ticket: the first number that weft_claim_ticket
 * returns. Owned by mem. Collective over the leaders. */
weft_claims *weft_claims_open(const weft_peers *peers, const char *dir, int64_t ticket,
                              weft_arena *mem);
/* 1 if this leader now has the claim on job `id` >= 0; 0 if the job was claimed before. */
int weft_claim(weft_claims *claims, int64_t id);
/* 1 if claims are files, which take a while to create, so that a leader should not try jobs
 * that others have claimed. */
int weft_claims_by_file(const weft_claims *claims);
/* Draws the next ticket: numbers rise by 1, and no two calls of any leaders return the
 * same. */
int64_t weft_claim_ticket(weft_claims *claims);
/* Tells that this ticket was drawn by some leader, so that it is not tried. */
void weft_claim_drawn(weft_claims *claims, int64_t ticket);
/* Frees the shared memory; files of claims are not removed. Collective over the leaders. */
void weft_claims_close(weft_claims *claims);

#endif

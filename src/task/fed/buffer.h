/* Asynchronous rounds, fed.aggregation = buffered: `concurrency` clients train at once in
 * virtual time, each from the server's weights at its start. Updates enter in the order of
 * their ends, and the `size`-th makes a step of the server; the unit of a job is a step.
 *
 * A step by the changes D_i of its updates, with weights w_i (fed.average) and staleness
 * s_i, steps of the server since the client's start, is by the mean
 *     D = sum_i w_i f(s_i) D_i / sum_i w_i,
 *     f(s) = 1                                      constant,
 *            (1 + s)^-a                             polynomial,
 *            1 if s <= b, else 1 / (a (s - b) + 1)  hinge,
 * so that an old update moves the weights less, also alone. Nguyen et al., "Federated
 * learning with buffered asynchronous aggregation", AISTATS 2022, where weights are equal;
 * with size 1 it is FedAsync: Xie, Koyejo, Gupta, "Asynchronous federated optimization",
 * 2019.
 *
 * When the clock is about to go on, clients start in all free places, drawn by key from
 * those that are not in flight and have not been since the last step: a client takes part
 * in a step once at most. What a turn takes is known when it starts, as it depends on the
 * configuration that was drawn and not on weights. So a step first finds its updates, and
 * then trains exactly these, those with the same beginning together, on all ranks. With
 * size = concurrency = fed.cohort and turns of equal length, steps are the rounds of
 * synchronous training, to the bit. */
#ifndef WEFT_TASK_FED_BUFFER_H
#define WEFT_TASK_FED_BUFFER_H

#include "round.h"

/* Section [buffer]. */
typedef struct fed_buffer {
    int64_t size;        /* updates of a step; 0: fed.cohort */
    int64_t concurrency; /* clients in flight; 0: twice the size, at most all clients */
    int staleness;       /* the function f */
    double a, b;
    int64_t oldest; /* most staleness of an update that is used */
    /* set by set-up */
    int64_t versions; /* of the server's numbers that are kept for clients in flight, */
    int64_t at;       /* from this offset in x */
    int varies;       /* 1: what a turn takes depends on the configuration */
    double least;     /* virtual seconds that every turn takes at least */
} fed_buffer;

extern const weft_kind fed_buffer_kind;

/* A client in flight; only doubles, as part of a state. Zeros: the place is free. */
typedef struct fed_flight {
    double status; /* 1 + weft_turn_status of its end */
    double client;
    double version, place; /* the step at which it began; its number among starts then */
    double end;            /* seconds after the last step */
    double energy, bytes;
    double pick[WEFT_MAX_BLOCKS]; /* entries of the mixture that it drew */
} fed_flight;
enum { FED_FLIGHT = sizeof(fed_flight) / sizeof(double) };

/* ---- buffer.c: options and sizes ---- */

/* Reads the options, and sets fed->modes.buffer (NULL: rounds are synchronous) and
 * fed.cohort, to the size. ECONF. */
WEFT_CHECKED weft_status fed_buffer_open(fed_task *fed);
/* Checks what the mode can be combined with, and lays its numbers out. ECONF; ELIMIT: the
 * versions do not fit into run.memory. */
WEFT_CHECKED weft_status fed_buffer_lay(const fed_task *fed, fed_buffer *buffer);
/* Numbers of a state: reals at the end of x, the versions; doubles of aux, [concurrency]
 * clients in flight, [concurrency][dim] what they drew, [versions] their steps, plus 1.
 * Both 0 without the mode. Zeros: nobody is in flight, and nothing is kept. */
int64_t fed_buffer_reals(const fed_task *fed);
int64_t fed_buffer_doubles(const fed_task *fed);
/* f(s). */
double fed_buffer_factor(const fed_buffer *buffer, double s);

/* ---- flights.c: clients in flight. Changes the state ---- */

/* After the network, the algorithm and devices: fed_buffer_lay, and how long turns take.
 * ECONF, ELIMIT. Cost O(clients) at most. */
WEFT_CHECKED weft_status fed_buffer_setup(fed_task *fed);

/* The clients in flight, during a step. */
typedef struct fed_queue fed_queue;

/* Advances from the clients in flight in trial->flights to the end of the step
 * trial->head->round, in which starting clients draw from the mixture; the state does not
 * change. Owned by tmp. Cost O(concurrency + events log concurrency). */
fed_queue *fed_buffer_advance(const fed_task *fed, const fed_trial_state *trial,
                              const weft_mix *mix, weft_arena *tmp);
/* What it took, with updates that were too old as surplus. */
weft_closing fed_buffer_end(const fed_queue *queue);
/* The clients to be trained, in the order of their starts, with their staleness, and behind
 * the n of them those that missed the deadline, which are charged. A pick is -1 if the
 * mixture has not the configuration that was drawn, as after a job with another one. */
fed_cohort fed_buffer_cohort(fed_queue *queue, const fed_turn *turn, weft_arena *tmp);
/* Adds those that were late to the cohort, when the others are trained. */
void fed_buffer_charge(const fed_queue *queue, fed_cohort *cohort);
/* The numbers x of the server with which a client began. */
const real *fed_buffer_from(const fed_task *fed, const fed_trial_state *trial,
                            const fed_client *client);
/* fed_take_turns, each from the weights with which it began. EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_buffer_turns(fed_task *fed, const fed_trial_state *trial,
                                          const fed_turns *turns);
/* Makes the queue part of the state, before the server moves: keeps its numbers, if a
 * client in flight needs them, and forgets versions that none needs. */
void fed_buffer_commit(const fed_queue *queue, fed_trial_state *trial);
/* The mean and the largest staleness of the updates of a step. */
void fed_buffer_record(const fed_cohort *cohort, int64_t step, double *row);
/* weft_task.timing.seconds: exact if what turns take does not depend on configurations, or
 * for the first job of a trial of one configuration; else a bound by the fastest client.
 * Cost O(steps since the beginning of the trial, times events log concurrency). */
double fed_buffer_seconds(const fed_task *fed, const weft_job *job, double before);

#endif

/* The course of a round, in the order in which its files take part: who is drawn and what
 * they keep, their turns, one by one, side by side or by workers, the scores, and the state
 * of the trial that all this changes. */
#ifndef WEFT_TASK_FED_ROUND_H
#define WEFT_TASK_FED_ROUND_H

#include "fed.h"

/* ---- cohort.c: who takes part, and which rank trains whom ---- */

/* The clients that fed.new_clients keeps out of training, keyed by seed and client, and the
 * others, into fed->fresh and fed->old. */
void fed_divide(fed_task *fed);
/* Draws m clients of a group into client[m], with replacement or (m <= group->n) without,
 * keyed by `round`. */
void fed_draw(const fed_task *fed, const fed_group *group, uint64_t round, int64_t m,
              int replacement, int64_t *client, weft_arena *tmp);
/* Assigns a rank to each client that is not lost: the most expensive first, each to
 * the rank with the least work so far. */
void fed_deal(const fed_task *fed, const fed_turn *turn, int64_t n, fed_client *client,
              weft_arena *tmp);
/* The options that client j draws from m, keyed by (trial, round, j), into client->options
 * and client->special, of which it has the memory; the entries drawn are written to pick.
 */
void fed_pick(const fed_task *fed, const weft_mix *mix, int64_t trial, uint64_t round,
              int64_t j, int *pick, fed_client *client);
/* Memory for n clients with their options. */
fed_client *fed_clients_new(const fed_task *fed, int64_t n, weft_arena *mem);
/* Sets fed->size: means over a few thousand clients if there are more. */
void fed_measure(fed_task *fed);
/* Sets the numbers of samples that the client trains on and scores. */
void fed_size(const fed_task *fed, const fed_turn *turn, fed_client *client);

/* Rows of n clients: the first rank has those of all, others of their own. */
typedef struct fed_keep {
    int64_t n;
    int64_t *client; /* [n] in the order of ranks */
    int64_t *of;     /* [n] their places among the clients */
    size_t *bytes;   /* [size] of each rank */
    real *all, *own; /* rows in that order: on the first rank, and those of this rank */
    real **row; /* [n] of each client, in their own order; NULL: it is of another rank */
} fed_keep;

/* Bytes of a rank for the rows of n clients. */
double fed_keep_bytes(const fed_task *fed, int64_t n);
/* Bytes of a rank for what is kept: the rows of a cohort, and where each client's is. */
double fed_keep_memory(const fed_task *fed);
/* Says what that takes; ELIMIT: too much. */
WEFT_CHECKED weft_status fed_keep_check(const fed_task *fed);
/* Memory for the rows of n clients; nothing is kept: keep.n is 0. */
fed_keep fed_keep_new(const fed_task *fed, int64_t n, weft_arena *mem);
/* Reads the rows of client[n], n as in fed_keep_new or less, on the first rank. EFILE.
 * Collective. */
WEFT_CHECKED weft_status fed_keep_read(const fed_task *fed, const weft_kept *kept,
                                       fed_keep *keep, int64_t n, const fed_client *client);
/* Sends each to the rank that has the client. Collective. */
void fed_keep_send(const fed_task *fed, fed_keep *keep);
/* Sends them back, and writes those of the clients that are neither lost nor diverged; sets
 * the mark of what is kept then. EFILE. Collective. */
WEFT_CHECKED weft_status fed_keep_write(const fed_task *fed, weft_kept *kept, double *mark,
                                        fed_keep *keep, const fed_client *client,
                                        const fed_client_result *told);

/* Distributes the results of n turns to all ranks, and sums wire[head] over ranks in the
 * same collective; wire must have room for fed_room further numbers. Status as
 * weft_agree. Collective. */
WEFT_CHECKED weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire,
                                      int64_t head, int64_t n, const fed_client *client,
                                      fed_client_result *told);
/* Numbers that fed_exchange needs room for. */
int64_t fed_room(const fed_task *fed, int64_t n);

/* ---- turns.c: turns of clients that start from the same weights ---- */

/* Does the turns that are assigned to this rank and are not lost, with scratch work.tmp.
 * EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_take_turns(fed_task *fed, const fed_turns *turns);

/* ---- local.c: the turn of one client ---- */

/* Does the turn of client j, and adds its change to the sums. next: as of fed_worker_turn.
 * EFILE, EDATA, EWORKER, WEFT_STOP. */
WEFT_CHECKED weft_status fed_visit_take(fed_task *fed, const fed_turns *turns, int64_t j,
                                        int64_t next);
/* What the algorithm needs of a client with these options; one with the algorithm's
 * defaults: special NULL. */
weft_amounts fed_amounts(const fed_task *fed, const void *special, int epochs);
/* Number of steps of its training. */
int64_t fed_steps(const fed_client *client);
/* By what its change is divided before it is averaged. */
double fed_divisor(const fed_task *fed, const fed_client *client);
/* Largest magnitude of what it adds to further sums, from the state x and its row, in which
 * a first turn begins. 0: there are none. */
double fed_bound(const fed_task *fed, const fed_client *client, const real *x, real *row);
/* The turn of a client that is being taken. */
typedef struct fed_visiting {
    fed_task *fed;
    const fed_turns *turns;
    const fed_turn *turn;
    const fed_client *client;
    fed_client_result *out;
    real *row;                /* what it keeps; NULL: nothing */
    weft_visit visit;         /* with the vectors of the workspace */
    weft_samples own, scored; /* of its training, and those that are scored */
    int adapts;               /* 1: in several turns of one pass each */
    int before;               /* 1: a worker's score before training is still due */
} fed_visiting;
/* Of client j, which in its first turn has what the algorithm begins with. */
fed_visiting fed_visiting_new(fed_task *fed, const fed_turns *turns, int64_t j);
/* Reads the samples that the turn needs. EFILE, EDATA. */
WEFT_CHECKED weft_status fed_visiting_read(fed_visiting *visiting);
/* The client's model before its turn: visit.w, or the server's weights. */
const real *fed_visiting_model(fed_visiting *visiting);
/* After courses: the client diverged if its change or what it keeps is too large. */
void fed_visiting_check(const fed_visiting *visiting);
/* Counts the turn in the row, and adds the change to the sums. */
void fed_visiting_end(fed_visiting *visiting);

/* For the network of fed->model. */
fed_own fed_own_new(const fed_task *fed, weft_arena *mem);
/* The part of the weights that a course changes: from the first tensor that is not fixed to
 * the last. */
typedef struct fed_span {
    int64_t from, end;
    int frozen; /* fixed tensors before it */
    int holes;  /* 1: it has fixed tensors */
} fed_span;
/* fixed  [tensors] 1: it is; NULL: none, and the weights are those of work.own */
fed_span fed_span_of(const fed_task *fed, const char *fixed);
/* Fixed tensors of x[weights][wide]: their numbers become 0, or those of `from`. */
void fed_hold(const fed_task *fed, const char *fixed, int wide, const real *from, real *to);

/* The batches of a course, in a new order of the samples for every epoch, and what is
 * counted of their steps. */
typedef struct fed_pass {
    const fed_visiting *visiting;
    int losses; /* 1: those of this course are recorded, which is the first of the turn */
    int epoch, epochs;
    int64_t at;         /* the next sample, in the order of this epoch: */
    int64_t *order;     /* [own.n] */
    const int64_t *row; /* samples of the last batch, */
    uint64_t key;       /* and of its random numbers */
} fed_pass;
fed_pass fed_pass_new(const fed_visiting *visiting, int epochs);
/* The number of samples of the next batch; 0: there is none, or the client diverged. */
int fed_pass_next(fed_pass *pass);
/* Counts a step on n samples, with the sums of the batch; it is not sound, or its loss is
 * not finite: the client diverged. */
void fed_pass_count(const fed_pass *pass, int n, int sound, const weft_score *sum);

/* ---- lanes.c: turns of several clients at once, one per vector lane ---- */

/* Memory for turns in vector lanes with batches of up to `batch`, from mem; NULL: not
 * possible with this network, its size or these data. */
fed_lanes *fed_lanes_new(const fed_task *fed, int batch, weft_arena *mem);
/* 1: the client's turn can be taken in a lane. */
int fed_lanes_take(const fed_task *fed, const fed_turn *turn, const fed_client *client);
/* 1: groups of n > 0 such clients are trained faster in lanes than one by one. */
int fed_lanes_pay(const fed_task *fed, int64_t n);
/* Sets the weights that turns start from. */
void fed_lanes_begin(const fed_task *fed, const real *from);
/* Does the turns of the n clients which[], at most as many as there are lanes, at
 * once. EFILE, EDATA. */
WEFT_CHECKED weft_status fed_lanes_visit(fed_task *fed, const fed_turns *turns, int n,
                                         const int64_t *which);

/* ---- worker.c: clients whose training a worker does, fed.model = worker ---- */

/* A network of which only the weights are known here: its tensors are those that the worker
 * describes, and it has no gradient. Its instance holds the worker of this rank. */
extern const weft_net fed_worker_net;

/* fed->net, by its name; ECONF. */
WEFT_CHECKED weft_status fed_net_find(fed_task *fed);
/* 1: workers train the clients. */
int fed_worker_trains(const fed_task *fed);
/* Starts this rank's worker and asks what it has: sets fed->model, fed->env.data
 * and fed->worst. ECONF, EDATA; EFILE; EWORKER. Collective. */
WEFT_CHECKED weft_status fed_worker_begin(fed_task *fed);
/* Does the turn of client j: work.g has the change of all weights. With turns->course it
 * does that, whose w, which may be turns->from, then has the weights. A worker that fails
 * is started again, worker.retries times. EDATA: its answer is wrong; EWORKER, WEFT_STOP,
 * EFILE.
 * next   of turns, too, the turn of the next call: a worker that reads ahead is sent it
 *        before its answer to j is awaited, and need not wait for it. If that call does not
 *        come, fed_worker_drop is to be called. -1: not known */
WEFT_CHECKED weft_status fed_worker_turn(fed_task *fed, const fed_turns *turns, int64_t j,
                                         int64_t next);

/* The means of the worker's own metrics in the last round, as "name=value name=value";
 * NULL: there are none. Owned by the task. */
const char *fed_worker_note(const fed_task *fed);
/* Ends this rank's worker, which the next turn starts again. */
void fed_worker_drop(fed_task *fed);
/* weft_task.remote.repeats of three turns, by workers that are started again in between. */
WEFT_CHECKED weft_status fed_worker_repeats(void *self, const char *place,
                                            const char **told);
/* Of a run that workers do: repeats one turn, once, and warns if its bits differ. What
 * fed_worker_turn returns. Collective. */
WEFT_CHECKED weft_status fed_worker_try(fed_task *fed);

/* ---- answer.c: what a worker says ---- */

/* Everything is owned by the arena given. */
typedef struct fed_described {
    int64_t clients;
    const int64_t *count; /* [clients][WEFT_NPART] samples */
    const char *names;    /* each ended by 0; NULL: none */
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int64_t nweight;
    const real *initial;      /* [nweight] */
    double worst;             /* mean loss that counts as divergence */
    double flops;             /* operations of a gradient, per sample; 0: not known */
    int errors;               /* 1: it counts wrong answers */
    int orders;               /* 1: it wants the order of samples */
    int ahead;                /* 1: it may be sent a turn while it does the one before */
    int knows;                /* WEFT_NEEDS_...: words of a turn */
    int nmetric;              /* of its own, */
    char metric[FED_OWN][64]; /* by name */
    uint64_t hash;            /* of all this but the words, `ahead`, its metrics */
} fed_described;

/* Asks the worker, which is running. EDATA: an answer that is no description; EWORKER,
 * WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status fed_describe(weft_link *link, uint64_t seed, fed_described *out,
                                      weft_arena *mem);
/* The first word of a turn that is needed and not known, both WEFT_NEEDS_...; NULL: none.
 */
const char *fed_word_missing(int needs, int knows);

/* What was asked. */
typedef struct fed_asked {
    weft_link *link;
    const fed_described *described;
    int64_t turn;       /* its number */
    const float *given; /* [nweight] where the worker writes weights */
} fed_asked;

/* Reads the line into told[j], the change of the weights into work.g, and those after
 * training into the course's w. EDATA: it is no answer to the turn, of which the worker is
 * then ended. */
WEFT_CHECKED weft_status fed_answer_read(const fed_task *fed, const fed_turns *turns,
                                         int64_t j, const fed_asked *asked,
                                         const char *line);

/* ---- score.c: samples in batches, and their scores ---- */

/* Writes to order[0 .. take-1] the beginning of a shuffle of 0 .. n-1, keyed by round,
 * client and epoch. */
void fed_shuffle(const fed_task *fed, const fed_turn *turn, int64_t client, int epoch,
                 int64_t n, int64_t take, int64_t *order);
/* Between the batches of a turn, or two turns. WEFT_STOP when the unit is to be left before
 * its end. */
WEFT_CHECKED weft_status fed_look(fed_task *fed);
/* A batch of samples at[0 .. n-1], in the workspace's tables; own: of the weights, NULL:
 * all. */
weft_batch fed_batch_of(const fed_task *fed, const fed_own *own,
                        const weft_samples *samples, const int64_t *at, int n);
/* Scores client->valid samples, evenly spread over all; own: of which weights w is, NULL:
 * all. */
void fed_score_model(const fed_task *fed, const real *w, const fed_own *own,
                     const weft_samples *samples, const fed_client *client,
                     const fed_turn *turn, int stage, fed_client_result *out);
/* Index of the i-th of `count` samples that are scored, evenly spread over n. */
int64_t fed_spread(int64_t i, int64_t count, int64_t n);
/* Sets the result of a stage (FED_BEFORE or FED_AFTER) from the sums over its predictions.
 * A mean loss that is above turn->most or not a number is replaced by turn->most. */
void fed_settle_score(weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out);
/* Sets the worst possible score as the score after training, for a client that diverged, of
 * as many predictions as before it. */
void fed_settle_failure(const fed_task *fed, const fed_client *client, const fed_turn *turn,
                        fed_client_result *out);
/* weight[label] of each sample of a batch, in the workspace. */
const double *fed_class_weights(const fed_task *fed, const double *weight,
                                const weft_batch *batch);
/* Number of predictions of a sample, where it is the same of all; of the samples of a part
 * of a client, of which client->valid are scored. */
int fed_each(const fed_task *fed);
double fed_predictions(const fed_task *fed, const fed_client *client, weft_part part);
/* p[classes] = the probabilities of classes by their logits z; e[classes]: scratch. */
void fed_softmax(int classes, const real *z, real *e, double *p);

/* Refuses a network without representations, where the algorithm needs them. ECONF. */
WEFT_CHECKED weft_status fed_neighbours_check(const fed_task *fed);
/* Scores client->valid samples, as fed_score_model does, by the weights w[nweight] and the
 * neighbours among the client's training samples, with its own options; FED_AFTER of out.
 * Memory up to fed_neighbours_bytes. EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_neighbours_score(fed_task *fed, const real *w,
                                              const fed_client *client,
                                              const fed_turn *turn, fed_client_result *out);
/* Of an average client: operations beside those of its scores, and the largest memory; 0
 * where the algorithm has no neighbours. */
double fed_neighbours_flops(const fed_task *fed);
double fed_neighbours_bytes(const fed_task *fed);

/* ---- trial.c: the state of a trial between rounds, and its scores ---- */

/* Number of doubles in the state after a job of k configurations. */
int64_t fed_trial_size(const fed_task *fed, int k);
/* Initialises a state as one that belongs to no trial yet. */
void fed_trial_start(const fed_task *fed, weft_state *state);
/* The parts of a state. At the first unit of a job its sums are set to zero, and more if
 * the state is of another trial. */
fed_trial_state fed_trial_open(const fed_task *fed, const weft_job *job, int64_t unit,
                               weft_state *state, weft_result *res);
/* Adds the sums `seen` of a round. */
void fed_trial_enter(const fed_task *fed, fed_trial_state *trial,
                     const fed_score_sums *seen);
/* The sum over a client's predictions of what fed.score is the mean of. */
double fed_sum_of(const fed_task *fed, const fed_client_result *told, int stage);
/* 1 if the rounds of the job score clients in this stage: before or after training. */
int fed_scores(const fed_task *fed, const weft_job *job, int stage);
/* Adds the result of one client. */
void fed_sums_add(const fed_task *fed, fed_score_sums *to, const fed_client_result *told);
/* With fed.score = worst10, leaves of the sums that make the score only those of the tenth
 * of told[n], at least one, with the worst scores; equal ones in their order. Scratch from
 * tmp. */
void fed_sums_worst(const fed_task *fed, fed_score_sums *sums, int64_t n,
                    const fed_client_result *told, weft_arena *tmp);
/* Mean score of the clients summed, NAN if there are none, and half the width of its 95 %
 * interval as an estimate for all clients; INFINITY if it cannot be estimated. For sums
 * over several rounds the interval is for the mean, over these rounds, of the scores that
 * all clients would have had. It is not for the last weights, which are better than the
 * mean as long as training improves them. */
weft_interval fed_sums_score(const fed_score_sums *sums, weft_population all);
/* metric[2]: the means of loss and error before or after training. */
void fed_sums_means(const fed_score_sums *sums, int stage, double *metric);
/* Fills the rest of the job's result; `eval`: sums of the last evaluation, n = 0: there was
 * none. */
void fed_trial_result(const fed_task *fed, const weft_job *job,
                      const fed_trial_state *trial, const fed_score_sums *eval);

/* ---- eval.c: weights and the models of clients on all clients, or some ---- */

/* Arguments of an evaluation. */
typedef struct fed_evaluation {
    weft_part part;
    int64_t clients; /* number of clients; 0, or more than there are: all */
    int fresh;       /* 1: of those kept out of training, after fed.new_epochs */
    int personal;    /* 1: clients are also scored after local training */
    int winner;      /* 1: losses as they are, of any size; tells of progress; WEFT_STOP
                        when the run must stop, after the client in hand */
    weft_members *members; /* out, on the first rank: the clients' scores, in memory of the
                              task; NULL: not needed */
} fed_evaluation;

/* Scores the weights of a state on clients, each with a configuration drawn from the
 * mixture, keyed by the trial. EFILE, EDATA, WEFT_STOP. Collective. */
WEFT_CHECKED weft_status fed_evaluate(fed_task *fed, const fed_evaluation *evaluation,
                                      int64_t trial, const weft_mix *mix,
                                      const weft_state *state, fed_score_sums *out);

/* weft_task.winner.predict: probabilities of the classes of all samples of a part, client
 * after client, with their labels and the numbers of their clients: by the model that each
 * client has before its turn. The note says how many were never trained, known to the first
 * rank. ECONF: the network answers no single rows; EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_predict(void *self, const weft_job *job,
                                     const weft_state *state, weft_part part,
                                     weft_predictions *out, weft_arena *mem);

/* 1: it can. */
int fed_answers(const fed_task *fed);
/* 1: fed.score is a measure of all validation samples together; sets res->loss to it at the
 * end of a job, of the weights before training. EFILE, EDATA. Collective. */
int fed_is_joint(const fed_task *fed);
WEFT_CHECKED weft_status fed_judge_all(fed_task *fed, const weft_job *job,
                                       const weft_state *state, weft_result *res);

/* How good these answers are, into metric[4] and *confusion, which lasts as the task;
 * nothing where the scores are of some clients or samples alone, of characters, of more
 * than 2^20 samples, or of answers that fed_predict does not give. EFILE, EDATA.
 * Collective. */
WEFT_CHECKED weft_status fed_judge(fed_task *fed, const weft_job *job,
                                   const weft_state *state, weft_part part, double *metric,
                                   const double **confusion);

/* How good are texts of a part that the model writes which each client has before its turn:
 * into those columns of members that are the last two of fed_writing_table, and their means
 * into score[2]; nothing where the network writes none, and of the train part. EFILE,
 * EDATA. Collective. */
WEFT_CHECKED weft_status fed_write(fed_task *fed, const weft_job *job,
                                   const weft_state *state, weft_part part,
                                   weft_members *members, double *score);

/* ---- round.c ---- */

/* Does one round. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_round(fed_task *fed, const weft_job *job,
                                   fed_trial_state *trial, double *row, weft_arena *tmp);
/* Virtual seconds of the rounds of a job whose weights have had `before` rounds, as
 * weft_task.timing.seconds. It is exact for one configuration, because the behaviour of
 * devices is known when a cohort is drawn; for a mixture it is a lower bound, with the
 * fastest configuration for each client. Cost O(rounds cohort). */
double fed_seconds(const void *self, const weft_job *job, double before);
/* Operations where no device has a speed or delay, so that all rounds last equally long. */
weft_price fed_price(const void *self);

#endif

/* The course of a round, in the order in which its files take part, and what each may
 * change. The task itself does not change between rounds, but for its workspace, fed->work,
 * which has nothing that outlasts a turn but the sums, and fed->told.
 *
 * An update of a client is made by follow, train_here and algorithms' `end` (local.c; in
 * lanes `train`, lanes.c; by a worker read_weights, answer.c), weighed by weight_of
 * (round.c), takes the steps of fed_upload (upload.c), is divided by fed_divisor, added by
 * fed_visiting_end (local.c; in lanes `add`), and is applied, as a mean, by move_server
 * (round.c). */
#ifndef WEFT_TASK_FED_ROUND_H
#define WEFT_TASK_FED_ROUND_H

#include "fed.h"

/* ---- cohort.c: who takes part, and which rank trains whom. Changes the cohort, and in
 * fed_keep_write what clients keep ---- */

/* The clients that fed.new_clients keeps out of training, keyed by seed and client, and the
 * others, into fed->fresh and fed->old. */
void fed_divide(fed_task *fed);
/* Rows of n clients: the first rank has those of all, others of their own. */
typedef struct fed_keep {
    int64_t n;
    int64_t *client; /* [n] in the order of ranks */
    int64_t *of;     /* [n] their places among the clients */
    size_t *bytes;   /* [size] of each rank */
    real *all, *own; /* rows in that order: on the first rank, and those of this rank */
    real **row; /* [n] of each client, in their own order; NULL: it is of another rank */
} fed_keep;

/* Clients that take part together, in a round or an evaluation. */
typedef struct fed_cohort {
    fed_turn turn; /* of each */
    int64_t trial;
    weft_mix mix; /* from which each draws its configuration */
    int64_t n;
    fed_client *client;      /* [n] */
    fed_client_result *told; /* [n] */
    int *pick;               /* [n][nblock] entries of the mixture that it drew */
    fed_keep keep;           /* what they keep */
} fed_cohort;
/* With memory for up to `most` clients. */
fed_cohort fed_cohort_new(const fed_task *fed, const fed_turn *turn, int64_t trial,
                          const weft_mix *mix, int64_t most, weft_arena *mem);
/* Takes the n clients number[first ..], NULL: first and following of all. Their draws are
 * keyed by trial, round and, in a round, the place in it, else the client. */
void fed_cohort_fill(const fed_task *fed, fed_cohort *cohort, int64_t n,
                     const int64_t *number, int64_t first);
/* The draw of one of them, by that key, of the entries pick[nblock]; fills client->conf. */
void fed_draw_configuration(const fed_task *fed, const fed_cohort *cohort, uint64_t key,
                            int *pick, fed_client *client);
/* Their turns from a state's x. */
fed_turns fed_turns_of(const fed_cohort *cohort, const real *from);
/* Draws m clients of a group into client[m], with replacement or (m <= group->n) without,
 * keyed by `round`. */
void fed_draw(const fed_task *fed, const fed_group *group, uint64_t round, int64_t m,
              int replacement, int64_t *client, weft_arena *tmp);
/* Assigns a rank to each client that is not lost: the most expensive first, each to
 * the rank with the least work so far. */
void fed_deal(const fed_task *fed, fed_cohort *cohort);
/* The options of client->conf, into client->options and client->special. */
void fed_configure(const fed_task *fed, fed_client *client);
/* Sets fed->size: means over a few thousand clients if there are more. */
void fed_measure(fed_task *fed);
/* Sets the numbers of samples that the client trains on and scores. */
void fed_size(const fed_task *fed, const fed_turn *turn, fed_client *client);
/* Bytes of a rank for the rows of n clients; of a cohort, and where each client's is. */
double fed_keep_bytes(const fed_task *fed, int64_t n);
double fed_keep_memory(const fed_task *fed);
/* Says what that takes; ELIMIT: too much. */
WEFT_CHECKED weft_status fed_keep_check(const fed_task *fed);
/* Reads the rows of a cohort on the first rank. EFILE. Collective. */
WEFT_CHECKED weft_status fed_keep_read(const fed_task *fed, const weft_kept *kept,
                                       fed_cohort *cohort);
/* Sends each to the rank that has the client. Collective. */
void fed_keep_send(const fed_task *fed, const fed_keep *keep);
/* Sends them back, and writes those of the clients that are neither lost nor diverged; sets
 * the mark of what is kept then. EFILE. Collective. */
WEFT_CHECKED weft_status fed_keep_write(const fed_task *fed, weft_kept *kept, double *mark,
                                        const fed_cohort *cohort);
/* Distributes the results of a cohort's turns to all ranks, and sums wire[head] over ranks
 * in the same collective; wire must have room for fed_room further numbers. Status as
 * weft_agree. Collective. */
WEFT_CHECKED weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire,
                                      int64_t head, const fed_cohort *cohort);
int64_t fed_room(const fed_task *fed, int64_t n);

/* ---- turns.c: turns of clients that start from the same weights. They change the
 * workspace and, of the cohort, the results and rows of those clients ---- */

/* Does the turns that are assigned to this rank and are not lost, with scratch work.tmp.
 * EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_take_turns(fed_task *fed, const fed_turns *turns);

/* ---- local.c: the turn of one client ---- */

/* Does the turn of client j, and adds its change to the sums. next: as of fed_worker_turn.
 * EFILE, EDATA, EWORKER, WEFT_STOP. */
WEFT_CHECKED weft_status fed_visit_take(fed_task *fed, const fed_turns *turns, int64_t j,
                                        int64_t next);
/* What the algorithm needs of a client with these options; special NULL: the defaults. */
weft_amounts fed_amounts(const fed_task *fed, const void *special, int epochs);
/* What its device is asked to do, and the number of steps of its training. */
weft_work fed_work_of(const fed_task *fed, const fed_client *client);
int64_t fed_steps(const fed_client *client);
/* By what its change is divided before it is averaged. */
double fed_divisor(const fed_task *fed, const fed_client *client);
/* Largest magnitude of what it adds to further sums, from the state x and its row, in which
 * a first turn begins. */
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
/* visit.loss of a turn in a round, where the algorithm needs it. */
void fed_visiting_loss(fed_visiting *visiting);
/* Its model before its turn: visit.w, or the server's weights. */
const real *fed_visiting_model(fed_visiting *visiting);
/* After courses: the client diverged if its change or what it keeps is too large. */
void fed_visiting_check(const fed_visiting *visiting);
/* Counts the turn in the row, and adds the change to the sums. */
void fed_visiting_end(fed_visiting *visiting);

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

/* ---- lanes.c: the same of several clients at once, one per vector lane ---- */

/* With batches of up to `batch`; NULL: not possible with this network, its size or these
 * data. */
fed_lanes *fed_lanes_new(const fed_task *fed, int batch, weft_arena *mem);
/* 1: the client can take its turn in a lane. */
int fed_lanes_take(const fed_task *fed, const fed_turn *turn, const fed_client *client);
/* 1: groups of n > 0 such clients are trained faster in lanes than one by one. */
int fed_lanes_pay(const fed_task *fed, int64_t n);
/* Sets the weights that turns start from, */
void fed_lanes_begin(const fed_task *fed, const real *from);
/* and does those of the n clients which[], at most as many as there are lanes, at once.
 * EFILE, EDATA. */
WEFT_CHECKED weft_status fed_lanes_visit(fed_task *fed, const fed_turns *turns, int n,
                                         const int64_t *which);

/* ---- worker.c: the same by a worker, fed.model = worker. Changes the worker, the
 * workspace and the result ---- */

/* fed->net, by its name; ECONF. */
WEFT_CHECKED weft_status fed_net_find(fed_task *fed);
/* 1: workers train the clients. */
int fed_worker_trains(const fed_task *fed);
/* Starts this rank's worker and asks what it has: sets fed->model, fed->env.data and
 * fed->balance.worst. ECONF, EDATA; EFILE; EWORKER. Collective. */
WEFT_CHECKED weft_status fed_worker_begin(fed_task *fed);
/* Does the turn of client j: work.g has the change of all weights. With turns->course it
 * does that, whose w, which may be turns->from, then has the weights. A worker that fails
 * is started again, worker.retries times. next: the turn of the next call, -1: not known; a
 * worker that reads ahead is sent it before its answer to j is awaited. If that call does
 * not come, fed_worker_drop is to be called. EDATA: its answer is wrong; EWORKER,
 * WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status fed_worker_turn(fed_task *fed, const fed_turns *turns, int64_t j,
                                         int64_t next);
/* Means of its own metrics in the last round, as "name=value name=value", or NULL. */
const char *fed_worker_note(const fed_task *fed);
/* Ends this rank's worker, which the next turn starts again. */
void fed_worker_drop(fed_task *fed);
/* weft_task.remote.repeats of three turns, by workers that are started again in between. */
WEFT_CHECKED weft_status fed_worker_repeats(void *self, const char *place,
                                            const char **told);
/* Of a run: repeats one turn, once, and warns if its bits differ. Collective. */
WEFT_CHECKED weft_status fed_worker_try(fed_task *fed);

/* ---- answer.c: what a worker says. Changes what worker.c does ---- */

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
/* The first word of a turn that is needed, and not known, as WEFT_NEEDS_..., or NULL. */
const char *fed_word_missing(int needs, int knows);

/* What was asked. */
typedef struct fed_asked {
    weft_link *link;
    const fed_described *described;
    int64_t turn;       /* its number */
    const float *given; /* [nweight] where the worker writes weights */
} fed_asked;

/* Reads the line into told[j], the change of the weights into work.g, and those after
 * training into the course's w. EDATA: it is no answer to the turn; ends the worker. */
WEFT_CHECKED weft_status fed_answer_read(const fed_task *fed, const fed_turns *turns,
                                         int64_t j, const fed_asked *asked,
                                         const char *line);

/* ---- score.c: samples in batches, and their scores. Changes the result ---- */

/* order[take] = the beginning of a shuffle of 0 .. n-1, keyed by round, client, epoch. */
void fed_shuffle(const fed_task *fed, const fed_turn *turn, int64_t client, int epoch,
                 int64_t n, int64_t take, int64_t *order);
/* Between batches or turns. WEFT_STOP: the unit is to be left before its end. */
WEFT_CHECKED weft_status fed_look(fed_task *fed);
/* A batch of samples at[n], in the workspace's tables; own: of the weights, NULL: all. */
weft_batch fed_batch_of(const fed_task *fed, const fed_own *own,
                        const weft_samples *samples, const int64_t *at, int n);
/* Scores client->valid samples, evenly spread over all; own: of which weights w is, NULL:
 * all. */
void fed_score_model(const fed_task *fed, const real *w, const fed_own *own,
                     const weft_samples *samples, const fed_client *client,
                     const fed_turn *turn, int stage, fed_client_result *out);
/* The next batch of [first, end) of `count` samples that are evenly spread over all. */
weft_batch fed_batch_from(const fed_task *fed, const fed_own *own,
                          const weft_samples *samples, int64_t first, int64_t end,
                          int64_t count);
/* Index of the i-th of `count` samples that are scored, evenly spread over n. */
int64_t fed_spread(int64_t i, int64_t count, int64_t n);
/* The result of a stage, FED_BEFORE or FED_AFTER, of which the mean loss is at most
 * turn->most, also if it is not a number. */
void fed_settle_score(weft_score sum, const fed_turn *turn, int stage,
                      fed_client_result *out);
/* The worst possible score after training, of as many predictions as before it. */
void fed_settle_failure(const fed_task *fed, const fed_client *client, const fed_turn *turn,
                        fed_client_result *out);
/* weight[label] of each sample of a batch. */
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
/* As fed_score_model, by the weights w[nweight] and the neighbours among the client's
 * training samples; FED_AFTER of out. EFILE, EDATA, WEFT_STOP. */
WEFT_CHECKED weft_status fed_neighbours_score(fed_task *fed, const real *w,
                                              const fed_client *client,
                                              const fed_turn *turn, fed_client_result *out);
/* Of an average client: operations beside those of its scores; the largest memory. */
double fed_neighbours_flops(const fed_task *fed);
double fed_neighbours_bytes(const fed_task *fed);

/* ---- trial.c: the state of a trial between rounds, and its scores. Changes the state
 * behind the weights, and the job's result ---- */

/* Number of doubles in the state after a job of k configurations. */
int64_t fed_trial_size(const fed_task *fed, int k);
/* Initialises a state as one that belongs to no trial yet. */
void fed_trial_start(const fed_task *fed, weft_state *state);
/* The parts of a state; first those of a job are set to zero, more if it is of another
 * trial. */
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
 * of told[n], at least one, with the worst scores; equal ones in their order. */
void fed_sums_worst(const fed_task *fed, fed_score_sums *sums, int64_t n,
                    const fed_client_result *told, weft_arena *tmp);
/* Mean score of the clients summed, NAN if there are none, and half of its 95 % interval
 * for all clients; INFINITY: not known. For sums over several rounds it is for the mean,
 * over these, of the scores that all clients would have had, not for the last weights. */
weft_interval fed_sums_score(const fed_score_sums *sums, weft_population all);
/* metric[2]: the means of loss and error before or after training. */
void fed_sums_means(const fed_score_sums *sums, int stage, double *metric);
/* Fills the rest of the job's result; `eval`: of the last evaluation, n = 0: none. */
void fed_trial_result(const fed_task *fed, const weft_job *job,
                      const fed_trial_state *trial, const fed_score_sums *eval);

/* ---- eval.c: weights and the models of clients on all clients, or some. Changes no state
 * ---- */

/* Arguments of an evaluation. */
typedef struct fed_evaluation {
    weft_part part;
    int64_t clients; /* number of clients; 0, or more than there are: all */
    int fresh;       /* 1: of those kept out of training, after fed.new_epochs */
    int personal;    /* 1: clients are also scored after local training */
    uint64_t round;  /* of the trial, which keys the noise of section [privacy] */
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

/* weft_task.winner.predict: of all samples of a part, client after client, by the model
 * that each has before its turn. The note says how many were never trained, known to the
 * first rank. ECONF: the network answers no single rows; EFILE, EDATA. Collective. */
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
/* How good these answers are, by weft_scores_judge, if scores are of all clients and
 * samples, up to 2^20 ones. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_judge(fed_task *fed, const weft_job *job,
                                   const weft_state *state, weft_part part,
                                   weft_scores *out);
/* How good are texts of a part that the model writes which each client has before its turn:
 * into the last two columns of members, and their means into score[2]; nothing where the
 * network writes none, and of the train part. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_write(fed_task *fed, const weft_job *job,
                                   const weft_state *state, weft_part part,
                                   weft_members *members, double *score);

/* ---- round.c: all of it. Changes the state, and the job's result ---- */

/* Does one round. EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_round(fed_task *fed, const weft_job *job,
                                   fed_trial_state *trial, double *row, weft_arena *tmp);
/* weft_task.timing.seconds: exact for one configuration, because the behaviour of devices
 * is known when a cohort is drawn; for a mixture with the fastest configuration for each
 * client. Cost O(rounds cohort). */
double fed_seconds(const void *self, const weft_job *job, double before);

#endif

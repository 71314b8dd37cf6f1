/* Task sgd set up on rows of numbers for a test: a linear network and its trainings.
 * Included by t_sgd_*.c. */
#ifndef WEFT_TESTS_SGD_STAND_H
#define WEFT_TESTS_SGD_STAND_H

#include "measured.h"
#include "scratch.h"

enum { TRAIN = 300, VALID = 97, TEST = 60, ALL = TRAIN + VALID + TEST, D = 4, EPOCHS = 24 };

static const weft_task *const sgd = &weft_task_sgd;

/* ---- data: class 1 is rare, and all that the test part has ---- */

static inline int32_t label_of(int64_t i)
{
    return i >= TRAIN + VALID || i % 10 == 3;
}

static double x[ALL][D], *row_weight; /* [ALL] NULL: all are 1 */
static int32_t label[ALL];

static inline void make_rows(void)
{
    for (int64_t i = 0; i < ALL; i++) {
        double z[4];
        weft_rng4 rng = weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, 0, 0);
        weft_rng_normal(&rng, z);
        label[i] = label_of(i);
        for (int d = 0; d < D; d++) x[i][d] = (float)(z[d] + (d == label[i]));
    }
}

static inline weft_status read_rows(const void *self, const char *source, weft_pack *pack)
{
    static const int64_t rows[WEFT_NPART] = {TRAIN, VALID, TEST};
    (void)self;
    (void)source;
    weft_pack_split(pack, "as made");
    TRY(weft_pack_matrix(pack, WEFT_REALS, D, rows));
    weft_pack_numbered(pack, 2);
    if (row_weight) TRY(weft_pack_weights(pack, row_weight));
    return weft_pack_rows(pack, ALL, x, label);
}

static const weft_opt no_options[] = {{0}};
static const weft_reader rows_reader = {
    .kind = {.name = "rows", .about = "rows", .size = 1, .opts = no_options},
    .read = read_rows};

static weft_data data;

/* ---- a training ---- */

struct training {
    void *self;
    weft_space space;
    weft_mix mix;
    weft_job job;
    weft_state state;
    weft_result res;
    int epochs;          /* rows of fold 0 */
    double loss[EPOCHS]; /* on the development part after each epoch; NAN: not trained */
    double train_loss;   /* of the last epoch */
};

static const char usual[] = "[sgd]\nmodel = linear\nscore = loss\n"
                            "[train]\nbatch = 10\nlr = 0.5\n";

static inline void set_up(struct training *training, const char *options)
{
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    *training = (struct training){.self = weft_arena_alloc(mem, 1, sgd->kind.size)};
    must(read_input(conf, usual, options));
    must(open_on(sgd, training->self, conf, &training->space, &data, 3));
    training->mix = weft_mix_new(1, training->space.dim, mem);
    for (int a = 0; a < training->space.dim; a++)
        training->mix.conf[a] = training->space.axis[a].hi;
    training->job = weft_job_new(0, EPOCHS, &training->mix);
    training->state = weft_state_new(sgd, training->self, &training->job, mem);
    training->res = result_of(sgd, 1);
    sgd->start(training->self, &training->job, &training->state);
}

/* A job that goes on for so many epochs. */
static inline void go_on(struct training *training, int epochs)
{
    training->job.resource = epochs;
    weft_result_begin(&training->res, &training->job);
    for (int64_t u = 0; u < sgd->units(training->self, &training->job); u++) {
        double row[WEFT_MAX_METRICS] = {0};
        must(sgd->step(training->self, &training->job, u, &training->state, row,
                       &training->res));
        if (u < epochs) training->loss[training->epochs++] = in_row(sgd, row, "valid_loss");
        training->train_loss = in_row(sgd, row, "train_loss");
    }
}

static inline struct training trained(const char *options)
{
    struct training training;
    set_up(&training, options);
    go_on(&training, EPOCHS);
    return training;
}

static inline double of(const struct training *training, const char *metric)
{
    return measured(sgd, &training->res, metric);
}

/* The score of a part by the weights that a winner has. */
static inline double scored(struct training *training, weft_part part, const char *metric)
{
    weft_scores scores;
    must(
        sgd->winner.score(training->self, &training->job, &training->state, part, &scores));
    return score_of(sgd, &scores, metric);
}

/* Packs and opens the rows. */
static inline void open_rows(void)
{
    make_rows();
    must(pack(&rows_reader, "nowhere", "rows.h5", ""));
    must(weft_data_open(&data, at("rows.h5"), &world, mem));
}

#endif

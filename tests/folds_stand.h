/* Task fmap with folds on a small table, as t_fmap_folds sets it up. */
#ifndef FOLDS_STAND_H
#define FOLDS_STAND_H

#include "in_memory.h"
#include "measured.h"
#include "results.h"
#include "scratch.h"

enum { ROWS = 180, D = 5, F = 20, K = 3, M = F + 1, MOST = ROWS, SEED = 11 };

static const weft_task *const task = &weft_task_fmap;

/* ---- rows ---- */

/* The rows of the train and valid parts, on every rank. */
struct rows {
    int n, classes;
    double *y;      /* [n][classes] what ridge learns: targets, or +-1 */
    double *weight; /* [n] */
    double *x;      /* [n][D] */
};

static double drawn_number(int i, int j)
{
    return normal_of(5, i, j, 0);
}

/* Columns a to e, a number of the row, a weight, a class. */
static const char *table(void)
{
    char *text = printed("a,b,c,d,e,y,n,k\n");
    for (int i = 0; i < ROWS; i++) {
        double x[D];
        for (int j = 0; j < D; j++) x[j] = drawn_number(i, j);
        text = printed("%s%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%d,%s\n", text, x[0], x[1], x[2],
                       100 * x[3], x[4], 10 + 3 * sin(2 * x[0]) + x[1] * x[2], 1 + i % 3,
                       x[0] + x[1] > 0 ? "up"
                       : i % 2         ? "down"
                                       : "left");
    }
    return write_text("table.csv", text);
}

static void open_table(weft_data *data, const char *options)
{
    const weft_reader *dense;
    must(weft_reader_find("dense", &dense));
    must(pack(dense, table(), "table.h5", options));
    must(weft_data_open(data, at("table.h5"), &world, mem));
}

/* This rank's rows of a part, from row `at` on. */
static void put_part(const weft_data *data, weft_part part, int at, struct rows *rows)
{
    const weft_rows *from = &data->part[part];
    for (int64_t i = 0; i < from->n; i++) {
        int64_t to = at + from->first + i;
        rows->weight[to] = from->weight ? from->weight[i] : 1;
        for (int j = 0; j < D; j++) rows->x[to * D + j] = (double)from->value[i * D + j];
        for (int c = 0; c < rows->classes; c++)
            rows->y[to * rows->classes + c] = from->target
                                                  ? from->target[i * rows->classes + c]
                                              : from->label[i] == c ? 1
                                                                    : -1;
    }
}

static struct rows rows_of(const weft_data *data)
{
    int train = (int)data->part[WEFT_TRAIN].total;
    struct rows rows = {.n = train + (int)data->part[WEFT_VALID].total,
                        .classes = data->classes};
    rows.y = WEFT_NEW(mem, double, rows.n *rows.classes);
    rows.weight = WEFT_NEW(mem, double, rows.n);
    rows.x = WEFT_NEW(mem, double, rows.n *D);
    put_part(data, WEFT_TRAIN, 0, &rows);
    put_part(data, WEFT_VALID, train, &rows);
    weft_join_f64(&world, rows.y, (size_t)(rows.n * rows.classes));
    weft_join_f64(&world, rows.weight, (size_t)rows.n);
    weft_join_f64(&world, rows.x, (size_t)(rows.n * D));
    return rows;
}

/* ---- the task ---- */

struct stand {
    weft_data data;
    struct rows rows;
    void *self;
    weft_conf conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
    int folds;
};

static const char usual[] = "[fmap]\nfeature = rff\nmodel = ridge\nscore = loss\n"
                            "[rff]\nfeatures = 20\nkernel = gaussian | laplacian\n"
                            "gamma = log 0.02 .. 2\npreprocess = none\n"
                            "[ridge]\nalpha = 0.5\ntol = 1e-10\n[space]\nconfigs = 3\n";

/* The task on a table packed by `packing`; k maps of equal probability. */
static weft_status set_up(struct stand *stand, const char *packing, const char *options,
                          int k)
{
    open_table(&stand->data, packing);
    stand->rows = rows_of(&stand->data);
    stand->self = weft_arena_alloc(mem, 1, task->kind.size);
    const char *folds = strstr(options, "fmap.folds=");
    if (folds) stand->folds = atoi(folds + strlen("fmap.folds="));
    TRY(read_input(&stand->conf, usual, options));
    TRY(open_on(task, stand->self, &stand->conf, &stand->space, &stand->data, SEED));
    weft_mix mix = first_configs(&stand->space, k);
    stand->job = weft_job_new(0, 1, &mix);
    stand->res = result_of(task, k);
    stand->state = weft_state_new(task, stand->self, &stand->job, mem);
    return WEFT_OK;
}

static void run(struct stand *stand)
{
    weft_result_begin(&stand->res, &stand->job);
    must(task->step(stand->self, &stand->job, 0, &stand->state, NULL, &stand->res));
}

static struct stand *stand_up(const char *packing, const char *options, int k)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    must(set_up(stand, packing, options, k));
    run(stand);
    digest(weft_hash(stand->state.x, (size_t)stand->state.nx * sizeof(real),
                     result_hash(&stand->res, 0)));
    return stand;
}

#endif

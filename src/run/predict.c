/* `weft predict`: what a run's winner says of each row of other data. */
#include "predictions.h"
#include "use.h"
#include "weft/log.h"
#include "weft/run.h"

#include <string.h>
#include <sys/stat.h>

/* to[row[i]] = from[i] for n rows of `bytes` each, owned by mem. */
static void *place(int64_t n, size_t bytes, const int64_t *row, const void *from,
                   weft_arena *mem)
{
    char *to = weft_arena_alloc(mem, (size_t)n, bytes);
    for (int64_t i = 0; i < n; i++)
        memcpy(to + (size_t)row[i] * bytes, (const char *)from + (size_t)i * bytes, bytes);
    return to;
}

/* Samples of clients in the order of their source. */
static void put_in_order(const weft_data *data, weft_predictions *said, weft_arena *mem)
{
    if (!said->client || !data->row) return;
    said->score = place(said->n, (size_t)said->classes * sizeof *said->score, data->row,
                        said->score, mem);
    said->client = place(said->n, sizeof *said->client, data->row, said->client, mem);
    said->label = place(said->n, sizeof *said->label, data->row, said->label, mem);
}

/* Logs what is to be told of predictions, once. */
static void tell(weft_said_to *to, const char *note)
{
    if (!note || (to->note && strcmp(note, to->note) == 0)) return;
    to->note = weft_arena_text(to->mem, "%s", note);
    weft_log(WEFT_INFO, "%s", note);
}

/* Predicts the rows of a part. Collective. */
static weft_status predict_part(weft_run *run, const weft_winner_at *winner, weft_part part,
                                weft_said_to *to, weft_arena *tmp)
{
    weft_predictions predictions = {0};
    weft_said said = {
        .part = part, .first = run->data.window.first, .predictions = &predictions};
    TRY(weft_winner_says(run, winner, part, &predictions, tmp));
    put_in_order(&run->data, &predictions, tmp);
    said.label = predictions.label;
    if (!said.label && !predictions.translated)
        said.label = weft_data_labels(&run->data, part, tmp);
    if (run->data.target_scale) said.target = weft_targets_of(run, part, tmp);
    int root = run->world->rank == 0;
    if (root) tell(to, predictions.note);
    return weft_agree(root ? weft_said_write(to, &run->data, &said) : WEFT_OK, run->world);
}

/* Reads the names of clients and creates the file, before the first rows. */
static weft_status open(const weft_run *run, weft_said_to *to)
{
    const char **name;
    if (to->opened) return WEFT_OK;
    TRY(weft_member_names(run, &to->clients, &name));
    to->client = run->task->members ? name : NULL;
    return weft_said_open(to);
}

/* Predicts the rows that are open, and ends the file after the last ones. */
static weft_status predict_open(weft_run *run, const weft_winner_at *winner, void *ctx)
{
    weft_said_to *to = ctx;
    int root = run->world->rank == 0;
    if (!run->task->predict)
        return weft_fail(
            WEFT_ECONF,
            "%s: task %s on %s predicts no single rows; `weft eval` scores them",
            winner->run, run->task->kind.name, run->data.path);
    TRY(weft_agree(root ? open(run, to) : WEFT_OK, run->world));
    for (int i = 0; i < WEFT_NPART; i++) {
        weft_arena *tmp = weft_arena_new();
        weft_status st = WEFT_OK;
        if (run->data.part[i].total > 0)
            st = predict_part(run, winner, (weft_part)i, to, tmp);
        weft_arena_free(tmp);
        TRY(st);
    }
    if (!to->last) return WEFT_OK;
    return weft_agree(root ? weft_said_end(to, &run->data) : WEFT_OK, run->world);
}

/* Rows of a window: as many as have 2^20 scores, but 4096 at least, and at most as 128 MB
 * of the file hold. Lines of sentences have no classes, but several translations. */
static int64_t rows_of_window(const char *path, int64_t rows, int64_t classes)
{
    enum { NUMBERS = 1 << 20, LEAST = 1 << 12, BYTES = 1 << 27 };
    struct stat info;
    int64_t most = NUMBERS / (classes > 0 ? classes : NUMBERS), held = rows;
    if (stat(path, &info) == 0 && info.st_size > BYTES)
        held = (int64_t)((double)rows * BYTES / (double)info.st_size) + 1;
    if (most < LEAST) most = LEAST;
    return most < held ? most : held;
}

/* The windows by which a file is predicted, so that memory does not grow with it: one for
 * all rows where these are few, or belong to clients. */
static weft_status windows_of(const char *path, weft_window **window, int64_t *n,
                              weft_arena *mem)
{
    int64_t rows[WEFT_NPART], classes, room = 0;
    TRY(weft_data_sizes(path, rows, &classes, mem));
    int64_t all = rows[WEFT_TRAIN] + rows[WEFT_VALID] + rows[WEFT_TEST],
            most = rows_of_window(path, all, classes);
    *n = 0;
    *window = NULL;
    if (all <= most) {
        *window = WEFT_NEW(mem, weft_window, 1);
        *n = 1;
        return WEFT_OK;
    }
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t first = 0; first < rows[p]; first += most) {
            *window = weft_grow(mem, *window, sizeof **window, *n, &room);
            (*window)[(*n)++] = (weft_window){p, first, most};
        }
    return WEFT_OK;
}

weft_status weft_run_predict(const char *run, const char *data, const char *out,
                             weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_window *window = NULL;
    int64_t n = 0;
    weft_said_to to = {.path = out, .mem = mem};
    weft_status st = weft_agree(windows_of(data, &window, &n, mem), world);
    for (int64_t i = 0; i < n && st == WEFT_OK; i++) {
        const weft_winner_on on = {.data = data, .window = window[i]};
        to.last = i == n - 1;
        st = weft_winner_use(run, &on, world, predict_open, &to);
    }
    weft_said_close(&to);
    weft_arena_free(mem);
    return st;
}

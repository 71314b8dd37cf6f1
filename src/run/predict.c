/* `weft predict`: what a run's winner says of each row of other data, as CSV, a line a row;
 * what networks write as columns with TABs. */
#include "run.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/run/run.h"
#include "weft/space/scores.h"
#include "weft/store/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Where predictions go. */
struct destination {
    const char *path; /* NULL: standard output */
    weft_arena *mem;
    FILE *text; /* standard output, or that of out */
    weft_text out;
    int opened, last; /* 1: it was tried to create it; the rows that follow are the last */
    int begun;        /* 1: it has its head */
    const char *const *client; /* names; NULL: they have none */
    const char *note;          /* that was logged last; NULL: none */
};

/* Rows of a part, as they are written. */
struct said {
    weft_part part;
    int64_t first;                       /* number of the first in its part, from 0 */
    const weft_predictions *predictions; /* in the units of the targets */
    const int32_t *label;                /* [n] */
    const double *target;                /* [n][targets] in their units; NULL: classes */
};

/* ---- CSV ---- */

/* ",WHAT NAME" for each class or target. */
static void print_names(FILE *file, const weft_data *data, const char *what)
{
    WEFT_SCRATCH(tmp);
    for (int k = 0; k < data->classes; k++) {
        putc(',', file);
        weft_csv_text(file, weft_arena_text(tmp, "%s %s", what, data->class_name[k]));
    }
}

static void print_head(FILE *file, const weft_data *data, const struct said *said)
{
    fprintf(file, "%srow%s", data->scored ? "" : "part,",
            said->predictions->client ? ",client" : "");
    if (said->target && !data->unlabelled) print_names(file, data, "label");
    if (!said->target) fprintf(file, "%s,class", data->unlabelled ? "" : ",label");
    print_names(file, data,
                said->target                  ? "value"
                : said->predictions->probable ? "p"
                                              : "score");
    putc('\n', file);
}

static void print_class(FILE *file, const weft_data *data, int32_t class)
{
    putc(',', file);
    weft_csv_text(file, data->class_name[class]);
}

static void print_numbers(FILE *file, int n, const double *x)
{
    char text[WEFT_CSV_NUMBER];
    for (int k = 0; k < n; k++) fprintf(file, ",%s", weft_csv_number(x[k], text));
}

static void print_client(const struct destination *to, int64_t client)
{
    putc(',', to->text);
    if (to->client)
        weft_csv_text(to->text, to->client[client]);
    else
        fprintf(to->text, "%lld", (long long)client);
}

/* The number of a row in its part; of the samples of a federation, whose order is not that
 * of a source, in that of its client, in which the row before had the number `before`. */
static int64_t number_of(const weft_data *data, const struct said *said, int64_t i,
                         int64_t before)
{
    const int64_t *client = said->predictions->client;
    if (!client || data->row) return said->first + i + 1;
    return i > 0 && client[i] == client[i - 1] ? before + 1 : 1;
}

static void print_rows(const struct destination *to, const weft_data *data,
                       const struct said *said)
{
    const weft_predictions *predictions = said->predictions;
    int m = predictions->classes, labelled = !data->unlabelled;
    FILE *file = to->text;
    if (!to->begun) print_head(file, data, said);
    for (int64_t i = 0, number = 0; i < predictions->n; i++) {
        const double *score = predictions->score + i * m;
        number = number_of(data, said, i, number);
        if (!data->scored) fprintf(file, "%s,", weft_part_name[said->part]);
        fprintf(file, "%lld", (long long)number);
        if (predictions->client) print_client(to, predictions->client[i]);
        if (said->target) {
            if (labelled) print_numbers(file, m, said->target + i * m);
        } else {
            if (labelled) print_class(file, data, said->label[i]);
            print_class(file, data, weft_predicted(m, score));
        }
        print_numbers(file, m, score);
        putc('\n', file);
    }
}

/* ---- what networks write ---- */

static void print_written(const struct destination *to, const weft_data *data,
                          const struct said *said)
{
    const weft_predictions *predictions = said->predictions;
    FILE *file = to->text;
    if (!to->begun)
        fprintf(file, "%s%s%s\n", data->scored ? "" : "part\t",
                weft_forms[data->form]->written, data->unlabelled ? "" : "\treference");
    for (int64_t i = 0; i < predictions->n; i++) {
        const weft_written *one = &predictions->written[i];
        if (!data->scored) fprintf(file, "%s\t", weft_part_name[said->part]);
        fprintf(file, "%lld\t%s-%s\t%s\t%s", (long long)one->line, one->source, one->target,
                one->text, one->sentence);
        if (!data->unlabelled) fprintf(file, "\t%s", one->reference ? one->reference : "");
        putc('\n', file);
    }
}

/* ---- the file ---- */

/* Creates the file, which appears when it is complete. EFILE. */
static weft_status open_file(struct destination *to)
{
    to->opened = 1;
    to->text = stdout;
    if (!to->path) return WEFT_OK;
    TRY(weft_text_create(&to->out, to->path, to->mem));
    to->text = to->out.file;
    return WEFT_OK;
}

/* EFILE: text could not be written. */
static weft_status check_written(const struct destination *to)
{
    if (to->path) return weft_text_check(&to->out);
    if (!ferror(to->text)) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write the predictions: %s", strerror(errno));
}

/* Writes rows of the data, those of a part one after the other. EFILE. */
static weft_status write_rows(struct destination *to, const weft_data *data,
                              const struct said *said)
{
    if (said->predictions->written)
        print_written(to, data, said);
    else
        print_rows(to, data, said);
    to->begun = 1;
    return check_written(to);
}

/* Completes the file, which is there from now on. EFILE. */
static weft_status end_file(struct destination *to)
{
    if (to->path) return weft_text_commit(&to->out);
    fflush(to->text);
    return check_written(to);
}

/* ---- predictions ---- */

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

static void log_note(struct destination *to, const char *note)
{
    if (!note || (to->note && strcmp(note, to->note) == 0)) return;
    to->note = weft_arena_text(to->mem, "%s", note);
    weft_log(WEFT_INFO, "%s", note);
}

/* x[n][targets] in the units of the targets. */
static void restore(const weft_data *data, int64_t n, double *x)
{
    int m = data->classes;
    for (int64_t i = 0; i < n * m; i++)
        x[i] = data->target_shift[i % m] + data->target_scale[i % m] * x[i];
}

/* Predicts the rows of a part. Collective. */
static weft_status predict_part(weft_run *run, const weft_winner_at *winner, weft_part part,
                                struct destination *to, weft_arena *tmp)
{
    weft_predictions predictions = {0};
    struct said said = {
        .part = part, .first = run->data.window.first, .predictions = &predictions};
    TRY(run->task->winner.predict(run->task_self, &winner->job, &winner->state, part,
                                  &predictions, tmp));
    put_in_order(&run->data, &predictions, tmp);
    said.label = predictions.label;
    if (!said.label && !predictions.written)
        said.label = weft_data_labels(&run->data, part, tmp);
    if (run->data.target_scale) {
        double *target = weft_data_targets(&run->data, part, tmp);
        restore(&run->data, predictions.n, predictions.score);
        restore(&run->data, run->data.part[part].total, target);
        said.target = target;
    }
    int root = run->world->rank == 0;
    if (root) log_note(to, predictions.note);
    return weft_agree(root ? write_rows(to, &run->data, &said) : WEFT_OK, run->world);
}

/* Reads the names of clients and creates the file, before the first rows. */
static weft_status open_first(const weft_run *run, struct destination *to)
{
    int64_t clients;
    const char **name;
    if (to->opened) return WEFT_OK;
    TRY(weft_member_names(run, &clients, &name));
    to->client = run->task->traits.members ? name : NULL;
    return open_file(to);
}

/* Predicts the rows that are open, and ends the file after the last ones. */
static weft_status predict_open(weft_run *run, const weft_winner_at *winner, void *ctx)
{
    struct destination *to = ctx;
    int root = run->world->rank == 0;
    if (!run->task->winner.predict)
        return weft_fail(
            WEFT_ECONF,
            "%s: task %s on %s predicts no single rows; `weft eval` scores them",
            winner->run, run->task->kind.name, run->data.path);
    TRY(weft_agree(root ? open_first(run, to) : WEFT_OK, run->world));
    for (int i = 0; i < WEFT_NPART; i++) {
        WEFT_SCRATCH(tmp);
        if (run->data.part[i].total > 0)
            TRY(predict_part(run, winner, (weft_part)i, to, tmp));
    }
    if (!to->last) return WEFT_OK;
    return weft_agree(root ? end_file(to) : WEFT_OK, run->world);
}

/* Rows of a window: as many as have 2^20 scores, but 4096 at least, and at most as 128 MB
 * of the file hold. Lines of sentences have no classes. */
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
            WEFT_GROW(mem, *window, *n, &room);
            (*window)[(*n)++] = (weft_window){p, first, most};
        }
    return WEFT_OK;
}

weft_status weft_run_predict(const char *run, const char *data, const char *out,
                             weft_team *world)
{
    WEFT_SCRATCH(mem);
    weft_window *window = NULL;
    int64_t n = 0;
    struct destination to = {.path = out, .mem = mem};
    weft_status st = weft_agree(windows_of(data, &window, &n, mem), world);
    for (int64_t i = 0; i < n && st == WEFT_OK; i++) {
        const weft_winner_on on = {.data = data, .window = window[i]};
        to.last = i == n - 1;
        st = weft_winner_use(run, &on, world, predict_open, &to);
    }
    weft_text_close(&to.out);
    return st;
}

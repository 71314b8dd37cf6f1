/* `weft predict`: what a run's winner says of each row of other data. */
#include "quality.h"
#include "rundir/formats.h"
#include "use.h"
#include "weft/h5.h"
#include "weft/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- CSV ---- */

static void print_text(FILE *file, const char *text)
{
    int plain = strpbrk(text, ",\"\r\n") == NULL;
    if (!plain) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (!plain) putc('"', file);
}

static void print_head(FILE *file, const weft_data *data, int probable)
{
    fprintf(file, "%srow,%sclass", data->scored ? "" : "part,",
            data->unlabelled ? "" : "label,");
    for (int k = 0; k < data->classes; k++) {
        weft_arena *tmp = weft_arena_new();
        putc(',', file);
        print_text(file, weft_arena_text(tmp, "%s %s", probable ? "p" : "score",
                                         data->class_name[k]));
        weft_arena_free(tmp);
    }
    putc('\n', file);
}

/* label: [n] of all rows of the part. */
static void print_rows(FILE *file, const weft_data *data, weft_part part,
                       const weft_predictions *predictions, const int32_t *label)
{
    for (int64_t i = 0; i < predictions->n; i++) {
        const double *score = predictions->score + i * predictions->classes;
        if (!data->scored) fprintf(file, "%s,", weft_part_name[part]);
        fprintf(file, "%lld,", (long long)i + 1);
        if (!data->unlabelled) {
            print_text(file, data->class_name[label[i]]);
            putc(',', file);
        }
        print_text(file, data->class_name[weft_predicted(predictions->classes, score)]);
        for (int k = 0; k < predictions->classes; k++) fprintf(file, ",%.9g", score[k]);
        putc('\n', file);
    }
}

/* ---- HDF5 ---- */

static weft_status put_part(weft_h5 *file, weft_part part,
                            const weft_predictions *predictions, const int32_t *label,
                            int labelled)
{
    int32_t *best = WEFT_NEW(file->mem, int32_t, predictions->n);
    for (int64_t i = 0; i < predictions->n; i++)
        best[i] = weft_predicted(predictions->classes,
                                 predictions->score + i * predictions->classes);
    const char *part_name = weft_part_name[part];
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "/%s/class", part_name), WEFT_H5_I32,
                    1, &predictions->n, best, 0, "class that is predicted of each row",
                    "index into /class"));
    if (labelled)
        TRY(weft_h5_put(file, weft_arena_text(file->mem, "/%s/label", part_name),
                        WEFT_H5_I32, 1, &predictions->n, label, 0, "class of each row",
                        "index into /class"));
    return weft_h5_put(
        file, weft_arena_text(file->mem, "/%s/score", part_name), WEFT_H5_F64, 2,
        (const int64_t[]){predictions->n, predictions->classes}, predictions->score, 0,
        predictions->probable ? "probability of each class"
                              : "score of each class, the largest of that predicted",
        "1");
}

/* ---- all rows ---- */

/* Where predictions go: CSV to text, or HDF5. */
struct sink {
    const char *path; /* NULL: CSV to standard output */
    FILE *text;
    weft_h5 file;
    int is_h5;
};

static weft_status sink_open(struct sink *to, weft_arena *mem)
{
    size_t n = to->path ? strlen(to->path) : 0;
    to->is_h5 = n > 3 && strcmp(to->path + n - 3, ".h5") == 0;
    if (to->is_h5) return weft_h5_create(&to->file, to->path, mem);
    to->text = to->path ? fopen(to->path, "w") : stdout;
    if (to->text) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write %s: %s", to->path, strerror(errno));
}

static weft_status sink_close(struct sink *to, const weft_data *data, weft_status st)
{
    if (to->is_h5) {
        if (st == WEFT_OK)
            st = weft_h5_put_texts(&to->file, "/class", data->class_name, data->classes,
                                   "names of the classes");
        if (st == WEFT_OK)
            st = weft_h5_put_attr(&to->file, "/", "format", WEFT_PREDICTIONS_FORMAT);
        if (st == WEFT_OK) st = weft_h5_commit(&to->file);
        weft_h5_close(&to->file);
        return st;
    }
    if (!to->text) return st;
    int bad = fflush(to->text) != 0 || ferror(to->text);
    if (to->path && fclose(to->text) != 0) bad = 1;
    if (st == WEFT_OK && bad)
        st = weft_fail(WEFT_EFILE, "cannot write %s: %s",
                       to->path ? to->path : "the predictions", strerror(errno));
    return st;
}

static weft_status write_part(struct sink *to, const weft_data *data, weft_part part,
                              int *begun, const weft_predictions *predictions,
                              const int32_t *label)
{
    if (to->is_h5) return put_part(&to->file, part, predictions, label, !data->unlabelled);
    if (!*begun) print_head(to->text, data, predictions->probable);
    *begun = 1;
    print_rows(to->text, data, part, predictions, label);
    return WEFT_OK;
}

static weft_status predict_all(weft_run *run, const weft_winner_at *winner, void *ctx)
{
    struct sink *to = ctx;
    int root = run->world->rank == 0, begun = 0;
    if (!run->task->predict || run->data.clients)
        return weft_fail(
            WEFT_ECONF,
            "%s: task %s on %s predicts no single rows; `weft eval` scores them",
            winner->run, run->task->kind.name, run->data.path);
    weft_status st = weft_agree(root ? sink_open(to, run->mem) : WEFT_OK, run->world);
    for (int i = 0; i < WEFT_NPART && st == WEFT_OK; i++) {
        weft_arena *tmp = weft_arena_new();
        weft_part part = (weft_part)i;
        weft_predictions predictions = {0};
        if (run->data.part[i].total > 0) {
            const int32_t *label = weft_labels_of(run, part, tmp);
            st = run->task->predict(run->task_self, &winner->job, winner->state.x, part,
                                    &predictions, tmp);
            if (st == WEFT_OK && root)
                st = write_part(to, &run->data, part, &begun, &predictions, label);
            st = weft_agree(st, run->world);
        }
        weft_arena_free(tmp);
    }
    return weft_agree(root ? sink_close(to, &run->data, st) : st, run->world);
}

weft_status weft_run_predict(const char *run, const char *data, const char *out,
                             weft_team *world)
{
    struct sink to = {.path = out};
    const weft_winner_on on = {.data = data};
    return weft_winner_use(run, &on, world, predict_all, &to);
}

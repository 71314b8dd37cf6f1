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

/* What is known of the rows of a part: labels, or targets. */
struct known {
    const int32_t *label; /* [n] */
    const double *target; /* [n][targets]; NULL: classes */
};

/* ",WHAT NAME" for each class or target. */
static void print_names(FILE *file, const weft_data *data, const char *what)
{
    weft_arena *tmp = weft_arena_new();
    for (int k = 0; k < data->classes; k++) {
        putc(',', file);
        print_text(file, weft_arena_text(tmp, "%s %s", what, data->class_name[k]));
    }
    weft_arena_free(tmp);
}

static void print_head(FILE *file, const weft_data *data, int probable)
{
    int numbers = data->target_scale != NULL;
    fprintf(file, "%srow", data->scored ? "" : "part,");
    if (numbers && !data->unlabelled) print_names(file, data, "label");
    if (!numbers) fprintf(file, "%s,class", data->unlabelled ? "" : ",label");
    print_names(file, data, numbers ? "value" : probable ? "p" : "score");
    putc('\n', file);
}

static void print_class(FILE *file, const weft_data *data, int32_t class)
{
    putc(',', file);
    print_text(file, data->class_name[class]);
}

static void print_numbers(FILE *file, int n, const double *x)
{
    for (int k = 0; k < n; k++) fprintf(file, ",%.9g", x[k]);
}

static void print_rows(FILE *file, const weft_data *data, weft_part part,
                       const weft_predictions *predictions, const struct known *known)
{
    int m = predictions->classes, labelled = !data->unlabelled;
    for (int64_t i = 0; i < predictions->n; i++) {
        const double *score = predictions->score + i * m;
        if (!data->scored) fprintf(file, "%s,", weft_part_name[part]);
        fprintf(file, "%lld", (long long)i + 1);
        if (known->target) {
            if (labelled) print_numbers(file, m, known->target + i * m);
        } else {
            if (labelled) print_class(file, data, known->label[i]);
            print_class(file, data, weft_predicted(m, score));
        }
        print_numbers(file, m, score);
        putc('\n', file);
    }
}

/* ---- HDF5 ---- */

/* /PART/NAME, [n][m] doubles. */
static weft_status put_numbers(weft_h5 *file, weft_part part, const char *name, int64_t n,
                               int64_t m, const double *x, const char *about,
                               const char *unit)
{
    return weft_h5_put(file,
                       weft_arena_text(file->mem, "/%s/%s", weft_part_name[part], name),
                       WEFT_H5_F64, 2, (const int64_t[]){n, m}, x, 0, about, unit);
}

static weft_status put_targets(weft_h5 *file, weft_part part,
                               const weft_predictions *predictions, const double *target,
                               int labelled)
{
    if (labelled)
        TRY(put_numbers(file, part, "target", predictions->n, predictions->classes, target,
                        "targets of each row [n][targets]", "as in the source"));
    return put_numbers(
        file, part, "value", predictions->n, predictions->classes, predictions->score,
        "numbers that are predicted of each row [n][targets]", "as in the source");
}

static weft_status put_classes(weft_h5 *file, weft_part part,
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
    return put_numbers(
        file, part, "score", predictions->n, predictions->classes, predictions->score,
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
            st = weft_h5_put_texts(&to->file, data->target_scale ? "/target" : "/class",
                                   data->class_name, data->classes,
                                   data->target_scale ? "names of the targets"
                                                      : "names of the classes");
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
                              const struct known *known)
{
    int labelled = !data->unlabelled;
    if (to->is_h5 && known->target)
        return put_targets(&to->file, part, predictions, known->target, labelled);
    if (to->is_h5) return put_classes(&to->file, part, predictions, known->label, labelled);
    if (!*begun) print_head(to->text, data, predictions->probable);
    *begun = 1;
    print_rows(to->text, data, part, predictions, known);
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
            struct known known = {.label = weft_labels_of(run, part, tmp)};
            if (run->data.target_scale) known.target = weft_targets_of(run, part, tmp);
            st = weft_winner_says(run, winner, part, &predictions, tmp);
            if (st == WEFT_OK && root)
                st = write_part(to, &run->data, part, &begun, &predictions, &known);
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

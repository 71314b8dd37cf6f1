/* Predictions as CSV, a line a row, or as HDF5; translations as columns with TABs. */
#include "predictions.h"
#include "rundir/rundir.h"
#include "weft/csv.h"
#include "weft/measure.h"

#include <errno.h>
#include <string.h>

/* ---- CSV ---- */

/* ",WHAT NAME" for each class or target. */
static void print_names(FILE *file, const weft_data *data, const char *what)
{
    weft_arena *tmp = weft_arena_new();
    for (int k = 0; k < data->classes; k++) {
        putc(',', file);
        weft_csv_text(file, weft_arena_text(tmp, "%s %s", what, data->class_name[k]));
    }
    weft_arena_free(tmp);
}

static void print_head(FILE *file, const weft_data *data, const weft_said *said)
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

static void print_client(const weft_said_to *to, int64_t client)
{
    putc(',', to->text);
    if (to->client)
        weft_csv_text(to->text, to->client[client]);
    else
        fprintf(to->text, "%lld", (long long)client);
}

/* The number of a row in its part; of the samples of a federation, whose order is not that
 * of a source, in that of its client, in which the row before had the number `before`. */
static int64_t number_of(const weft_data *data, const weft_said *said, int64_t i,
                         int64_t before)
{
    const int64_t *client = said->predictions->client;
    if (!client || data->row) return said->first + i + 1;
    return i > 0 && client[i] == client[i - 1] ? before + 1 : 1;
}

static void print_rows(const weft_said_to *to, const weft_data *data, const weft_said *said)
{
    const weft_predictions *predictions = said->predictions;
    int m = predictions->classes, labelled = !data->unlabelled;
    FILE *file = to->text;
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

/* ---- translations ---- */

static weft_status print_translations(weft_said_to *to, const weft_data *data,
                                      const weft_said *said)
{
    const weft_predictions *predictions = said->predictions;
    FILE *file = to->text;
    if (to->is_h5)
        return weft_fail(
            WEFT_ECONF,
            "%s: translations are written as text; choose a name that does not "
            "end with .h5",
            to->path);
    if (!to->begun)
        fprintf(file, "%sline\tdirection\ttranslation\tsource%s\n",
                data->scored ? "" : "part\t", data->unlabelled ? "" : "\treference");
    to->begun = 1;
    for (int64_t i = 0; i < predictions->n; i++) {
        const weft_translation *one = &predictions->translated[i];
        if (!data->scored) fprintf(file, "%s\t", weft_part_name[said->part]);
        fprintf(file, "%lld\t%s-%s\t%s\t%s", (long long)one->line, one->source, one->target,
                one->text, one->sentence);
        if (!data->unlabelled) fprintf(file, "\t%s", one->reference ? one->reference : "");
        putc('\n', file);
    }
    return WEFT_OK;
}

/* ---- HDF5 ---- */

/* Adds n rows to /PART/NAME, which is made when the first are there. */
static weft_status put(weft_said_to *to, const weft_said *said, const char *name,
                       weft_h5type type, int64_t width, const void *rows, const char *about,
                       const char *unit)
{
    size_t mark = weft_arena_mark(to->file.mem);
    name = weft_arena_text(to->file.mem, "/%s/%s", weft_part_name[said->part], name);
    if (said->first == 0) TRY(weft_h5_grow(&to->file, name, type, width, about, unit));
    TRY(weft_h5_append(&to->file, name, type, said->predictions->n, rows));
    weft_arena_reset(to->file.mem, mark);
    return WEFT_OK;
}

static weft_status put_targets(weft_said_to *to, const weft_data *data,
                               const weft_said *said)
{
    const weft_predictions *predictions = said->predictions;
    if (!data->unlabelled)
        TRY(put(to, said, "target", WEFT_H5_F64, predictions->classes, said->target,
                "targets of each row [n][targets]", "as in the source"));
    return put(to, said, "value", WEFT_H5_F64, predictions->classes, predictions->score,
               "numbers that are predicted of each row [n][targets]", "as in the source");
}

static weft_status put_classes(weft_said_to *to, const weft_data *data,
                               const weft_said *said)
{
    const weft_predictions *predictions = said->predictions;
    int m = predictions->classes;
    weft_arena *tmp = weft_arena_new();
    int32_t *best = WEFT_NEW(tmp, int32_t, predictions->n);
    for (int64_t i = 0; i < predictions->n; i++)
        best[i] = weft_predicted(m, predictions->score + i * m);
    weft_status st = put(to, said, "class", WEFT_H5_I32, 0, best,
                         "class that is predicted of each row", "index into /class");
    weft_arena_free(tmp);
    TRY(st);
    if (!data->unlabelled)
        TRY(put(to, said, "label", WEFT_H5_I32, 0, said->label, "class of each row",
                "index into /class"));
    return put(to, said, "score", WEFT_H5_F64, m, predictions->score,
               predictions->probable ? "probability of each class"
                                     : "score of each class, the largest of that predicted",
               "1");
}

static weft_status put_rows(weft_said_to *to, const weft_data *data, const weft_said *said)
{
    if (said->predictions->client)
        TRY(put(to, said, "client", WEFT_H5_I64, 0, said->predictions->client,
                "client of each row", to->client ? "index into /client" : "number"));
    return said->target ? put_targets(to, data, said) : put_classes(to, data, said);
}

/* What the numbers of classes and clients mean. */
static weft_status put_meaning(weft_said_to *to, const weft_data *data)
{
    int numbers = data->target_scale != NULL;
    TRY(weft_h5_put_texts(&to->file, numbers ? "/target" : "/class", data->class_name,
                          data->classes,
                          numbers ? "names of the targets" : "names of the classes"));
    if (to->client)
        TRY(weft_h5_put_texts(&to->file, "/client", to->client, to->clients,
                              "names of the clients"));
    TRY(weft_h5_put_attr(&to->file, "/", "format", WEFT_PREDICTIONS_FORMAT));
    return weft_h5_commit(&to->file);
}

/* ---- both ---- */

weft_status weft_said_open(weft_said_to *to)
{
    size_t n = to->path ? strlen(to->path) : 0;
    to->is_h5 = n > 3 && strcmp(to->path + n - 3, ".h5") == 0;
    to->opened = 1;
    if (to->is_h5) return weft_h5_create(&to->file, to->path, to->mem);
    to->text = stdout;
    if (!to->path) return WEFT_OK;
    TRY(weft_text_create(&to->out, to->path, to->mem));
    to->text = to->out.file;
    return WEFT_OK;
}

/* EFILE: text could not be written. */
static weft_status check_written(const weft_said_to *to)
{
    if (to->path) return weft_text_check(&to->out);
    if (!ferror(to->text)) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "cannot write the predictions: %s", strerror(errno));
}

weft_status weft_said_write(weft_said_to *to, const weft_data *data, const weft_said *said)
{
    if (to->is_h5 && !said->predictions->translated) return put_rows(to, data, said);
    if (said->predictions->translated) {
        TRY(print_translations(to, data, said));
    } else {
        if (!to->begun) print_head(to->text, data, said);
        to->begun = 1;
        print_rows(to, data, said);
    }
    return check_written(to);
}

weft_status weft_said_end(weft_said_to *to, const weft_data *data)
{
    if (to->is_h5) return put_meaning(to, data);
    if (to->path) return weft_text_commit(&to->out);
    fflush(to->text);
    return check_written(to);
}

void weft_said_close(weft_said_to *to)
{
    if (to->is_h5) weft_h5_close(&to->file);
    weft_text_close(&to->out);
}

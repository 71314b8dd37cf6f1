/* `weft info`: the contents of an HDF5 file of weft: a packed data set, a run, a winner. Of
 * a federation the form of samples, their number per client, and how much the class
 * frequencies of clients differ from those of all. Sizes are read for at most a million
 * clients and labels for a thousand, so that the time is bounded. */
#include "report.h"
#include "rundir/rundir.h"
#include "weft/base/base.h"
#include "weft/data/table.h"
#include "weft/par/par.h"
#include "weft/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DATA_FORMAT "weft data"
#define MAX_SIZES   1000000 /* largest number of clients whose sizes are read */
#define MAX_CLIENTS 1000    /* whose labels are read */

/* ---- sizes of clients ---- */

/* A line of the table of sizes; sorts size[n], which are of all clients or of some. */
static void print_sizes(const char *name, int64_t sum, double mean, int64_t n,
                        int64_t *size)
{
    static const double quantile[] = {0, 0.1, 0.5, 0.9, 1};
    double square = 0;
    for (int64_t c = 0; c < n; c++)
        square += ((double)size[c] - mean) * ((double)size[c] - mean);
    weft_sort_i64(n, size);
    printf("%-16s %10lld %10.2f %10.2f", name, (long long)sum, mean,
           sqrt(square / (double)n));
    for (int i = 0; i < 5; i++) {
        int64_t rank = (int64_t)ceil(quantile[i] * (double)n); /* nearest rank, from 1 */
        printf(" %8lld", (long long)size[rank > 0 ? rank - 1 : 0]);
    }
    printf("\n");
}

static void print_all_sizes(const weft_clients *clients, weft_arena *mem)
{
    int64_t n = clients->n < MAX_SIZES ? clients->n : MAX_SIZES;
    printf("%-16s %10s %10s %10s %8s %8s %8s %8s %8s\n", "client's samples", "sum", "mean",
           "std", "min", "10 %", "50 %", "90 %", "max");
    int64_t *size = WEFT_NEW(mem, int64_t, n), *all = WEFT_NEW(mem, int64_t, n), sum = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        for (int64_t i = 0; i < n; i++) {
            size[i] = weft_client_count(clients, i * (clients->n / n), (weft_part)p);
            all[i] += size[i];
        }
        int64_t total = clients->size[p].total;
        sum += total;
        print_sizes(weft_part_name[p], total, (double)total / (double)clients->n, n, size);
    }
    print_sizes("all", sum, (double)sum / (double)clients->n, n, all);
    if (n < clients->n)
        printf("std and what follows it: of %lld clients spread evenly over all\n",
               (long long)n);
}

/* ---- classes of clients ---- */

/* Half the sum of |share of a class in the client - in all clients|; *has counts classes.
 */
static double distance(const weft_histograms *histograms, int64_t client, int *has)
{
    const int64_t *count = histograms->count + client * histograms->n;
    double n = 0, all = 0, sum = 0;
    for (int c = 0; c < histograms->n; c++) {
        n += (double)count[c];
        all += (double)histograms->all[c];
        *has += count[c] > 0;
    }
    for (int c = 0; c < histograms->n && n > 0; c++)
        sum += fabs((double)count[c] / n - (double)histograms->all[c] / all);
    return sum / 2;
}

/* How unlike the clients are. */
static weft_status print_client_classes(const weft_data *data)
{
    weft_histograms histograms;
    double far = 0, classes = 0;
    int64_t clients = 0; /* with samples */
    TRY(weft_histograms_read(data, MAX_CLIENTS, &histograms));
    for (int64_t i = 0; i < histograms.clients; i++) {
        int has = 0;
        far += distance(&histograms, i, &has);
        classes += has;
        clients += has > 0;
    }
    printf("\n%-16s %.3f between the classes of a client and all, total variation, 0 to 1; "
           "%.1f classes a client: means of %lld clients\n\n",
           "distance", far / (double)clients, classes / (double)clients,
           (long long)clients);
    return WEFT_OK;
}

/* ---- the federation ---- */

static void print_client_sample(const weft_data *data)
{
    const weft_clients *clients = weft_clients_of(data);
    printf("%-9s %lld\n", "clients", (long long)clients->n);
    if (clients->channels > 0)
        printf("%-9s image of %d x %d x %d, %d classes\n", "sample", clients->channels,
               clients->height, clients->width, data->classes);
    else if (data->form == WEFT_CHARS)
        printf("%-9s window of %lld characters of an alphabet of %d, stride %lld, gap of "
               "%lld windows\n",
               "sample", (long long)clients->d, clients->symbols,
               (long long)clients->stride, (long long)clients->gap);
    else if (data->form == WEFT_TOKENS)
        printf("%-9s document, %d classes\n", "sample", data->classes);
    else
        printf("%-9s %lld numbers, %d classes\n", "sample", (long long)clients->d,
               data->classes);
}

/* Prints what is known of the clients of a packed federation: how many, their samples, how
 * their classes differ. EFILE, EDATA. Cost O(clients), and at most a thousand clients
 * read. */
static weft_status print_federation(const char *path, weft_arena *mem)
{
    weft_team self = weft_team_alone();
    weft_data data;
    TRY(weft_data_open(&data, path, &self, mem));
    print_client_sample(&data);
    print_all_sizes(weft_clients_of(&data), mem);
    weft_status st = print_client_classes(&data);
    weft_data_close(&data);
    return st;
}

/* ---- packed data ---- */

static const char *one_line(const weft_h5 *file, const char *text)
{
    return weft_one_line(weft_arena_text(file->mem, "%s", text));
}

static weft_status print_attr(weft_h5 *file, const char *title, const char *object,
                              const char *key)
{
    const char *text = NULL;
    TRY(weft_h5_find_attr(file, object, key, &text));
    if (text) printf("%-9s %s\n", title, one_line(file, text));
    return WEFT_OK;
}

/* A line for each decision that was taken when the data were packed. */
static weft_status print_decided(weft_h5 *file)
{
    const char *text = "";
    TRY(weft_h5_find_attr(file, "/", "decided", &text));
    for (const char *title = "decided"; *text != '\0'; title = "") {
        int n = (int)strcspn(text, "\n");
        printf("%-9s %.*s\n", title, n, text);
        text += n + (text[n] == '\n');
    }
    return WEFT_OK;
}

static weft_status print_sample(weft_h5 *file)
{
    int64_t d, c, h, w;
    TRY(weft_h5_read_long(file, "/", "columns", &d));
    if (weft_h5_has(file, "/@channels")) {
        TRY(weft_h5_read_long(file, "/", "channels", &c));
        TRY(weft_h5_read_long(file, "/", "height", &h));
        TRY(weft_h5_read_long(file, "/", "width", &w));
        printf("%-9s image of %lld x %lld x %lld\n", "sample", (long long)c, (long long)h,
               (long long)w);
    } else if (d > 0) {
        printf("%-9s %lld numbers\n", "sample", (long long)d);
    }
    return WEFT_OK;
}

/* The columns that are stored shifted and scaled. */
static weft_status print_moved(weft_h5 *file)
{
    enum { MOST = 8 };
    const double *shift, *scale;
    const char **name = NULL;
    int64_t d, n = 0, moved = 0;
    TRY(weft_h5_read_long(file, "/", "columns", &d));
    TRY(weft_shifts_read(file, "", d, &shift, &scale));
    if (weft_h5_has(file, "/column")) TRY(weft_h5_read_texts(file, "/column", &name, &n));
    for (int64_t j = 0; shift && j < d; j++) {
        if (!(fabs(shift[j]) > 0) && !(scale[j] < 1) && !(scale[j] > 1)) continue;
        if (moved++ >= MOST) continue;
        const char *number = weft_arena_text(file->mem, "%lld", (long long)j + 1);
        printf("%-9s column %s is %.17g + %.17g x\n", "",
               j < n ? one_line(file, name[j]) : number, shift[j], scale[j]);
    }
    if (moved > MOST) printf("%-9s ... %lld more\n", "", (long long)(moved - MOST));
    return WEFT_OK;
}

static weft_status print_table(weft_h5 *file)
{
    const weft_columns *columns;
    TRY(weft_columns_read(file, "", &columns));
    if (columns) weft_columns_print(columns);
    return WEFT_OK;
}

/* One line per tokenizer: its tokens in each part, and how many are distinct. */
static weft_status print_tokens(weft_h5 *file)
{
    printf("%-16s", "tokens");
    for (int p = 0; p < WEFT_NPART; p++) printf(" %10s", weft_part_name[p]);
    printf(" %10s\n", "distinct");
    for (int t = 0; t < WEFT_NTOK; t++) {
        int64_t n[WEFT_NPART + 1];
        for (int p = 0; p <= WEFT_NPART; p++) {
            const char *set =
                p < WEFT_NPART
                    ? weft_arena_text(file->mem, "/%s/%s/token", weft_part_name[p],
                                      weft_tok_name[t])
                    : weft_arena_text(file->mem, "/vocab/%s/hash", weft_tok_name[t]);
            TRY(weft_h5_length(file, set, &n[p]));
        }
        printf("%-16s", weft_tok_name[t]);
        for (int p = 0; p <= WEFT_NPART; p++) printf(" %10lld", (long long)n[p]);
        printf("\n");
    }
    return WEFT_OK;
}

/* Reads the rows of each of n classes in each part: count[WEFT_NPART][n]. EFILE where they
 * are no numbers of rows. */
static weft_status read_counts(weft_h5 *file, int64_t n, int64_t *count)
{
    const int64_t most = INT64_MAX / (n > 0 ? n : 1);
    for (int p = 0; p < WEFT_NPART; p++) {
        const char *set = weft_arena_text(file->mem, "/%s/count", weft_part_name[p]);
        TRY(weft_h5_read_rows(file, set, WEFT_H5_I64, 1, 0, n, count + p * n));
        for (int64_t c = 0; c < n; c++)
            if (count[p * n + c] < 0 || count[p * n + c] > most)
                return weft_fail(WEFT_EFILE,
                                 "%s of %s says that class %lld has %lld rows; make the "
                                 "file again",
                                 set, file->path, (long long)c,
                                 (long long)count[p * n + c]);
    }
    return WEFT_OK;
}

/* One line per class: its name and its rows in each part. */
static weft_status print_classes(weft_h5 *file)
{
    enum { MOST = 100 };
    const char **name;
    int64_t n;
    TRY(weft_h5_read_texts(file, "/class", &name, &n));
    int64_t *count = WEFT_NEW(file->mem, int64_t, WEFT_NPART * n);
    TRY(read_counts(file, n, count));
    printf("%-16s", "class");
    for (int p = 0; p < WEFT_NPART; p++) printf(" %10s", weft_part_name[p]);
    int64_t all[WEFT_NPART] = {0}, shown = n <= MOST ? n : MOST;
    for (int64_t c = 0; c < n; c++) {
        for (int p = 0; p < WEFT_NPART; p++) all[p] += count[p * n + c];
        if (c >= shown) continue;
        printf("\n%-16s", one_line(file, name[c]));
        for (int p = 0; p < WEFT_NPART; p++) printf(" %10lld", (long long)count[p * n + c]);
    }
    if (shown < n) printf("\n... %lld more", (long long)(n - shown));
    printf("\n%-16s", "all");
    for (int p = 0; p < WEFT_NPART; p++) printf(" %10lld", (long long)all[p]);
    printf("\n");
    return WEFT_OK;
}

/* A line for each number that is predicted, and the rows of each part, in place of
 * classes. */
static weft_status print_targets(weft_h5 *file)
{
    const char **name;
    const double *shift, *scale;
    int64_t n;
    TRY(weft_h5_read_texts(file, "/class", &name, &n));
    TRY(weft_shifts_read(file, "/target", n, &shift, &scale));
    for (int64_t k = 0; shift && k < n; k++)
        printf("%-9s %s, %.6g +- %.6g in the training rows\n", k == 0 ? "target" : "",
               one_line(file, name[k]), shift[k], scale[k]);
    printf("%-9s", "rows");
    for (int p = 0; p < WEFT_NPART; p++) {
        const char *set = weft_arena_text(file->mem, "/%s/target", weft_part_name[p]);
        TRY(weft_h5_length(file, set, &n));
        printf("%s %lld %s", p > 0 ? "," : "", (long long)n, weft_part_name[p]);
    }
    printf("\n");
    return WEFT_OK;
}

static weft_status print_sources(weft_h5 *file)
{
    enum { MOST = 8 };
    const char **line;
    int64_t n;
    TRY(weft_h5_read_texts(file, "/source", &line, &n));
    for (int64_t i = 0; i < n && i < MOST; i++)
        printf("%-9s %s\n", i ? "" : "files", one_line(file, line[i]));
    if (n > MOST) printf("%-9s ... %lld more\n", "", (long long)(n - MOST));
    return WEFT_OK;
}

/* What its form prints. */
static weft_status print_form(weft_h5 *file, const weft_form_traits *form)
{
    weft_team self = weft_team_alone();
    weft_data data;
    TRY(weft_data_open(&data, file->path, &self, file->mem));
    form->print(&data);
    weft_data_close(&data);
    return WEFT_OK;
}

/* Rows or documents, or clients that have them. */
static weft_status print_rows(weft_h5 *file)
{
    if (weft_h5_has(file, "/@clients") || weft_h5_has(file, "/@owners"))
        TRY(print_federation(file->path, file->mem));
    else
        TRY(print_sample(file));
    if (weft_h5_has(file, "/@groups")) {
        int64_t groups;
        TRY(weft_h5_read_long(file, "/", "groups", &groups));
        printf("%-9s %lld, each in one part, or fold\n", "groups", (long long)groups);
    }
    if (weft_h5_has(file, "/shift")) TRY(print_moved(file));
    TRY(print_table(file));
    if (weft_h5_has(file, "/train/count")) TRY(print_classes(file));
    if (weft_h5_has(file, "/target")) TRY(print_targets(file));
    if (weft_h5_has(file, "/vocab")) TRY(print_tokens(file));
    return WEFT_OK;
}

static weft_status print_data(weft_h5 *file)
{
    static const char *const keys[] = {"form",      "reader", "source",    "options",
                                       "partition", "split",  "generator", "digest"};
    const char *group;
    weft_form form;
    TRY(weft_h5_sealed(file));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        TRY(print_attr(file, keys[i], "/", keys[i]));
    TRY(print_decided(file));
    TRY(weft_form_read(file, &group, &form));
    int own = form < WEFT_NFORM && weft_forms[form]->print;
    TRY(own ? print_form(file, weft_forms[form]) : print_rows(file));
    return print_sources(file);
}

/* ---- winners ---- */

static weft_status print_tensors(weft_h5 *file)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n;
    TRY(weft_winner_tensors(file, &n, tensor));
    for (int i = 0; i < n; i++) {
        const weft_tensor *one = &tensor[i];
        printf("%-9s %s (%lld", i == 0 ? "tensors" : "", one->name,
               (long long)one->dims[0]);
        for (int k = 1; k < one->nd; k++) printf(" x %lld", (long long)one->dims[k]);
        printf(")\n");
    }
    return WEFT_OK;
}

static weft_status print_kept(weft_h5 *file)
{
    weft_stored *rows;
    TRY(weft_stored_open(&rows, file->path, file->mem));
    if (rows)
        printf("kept      %lld numbers of each of %lld clients, of %lld\n",
               (long long)rows->each, (long long)rows->m, (long long)rows->n);
    weft_stored_close(rows);
    printf("\n");
    return WEFT_OK;
}

static weft_status print_winner(weft_h5 *file)
{
    TRY(weft_h5_verify(file));
    TRY(print_attr(file, "run", "/", "run"));
    TRY(print_attr(file, "version", "/", "version"));
    TRY(print_attr(file, "tuner", "/", "tuner"));
    TRY(print_attr(file, "digest", "/", "digest"));
    TRY(print_attr(file, "winner", "/winner", "text"));
    TRY(print_tensors(file));
    TRY(print_kept(file));
    const char *config = NULL;
    TRY(weft_h5_find_attr(file, "/winner", "config", &config));
    if (config) printf("%-9s %s\n", "config", config);
    return WEFT_OK;
}

/* ---- the file ---- */

static weft_status print_file(weft_h5 *file, int *is_run)
{
    const char *format = "";
    TRY(weft_h5_find_attr(file, "/", "format", &format));
    *is_run = strcmp(format, WEFT_RUN_FORMAT) == 0;
    if (*is_run) return WEFT_OK;
    printf("%-9s %s\n%-9s %s\n", "file", file->path, "format", format);
    if (strncmp(format, DATA_FORMAT, strlen(DATA_FORMAT)) == 0) return print_data(file);
    if (strcmp(format, WEFT_WINNER_FORMAT) == 0) return print_winner(file);
    if (strncmp(format, "weft ", 5) == 0) return weft_run_format(file, 1);
    return weft_fail(WEFT_EFILE,
                     "%s is an HDF5 file, but none of weft's: it has no attribute "
                     "\"format\" that is known",
                     file->path);
}

weft_status weft_info(const char *path)
{
    WEFT_SCRATCH(mem);
    weft_h5 file;
    int is_run = 0;
    weft_status st = weft_run_file(&file, path, mem);
    if (st == WEFT_OK) {
        st = print_file(&file, &is_run);
        weft_h5_close(&file);
    }
    if (st == WEFT_OK && is_run) st = weft_report(&path, 1, WEFT_TABLE, 0);
    return st;
}

/* `weft info` of a federation: the form of samples, their number per client, and how much
 * the class frequencies of clients differ from those of all. Sizes are read for at most a
 * million clients and labels for a thousand, so that the time is bounded. */
#include "info.h"
#include "weft/data.h"
#include "weft/log.h"
#include "weft/par.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_SIZES   1000000   /* largest number of clients whose sizes are read */
#define MAX_CLIENTS 1000      /* whose labels are read */
#define MAX_NUMBERS (1 << 28) /* approximate number of samples read */
#define SHOWN       5         /* clients with a line of their own */
#define COLUMNS     12        /* classes that fit in such a line */

/* The clients of a federation, or those that documents belong to. */
static const weft_clients *clients_of(const weft_data *data)
{
    return data->clients ? data->clients : data->owners;
}

/* ---- sizes ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* A line of the table of sizes; sorts size[n], which are of all clients or of some. */
static void print_sizes(const char *name, int64_t sum, double mean, int64_t n,
                        int64_t *size)
{
    static const double quantile[] = {0, 0.1, 0.5, 0.9, 1};
    double square = 0;
    for (int64_t c = 0; c < n; c++)
        square += ((double)size[c] - mean) * ((double)size[c] - mean);
    qsort(size, (size_t)n, sizeof *size, by_size);
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

/* ---- classes ---- */

/* Training samples of each class, of some clients spread evenly over all. */
struct histograms {
    int64_t clients; /* that were read */
    int n;           /* classes */
    int64_t *count;  /* [clients][n] */
    int64_t *all;    /* [n] */
};

static int64_t place(const weft_clients *clients, const struct histograms *histograms,
                     int64_t i)
{
    return i * clients->n / histograms->clients;
}

static weft_status read_classes(const weft_data *data, struct histograms *histograms)
{
    const weft_clients *clients = clients_of(data);
    double numbers = (double)data->part[WEFT_TRAIN].total / (double)clients->n;
    if (data->form != WEFT_TOKENS) numbers *= (double)clients->d;
    histograms->clients =
        data->form == WEFT_CHARS ? MAX_CLIENTS : (int64_t)(MAX_NUMBERS / numbers);
    if (histograms->clients < SHOWN) histograms->clients = SHOWN;
    if (histograms->clients > MAX_CLIENTS) histograms->clients = MAX_CLIENTS;
    if (histograms->clients > clients->n) histograms->clients = clients->n;
    histograms->n = data->classes;
    histograms->count = WEFT_NEW(data->mem, int64_t, histograms->clients * histograms->n);
    histograms->all = WEFT_NEW(data->mem, int64_t, histograms->n);
    for (int64_t i = 0; i < histograms->clients; i++) {
        size_t mark = weft_arena_mark(data->mem);
        weft_samples samples;
        TRY(weft_client_read(clients, place(clients, histograms, i), WEFT_TRAIN, &samples,
                             data->mem));
        for (int64_t j = 0; j < samples.n; j++) {
            int label = samples.label ? samples.label[j]
                                      : samples.text[j * clients->stride + clients->d];
            histograms->count[i * histograms->n + label]++;
            histograms->all[label]++;
        }
        weft_arena_reset(data->mem, mark);
    }
    return WEFT_OK;
}

/* Half the sum of |share of a class in the client - in all clients|; *has counts classes.
 */
static double distance(const struct histograms *histograms, int64_t client, int *has)
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

static weft_status print_client(const weft_data *data, const struct histograms *histograms,
                                int64_t i)
{
    size_t mark = weft_arena_mark(data->mem);
    const char *name;
    int has = 0;
    double far = distance(histograms, i, &has);
    const weft_clients *clients = clients_of(data);
    TRY(weft_client_name(clients, place(clients, histograms, i), &name, data->mem));
    printf("%-40.40s %8.3f %8d", weft_one_line(weft_arena_text(data->mem, "%s", name)), far,
           has);
    for (int c = 0; c < histograms->n && histograms->n <= COLUMNS; c++)
        printf(" %6lld", (long long)histograms->count[i * histograms->n + c]);
    printf("\n");
    weft_arena_reset(data->mem, mark);
    return WEFT_OK;
}

static weft_status print_classes(const weft_data *data)
{
    struct histograms histograms;
    TRY(read_classes(data, &histograms));
    printf("\n%-40s %8s %8s", "client's training samples", "distance", "classes");
    for (int c = 0; c < histograms.n && histograms.n <= COLUMNS; c++)
        printf(" %6.6s",
               weft_one_line(weft_arena_text(data->mem, "%s", data->class_name[c])));
    printf("\n");
    for (int64_t i = 0; i < histograms.clients && i < SHOWN; i++)
        TRY(print_client(data, &histograms, i));
    double far = 0, classes = 0;
    int64_t clients = 0; /* with samples */
    for (int64_t i = 0; i < histograms.clients; i++) {
        int has = 0;
        far += distance(&histograms, i, &has);
        classes += has;
        clients += has > 0;
    }
    printf("%-40s %8.3f %8.1f", "mean", far / (double)clients, classes / (double)clients);
    for (int c = 0; c < histograms.n && histograms.n <= COLUMNS; c++)
        printf(" %6.1f", (double)histograms.all[c] / (double)clients);
    printf(
        "\nof %lld clients; distance: total variation between a client's classes and all "
        "of theirs, 0 to 1\n\n",
        (long long)clients);
    return WEFT_OK;
}

/* ---- the federation ---- */

static void print_sample(const weft_data *data)
{
    const weft_clients *clients = clients_of(data);
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

weft_status weft_info_clients(const char *path, weft_arena *mem)
{
    weft_team self = weft_team_alone();
    weft_data data;
    TRY(weft_data_open(&data, path, &self, mem));
    print_sample(&data);
    print_all_sizes(clients_of(&data), mem);
    weft_status st = print_classes(&data);
    weft_data_close(&data);
    return st;
}

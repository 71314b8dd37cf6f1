/* Fuzz targets: packed data and run files with bytes that were changed. Either that is
 * found, or all that is read is as before. */
#ifndef WEFT_FUZZ_FILES_H
#define WEFT_FUZZ_FILES_H

#include "fuzz.h"
#include "report/summary.h"
#include "store/seal.h"
#include "weft/file.h"
#include "weft/hash.h"
#include "weft/pack.h"
#include "weft/registry.h"
#include "weft/run.h"

/* A whole file, and a number that what is read of it gives. */
struct whole {
    const char *name;
    weft_status (*read)(const char *path, uint64_t *sum, weft_arena *mem);
    uint8_t *at; /* [n] */
    size_t n;
    size_t body; /* bytes before the checksums */
    uint64_t sum;
};

static uint64_t add_rows(const weft_rows *r, uint64_t sum)
{
    size_t numbers = (size_t)(r->n * r->d);
    if (r->byte) sum = weft_hash(r->byte, numbers, sum);
    if (r->value) sum = weft_hash(r->value, numbers * sizeof *r->value, sum);
    for (int t = 0; t < WEFT_NTOK; t++)
        if (r->offset[t])
            sum =
                weft_hash(r->token[t], (size_t)r->offset[t][r->n] * sizeof **r->token, sum);
    return r->label ? weft_hash(r->label, (size_t)r->n * sizeof *r->label, sum) : sum;
}

static weft_status add_client(const weft_data *d, int64_t c, uint64_t *sum, weft_arena *mem)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_samples s = {0};
        TRY(weft_client_read(d->clients, c, (weft_part)p, &s, mem));
        if (s.x) *sum = weft_hash(s.x, (size_t)(s.n * d->clients->d) * sizeof *s.x, *sum);
        if (s.label) *sum = weft_hash(s.label, (size_t)s.n * sizeof *s.label, *sum);
    }
    return weft_client_sound(d->clients);
}

static weft_status add_owners(weft_data *d, uint64_t *sum, weft_arena *mem)
{
    TRY(weft_data_own_words(d, WEFT_TOK_SPLIT));
    for (int64_t c = 0; c < d->owners->n; c++)
        for (int p = 0; p < WEFT_NPART; p++) {
            weft_samples s;
            TRY(weft_client_read(d->owners, c, (weft_part)p, &s, mem));
            *sum = weft_hash(s.label, (size_t)s.n * sizeof *s.label, *sum);
            for (int64_t i = 0; i < s.n; i++)
                *sum = weft_hash(s.word[i], (size_t)s.length[i] * sizeof **s.word, *sum);
        }
    return weft_client_sound(d->owners);
}

static weft_status add_data(weft_data *d, uint64_t *sum, weft_arena *mem)
{
    int64_t clients = d->clients ? d->clients->n : 0;
    for (int64_t c = 0; c < clients; c++) TRY(add_client(d, c, sum, mem));
    if (d->owners) TRY(add_owners(d, sum, mem));
    for (int p = 0; p < WEFT_NPART && !clients; p++) {
        if (d->form == WEFT_TOKENS) TRY(weft_data_tokens(d, (weft_tokenizer)p));
        *sum = add_rows(&d->part[p], *sum);
    }
    *sum = weft_hash(d->digest, strlen(d->digest), *sum);
    return weft_h5_verify(&d->file);
}

static weft_status read_data(const char *path, uint64_t *sum, weft_arena *mem)
{
    weft_data d;
    *sum = 0;
    TRY(weft_data_open(&d, path, &fuzz_world, mem));
    weft_status st = add_data(&d, sum, mem);
    weft_data_close(&d);
    return st;
}

static weft_status read_run(const char *path, uint64_t *sum, weft_arena *mem)
{
    weft_summary s;
    TRY(weft_summary_read(&s, path, mem));
    *sum = weft_hash(s.jobs.loss, (size_t)s.jobs.n * sizeof *s.jobs.loss, 0);
    *sum = weft_hash(s.times, sizeof s.times, *sum);
    for (int64_t i = 0; i < s.nconfig; i++)
        *sum = weft_hash(s.text[i], strlen(s.text[i]), *sum);
    for (int i = 0; i < WEFT_NFACT; i++) {
        const char *text = s.value[i].text ? s.value[i].text : "";
        *sum = weft_hash(text, strlen(text), *sum);
        *sum = weft_hash(&s.value[i].whole, sizeof s.value[i].whole, *sum);
    }
    return WEFT_OK;
}

static struct whole wholes[] = {{.name = "images.h5", .read = read_data},
                                {.name = "documents.h5", .read = read_data},
                                {.name = "federation.h5", .read = read_data},
                                {.name = "searched.h5", .read = read_run}};
enum { IMAGES, DOCUMENTS, FEDERATION, SEARCHED };

static void synthesize(const char *name, const char *kind, const char *size,
                       const char *clients, weft_arena *mem)
{
    void *self;
    weft_partition over;
    const char *const word[] = {size, clients};
    const weft_reader *r = &weft_reader_synthetic;
    weft_check(weft_pack_options(r, clients ? 2 : 1, word, &self, &over, mem) == WEFT_OK &&
                   weft_pack_file(r, self, &over, kind, fuzz_path(name, mem), mem) ==
                       WEFT_OK,
               "%s", weft_error());
}

static void search(const char *name, weft_arena *mem)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    const char *text = weft_arena_text(
        mem,
        "[run]\ndata = %s\noutput = %s\ntuner = random\n[space]\nconfigs = 2\n[fmap]\n"
        "feature = rff\nmodel = ridge\n[rff]\nfeatures = 8\ngamma = log 1e-3 .. 1\n",
        fuzz_path(wholes[IMAGES].name, mem), fuzz_path(name, mem));
    weft_check(weft_conf_text(&c, "fuzz.ini", text) == WEFT_OK &&
                   weft_run_tune(&c, 1, &fuzz_world) == WEFT_OK,
               "%s", weft_error());
}

/* Makes the files, once, and keeps their bytes. */
static void make_wholes(void)
{
    weft_arena *mem = weft_arena_new();
    synthesize(wholes[IMAGES].name, "images", "rows=40", NULL, mem);
    synthesize(wholes[DOCUMENTS].name, "documents", "rows=30", "clients=3", mem);
    synthesize(wholes[FEDERATION].name, "federated=stored", "clients=5", NULL, mem);
    search(wholes[SEARCHED].name, mem);
    for (int i = 0; i < WEFT_COUNT(wholes); i++) {
        struct whole *w = &wholes[i];
        const char *path = fuzz_path(w->name, mem);
        struct stat info;
        weft_check(stat(path, &info) == 0, "%s", path);
        w->n = (size_t)info.st_size;
        w->at = malloc(w->n);
        weft_check(w->at && weft_file_load(path, w->at, w->n) == WEFT_OK &&
                       w->read(path, &w->sum, mem) == WEFT_OK,
                   "%s", weft_error());
        weft_seal *seal;
        weft_check(weft_seal_open(path, &seal, mem) == WEFT_OK && seal, "no checksums");
        w->body = (size_t)seal->bytes;
    }
    weft_arena_free(mem);
}

static void run_file(int which, struct input in)
{
    if (!wholes[0].at) make_wholes();
    const struct whole *w = &wholes[which];
    weft_arena *mem = weft_arena_new();
    uint8_t *bytes = WEFT_NEW(mem, uint8_t, w->n);
    memcpy(bytes, w->at, w->n);
    fuzz_change(&in, bytes, w->n);
    int same = memcmp(bytes, w->at, w->n) == 0;
    const char *path = fuzz_file("changed.h5", (struct input){bytes, w->n}, mem);
    uint64_t sum;
    weft_status st = w->read(path, &sum, mem);
    fuzz_told(st);
    weft_check(st == WEFT_OK ? sum == w->sum : !same, "%s: %s", w->name,
               st == WEFT_OK ? "the change is not found" : weft_error());
    weft_arena_free(mem);
}

static void run_h5_images(struct input in)
{
    run_file(IMAGES, in);
}

static void run_h5_documents(struct input in)
{
    run_file(DOCUMENTS, in);
}

static void run_h5_federation(struct input in)
{
    run_file(FEDERATION, in);
}

static void run_h5_run(struct input in)
{
    run_file(SEARCHED, in);
}

#endif

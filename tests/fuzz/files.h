/* Fuzz targets: packed data and run files with bytes that were changed. Either that is
 * found, or all that is read is as before. */
#ifndef WEFT_FUZZ_FILES_H
#define WEFT_FUZZ_FILES_H

#include "fuzz.h"
#include "report/report.h"
#include "store/h5.h"
#include "weft/data/translations.h"
#include "weft/pack/pack.h"
#include "weft/run/run.h"
#include "weft/store/file.h"

/* A whole file, and a number that what is read of it gives. */
struct whole {
    const char *name;
    weft_status (*read)(const char *path, uint64_t *sum);
    uint8_t *at; /* [n] */
    size_t n;
    size_t body; /* bytes before the checksums */
    uint64_t sum;
};

static uint64_t add_rows(const weft_rows *rows, uint64_t sum)
{
    size_t numbers = (size_t)(rows->n * rows->d);
    if (rows->byte) sum = weft_hash(rows->byte, numbers, sum);
    if (rows->value) sum = weft_hash(rows->value, numbers * sizeof *rows->value, sum);
    for (int t = 0; t < WEFT_NTOK; t++)
        if (rows->offset[t])
            sum = weft_hash(rows->token[t],
                            (size_t)rows->offset[t][rows->n] * sizeof **rows->token, sum);
    return rows->label ? weft_hash(rows->label, (size_t)rows->n * sizeof *rows->label, sum)
                       : sum;
}

static weft_status add_client(const weft_data *data, int64_t c, uint64_t *sum)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        weft_samples samples = {0};
        TRY(weft_client_read(data->clients, c, (weft_part)p, &samples, mem));
        if (samples.x)
            *sum =
                weft_hash(samples.x,
                          (size_t)(samples.n * data->clients->d) * sizeof *samples.x, *sum);
        if (samples.label)
            *sum =
                weft_hash(samples.label, (size_t)samples.n * sizeof *samples.label, *sum);
    }
    return weft_client_sound(data->clients);
}

static weft_status add_owners(weft_data *data, uint64_t *sum)
{
    TRY(weft_data_own_words(data, WEFT_TOK_SPLIT));
    for (int64_t c = 0; c < data->owners->n; c++)
        for (int p = 0; p < WEFT_NPART; p++) {
            weft_samples samples;
            TRY(weft_client_read(data->owners, c, (weft_part)p, &samples, mem));
            *sum =
                weft_hash(samples.label, (size_t)samples.n * sizeof *samples.label, *sum);
            for (int64_t i = 0; i < samples.n; i++)
                *sum = weft_hash(samples.word[i],
                                 (size_t)samples.length[i] * sizeof **samples.word, *sum);
        }
    return weft_client_sound(data->owners);
}

static weft_status add_data(weft_data *data, uint64_t *sum)
{
    int64_t clients = data->clients ? data->clients->n : 0;
    for (int64_t c = 0; c < clients; c++) TRY(add_client(data, c, sum));
    if (data->owners) TRY(add_owners(data, sum));
    for (int p = 0; p < WEFT_NPART && !clients; p++) {
        if (data->form == WEFT_TOKENS) TRY(weft_data_tokens(data, (weft_tokenizer)p));
        *sum = add_rows(&data->part[p], *sum);
    }
    *sum = weft_hash(data->digest, strlen(data->digest), *sum);
    return weft_h5_verify(&data->file);
}

static weft_status read_data(const char *path, uint64_t *sum)
{
    weft_data data;
    *sum = 0;
    TRY(weft_data_open(&data, path, &world, mem));
    weft_status st = add_data(&data, sum);
    weft_data_close(&data);
    return st;
}

/* Texts, and what their tokens decode to. */
static uint64_t add_language(const weft_language *language, uint64_t sum)
{
    for (int p = 0; p < WEFT_NPART; p++) {
        const weft_sentences *own = &language->part[p];
        for (int32_t i = 0; i < own->n; i++) {
            const uint32_t *word;
            int length;
            weft_sentences_take(own, 1, &i, &word, &length);
            const char *made = weft_bpe_decode(language->bpe, word, length, mem),
                       *text = weft_sentence_text(own, i, mem);
            sum = weft_hash(made, strlen(made), weft_hash(text, strlen(text), sum));
        }
    }
    return sum;
}

static weft_status read_sentences(const char *path, uint64_t *sum)
{
    weft_data data;
    *sum = 0;
    TRY(weft_data_open(&data, path, &world, mem));
    const weft_translations *of = weft_translations_of(&data);
    for (int i = 0; of && i < of->n; i++) *sum = add_language(&of->language[i], *sum);
    for (int64_t d = 0; of && d < of->directions; d++)
        *sum += (uint64_t)weft_translations_pairs(of, WEFT_TRAIN, of->direction[d], mem).n;
    *sum = weft_hash(data.digest, strlen(data.digest), *sum);
    weft_status st = weft_h5_verify(&data.file);
    weft_data_close(&data);
    return st;
}

static weft_status read_run(const char *path, uint64_t *sum)
{
    weft_summary summary;
    TRY(weft_summary_read(&summary, path, mem));
    *sum =
        weft_hash(summary.jobs.loss, (size_t)summary.jobs.n * sizeof *summary.jobs.loss, 0);
    *sum = weft_hash(summary.times, sizeof summary.times, *sum);
    for (int64_t i = 0; i < summary.nconfig; i++)
        *sum = weft_hash(summary.text[i], strlen(summary.text[i]), *sum);
    for (int i = 0; i < WEFT_NFACT; i++) {
        const char *text = summary.value[i].text ? summary.value[i].text : "";
        *sum = weft_hash(text, strlen(text), *sum);
        *sum = weft_hash(&summary.value[i].whole, sizeof summary.value[i].whole, *sum);
    }
    return WEFT_OK;
}

static struct whole wholes[] = {{.name = "images.h5", .read = read_data},
                                {.name = "documents.h5", .read = read_data},
                                {.name = "federation.h5", .read = read_data},
                                {.name = "sentences.h5", .read = read_sentences},
                                {.name = "searched.h5", .read = read_run}};
enum { IMAGES, DOCUMENTS, FEDERATION, SENTENCES, SEARCHED };

static void synthesize(const char *name, const char *kind, const char *size,
                       const char *clients)
{
    void *self;
    weft_partition over;
    const char *const word[] = {size, clients};
    const weft_reader *reader = &weft_reader_synthetic;
    must(weft_pack_options(reader, clients ? 2 : 1, word, &self, &over, mem));
    must(weft_pack_file(reader, self, &over, kind, at(name), mem));
}

/* Sixty lines of three languages. */
static void translate(const char *name)
{
    enum { LINES = 60, BYTES = 64 };
    void *self;
    weft_partition over;
    const char *const word[] = {"valid=0.3", "test=0.3", "vocabulary=40"};
    const weft_reader *reader = &weft_reader_translations;
    char *text = WEFT_NEW(mem, char, BYTES *LINES);
    size_t n = (size_t)sprintf(text, "a\tb\tc\n");
    for (int i = 0; i < LINES; i++)
        n += (size_t)sprintf(text + n, "x%d %s\t%s, \xc3\xa4%d\t%s\n", i % 9,
                             i % 2 ? "yes" : "(no)", i % 3 ? "ja" : "nein", i,
                             i % 4 ? "oui oui" : "");
    const char *source = fuzz_file("sentences.tsv", (struct input){(uint8_t *)text, n});
    must(weft_pack_options(reader, 3, word, &self, &over, mem));
    must(weft_pack_file(reader, self, &over, source, at(name), mem));
}

static void search(const char *name)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    const char *text = printed(
        "[run]\ndata = %s\noutput = %s\ntuner = random\n[space]\nconfigs = 2\n[fmap]\n"
        "feature = rff\nmodel = ridge\n[rff]\nfeatures = 8\ngamma = log 1e-3 .. 1\n",
        at(wholes[IMAGES].name), at(name));
    must(weft_conf_text(&conf, "fuzz.ini", text));
    must(weft_run_tune(&conf, 1, &world));
}

/* Makes the files, once, and keeps their bytes. */
static void make_wholes(void)
{
    synthesize(wholes[IMAGES].name, "images", "rows=40", NULL);
    synthesize(wholes[DOCUMENTS].name, "documents", "rows=30", "clients=3");
    synthesize(wholes[FEDERATION].name, "federated=stored", "clients=5", NULL);
    translate(wholes[SENTENCES].name);
    search(wholes[SEARCHED].name);
    for (int i = 0; i < WEFT_COUNT(wholes); i++) {
        struct whole *whole = &wholes[i];
        const char *path = at(whole->name);
        struct stat info;
        weft_check(stat(path, &info) == 0, "%s", path);
        whole->n = (size_t)info.st_size;
        whole->at = malloc(whole->n);
        weft_check(whole->at && weft_file_load(path, whole->at, whole->n) == WEFT_OK &&
                       whole->read(path, &whole->sum) == WEFT_OK,
                   "%s", weft_error());
        weft_seal *seal;
        weft_check(weft_seal_open(path, &seal, mem) == WEFT_OK && seal, "no checksums");
        close(seal->fd);
        whole->body = (size_t)seal->bytes;
    }
}

static void run_file(int which, struct input in)
{
    if (!wholes[0].at) make_wholes();
    const struct whole *whole = &wholes[which];
    uint8_t *bytes = WEFT_NEW(mem, uint8_t, whole->n);
    memcpy(bytes, whole->at, whole->n);
    fuzz_change(&in, bytes, whole->n);
    int same = memcmp(bytes, whole->at, whole->n) == 0;
    const char *path = fuzz_file("changed.h5", (struct input){bytes, whole->n});
    uint64_t sum;
    weft_status st = whole->read(path, &sum);
    fuzz_told(st);
    weft_check(st == WEFT_OK ? sum == whole->sum : !same, "%s: %s", whole->name,
               st == WEFT_OK ? "the change is not found" : weft_error());
}

#endif

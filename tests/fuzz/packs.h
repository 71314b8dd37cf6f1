/* Fuzz targets: the readers of `weft pack`, the packing of what they read, and the files
 * that tasks read. What is packed is not written: its bytes are only looked at. */
#ifndef WEFT_FUZZ_PACKS_H
#define WEFT_FUZZ_PACKS_H

#include "fuzz.h"
#include "task/command/command.h"
#include "task/fed/fed.h"
#include "weft/data/data.h"
#include "weft/pack/pack.h"

/* ---- HDF5 files that are written nowhere (ld --wrap) ---- */

static int nowhere; /* 1: so it is */

static inline void look_at(const void *data, size_t bytes)
{
    static char copy[4096];
    const char *from = data;
    for (; bytes > 0;) {
        size_t n = bytes < sizeof copy ? bytes : sizeof copy;
        memcpy(copy, from, n);
        from += n;
        bytes -= n;
    }
}

static inline size_t numbers(int nd, const int64_t *dims)
{
    size_t n = 1;
    for (int i = 0; i < nd; i++) {
        weft_check(dims[i] >= 0, "a dataset of %lld rows", (long long)dims[i]);
        n *= (size_t)dims[i];
    }
    return n;
}

/* Defines __wrap_NAME, which takes the calls of NAME: `does` where nothing is written. */
#define WRAP(name, parameters, arguments, does)                                            \
    weft_status __real_##name parameters;                                                  \
    weft_status __wrap_##name parameters;                                                  \
    weft_status __wrap_##name parameters                                                   \
    {                                                                                      \
        if (!nowhere) return __real_##name arguments;                                      \
        does;                                                                              \
        return WEFT_OK;                                                                    \
    }

WRAP(weft_h5_create, (weft_h5 * f, const char *path, weft_arena *own), (f, path, own),
     (*f = (weft_h5){.path = weft_arena_text(own, "%s", path), .mem = own, .view = -1}))
WRAP(weft_h5_commit, (weft_h5 * f), (f), (void)f)
WRAP(weft_h5_put,
     (weft_h5 * f, const char *name, weft_h5type type, int nd, const int64_t *dims,
      const void *data, int packed, const char *about, const char *unit),
     (f, name, type, nd, dims, data, packed, about, unit),
     look_at(data, numbers(nd, dims) * weft_h5_size(type)))
WRAP(weft_h5_make,
     (weft_h5 * f, const char *name, weft_h5type type, int nd, const int64_t *dims,
      const char *about, const char *unit),
     (f, name, type, nd, dims, about, unit), numbers(nd, dims))
WRAP(weft_h5_put_rows,
     (weft_h5 * f, const char *name, weft_h5type type, int64_t first, int64_t count,
      const void *data),
     (f, name, type, first, count, data), look_at(data, (size_t)count *weft_h5_size(type)))
WRAP(weft_h5_grow,
     (weft_h5 * f, const char *name, weft_h5type type, int64_t width, const char *about,
      const char *unit),
     (f, name, type, width, about, unit), (void)f)
WRAP(weft_h5_append,
     (weft_h5 * f, const char *name, weft_h5type type, int64_t count, const void *data),
     (f, name, type, count, data), look_at(data, (size_t)count *weft_h5_size(type)))
WRAP(weft_h5_put_texts,
     (weft_h5 * f, const char *name, const char *const *text, int64_t n, const char *about),
     (f, name, text, n, about), {
         for (int64_t i = 0; i < n; i++) look_at(text[i], strlen(text[i]) + 1);
     })
WRAP(weft_h5_put_attr, (weft_h5 * f, const char *name, const char *key, const char *text),
     (f, name, key, text), look_at(text, strlen(text) + 1))
WRAP(weft_h5_put_num, (weft_h5 * f, const char *name, const char *key, double x),
     (f, name, key, x), (void)f)
WRAP(weft_h5_put_long, (weft_h5 * f, const char *name, const char *key, int64_t x),
     (f, name, key, x), (void)f)

void __real_weft_h5_close(weft_h5 *file);
void __wrap_weft_h5_close(weft_h5 *file);
void __wrap_weft_h5_close(weft_h5 *file)
{
    if (!nowhere) __real_weft_h5_close(file);
}

/* ---- readers ---- */

/* Packs the source with options as "a=1 b=2". */
static void pack_with(const weft_reader *reader, const char *options, const char *source)
{
    enum { MOST = 16 };
    const char *word[MOST];
    int n = 0;
    char *rest, *words = printed("%s", options);
    for (char *w = strtok_r(words, " ", &rest); w && n < MOST;
         w = strtok_r(NULL, " ", &rest))
        word[n++] = w;
    void *self;
    weft_partition over;
    weft_status st = weft_pack_options(reader, n, word, &self, &over, mem);
    must(st);
    nowhere = 1;
    fuzz_told(weft_pack_file(reader, self, &over, source, at("out.h5"), mem));
    nowhere = 0;
}

/* The first byte of the input chooses the options, the rest is the file. */
static void pack_one(const weft_reader *reader, const char *const *options, int n,
                     struct input in)
{
    const char *how = options[pick(&in, n)];
    pack_with(reader, how, fuzz_file("source", in));
}

/* The same for files of a directory. */
static void pack_tree(const weft_reader *reader, const char *const *options, int n,
                      const char *const *name, int files, struct input in)
{
    const char *how = options[pick(&in, n)];
    fuzz_files(in, name, files);
    const char *top = printed("%.*s", (int)strcspn(name[0], "/"), name[0]);
    pack_with(reader, how, at(top));
}

static void run_text(struct input in)
{
    static const char *const options[] = {"valid=0.3 test=0.3", "separator=blank",
                                          "valid=0.5 test=0"};
    pack_one(&weft_reader_text, options, WEFT_COUNT(options), in);
}

static void run_translations(struct input in)
{
    static const char *const options[] = {
        "valid=0.3 test=0.3",
        "valid=0.5 test=0 joint=yes vocabulary=40",
        "drop=x languages=b,a directions=a-* longest=3 valid=0.3",
        "vocabulary=1000 directions=a-b,b-a,a-a valid=0.4 test=0 seed=1",
    };
    pack_one(&weft_reader_translations, options, WEFT_COUNT(options), in);
}

static void run_dense(struct input in)
{
    static const char *const options[] = {
        "valid=0.3 test=0.3",
        "valid=0.4",
        "separator=comma label=first header=yes",
        "separator=comma label=2 header=no",
        "shape=1x2x1 valid=0.3",
        "clients=2 partition=dirichlet alpha=0.5 valid=0.3",
        "clients=2 partition=shards valid=0.3",
        "clients=3 partition=iid valid=0.3",
        "group=1 label=2 valid=0.3 test=0",
        "client=1 label=2 valid=0.3",
        "categories=1,2 label=3 valid=0.3",
        "drop=1 label=last valid=0.3 thousands=comma",
        "label=1,2 weight=3 valid=0.3",
        "target=regression valid=0.4",
    };
    pack_one(&weft_reader_dense, options, WEFT_COUNT(options), in);
}

static void run_shakespeare(struct input in)
{
    static const char *const options[] = {
        "length=5 valid=0.2 test=0.2",
        "length=2 stride=3 rule=leaf",
        "length=2 most=9 least=2",
    };
    pack_one(&weft_reader_shakespeare, options, WEFT_COUNT(options), in);
}

static void run_leaf(struct input in)
{
    static const char *const options[] = {
        "valid=0.2 test=0.2",
        "valid=0 test=0.3 classes=3",
        "shape=1x2x1",
    };
    pack_one(&weft_reader_leaf, options, WEFT_COUNT(options), in);
}

static void run_leaf_parts(struct input in)
{
    static const char *const options[] = {"valid=0.2"};
    static const char *const name[] = {"leaf/train/a.json", "leaf/train/b.json",
                                       "leaf/test/a.json", "leaf/valid/a.json"};
    pack_tree(&weft_reader_leaf, options, WEFT_COUNT(options), name, WEFT_COUNT(name), in);
}

static void run_idx(struct input in)
{
    static const char *const options[] = {"valid=0.3", "valid=0.3 test=0.3"};
    static const char *const name[] = {
        "idx/train-images-idx3-ubyte", "idx/train-labels-idx1-ubyte",
        "idx/t10k-images-idx3-ubyte", "idx/t10k-labels-idx1-ubyte"};
    pack_tree(&weft_reader_idx, options, WEFT_COUNT(options), name, WEFT_COUNT(name), in);
}

static void run_idx_gzip(struct input in)
{
    static const char *const options[] = {"valid=0.3"};
    static const char *const name[] = {"gz/train-images-idx3-ubyte.gz",
                                       "gz/train-labels-idx1-ubyte.gz"};
    pack_tree(&weft_reader_idx, options, WEFT_COUNT(options), name, WEFT_COUNT(name), in);
}

static void run_folder(struct input in)
{
    static const char *const options[] = {"valid=0.3 test=0.3", "encoding=utf-8",
                                          "remove=headers,footers,quotes encoding=latin1",
                                          "encoding=cp1252"};
    static const char *const name[] = {"folder/a/1", "folder/a/2", "folder/a/3",
                                       "folder/b/1", "folder/b/2", "folder/b/3"};
    pack_tree(&weft_reader_folder, options, WEFT_COUNT(options), name, WEFT_COUNT(name),
              in);
}

static void run_lines(struct input in)
{
    static const char *const options[] = {"documents=lines",
                                          "documents=lines encoding=latin1 test=0.3",
                                          "documents=lines remove=headers,quotes"};
    static const char *const name[] = {"lines/a", "lines/b"};
    pack_tree(&weft_reader_folder, options, WEFT_COUNT(options), name, WEFT_COUNT(name),
              in);
}

static void run_imdb(struct input in)
{
    static const char *const options[] = {"seed=0"};
    static const char *const name[] = {"imdb/train/pos/0_9.txt", "imdb/train/neg/0_1.txt",
                                       "imdb/test/pos/0_9.txt",  "imdb/test/pos/1_8.txt",
                                       "imdb/test/neg/0_1.txt",  "imdb/test/neg/1_2.txt"};
    pack_tree(&weft_reader_imdb, options, WEFT_COUNT(options), name, WEFT_COUNT(name), in);
}

/* The sizes and labels of the batches are the input's; the other bytes repeat it. */
static void run_cifar(struct input in)
{
    enum { BATCHES = 6, IMAGE = 3073 };
    static const char *const batch[BATCHES] = {
        "cifar/data_batch_1.bin", "cifar/data_batch_2.bin", "cifar/data_batch_3.bin",
        "cifar/data_batch_4.bin", "cifar/data_batch_5.bin", "cifar/test_batch.bin"};
    uint8_t *image = WEFT_NEW(mem, uint8_t, 2 * IMAGE);
    for (int b = 0; b < BATCHES; b++) {
        int more = pick(&in, 16);
        for (int i = 0; i < 2 * IMAGE; i++) image[i] = (uint8_t)i;
        image[0] = (uint8_t)pick(&in, 256);
        size_t n = more < 13 ? IMAGE : more == 13 ? 2 * IMAGE : (size_t)more;
        fuzz_file(batch[b], (struct input){image, n});
    }
    fuzz_file("cifar/batches.meta.txt", in);
    pack_with(&weft_reader_cifar, "images=1", at("cifar"));
}

/* The words that follow `weft pack READER SOURCE`. */
static void run_options(struct input in)
{
    enum { MOST = 16 };
    int readers = 0, n = 0;
    while (weft_readers[readers]) readers++;
    const weft_reader *reader = weft_readers[pick(&in, readers)];
    const char *word[MOST];
    while (in.n > 0 && n < MOST) word[n++] = text_of(piece(&in, '\n'));
    void *self;
    weft_partition over;
    fuzz_told(weft_pack_options(reader, n, word, &self, &over, mem));
}

/* ---- what tasks read ---- */

static void run_vectors(struct input in)
{
    static const char *const word[] = {"the", "weft", "of", "\xc3\xa4", "a"};
    uint64_t hash[WEFT_COUNT(word)];
    for (int i = 0; i < WEFT_COUNT(word); i++)
        hash[i] = weft_hash(word[i], strlen(word[i]), 0);
    weft_vocab vocab = {.n = WEFT_COUNT(word), .hash = hash};
    weft_vectors out;
    const char *path = fuzz_file("vectors", in);
    weft_status st = weft_vectors_read(&vocab, path, 4, 1, &out, mem);
    fuzz_told(st);
    for (int64_t i = 0; st == WEFT_OK && i < vocab.n * out.d; i++)
        weft_check(isfinite(out.value[i]), "number %lld", (long long)i);
}

static void run_devices(struct input in)
{
    enum { CLIENTS = 3 };
    weft_device device = {.up = 1e6, .down = 1e6, .available = 1};
    device.file = fuzz_file("devices", in);
    weft_status st = weft_device_trace(&device, CLIENTS, mem);
    fuzz_told(st);
    for (int64_t i = 0; st == WEFT_OK && i < device.rows * WEFT_PROFILE; i++)
        weft_check(isfinite(device.row[i]) && device.row[i] >= 0, "number %lld",
                   (long long)i);
}

/* What a program prints, in two pieces to each stream. */
static void run_printed(struct input in)
{
    static const char *const wanted[] = {"loss", "error"};
    weft_printed *printed = weft_printed_new(2, wanted, mem);
    for (int stream = 0; in.n > 0; stream = !stream) {
        struct input some = piece(&in, 0x1e);
        weft_printed_add(printed, stream, (const char *)some.at, some.n / 2);
        weft_printed_add(printed, stream, (const char *)some.at + some.n / 2,
                         some.n - some.n / 2);
    }
    weft_printed_end(printed);
    const weft_stream *s = &printed->stream[0];
    for (int64_t i = 0; i < s->names.n; i++) {
        const weft_number *number = weft_printed_find(printed, 0, s->names.name[i]);
        weft_check(number == &s->number[i] || (i < 2 && !number), "%s", s->names.name[i]);
        weft_check(!number || (number->said == WEFT_SAID_NUMBER) >= !isnan(number->value),
                   "%s", number->text);
    }
    weft_check(!strpbrk(weft_printed_last(printed), "\r\n"), "two lines");
}

#endif

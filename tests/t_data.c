/* Packed data sets: each rank reads its own rows, documents are read back word for word,
 * and an inconsistent file gives one line on all ranks.
 * RUN: np=1 np=2 np=3 */
#include "scratch.h"

#include "weft/feature/feature.h"
#include "weft/report/report.h"
#include "weft/store/h5.h"

static weft_data data;

/* ---- rows ---- */

/* The sum over all rows of a hash of place, label and bytes: the same on any number of
 * ranks. */
static int64_t sum_rows(weft_part part, size_t size)
{
    const weft_rows *rows = &data.part[part];
    const char *x =
        rows->byte != NULL ? (const char *)rows->byte : (const char *)rows->value;
    int64_t sum = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        uint64_t row = weft_hash(x + (size_t)(i * rows->d) * size, (size_t)rows->d * size,
                                 (uint64_t)(rows->first + i));
        sum += (int64_t)(row >> 20) * (rows->label[i] + 1);
    }
    weft_sum_i64(&world, &sum, 1);
    return sum;
}

static void test_bytes(void)
{
    ok(pack(&weft_reader_synthetic, "images", "i.h5", "rows=1000 d=49 classes=3") ==
               WEFT_OK &&
           weft_data_open(&data, at("i.h5"), &world, mem) == WEFT_OK,
       "images are packed and opened");
    int64_t first, n;
    const weft_rows *rows = &data.part[WEFT_TRAIN];
    weft_deal(1000, world.rank, world.size, &first, &n);
    ok(rows->total == 1000 && rows->first == first && rows->n == n && rows->d == 49 &&
           data.part[WEFT_TEST].total == 250,
       "each rank has the rows dealt to it");
    digest((uint64_t)sum_rows(WEFT_TRAIN, 1));
    digest((uint64_t)sum_rows(WEFT_VALID, 1));
    fails(weft_data_tokens(&data, WEFT_TOK_SPLIT), WEFT_EDATA, "i.h5",
          "documents are needed", "asking images for words");
    weft_data_close(&data);
}

static void test_reals(void)
{
    char *csv = WEFT_NEW(mem, char, 40000), *to = csv;
    for (int i = 0; i < 1200; i++) to += sprintf(to, "%d,%g,%d\n", i, 1 / (i + 1.0), i % 2);
    write_text("r.csv", csv);
    ok(pack(&weft_reader_dense, at("r.csv"), "r.h5", "numbers=1") == WEFT_OK &&
           weft_data_open(&data, at("r.h5"), &world, mem) == WEFT_OK,
       "numbers are packed and opened");
    const weft_rows *rows = &data.part[WEFT_TRAIN];
    int right = rows->total == 960 && rows->d == 2;
    for (int64_t i = 0; i < rows->n; i++) {
        int line = (int)rows->value[2 * i];
        right &= rows->value[2 * i + 1] == strtof(printed("%g", 1 / (line + 1.0)), NULL);
        right &= rows->label[i] == line % 2;
    }
    ok(right, "a row keeps its numbers and its class");
    digest((uint64_t)sum_rows(WEFT_TRAIN, sizeof(float)));
    weft_data_close(&data);
}

/* ---- documents ---- */

#define DOCUMENTS 1500

/* Document i, of class i % 2. */
static const char *document(int i)
{
    if (i % 10 == 7) return "";
    return printed("The number %d, %s! \xc3\x84rger %s", i, i % 3 ? "the end" : "THE",
                   i % 2 ? "odd" : "even");
}

struct expected {
    int64_t at, end; /* where the tokens of the document stand */
    int good, tok;
    const uint32_t *token;
};

static void same_token(void *ctx, const char *token, size_t n)
{
    struct expected *expected = ctx;
    char low[64];
    const weft_vocab *vocab = &data.vocab[expected->tok];
    if (expected->at >= expected->end) {
        expected->good = 0;
        return;
    }
    uint32_t id = expected->token[expected->at++];
    size_t bytes = weft_lower(token, n, low, sizeof low);
    expected->good &= vocab->hash[id] == weft_hash(token, n, 0) &&
                      vocab->lower[id] == weft_hash(low, bytes, 0) &&
                      (vocab->stop[id] != 0) == (weft_is_stop(token, n) != 0);
}

/* 1 if the own documents of a part are those of the lines first .. of the file, in order.
 */
static int words_are_right(weft_part part, int first, weft_tokenizer tok)
{
    const weft_rows *rows = &data.part[part];
    int good = rows->offset[tok][0] == 0;
    for (int64_t i = 0; i < rows->n; i++) {
        int line = first + (int)(rows->first + i);
        const char *text = document(line);
        struct expected expected = {.at = rows->offset[tok][i],
                                    .end = rows->offset[tok][i + 1],
                                    .good = 1,
                                    .tok = (int)tok,
                                    .token = rows->token[tok]};
        weft_tokenize(tok, text, strlen(text), same_token, &expected, mem);
        good &= expected.good && expected.at == expected.end && rows->label[i] == line % 2;
    }
    return good;
}

static int pack_lines(const char *file, int first, int n)
{
    char *text = WEFT_NEW(mem, char, n * 60), *to = text;
    for (int i = first; i < first + n; i++)
        to += sprintf(to, "%d\t%s\n", i % 2, document(i));
    write_text(file, text);
    return 1;
}

static void test_documents(void)
{
    pack_lines("train.tsv", 0, DOCUMENTS);
    pack_lines("valid.tsv", 5000, 300);
    pack_lines("test.tsv", 8000, 5);
    weft_status st =
        pack(&weft_reader_text, at("train.tsv"), "d.h5",
             printed("valid_file=%s test_file=%s seed=3", at("valid.tsv"), at("test.tsv")));
    ok(st == WEFT_OK && weft_data_open(&data, at("d.h5"), &world, mem) == WEFT_OK &&
           data.part[WEFT_TRAIN].total == DOCUMENTS,
       "documents are packed and opened");
    for (int t = 0; t < WEFT_NTOK; t++) {
        weft_tokenizer tok = (weft_tokenizer)t;
        ok(weft_data_tokens(&data, tok) == WEFT_OK &&
               words_are_right(WEFT_VALID, 5000, tok) &&
               words_are_right(WEFT_TEST, 8000, tok),
           "documents come back word for word (%s)", weft_tok_name[t]);
        int64_t tokens = data.part[WEFT_TRAIN].offset[tok][data.part[WEFT_TRAIN].n];
        weft_sum_i64(&world, &tokens, 1);
        digest((uint64_t)tokens);
    }
    const uint32_t *once = data.part[WEFT_TRAIN].token[WEFT_TOK_SPLIT];
    ok(weft_data_tokens(&data, WEFT_TOK_SPLIT) == WEFT_OK &&
           data.part[WEFT_TRAIN].token[WEFT_TOK_SPLIT] == once,
       "tokens are loaded once");
    const weft_vocab *vocab = &data.vocab[WEFT_TOK_REMOVE];
    ok(vocab->hash[0] == weft_hash("The", 3, 0) &&
           vocab->hash[1] == weft_hash("number", 6, 0),
       "the most frequent words are the first, the earlier of equals before the later");
    weft_data_close(&data);
}

/* ---- contradictions ---- */

/* What is wrong with a packed file written by hand. */
enum {
    NOTHING,
    NO_FORMAT,
    OLD_FORMAT,
    STRANGE_FORM,
    FEWER_CLASSES,
    WRONG_LABEL,
    EMPTY_CLASS,
    NO_VALID,
    FEWER_ROWS,
    OTHER_COLUMNS,
    NOT_FINITE,
    NO_LABELS,
    WIDE_LABELS,
    FALLING,
    TOO_FEW_TOKENS,
    STRANGE_TOKEN,
    WIDE_VOCAB,
    NO_VOCAB,
    WIDE_TOKENS,
    ONE_TOKENIZER /* a dataset is in the place of the group of another one */
};
#define HAND_ROWS 4

static weft_status hand_matrix(weft_h5 *file, const char *part, int64_t n, int wrong)
{
    float x[HAND_ROWS * 3] = {0};
    int test = strcmp(part, "test") == 0;
    if (wrong == NOT_FINITE && test) x[7] = NAN;
    const int64_t dims[2] = {wrong == FEWER_ROWS && test ? n - 1 : n,
                             wrong == OTHER_COLUMNS && test ? 3 : 2};
    return weft_h5_put(file, printed("/%s/x", part), WEFT_H5_F32, 2, dims, x, 0, "x",
                       "none");
}

static weft_status hand_tokens(weft_h5 *file, const char *part, int64_t n, int wrong)
{
    const uint32_t token[8] = {0, 1, wrong == STRANGE_TOKEN ? 2 : 1, 0};
    const int64_t offset[HAND_ROWS + 1] = {0, 2, wrong == FALLING ? 1 : 2, 3, 4};
    const int64_t nend = n + 1, dims[2] = {offset[n] - (wrong == TOO_FEW_TOKENS), 2};
    TRY(weft_h5_put(file, printed("/%s/split/offset", part), WEFT_H5_I64, 1, &nend, offset,
                    0, "offset", "none"));
    return weft_h5_put(file, printed("/%s/split/token", part), WEFT_H5_U32,
                       wrong == WIDE_TOKENS ? 2 : 1, dims, token, 0, "token", "none");
}

static weft_status hand_part(weft_h5 *file, int part, int wrong)
{
    int32_t label[2 * HAND_ROWS] = {0, 1, 0, 1};
    if (wrong == WRONG_LABEL && part == WEFT_TEST) label[3] = 2;
    if (wrong == EMPTY_CLASS) label[1] = label[3] = 0;
    int64_t n = wrong == NO_VALID && part == WEFT_VALID ? 0 : HAND_ROWS;
    const int64_t dims[2] = {n, 2};
    const char *name = weft_part_name[part];
    if (wrong != NO_LABELS || part != WEFT_VALID)
        TRY(weft_h5_put(file, printed("/%s/label", name), WEFT_H5_I32,
                        wrong == WIDE_LABELS ? 2 : 1, dims, label, 0, "label", "none"));
    return wrong < FALLING ? hand_matrix(file, name, n, wrong)
                           : hand_tokens(file, name, n, wrong);
}

static weft_status hand_file(const char *path, int wrong)
{
    static const char *const name[] = {"yes", "no"};
    static const uint64_t hash[4] = {1, 2};
    static const int64_t dims[2] = {2, 2};
    static const uint8_t stop[2] = {0, 1};
    int64_t two = 2;
    const char *form = wrong < FALLING ? "reals" : "tokens";
    weft_h5 file;
    TRY(weft_h5_create(&file, path, mem));
    TRY(weft_h5_put_attr(&file, "/", wrong == NO_FORMAT ? "kind" : "format",
                         wrong == OLD_FORMAT ? "weft data 0" : "weft data 1"));
    TRY(weft_h5_put_attr(&file, "/", "form", wrong == STRANGE_FORM ? "songs" : form));
    TRY(weft_h5_put_attr(&file, "/", "reader", "hand"));
    TRY(weft_h5_put_attr(&file, "/", "source", "hand"));
    TRY(weft_h5_put_attr(&file, "/", "digest", "0"));
    TRY(weft_h5_put_long(&file, "/", "classes", wrong == FEWER_CLASSES ? 3 : 2));
    TRY(weft_h5_put_texts(&file, "/class", name, 2, "names"));
    for (int i = 0; i < WEFT_NPART; i++) TRY(hand_part(&file, i, wrong));
    if (wrong != NO_VOCAB)
        TRY(weft_h5_put(&file, "/vocab/split/hash", WEFT_H5_U64, 1, &two, hash, 0, "h",
                        "none"));
    TRY(weft_h5_put(&file, "/vocab/split/lower", WEFT_H5_U64, wrong == WIDE_VOCAB ? 2 : 1,
                    dims, hash, 0, "l", "none"));
    TRY(weft_h5_put(&file, "/vocab/split/stop", WEFT_H5_U8, 1, &two, stop, 0, "s", "none"));
    if (wrong == ONE_TOKENIZER)
        TRY(weft_h5_put(&file, "/vocab/remove", WEFT_H5_U64, 1, &two, hash, 0, "h",
                        "none"));
    return weft_h5_commit(&file);
}

/* The status of opening such a file, and of its tokens where it holds documents. */
static weft_status open_hand(int wrong)
{
    weft_status st = world.rank == 0 ? hand_file(at("hand.h5"), wrong) : WEFT_OK;
    must(weft_agree(st, &world));
    st = weft_data_open(&data, at("hand.h5"), &world, mem);
    if (st == WEFT_OK && data.form == WEFT_TOKENS)
        st = weft_data_tokens(&data, WEFT_TOK_SPLIT);
    weft_data_close(&data);
    return st;
}

static void test_contradictions(void)
{
    static const struct {
        int wrong;
        weft_status st;
        const char *a, *b, *what;
    } bad[] = {
        {NO_FORMAT, WEFT_EDATA, "hand.h5 is no packed data set", "weft pack",
         "another HDF5 file"},
        {OLD_FORMAT, WEFT_EDATA, "weft data 0", "weft data 1", "another format"},
        {STRANGE_FORM, WEFT_EDATA, "songs", "tokens", "another form"},
        {FEWER_CLASSES, WEFT_EDATA, "3 classes", "names 2", "a class without name"},
        {WRONG_LABEL, WEFT_EDATA, "row 3 of /test/label", "class 2",
         "a label without class"},
        {EMPTY_CLASS, WEFT_EDATA, "'no'", "no training rows", "an empty class"},
        {NO_VALID, WEFT_EDATA, "hand.h5", "no validation rows", "no validation rows"},
        {FEWER_ROWS, WEFT_EDATA, "/test/x is 3 x 2", "4 x 2", "fewer rows than labels"},
        {OTHER_COLUMNS, WEFT_EDATA, "/test/x is 4 x 3", "4 x 2", "parts of other columns"},
        {NOT_FINITE, WEFT_EDATA, "row 3, column 1 of /test/x", "finite", "a NaN"},
        {NO_LABELS, WEFT_EFILE, "hand.h5", "/valid/label", "missing labels"},
        {WIDE_LABELS, WEFT_EFILE, "/train/label of", "hand.h5 has 2 numbers a row",
         "a table of labels"},
        {FALLING, WEFT_EDATA, "/train/split/offset", "rise", "falling offsets"},
        {TOO_FEW_TOKENS, WEFT_EDATA, "3 tokens", "4", "fewer tokens than offsets"},
        {STRANGE_TOKEN, WEFT_EDATA, "token 2 of 2", "/train/split/token",
         "a strange token"},
        {WIDE_VOCAB, WEFT_EFILE, "/vocab/split/lower of", "2 numbers a row",
         "a table of hashes"},
        {WIDE_TOKENS, WEFT_EFILE, "/train/split/token of", "2 numbers a row",
         "a table of tokens"},
        {NO_VOCAB, WEFT_EFILE, "/vocab/split/hash", "hand.h5", "a missing vocabulary"},
    };
    ok(open_hand(NOTHING) == WEFT_OK, "a file written by hand is opened");
    for (size_t i = 0; i < LEN(bad); i++)
        fails(open_hand(bad[i].wrong), bad[i].st, bad[i].a, bad[i].b, bad[i].what);
    fails(weft_data_open(&data, at("none.h5"), &world, mem), WEFT_EFILE, "none.h5",
          "No such file", "a missing file");
    fails(weft_data_open(&data, write_text("t.h5", "hello"), &world, mem), WEFT_EFILE,
          "t.h5", "not an HDF5 file", "a text file");
    fails(weft_data_open(&data, scratch, &world, mem), WEFT_EFILE, scratch, "directory",
          "a directory");
}

/* Configurations that come later may ask for any tokenizer. */
static void test_one_tokenizer(void)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    const weft_feature *feature;
    ok(open_hand(ONE_TOKENIZER) == WEFT_OK, "documents split by one tokenizer are opened");
    must(weft_feature_find("ngram", &feature));
    must(weft_data_open(&data, at("hand.h5"), &world, mem));
    void *map = weft_arena_alloc(mem, 1, feature->kind.size);
    weft_source rows = weft_data_source(&data);
    must(weft_conf_set(&conf, "ngram.bins=64"));
    must(weft_conf_bind(&conf, &feature->kind, map));
    fails(feature->setup(map, &rows, 1e9, 2, 1, mem), WEFT_EFILE, "/vocab/remove/hash",
          "hand.h5", "a search over them");
    weft_data_close(&data);
}

/* What `weft info` adds up: the numbers of rows of each class, which nothing else reads. */
static void test_counts(void)
{
    static const char *const name[] = {"yes", "no"};
    const int64_t wrong[][2] = {{INT64_MAX, 1}, {3, -1}, {INT64_MAX / 2 + 1, 0}};
    int64_t two = 2;
    for (size_t i = 0; i < LEN(wrong); i++) {
        const char *path = at(printed("count%d.h5", world.rank));
        weft_h5 file;
        weft_status st = weft_h5_create(&file, path, mem);
        if (st == WEFT_OK) st = weft_h5_put_attr(&file, "/", "format", "weft data 1");
        if (st == WEFT_OK) st = weft_h5_put_long(&file, "/", "columns", 2);
        if (st == WEFT_OK) st = weft_h5_put_texts(&file, "/class", name, 2, "names");
        for (int p = 0; p < WEFT_NPART && st == WEFT_OK; p++)
            st = weft_h5_put(&file, printed("/%s/count", weft_part_name[p]), WEFT_H5_I64, 1,
                             &two, wrong[i], 0, "rows", "count");
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        must(st);
        fails(weft_info(path), WEFT_EFILE, "/train/count of", "rows; make the file again",
              "an impossible number of rows");
    }
}

static void test_output(void)
{
    fails(pack(&weft_reader_synthetic, "images", "no/x.h5", ""), WEFT_EFILE, "no/x.h5",
          "No such file", "packing into a missing directory");
    fails(pack(&weft_reader_synthetic, "images", "t.h5/x.h5", ""), WEFT_EFILE, "t.h5/x.h5",
          "Not a directory", "packing into a file");
}

/* What the address sanitizer keeps of freed memory, 256 MB otherwise, would count as memory
 * of the process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4";
}

/* Memory of this process that no other shares, bytes; 0: not known. */
static double own_memory(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &kilobytes) == 1) break;
    if (file) fclose(file);
    return 1024.0 * (double)kilobytes;
}

/* Each rank has all rows, of data that are opened twice. */
static void test_memory(void)
{
    weft_data more;
    weft_team alone = weft_team_alone();
    ok(pack(&weft_reader_synthetic, "images", "m.h5", "rows=20000 d=784 classes=3") ==
           WEFT_OK,
       "16 MB of images are packed");
    double before = own_memory();
    weft_status st = weft_data_open(&data, at("m.h5"), &alone, mem);
    if (st == WEFT_OK) st = weft_data_open(&more, at("m.h5"), &alone, mem);
    if (!ok(st == WEFT_OK, "and opened twice")) return;
    weft_data_bind(&data, &more);
    digest((uint64_t)(sum_rows(WEFT_TRAIN, 1) / world.size));
    double grown = own_memory() - before, all = 20000 * 784.0;
    if (before > 0) /* a copy takes `all`; memcheck needs a quarter of what is mapped */
        ok(grown < all / 2 && weft_h5_mapped() > all / 2,
           "each rank has %.1f MB of its own for them, the rest is that of all",
           grown / 1e6);
    else
        skip(1, "the system does not tell a process its memory");
    ok(weft_data_sound(&data) == WEFT_OK, "they are sound");
    weft_data_close(&data);
    ok(weft_h5_mapped() < 1, "both are closed together");
}

MAIN(scratch, test_bytes, test_memory, test_reals, test_documents, test_contradictions,
     test_one_tokenizer, test_counts, test_output)

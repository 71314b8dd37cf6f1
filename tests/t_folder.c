/* Readers `folder` and `text` on directories of classes and on files of lines in the
 * layouts of 20 Newsgroups, SST, MR and TREC: encodings, what is removed from newsgroup
 * articles, and the one-line error for other directories.
 * RUN: np=1 */
#include "scratch.h"

#include "reader/reader.h"

static weft_data data;

static int opened(const char *name)
{
    weft_status st = weft_data_open(&data, at(name), &world, mem);
    if (st == WEFT_OK) st = weft_data_tokens(&data, WEFT_TOK_REMOVE);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK;
}

/* Packs and opens. */
static int packed(const weft_reader *reader, const char *source, const char *options)
{
    if (pack(reader, source, "d.h5", options) == WEFT_OK) return opened("d.h5");
    fprintf(stderr, "# %s\n", weft_error());
    return 0;
}

static int parts_are(int64_t train, int64_t valid, int64_t test)
{
    const int64_t has[] = {data.part[0].total, data.part[1].total, data.part[2].total};
    int good = has[0] == train && has[1] == valid && has[2] == test;
    if (!good) fprintf(stderr, "# %d %d %d\n", (int)has[0], (int)has[1], (int)has[2]);
    return good;
}

static int classes_are(int n, const char *first, const char *last)
{
    return data.classes == n && strcmp(data.class_name[0], first) == 0 &&
           strcmp(data.class_name[n - 1], last) == 0;
}

static int count(weft_part part, int label)
{
    int n = 0;
    for (int64_t i = 0; i < data.part[part].n; i++) n += data.part[part].label[i] == label;
    return n;
}

static int64_t tokens(weft_part part)
{
    return data.part[part].offset[WEFT_TOK_REMOVE][data.part[part].n];
}

static int64_t bare(weft_part part)
{
    const int64_t *offset = data.part[part].offset[WEFT_TOK_REMOVE];
    int64_t n = 0;
    for (int64_t i = 0; i < data.part[part].n; i++) n += offset[i] == offset[i + 1];
    return n;
}

/* Where document i of a part of d.h5 comes from. */
static const char *name_of(const char *part, int i)
{
    weft_h5 file;
    const char **text = NULL;
    int64_t n = 0;
    weft_status st = weft_h5_open(&file, at("d.h5"), mem);
    if (st == WEFT_OK)
        st = weft_h5_read_texts(&file, weft_arena_text(mem, "/%s/name", part), &text, &n);
    weft_h5_close(&file);
    return st == WEFT_OK && i < n ? text[i] : "";
}

/* Whether the vocabulary has a word. */
static int has_word(const char *word)
{
    const weft_vocab *vocab = &data.vocab[WEFT_TOK_REMOVE];
    uint64_t hash = weft_hash(word, strlen(word), 0);
    for (int64_t i = 0; i < vocab->n; i++)
        if (vocab->hash[i] == hash) return 1;
    return 0;
}

/* ---- directories ---- */

/* Two classes of n documents of three words in a directory. */
static void write_classes(const char *dir, int n)
{
    static const char *const class[] = {"cat", "dog"};
    weft_check(mkdir(at(dir), 0777) == 0, "%s", dir);
    for (int c = 0; c < 2; c++) {
        mkdir(at(weft_arena_text(mem, "%s/%s", dir, class[c])), 0777);
        for (int i = 0; i < n; i++)
            write_text(weft_arena_text(mem, "%s/%s/%d", dir, class[c], 100 + i),
                       weft_arena_text(mem, "the %s %d\n", class[c], i));
    }
}

static void test_layouts(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_classes("alone", 20);
    ok(packed(reader, at("alone"), "valid=0.2 test=0.3") && parts_are(20, 8, 12) &&
           classes_are(2, "cat", "dog") && tokens(WEFT_TRAIN) == 60,
       "a directory of classes is divided by shares");
    weft_data_close(&data);
    mkdir(at("news"), 0777);
    write_classes("news/news-train", 20);
    write_classes("news/news-test", 5);
    ok(packed(reader, weft_arena_text(mem, "%s//", at("news")), "") &&
           parts_are(36, 4, 10) && strcmp(name_of("test", 5), "news-test/dog/100") == 0 &&
           count(WEFT_TEST, 1) == 5,
       "NAME-train and NAME-test are parts; documents stand by class and name");
    weft_data_close(&data);
    mkdir(at("ends"), 0777);
    write_classes("ends/train", 20);
    write_classes("ends/latest", 5);
    ok(packed(reader, at("ends"), "") && parts_are(32, 4, 4),
       "a word that ends like a part is none");
    weft_data_close(&data);
    mkdir(at("three"), 0777);
    write_classes("three/train", 20);
    write_classes("three/dev", 6);
    write_classes("three/test", 5);
    ok(packed(reader, at("three"), "") && parts_are(40, 12, 10),
       "so are train, dev and test, and nothing is then taken from train");
    const char *digest = data.digest;
    weft_data_close(&data);
    write_text("three/README", "not a document");
    write_text("three/train/README", "nor this");
    write_text("three/train/cat/.hidden", "nor this");
    mkdir(at("three/unlabelled"), 0777);
    write_text("three/unlabelled/0", "nor this");
    ok(packed(reader, at("three"), "") && strcmp(digest, data.digest) == 0,
       "hidden files and what stands beside the classes are left out");
    weft_data_close(&data);
    write_classes("odd", 5);
    weft_check(rename(at("odd/cat"), at("odd/train")) == 0, "rename");
    ok(packed(reader, at("odd"), "valid=0.2") && classes_are(2, "dog", "train"),
       "a directory train of documents is a class");
    weft_data_close(&data);
}

/* Names of documents of a part that begin so. */
static int named(const char *part, int n, const char *begin)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += strncmp(name_of(part, i), begin, strlen(begin)) == 0;
    return sum;
}

static void test_splits(void)
{
    const weft_reader *reader = &weft_reader_folder;
    mkdir(at("dated"), 0777);
    write_classes("dated/d-train", 20);
    write_classes("dated/d-test", 10);
    ok(packed(reader, at("dated"), "valid=0.25 split=bydate") && parts_are(30, 10, 20) &&
           named("test", 20, "d-test/") == 20,
       "bydate: the test has a directory of its own");
    weft_data_close(&data);
    ok(packed(reader, at("dated"), "valid=0.25 split=shuffled seed=1") &&
           parts_are(30, 10, 20),
       "shuffled: parts of the same sizes");
    int later = named("test", 20, "d-test/");
    ok(later > 0 && later < 20 &&
           later + named("train", 30, "d-test/") + named("valid", 10, "d-test/") == 20,
       "each of which has documents of both directories, every document once");
    const char *first = data.digest;
    weft_data_close(&data);
    ok(packed(reader, at("dated"), "valid=0.25 split=shuffled seed=2") &&
           strcmp(first, data.digest) != 0,
       "by another seed others");
    weft_data_close(&data);
    ok(packed(reader, at("dated"), "valid=0.25 shares=end") && parts_are(30, 10, 20) &&
           named("valid", 10, "d-train/cat/11") == 5 &&
           named("train", 30, "d-train/cat/115") + named("train", 30, "d-train/dog/119") ==
               0 &&
           count(WEFT_TRAIN, 0) == 15,
       "from the end: the last documents of each class validate");
    weft_data_close(&data);
    fails(pack(reader, at("dated"), "d.h5", "shares=end split=shuffled"), WEFT_ECONF,
          "shuffled", "split = bydate", "documents that are shuffled have no end");
    mkdir(at("dated/d-train/eel"), 0777);
    write_text("dated/d-train/eel/0", "the eel");
    ok(packed(reader, at("dated"), "classes=dog,cat") && classes_are(2, "cat", "dog"),
       "some of the classes are read");
    weft_data_close(&data);
    void *self;
    weft_partition over;
    const char *blank[] = {"classes=cat , sea eel"};
    mkdir(at("dated/d-train/sea eel"), 0777);
    write_text("dated/d-train/sea eel/0", "\xef\xbb\xbfthe other eel");
    ok(weft_pack_options(reader, 1, blank, &self, &over, mem) == WEFT_OK &&
           weft_pack_file(reader, self, &over, at("dated"), at("eel.h5"), mem) == WEFT_OK &&
           opened("eel.h5") && classes_are(2, "cat", "sea eel"),
       "also of a name with a blank");
    char digest[40];
    snprintf(digest, sizeof digest, "%s", data.digest);
    weft_data_close(&data);
    write_text("dated/d-train/sea eel/0", "the other eel");
    ok(weft_pack_file(reader, self, &over, at("dated"), at("eel.h5"), mem) == WEFT_OK &&
           opened("eel.h5") && strcmp(digest, data.digest) == 0,
       "a byte order mark is no part of a document");
    weft_data_close(&data);
    ok(!packed(reader, at("dated"), "classes=cat,cow") &&
           strstr(weft_error(), "no class cow"),
       "a class that is not there is refused");
}

static void test_files(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_classes("links", 10);
    weft_check(symlink(at("alone/cat/100"), at("links/cat/link")) == 0, "symlink");
    weft_check(symlink(at("alone/dog"), at("links/wolf")) == 0, "symlink");
    write_text("links/dog/empty", "");
    ok(packed(reader, at("links"), "") && data.classes == 3 && parts_are(42 - 8, 4, 4) &&
           bare(0) + bare(1) + bare(2) == 1,
       "symbolic links are followed, an empty file is an empty document");
    weft_data_close(&data);
    weft_check(symlink("nowhere", at("links/cat/zero")) == 0, "symlink");
    fails(pack(reader, at("links"), "x.h5", ""), WEFT_EFILE, "links/cat/zero",
          "No such file", "a link to nothing");
    write_classes("deep", 5);
    mkdir(at("deep/cat/more"), 0777);
    fails(pack(reader, at("deep"), "x.h5", ""), WEFT_EDATA, "deep/cat/more is a directory",
          "DIR/CLASS/FILE", "a directory in a class");
    write_classes("hollow", 5);
    mkdir(at("hollow/emu"), 0777);
    fails(pack(reader, at("hollow"), "x.h5", ""), WEFT_EDATA, "hollow/emu", "no documents",
          "a class without documents");
    write_classes("pipe", 5);
    weft_check(mkfifo(at("pipe/cat/pipe"), 0666) == 0, "mkfifo");
    fails(pack(reader, at("pipe"), "x.h5", ""), WEFT_EDATA, "pipe/cat/pipe",
          "neither a file", "a pipe");
}

static void test_directories(void)
{
    const weft_reader *reader = &weft_reader_folder;
    mkdir(at("twice"), 0777);
    write_classes("twice/a-train", 5);
    write_classes("twice/b-train", 5);
    fails(pack(reader, at("twice"), "x.h5", ""), WEFT_EDATA, "a-train", "b-train",
          "two training parts");
    mkdir(at("more"), 0777);
    write_classes("more/train", 5);
    write_classes("more/test", 5);
    weft_check(rename(at("more/test/cat"), at("more/test/lion")) == 0, "rename");
    fails(pack(reader, at("more"), "x.h5", ""), WEFT_EDATA, "more: class 'lion'",
          "no training rows", "a class of the test alone");
    mkdir(at("nothing"), 0777);
    fails(pack(reader, at("nothing"), "x.h5", ""), WEFT_EDATA, "0 classes", "nothing",
          "an empty directory");
    fails(pack(reader, at("three/train/cat"), "x.h5", ""), WEFT_EDATA, "holds only files",
          "documents = lines", "files in the place of classes");
    fails(pack(reader, at("alone"), "x.h5", "documents=lines"), WEFT_EDATA,
          "holds only directories", "documents = files", "directories in their place");
    fails(pack(reader, at("none"), "x.h5", ""), WEFT_EFILE, "none", "No such file",
          "a missing directory");
    fails(pack(reader, at("three/README"), "x.h5", ""), WEFT_EFILE, "README", "directory",
          "a file");
    fails(pack(reader, at("alone"), "x.h5", "remove=headers,quote"), WEFT_ECONF, "'quote'",
          "did you mean 'quotes'", "another thing to remove");
}

/* ---- encodings ---- */

static int decodes(weft_encoding encoding, const char *text, const char *want, int odd)
{
    char *x = weft_arena_text(mem, "%s", text);
    size_t n = strlen(x);
    int found = weft_text_decode(encoding, &x, &n, mem);
    return found == odd && n == strlen(want) && memcmp(x, want, n) == 0;
}

static void test_encodings(void)
{
    ok(decodes(WEFT_ENC_AUTO, "caf\xe9 \x96 \x81", "caf\xc3\xa9 \xe2\x80\x93 \xc2\x81", 1),
       "what is not UTF-8 is taken as Windows-1252");
    ok(decodes(WEFT_ENC_AUTO, "caf\xc3\xa9", "caf\xc3\xa9", 0), "what is UTF-8 stays");
    /* by Python's codec: what that has no character for stays a control character */
    ok(decodes(WEFT_ENC_CP1252,
               "\x80\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c"
               "\x8e\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b"
               "\x9c\x9e\x9f",
               "\xe2\x82\xac\xe2\x80\x9a\xc6\x92\xe2\x80\x9e\xe2"
               "\x80\xa6\xe2\x80\xa0\xe2\x80\xa1\xcb\x86\xe2\x80"
               "\xb0\xc5\xa0\xe2\x80\xb9\xc5\x92\xc5\xbd\xe2\x80"
               "\x98\xe2\x80\x99\xe2\x80\x9c\xe2\x80\x9d\xe2\x80"
               "\xa2\xe2\x80\x93\xe2\x80\x94\xcb\x9c\xe2\x84\xa2"
               "\xc5\xa1\xe2\x80\xba\xc5\x93\xc5\xbe\xc5\xb8",
               0),
       "each of its signs is Python's");
    ok(decodes(WEFT_ENC_CP1252, "\x8d\x9d\xa0\xff", "\xc2\x8d\xc2\x9d\xc2\xa0\xc3\xbf", 0),
       "bytes without one are control characters");
    ok(decodes(WEFT_ENC_LATIN1, "\xc3\xa9 \x96", "\xc3\x83\xc2\xa9 \xc2\x96", 0) &&
           decodes(WEFT_ENC_CP1252, "\xc3\xa9 \x80", "\xc3\x83\xc2\xa9 \xe2\x82\xac", 0) &&
           decodes(WEFT_ENC_UTF8, "\xe9", "\xe9", 0),
       "or as is said");
    write_classes("bytes", 5);
    write_text("bytes/cat/latin", "caf\xe9 noir");
    ok(packed(&weft_reader_folder, at("bytes"), "test=0.2") && has_word("caf\xc3\xa9"),
       "a document in Latin-1 has its words");
    weft_data_close(&data);
    fails(pack(&weft_reader_folder, at("bytes"), "x.h5", "encoding=utf-8"), WEFT_EDATA,
          "cat/latin: byte 3", "UTF-8", "a document that is not what was said");
}

/* ---- newsgroups ---- */

static int strips(int flags, const char *text, const char *want)
{
    char *x = weft_arena_text(mem, "%s", text);
    size_t n = strlen(x);
    weft_news_strip(flags, &x, &n);
    int good = n == strlen(want) && memcmp(x, want, n) == 0;
    if (!good) fprintf(stderr, "# '%.*s' where '%s'\n", (int)n, x, want);
    return good;
}

static void test_articles(void)
{
    int h = WEFT_NEWS_HEADERS, f = WEFT_NEWS_FOOTERS, q = WEFT_NEWS_QUOTES;
    ok(strips(h, "From: me\nTo: you\n\nbody\n\nmore", "body\n\nmore") &&
           strips(h, "From: me\r\n\r\nbody", "body") && strips(h, "\n\n", "") &&
           strips(h, "no header", ""),
       "headers end at the first blank line");
    ok(strips(f, "\n\nbody\n\nsaid\n--\nme\n\n", "body\n\nsaid") &&
           strips(f, "body \xc2\xa0\n \xc2\xa0- \nme", "body \xc2\xa0") &&
           strips(f, "body\n \xc2\xa0-- \nme", "body") &&
           strips(f, " one\ntwo ", " one\ntwo ") && strips(f, "---\nme", "---\nme") &&
           strips(f, "", ""),
       "a footer follows the last blank line or line of hyphens");
    ok(strips(f, "body\n====\nme", "body\n====\nme"), "other signs divide nothing");
    ok(strips(f | q, ">asked\n\nanswered", ""), "footers are removed before quotations");
    ok(strips(q, "you wrote:\n> x\n| y\n >z\nIn article 5\nAn In article\nQuoted from\nok",
              " >z\nAn In article\nok") &&
           strips(q, "a\n>b\n", "a\n") && strips(q, ">a\n>b", "") && strips(q, "", "") &&
           strips(q, "she writes in jest\nsays\nsaid:", "says"),
       "quotations are lines that begin or introduce them");
    ok(strips(h | f | q, "A: b\n\n>c\nd\n\nme", "d") && strips(0, "A\n\n>b", "A\n\n>b"),
       "one after the other");
}

/* ---- lines ---- */

static void test_lines(void)
{
    mkdir(at("lines"), 0777);
    write_text("lines/rt.neg", "bad film\n\nworse film\ncaf\xe9 \x97 film\nd\ne\n");
    write_text("lines/rt.pos", "good\nbetter\nbest\nfine\nnice");
    const weft_reader *reader = &weft_reader_folder;
    ok(packed(reader, at("lines"), "documents=lines valid=0.2 test=0.2") &&
           parts_are(6, 2, 2) && classes_are(2, "rt.neg", "rt.pos") &&
           has_word("caf\xc3\xa9"),
       "each line of a class's file is a document, blank ones are none");
    weft_data_close(&data);
    mkdir(at("lines/part"), 0777);
    ok(packed(reader, at("lines"), "documents=lines valid=0.2 test=0.2") &&
           parts_are(6, 2, 2),
       "directories beside the files are left out");
    weft_data_close(&data);
    mkdir(at("sides"), 0777);
    weft_check(rename(at("lines"), at("sides/train")) == 0, "rename");
    mkdir(at("sides/test"), 0777);
    write_text("sides/test/rt.pos", "good\n");
    ok(packed(reader, at("sides"), "documents=lines valid=0.2") && parts_are(8, 2, 1),
       "such files may lie in directories of parts");
    weft_data_close(&data);
    fails(pack(reader, at("sides"), "x.h5", "documents=lines remove=quotes"), WEFT_ECONF,
          "remove = quotes", "documents = lines", "removing lines of lines");

    write_text("sst.train", "1 a fine film\n0 a bad\tone\n1 good\n0 bad\n");
    write_text("sst.dev", "0 dull\n1 lively\n");
    write_text("sst.test", "1 \n0 poor\n");
    const char *three = weft_arena_text(mem, "separator=blank valid_file=%s test_file=%s",
                                        at("sst.dev"), at("sst.test"));
    ok(packed(&weft_reader_text, at("sst.train"), three) && parts_are(4, 2, 2) &&
           classes_are(2, "0", "1") && has_word("one") && tokens(WEFT_TRAIN) == 8,
       "lines may have a blank after their label, as SST's, in three files");
    weft_data_close(&data);
    fails(pack(&weft_reader_text, at("sst.train"), "x.h5", ""), WEFT_EDATA,
          "sst.train: line 1 has no TAB", "separator", "such a file without saying so");
}

/* ---- the real data ---- */

static int newsgroups_agree(const char *source, FILE *gold)
{
    char remove[64];
    long long n[2], words[2], none[2];
    if (fscanf(gold, "%63s %lld %lld %lld %lld %lld %lld", remove, &n[0], &words[0],
               &none[0], &n[1], &words[1], &none[1]) != 7)
        return 0;
    const char *options = weft_arena_text(mem, "encoding=latin1 remove=%s",
                                          strcmp(remove, "-") == 0 ? "" : remove);
    if (!packed(&weft_reader_folder, source, options)) return 0;
    int good = parts_are(n[0] - n[0] / 10, n[0] / 10, n[1]) &&
               classes_are(20, "alt.atheism", "talk.religion.misc") &&
               count(WEFT_TEST, 0) == 319 &&
               tokens(WEFT_TRAIN) + tokens(WEFT_VALID) == words[0] &&
               bare(WEFT_TRAIN) + bare(WEFT_VALID) == none[0] &&
               tokens(WEFT_TEST) == words[1] && bare(WEFT_TEST) == none[1];
    weft_data_close(&data);
    ok(good, "20 Newsgroups has scikit-learn's documents and words, without %s", remove);
    return good;
}

static void test_real(void)
{
    const char *dir = getenv("WEFT_DATA");
    if (dir == NULL) {
        skip(5, "WEFT_DATA names no archives");
        return;
    }
    const char *news = weft_arena_text(mem, "%s/20news-bydate", dir);
    const char *sst = weft_arena_text(mem, "%s/sst/stsa", dir);
    FILE *gold = fopen("tests/gold/newsgroups.txt", "r");
    weft_check(gold != NULL, "tests/gold/newsgroups.txt: run tests in the top directory");
    double start = weft_now();
    for (int i = 0; i < 2; i++)
        if (!newsgroups_agree(news, gold)) ok(0, "20 Newsgroups, line %d", i + 1);
    note("packed and opened twice in %.1f s", weft_now() - start);
    fclose(gold);
    for (int i = 0; i < 2; i++) {
        static const char *const kind[] = {"binary", "fine"};
        const char *files = weft_arena_text(
            mem, "separator=blank valid_file=%s.%s.dev test_file=%s.%s.test", sst, kind[i],
            sst, kind[i]);
        ok(packed(&weft_reader_text, weft_arena_text(mem, "%s.%s.train", sst, kind[i]),
                  files) &&
               (i == 0 ? parts_are(6920, 872, 1821) && classes_are(2, "0", "1")
                       : parts_are(8544, 1101, 2210) && classes_are(5, "0", "4")),
           "SST, %s, has its sentences", kind[i]);
        weft_data_close(&data);
    }
    ok(packed(&weft_reader_folder, weft_arena_text(mem, "%s/rt-polaritydata", dir),
              "documents=lines") &&
           parts_are(8530, 1066, 1066) && count(0, 0) + count(1, 0) + count(2, 0) == 5331,
       "MR is 5,331 sentences of each class");
    weft_data_close(&data);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    return TESTS(test_layouts, test_splits, test_files, test_directories, test_encodings,
                 test_articles, test_lines, test_real);
}

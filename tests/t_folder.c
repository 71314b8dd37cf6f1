/* Readers `folder` and `text` on directories of classes and on files of lines in the
 * layouts of 20 Newsgroups, SST, MR and TREC: encodings, what is removed from newsgroup
 * articles, and the one-line error for other directories.
 * RUN: np=1 */
#include "packing.h"

#include "reader/reader.h"

/* With its words. */
static int read_as(const weft_reader *reader, const char *source, const char *options)
{
    return packed(reader, source, options) &&
           weft_data_tokens(&data, WEFT_TOK_REMOVE) == WEFT_OK;
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
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < n; i++)
            write_text(printed("%s/%s/%d", dir, class[c], 100 + i),
                       printed("the %s %d\n", class[c], i));
}

static void test_layouts(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_classes("alone", 20);
    ok(read_as(reader, at("alone"), "valid=0.2 test=0.3") && parts_are(20, 8, 12) &&
           classes_are(2, "cat", "dog") && tokens(WEFT_TRAIN) == 60,
       "a directory of classes is divided by shares");
    write_classes("news/news-train", 20);
    write_classes("news/news-test", 5);
    ok(read_as(reader, printed("%s//", at("news")), "") && parts_are(36, 4, 10) &&
           strcmp(name_of("test", 5), "news-test/dog/100") == 0 && count(WEFT_TEST, 1) == 5,
       "NAME-train and NAME-test are parts; documents stand by class and name");
    write_classes("ends/train", 20);
    write_classes("ends/latest", 5);
    ok(read_as(reader, at("ends"), "") && parts_are(32, 4, 4),
       "a word that ends like a part is none");
    write_classes("three/train", 20);
    write_classes("three/dev", 6);
    write_classes("three/test", 5);
    ok(read_as(reader, at("three"), "") && parts_are(40, 12, 10),
       "so are train, dev and test, and nothing is then taken from train");
    const char *digest = data.digest;
    write_text("three/README", "not a document");
    write_text("three/train/README", "nor this");
    write_text("three/train/cat/.hidden", "nor this");
    write_text("three/unlabelled/0", "nor this");
    ok(read_as(reader, at("three"), "") && strcmp(digest, data.digest) == 0,
       "hidden files and what stands beside the classes are left out");
    write_classes("odd", 5);
    weft_check(rename(at("odd/cat"), at("odd/train")) == 0, "rename");
    ok(read_as(reader, at("odd"), "valid=0.2") && classes_are(2, "dog", "train"),
       "a directory train of documents is a class");
}

/* Names of documents of a part that begin so. */
static int begun(const char *part, int n, const char *begin)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += strncmp(name_of(part, i), begin, strlen(begin)) == 0;
    return sum;
}

static void test_splits(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_classes("dated/d-train", 20);
    write_classes("dated/d-test", 10);
    ok(read_as(reader, at("dated"), "valid=0.25 split=bydate") && parts_are(30, 10, 20) &&
           begun("test", 20, "d-test/") == 20,
       "bydate: the test has a directory of its own");
    ok(read_as(reader, at("dated"), "valid=0.25 split=shuffled seed=1") &&
           parts_are(30, 10, 20),
       "shuffled: parts of the same sizes");
    int later = begun("test", 20, "d-test/");
    ok(later > 0 && later < 20 &&
           later + begun("train", 30, "d-test/") + begun("valid", 10, "d-test/") == 20,
       "each of which has documents of both directories, every document once");
    const char *first = data.digest;
    ok(read_as(reader, at("dated"), "valid=0.25 split=shuffled seed=2") &&
           strcmp(first, data.digest) != 0,
       "by another seed others");
    ok(read_as(reader, at("dated"), "valid=0.25 shares=end") && parts_are(30, 10, 20) &&
           begun("valid", 10, "d-train/cat/11") == 5 &&
           begun("train", 30, "d-train/cat/115") + begun("train", 30, "d-train/dog/119") ==
               0 &&
           count(WEFT_TRAIN, 0) == 15,
       "from the end: the last documents of each class validate");
    refuses(reader, at("dated"), "shares=end split=shuffled", WEFT_ECONF, "shuffled",
            "split = bydate", "documents that are shuffled have no end");
}

/* Of the same documents. */
static void test_some_classes(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_text("dated/d-train/eel/0", "the eel");
    ok(read_as(reader, at("dated"), "classes=dog,cat") && classes_are(2, "cat", "dog"),
       "some of the classes are read");
    void *self;
    weft_partition over;
    const char *blank[] = {"classes=cat , sea eel"};
    write_text("dated/d-train/sea eel/0", "\xef\xbb\xbfthe other eel");
    ok(weft_pack_options(reader, 1, blank, &self, &over, mem) == WEFT_OK &&
           weft_pack_file(reader, self, &over, at("dated"), at("eel.h5"), mem) == WEFT_OK &&
           opened("eel.h5") && classes_are(2, "cat", "sea eel"),
       "also of a name with a blank");
    const char *digest = data.digest;
    write_text("dated/d-train/sea eel/0", "the other eel");
    ok(weft_pack_file(reader, self, &over, at("dated"), at("eel.h5"), mem) == WEFT_OK &&
           opened("eel.h5") && strcmp(digest, data.digest) == 0,
       "a byte order mark is no part of a document");
    ok(!read_as(reader, at("dated"), "classes=cat,cow") && says("no class cow"),
       "a class that is not there is refused");
}

static void test_files(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_classes("links", 10);
    weft_check(symlink(at("alone/cat/100"), at("links/cat/link")) == 0, "symlink");
    weft_check(symlink(at("alone/dog"), at("links/wolf")) == 0, "symlink");
    write_text("links/dog/empty", "");
    ok(read_as(reader, at("links"), "") && data.classes == 3 && parts_are(42 - 8, 4, 4) &&
           bare(0) + bare(1) + bare(2) == 1,
       "symbolic links are followed, an empty file is an empty document");
    weft_check(symlink("nowhere", at("links/cat/zero")) == 0, "symlink");
    refuses(reader, at("links"), "", WEFT_EFILE, "links/cat/zero", "No such file",
            "a link to nothing");
    write_classes("deep", 5);
    mkdir(at("deep/cat/more"), 0777);
    refuses(reader, at("deep"), "", WEFT_EDATA, "deep/cat/more is a directory",
            "DIR/CLASS/FILE", "a directory in a class");
    write_classes("hollow", 5);
    mkdir(at("hollow/emu"), 0777);
    refuses(reader, at("hollow"), "", WEFT_EDATA, "hollow/emu", "no documents",
            "a class without documents");
    write_classes("pipe", 5);
    weft_check(mkfifo(at("pipe/cat/pipe"), 0666) == 0, "mkfifo");
    refuses(reader, at("pipe"), "", WEFT_EDATA, "pipe/cat/pipe", "neither a file",
            "a pipe");
}

static void test_directories(void)
{
    const weft_reader *reader = &weft_reader_folder;
    write_classes("twice/a-train", 5);
    write_classes("twice/b-train", 5);
    refuses(reader, at("twice"), "", WEFT_EDATA, "a-train", "b-train",
            "two training parts");
    write_classes("more/train", 5);
    write_classes("more/test", 5);
    weft_check(rename(at("more/test/cat"), at("more/test/lion")) == 0, "rename");
    refuses(reader, at("more"), "", WEFT_EDATA, "more: class 'lion'", "no training rows",
            "a class of the test alone");
    mkdir(at("nothing"), 0777);
    refuses(reader, at("nothing"), "", WEFT_EDATA, "0 classes", "nothing",
            "an empty directory");
    refuses(reader, at("three/train/cat"), "", WEFT_EDATA, "holds only files",
            "documents = lines", "files in the place of classes");
    refuses(reader, at("alone"), "documents=lines", WEFT_EDATA, "holds only directories",
            "documents = files", "directories in their place");
    refuses(reader, at("none"), "", WEFT_EFILE, "none", "No such file",
            "a missing directory");
    refuses(reader, at("three/README"), "", WEFT_EFILE, "README", "directory", "a file");
    refuses(reader, at("alone"), "remove=headers,quote", WEFT_ECONF, "'quote'",
            "did you mean 'quotes'", "another thing to remove");
}

/* ---- encodings ---- */

static int decodes(weft_encoding encoding, const char *text, const char *want, int odd)
{
    char *x = printed("%s", text);
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
    ok(read_as(&weft_reader_folder, at("bytes"), "test=0.2") && has_word("caf\xc3\xa9"),
       "a document in Latin-1 has its words");
    refuses(&weft_reader_folder, at("bytes"), "encoding=utf-8", WEFT_EDATA,
            "cat/latin: byte 3", "UTF-8", "a document that is not what was said");
}

/* ---- newsgroups ---- */

static int strips(int flags, const char *text, const char *want)
{
    char *x = printed("%s", text);
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
    write_text("lines/rt.neg", "bad film\n\nworse film\ncaf\xe9 \x97 film\nd\ne\n");
    write_text("lines/rt.pos", "good\nbetter\nbest\nfine\nnice");
    const weft_reader *reader = &weft_reader_folder;
    ok(read_as(reader, at("lines"), "documents=lines valid=0.2 test=0.2") &&
           parts_are(6, 2, 2) && classes_are(2, "rt.neg", "rt.pos") &&
           has_word("caf\xc3\xa9"),
       "each line of a class's file is a document, blank ones are none");
    mkdir(at("lines/part"), 0777);
    ok(read_as(reader, at("lines"), "documents=lines valid=0.2 test=0.2") &&
           parts_are(6, 2, 2),
       "directories beside the files are left out");
    write_text("sides/test/rt.pos", "good\n");
    weft_check(rename(at("lines"), at("sides/train")) == 0, "rename");
    ok(read_as(reader, at("sides"), "documents=lines valid=0.2") && parts_are(8, 2, 1),
       "such files may lie in directories of parts");
    refuses(reader, at("sides"), "documents=lines remove=quotes", WEFT_ECONF,
            "remove = quotes", "documents = lines", "removing lines of lines");

    write_text("sst.train", "1 a fine film\n0 a bad\tone\n1 good\n0 bad\n");
    write_text("sst.dev", "0 dull\n1 lively\n");
    write_text("sst.test", "1 \n0 poor\n");
    const char *three = printed("separator=blank valid_file=%s test_file=%s", at("sst.dev"),
                                at("sst.test"));
    ok(read_as(&weft_reader_text, at("sst.train"), three) && parts_are(4, 2, 2) &&
           classes_are(2, "0", "1") && has_word("one") && tokens(WEFT_TRAIN) == 8,
       "lines may have a blank after their label, as SST's, in three files");
    refuses(&weft_reader_text, at("sst.train"), "", WEFT_EDATA,
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
    const char *options =
        printed("encoding=latin1 remove=%s", strcmp(remove, "-") == 0 ? "" : remove);
    if (!read_as(&weft_reader_folder, source, options)) return 0;
    int good = parts_are(n[0] - n[0] / 10, n[0] / 10, n[1]) &&
               classes_are(20, "alt.atheism", "talk.religion.misc") &&
               count(WEFT_TEST, 0) == 319 &&
               tokens(WEFT_TRAIN) + tokens(WEFT_VALID) == words[0] &&
               bare(WEFT_TRAIN) + bare(WEFT_VALID) == none[0] &&
               tokens(WEFT_TEST) == words[1] && bare(WEFT_TEST) == none[1];
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
    const char *news = printed("%s/20news-bydate", dir);
    const char *sst = printed("%s/sst/stsa", dir);
    FILE *gold = gold_of("newsgroups.txt");
    double start = weft_now();
    for (int i = 0; i < 2; i++)
        if (!newsgroups_agree(news, gold)) ok(0, "20 Newsgroups, line %d", i + 1);
    note("packed and opened twice in %.1f s", weft_now() - start);
    fclose(gold);
    for (int i = 0; i < 2; i++) {
        static const char *const kind[] = {"binary", "fine"};
        const char *files =
            printed("separator=blank valid_file=%s.%s.dev test_file=%s.%s.test", sst,
                    kind[i], sst, kind[i]);
        ok(read_as(&weft_reader_text, printed("%s.%s.train", sst, kind[i]), files) &&
               (i == 0 ? parts_are(6920, 872, 1821) && classes_are(2, "0", "1")
                       : parts_are(8544, 1101, 2210) && classes_are(5, "0", "4")),
           "SST, %s, has its sentences", kind[i]);
    }
    ok(read_as(&weft_reader_folder, printed("%s/rt-polaritydata", dir),
               "documents=lines") &&
           parts_are(8530, 1066, 1066) && count(0, 0) + count(1, 0) + count(2, 0) == 5331,
       "MR is 5,331 sentences of each class");
}

MAIN(scratch, test_layouts, test_splits, test_some_classes, test_files, test_directories,
     test_encodings, test_articles, test_lines, test_real)

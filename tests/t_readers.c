/* Readers: the result for a valid source, and the one-line error for an invalid one.
 * RUN: np=1 */
#include "packing.h"

/* ---- cifar ---- */

#define IMAGES 12
#define IMAGE  3073

/* An archive of six files of IMAGES images: image i of file f has label i % 10 and pixels
 * f. */
static void write_archive(const char *dir, int broken)
{
    static char bytes[IMAGES * IMAGE];
    static const char *const file[] = {"data_batch_1.bin", "data_batch_2.bin",
                                       "data_batch_3.bin", "data_batch_4.bin",
                                       "data_batch_5.bin", "test_batch.bin"};
    write_text(printed("%s/batches.meta.txt", dir),
               "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
    for (int f = 0; f < 6; f++) {
        memset(bytes, f, sizeof bytes);
        for (int i = 0; i < IMAGES; i++) bytes[i * IMAGE] = (char)(i % 10);
        size_t n = sizeof bytes;
        if (f == 3 && broken == 1) n -= 1;
        if (f == 3 && broken == 2) bytes[5 * IMAGE] = 10;
        if (f == 3 && broken == 3) continue;
        write_bytes(printed("%s/%s", dir, file[f]), bytes, n);
    }
    if (broken == 4) write_text(printed("%s/batches.meta.txt", dir), "cat\ndog\n");
}

static void test_cifar(void)
{
    const weft_reader *reader = &weft_reader_cifar;
    write_archive("cifar", 0);
    ok(packed(reader, at("cifar"), "images=12"), "a small archive is read");
    ok(data.form == WEFT_BYTES && parts_are(48, 12, 12) && data.classes == 10 &&
           strcmp(data.class_name[3], "cat") == 0,
       "four batches train, one valid, one test, of ten named classes");
    const weft_rows *rows = &data.part[WEFT_TRAIN];
    ok(rows->d == 3072 && rows->byte[0] == 0 && rows->byte[47 * 3072 + 3071] == 3 &&
           rows->label[13] == 1 && data.part[WEFT_VALID].byte[0] == 4 &&
           data.part[WEFT_TEST].byte[12 * 3072 - 1] == 5,
       "images stand in the order of the files");

    write_archive("cifar1", 1);
    refuses(reader, at("cifar1"), "images=12", WEFT_EDATA,
            "data_batch_4.bin has 36875 bytes where 36876", "again", "a truncated archive");
    write_archive("cifar2", 2);
    refuses(reader, at("cifar2"), "images=12", WEFT_EDATA, "data_batch_4.bin", "label 10",
            "a wrong label");
    write_archive("cifar3", 3);
    refuses(reader, at("cifar3"), "images=12", WEFT_EFILE, "data_batch_4.bin",
            "cifar-10-batches-bin", "a missing batch");
    write_archive("cifar4", 4);
    refuses(reader, at("cifar4"), "images=12", WEFT_EDATA, "names 2 classes", "10",
            "a wrong list of classes");
    refuses(reader, at("nothing"), "", WEFT_EFILE, "nothing", "No such file",
            "a missing archive");
    refuses(reader, at("cifar"), "", WEFT_EDATA, "36876 bytes", "30730000",
            "an archive of another size");
    ok(access(at("x.h5"), F_OK) != 0, "and none of them leaves a file");
}

/* CIFAR-100 of 40 images a batch: image i of a file has class i % 100, of group i % 20, and
 * pixels i. */
static void write_hundred(const char *dir, int broken)
{
    enum { BATCH = 40, EACH = 3074, MOST = 5 * BATCH };
    static unsigned char bytes[MOST * EACH];
    static char names[100 * 16];
    size_t n = 0;
    for (int k = 0; k < 100; k++) n += (size_t)sprintf(names + n, "fine %d\n", k);
    for (int i = 0; i < MOST; i++) {
        memset(bytes + i * EACH, i, EACH);
        bytes[i * EACH] = (unsigned char)(i % 20);
        bytes[i * EACH + 1] = (unsigned char)(i % 100);
    }
    if (broken == 1) bytes[130 * EACH] = 11;
    if (broken == 2) bytes[2 * EACH] = 20;
    if (broken == 3) bytes[2 * EACH + 1] = 100;
    write_text(printed("%s/fine_label_names.txt", dir), names);
    write_bytes(printed("%s/train.bin", dir), bytes, broken == 4 ? 9 : sizeof bytes);
    write_bytes(printed("%s/test.bin", dir), bytes, (size_t)BATCH * EACH);
}

static void test_hundred(void)
{
    static const char *const bad[][3] = {
        {"image 130 of class 30 has coarse label 11", "again", "a class of two groups"},
        {"image 2 of class 2 has coarse label 20", "again", "a wrong group"},
        {"image 2 has label 100", "CIFAR-100", "a wrong class"},
        {"train.bin has 9 bytes where 614800", "again", "a truncated file"}};
    const weft_reader *reader = &weft_reader_cifar;
    write_hundred("hundred", 0);
    ok(packed(reader, at("hundred"), "images=40"), "a small CIFAR-100 is read");
    const weft_rows *rows = &data.part[WEFT_TRAIN];
    ok(parts_are(160, 40, 40), "four fifths of train.bin train, one is valid");
    ok(classes_are(100, "fine 0", "fine 99"), "of a hundred named classes");
    ok(rows->d == 3072 && rows->label[130] == 30 && rows->byte[130 * 3072] == 130 &&
           data.part[WEFT_VALID].byte[0] == 160 && data.part[WEFT_TEST].label[39] == 39,
       "images stand in the order of the files");
    ok(packed(reader, at("hundred"), "images=40 clients=4 partition=pachinko alpha=0.1"),
       "its classes have groups, by which rows are dealt");
    refuses(reader, at("cifar"), "images=12 clients=4 partition=pachinko", WEFT_ECONF,
            "partition = pachinko", "dirichlet", "pachinko of CIFAR-10");
    for (int i = 0; i < 4; i++) {
        write_hundred("hundred1", i + 1);
        refuses(reader, at("hundred1"), "images=40", WEFT_EDATA, bad[i][0], bad[i][1],
                bad[i][2]);
    }
}

/* ---- imdb ---- */

/* 30 reviews a class and side; number i says "word<i>" and its class. */
static void write_reviews(const char *dir)
{
    static const char *const side[] = {"train", "test"}, *const class[] = {"neg", "pos"};
    for (int s = 0; s < 2; s++) {
        write_text(printed("%s/%s/unsup/0_0.txt", dir, side[s]), "unlabelled");
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < 30; i++)
                write_text(
                    printed("%s/%s/%s/%d_%d.txt", dir, side[s], class[c], i, c ? 9 : 2),
                    printed("word%d %s", i, class[c]));
    }
}

static void test_imdb(void)
{
    const weft_reader *reader = &weft_reader_imdb;
    write_reviews("imdb");
    write_text("imdb/train/neg/.hidden.txt", "hidden");
    write_text("imdb/train/neg/notes.md", "notes");
    ok(packed(reader, at("imdb"), ""), "a small archive is read");
    ok(data.form == WEFT_TOKENS && parts_are(60, 30, 30) && data.classes == 2 &&
           strcmp(data.class_name[1], "pos") == 0 && count(WEFT_TRAIN, 1) == 30,
       "train is train; test and valid are halves of test");
    ok(strcmp(name_of("train", 0), "train/neg/0_2.txt") == 0 &&
           strcmp(name_of("train", 1), "train/pos/0_9.txt") == 0 &&
           strcmp(name_of("train", 21), "train/pos/10_9.txt") == 0,
       "by number, negative before positive");
    ok(source_is(0, "imdb/train/neg", 290) && source_is(1, "imdb/train/pos", 290) &&
           source_is(2, "imdb/test/neg", 290) && source_is(3, "imdb/test/pos", 290) &&
           *text_in("/source", 4) == '\0',
       "the directories of its classes are the sources, with the bytes of their reviews");
    const char *digest = data.digest;
    ok(packed(reader, at("imdb"), "seed=1") && strcmp(digest, data.digest) != 0 &&
           parts_are(60, 30, 30),
       "another seed divides the test reviews otherwise");

    write_text("imdb/test/pos/3_9.txt", "good \xc3\x28 bad");
    refuses(reader, at("imdb"), "", WEFT_EDATA, "test/pos/3_9.txt: byte 5", "UTF-8",
            "ill-formed UTF-8");
    const char *imdb = at("imdb");
    weft_check(unlink(printed("%s/train/pos/7_9.txt", imdb)) == 0, "unlink");
    refuses(reader, imdb, "", WEFT_EDATA, "train/pos holds 29 reviews",
            "go to 29 where they should go to 28; unpack the archive again",
            "a class without one of its reviews");
    write_text("imdb/train/pos/7_9.txt", "word7 pos");
    write_text("imdb/train/neg/more.txt", "more");
    refuses(reader, imdb, "", WEFT_EDATA, "train/neg holds 31 reviews",
            "go to 29 where they should go to 30", "a text that is no review");
    weft_check(unlink(printed("%s/train/neg/more.txt", imdb)) == 0, "unlink");
    weft_check(system(printed("rm %s/test/neg/*", imdb)) == 0, "rm");
    refuses(reader, at("imdb"), "", WEFT_EDATA, "test/neg", "no reviews", "an empty class");
    refuses(reader, at("imdb/train"), "", WEFT_EFILE, "train/train/neg", "aclImdb",
            "another directory");
}

static void test_sizes(void)
{
    size_t n = 10 << 20;
    char *big = WEFT_NEW(mem, char, n + 1);
    for (size_t i = 0; i < n; i++) big[i] = "ab c"[i % 4];
    write_reviews("big");
    write_text("big/train/neg/1_2.txt", "");
    write_bytes("big/train/pos/2_9.txt", big, n);
    ok(packed(&weft_reader_imdb, at("big"), "") &&
           weft_data_tokens(&data, WEFT_TOK_REMOVE) == WEFT_OK,
       "reviews of 0 bytes and of 10 MB are read");
    const int64_t *offset = data.part[WEFT_TRAIN].offset[WEFT_TOK_REMOVE];
    ok(offset[3] == offset[2] && offset[6] - offset[5] == (int64_t)n / 4 + 1,
       "with all their words");
}

/* ---- text ---- */

static void test_text(void)
{
    const weft_reader *reader = &weft_reader_text;
    char *text = WEFT_NEW(mem, char, 4000);
    for (int i = 0; i < 100; i++)
        snprintf(text + strlen(text), 40, "%s\tword%d and more%s",
                 i % 3 == 0   ? "10"
                 : i % 3 == 1 ? "9"
                              : "other",
                 i, i % 2 ? "\n" : "\r\n");
    write_text("t.tsv", text);
    write_text("u.tsv", "9\tlast words\n\nother\t\n10\tno newline");
    ok(packed(reader, at("t.tsv"), "valid=0.2 test=0.3") && parts_are(50, 20, 30),
       "shares of lines are divided");
    ok(data.classes == 3 && strcmp(data.class_name[0], "9") == 0 &&
           strcmp(data.class_name[1], "10") == 0 &&
           strcmp(data.class_name[2], "other") == 0,
       "classes stand in order: numbers by value, then texts");
    ok(count(WEFT_TRAIN, 0) + count(WEFT_VALID, 0) + count(WEFT_TEST, 0) == 33,
       "with their rows");
    must(weft_data_tokens(&data, WEFT_TOK_SPLIT));
    const weft_vocab *vocab = &data.vocab[WEFT_TOK_SPLIT];
    ok(vocab->hash[0] == weft_hash("and", 3, 0) &&
           vocab->hash[1] == weft_hash("more", 4, 0),
       "of words that are as frequent the first one has the lower number");
    ok(packed(reader, at("t.tsv"),
              printed("test_file=%s valid_file=%s", at("u.tsv"), at("u.tsv"))) &&
           parts_are(100, 3, 3) && strcmp(name_of("test", 1), "u.tsv:3") == 0 &&
           weft_data_tokens(&data, WEFT_TOK_SPLIT) == WEFT_OK &&
           data.part[WEFT_TEST].offset[WEFT_TOK_SPLIT][3] == 4,
       "parts may be files, and texts empty");
}

/* The same texts with their labels, in every notation. */
static void test_text_same(void)
{
    static const char *const same[][2] = {
        {"a\tx y\nb\tz\na\tx\nb\ty z\na\tz\n", ""},
        {"a x y\nb z\na x\nb y z\na z\n", "separator=blank"},
        {"x y\ta\nz\tb\nx\ta\ny z\tb\nz\ta", "label=last"},
        {"x y a\nz b\nx a\ny z b\nz a\n", "separator=blank label=last"},
        {"a,x y\nb,z\na,x\nb,y z\na,z\n", "separator=comma"},
        {"x;a;y\nz;b;\nx;a;\ny;b;z\n;a;z\n", "separator=semicolon label=2"},
        {"x\tq\ta\ty\nz\tq\tb\t\nx\tq\ta\t\ny\tq\tb\tz\n\tq\ta\tz\n", "label=3 text=1,4"},
        {"y,x,a\n,z,b\n,x,a\nz,y,b\nz,,a\n", "separator=comma label=last text=2,1"},
    };
    const char *digest = "";
    for (size_t i = 0; i < LEN(same); i++) {
        write_text("same.tsv", same[i][0]);
        ok(packed(&weft_reader_text, at("same.tsv"),
                  printed("%s valid=0.4 test=0 header=no", same[i][1])) &&
               (i == 0 || strcmp(digest, data.digest) == 0),
           "'%s' reads the same texts", same[i][1]);
        digest = i == 0 ? data.digest : digest;
    }
    write_text("same.tsv", "a\tx y\nb\tz\na\tx\nb\tz y\na\tz\n");
    ok(packed(&weft_reader_text, at("same.tsv"), "valid=0.4 test=0") &&
           strcmp(digest, data.digest) != 0,
       "words in another order are other texts");
}

/* Lines that are no labels and texts as the options have them, and what is said of them. */
static void test_text_ways(void)
{
    static const struct {
        const char *text, *options, *a, *b;
    } way[] = {
        {"__label__a x\n", "", "line 1 has no TAB",
         "fastText are read by separator = blank"},
        {"{\"a\": \"x\"}\n", "", "line 1 has no TAB", "write JSON as CSV"},
        {"a\tx\n", "separator=blank", "line 1 has no blank", "tab reads lines LABEL TAB"},
        {"\"a x\"\n", "", "no TAB", "CSV is read by separator = comma"},
        {"a,x\n", "", "no TAB", "CSV is read by separator = comma"},
        {"a x\n", "", "no TAB", "blank reads lines LABEL BLANK TEXT"},
        {"a\tx\nb\"\ty\n", "", "line 2 has the label b\" with an odd", "comma"},
        {"a\tx\na\ty\nb\tx\nb\ty\nc\tx\nd\tx\ne\tx\n", "", "3 of 5 labels stand in one",
         "such as 'c'; label = last"},
        {"x\ta\nx\ta\ny\tb\ny\tb\nx\tc\nx\td\nx\te\n", "label=last", "3 of 5",
         "such as 'c'; label = first"},
        {"a\tx\n", "label=none", "label = none", "to be scored: like = RUN.h5"},
        {"a\tx\n", "separator=blank text=2", "blank does not have",
         "comma, semicolon or tab"},
        {"g,t\na,x\n", "separator=comma label=g text=g", "text = g", "column of the label"},
        {"g,t\na,x\n", "separator=comma label=g text=tt", "text = tt",
         "'t' is the nearest"},
        {"g,t\na,x\n", "separator=comma label=g text=3", "text = 3", "has 2 columns"},
        {"g,t,t\na,x,y\n", "separator=comma label=g text=t", "name t 2 times",
         "rename one"},
        {"g,t,c\na,x,\n", "separator=comma label=g client=c", "line 2 has no client",
         "give"},
        {"sep=;\na,x\n", "separator=comma label=1", "by its first line ';'", "comma"},
        {"a,x\n", "separator=comma label=3 text=1", "label = 3 and a text", "line 1 has 2"},
    };
    for (size_t i = 0; i < LEN(way); i++) {
        const char *path = write_text("way.tsv", way[i].text);
        weft_status st = pack(&weft_reader_text, path, "x.h5", way[i].options);
        ok(st != WEFT_OK && says(way[i].a) && says(way[i].b), "'%s' is refused with '%s'",
           way[i].options, way[i].b);
    }
    write_text("half.tsv", "a\tx\na\ty\nb\tx\nb\ty\nc\tx\nd\tx\n");
    write_text("more.tsv", "a\tz\na\tw\n");
    ok(packed(&weft_reader_text, at("half.tsv"),
              printed("valid_file=%s test=0", at("more.tsv"))) &&
           parts_are(6, 2, 0),
       "labels of which half stand in one line only are labels");
    ok(source_is(0, "half.tsv", 24) && source_is(1, "more.tsv", 8),
       "each file is a source");
}

static void test_text_errors(void)
{
    const weft_reader *reader = &weft_reader_text;
    write_text("t1.tsv", "a\tx\na\ty\n");
    refuses(reader, at("t1.tsv"), "", WEFT_EDATA, "t1.tsv has 1 class, 'a'", "two or more",
            "one class");
    write_text("t0.tsv", "");
    refuses(reader, at("t0.tsv"), "", WEFT_EDATA, "has no texts", "name another",
            "an empty file");
    write_text("t3.tsv", "a\tx\nb y\n");
    refuses(reader, at("t3.tsv"), "", WEFT_EDATA, "t3.tsv: line 2", "no TAB",
            "a line without label");
    write_text("bom.tsv", "\xef\xbb\xbf"
                          "a\tx\nb\ty\na\tz\nb\tw\n");
    ok(packed(reader, at("bom.tsv"), "valid=0.25 test=0") && data.classes == 2,
       "a byte order mark is no part of the first label");
    write_text("t4.tsv", "a\tx\n\ty\n");
    refuses(reader, at("t4.tsv"), "", WEFT_EDATA, "line 2", "no label", "an empty label");
    write_text("t5.tsv", "a\tx\nb\xff\ty\n");
    refuses(reader, at("t5.tsv"), "encoding=utf-8", WEFT_EDATA, "line 2, byte 1", "UTF-8",
            "a label that is not UTF-8");
    write_text("t6.tsv", "a\tx\nb\ty\xe2\x82\n");
    refuses(reader, at("t6.tsv"), "test=0 encoding=utf-8", WEFT_EDATA, "t6.tsv:2: byte 1",
            "UTF-8", "a text cut in a character");
    refuses(reader, at("t.tsv"), "valid=0.5 test=0.5", WEFT_ECONF, "valid = 0.5", "below 1",
            "no rows for training");
    refuses(reader, at("t.tsv"), "valid=0 test=0", WEFT_EDATA, "validation", "valid",
            "no rows for validation");
    write_text("t7.tsv", "c\tx\n");
    refuses(reader, at("t.tsv"), printed("test_file=%s", at("t7.tsv")), WEFT_EDATA, "'c'",
            "no training rows", "a class that is only in the test");
    refuses(reader, at("none.tsv"), "", WEFT_EFILE, "none.tsv", "No such file",
            "a missing file");
    refuses(reader, scratch, "", WEFT_EFILE, scratch, "directory", "a directory");
}

/* ---- dense ---- */

static void test_dense(void)
{
    const weft_reader *reader = &weft_reader_dense;
    static const char csv[] = "a,b,class\n1,2.5,x\n-3,\"4e1\",y\n5,6,\"x\"\r\n7,8,y";
    static const char svm[] = "+1 1:1 2:2.5 # note\n-1 1:-3 2:40\n\n1.0 1:5 2:6\n-1 2:8\n";
    const char *all = "valid=0.25 test=0";
    write_text("d.csv", csv);
    write_text("d.svm", svm);
    ok(packed(reader, at("d.csv"), all), "a CSV file is read");
    const weft_rows *t = &data.part[WEFT_TRAIN], *v = &data.part[WEFT_VALID];
    double sum[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        sum[i] = v->value[i];
        for (int64_t k = 0; k < t->n; k++) sum[i] += t->value[k * 2 + i];
    }
    ok(data.form == WEFT_REALS && t->d == 2 && t->n == 3 && sum[0] == 10 && sum[1] == 56.5,
       "with its numbers, without its names");
    ok(data.classes == 2 && strcmp(data.class_name[1], "y") == 0, "and its classes");
    ok(packed(reader, at("d.csv"), "valid=0.5 test=0 shares=end") && parts_are(2, 2, 0) &&
           data.part[WEFT_VALID].value[0] + data.part[WEFT_VALID].value[2] == 12,
       "or of each class the last rows validate");
    ok(packed(reader, at("d.svm"), all), "a libsvm file is read");
    t = &data.part[WEFT_TRAIN];
    v = &data.part[WEFT_VALID];
    sum[0] = v->value[0];
    for (int64_t k = 0; k < t->n; k++) sum[0] += t->value[k * 2];
    ok(t->d == 2 && sum[0] == 3 && strcmp(data.class_name[0], "-1") == 0 &&
           strcmp(data.class_name[1], "1") == 0,
       "with zeros where nothing is said");
    write_text("e.csv", "1,2,0\n3,4,1\n5,4,0\n7,4,1\n9,6,1\n1,6,0\n3,6,0\n");
    ok(pack(reader, at("e.csv"), "e.h5", "label=2 test=0 valid=0.2 header=yes") == WEFT_OK,
       "the label may stand anywhere, and the first line be names");
    ok(opened("e.h5") && parts_are(5, 1, 0) && data.classes == 2, "and is no row");
}

/* The same table with any separator, and its label by place or name. */
static void test_dense_separators(void)
{
    static const char *const table[][2] = {
        {"a,kind,\"b\"\n1,x,2\n3,y,4\n5,x,6\n7,y,8\n", "label=2 valid=0.25 test=0"},
        {"a,kind,\"b\"\n1,x,2\n3,y,4\n5,x,6\n7,y,8\n", "label=kind valid=0.25 test=0"},
        {"\xef\xbb\xbf"
         "a;kind;b\r\n1;x;2\r\n3;y;4\r\n5;x;6\r\n7;\"y\";8\r\n",
         "label=kind valid=0.25 test=0"},
        {"a\tkind\tb\n1\tx\t2\n3\ty\t4\n5\tx\t6\n7\ty\t 8", "label=2 valid=0.25 test=0"},
        {"a;kind;b\n1;x;2\n3;y;4\n5;x;6\n7;y;8\n",
         "separator=semicolon label=2 valid=0.25 test=0"},
    };
    const char *digest = "";
    int same = 1;
    for (size_t i = 0; i < LEN(table); i++) {
        write_text("same.csv", table[i][0]);
        if (!ok(packed(&weft_reader_dense, at("same.csv"), table[i][1]),
                "table %zu is read", i))
            return;
        if (i == 0) digest = data.digest;
        same &= strcmp(digest, data.digest) == 0;
    }
    ok(same, "tables with commas, semicolons and tabs are the same data");
    const char *tabs = write_text("tabs.svm", "1\t1:2\t2:3\n0\t1:1\n1\t1:5\n0\t2:1\n");
    ok(packed(&weft_reader_dense, tabs, "valid=0.25 test=0") &&
           data.part[WEFT_TRAIN].d == 2 && data.classes == 2,
       "libsvm's pairs may have tabs between them");
    write_text("mark.csv", "\xef\xbb\xbf"
                           "1,2,x\n3,4,y\n5,6,x\n7,8,y\n");
    ok(packed(&weft_reader_dense, at("mark.csv"), "valid=0.25 test=0") &&
           parts_are(3, 1, 0),
       "a byte order mark does not turn the first row into names");
    refuses(&weft_reader_dense, at("mark.csv"), "label=x", WEFT_ECONF, "label = x",
            "without names", "a name where there are none");
    refuses(&weft_reader_dense, at("same.csv"), "label=kinds", WEFT_ECONF, "label = kinds",
            "a name in the first line", "a name that is not there");
}

static void test_dense_errors(void)
{
    const weft_reader *reader = &weft_reader_dense;
    static const char *const bad[][3] = {
        {"1,2,x\n3,y\n", "line 2 has 2 columns", "3"},
        {"1,2,x\n3,huh,y\n", "line 2, column 2 is 'huh'", "finite"},
        {"1,2,x\n3,,y\n", "line 2, column 2 is ''", "finite"},
        {"1,2,x\nnan,2,y\n", "line 2, column 1 is 'nan'", "finite"},
        {"1,2,x\n1,-inf,y\n", "line 2, column 2 is '-inf'", "finite"},
        {"1,2,x\n1,1e99,y\n", "line 2, column 2 is '1e99'", "finite"},
        {"1,2,x\n1,\"2,y\n1,2,x\n1,2,y\n", "line 2 has a quotation mark", "nothing closes"},
        {"1,2,\n1,2,y\n", "1 class, 'y'", "two or more"},
        {"1 1:2\n-1 1:x\n", "line 2, column 1 is 'x'", "finite"},
        {"1 1:2\n-1 1:nan\n", "line 2, column 1 is 'nan'", "finite"},
        {"1 1:2\n-1 2:2 1:3\n", "line 2 has index 1", "rise"},
        {"1 1:2\n-1 0:3\n", "line 2 has index 0", "rise"},
        {"1 1:2\n-1 x\n", "line 2 has 'x'", "INDEX:VALUE"},
        {"1 1:2 3\n4 1:5 6\n", "line 1 has '3'", "INDEX:VALUE"},
        {"a;b;c\n1,5;2,5;x\n", "line 2, column 1, 'a', is '1,5'", "decimal = comma"},
        {"1 1:2\n1:2 2:2\n", "line 2", "no label"},
        {"1 1:2\n1 2:2\n", "1 class, '1'", "two or more"},
        {"", "has no rows", "name another"},
    };
    for (size_t i = 0; i < LEN(bad); i++) {
        const char *name = write_text("bad.txt", bad[i][0]);
        refuses(reader, name, "missing=refuse", WEFT_EDATA, bad[i][1], bad[i][2],
                printed("bad table %zu", i));
    }
    refuses(reader, at("e.csv"), "label=4", WEFT_ECONF, "label = 4", "3",
            "a label's column that is not there");
}

/* ---- synthetic ---- */

static void test_synthetic(void)
{
    const weft_reader *reader = &weft_reader_synthetic;
    ok(packed(reader, "images", "rows=400 classes=4 d=64") && data.form == WEFT_BYTES &&
           parts_are(400, 100, 100) && data.classes == 4 && data.part[WEFT_TRAIN].d == 64 &&
           count(WEFT_VALID, 3) == 25,
       "images are made");
    ok(strcmp(data.digest, "6436b35b89a42c16f67e6870fa573db7") == 0,
       "the same on every machine");
    ok(packed(reader, "documents", "rows=80 words=20") && data.form == WEFT_TOKENS &&
           parts_are(80, 20, 20) && data.classes == 2,
       "documents are made");
    const char *digest = data.digest;
    ok(packed(reader, "documents", "rows=80 words=20") && strcmp(data.digest, digest) == 0,
       "twice the same");
    ok(packed(reader, "documents", "rows=80 words=20 seed=1") &&
           strcmp(data.digest, digest) != 0,
       "another seed gives others");
    refuses(reader, "image", "", WEFT_ECONF, "'image'", "did you mean 'images'",
            "another word");
    refuses(reader, "images", "d=60", WEFT_ECONF, "60", "64", "images that are not square");
    refuses(reader, "images", "d=-1", WEFT_ECONF, "0", "d", "no pixels");
    refuses(reader, "images", "classes=1", WEFT_ECONF, "classes = 1", "two or more",
            "one class");
}

/* ---- the real data ---- */

static void test_real(void)
{
    const char *dir = getenv("WEFT_DATA");
    if (dir == NULL) {
        skip(5, "WEFT_DATA names no archives");
        return;
    }
    int even = 1;
    ok(packed(&weft_reader_cifar, printed("%s/cifar-10-batches-bin", dir), "") &&
           parts_are(40000, 10000, 10000),
       "CIFAR-10 is 40,000, 10,000 and 10,000 images");
    for (int c = 0; c < 10; c++)
        even &= abs(count(WEFT_TRAIN, c) - 4000) < 100 && count(WEFT_TEST, c) == 1000 &&
                count(WEFT_TRAIN, c) + count(WEFT_VALID, c) == 5000;
    ok(even,
       "5,000 images a class, about 4,000 of them for training, and 1,000 for the test");
    double start = weft_now();
    ok(packed(&weft_reader_imdb, printed("%s/aclImdb", dir), "") &&
           parts_are(25000, 12500, 12500),
       "IMDB is 25,000, 12,500 and 12,500 reviews");
    note("packed and opened in %.1f s", weft_now() - start);
    ok(count(WEFT_TRAIN, 0) == 12500 &&
           count(WEFT_VALID, 1) + count(WEFT_TEST, 1) == 12500 &&
           abs(count(WEFT_TEST, 1) - 6250) < 250,
       "half of them positive");
    start = weft_now();
    ok(weft_data_tokens(&data, WEFT_TOK_SPLIT) == WEFT_OK &&
           data.part[WEFT_TRAIN].offset[WEFT_TOK_SPLIT][25000] > 25000 * 200,
       "and long");
    note("tokens read in %.3f s", weft_now() - start);
}

/* After the first test, too: from the first mapped file on /dev/zero stays open. */
static void test_closed(void)
{
    weft_data_close(&data);
    files_closed();
}

MAIN(scratch, test_cifar, test_closed, test_hundred, test_imdb, test_sizes, test_text,
     test_text_same, test_text_ways, test_text_errors, test_dense, test_dense_separators,
     test_dense_errors, test_synthetic, test_real, test_closed)

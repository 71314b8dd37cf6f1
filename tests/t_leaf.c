/* Reader of LEAF's JSON: rows and windows are read back bit by bit, a text is rebuilt from
 * overlapping windows, and directories are joined.
 * RUN: np=1 */
#include "leaf.h"

/* ---- rows ---- */

#define ROWS                                                                               \
    "{\"users\": [\"a\", \"b\"], \"hierarchies\": [[], {\"x\": [1]}],"                     \
    " \"num_samples\": [4, 2], \"user_data\": {"                                           \
    "\"a\": {\"x\": [[1, 2.5, 0], [1e-3, -4, 0.1], [5, 6, 7], [8, 9, 1]],"                 \
    " \"y\": [0, 1, 2.0, 4]},"                                                             \
    "\"b\": {\"raw\": [{\"y\": null}], \"y\": [1, 0], \"x\": [[0, 0, 1], [1, 1, 1]]}}}"

static void test_rows(void)
{
    const char *source = write_text("rows.json", ROWS);
    if (!ok(taken(source, "valid=0 test=0.25 shape=3x1x1"), "rows are packed")) return;
    weft_samples s = samples(0, WEFT_TRAIN), t = samples(0, WEFT_TEST);
    ok(data.clients->n == 2, "users are clients");
    ok(data.clients->d == 3 && data.clients->channels == 3 && data.form == WEFT_REALS,
       "numbers of a sample have the shape that is given");
    ok(data.classes == 5, "classes are those of the file");
    double sum = (double)t.x[0];
    for (int64_t i = 0; i < s.n; i++) sum += (double)s.x[3 * i];
    ok(s.n == 3 && t.n == 1 && sum == 14 + (double)1e-3f,
       "a user's samples are divided by the share");
    if (!ok(taken(source, "valid=0 test=0"), "or left together")) return;
    s = samples(0, WEFT_TRAIN);
    ok(s.n == 4 && s.x[1] == 2.5f && s.x[3] == 1e-3f && s.x[4] == -4 && s.label[2] == 2 &&
           s.x[9] == 8 && s.label[3] == 4,
       "then in their order");
    s = samples(1, WEFT_TRAIN);
    ok(s.n == 2 && s.x[2] == 1 && s.label[0] == 1 && named(1, "b"),
       "y may stand before x, and other keys between");
    source = write_text("late.json",
                        "{\"user_data\": {\"a\": {\"x\": [[1], [2]], \"y\": [0, 1]}},"
                        " \"num_samples\": [2], \"users\": [\"a\"]}");
    ok(taken(source, "valid=0 test=0") && data.part[WEFT_TRAIN].total == 2,
       "the lists may stand behind the data");
}

/* A large directory: users that fill many pieces of a file. */
static void test_many(void)
{
    enum { FILES = 3, USERS = 40, D = 50 };
    for (int f = 0; f < FILES; f++) {
        char *text = WEFT_NEW(mem, char, 2000000), *to = text;
        to += sprintf(to, "{\"users\": [");
        for (int u = 0; u < USERS; u++)
            to += sprintf(to, "%s\"}%d.%d\"", u ? "," : "", f, u);
        to += sprintf(to, "], \"num_samples\": [");
        for (int u = 0; u < USERS; u++) to += sprintf(to, "%s%d", u ? "," : "", u + 1);
        to += sprintf(to, "], \"user_data\": {");
        for (int u = 0; u < USERS; u++) {
            to += sprintf(to, "%s\"}%d.%d\": {\"x\": [", u ? "," : "", f, u);
            for (int i = 0; i <= u; i++)
                for (int j = 0; j < D; j++)
                    to += sprintf(to, "%s%s%.4g%s", i && !j ? "," : "", j ? "," : "[",
                                  (f * 7 + u + i + j) / 7.0, j == D - 1 ? "]" : "");
            to += sprintf(to, "], \"y\": [");
            for (int i = 0; i <= u; i++) to += sprintf(to, "%s%d", i ? "," : "", i % 3);
            to += sprintf(to, "]}");
        }
        sprintf(to, "}}");
        write_text(printed("many/data_%d.json", f), text);
    }
    int good = taken(at("many"), "valid=0 test=0");
    good = good && data.clients->n == FILES * USERS && data.classes == 3;
    for (int c = 0; good && c < FILES * USERS; c++) {
        int f = c / USERS, u = c % USERS;
        weft_samples s = samples(c, WEFT_TRAIN);
        good = s.n == u + 1 && named(c, printed("}%d.%d", f, u));
        for (int i = 0; good && i <= u; i++)
            for (int j = 0; good && j < D; j++)
                good = s.label[i] == i % 3 &&
                       s.x[i * D + j] ==
                           (float)strtod(printed("%.4g", (f * 7 + u + i + j) / 7.0), NULL);
    }
    ok(good, "files of many users come back number by number");
}

/* ---- text ---- */

static void put_symbol(const char *symbol, FILE *to)
{
    if (*symbol == '"') fputs("\\", to);
    fputs(symbol, to);
}

/* The windows and the characters that follow them of one client. */
static void put_samples(const weft_samples *samples, FILE *to)
{
    const weft_clients *clients = data.clients;
    for (int64_t i = 0; i < samples->n; i++) {
        fputs(i > 0 ? ", \"" : "\"", to);
        for (int64_t j = 0; j < clients->d; j++)
            put_symbol(data.class_name[samples->text[i * clients->stride + j]], to);
        fputs("\"", to);
    }
    fputs("], \"y\": [", to);
    for (int64_t i = 0; i < samples->n; i++) {
        fputs(i > 0 ? ", \"" : "\"", to);
        put_symbol(data.class_name[samples->text[i * clients->stride + clients->d]], to);
        fputs("\"", to);
    }
    fputs("]}", to);
}

/* Writes the samples of a part of the open data set as LEAF does; `slip`: num_samples of as
 * many more. */
static void write_part(const char *path, weft_part part, int64_t slip)
{
    const weft_clients *clients = data.clients;
    weft_arena *tmp = weft_arena_new();
    FILE *to = fopen(path, "w");
    weft_check(to != NULL, "cannot write %s", path);
    for (int what = 0; what < 3; what++) {
        static const char *const key[] = {"{\"users\": [", "], \"num_samples\": [",
                                          "], \"user_data\": {"};
        const char *comma = "";
        fputs(key[what], to);
        for (int64_t c = 0; c < clients->n; c++) {
            size_t mark = weft_arena_mark(tmp);
            weft_samples samples;
            const char *name;
            must(weft_client_read(clients, c, part, &samples, tmp));
            must(weft_client_name(clients, c, &name, tmp));
            if (samples.n == 0) continue;
            if (what == 0) fprintf(to, "%s\"%s\"", comma, name);
            if (what == 1) fprintf(to, "%s%lld", comma, (long long)(samples.n + slip));
            if (what == 2) fprintf(to, "%s\n\"%s\": {\"x\": [", comma, name);
            comma = ", ";
            if (what == 2) put_samples(&samples, to);
            weft_arena_reset(tmp, mark);
        }
    }
    fputs("}}\n", to);
    weft_check(fclose(to) == 0, "cannot write %s", path);
    weft_arena_free(tmp);
}

/* A sum over the samples of all clients, by name, and of which part they are; independent
 * of how they are stored. */
static uint64_t sum_samples(void)
{
    const weft_clients *clients = data.clients;
    uint64_t sum = 0;
    weft_arena *tmp = weft_arena_new();
    for (int64_t c = 0; c < clients->n; c++)
        for (int part = 0; part < WEFT_NPART; part++) {
            size_t mark = weft_arena_mark(tmp);
            weft_samples samples;
            const char *name;
            must(weft_client_read(clients, c, (weft_part)part, &samples, tmp));
            must(weft_client_name(clients, c, &name, tmp));
            uint64_t who = weft_hash(name, strlen(name), (uint64_t)part);
            for (int64_t i = 0; i < samples.n; i++)
                sum += weft_hash(samples.text + i * clients->stride, (size_t)clients->d + 1,
                                 who + (uint64_t)i);
            weft_arena_reset(tmp, mark);
        }
    weft_arena_free(tmp);
    return sum;
}

#define PLAY                                                                               \
    "x\nby William Shakespeare\n\nby William Shakespeare\nA PLAY\n\nby William "           \
    "Shakespeare\n"                                                                        \
    "  MARIA. What shall we do else? Were we not born under Taurus?\n"                     \
    "    Taurus? That's \"sides\" and heart.\n    No, sir; it is legs and thighs.\n"       \
    "  TOBY. Good night, Penthesilea, and so farewell to all.\n"                           \
    "    Before me, she's a good wench.\n    And one that adores me: what o' that?\n"      \
    "*** END OF THIS\n"

/* Writes the parts of the open data set that have samples to directories of their own in a
 * new one; slip: as in write_part, of the test. */
static void write_parts(const char *dir, int64_t slip)
{
    mkdir(at(dir), 0777);
    for (int i = 0; i < WEFT_NPART; i++) {
        if (data.part[i].total == 0) continue;
        const char *part = printed("%s/%s", at(dir), weft_part_name[i]);
        mkdir(part, 0777);
        write_part(printed("%s/d.json", part), (weft_part)i, i == WEFT_TEST ? slip : 0);
    }
}

/* Packs plays, writes them as LEAF's JSON and packs that again. */
static void round_trip(const char *plays, const char *options, const char *again,
                       int divided, const char *what)
{
    if (!ok(packed(&weft_reader_shakespeare, plays, options), "plays are packed (%s)",
            what))
        return;
    uint64_t sum = sum_samples();
    int64_t stride = data.clients->stride, total = data.part[0].total;
    const char *digest = data.digest;
    if (divided) {
        write_parts("j", 0);
    } else {
        mkdir(at("j"), 0777);
        write_part(at("j/d.json"), WEFT_TRAIN, 0);
    }
    int good = taken(at("j"), again);
    ok(good && sum_samples() == sum && data.part[0].total == total,
       "written out by LEAF's rules and packed again, they are the same (%s)", what);
    ok(good && data.clients->stride == stride, "the stride is found again (%s)", what);
    ok(good && (divided || strcmp(data.digest, digest) == 0),
       "and the packed file, where nothing was left out (%s)", what);
    weft_check(system(printed("rm -r %s", at("j"))) == 0, "cannot remove");
}

static void test_text(void)
{
    const char *plays = write_text("plays.txt", PLAY);
    round_trip(plays, "length=10 valid=0 test=0", "valid=0 test=0", 0, "stride 1");
    round_trip(plays, "length=10 stride=10 valid=0 test=0", "valid=0 test=0", 0,
               "side by side");
    round_trip(plays, "length=10", "", 1, "three parts");
    round_trip(plays, "length=10 stride=3 rule=leaf test=0.3", "valid=0", 1,
               "LEAF's split");
    round_trip(plays, "length=10 stride=11", "", 1, "apart");
}

/* LEAF counts the windows of its gap as samples of the test. */
static void test_slip(void)
{
    const char *plays = write_text("plays.txt", PLAY);
    weft_status st = pack(&weft_reader_shakespeare, plays, "a.h5", "length=10 rule=leaf");
    if (!ok(st == WEFT_OK && opened("a.h5"), "plays are packed by LEAF's rule")) return;
    int64_t total = data.part[WEFT_TEST].total;
    write_parts("g", 9);
    ok(taken(at("g"), "") && data.part[WEFT_TEST].total == total,
       "LEAF's slip in num_samples of the test is let pass");
    if (opened("a.h5")) write_part(at("g/test/d.json"), WEFT_TEST, 8);
    refuses(&weft_reader_leaf, at("g"), "", WEFT_EDATA, "g/test/d.json", "num_samples",
            "but no other");
}

/* Windows of train/ that are taken for validation share no character with the others. */
static void test_cut(void)
{
    enum { USERS = 2, GAP = 10 }; /* windows of 10 at stride 1 */
    weft_samples train[USERS], test[USERS];
    const char *plays = write_text("plays.txt", PLAY);
    weft_status st =
        pack(&weft_reader_shakespeare, plays, "a.h5", "length=10 rule=leaf test=0.3");
    if (!ok(st == WEFT_OK && opened("a.h5") && data.clients->n == USERS,
            "plays of two roles are packed by LEAF's rule"))
        return;
    for (int c = 0; c < USERS; c++) {
        train[c] = samples(c, WEFT_TRAIN);
        test[c] = samples(c, WEFT_TEST);
        train[c].text = memcpy(WEFT_NEW(mem, uint8_t, train[c].n + GAP), train[c].text,
                               (size_t)train[c].n + GAP);
        test[c].text = memcpy(WEFT_NEW(mem, uint8_t, test[c].n + GAP), test[c].text,
                              (size_t)test[c].n + GAP);
    }
    write_parts("cut", 0);
    int good = taken(at("cut"), "valid=0.25");
    for (int c = 0; good && c < USERS; c++) {
        weft_samples a = samples(c, WEFT_TRAIN), v = samples(c, WEFT_VALID),
                     t = samples(c, WEFT_TEST);
        good = v.n == llround(0.25 * (double)(train[c].n - GAP)) &&
               a.n + GAP + v.n == train[c].n && t.n == test[c].n &&
               memcmp(a.text, train[c].text, (size_t)a.n + GAP) == 0 &&
               memcmp(v.text, train[c].text + a.n + GAP, (size_t)v.n + GAP) == 0 &&
               memcmp(t.text, test[c].text, (size_t)t.n + GAP) == 0;
    }
    ok(good, "the last windows of train/ are for validation, apart from the others");
}

/* ---- places ---- */

static void test_places(void)
{
    const weft_reader *reader = &weft_reader_leaf;
    refuses(reader, at("none.json"), "", WEFT_EFILE, "none.json", "cannot read",
            "a missing file");
    mkdir(at("empty"), 0777);
    refuses(reader, at("empty"), "", WEFT_EFILE, "empty holds no *.json", "train/",
            "an empty directory");
    write_text("two/a.json", ONE("1", "[1]", "1"));
    write_text("two/b.json", ONE("1", "[1]", "1"));
    refuses(reader, at("two"), "valid=0 test=0", WEFT_EDATA,
            "two/b.json: user 'ann' stands twice", "two/a.json", "a user in two files");
    write_text("tt/train/a.json", "{\"users\": [\"a\", \"b\"], \"num_samples\": [1, 1], "
                                  "\"user_data\": {\"a\": {\"x\": [[1]], \"y\": [1]}, "
                                  "\"b\": {\"x\": [[2]], \"y\": [0]}}}");
    write_text("tt/test/a.json", "{\"users\": [\"b\", \"a\"], \"num_samples\": [1, 1], "
                                 "\"user_data\": {\"b\": {\"x\": [[3]], \"y\": [1]}, "
                                 "\"a\": {\"x\": [[4]], \"y\": [0]}}}");
    fails(pack(reader, at("tt"), "x.h5", ""), WEFT_EDATA, "another place", "same order",
          "directories of the same users in another order");
    write_text("tt/test/a.json", "{\"users\": [\"a\", \"c\"], \"num_samples\": [1, 1], "
                                 "\"user_data\": {\"a\": {\"x\": [[3]], \"y\": [1]}, "
                                 "\"c\": {\"x\": [[4]], \"y\": [0]}}}");
    ok(taken(at("tt"), "") && data.clients->n == 3 && named(1, "b") &&
           samples(0, WEFT_TEST).x[0] == 3 && samples(2, WEFT_TEST).x[0] == 4,
       "some users may be in one directory alone");
}

static void test_joined(void)
{
    write_text("tt/test/a.json", "{\"users\": [\"a\", \"b\"], \"num_samples\": [1, 2], "
                                 "\"user_data\": {\"a\": {\"x\": [[3]], \"y\": [1]}, "
                                 "\"b\": {\"x\": [[4], [5]], \"y\": [0, 1]}}}");
    ok(taken(at("tt"), "") && data.clients->n == 2 && samples(1, WEFT_TRAIN).x[0] == 2 &&
           samples(1, WEFT_TEST).x[1] == 5,
       "train/ and test/ are joined user by user");
    write_text("tt/train/a.json",
               "{\"users\": [\"a\", \"b\"], \"num_samples\": [4, 6], \"user_data\": {"
               "\"a\": {\"x\": [[1], [2], [3], [4]], \"y\": [0, 1, 0, 1]}, \"b\": {"
               "\"x\": [[1], [2], [3], [4], [5], [6]], \"y\": [0, 1, 0, 1, 0, 1]}}}");
    int good = taken(at("tt"), "");
    ok(good && samples(1, WEFT_TRAIN).n == 5 && samples(1, WEFT_VALID).n == 1 &&
           samples(1, WEFT_TEST).x[1] == 5,
       "without valid/, a share of train/ is for validation");
    ok(good && samples(0, WEFT_TRAIN).n == 4 && samples(0, WEFT_VALID).n == 0,
       "a user of too few samples for that is kept");
    ok(taken(at("tt"), "valid=0") && data.part[WEFT_VALID].total == 0,
       "valid = 0 leaves train/ whole");
    write_text("tt/test/a.json", "{\"users\": [\"a\", \"b\"], \"num_samples\": [1, 0], "
                                 "\"user_data\": {\"a\": {\"x\": [[3]], \"y\": [1]}, "
                                 "\"b\": {\"x\": [], \"y\": []}}}");
    ok(taken(at("tt"), "") && data.clients->n == 2 && samples(1, WEFT_TRAIN).n == 5 &&
           samples(1, WEFT_TEST).n == 0,
       "a user may have no samples in one of them");
    ok(taken(at("tt/test"), "valid=0 test=0") && data.clients->n == 1 && named(0, "a"),
       "and is left out where there are none at all");
    write_text("tt/test/a.json", ONE("1", "[6]", "1"));
    ok(taken(at("tt"), "") && data.clients->n == 3 && named(2, "ann") &&
           samples(2, WEFT_TEST).x[0] == 6 && samples(2, WEFT_TRAIN).n == 0 &&
           samples(1, WEFT_VALID).n == 1,
       "where users are others, each has one part");
}

/* ---- the real text ---- */

static void test_real(void)
{
    const char *dir = getenv("WEFT_DATA");
    const char *source = printed("%s/shakespeare/raw_data.txt", dir != NULL ? dir : "");
    struct stat info;
    if (dir == NULL || stat(source, &info) != 0) {
        skip(6, "WEFT_DATA has no shakespeare/raw_data.txt");
        return;
    }
    double start = weft_now();
    round_trip(source, "stride=40", "", 1, "Shakespeare in three parts");
    round_trip(source, "stride=1 most=100 valid=0 test=0", "valid=0 test=0", 0,
               "Shakespeare at stride 1");
    note("in %.2f s", weft_now() - start);
}

MAIN(scratch, test_rows, test_many, test_text, test_slip, test_cut, test_places,
     test_joined, test_real)

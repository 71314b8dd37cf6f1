/* Federations in packed files: every client is read back as it was packed, memory does not
 * grow with rounds, and an inconsistent file gives one line on all ranks.
 * RUN: np=1 np=2 */
#include "scratch.h"

static weft_data data;

/* ---- federations to pack ---- */

struct made {
    weft_form form;
    int64_t clients;
    int named;
    int bad; /* client with a NaN, -1: none */
};

#define D       20
#define STRIDE  3
#define GAP     6
#define SYMBOLS 7

static const weft_opt no_options[] = {{.name = NULL}};

static int64_t size_of(int64_t c, int part)
{
    return (int64_t)(weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)c, (uint64_t)part, 0).v[0] %
                     (part == 0 ? 6 : 3)) +
           (part == 0 && c % 7 != 0);
}

static int value_of(int64_t c, int64_t i, int64_t j)
{
    return (int)(weft_rng_at(2, WEFT_RNG_TEST, (uint64_t)c, (uint64_t)i, 0).v[j % 4] >>
                 (j & 31)) &
           127;
}

static int label_of(int64_t c, int64_t i)
{
    return (int)((c + i) % 3);
}

static weft_status hand_rows(const struct made *made, int64_t c, const char *name,
                             weft_pack *pack)
{
    static double x[16 * D];
    static uint8_t byte[16 * D];
    int32_t label[16];
    int64_t count[WEFT_NPART], n = 0;
    for (int i = 0; i < WEFT_NPART; i++) n += count[i] = size_of(c, i);
    for (int64_t i = 0; i < n; i++) {
        label[i] = label_of(c, i);
        for (int64_t j = 0; j < D; j++) {
            byte[i * D + j] = (uint8_t)value_of(c, i, j);
            x[i * D + j] = (double)value_of(c, i, j);
        }
    }
    if (made->bad == c) x[D + 4] = NAN;
    return weft_pack_client_rows(pack, name, count,
                                 made->form == WEFT_BYTES ? (const void *)byte : x, label);
}

static int64_t windows(const int64_t *count)
{
    int64_t n = 0, parts = 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        n += count[i];
        parts += count[i] > 0;
    }
    return n + (parts > 1 ? (parts - 1) * GAP : 0);
}

static weft_status hand_text(int64_t c, const char *name, weft_pack *pack)
{
    static uint8_t text[200];
    int64_t count[WEFT_NPART];
    for (int i = 0; i < WEFT_NPART; i++) count[i] = size_of(c, i);
    int64_t n = windows(count) * STRIDE + D + 1;
    for (int64_t i = 0; i < n; i++) text[i] = (uint8_t)(value_of(c, i, 0) % SYMBOLS);
    return weft_pack_client_text(pack, name, count, text, n);
}

static weft_status make_read(const void *self, const char *source, weft_pack *pack)
{
    static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g"};
    const struct made *made = self;
    int text = made->form == WEFT_CHARS;
    (void)source;
    weft_pack_split(pack, "as made");
    TRY(weft_pack_clients(pack, made->form,
                          &(weft_clients){.d = D,
                                          .channels = text ? 0 : 1,
                                          .height = text ? 0 : 4,
                                          .width = text ? 0 : 5,
                                          .stride = text ? STRIDE : 1,
                                          .gap = text ? GAP : 0,
                                          .symbols = text ? SYMBOLS : 0,
                                          .named = made->named}));
    for (int64_t c = 0; c < made->clients; c++) {
        char word[32];
        snprintf(word, sizeof word, "client %lld", (long long)c);
        if (text)
            TRY(hand_text(c, made->named ? word : NULL, pack));
        else
            TRY(hand_rows(made, c, made->named ? word : NULL, pack));
    }
    weft_pack_classes(pack, text ? SYMBOLS : 4, name); /* class d has no samples */
    return WEFT_OK;
}

static const weft_reader maker = {
    .kind = WEFT_KIND("made", struct made, no_options, "made"), .read = make_read};

static weft_status make(const char *out, const struct made *made)
{
    weft_status st = WEFT_OK;
    if (world.rank == 0) st = weft_pack_file(&maker, made, NULL, "nowhere", at(out), mem);
    return weft_agree(st, &world);
}

static int made_and_open(const char *out, const struct made *made)
{
    weft_status st = make(out, made);
    if (st == WEFT_OK) st = weft_data_open(&data, at(out), &world, mem);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK;
}

/* ---- what comes back ---- */

/* Sample i of a client, counted without gaps, is as handed over. */
static int row_is_right(const weft_samples *samples, int64_t at_, int64_t c, int64_t i)
{
    int good = samples->label[at_] == label_of(c, i);
    for (int64_t j = 0; j < D; j++) {
        float v = (float)value_of(c, i, j);
        if (data.form == WEFT_BYTES) v /= 255;
        good &= samples->x[at_ * D + j] == v;
    }
    return good;
}

/* The window i of a client, counted with gaps. */
static int window_is_right(const weft_samples *samples, int64_t at_, int64_t c, int64_t i)
{
    int good = 1;
    for (int64_t j = 0; j <= D; j++)
        good &= samples->text[at_ * STRIDE + j] == value_of(c, i * STRIDE + j, 0) % SYMBOLS;
    return good;
}

static int client_is_right(int64_t c, int64_t *total)
{
    size_t mark = weft_arena_mark(mem);
    int good = 1, text = data.form == WEFT_CHARS;
    int64_t before[WEFT_NPART] = {0};
    for (int p = 0; p < WEFT_NPART && good; p++) {
        weft_samples samples;
        int64_t n = size_of(c, p);
        good &= weft_client_count(data.clients, c, (weft_part)p) == n &&
                weft_client_read(data.clients, c, (weft_part)p, &samples, mem) == WEFT_OK &&
                samples.n == n;
        int64_t from = text ? windows(before) + (windows(before) > 0 ? GAP : 0)
                            : before[0] + before[1];
        for (int64_t i = 0; i < n && good; i++)
            good &= text ? window_is_right(&samples, i, c, from + i)
                         : row_is_right(&samples, i, c, from + i);
        before[p] = n;
        total[p] += n;
    }
    weft_arena_reset(mem, mark);
    return good;
}

static void test_form(weft_form form, const char *what, int named)
{
    struct made made = {.form = form, .clients = 3000, .named = named, .bad = -1};
    if (!ok(made_and_open("f.h5", &made), "%s of clients are packed and opened", what))
        return;
    int64_t total[WEFT_NPART] = {0};
    int good = data.clients->n == 3000 && data.clients->d == D;
    for (int64_t c = 0; c < 3000; c++) good &= client_is_right(c, total);
    ok(good, "each client has its own %s", what);
    good = data.form == form;
    for (int p = 0; p < WEFT_NPART; p++)
        good &= data.part[p].total == total[p] && data.part[p].n == 0 &&
                data.part[p].label == NULL;
    ok(good, "the parts hold the totals and no rows");
    const char *name = "";
    ok(weft_client_name(data.clients, 2999, &name, mem) == WEFT_OK &&
           strcmp(name, named ? "client 2999" : "2999") == 0,
       "a client has its name, or its number");
    ok(data.clients->symbols == (form == WEFT_CHARS ? SYMBOLS : 0) &&
           data.clients->width == (form == WEFT_CHARS ? 0 : 5) &&
           data.classes == (form == WEFT_CHARS ? SYMBOLS : 4),
       "it is known what samples are; a class may have none");
    weft_data_close(&data);
}

/* ---- memory ---- */

static double resident(void)
{
    long pages = 0, all = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%ld %ld %ld", &all, &pages, &of_files) != 3)
        pages = of_files = 0;
    if (file != NULL) fclose(file);
    return (double)(pages - of_files) * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* Cohorts of 500 clients. */
static weft_status rounds(int from, int to)
{
    weft_arena *tmp = weft_arena_new();
    weft_status st = WEFT_OK;
    for (int r = from; r < to; r++)
        for (int i = 0; i < 500 && st == WEFT_OK; i++) {
            weft_rng4 rng = weft_rng_at(3, WEFT_RNG_TEST, (uint64_t)r, (uint64_t)i, 0);
            weft_samples samples;
            size_t mark = weft_arena_mark(tmp);
            st = weft_client_read(data.clients,
                                  (int64_t)(rng.v[0] % (uint64_t)data.clients->n),
                                  WEFT_TRAIN, &samples, tmp);
            weft_arena_reset(tmp, mark);
        }
    weft_arena_free(tmp);
    return st;
}

static void test_memory(void)
{
    enum { CLIENTS = 100000 };
    double start = weft_now();
    struct made made = {.form = WEFT_REALS, .clients = CLIENTS, .bad = -1};
    if (!ok(made_and_open("m.h5", &made), "%d clients are packed and opened", CLIENTS))
        return;
    note("in %.2f s", weft_now() - start);
    start = weft_now();
    weft_status st = rounds(0, 5);
    double before = resident();
    if (st == WEFT_OK) st = rounds(5, 40);
    double after = resident();
    note("%.1f us a client, %.1f MiB", (weft_now() - start) / 40 / 500 * 1e6, after);
    ok(st == WEFT_OK && (KEEPS_FREED || after - before < 1),
       "memory does not grow with rounds");
    weft_data_close(&data);
}

/* ---- contradictions ---- */

/* What is wrong with a packed file written by hand. */
enum {
    NOTHING,
    NO_TRAIN,
    OTHER_COUNT,
    NEGATIVE,
    FALLING,
    FEWER_ROWS,
    FEWER_LABELS,
    STRANGE_LABEL,
    NOT_FINITE,
    NO_CLIENT,
    ODD_IMAGE,
    NO_COUNTS,
    FEWER_COUNTS,
    NO_SYMBOLS,
    NOTHING_TEXT,
    SHORT_TEXT,
    STRANGE_SYMBOL,
    FEW_SYMBOLS
};

static weft_status hand_numbers(weft_h5 *file, int wrong)
{
    int text = wrong >= NOTHING_TEXT;
    TRY(weft_h5_put_long(file, "/", "clients", wrong == NO_CLIENT ? 0 : 2));
    TRY(weft_h5_put_long(file, "/", "columns", text ? 3 : 2));
    TRY(weft_h5_put_long(file, "/", "channels", wrong == ODD_IMAGE));
    TRY(weft_h5_put_long(file, "/", "height", 3));
    TRY(weft_h5_put_long(file, "/", "width", 3));
    TRY(weft_h5_put_long(file, "/", "stride", 1));
    TRY(weft_h5_put_long(file, "/", "gap", 0));
    if (wrong != NO_SYMBOLS)
        TRY(weft_h5_put_long(file, "/", "symbols", wrong == FEW_SYMBOLS ? 1 : 2 * text));
    return weft_h5_put_long(file, "/", "named", 0);
}

/* Client 0 has 2 + 1 + 0 samples, client 1 has 1 + 0 + 1. */
static weft_status hand_sets(weft_h5 *file, int wrong)
{
    int text = wrong >= NOTHING_TEXT;
    int32_t count[6] = {2, 1, 0, 1, 0, 1}, label[5] = {0, 1, 0, 1, 1};
    int64_t first[3] = {0, 3, 5}, rows = 5, dims[2] = {2, 3}, three = 3;
    float x[10] = {0};
    if (wrong == NO_TRAIN) {
        count[2] = count[0];
        count[4] = count[3];
        count[0] = count[3] = 0;
    }
    if (wrong == OTHER_COUNT) count[0] = 1;
    if (wrong == NEGATIVE) {
        count[4] = 1;
        count[3] = -1;
        count[5] = 2;
    }
    if (wrong == FALLING) first[1] = 6;
    if (wrong == STRANGE_LABEL) label[4] = 2;
    if (wrong == NOT_FINITE) x[8] = INFINITY;
    if (wrong == FEWER_COUNTS) dims[0] = 1;
    if (wrong != NO_COUNTS)
        TRY(weft_h5_put(file, "/client/count", WEFT_H5_I32, 2, dims, count, 0, "c",
                        "none"));
    if (text) {
        uint8_t symbols[11] = {0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1};
        int64_t n = 11;
        if (wrong == STRANGE_SYMBOL) symbols[7] = 2;
        first[1] = 6;
        first[2] = wrong == SHORT_TEXT ? 10 : 11;
        TRY(weft_h5_put(file, "/text", WEFT_H5_U8, 1, &n, symbols, 0, "t", "none"));
    }
    TRY(weft_h5_put(file, "/client/first", WEFT_H5_I64, 1, &three, first, 0, "f", "none"));
    rows = wrong == FEWER_LABELS ? 4 : 5;
    TRY(weft_h5_put(file, "/label", WEFT_H5_I32, 1, &rows, label, 0, "l", "none"));
    dims[0] = wrong == FEWER_ROWS ? 4 : 5;
    dims[1] = 2;
    return weft_h5_put(file, "/x", WEFT_H5_F32, 2, dims, x, 0, "x", "none");
}

static weft_status hand_file(const char *path, int wrong)
{
    static const char *const name[] = {"yes", "no"};
    weft_h5 file;
    TRY(weft_h5_create(&file, path, mem));
    TRY(weft_h5_put_attr(&file, "/", "format", "weft data 1"));
    TRY(weft_h5_put_attr(&file, "/", "form", wrong >= NOTHING_TEXT ? "chars" : "reals"));
    TRY(weft_h5_put_attr(&file, "/", "reader", "hand"));
    TRY(weft_h5_put_attr(&file, "/", "source", "hand"));
    TRY(weft_h5_put_attr(&file, "/", "digest", "0"));
    TRY(weft_h5_put_long(&file, "/", "classes", 2));
    TRY(weft_h5_put_texts(&file, "/class", name, 2, "names"));
    TRY(hand_numbers(&file, wrong));
    TRY(hand_sets(&file, wrong));
    return weft_h5_commit(&file);
}

/* The status of opening such a file and of reading all of its clients. */
static weft_status open_hand(int wrong)
{
    weft_status st = world.rank == 0 ? hand_file(at("hand.h5"), wrong) : WEFT_OK;
    must(weft_agree(st, &world));
    st = weft_data_open(&data, at("hand.h5"), &world, mem);
    for (int64_t c = 0; c < 2 && st == WEFT_OK; c++)
        for (int p = 0; p < WEFT_NPART && st == WEFT_OK; p++) {
            weft_samples samples;
            st = weft_client_read(data.clients, c, (weft_part)p, &samples, mem);
        }
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
        {NO_TRAIN, WEFT_EDATA, "hand.h5", "no client has training", "no training samples"},
        {OTHER_COUNT, WEFT_EDATA, "client 0 has 1, 1 and 0", "3 rows", "a wrong count"},
        {NEGATIVE, WEFT_EDATA, "client 1 has -1, 1 and 2", "2 rows", "a negative count"},
        {FALLING, WEFT_EDATA, "client 0", "6 rows", "falling places"},
        {FEWER_ROWS, WEFT_EDATA, "/x is 4 x 2", "5 x 2", "fewer rows than counted"},
        {FEWER_LABELS, WEFT_EDATA, "/label is 4", "5", "fewer labels than counted"},
        {STRANGE_LABEL, WEFT_EDATA, "row 4 of /label", "class 2", "a strange class"},
        {NOT_FINITE, WEFT_EDATA, "row 4, column 0 of /x", "inf", "an infinite number"},
        {NO_CLIENT, WEFT_EDATA, "hand.h5", "0 clients", "no clients"},
        {ODD_IMAGE, WEFT_EDATA, "2 numbers", "images of 9", "another shape of images"},
        {NO_COUNTS, WEFT_EFILE, "hand.h5", "/client/count", "missing counts"},
        {FEWER_COUNTS, WEFT_EDATA, "/client/count is 1 x 3", "2 x 3", "fewer counts"},
        {NO_SYMBOLS, WEFT_EFILE, "hand.h5", "@symbols", "a missing attribute"},
        {SHORT_TEXT, WEFT_EDATA, "client 1 has 1, 0 and 1", "4 characters", "a short text"},
        {STRANGE_SYMBOL, WEFT_EDATA, "character 7 of /text", "symbol 2 of 2",
         "a strange symbol"},
        {FEW_SYMBOLS, WEFT_EDATA, "hand.h5", "1 symbols", "fewer symbols than classes"},
    };
    ok(open_hand(NOTHING) == WEFT_OK, "rows written by hand are opened");
    ok(open_hand(NOTHING_TEXT) == WEFT_OK, "a text written by hand is opened");
    for (size_t i = 0; i < LEN(bad); i++)
        fails(open_hand(bad[i].wrong), bad[i].st, bad[i].a, bad[i].b, bad[i].what);
}

static void test_packing(void)
{
    struct made nan = {.form = WEFT_REALS, .clients = 20, .named = 1, .bad = 11};
    fails(make("n.h5", &nan), WEFT_EDATA, "client 11, client 11: row 2, column 5 is nan",
          "finite", "packing a NaN");
    struct made none = {.form = WEFT_REALS, .clients = 0, .bad = -1};
    fails(make("n.h5", &none), WEFT_EDATA, "no client has training", "split",
          "packing no clients");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_form(WEFT_BYTES, "bytes", 0);
    test_form(WEFT_REALS, "numbers", 1);
    test_form(WEFT_CHARS, "windows", 1);
    return TESTS(test_memory, test_contradictions, test_packing);
}

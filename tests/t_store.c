/* HDF5 files: what is written is read back; every invalid file and every failed write
 * gives one line; an incomplete file never has the final name.
 * RUN: np=1 */
#include "disk.h"
#include "weft/store/file.h"
#include "weft/store/h5.h"

#include <hdf5.h>
#include <sys/wait.h>

/* ---- HDF5 ---- */

#define ROWS 1000
#define COLS 3

static void test_types(void)
{
    static const weft_h5type type[] = {WEFT_H5_U8,  WEFT_H5_I32, WEFT_H5_U32, WEFT_H5_I64,
                                       WEFT_H5_U64, WEFT_H5_F32, WEFT_H5_F64};
    static const size_t size[] = {1, 4, 4, 8, 8, 4, 8};
    static uint64_t in[ROWS * COLS], out[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++)
        in[i] = weft_rng_at(1, WEFT_RNG_TEST, i, 0, 0).v[0] >> 2;
    weft_h5 file;
    for (int packed = 0; packed < 2; packed++) {
        weft_status st = weft_h5_create(&file, at("types.h5"), mem);
        for (int i = 0; i < 7 && st == WEFT_OK; i++)
            st = weft_h5_put(&file, printed("/a/b/%d", i), type[i], 2,
                             (const int64_t[]){ROWS, COLS}, in, packed, "random", "none");
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        if (st == WEFT_OK) st = weft_h5_open(&file, at("types.h5"), mem);
        int same = st == WEFT_OK;
        for (int i = 0; i < 7 && same; i++) {
            memset(out, 0, sizeof out);
            st = weft_h5_read_rows(&file, printed("/a/b/%d", i), type[i], COLS, 0, ROWS,
                                   out);
            same = st == WEFT_OK && memcmp(in, out, ROWS * COLS * size[i]) == 0;
        }
        ok(same, "all types come back as written%s", packed ? ", compressed" : "");
        weft_h5_close(&file);
    }
}

static void test_rows(void)
{
    int32_t in[40], back[40] = {0};
    double real_back[8] = {0};
    for (int i = 0; i < 40; i++) in[i] = i * i - 100;
    weft_h5 file;
    int nd = 0;
    int64_t dims[4] = {0};
    weft_status st = weft_h5_create(&file, at("rows.h5"), mem);
    if (st == WEFT_OK)
        st = weft_h5_make(&file, "/x", WEFT_H5_I32, 2, (const int64_t[]){10, 4}, "rows",
                          "none");
    if (st == WEFT_OK) st = weft_h5_put_rows(&file, "/x", WEFT_H5_I32, 0, 7, in);
    if (st == WEFT_OK) st = weft_h5_put_rows(&file, "/x", WEFT_H5_I32, 7, 3, in + 28);
    if (st == WEFT_OK)
        st = weft_h5_put(&file, "/none", WEFT_H5_F32, 1, (const int64_t[]){0}, NULL, 1,
                         "empty", "");
    ok(st == WEFT_OK, "rows are written in pieces");
    fails(weft_h5_put_rows(&file, "/x", WEFT_H5_I32, 8, 3, in), "10 rows", "8 to 11",
          "writing rows that are not there");
    ok(weft_h5_commit(&file) == WEFT_OK &&
           weft_h5_open(&file, at("rows.h5"), mem) == WEFT_OK,
       "the file is committed and opened");
    ok(weft_h5_read_rows(&file, "/x", WEFT_H5_I32, 4, 0, 10, back) == WEFT_OK &&
           memcmp(in, back, sizeof in) == 0,
       "all rows come back");
    ok(weft_h5_read_rows(&file, "/x", WEFT_H5_F64, 4, 3, 2, real_back) == WEFT_OK &&
           real_back[0] == in[12] && real_back[7] == in[19],
       "some rows come back as another type");
    ok(weft_h5_shape(&file, "/x", &nd, dims) == WEFT_OK && nd == 2 && dims[0] == 10 &&
           dims[1] == 4,
       "the shape is known");
    ok(weft_h5_shape(&file, "/none", &nd, dims) == WEFT_OK && nd == 1 && dims[0] == 0 &&
           weft_h5_read_rows(&file, "/none", WEFT_H5_F32, 1, 0, 0, NULL) == WEFT_OK,
       "a dataset may be empty");
    fails(weft_h5_read_rows(&file, "/x", WEFT_H5_I32, 4, 5, 6, back), "rows.h5", "5 to 11",
          "reading rows that are not there");
    fails(weft_h5_read_rows(&file, "/x", WEFT_H5_I32, 1, 0, 1, back), "/x of", "4 numbers",
          "reading rows of another width");
    fails(weft_h5_read_rows(&file, "/y", WEFT_H5_I32, 1, 0, 1, back), "rows.h5", "/y",
          "a missing dataset");
    weft_h5_close(&file);
}

/* Rows are appended in odd pieces, and read one at a time while the dataset stays open. */
static void test_growing(void)
{
    enum { N = 30000 };
    int32_t *in = WEFT_NEW(mem, int32_t, 3 * N), row[3];
    const char *text[3] = {"one", "", "th\xc3\xa9"}, *back = NULL;
    for (int i = 0; i < 3 * N; i++) in[i] = i * 7 - 5;
    weft_h5 file;
    weft_status st = weft_h5_create(&file, at("grow.h5"), mem);
    if (st == WEFT_OK) st = weft_h5_grow(&file, "/g/x", WEFT_H5_I32, 3, "rows", "none");
    if (st == WEFT_OK) st = weft_h5_grow(&file, "/t", WEFT_H5_TEXT, 0, "texts", "text");
    for (int64_t at_ = 0, n = 1; at_ < N && st == WEFT_OK; at_ += n, n = 2 * n + 1) {
        if (n > N - at_) n = N - at_;
        st = weft_h5_append(&file, "/g/x", WEFT_H5_I32, n, in + 3 * at_);
    }
    if (st == WEFT_OK) st = weft_h5_append(&file, "/t", WEFT_H5_TEXT, 1, text);
    if (st == WEFT_OK) st = weft_h5_append(&file, "/t", WEFT_H5_TEXT, 2, text + 1);
    ok(st == WEFT_OK && weft_h5_commit(&file) == WEFT_OK &&
           weft_h5_open(&file, at("grow.h5"), mem) == WEFT_OK,
       "datasets grow");
    weft_h5set x, t;
    int good = weft_h5_set_open(&x, &file, "/g/x") == WEFT_OK && x.nd == 2 &&
               x.dims[0] == N && x.dims[1] == 3;
    for (int64_t i = 0; i < N && good; i += 97)
        good = weft_h5_set_rows(&x, WEFT_H5_I32, i, 1, row) == WEFT_OK &&
               memcmp(row, in + 3 * i, sizeof row) == 0;
    ok(good, "an open dataset gives its rows one by one");
    fails(weft_h5_set_rows(&x, WEFT_H5_I32, N, 1, row), "/g/x of", "30000 rows",
          "a row that is not there");
    ok(weft_h5_set_open(&t, &file, "/t") == WEFT_OK &&
           weft_h5_set_text(&t, 2, &back, mem) == WEFT_OK && strcmp(back, text[2]) == 0,
       "and a text");
    weft_h5_set_close(&x);
    weft_h5_set_close(&t);
    weft_h5_close(&file);
}

static void test_texts(void)
{
    static const char *const in[] = {"", "a b", "\xc3\xa4\xe2\x82\xac", "last"};
    const char **out = NULL, *text = NULL;
    char *lots = WEFT_NEW(mem, char, 200001);
    memset(lots, 'x', 200000);
    int64_t n = 0, whole = 0;
    double x = 0;
    weft_h5 file;
    weft_status st = weft_h5_create(&file, at("texts.h5"), mem);
    if (st == WEFT_OK) st = weft_h5_put_texts(&file, "/g/t", in, 4, "texts");
    if (st == WEFT_OK) st = weft_h5_put_texts(&file, "/g/none", in, 0, "no texts");
    if (st == WEFT_OK) st = weft_h5_put_attr(&file, "/", "key", "old");
    if (st == WEFT_OK) st = weft_h5_put_attr(&file, "/", "key", lots);
    if (st == WEFT_OK) st = weft_h5_put_num(&file, "/g", "x", 0.1);
    if (st == WEFT_OK) st = weft_h5_put_long(&file, "/g/t", "n", INT64_MIN);
    if (st == WEFT_OK) st = weft_h5_commit(&file);
    if (st == WEFT_OK) st = weft_h5_open(&file, at("texts.h5"), mem);
    ok(st == WEFT_OK, "texts and attributes are written");
    int same = weft_h5_read_texts(&file, "/g/t", &out, &n) == WEFT_OK && n == 4;
    for (int i = 0; i < 4 && same; i++) same = strcmp(in[i], out[i]) == 0;
    ok(same, "texts come back");
    ok(weft_h5_read_texts(&file, "/g/none", &out, &n) == WEFT_OK && n == 0,
       "no texts come back");
    ok(weft_h5_read_attr(&file, "/", "key", &text) == WEFT_OK && strcmp(text, lots) == 0,
       "a long attribute replaces an older one");
    ok(weft_h5_read_num(&file, "/g", "x", &x) == WEFT_OK && x == 0.1,
       "a number comes back");
    ok(weft_h5_read_long(&file, "/g/t", "n", &whole) == WEFT_OK && whole == INT64_MIN,
       "a long number comes back");
    ok(weft_h5_read_attr(&file, "/g/t", "about", &text) == WEFT_OK &&
           strcmp(text, "texts") == 0,
       "a dataset says what it is about");
    weft_h5_close(&file);
}

static void test_names(void)
{
    weft_h5 file;
    const char *text;
    double x;
    must(weft_h5_open(&file, at("texts.h5"), mem));
    ok(weft_h5_has(&file, "/") && weft_h5_has(&file, "/g") && weft_h5_has(&file, "/g/t") &&
           weft_h5_has(&file, "/@key") && weft_h5_has(&file, "/g@x"),
       "what exists is found");
    ok(!weft_h5_has(&file, "/h") && !weft_h5_has(&file, "/h/t") &&
           !weft_h5_has(&file, "/@x") && !weft_h5_has(&file, "/h@x"),
       "what does not exist is not found");
    fails(weft_h5_read_num(&file, "/", "none", &x), "/@none", "texts.h5",
          "a missing attribute");
    fails(weft_h5_read_num(&file, "/", "key", &x), "/@key", "number",
          "a text for a number");
    fails(weft_h5_read_attr(&file, "/g", "x", &text), "/g@x", "text",
          "a number for a text");
    weft_h5_close(&file);
}

static void test_broken(void)
{
    weft_h5 file;
    const char *whole = at("types.h5"), *part = at("part.h5");
    size_t size = size_of(whole);
    fails(weft_h5_open(&file, at("none.h5"), mem), "none.h5", "No such file",
          "a missing file");
    fails(weft_h5_open(&file, scratch, mem), scratch, "directory", "a directory");
    must(weft_file_put(at("text.h5"), "hello", 5));
    fails(weft_h5_open(&file, at("text.h5"), mem), "text.h5", "not an HDF5 file",
          "a text file");
    must(weft_file_put(at("empty.h5"), "", 0));
    fails(weft_h5_open(&file, at("empty.h5"), mem), "empty.h5", "0 bytes", "an empty file");
    copy(whole, part, size / 2);
    fails(weft_h5_open(&file, part, mem), "part.h5", "truncated", "a truncated file");
    unlink(part);
}

/* HDF5 marks the superblock, of each of its versions at another place, while a file is open
 * for writing; what is in the file is then not yet what will be. */
static void test_open_elsewhere(void)
{
    weft_h5 file;
    static const H5F_libver_t from[] = {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST};
    copy(at("types.h5"), at("held.h5"), size_of(at("types.h5")));
    hid_t held = H5Fopen(at("held.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    fails(weft_h5_open(&file, at("held.h5"), mem), "held.h5", "open for writing in another",
          "a file that a program has open for writing");
    H5Fclose(held);
    ok(weft_h5_open(&file, at("held.h5"), mem) == WEFT_OK,
       "which is read once it is closed");
    weft_h5_close(&file);
    for (int v = 0; v < 2; v++) {
        hid_t list = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(list, from[v], H5F_LIBVER_LATEST);
        held = H5Fcreate(at("held.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, list);
        H5Fflush(held, H5F_SCOPE_GLOBAL);
        fails(weft_h5_open(&file, at("held.h5"), mem), "held.h5", "h5clear -s",
              "a file that a program writes");
        H5Fclose(held);
        H5Pclose(list);
    }
    unlink(at("held.h5"));
}

/* Numbers that were never written take no space in the file. */
static void test_announced(void)
{
    int64_t many = (int64_t)1 << 50;
    weft_h5 file;
    int64_t n, dims[WEFT_H5_DIMS];
    int nd;
    const char **text;
    must(weft_h5_create(&file, at("many.h5"), mem));
    must(weft_h5_make(&file, "/x", WEFT_H5_F64, 1, &many, "many", "1"));
    must(weft_h5_make(&file, "/t", WEFT_H5_TEXT, 1, &many, "many", "1"));
    must(weft_h5_commit(&file));
    must(weft_h5_open(&file, at("many.h5"), mem));
    fails(weft_h5_shape(&file, "/x", &nd, dims), "/x of", "more than the file can hold",
          "a dataset of 2^50 numbers in a small file");
    fails(weft_h5_read_texts(&file, "/t", &text, &n), "/t of",
          "more than the file can hold", "a list of 2^50 texts");
    weft_h5_close(&file);
}

static void test_kept(void)
{
    weft_h5 file;
    int32_t one = 1, back = 0;
    int64_t n = 1;
    int64_t before = entries();
    weft_status st = weft_h5_create(&file, at("kept.h5"), mem);
    if (st == WEFT_OK)
        st = weft_h5_put(&file, "/one", WEFT_H5_I32, 1, &n, &one, 0, "one", "none");
    ok(st == WEFT_OK && size_of(at("kept.h5")) == 0,
       "a file is not there before its commit");
    ok(weft_h5_commit(&file) == WEFT_OK && entries() == before + 1,
       "and alone there after it");
    st = weft_h5_create(&file, at("kept.h5"), mem);
    weft_h5_close(&file);
    ok(st == WEFT_OK && entries() == before + 1, "closing without commit leaves nothing");
    ok(weft_h5_open(&file, at("kept.h5"), mem) == WEFT_OK &&
           weft_h5_read_rows(&file, "/one", WEFT_H5_I32, 1, 0, 1, &back) == WEFT_OK &&
           back == 1,
       "and the older file as it was");
    weft_h5_close(&file);
    fails(weft_h5_create(&file, at("types.h5/x.h5"), mem), "types.h5/x.h5",
          "Not a directory", "a path through a file");
    weft_h5_close(&file);
    fails(weft_h5_create(&file, at("no/x.h5"), mem), "no/x.h5", "No such file",
          "a missing directory");
    weft_h5_close(&file);
    fails(weft_h5_create(&file, scratch, mem), scratch, "directory",
          "a directory as a file");
    weft_h5_close(&file);
}

static void test_read_only(void)
{
    weft_h5 file;
    if (geteuid() == 0) {
        skip(1, "root may write anywhere");
        return;
    }
    mkdir(at("closed"), 0500);
    fails(weft_h5_create(&file, at("closed/x.h5"), mem), "closed/x.h5", "Permission denied",
          "a read-only directory");
    weft_h5_close(&file);
}

static void test_full(void)
{
    static double x[40000];
    int64_t n = 40000;
    const char *path = at("kept.h5");
    weft_h5 file;
    int64_t before = entries();
    must(weft_h5_create(&file, path, mem));
    set_limit(RLIMIT_FSIZE, 100000);
    fails(weft_h5_put(&file, "/x", WEFT_H5_F64, 1, &n, x, 0, "too much", "none"), "/x",
          "too large", "a dataset on a full disk");
    weft_h5_close(&file);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    ok(entries() == before, "and leaves no file");

    must(weft_h5_create(&file, path, mem));
    must(weft_h5_make(&file, "/x", WEFT_H5_F64, 1, &n, "late", "none"));
    set_limit(RLIMIT_FSIZE, 1000);
    weft_status st = weft_h5_put_attr(&file, "/", "key", "value");
    if (st == WEFT_OK)
        st = weft_h5_commit(&file);
    else
        weft_h5_close(&file);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    fails(st, "kept.h5", "too large", "a commit on a full disk");
    ok(entries() == before, "and leaves no file either");
    ok(weft_h5_open(&file, path, mem) == WEFT_OK && weft_h5_has(&file, "/one"),
       "nor does it touch the older one");
    weft_h5_close(&file);

    set_limit(RLIMIT_FSIZE, 1000);
    st = weft_file_put(at("state"), x, sizeof x);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    fails(st, "state", "too large", "a state on a full disk");
    ok(entries() == before, "and leaves no file either");
}

static void test_file(void)
{
    char back[6] = "";
    ok(weft_file_put(at("state"), "first", 6) == WEFT_OK &&
           weft_file_put(at("state"), "other", 6) == WEFT_OK &&
           weft_file_load(at("state"), back, 6) == WEFT_OK && strcmp(back, "other") == 0,
       "bytes come back from a file");
    char head[4] = "";
    const void *const parts[] = {"head", "", "tail"};
    void *const to[] = {head, NULL, back};
    const size_t bytes[] = {4, 0, 5};
    ok(weft_file_put_lazy(at("parts"), 3, parts, bytes) == WEFT_OK &&
           weft_file_load_parts(at("parts"), 3, to, bytes) == WEFT_OK &&
           memcmp(head, "head", 4) == 0 && strcmp(back, "tail") == 0,
       "and from one of several parts");
    fails(weft_file_load(at("state"), back, 5), "6 bytes", "5", "a file of another size");
    fails(weft_file_load(at("stale"), back, 5), "stale", "No such file", "a missing state");
    fails(weft_file_put(at("no/state"), "x", 1), "no/state", "No such file",
          "a state in a missing directory");
    weft_text text = {0};
    int64_t before = entries();
    must(weft_text_create(&text, at("text"), mem));
    int begun = entries() == before + 1;
    weft_text_close(&text);
    ok(begun && entries() == before, "a text that is not committed leaves nothing");
    must(weft_text_create(&text, at("text"), mem));
    fputs("whole", text.file);
    must(weft_text_commit(&text));
    weft_text_close(&text);
    ok(weft_file_load(at("text"), back, 5) == WEFT_OK && memcmp(back, "whole", 5) == 0,
       "one that is stays");
}

static void test_floats_for_whole_numbers(void)
{
    static const double x[2] = {1.5, NAN};
    static const int32_t whole[2] = {3, -4};
    int64_t n = 2;
    int32_t number[2];
    double back[2] = {0};
    weft_h5 file;
    must(weft_h5_create(&file, at("floats.h5"), mem));
    must(weft_h5_put(&file, "/x", WEFT_H5_F64, 1, &n, x, 0, "x", "1"));
    must(weft_h5_put(&file, "/n", WEFT_H5_I32, 1, &n, whole, 0, "n", "1"));
    must(weft_h5_commit(&file));
    must(weft_h5_open(&file, at("floats.h5"), mem));
    fails(weft_h5_read_rows(&file, "/x", WEFT_H5_I32, 1, 0, 2, number), "/x of",
          "not of whole numbers", "floats where whole numbers are expected");
    ok(weft_h5_read_rows(&file, "/n", WEFT_H5_F64, 1, 0, 2, back) == WEFT_OK &&
           back[1] == -4,
       "whole numbers are read as floats");
    weft_h5_close(&file);
}

/* ---- what leads elsewhere ---- */

#define KINDS 7

/* Another program puts this in place of /g/x; "/kept/x" of the other file is a dataset. */
static void lead_elsewhere(hid_t file, int kind)
{
    const char *other = at("other.h5");
    hsize_t n = 4;
    hid_t space = H5Screate_simple(1, &n, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t source = H5Scopy(space);
    H5Ldelete(file, kind == 6 ? "/g" : "/g/x", H5P_DEFAULT);
    if (kind == 0) H5Lcreate_external(other, "/kept/x", file, "/g/x", 0, 0);
    if (kind == 1) H5Lcreate_external(at("nowhere.h5"), "/kept/x", file, "/g/x", 0, 0);
    if (kind == 2) H5Lcreate_soft("/kept/x", file, "/g/x", 0, 0);
    if (kind == 3) H5Lcreate_soft("/g/x", file, "/g/x", 0, 0); /* to itself */
    if (kind == 4) H5Pset_virtual(list, space, other, "/kept/x", source);
    if (kind == 5) H5Pset_external(list, at("raw"), 0, H5F_UNLIMITED);
    if (kind == 6) H5Lcreate_external(other, "/kept", file, "/g", 0, 0);
    if (kind == 4 || kind == 5)
        H5Dclose(H5Dcreate2(file, "/g/x", H5T_NATIVE_INT32, space, 0, list, 0));
    H5Sclose(source);
    H5Pclose(list);
    H5Sclose(space);
}

static void put_kept(const char *path, const char *name)
{
    static const int32_t x[4] = {1, 2, 3, 4};
    int64_t n = 4;
    weft_h5 file;
    must(weft_h5_create(&file, path, mem));
    must(weft_h5_put(&file, "/kept/x", WEFT_H5_I32, 1, &n, x, 0, "x", "1"));
    must(weft_h5_put(&file, name, WEFT_H5_I32, 1, &n, x, 0, "x", "1"));
    must(weft_h5_commit(&file));
}

static void test_elsewhere(void)
{
    static const char *const said[KINDS] = {"/g/x of", "/g/x of", "/g/x of", "/g/x of",
                                            "/g/x of", "/g/x of", "/g of"};
    static const char *const name[KINDS] = {
        "an external link",  "one to no file",   "a soft link",           "one to itself",
        "a virtual dataset", "an external file", "a group of other files"};
    int32_t x[4];
    const char *text;
    weft_h5 f;
    put_kept(at("other.h5"), "/g/x");
    for (int kind = 0; kind < KINDS; kind++) {
        put_kept(at("leads.h5"), "/g/x");
        hid_t file = H5Fopen(at("leads.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        lead_elsewhere(file, kind);
        H5Fclose(file);
        must(weft_h5_open(&f, at("leads.h5"), mem));
        fails(weft_h5_read_rows(&f, "/g/x", WEFT_H5_I32, 1, 0, 4, x), said[kind],
              kind == 4 || kind == 5 ? "virtual or in an external"
                                     : "soft or external link",
              name[kind]);
        ok(weft_h5_has(&f, "/g/x"), "and is not taken for nothing");
        if (kind != 4 && kind != 5)
            fails(weft_h5_read_attr(&f, "/g/x", "about", &text), said[kind], "soft or ext",
                  "an attribute behind it");
        ok(weft_h5_read_rows(&f, "/kept/x", WEFT_H5_I32, 1, 0, 4, x) == WEFT_OK,
           "while the rest of the file is read");
        weft_h5_close(&f);
    }
}

/* One number, so often that two versions differ in every block. */
static weft_status write_version(int32_t version)
{
    enum { N = 20000 };
    weft_h5 file;
    int32_t *x = WEFT_NEW(mem, int32_t, N);
    for (int i = 0; i < N; i++) x[i] = version + i;
    TRY(weft_h5_create(&file, at("again.h5"), mem));
    weft_status st = weft_h5_put(&file, "/x", WEFT_H5_I32, 1, (const int64_t[]){N}, x, 0,
                                 "version", "none");
    if (st == WEFT_OK) st = weft_h5_commit(&file);
    weft_h5_close(&file);
    return st;
}

/* Opens and reads all of a file that a child process replaces again and again. */
static int open_often(pid_t child, int *opened)
{
    int status, good = 1;
    for (*opened = 0; waitpid(child, &status, WNOHANG) == 0; ++*opened) {
        size_t mark = weft_arena_mark(mem);
        weft_h5 file;
        weft_status st = weft_h5_open(&file, at("again.h5"), mem);
        if (st == WEFT_OK) st = weft_h5_verify(&file);
        if (st != WEFT_OK) note("%s", weft_error());
        good &= st == WEFT_OK;
        weft_h5_close(&file);
        weft_arena_reset(mem, mark);
    }
    if (status != 0) note("status %d", status);
    return good && status == 0;
}

static void test_replaced(void)
{
    enum { VERSIONS = 400 };
    weft_h5 file;
    int opened, good;
    must(write_version(0));
    must(weft_h5_open(&file, at("again.h5"), mem));
    must(write_version(1));
    ok(weft_h5_verify(&file) == WEFT_OK, "a file that is open is whole, also if replaced");
    weft_h5_close(&file);
    pid_t child = fork();
    if (child == 0) {
        int i = 2;
        while (i < VERSIONS && write_version(i) == WEFT_OK) i++;
        _exit(i < VERSIONS);
    }
    good = open_often(child, &opened);
    ok(good && opened > 0, "it can be opened at the moment when it is replaced");
    unlink(at("again.h5"));
}

MAIN(disk, files_closed, test_types, test_rows, test_growing, test_texts, test_names,
     test_broken, test_floats_for_whole_numbers, test_open_elsewhere, test_announced,
     test_kept, test_read_only, test_full, test_file, test_elsewhere, test_replaced,
     files_closed)

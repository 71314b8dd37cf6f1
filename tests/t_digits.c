/* Numbers with more digits than a float holds stay apart when they are packed: the column
 * is shifted and scaled, which other data and the source's own numbers account for. RUN:
 * np=1 */
#include "packing.h"

/* Of rows i = 0 .. n-1, whose column j holds base + i: every number is there once, by shift
 * and scale, in training, validation and test together. */
static int holds(int64_t n, int64_t j, double base)
{
    uint8_t *seen = WEFT_NEW(mem, uint8_t, n);
    int64_t found = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        const weft_rows *rows = &data.part[p];
        for (int64_t i = 0; i < rows->n; i++) {
            double x =
                (double)rows->value[i * rows->d + j] * data.scale[j] + data.shift[j] - base;
            int64_t k = llround(x);
            if (fabs(x - (double)k) > 0 || k < 0 || k >= n || seen[k]) return 0;
            seen[k] = 1;
            found++;
        }
    }
    return found == n;
}

/* A table of n rows: a number of `width` digits at least between two texts, and the class.
 */
static char *table(const char *before, int width, const char *after, int n, double base)
{
    char *text = WEFT_NEW(mem, char, n * 80), *to = text;
    for (int i = 0; i < n; i++)
        to += sprintf(to, "%s%0*.0f%s,%d\n", before, width, base + i, after, i % 2);
    return text;
}

enum { N = 500 };

static void test_tables(void)
{
    static const double bases[] = {1.7e9, 1.7e12, 12345678901, -20240101000000, 9e15};
    int good = 1;
    for (size_t i = 0; i < LEN(bases); i++) {
        const char *csv = write_text("t.csv", table("0.1,", 1, "", N, bases[i]));
        good &= packed(&weft_reader_dense, csv, "numbers=1") && holds(N, 1, bases[i]) &&
                data.scale[1] <= N && data.shift[0] == 0 && data.scale[0] == 1;
    }
    ok(good,
       "whole numbers of a CSV file far from 0 stay apart, and their columns alone are "
       "moved");
    char *svm = WEFT_NEW(mem, char, N * 80), *to = svm;
    for (int i = 0; i < N; i++) to += sprintf(to, "%d 1:%d 2:0.5\n", i % 2, 1700000000 + i);
    ok(packed(&weft_reader_dense, write_text("t.svm", svm), "") && holds(N, 0, 1.7e9),
       "those of a libsvm file");
    const char *csv = write_text("t.csv", table("", 1, "", N, 1.7e9));
    ok(packed(&weft_reader_dense, csv, "clients=5") && data.clients->n == 5 &&
           data.shift[0] > 1.7e9 && data.shift[0] < 1.7e9 + N,
       "those of a table whose rows are dealt to clients");
    csv = write_text("t.csv", table("", 1, "e-50", N, 1));
    ok(packed(&weft_reader_dense, csv, "") && data.scale[0] < 1e-47,
       "numbers too small for floats are scaled");
}

static void test_users(void)
{
    char *text = WEFT_NEW(mem, char, 100 * N), *to = text;
    to += sprintf(
        to, "{\"users\":[\"u\"],\"num_samples\":[%d],\"user_data\":{\"u\":{\"x\":[", N);
    for (int i = 0; i < N; i++)
        to += sprintf(to, "%s[%d,0.5]", i > 0 ? "," : "", 1700000000 + i);
    to += sprintf(to, "],\"y\":[");
    for (int i = 0; i < N; i++) to += sprintf(to, "%s%d", i > 0 ? "," : "", i % 2);
    sprintf(to, "]}}}");
    write_text("leaf/a.json", text);
    weft_samples own;
    int good = packed(&weft_reader_leaf, at("leaf"), "") && data.shift != NULL &&
               weft_client_read(data.clients, 0, WEFT_TRAIN, &own, mem) == WEFT_OK;
    for (int64_t i = 0; i < own.n && good; i++) {
        double x = (double)own.x[2 * i] * data.scale[0] + data.shift[0] - 1.7e9;
        int64_t k = llround(x);
        good = fabs(x - (double)k) == 0 && k >= 0 && k < N && k % 2 == own.label[i];
    }
    ok(good && own.n > N / 2, "those of LEAF's users");
}

static void test_still(void)
{
    static const char *const before[] = {"1", "100.", "0.", ""}, *const after[] = {
                                                                     ".25", "",
                                                                     "12345678901", ""};
    int good = packed(&weft_reader_dense,
                      write_text("t.csv", "14.62,0\n14.62,1\n14.62,0\n14.62,1\n14.62,0\n"
                                          "14.62,1\n14.62,0\n14.62,1\n"),
                      "valid=0.2 numbers=1") &&
               data.shift == NULL;
    for (int i = 0; i < 4; i++) {
        const char *csv = write_text("t.csv", table(before[i], 3, after[i], N, 100));
        good &= packed(&weft_reader_dense, csv, "") && data.shift == NULL;
    }
    ok(good, "columns that floats tell apart are stored as they are");
}

/* Packs a table as that file, and opens it. */
static int table_is(weft_data *own, const char *name, const char *text, const char *options)
{
    return pack(&weft_reader_dense, write_text("t.csv", text), name, options) == WEFT_OK &&
           weft_data_open(own, at(name), &world, mem) == WEFT_OK;
}

/* The numbers of other data are those that the training data would have for them. */
static void test_match(void)
{
    weft_data train, other;
    weft_likeness like;
    int good = table_is(&train, "t.h5", table("", 1, ",1", N, 1.7e9), "numbers=2") &&
               table_is(&other, "o.h5",
                        "1700000041,1,0\n1700000041,1,1\n1700000041,1,0\n"
                        "1700000041,1,1\n1700000041,1,1\n",
                        "valid=0.2 numbers=1,2");
    if (good) {
        like = weft_data_likeness(&train);
        good = weft_data_match(&other, &like, "t.h5") == WEFT_OK;
        const weft_rows *rows = &other.part[WEFT_TRAIN];
        for (int64_t i = 0; i < rows->n && good; i++)
            good = (double)rows->value[2 * i] * train.scale[0] + train.shift[0] ==
                       1700000041 &&
                   rows->value[2 * i + 1] == 1;
    }
    ok(good, "other data get the shift and scale of the training data");
    weft_data_close(&other);
    good = table_is(&other, "o.h5", "1700000032,1,0\n0,1,1\n1700000032,1,0\n0,1,1\n0,1,1\n",
                    "valid=0.2 clients=2 numbers=1,2") &&
           other.shift == NULL && weft_data_match(&other, &like, "t.h5") == WEFT_OK;
    for (int c = 0; c < 2 && good; c++) {
        weft_samples own;
        good = weft_client_read(other.clients, c, WEFT_TRAIN, &own, mem) == WEFT_OK;
        for (int64_t i = 0; i < own.n && good; i++) {
            double x = (double)own.x[2 * i] * train.scale[0] + train.shift[0];
            good = own.label[i] == 0 ? fabs(x - 1700000032) < 100 : fabs(x) < 100;
        }
    }
    ok(good, "so do those of clients");
    weft_data_close(&other);
    weft_data_close(&train);
}

MAIN(scratch, test_tables, test_users, test_still, test_match)

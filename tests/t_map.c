/* Rows read from a mapped file: in chunks, in one contiguous dataset, with other number
 * types and filters; refusal of damaged and truncated files.
 * RUN: np=1 */
#include "disk.h"
#include "weft/store/h5.h"

enum { ROWS = 9001, COLS = 7, FEW = 100 };

static float x[ROWS * COLS];
static double wide[ROWS * COLS];

/* /grown and /other grow in turns, so that their chunks alternate; `odd` bytes come first,
 * so that numbers begin at odd places. */
static weft_status write_sets(weft_h5 *file, int64_t odd)
{
    const int64_t dims[] = {ROWS, COLS}, few = FEW;
    TRY(weft_h5_put(file, "/bytes", WEFT_H5_U8, 1, &odd, x, 0, "bytes", "none"));
    TRY(weft_h5_put(file, "/few", WEFT_H5_F32, 1, &few, x, 0, "few", "none"));
    TRY(weft_h5_put(file, "/whole", WEFT_H5_F32, 2, dims, x, 0, "whole", "none"));
    TRY(weft_h5_put(file, "/packed", WEFT_H5_F32, 2, dims, x, 1, "compressed", "none"));
    TRY(weft_h5_put(file, "/wide", WEFT_H5_F64, 2, dims, wide, 0, "doubles", "none"));
    TRY(weft_h5_grow(file, "/grown", WEFT_H5_F32, COLS, "grown", "none"));
    TRY(weft_h5_grow(file, "/other", WEFT_H5_F32, COLS, "grown beside it", "none"));
    for (int64_t i = 0; i < ROWS; i += 1000) {
        int64_t n = ROWS - i < 1000 ? ROWS - i : 1000;
        TRY(weft_h5_append(file, "/grown", WEFT_H5_F32, n, x + i * COLS));
        TRY(weft_h5_append(file, "/other", WEFT_H5_F32, n, x + i * COLS));
    }
    return WEFT_OK;
}

static weft_status make(const char *path, int64_t odd)
{
    weft_h5 file;
    TRY(weft_h5_create(&file, path, mem));
    TRY(write_sets(&file, odd));
    return weft_h5_commit(&file);
}

static weft_status count_rows(const void *self, int64_t first, int64_t n, const void *rows)
{
    int64_t *seen = *(int64_t *const *)self;
    const float *got = rows;
    *seen +=
        memcmp(got, x + first * COLS, (size_t)(n * COLS) * sizeof *got) == 0 ? n : -ROWS;
    return WEFT_OK;
}

/* Some thousand runs of rows, short and long ones. */
static int rows_are_right(const weft_h5map *map)
{
    int good = 1;
    for (uint64_t i = 0; i < 3000 && good; i++) {
        weft_rng4 rng = weft_rng_at(1, WEFT_RNG_TEST, i, 0, 0);
        int64_t n = (int64_t)(rng.v[0] % (i % 10 ? 9 : 6000));
        int64_t first = (int64_t)(rng.v[1] % (uint64_t)(ROWS - n + 1));
        size_t mark = weft_arena_mark(mem);
        const void *rows = NULL;
        good =
            weft_h5_map_rows(map, first, n, &rows, mem) == WEFT_OK &&
            (n == 0 || memcmp(rows, x + first * COLS, (size_t)(n * COLS) * sizeof *x) == 0);
        weft_arena_reset(mem, mark);
    }
    return good;
}

/* Numbers that lie at odd places are copied. */
static void test_few(weft_h5 *file)
{
    weft_h5map map;
    const void *rows = NULL;
    ok(weft_h5_map_open(&map, file, "/few", WEFT_H5_F32, NULL, NULL) == WEFT_OK &&
           weft_h5_map_rows(&map, 0, FEW, &rows, mem) == WEFT_OK &&
           (uintptr_t)rows % sizeof(float) == 0 && memcmp(rows, x, FEW * sizeof *x) == 0,
       "few numbers are those written");
    weft_h5_map_close(&map);
}

static void test_rows(void)
{
    static const char *const name[] = {"/grown", "/whole", "/packed", "/wide"};
    for (int odd = 8; odd < 10; odd++) {
        const char *path = at(odd == 8 ? "map.h5" : "odd.h5");
        weft_h5 file;
        ok(make(path, odd) == WEFT_OK && weft_h5_open(&file, path, mem) == WEFT_OK,
           "a file is written and opened");
        for (int i = 0; i < 4; i++) {
            weft_h5map map;
            int64_t seen = 0, *to = &seen;
            weft_status st =
                weft_h5_map_open(&map, &file, name[i], WEFT_H5_F32, count_rows, &to);
            ok(st == WEFT_OK && rows_are_right(&map) && seen == ROWS,
               "rows of %s are those written, each piece checked once", name[i]);
            ok(map.seen == (i < 2), "%s is %s", name[i], i < 2 ? "mapped" : "read");
            const void *rows;
            fails(weft_h5_map_rows(&map, ROWS - 1, 2, &rows, mem), "9001 rows", name[i],
                  "a row that is not there");
            weft_h5_map_close(&map);
        }
        test_few(&file);
        ok(weft_h5_mapped() > 65536, "mapped pages are counted");
        weft_h5_close(&file);
        ok(weft_h5_mapped() < 1, "and none is left of a closed file");
    }
}

/* Parts of a dataset as a whole: in the mapped file or nowhere. */
static void test_part(void)
{
    static const char *const name[] = {"/grown", "/packed", "/wide"};
    weft_h5 file;
    const void *rows = NULL;
    must(weft_h5_open(&file, at("map.h5"), mem));
    const size_t row = COLS * sizeof *x;
    weft_status st = weft_h5_map_part(&file, "/whole", WEFT_H5_F32, 17, ROWS - 17, &rows);
    ok(st == WEFT_OK && rows && memcmp(rows, x + 17 * COLS, (ROWS - 17) * row) == 0 &&
           weft_h5_mapped() > 65536,
       "rows of one piece are had in the mapped file");
    for (int i = 0; i < 3; i++)
        ok(weft_h5_map_part(&file, name[i], WEFT_H5_F32, 0, ROWS, &rows) == WEFT_OK &&
               !rows,
           "those of %s are not", name[i]);
    ok(weft_h5_map_part(&file, "/whole", WEFT_H5_F32, 1, ROWS, &rows) == WEFT_OK && !rows,
       "nor are rows that are not there");
    weft_h5_close(&file);
    must(weft_h5_open(&file, at("odd.h5"), mem));
    ok(weft_h5_map_part(&file, "/few", WEFT_H5_F32, 0, FEW, &rows) == WEFT_OK && !rows,
       "nor numbers that lie at odd places");
    weft_h5_close(&file);
}

/* A part of a file that was damaged, and one that is cut short while it is used. */
static void test_part_lost(void)
{
    const char *path = at("lost.h5");
    weft_h5 f;
    const void *rows = NULL;
    copy(at("map.h5"), path, size_of(at("map.h5")));
    weft_check(weft_h5_open(&f, path, mem) == WEFT_OK &&
                   weft_h5_map_part(&f, "/whole", WEFT_H5_F32, 0, ROWS, &rows) == WEFT_OK &&
                   rows && weft_h5_sound(&f) == WEFT_OK,
               "%s", weft_error());
    weft_check(truncate(path, 4096) == 0, "truncate");
    const float *got = rows;
    ok(got[ROWS * COLS - 1] == 0, "what was cut off is read as zero");
    fails(weft_h5_sound(&f), "lost.h5", "cut short", "which is told afterwards");
    weft_h5_close(&f);
    copy(at("map.h5"), path, size_of(at("map.h5")));
    must(weft_h5_open(&f, path, mem));
    FILE *file = fopen(path, "r+");
    for (long i = 8192; i < ROWS * COLS * 4; i += 4096) /* of each page */
        weft_check(file && fseek(file, i, SEEK_SET) == 0 && fputc(77, file) == 77,
                   "a byte");
    fclose(file);
    fails(weft_h5_map_part(&f, "/whole", WEFT_H5_F32, 0, ROWS, &rows), "lost.h5",
          "checksum", "a part with changed bytes");
    weft_h5_close(&f);
}

static weft_status refuse(const void *self, int64_t first, int64_t n, const void *rows)
{
    (void)self;
    (void)rows;
    return weft_fail(WEFT_EDATA, "rows %d of %d are refused", (int)first, (int)n);
}

static void test_refused(void)
{
    weft_h5 file;
    weft_h5map map;
    const void *rows;
    must(weft_h5_open(&file, at("map.h5"), mem));
    must(weft_h5_map_open(&map, &file, "/grown", WEFT_H5_F32, refuse, NULL));
    for (int i = 0; i < 2; i++) {
        weft_status st = weft_h5_map_rows(&map, 5, 3, &rows, mem);
        ok(st == WEFT_EDATA && says("rows 0 of"), "a refused piece stays so");
    }
    weft_h5_map_close(&map);
    weft_h5_close(&file);
}

static void test_no_columns(void)
{
    const int64_t dims[] = {ROWS, 0};
    weft_h5 file;
    weft_h5map map;
    must(weft_h5_create(&file, at("none.h5"), mem));
    must(weft_h5_put(&file, "/x", WEFT_H5_F32, 2, dims, x, 0, "x", "none"));
    must(weft_h5_commit(&file));
    must(weft_h5_open(&file, at("none.h5"), mem));
    fails(weft_h5_map_open(&map, &file, "/x", WEFT_H5_F32, NULL, NULL), "/x of",
          "rows of no numbers", "a dataset without columns");
    weft_h5_close(&file);
}

/* Opens a dataset, does something to the file, and asks for all rows. */
static void spoilt(const char *name, int cut, const char *word, const char *what)
{
    const char *path = at("spoilt.h5");
    weft_h5 f;
    weft_h5map map;
    const void *rows;
    copy(at("map.h5"), path, size_of(at("map.h5")));
    must(weft_h5_open(&f, path, mem));
    must(weft_h5_map_open(&map, &f, name, WEFT_H5_F32, NULL, NULL));
    must(weft_h5_map_rows(&map, 0, 1, &rows, mem));
    float first = *(const float *)rows;
    size_t size = size_of(path);
    if (cut) {
        weft_check(truncate(path, 4096) == 0, "truncate");
    } else {
        FILE *file = fopen(path, "r+"); /* a byte of each page of the last chunks */
        for (long i = (long)size * 3 / 4; i < (long)size * 7 / 8; i += 4096)
            weft_check(file && fseek(file, i, SEEK_SET) == 0 && fputc(77, file) == 77,
                       "a byte");
        fclose(file);
    }
    fails(weft_h5_map_rows(&map, 0, ROWS, &rows, mem), "spoilt.h5", word, what);
    fails(weft_h5_sound(&f), "spoilt.h5", word, "and what is asked afterwards");
    ok(first == x[0], "what was read before stands");
    weft_h5_map_close(&map);
    weft_h5_close(&f);
}

int main(int argc, char **argv)
{
    disk_begin(&argc, &argv);
    for (int i = 0; i < ROWS * COLS; i++) wide[i] = x[i] = (float)(i % 8191) - 4000;
    test_rows();
    test_part();
    test_part_lost();
    test_refused();
    test_no_columns();
    spoilt("/grown", 0, "checksum", "a changed byte");
    spoilt("/whole", 1, "cut short", "a file that is cut short in use");
    return tap_end();
}

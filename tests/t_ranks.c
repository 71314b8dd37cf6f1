/* Columns replaced by their ranks: as scikit-learn's QuantileTransformer does
 * (tests/gold/quantile.py), whatever the ranks of processes, and whatever the unit in which
 * the numbers are stored. Columns, classes and targets of other data go by their names.
 * RUN: np=1 np=2 np=3 */
#include "data/data.h"
#include "in_memory.h"

enum { D = 4, OTHERS = 50 };

static void fill(int64_t i, double *row)
{
    row[0] = (double)((i * i * 7 + i * 3) % 997) / 8;
    row[1] = (double)(i * 5 % 7);
    row[2] = (double)(i % 50 / 49);
    row[3] = 4;
}

static void fill_other(int64_t i, double *row)
{
    fill(5000 + i, row);
    for (int j = 0; j < D; j++) row[j] = row[j] * 1.01 - 0.3;
    if (i % 3 == 0) fill(90 + i / 3, row);
}

/* n training rows and the others, this rank's of both; stored as (x - shift) / scale. */
static weft_data made(int64_t n, double shift, double scale)
{
    double *shifts = WEFT_NEW(mem, double, D), *scales = WEFT_NEW(mem, double, D);
    weft_data data = {.form = WEFT_REALS, .team = &world, .mem = mem};
    for (int j = 0; j < D; j++) {
        shifts[j] = shift;
        scales[j] = scale;
    }
    data.shift = shifts;
    data.scale = scales;
    for (int p = 0; p < 2; p++) {
        weft_rows *rows = deal_rows(&data, p, p ? OTHERS : n, D);
        float *value = WEFT_NEW(mem, float, rows->n *D);
        for (int64_t i = 0; i < rows->n; i++) {
            double row[D];
            (p ? fill_other : fill)(rows->first + i, row);
            for (int j = 0; j < D; j++)
                value[i * D + j] = (float)((row[j] - shift) / scale);
        }
        rows->value = value;
    }
    return data;
}

static void test(FILE *gold, int64_t n)
{
    weft_data data = made(n, 0, 1), same = made(n, -2, 0.5);
    weft_ranks ranks = weft_ranks_of(&data), again = weft_ranks_of(&same);
    weft_ranks_take(&data, &ranks, NULL);
    weft_ranks_take(&same, &again, NULL);
    ok(ranks.n == (n < 1000 ? n : 1000) && data.ranks.n == ranks.n && !data.shift,
       "%d rows have %d quantiles", (int)n, (int)ranks.n);
    double off = 0, unit = 0;
    const weft_rows *rows = &data.part[1];
    for (int64_t i = 0; i < OTHERS; i++)
        for (int j = 0; j < D; j++) {
            double want;
            weft_check(fscanf(gold, "%lf", &want) == 1, "quantile.txt is too short");
            if (i < rows->first || i >= rows->first + rows->n) continue;
            int64_t at = (i - rows->first) * D + j;
            off = fmax(off, fabs((double)rows->value[at] - want));
            unit =
                fmax(unit, fabs((double)rows->value[at] - (double)same.part[1].value[at]));
        }
    ok(off < 2e-6, "%d rows: places are scikit-learn's, to %.1e", (int)n, off);
    ok(unit < 1e-6, "%d rows: whatever the unit of what is stored, to %.1e", (int)n, unit);
    digest(weft_hash(ranks.quantile, (size_t)(D * ranks.n) * sizeof(double), 0));
}

/* Columns that the file has in another order. */
static void test_order(void)
{
    const int64_t column_of[D] = {2, 0, 3, 1};
    double shift[D] = {1, 2, 3, 4}, scale[D] = {1, 1, 1, 1}, quantile[D * 2];
    weft_data data = made(9, 0, 1);
    data.shift = shift;
    data.scale = scale;
    for (int j = 0; j < D; j++) {
        quantile[2 * j] = shift[column_of[j]];
        quantile[2 * j + 1] = shift[column_of[j]] + 1000;
    }
    weft_rows before = data.part[0];
    weft_ranks ranks = {2, quantile};
    weft_ranks_take(&data, &ranks, column_of);
    double off = 0;
    for (int64_t i = 0; i < before.n * D; i++)
        off = fmax(off, fabs((double)data.part[0].value[i] -
                             fmax((double)before.value[i], 0) / 1000));
    ok(off < 1e-7, "columns in another order have their own shifts");
}

/* ---- names ---- */

enum { ROWS = 11, COLUMNS = 3 };

/* Row i of the file: column j is 20 i + j, the class is i % 2, target k is i + 100 k. */
static weft_data named(weft_form form, const char *const *class, int numbers)
{
    static const char *const column[] = {"c", "a", "b"};
    static const double shift[] = {-3, 7, 0}, scale[] = {2, 1, 0.5};
    weft_data data = data_of(form, 2);
    data.class_name = class;
    data.column_name = column;
    data.shift = form == WEFT_REALS ? shift : NULL;
    data.scale = form == WEFT_REALS ? scale : NULL;
    data.target_shift = numbers ? shift : NULL;
    data.target_scale = numbers ? scale : NULL;
    weft_rows *rows = deal_rows(&data, WEFT_TRAIN, ROWS, COLUMNS);
    int64_t cells = rows->n * COLUMNS;
    uint8_t *byte = WEFT_NEW(mem, uint8_t, cells);
    float *value = WEFT_NEW(mem, float, cells);
    int32_t *label = WEFT_NEW(mem, int32_t, rows->n);
    double *target = WEFT_NEW(mem, double, 2 * rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t row = rows->first + i;
        label[i] = (int32_t)(row % 2);
        for (int64_t j = 0; j < COLUMNS; j++) {
            byte[i * COLUMNS + j] = (uint8_t)(20 * row + j);
            value[i * COLUMNS + j] =
                (float)(((double)(20 * row + j) - shift[j]) / scale[j]);
        }
        for (int k = 0; k < 2; k++)
            target[2 * i + k] = ((double)(row + 100 * k) - shift[k]) / scale[k];
    }
    rows->byte = form == WEFT_BYTES ? byte : NULL;
    rows->value = form == WEFT_REALS ? value : NULL;
    rows->label = label;
    rows->target = target;
    return data;
}

/* Columns, classes and targets of a file get the places that a winner has for their names,
 * and its units. */
static void test_names(weft_form form)
{
    static const char *const column[] = {"a", "b", "c"}, *const own[] = {"dog", "cat"},
                             *const class[] = {"ant", "cat", "dog"};
    static const int from[] = {1, 2, 0}, label[] = {2, 1};
    static const double shift[] = {5, 0, 1}, scale[] = {4, 0.5, 1};
    int numbered = form == WEFT_REALS, good = 1;
    weft_data data = named(form, own, 0), numbers = named(WEFT_REALS, own, 1);
    weft_likeness like = {.form = form,
                          .d = COLUMNS,
                          .classes = COLUMNS,
                          .class_name = class,
                          .column_name = column,
                          .shift = numbered ? shift : NULL,
                          .scale = numbered ? scale : NULL};
    must(weft_data_match(&data, &like, "winner"));
    const weft_rows *rows = &data.part[WEFT_TRAIN];
    double off = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        good &= rows->label[i] == label[(rows->first + i) % 2];
        for (int j = 0; j < COLUMNS; j++) {
            int64_t at = i * COLUMNS + j;
            double x =
                numbered ? (double)rows->value[at] * scale[j] + shift[j] : rows->byte[at];
            off = worse(off, fabs(x - (double)(20 * (rows->first + i) + from[j])));
        }
    }
    ok(good && data.classes == COLUMNS, "classes have the numbers of their names");
    is_near(off, 0, 1e-4, "columns have the places and units of theirs");
    like = (weft_likeness){.form = WEFT_REALS,
                           .d = COLUMNS,
                           .classes = 2,
                           .class_name = class + 1,
                           .target_shift = shift,
                           .target_scale = scale};
    must(weft_data_match(&numbers, &like, "winner"));
    rows = &numbers.part[WEFT_TRAIN];
    off = 0;
    for (int64_t i = 0; i < rows->n; i++)
        for (int k = 0; k < 2; k++)
            off = worse(off, fabs(rows->target[2 * i + k] * scale[k] + shift[k] -
                                  (double)(rows->first + i + 100 * (1 - k))));
    is_near(off, 0, 1e-9, "so have targets");
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    FILE *gold = gold_of("quantile.txt");
    test(gold, 1500);
    test(gold, 40);
    fclose(gold);
    test_order();
    test_names(WEFT_BYTES);
    test_names(WEFT_REALS);
    return tap_end();
}

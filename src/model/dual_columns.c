/* Columns for fits of many outputs, which store a vector of weights for each column. A
 * column that occurs in a single row needs none: its weights follow from the row's dual
 * variable, so that only the sum of squares of a row's entries in such columns is needed.
 * Most columns of n-grams are of this kind. The others are numbered by decreasing
 * frequency, so that weights that are read often are adjacent. */
#include <math.h>

#include "dual.h"

enum { POWERS = 32, SINGLE = POWERS - 1, EMPTY = POWERS };

/* SINGLE less the binary logarithm of the number of rows in which a column occurs, or
 * EMPTY. */
static int class_of(int32_t rows)
{
    if (rows <= 1) return rows == 1 ? SINGLE : EMPTY;
    return SINGLE - ilogb((double)rows);
}

/* dual->place: the columns that occur in more than one row are numbered, and counted in
 * dual->d; returns how many occur in one. Collective. */
static int64_t number_columns(dual_rows *dual, const weft_matrix *matrix, weft_arena *mem)
{
    int64_t start[POWERS + 2] = {0};
    int32_t *rows = WEFT_NEW(mem, int32_t, matrix->d);
    for (int64_t e = 0; e < matrix->rows->first[matrix->rows->n]; e++)
        rows[matrix->rows->column[e]]++;
    weft_sum_i32(matrix->team, rows, (size_t)matrix->d);
    for (int64_t j = 0; j < matrix->d; j++) start[class_of(rows[j]) + 1]++;
    int64_t singles = start[SINGLE + 1];
    for (int p = 0; p < POWERS; p++) start[p + 1] += start[p];
    dual->d = start[SINGLE];
    dual->place = WEFT_NEW(mem, uint32_t, matrix->d);
    for (int64_t j = 0; j < matrix->d; j++)
        dual->place[j] = rows[j] > 1 ? (uint32_t)start[class_of(rows[j])]++ : DUAL_NONE;
    return singles;
}

void dual_columns(dual_rows *rows, const weft_matrix *matrix, weft_arena *mem)
{
    weft_sparse sparse = rows->x;
    rows->single = WEFT_NEW(mem, dual_single, number_columns(rows, matrix, mem));
    rows->single_norm2 = WEFT_NEW(mem, double, sparse.n);
    int64_t *first = WEFT_NEW(mem, int64_t, sparse.n + 1), at = 0, singles = 0;
    uint32_t *column = WEFT_NEW(mem, uint32_t, sparse.first[sparse.n]);
    float *value = WEFT_NEW(mem, float, sparse.first[sparse.n]);
    for (int64_t i = 0; i < sparse.n; i++) {
        for (int64_t e = sparse.first[i]; e < sparse.first[i + 1]; e++) {
            uint32_t *place = rows->place + sparse.column[e];
            if (*place == DUAL_NONE) {
                *place = (uint32_t)(rows->d + singles);
                rows->single[singles++] = (dual_single){(uint32_t)i, sparse.value[e]};
                rows->single_norm2[i] += (double)sparse.value[e] * (double)sparse.value[e];
            } else {
                column[at] = *place;
                value[at++] = sparse.value[e];
            }
        }
        first[i + 1] = at;
    }
    rows->x =
        (weft_sparse){.n = sparse.n, .first = first, .column = column, .value = value};
}

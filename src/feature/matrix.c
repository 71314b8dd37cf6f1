/* Products that a matrix of features can have by its others. */
#include "weft/feature.h"

void weft_matrix_normal(const weft_matrix *matrix, int c, const real *w, const real *h,
                        int own, double *g)
{
    (void)own; /* all columns, on all ranks */
    weft_arena *tmp = weft_arena_new();
    real *z = WEFT_NEW(tmp, real, c * matrix->n);
    matrix->times(matrix, c, w, z);
    for (int64_t i = 0; h && i < c * matrix->n; i++) z[i] *= h[i];
    matrix->trans(matrix, c, z, g);
    weft_arena_free(tmp);
}

void weft_matrix_sums(const weft_matrix *matrix, double *sum)
{
    weft_arena *tmp = weft_arena_new();
    real *one = WEFT_NEW(tmp, real, matrix->n);
    for (int64_t i = 0; i < matrix->n; i++) one[i] = 1;
    matrix->trans(matrix, 1, one, sum);
    weft_arena_free(tmp);
}

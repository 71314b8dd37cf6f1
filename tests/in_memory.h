/* Data sets made in memory, and the features of their rows. */
#ifndef WEFT_TEST_IN_MEMORY_H
#define WEFT_TEST_IN_MEMORY_H

#include "weft/data/data.h"
#include "weft/feature/feature.h"

#include "tap.h"

static inline weft_data data_of(weft_form form, int classes)
{
    return (weft_data){
        .form = form, .classes = classes, .path = "test", .mem = mem, .team = &world};
}

/* This rank's of `total` rows of d columns. */
static inline weft_rows *deal_rows(weft_data *data, int part, int64_t total, int64_t d)
{
    weft_rows *rows = &data->part[part];
    rows->total = total;
    rows->d = d;
    weft_deal(total, world.rank, world.size, &rows->first, &rows->n);
    return rows;
}

/* All features of all rows over the team, [total][d], by products with unit vectors, as a
 * fit to `fitted`, or NULL, would keep them. */
static inline double *table_of(const weft_matrix *matrix, const weft_matrix *fitted,
                               int64_t first)
{
    int64_t d = matrix->d;
    size_t cells = (size_t)(matrix->total * d);
    double *x = WEFT_NEW(mem, double, cells);
    real *w = WEFT_NEW(mem, real, d), *z = WEFT_NEW(mem, real, matrix->n);
    for (int64_t k = 0; k < d; k++) {
        memset(w, 0, (size_t)d * sizeof *w);
        w[k] = 1;
        if (fitted) fitted->finish(fitted, 1, w);
        matrix->times(matrix, 1, w, z);
        for (int64_t i = 0; i < matrix->n; i++) x[(first + i) * d + k] = (double)z[i];
    }
    weft_join_f64(&world, x, cells);
    return x;
}

/* Those of a part by the map `rff` of a configuration. */
static inline double *rff_table(weft_data data, weft_part part, weft_conf conf,
                                const weft_space *space, const double *x, uint64_t seed)
{
    const weft_feature *rff = &weft_feature_rff;
    void *own = weft_arena_alloc(mem, 1, rff->kind.size),
         *arm = weft_arena_alloc(mem, 1, rff->kind.size);
    weft_source source = weft_data_source(&data);
    must(weft_conf_bind(&conf, &rff->kind, own));
    must(rff->setup(own, &source, 1e9, 2, seed, mem));
    memcpy(arm, own, rff->kind.size);
    weft_space_put(space, x, &rff->kind, arm);
    real *stat = WEFT_NEW(mem, real, rff->nstat(own));
    const void *one = arm;
    weft_matrix matrix;
    for (int fit = 1; fit >= 0; fit--) {
        weft_request request = {.part = fit ? WEFT_TRAIN : part,
                                .n = data.part[fit ? WEFT_TRAIN : part].n,
                                .narm = 1,
                                .arms = &one,
                                .size = 1,
                                .seed = seed};
        rff->matrix(own, &request, fit, stat, &matrix, mem);
    }
    return table_of(&matrix, NULL, data.part[part].first);
}

#endif

/* Sums over the answers of all rows. */
#include "answers.h"
#include "dual.h"

double answers_total(const weft_matrix *f, const weft_answers *y)
{
    return y->weight ? margin_sum(f, y->weight) : (double)f->total;
}

void answers_count(const weft_matrix *f, const weft_answers *y, double *count,
                   weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t *rows = WEFT_NEW(tmp, int64_t, y->classes);
    double *x = WEFT_NEW(tmp, double, f->n);
    for (int64_t i = 0; i < f->n; i++) rows[y->label[i]]++;
    weft_sum_i64(f->team, rows, (size_t)y->classes);
    for (int j = 0; j < y->classes; j++) {
        count[j] = (double)rows[j];
        for (int64_t i = 0; y->weight && i < f->n; i++)
            x[i] = y->label[i] == j ? y->weight[i] : 0;
        if (y->weight) count[j] = margin_sum(f, x);
    }
    weft_arena_reset(tmp, mark);
}

void answers_moments(const weft_matrix *f, const weft_answers *y, double *mean,
                     double *variance, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    double *x = WEFT_NEW(tmp, double, f->n), total = answers_total(f, y);
    int m = y->classes;
    for (int j = 0; j < m; j++)
        for (int power = 1; power <= 2; power++) {
            for (int64_t i = 0; i < f->n; i++) {
                double weight = y->weight ? y->weight[i] : 1, own = y->target[i * m + j];
                double off = own - mean[j];
                x[i] = weight * (power == 1 ? own : off * off);
            }
            *(power == 1 ? &mean[j] : &variance[j]) = margin_sum(f, x) / total;
        }
    weft_arena_reset(tmp, mark);
}

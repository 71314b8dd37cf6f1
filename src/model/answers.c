/* Sums over the answers of all rows. */
#include "answers.h"
#include "dual.h"

double answers_total(const weft_matrix *matrix, const weft_answers *answers)
{
    return answers->weight ? margin_sum(matrix, answers->weight) : (double)matrix->total;
}

void answers_count(const weft_matrix *matrix, const weft_answers *answers, double *count,
                   weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    int64_t *rows = WEFT_NEW(tmp, int64_t, answers->classes);
    double *x = WEFT_NEW(tmp, double, matrix->n);
    for (int64_t i = 0; i < matrix->n; i++) rows[answers->label[i]]++;
    weft_sum_i64(matrix->team, rows, (size_t)answers->classes);
    for (int j = 0; j < answers->classes; j++) {
        count[j] = (double)rows[j];
        for (int64_t i = 0; answers->weight && i < matrix->n; i++)
            x[i] = answers->label[i] == j ? answers->weight[i] : 0;
        if (answers->weight) count[j] = margin_sum(matrix, x);
    }
    weft_arena_reset(tmp, mark);
}

void answers_moments(const weft_matrix *matrix, const weft_answers *answers, double *mean,
                     double *variance, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    double *x = WEFT_NEW(tmp, double, matrix->n), total = answers_total(matrix, answers);
    int m = answers->classes;
    for (int j = 0; j < m; j++)
        for (int power = 1; power <= 2; power++) {
            for (int64_t i = 0; i < matrix->n; i++) {
                double weight = answers->weight ? answers->weight[i] : 1,
                       own = answers->target[i * m + j];
                double off = own - mean[j];
                x[i] = weight * (power == 1 ? own : off * off);
            }
            *(power == 1 ? &mean[j] : &variance[j]) = margin_sum(matrix, x) / total;
        }
    weft_arena_reset(tmp, mark);
}

/* Eigenvalues and eigenvectors of a dense symmetric matrix by divide and conquer (LAPACK's
 * dsyevd), on this rank only. */
#include "weft/eigen.h"
#include "weft/status.h"

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
             double *w, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info);

double weft_eigen_bytes(int n)
{
    double m = n;
    return 8 * (1 + 6 * m + 2 * m * m) + 4 * (3 + 5 * m);
}

void weft_eigen(int n, double *a, double *value, weft_arena *tmp)
{
    if (n == 0) return;
    size_t mark = weft_arena_mark(tmp);
    int ask = -1;
    double room;
    int iroom, info;
    dsyevd_("V", "U", &n, a, &n, value, &room, &ask, &iroom, &ask, &info);
    int most = (int)room;
    double *work = WEFT_NEW(tmp, double, most);
    int *iwork = WEFT_NEW(tmp, int, iroom);
    dsyevd_("V", "U", &n, a, &n, value, work, &most, iwork, &iroom, &info);
    weft_check(info == 0, "dsyevd of order %d ends with %d", n, info);
    weft_arena_reset(tmp, mark);
}

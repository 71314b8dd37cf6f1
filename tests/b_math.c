/* Rates of the numerical kernels: name,size,seconds,rate (G operations or GB a second),
 * share of sgemm in the same run. One thread. RUN: np=1 */
#include "weft/math.h"

#include <cblas.h>

int main(void)
{
    openblas_set_num_threads(1);
    weft_math_bench(stdout);
    return 0;
}

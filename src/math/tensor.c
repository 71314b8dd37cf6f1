/* Sizes of tensors. */
#include "weft/tensor.h"

int64_t weft_tensors_size(int n, const weft_tensor *tensor)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        int64_t count = 1;
        for (int k = 0; k < tensor[i].nd; k++) count *= tensor[i].dims[k];
        sum += count;
    }
    return sum;
}

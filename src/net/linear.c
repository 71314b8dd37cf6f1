/* Softmax regression: z = W x + b, the loss is the cross-entropy of softmax(z); or linear
 * regression, the squared error of z. Weights: W[classes][d], then b[classes]; they start
 * at zero, as the loss is convex. */
#include "net.h"

#include <string.h>

static const weft_opt linear_opts[] = {{0}};

static weft_status linear_setup(void *self, const weft_shape *shape)
{
    weft_stack *stack = self;
    TRY(weft_stack_begin(stack, "linear", shape));
    weft_stack_end(stack);
    return WEFT_OK;
}

static void linear_init(const void *self, uint64_t seed, real *w)
{
    (void)seed;
    memset(w, 0, (size_t)weft_stack_nweight(self) * sizeof *w);
}

WEFT_PLUGIN(net, linear) = {
    .kind = WEFT_KIND("linear", weft_stack, linear_opts,
                      "softmax regression, or linear regression of numbers"),
    .numbers = 1,
    .setup = linear_setup,
    .init = linear_init,
    WEFT_STACK_MEMBERS,
};

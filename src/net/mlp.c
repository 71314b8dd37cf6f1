/* A multilayer perceptron: dense layers of the widths of option hidden, each followed by
 * ReLU and dropout, then a dense layer of the classes. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

typedef struct mlp_net {
    weft_stack stack; /* must be first: the functions of stack.c take a pointer to it */
    const char *hidden;
} mlp_net;

static const weft_opt mlp_opts[] = {
    WEFT_TEXT_OPT("hidden", mlp_net, hidden, "200",
                  "widths of the hidden layers, from the input on: 200 or 200,100"),
    {0},
};

static weft_status mlp_setup(void *self, const weft_shape *shape)
{
    enum { WIDEST = 1 << 16 };
    mlp_net *mlp = self;
    TRY(weft_stack_begin(&mlp->stack, "mlp", shape));
    const char *at = mlp->hidden;
    for (;;) {
        char *stop;
        long width = strtol(at, &stop, 10);
        stop += strspn(stop, " ");
        if (stop == at || width < 1 || width > WIDEST || (*stop != ',' && *stop != '\0'))
            return weft_fail(WEFT_ECONF,
                             "mlp.hidden = %s: must be widths of 1 to %d with commas "
                             "between them, as 200 or 200,100",
                             mlp->hidden, WIDEST);
        if (mlp->stack.n == WEFT_MAX_LAYERS - 1)
            return weft_fail(WEFT_ECONF, "mlp.hidden = %s: more than %d widths",
                             mlp->hidden, WEFT_MAX_LAYERS - 1);
        weft_stack_dense(&mlp->stack, (int)width, 1);
        if (*stop == '\0') break;
        at = stop + 1;
    }
    weft_stack_end(&mlp->stack);
    return WEFT_OK;
}

WEFT_PLUGIN(net, mlp) = {
    .kind = WEFT_KIND("mlp", mlp_net, mlp_opts,
                      "multilayer perceptron: dense layers with ReLU and dropout"),
    .numbers = 1,
    .setup = mlp_setup,
    .init = weft_stack_init,
    .resumes = 1,
    WEFT_STACK_MEMBERS,
};

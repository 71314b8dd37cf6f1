/* For tests of the scheduler by toy tasks: all of a state is one tensor. */
#ifndef WHOLE_H
#define WHOLE_H

#include "weft/task.h"

static int64_t toy_nstate(const void *self, int k); /* of the test */

static int toy_tensors(const void *self, double size, weft_tensor out[WEFT_MOST_TENSORS])
{
    (void)size;
    out[0] = (weft_tensor){.name = "w", .nd = 1, .dims = {toy_nstate(self, 1)}};
    return 1;
}

#endif

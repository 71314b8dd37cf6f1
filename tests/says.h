/* For tests of errors. */
#ifndef WEFT_TEST_SAYS_H
#define WEFT_TEST_SAYS_H

#include "weft/base/base.h"

#include <stdio.h>
#include <string.h>

/* 1: the last message has that part; what else it says is shown. */
static int says(const char *part)
{
    if (strstr(weft_error(), part)) return 1;
    fprintf(stderr, "# message: %s\n", weft_error());
    return 0;
}

#endif

/* Sets a network up for data, of which a message then names file and key. */
#include "weft/net.h"

#include <stdio.h>
#include <string.h>

weft_status weft_net_setup(const weft_net *net, void *self, const weft_shape *shape,
                           const char *section, const char *path)
{
    char why[1024];
    weft_status st = net->setup(self, shape);
    if (st == WEFT_OK) return WEFT_OK;
    snprintf(why, sizeof why, "%s", weft_error());
    const int model = strncmp(why, "model = ", 8) == 0;
    return weft_fail(st, "%s: %s%s%s", path, model ? section : "", model ? "." : "", why);
}

/* Private to net/: the form of samples that a network reads. */
#ifndef WEFT_NET_FORM_H
#define WEFT_NET_FORM_H

#include "weft/sample.h"
#include "weft/status.h"

/* ECONF with the networks for the data unless they have the form that network `name`
 * reads. */
WEFT_CHECKED weft_status net_check_form(const char *name, weft_form form,
                                        const weft_shape *shape);

#endif

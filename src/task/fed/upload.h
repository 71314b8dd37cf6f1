/* A client's change on its way to the server. */
#ifndef WEFT_TASK_FED_UPLOAD_H
#define WEFT_TASK_FED_UPLOAD_H

#include "round.h"

/* 1: changes take steps before they are summed. */
int fed_uploads(const fed_task *fed);
/* Does these steps to visit.change of a client that did not diverge. */
void fed_upload(fed_visiting *visiting);

#endif

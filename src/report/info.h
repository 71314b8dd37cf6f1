/* Parts of `weft info`. Private to report. */
#ifndef WEFT_REPORT_INFO_H
#define WEFT_REPORT_INFO_H

#include "weft/arena.h"
#include "weft/status.h"

/* Prints what is known of the clients of a packed federation: how many, their samples, how
 * their classes differ. EFILE, EDATA. Cost O(clients), and at most a thousand clients
 * read. */
WEFT_CHECKED weft_status weft_info_clients(const char *path, weft_arena *mem);

#endif

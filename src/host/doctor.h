/* What `weft doctor` prints. */
#ifndef WEFT_HOST_DOCTOR_H
#define WEFT_HOST_DOCTOR_H

#include "weft/team.h"

/* Tests launcher, hosts, cores, memory, BLAS, the connection between ranks and the file
 * system of the directory `dir`, prints the results and warns of problems. EFILE: `dir` is
 * not writable. Collective over world. Takes about a second. */
WEFT_CHECKED weft_status weft_doctor(const char *dir, weft_team *world);

#endif

/* What the files of a simulated run share. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include <stdint.h>

enum { SIM_ROUNDS = 64 };
/* Seconds of training that this rank was charged, by rounds of a trial modulo SIM_ROUNDS.
 */
extern double charged[SIM_ROUNDS];
extern int64_t files_made; /* by this rank */

#endif

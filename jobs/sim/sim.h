/* What the files of a simulated run share. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

enum { SIM_ROUNDS = 64 };
/* Seconds of training that this rank was charged, by rounds of a trial modulo SIM_ROUNDS.
 */
extern double charged[SIM_ROUNDS];

#endif

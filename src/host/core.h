/* The cores that processes may run on, and claims to them: each mpirun binds its ranks from
 * the first core on, also where another mpirun has done so. */
#ifndef WEFT_HOST_CORE_H
#define WEFT_HOST_CORE_H

enum { WEFT_PLACEMENT_TEXT = 64 };

/* The cores that a process may run on, from its file /proc/PID/status; unchanged if the
 * system does not tell. */
void weft_cores_of(const char *status, char text[WEFT_PLACEMENT_TEXT]);

/* Claims the core of a list if the launcher has bound this process to it alone. A handle to
 * be closed; -1: none. *taken 1: another weft has claimed it. */
int weft_core_claim(const char *list, int *taken);

#endif

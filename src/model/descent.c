/* Gains of an iterative descent, and an estimate of those to come. */
#include "descent.h"

#include <math.h>

static double gained_after(const struct descent *descent, int steps)
{
    return descent->gained[steps % DESCENT_HISTORY];
}

void descent_add(struct descent *descent, double less)
{
    double before = gained_after(descent, descent->steps++);
    descent->gained[descent->steps % DESCENT_HISTORY] = before + less;
}

double descent_gained(const struct descent *descent)
{
    return gained_after(descent, descent->steps);
}

double descent_remaining(const struct descent *descent)
{
    if (descent->steps < 2) return INFINITY;
    int n = descent->steps / 3;
    n = n < 1 ? 1 : n > DESCENT_WINDOW ? DESCENT_WINDOW : n;
    double last =
        gained_after(descent, descent->steps) - gained_after(descent, descent->steps - n);
    double before = gained_after(descent, descent->steps - n) -
                    gained_after(descent, descent->steps - 2 * n);
    if (!(last > 0)) return 0;
    return last < before ? last * last / (before - last) : INFINITY;
}

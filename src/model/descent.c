/* Gains of an iteration that descends, and what is left of them. Called by ridge_cg.c and
 * newton.c. */
#include "descent.h"

#include <math.h>

static double after(const descent *s, int steps)
{
    return s->gained[steps % DESCENT_KEPT];
}

void descent_add(descent *s, double less)
{
    double before = after(s, s->steps++);
    s->gained[s->steps % DESCENT_KEPT] = before + less;
}

double descent_gained(const descent *s)
{
    return after(s, s->steps);
}

double descent_left(const descent *s)
{
    if (s->steps < 2) return INFINITY;
    int n = s->steps / 3;
    n = n < 1 ? 1 : n > DESCENT_WINDOW ? DESCENT_WINDOW : n;
    double last = after(s, s->steps) - after(s, s->steps - n);
    double before = after(s, s->steps - n) - after(s, s->steps - 2 * n);
    if (!(last > 0)) return 0;
    return last < before ? last * last / (before - last) : INFINITY;
}

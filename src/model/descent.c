/* Gains of an iterative descent, and an estimate of those to come. */
#include "descent.h"

#include <math.h>

static double gained_after(const descent *s, int steps)
{
    return s->gained[steps % DESCENT_HISTORY];
}

void descent_add(descent *s, double less)
{
    double before = gained_after(s, s->steps++);
    s->gained[s->steps % DESCENT_HISTORY] = before + less;
}

double descent_gained(const descent *s)
{
    return gained_after(s, s->steps);
}

double descent_remaining(const descent *s)
{
    if (s->steps < 2) return INFINITY;
    int n = s->steps / 3;
    n = n < 1 ? 1 : n > DESCENT_WINDOW ? DESCENT_WINDOW : n;
    double last = gained_after(s, s->steps) - gained_after(s, s->steps - n);
    double before = gained_after(s, s->steps - n) - gained_after(s, s->steps - 2 * n);
    if (!(last > 0)) return 0;
    return last < before ? last * last / (before - last) : INFINITY;
}

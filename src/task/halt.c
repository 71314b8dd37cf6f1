/* When a unit is left before its end; see halt.h. */
#include "halt.h"
#include "weft/clock.h"

#define GRACE 5.0 /* seconds in which a unit may still end */

int halt_is_due(const weft_env *env, double *asked)
{
    double now = weft_now();
    int asks = env->stopped && env->stopped();
    if (!asks && !(env->deadline > 0 && now >= env->deadline)) return 0;
    if (!(*asked > 0)) *asked = now;
    return now - *asked >= GRACE;
}

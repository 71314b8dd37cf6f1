/* Section [parameters]. Private to task. */
#ifndef WEFT_TASK_PARAMETERS_H
#define WEFT_TASK_PARAMETERS_H

#include "weft/space.h"

#define WEFT_PARAMETERS "parameters" /* section whose keys the user chooses */
extern const weft_kind weft_parameters_kind;

/* The parameters of a configuration: their names as written, and values; *n of them. Owned
 * by mem. */
void weft_parameters(const weft_conf *input, const weft_space *space, const double *conf,
                     int *n, const char ***name, const char ***value, weft_arena *mem);
/* As {"name":value,...}; values that are numbers, true or false as such. */
const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem);
/* "PARAM_weight_decay" of "weight-decay". */
const char *weft_parameter_variable(const char *name, weft_arena *mem);

#endif

/* The environment of a program, and its parameters. */
#ifndef WEFT_TASK_COMMAND_ENV_H
#define WEFT_TASK_COMMAND_ENV_H

#include "weft/space.h"

/* The environment that this process was started with, without the variables that bind it to
 * its launcher's job, and with name[n] = value[n]. Owned by mem. */
char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem);
/* The parameters of a configuration: their names as written, and values; *n of them. Owned
 * by mem. */
void weft_parameters(const weft_conf *c, const weft_space *space, const double *conf,
                     int *n, const char ***name, const char ***value, weft_arena *mem);
/* As {"name":value,...}; values that are numbers, true or false as such. */
const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem);
/* "PARAM_weight_decay" of "weight-decay". */
const char *weft_parameter_variable(const char *name, weft_arena *mem);

#endif

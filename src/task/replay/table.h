/* A table of stored learning curves, as task replay reads it. */
#ifndef WEFT_TASK_REPLAY_TABLE_H
#define WEFT_TASK_REPLAY_TABLE_H

#include "weft/arena.h"
#include "weft/status.h"

/* What was measured after so much training. */
typedef struct replay_point {
    double resource; /* since the start, > 0 */
    double seconds;  /* since the start, where the table has them */
    double loss;     /* INFINITY: diverged */
    double test;     /* NAN where the table has none */
} replay_point;

typedef struct replay_table {
    const char *path;
    int64_t n;           /* configurations */
    int64_t *first;      /* [n+1] points of configuration i: first[i] .. first[i+1]-1 */
    replay_point *point; /* by increasing resource */
    double most;         /* largest resource */
    int ncolumn;
    const char **name;  /* [ncolumn] */
    const char **value; /* [n][ncolumn] texts of the first line of a configuration */
} replay_table;

/* The names of the columns that are numbers. */
typedef struct replay_names {
    const char *loss, *seconds;
    const char *test; /* "": none */
} replay_names;

/* Reads the table: TAB-separated text whose first line names the columns. Each other line
 * is a point of a curve, config     label of the configuration, whose lines stand together
 *     resource   of training since the start, increasing from line to line, above 0
 * the columns `names`, of which `seconds` may be missing, and any further ones, of which
 * only the first line of a configuration counts. EFILE;
 * EDATA naming the line, also where a number is missing or NaN, and a name of these that
 * two columns have. Owned by mem. */
WEFT_CHECKED weft_status replay_read(const char *path, const replay_names *names,
                                     replay_table *out, weft_arena *mem);

/* The column of that name, *at from 0; -1: there is none. EDATA naming both where there are
 * two. */
WEFT_CHECKED weft_status replay_find(const replay_table *table, const char *name, int *at);

#endif

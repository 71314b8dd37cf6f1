/* Axes, their conditions, and lists of configurations: what the files of this room share.
 * What others use is in weft/space/space.h. */
#ifndef WEFT_SPACE_AXES_H
#define WEFT_SPACE_AXES_H

#include "weft/space/space.h"

/* ---- an axis ---- */

/* The point drawn by unit in [0, 1). */
double weft_axis_draw(const weft_axis *axis, double unit);
/* A point around `centre`, as weft_space_perturb says, drawn by unit in [0, 1). */
double weft_axis_near(const weft_axis *axis, double centre, double eps, double unit);

enum { WEFT_MOST_VALUES = 4096 }; /* of an axis */
/* Reads a text "a .. b", "a .. b step c", "log a .. b", "x | y" or "x" as the range of an
 * axis, whose option is set; messages name the entry. ECONF. */
WEFT_CHECKED weft_status weft_space_range(const weft_entry *entry, const char *text,
                                          weft_axis *axis, weft_arena *mem);
/* The axis of the option, or -1. */
int weft_space_axis_of(const weft_space *space, const weft_opt *opt);
/* Number of options in the tables of the kinds. */
int weft_space_nopt(const weft_kind *const *kinds, int nkind);

/* ---- conditions ---- */

/* Reads the conditions of all axes, removes axes with a condition on an option that is not
 * an axis if that option does not meet it, and sets space->order. ECONF. */
WEFT_CHECKED weft_status weft_space_when(weft_space *space, const weft_conf *conf,
                                         const weft_kind *const *kinds, int nkind,
                                         weft_arena *mem);
/* Reads space.forbid into space->forbidden, after the conditions of axes. Conditions on
 * options that are no axes are met by all configurations or by none. ECONF. */
WEFT_CHECKED weft_status weft_space_forbid(weft_space *space, const weft_conf *conf,
                                           const weft_kind *const *kinds, int nkind,
                                           weft_arena *mem);
/* ECONF where nearly all random configurations are forbidden. */
WEFT_CHECKED weft_status weft_space_check_random(const weft_space *space);
/* Random configuration i whatever is forbidden, drawn for the attempt-th time. */
void weft_space_draw(const weft_space *space, int64_t i, int attempt, double *conf);
/* Sets space->list and space->listed to the points of a grid that are not forbidden, the
 * last axis of space->order changing fastest, none twice. Returns their number, or most + 1
 * where there are more. Cost O(points dim). */
int64_t weft_space_grid(weft_space *space, int64_t most, weft_arena *mem);
/* ECONF where configuration i of a list is forbidden in the space; conf are its values
 * there. */
WEFT_CHECKED weft_status weft_space_check_allowed(const weft_space *list, int64_t i,
                                                  const weft_space *space,
                                                  const double *conf);
/* ECONF where a configuration of a list has a value that its conditions exclude, or lacks
 * one, or is forbidden. */
WEFT_CHECKED weft_status weft_space_check_list(const weft_space *space);

/* ---- lists ---- */

/* Fills axis[0 .. dim), list and count of the space from space->file: TAB separated, the
 * first line names options of the kinds or a label ("map", "id", "#"), every further line
 * gives a value for each; or configurations "rff.gamma=1 rff.kernel=laplacian,
 * rff.gamma=10", of which file becomes "[space]"; "-" where one does not say a value.
 * space->axis has room for every option of the kinds. EFILE, ECONF. Cost
 * O(configurations^2) of the latter form.
 */
WEFT_CHECKED weft_status weft_space_list(weft_space *space, const weft_kind *const *kinds,
                                         int nkind, weft_arena *mem);
/* Fills list and listed of a random space, whose axes are set, from space->first: a list as
 * above, whose columns are axes. What it leaves out is drawn as for other configurations.
 * EFILE, ECONF. */
WEFT_CHECKED weft_status weft_space_first(weft_space *space, const weft_kind *const *kinds,
                                          int nkind, weft_arena *mem);

#endif

/* Lists of configurations, from files or the input; used by space.c. */
#ifndef WEFT_SPACE_LIST_H
#define WEFT_SPACE_LIST_H

#include "weft/space.h"

/* The configurations "rff.gamma=1 rff.kernel=laplacian, rff.gamma=10" as a list as below;
 * "-" where one does not say a value. ECONF. Cost O(configurations^2). */
WEFT_CHECKED weft_status weft_space_inline(const char *text, char **list, weft_arena *mem);
/* Fills axis[0 .. dim), list and count of sp from space->file: TAB separated, the first
 * line names options of the kinds or a label ("map", "id", "#"), every further line gives a
 * value for each; or such configurations as above, of which file becomes "[space]".
 * space->axis has room for every option of the kinds. EFILE, ECONF. */
WEFT_CHECKED weft_status weft_space_list(weft_space *space, const weft_kind *const *kinds,
                                         int nkind, weft_arena *mem);
/* Fills list and listed of a random space, whose axes are set, from space->first: a list as
 * above, whose columns are axes. What it leaves out is drawn as for other configurations.
 * EFILE, ECONF. */
WEFT_CHECKED weft_status weft_space_first(weft_space *space, const weft_kind *const *kinds,
                                          int nkind, weft_arena *mem);

#endif

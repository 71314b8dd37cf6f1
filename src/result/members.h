/* The scores of a run's members: of each client that the winner was scored on. */
#ifndef WEFT_RESULT_MEMBERS_H
#define WEFT_RESULT_MEMBERS_H

#include "weft/h5.h"
#include "weft/job.h"
#include "weft/sample.h"
#include "weft/scores.h"

/* Writes a row for each member into a group, of the test part, or of the validation part
 * where the former was not scored, and as attributes of the group what a row does not show:
 * worst_error, the mean over the tenth with the largest error, median_error, best_error and
 * std_error, of the column `error_column`, the last of the table's errors that was scored.
 * Nothing where there are no members. EFILE. */
WEFT_CHECKED weft_status weft_members_put(weft_h5 *file, const char *group,
                                          const weft_scores score[WEFT_NPART]);

#endif

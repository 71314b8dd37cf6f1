/* A client's change on its way to the server, between its training and the sum. Each step
 * is a function of the change, of options and of identities, so that the sum has the same
 * bits on any ranks. Where there is a step, changes are made and summed one by one, by
 * vectors of all weights; else lanes add theirs together, and word vectors that a client
 * does not have are left out. */
#include "upload.h"
#include "privacy.h"

int fed_uploads(const fed_task *fed)
{
    return fed->modes.privacy != NULL;
}

void fed_upload(fed_visiting *visiting)
{
    if (visiting->fed->modes.privacy) fed_privacy_clip(visiting);
}

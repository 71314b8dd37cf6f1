/* A client's change on its way to the server, between its training and the sum. Each step
 * is a function of the change, of options and of identities, so that the sum has the same
 * bits on any ranks. Where there is a step, changes are made and summed one by one, by
 * vectors of all weights; else lanes add theirs together, and word vectors that a client
 * does not have are left out. */
#include "upload.h"
#include "attack.h"
#include "compress.h"
#include "privacy.h"

int fed_uploads(const fed_task *fed)
{
    const struct fed_compress *compress = fed->modes.compress;
    if (fed_attack_uploads(fed) || fed->modes.rule || fed->modes.privacy) return 1;
    return compress && (compress->client == FED_QUANTIZE || compress->client == FED_TOPK ||
                        compress->fixed);
}

void fed_upload(fed_visiting *visiting)
{
    const fed_task *fed = visiting->fed;
    if (fed->modes.attack) fed_attack_change(visiting);
    if (fed->modes.compress)
        fed_compress_change(fed, visiting->turn->round, visiting->client->client,
                            visiting->row, visiting->visit.change);
    if (fed->modes.privacy) fed_privacy_clip(visiting);
}

/* Rows whose answers are numbers, weights and groups of rows. */
#include "pack.h"

/* ECONF: rows are dealt to clients, which have classes and equal weights. */
static weft_status refuse_clients(const weft_pack *pack, const char *what, const char *also)
{
    if (pack->own->over.clients == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s: clients = %lld makes a federation, whose rows have %s; leave "
                     "clients out%s",
                     pack->own->from, (long long)pack->own->over.clients, what, also);
}

weft_status weft_pack_targets(weft_pack *pack, const weft_pack_numbers *numbers)
{
    TRY(refuse_clients(pack, "classes, not numbers to predict", ""));
    pack->own->numbers = *numbers;
    weft_pack_classes(pack, numbers->n, numbers->name);
    return pack->own->scored ? WEFT_OK
                             : weft_pack_check_valid(pack, pack->own->rows[WEFT_VALID]);
}

weft_status weft_pack_weights(weft_pack *pack, const double *weight)
{
    TRY(refuse_clients(pack, "equal weights", ", or weight"));
    double sum = 0;
    int64_t train = pack->own->rows[WEFT_TRAIN], n = 0;
    if (pack->own->scored) train = pack->own->rows[WEFT_TEST];
    for (int64_t i = 0; i < train; i++) sum += weight[i];
    for (int p = 0; p < WEFT_NPART; p++) {
        int64_t from = n;
        double own = 0;
        for (n += pack->own->rows[p]; from < n; from++) own += weight[from];
        if (pack->own->rows[p] > 0 && !(own > 0))
            return weft_fail(WEFT_EDATA,
                             "%s: all %s rows have weight 0; give some a weight above it",
                             pack->own->from, weft_part_name[p]);
    }
    double *to = WEFT_NEW(pack->mem, double, n);
    for (int64_t i = 0; i < n; i++) to[i] = weight[i] / (sum / (double)train);
    pack->own->weight = to;
    return WEFT_OK;
}

static int64_t first_of(const weft_pack *pack, weft_part part)
{
    int64_t first = 0;
    for (int p = 0; p < (int)part; p++) first += pack->own->rows[p];
    return first;
}

weft_status weft_pack_targets_put(weft_pack *pack, weft_part part)
{
    static const char about[] =
        "mean and deviation of the targets in the training rows; a run sees "
        "(target - shift) / scale";
    const weft_pack_numbers *numbers = &pack->own->numbers;
    int64_t n = numbers->n, rows = pack->own->rows[part];
    const double *target = numbers->target + first_of(pack, part) * n;
    if (part == WEFT_TRAIN) {
        TRY(weft_pack_put(pack, "/target/shift", WEFT_H5_F64, n, numbers->shift, about,
                          "as the target"));
        TRY(weft_pack_put(pack, "/target/scale", WEFT_H5_F64, n, numbers->scale, about,
                          "as the target"));
    }
    weft_digest_add(pack->own->digest, target, (size_t)(rows * n) * sizeof *target);
    return weft_h5_put(&pack->own->file,
                       weft_arena_text(pack->mem, "/%s/target", weft_part_name[part]),
                       WEFT_H5_F64, 2, (const int64_t[]){rows, n}, target, 0,
                       "numbers to predict of each row [n][targets]", "as in the source");
}

weft_status weft_pack_weights_put(weft_pack *pack, weft_part part)
{
    if (pack->own->weight == NULL) return WEFT_OK;
    return weft_pack_put(
        pack, weft_arena_text(pack->mem, "/%s/weight", weft_part_name[part]), WEFT_H5_F64,
        pack->own->rows[part], pack->own->weight + first_of(pack, part),
        "what each row counts in fits and scores", "1, the mean over the training rows");
}

void weft_pack_groups(weft_pack *pack, int64_t n, const int32_t *group)
{
    pack->own->groups = n;
    pack->own->group = group;
}

weft_status weft_pack_groups_put(weft_pack *pack, weft_part part)
{
    if (pack->own->group == NULL) return WEFT_OK;
    if (part == WEFT_TRAIN)
        TRY(weft_h5_put_long(&pack->own->file, "/", "groups", pack->own->groups));
    return weft_pack_put(
        pack, weft_arena_text(pack->mem, "/%s/group", weft_part_name[part]), WEFT_H5_I32,
        pack->own->rows[part], pack->own->group + first_of(pack, part),
        "group of each row, whose rows are in one part or fold", "number, below /@groups");
}

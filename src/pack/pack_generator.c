/* Federations of which a file holds only the numbers that a generator makes them from. */
#include "pack.h"

void weft_pack_generator(weft_pack *pack, const weft_generator *generator)
{
    weft_generator *copy = WEFT_NEW(pack->mem, weft_generator, 1);
    *copy = *generator;
    pack->own->generator = copy;
    pack->own->form = WEFT_REALS;
    pack->own->d = generator->d;
    weft_generator_sizes(generator, pack->own->size);
    for (int i = 0; i < WEFT_NPART; i++) pack->own->part[i].n = pack->own->size[i].total;
}

static weft_status put_sizes(weft_pack *pack, int part)
{
    weft_h5 *file = &pack->own->file;
    const weft_sizes *sizes = &pack->own->size[part];
    const char *name = weft_part_name[part];
    TRY(weft_h5_put_long(file, "/", weft_arena_text(pack->mem, "%s_samples", name),
                         sizes->total));
    TRY(weft_h5_put_long(file, "/", weft_arena_text(pack->mem, "%s_most", name),
                         sizes->most));
    return weft_h5_put_num(file, "/", weft_arena_text(pack->mem, "%s_squares", name),
                           sizes->square);
}

weft_status weft_pack_generator_close(weft_pack *pack)
{
    const weft_generator *generator = pack->own->generator;
    weft_clients all = {.n = generator->clients, .d = generator->d, .stride = 1};
    const double number[] = {generator->samples, generator->spread, generator->alpha,
                             generator->beta,    generator->valid,  generator->test};
    static const char *const name[] = {"samples", "spread", "alpha",
                                       "beta",    "valid",  "test"};
    weft_h5 *file = &pack->own->file;
    weft_digest_add(pack->own->digest, number, sizeof number);
    weft_digest_add(pack->own->digest, &generator->seed, sizeof generator->seed);
    weft_digest_add(pack->own->digest, &generator->clients, sizeof generator->clients);
    TRY(weft_pack_clients_numbers(pack, &all));
    TRY(weft_h5_put_attr(file, "/", "generator", WEFT_GENERATOR));
    TRY(weft_h5_put_long(file, "/", "seed", generator->seed));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        TRY(weft_h5_put_num(file, "/", name[i], number[i]));
    for (int i = 0; i < WEFT_NPART; i++) TRY(put_sizes(pack, i));
    return WEFT_OK;
}

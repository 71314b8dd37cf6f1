/* Federations of which a file holds only the numbers that a generator makes them from.
 * Called by pack.c. */
#include "pack.h"

void weft_pack_generator(weft_pack *p, const weft_generator *g)
{
    weft_generator *copy = WEFT_NEW(p->mem, weft_generator, 1);
    *copy = *g;
    p->own->generator = copy;
    p->own->form = WEFT_REALS;
    p->own->d = g->d;
    for (int64_t c = 0; c < g->clients; c++) {
        int64_t count[WEFT_NPART];
        weft_generator_count(g, c, count);
        for (int i = 0; i < WEFT_NPART; i++) p->own->part[i].n += count[i];
    }
}

weft_status weft_pack_generator_close(weft_pack *p)
{
    const weft_generator *g = p->own->generator;
    weft_clients all = {.n = g->clients, .d = g->d, .stride = 1};
    const double number[] = {g->samples, g->spread, g->alpha, g->beta, g->valid, g->test};
    static const char *const name[] = {"samples", "spread", "alpha",
                                       "beta",    "valid",  "test"};
    weft_h5 *f = &p->own->file;
    weft_digest_add(p->own->digest, number, sizeof number);
    weft_digest_add(p->own->digest, &g->seed, sizeof g->seed);
    weft_digest_add(p->own->digest, &g->clients, sizeof g->clients);
    TRY(weft_pack_clients_numbers(p, &all));
    TRY(weft_h5_put_attr(f, "/", "generator", WEFT_GENERATOR));
    TRY(weft_h5_put_long(f, "/", "seed", g->seed));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        TRY(weft_h5_put_num(f, "/", name[i], number[i]));
    for (int i = 0; i < WEFT_NPART; i++)
        TRY(weft_h5_put_long(f, "/",
                             weft_arena_text(p->mem, "%s_samples", weft_part_name[i]),
                             p->own->part[i].n));
    return WEFT_OK;
}

/* Federations of which a file holds only the numbers that a generator makes them from. */
#include "pack.h"

void weft_pack_generator(weft_pack *p, const weft_generator *g)
{
    weft_generator *copy = WEFT_NEW(p->mem, weft_generator, 1);
    *copy = *g;
    p->own->generator = copy;
    p->own->form = WEFT_REALS;
    p->own->d = g->d;
    weft_generator_sizes(g, p->own->size);
    for (int i = 0; i < WEFT_NPART; i++) p->own->part[i].n = p->own->size[i].total;
}

static weft_status put_sizes(weft_pack *p, int part)
{
    weft_h5 *f = &p->own->file;
    const weft_sizes *s = &p->own->size[part];
    const char *name = weft_part_name[part];
    TRY(weft_h5_put_long(f, "/", weft_arena_text(p->mem, "%s_samples", name), s->total));
    TRY(weft_h5_put_long(f, "/", weft_arena_text(p->mem, "%s_most", name), s->most));
    return weft_h5_put_num(f, "/", weft_arena_text(p->mem, "%s_squares", name), s->square);
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
    for (int i = 0; i < WEFT_NPART; i++) TRY(put_sizes(p, i));
    return WEFT_OK;
}

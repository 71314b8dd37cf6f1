/* A search for tests: a schedule with the sampler and mixing that a configuration names. */
#ifndef WEFT_TEST_PARTS_H
#define WEFT_TEST_PARTS_H

#include "weft/registry.h"
#include "weft/search.h"

/* The word of [run] `key`, or `usual`. */
static inline const char *chosen(const weft_conf *c, const char *key, const char *usual)
{
    const weft_entry *e = weft_conf_find(c, "run", key);
    return e ? e->value : usual;
}

static inline weft_status bind_part(weft_conf *c, const weft_kind *kind, void **self)
{
    *self = weft_arena_alloc(c->mem, 1, kind->size);
    return kind->opts && kind->opts->name ? weft_conf_bind(c, kind, *self) : WEFT_OK;
}

/* Finds the parts and fills their options; not set up yet. */
static inline weft_status search_bind(weft_search *s, const weft_tuner *tuner, weft_conf *c)
{
    *s = (weft_search){.tuner = tuner};
    TRY(weft_sampler_find(chosen(c, "sampler", "space"), &s->sampler));
    TRY(weft_mixing_find(chosen(c, "mixing", "none"), &s->mixing));
    TRY(bind_part(c, &tuner->kind, &s->tuner_self));
    TRY(bind_part(c, &s->sampler->kind, &s->sampler_self));
    return bind_part(c, &s->mixing->kind, &s->mixing_self);
}

#endif

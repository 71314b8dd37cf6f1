/* A search for tests: a schedule with the sampler and mixing that a configuration names. */
#ifndef WEFT_TEST_PARTS_H
#define WEFT_TEST_PARTS_H

#include "weft/registry.h"
#include "weft/tune/search.h"

/* The word of [run] `key`, or `usual`. */
static inline const char *chosen(const weft_conf *conf, const char *key, const char *usual)
{
    const weft_entry *entry = weft_conf_find(conf, "run", key);
    return entry ? entry->value : usual;
}

static inline weft_status bind_part(weft_conf *conf, const weft_kind *kind, void **self)
{
    *self = weft_arena_alloc(conf->mem, 1, kind->size);
    return kind->opts && kind->opts->name ? weft_conf_bind(conf, kind, *self) : WEFT_OK;
}

/* Finds the parts and fills their options; not set up yet. */
static inline weft_status search_bind(weft_search *search, const weft_tuner *tuner,
                                      weft_conf *conf)
{
    *search = (weft_search){.tuner = tuner};
    TRY(weft_sampler_find(chosen(conf, "sampler", "space"), &search->sampler));
    TRY(weft_mixing_find(chosen(conf, "mixing", "none"), &search->mixing));
    TRY(bind_part(conf, &tuner->kind, &search->tuner_self));
    TRY(bind_part(conf, &search->sampler->kind, &search->sampler_self));
    return bind_part(conf, &search->mixing->kind, &search->mixing_self);
}

#endif

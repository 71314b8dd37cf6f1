/* Word vectors of the networks that tasks sgd and fed train on documents. Called by
 * sgd_data.c and fed.c. */
#include "words.h"

weft_status weft_word_shape(const weft_word_keys *keys, const weft_vocab *v,
                            const weft_env *env, weft_shape *shape)
{
    weft_vectors own;
    TRY(weft_vectors_read(v, keys->vectors, keys->dim, env->seed, &own, env->mem));
    if (*keys->vectors && env->team->rank == 0)
        weft_log(WEFT_INFO, "%s has %lld of %lld words", keys->vectors,
                 (long long)own.found, (long long)v->n);
    shape->form = WEFT_TOKENS;
    shape->words = v->n;
    shape->vector = own.d;
    shape->vectors = own.value;
    return WEFT_OK;
}

/* What a worker says of itself. */
#ifndef WEFT_TASK_FED_DESCRIBED_H
#define WEFT_TASK_FED_DESCRIBED_H

#include "fed.h"
#include "weft/link.h"
#include "weft/real.h"
#include "weft/sample.h"
#include "weft/tensor.h"

/* Everything is owned by the arena given. */
typedef struct fed_described {
    int64_t clients;
    const int64_t *count; /* [clients][WEFT_NPART] samples */
    const char *names;    /* each ended by 0; NULL: none */
    int ntensor;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int64_t nweight;
    const real *initial;      /* [nweight] */
    double worst;             /* mean loss that counts as divergence */
    double flops;             /* operations of a gradient, per sample; 0: not known */
    int errors;               /* 1: it counts wrong answers */
    int orders;               /* 1: it wants the order of samples */
    int ahead;                /* 1: it may be sent a turn while it does the one before */
    int knows;                /* WEFT_NEEDS_...: words of a turn */
    int nmetric;              /* of its own, */
    char metric[FED_OWN][64]; /* by name */
    uint64_t hash;            /* of all this but the words, `ahead`, its metrics */
} fed_described;

/* The words of a turn that a worker may know, and what they are for. */
enum { FED_WORDS = 3 };
typedef struct fed_word {
    const char *name;
    int needs; /* WEFT_NEEDS_... */
} fed_word;
extern const fed_word fed_word_table[FED_WORDS];

/* Asks the worker, which is running. EDATA: an answer that is no description; EWORKER,
 * WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status fed_describe(weft_link *link, uint64_t seed, fed_described *out,
                                      weft_arena *mem);

#endif

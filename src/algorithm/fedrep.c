/* Layers of its own for every client, below or above a common body. fedper trains both
 * together: Arivazhagan, Aggarwal, Singh, Choudhary, 2019. fedrep trains the own layers
 * first, with the body fixed, then the body: Collins, Hassani, Mokhtari, Shakkottai, ICML
 * 2021. The server averages the body. */
#include "weft/algorithm/algorithm.h"

#include <string.h>

typedef struct split_options {
    const char *names;
    int epochs; /* of the own layers of fedrep */
    int64_t n;  /* numbers of a client's own layers */
    char own[WEFT_MAX_TENSORS], body[WEFT_MAX_TENSORS];
} split_options;

#define OWN_OPT                                                                            \
    WEFT_TEXT_OPT("own", split_options, names, "last",                                     \
                  "tensors or layers of which every client has its own: last, all, none, " \
                  "or names with commas between them, as `weft info` prints them")

static const weft_opt fedper_opts[] = {OWN_OPT, {0}};
static const weft_opt fedrep_opts[] = {
    OWN_OPT,
    WEFT_INT_OPT("epochs", split_options, epochs, "1", 1, 1e6,
                 "passes that train the own layers, before client.epochs train the body",
                 .role = WEFT_PER_SAMPLE),
    {0},
};

static weft_status choose(split_options *split, const char *section, int ntensor,
                          const weft_tensor *tensor)
{
    TRY(weft_tensors_choose(section, "own", split->names, ntensor, tensor, split->own,
                            &split->n));
    for (int i = 0; i < ntensor; i++) split->body[i] = !split->own[i];
    return WEFT_OK;
}

static weft_status fedper_setup(void *self, int ntensor, const weft_tensor *tensor)
{
    return choose(self, "fedper", ntensor, tensor);
}

static weft_status fedrep_setup(void *self, int ntensor, const weft_tensor *tensor)
{
    return choose(self, "fedrep", ntensor, tensor);
}

static void fedper_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    const split_options *split = self;
    (void)epochs;
    out->kept = split->n;
    out->spare = n;
    out->down = out->up = (double)(n - split->n);
}

static void fedrep_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    const split_options *split = self;
    fedper_amounts(self, n, epochs, out);
    if (split->n > 0) out->epochs += split->epochs;
}

static void split_first(weft_visit *visit)
{
    const split_options *split = visit->options;
    weft_tensors_take(split->own, visit->ntensor, visit->tensor, visit->x, visit->kept);
}

/* The server's body with the client's own layers. */
static void split_own(weft_visit *visit)
{
    const split_options *split = visit->options;
    memcpy(visit->w, visit->x, (size_t)visit->n * sizeof *visit->w);
    weft_tensors_put(split->own, visit->ntensor, visit->tensor, visit->kept, visit->w);
}

/* The change of the body; own layers are kept, and the server's stay as they were. */
static void split_end(weft_visit *visit)
{
    const split_options *split = visit->options;
    weft_tensors_take(split->own, visit->ntensor, visit->tensor, visit->w, visit->kept);
    for (int i = 0; i < visit->ntensor; i++) {
        int64_t at = visit->tensor[i].at,
                end = at + weft_tensors_size(1, visit->tensor + i);
        for (int64_t e = at; e < end; e++)
            visit->change[e] = split->own[i] ? 0 : visit->w[e] - visit->x[e];
    }
}

static int fedper_courses(weft_visit *visit, weft_course *course)
{
    *course = weft_visit_own_course(visit);
    return 1;
}

/* Without own layers there is the body's course alone. */
static int fedrep_courses(weft_visit *visit, weft_course *course)
{
    const split_options *split = visit->options;
    weft_course *own = course, *body = course + (split->n > 0);
    *own = *body = weft_visit_own_course(visit);
    if (split->n == 0) return 1;
    own->fixed = split->body;
    own->epochs = split->epochs;
    body->fixed = split->own;
    return 2;
}

WEFT_PLUGIN(algorithm, fedper) = {
    .kind = WEFT_KIND("fedper", split_options, fedper_opts,
                      "own layers, trained together with the common body"),
    .setup = fedper_setup,
    .amounts = fedper_amounts,
    .first = split_first,
    .own = split_own,
    .courses = fedper_courses,
    .end = split_end,
};

WEFT_PLUGIN(algorithm, fedrep) = {
    .kind = WEFT_KIND("fedrep", split_options, fedrep_opts,
                      "own layers, trained before the common body"),
    .needs = WEFT_NEEDS_FIXED,
    .setup = fedrep_setup,
    .amounts = fedrep_amounts,
    .first = split_first,
    .own = split_own,
    .courses = fedrep_courses,
    .end = split_end,
};

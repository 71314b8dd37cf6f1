/* The winner of a run as it stands in the run file and, alone, in an exported file: its
 * weights and all that is needed to use them. Called by output.c and eval.c. */
#include "run_private.h"

#include <string.h>

#define REAL_TYPE (sizeof(real) == 8 ? WEFT_H5_F64 : WEFT_H5_F32)

weft_status weft_winner_put(const weft_winner *w, weft_h5 *f)
{
    TRY(weft_h5_put(
        f, "/winner/state", REAL_TYPE, 1, &w->n, w->state, 1,
        "what the task scores with: fmap: statistics of the features, weights by "
        "class, intercepts; fed: the weights of the network",
        "1"));
    TRY(weft_h5_put_attr(f, "/winner", "config", w->config));
    TRY(weft_h5_put_attr(f, "/winner", "text", w->text));
    TRY(weft_h5_put_long(f, "/winner", "id", w->id));
    TRY(weft_h5_put_long(f, "/winner", "job", w->job));
    TRY(weft_h5_put_long(f, "/winner", "trial", w->trial));
    TRY(weft_h5_put_long(f, "/winner", "round", w->round));
    return weft_h5_put_num(f, "/winner", "size", w->size);
}

static weft_status read_winner(weft_winner *w, weft_h5 *f)
{
    const char *format;
    TRY(weft_h5_get_attr(f, "/", "format", &format));
    if (strcmp(format, WEFT_RUN_FORMAT) != 0 && strcmp(format, WEFT_WINNER_FORMAT) != 0)
        return weft_fail(WEFT_EFILE,
                         "%s is a file \"%s\", expected a run (\"%s\") or an "
                         "exported winner (\"%s\")",
                         f->path, format, WEFT_RUN_FORMAT, WEFT_WINNER_FORMAT);
    TRY(weft_h5_get_attr(f, "/winner", "config", &w->config));
    TRY(weft_h5_get_attr(f, "/winner", "text", &w->text));
    TRY(weft_h5_get_num(f, "/winner", "size", &w->size));
    TRY(weft_h5_get_long(f, "/winner", "job", &w->job));
    TRY(weft_h5_get_long(f, "/winner", "trial", &w->trial));
    TRY(weft_h5_get_long(f, "/winner", "round", &w->round));
    TRY(weft_h5_get_long(f, "/winner", "id", &w->id));
    int nd;
    int64_t dims[4];
    TRY(weft_h5_shape(f, "/winner/state", &nd, dims));
    w->n = dims[0];
    real *state = WEFT_NEW(f->mem, real, w->n);
    w->state = state;
    return weft_h5_get_rows(f, "/winner/state", REAL_TYPE, 0, w->n, state);
}

weft_status weft_winner_read(weft_winner *w, const char *path, weft_arena *mem)
{
    weft_h5 f;
    TRY(weft_h5_open(&f, path, mem));
    const weft_status st = read_winner(w, &f);
    weft_h5_close(&f);
    return st;
}

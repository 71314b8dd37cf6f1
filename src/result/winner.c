/* The winner of a run, as stored in the run file and in an exported file: its weights and
 * all that is needed to use them. */
#include "winner.h"
#include "columns.h"
#include "rundir/formats.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define MAX_WEIGHTS 0x1p40 /* of a winner, 4 TB */
#define REAL_TYPE   (sizeof(real) == 8 ? WEFT_H5_F64 : WEFT_H5_F32)
#define FEW         (1 << 22) /* weights that are always compressed, which takes no second */

static const char *path_of(const char *tensor, weft_arena *mem)
{
    return weft_arena_text(mem, "/winner/state/%s", tensor);
}

/* Attributes of an exported file about the run that found the winner. */
static const char *const origin[WEFT_NORIGIN] = {"tuner", "data", "data_digest", "digest"};

/* Name of the attribute of /winner for a score of a part: "test_error". */
static const char *score_key(int part, const weft_metric *score, weft_arena *mem)
{
    return weft_arena_text(mem, "%s_%s", weft_part_name[part], score->name);
}

static weft_status put_scores(const weft_winner *w, weft_h5 *f)
{
    for (int p = 0; p < WEFT_NPART; p++)
        for (int i = 0; w->scores && w->scores[i].name; i++) {
            double x = w->score[p].metric[i];
            const char *key = score_key(p, &w->scores[i], f->mem);
            if (!isnan(x)) TRY(weft_h5_put_num(f, "/winner", key, x));
        }
    return weft_h5_put_attr(f, "/winner", "scores", weft_metrics_text(w->scores, f->mem));
}

weft_status weft_winner_scores(weft_h5 *f, const weft_metric **table,
                               weft_scores score[WEFT_NPART])
{
    const char *text;
    TRY(weft_h5_read_attr(f, "/winner", "scores", &text));
    const weft_metric *scores = *table = weft_metrics_parse(text, f->mem);
    for (int p = 0; p < WEFT_NPART; p++) {
        score[p] = weft_scores_none();
        for (int i = 0; i < WEFT_MAX_SCORES && scores[i].name; i++) {
            const char *key = score_key(p, &scores[i], f->mem);
            if (weft_h5_has(f, weft_arena_text(f->mem, "/winner@%s", key)))
                TRY(weft_h5_read_num(f, "/winner", key, &score[p].metric[i]));
        }
    }
    return WEFT_OK;
}

/* ---- the data that it was trained on ---- */

/* The integers of a weft_likeness, attributes of /winner. */
enum { NLIKE = 5 };
static const char *const like_key[NLIKE] = {"columns", "channels", "height", "width",
                                            "longest"};

static int64_t *like_at(weft_likeness *l, int i)
{
    int64_t *const at[NLIKE] = {&l->d, &l->channels, &l->height, &l->width, &l->longest};
    return at[i];
}

static weft_status put_likeness(const weft_winner *w, weft_h5 *f)
{
    weft_likeness l = w->like;
    if (l.classes == 0) return WEFT_OK;
    TRY(weft_h5_put_texts(f, "/winner/class", l.class_name, l.classes,
                          "names of the classes, in the order of the outputs"));
    if (l.column_name)
        TRY(weft_h5_put_texts(f, "/winner/column", l.column_name, l.d,
                              "names of the columns of the data"));
    if (l.shift) {
        static const char about[] =
            "numbers of the source are shift + scale times the data";
        TRY(weft_h5_put(f, "/winner/shift", WEFT_H5_F64, 1, &l.d, l.shift, 0, about,
                        "as the column"));
        TRY(weft_h5_put(f, "/winner/scale", WEFT_H5_F64, 1, &l.d, l.scale, 0, about,
                        "as the column"));
    }
    TRY(weft_h5_put_attr(f, "/winner", "form", weft_form_name[l.form]));
    for (int i = 0; i < NLIKE; i++)
        TRY(weft_h5_put_long(f, "/winner", like_key[i], *like_at(&l, i)));
    return WEFT_OK;
}

static weft_status read_likeness(weft_winner *w, weft_h5 *f)
{
    weft_likeness *l = &w->like;
    *l = (weft_likeness){0};
    if (!weft_h5_has(f, "/winner/class")) return WEFT_OK;
    const char **name, *form;
    int64_t n;
    TRY(weft_h5_read_texts(f, "/winner/class", &name, &l->classes));
    l->class_name = name;
    TRY(weft_h5_read_attr(f, "/winner", "form", &form));
    int k = 0;
    while (k < WEFT_NFORM && strcmp(form, weft_form_name[k]) != 0) k++;
    for (int i = 0; i < NLIKE; i++)
        TRY(weft_h5_read_long(f, "/winner", like_key[i], like_at(l, i)));
    if (weft_h5_has(f, "/winner/column")) {
        TRY(weft_h5_read_texts(f, "/winner/column", &name, &n));
        l->column_name = n == l->d ? name : NULL;
    }
    TRY(weft_shifts_read(f, "/winner", l->d, &l->shift, &l->scale));
    if (k == WEFT_NFORM || l->classes < 2 || l->classes > INT_MAX)
        return weft_fail(WEFT_EFILE,
                         "%s: the winner is of '%s' and %lld classes; make the "
                         "file again",
                         f->path, form, (long long)l->classes);
    l->form = (weft_form)k;
    return WEFT_OK;
}

/* ---- words ---- */

/* As in a packed file, there /vocab/TOKENIZER. */
static const char text_path[] = "/winner/vocab/text";
static const char offset_path[] = "/winner/vocab/text_offset";

static weft_status put_vocab(const weft_vocab *v, weft_h5 *f)
{
    int64_t n = v->n + 1;
    if (v->n == 0) return WEFT_OK;
    TRY(weft_h5_put(f, text_path, WEFT_H5_U8, 1, &v->offset[v->n], v->text, 1,
                    "the words that the weights refer to by number, one after another",
                    "UTF-8 bytes"));
    return weft_h5_put(f, offset_path, WEFT_H5_I64, 1, &n, v->offset, 1,
                       "word i is text[offset[i] .. offset[i+1])", "bytes");
}

static weft_status read_vocab(weft_winner *w, weft_h5 *f)
{
    weft_vocab *v = &w->vocab;
    *v = (weft_vocab){0};
    if (!weft_h5_has(f, text_path)) return WEFT_OK;
    TRY(weft_vocab_words(v, f, "/winner/vocab"));
    uint64_t *hash = WEFT_NEW(f->mem, uint64_t, v->n);
    for (int64_t i = 0; i < v->n; i++)
        hash[i] =
            weft_hash(v->text + v->offset[i], (size_t)(v->offset[i + 1] - v->offset[i]), 0);
    v->hash = hash;
    return WEFT_OK;
}

/* ---- the whole ---- */

/* Whether compression of the numbers is worth its time: weights that are mostly not zero
 * lose a fifth of their size by it, at 40 MB a second. */
static int is_packed(int64_t n, const real *x)
{
    int64_t zeros = 0;
    for (int64_t i = 0; i < n; i++) zeros += !(x[i] > 0 || x[i] < 0);
    return n < FEW || 2 * zeros > n;
}

weft_status weft_winner_put(const weft_winner *w, weft_h5 *f)
{
    const char *name[WEFT_MAX_TENSORS];
    for (int i = 0; i < w->ntensor; i++) {
        const weft_tensor *t = &w->tensor[i];
        const real *x = w->state + t->at;
        name[i] = t->name;
        TRY(weft_h5_put(f, path_of(t->name, f->mem), REAL_TYPE, t->nd, t->dims, x,
                        is_packed(weft_tensors_size(1, t), x), "of the winner, row-major",
                        "1"));
    }
    TRY(weft_h5_put_texts(f, "/winner/tensors", name, w->ntensor,
                          "names in /winner/state, in the order of the weight vector"));
    TRY(put_likeness(w, f));
    if (w->config) TRY(weft_h5_put_attr(f, "/winner", "config", w->config));
    TRY(weft_h5_put_attr(f, "/winner", "text", w->text));
    TRY(put_vocab(&w->vocab, f));
    TRY(weft_h5_put_long(f, "/winner", "id", w->id));
    TRY(weft_h5_put_long(f, "/winner", "job", w->job));
    TRY(weft_h5_put_long(f, "/winner", "trial", w->trial));
    TRY(weft_h5_put_long(f, "/winner", "round", w->round));
    TRY(weft_h5_put_num(f, "/winner", "size", w->size));
    return put_scores(w, f);
}

weft_status weft_winner_export(const weft_winner *w, const char *run, weft_h5 *f)
{
    TRY(weft_h5_put_attr(f, "/", "format", WEFT_WINNER_FORMAT));
    TRY(weft_h5_put_attr(f, "/", "version", WEFT_VERSION));
    TRY(weft_h5_put_attr(f, "/", "run", run));
    for (int i = 0; i < WEFT_NORIGIN; i++)
        TRY(weft_h5_put_attr(f, "/", origin[i], w->origin[i]));
    return weft_winner_put(w, f);
}

weft_status weft_winner_tensors(weft_h5 *f, int *n, weft_tensor out[WEFT_MAX_TENSORS])
{
    const char **name;
    int64_t count;
    TRY(weft_h5_read_texts(f, "/winner/tensors", &name, &count));
    if (count > WEFT_MAX_TENSORS)
        return weft_fail(WEFT_EFILE, "%s has %lld tensors, more than %d", f->path,
                         (long long)count, WEFT_MAX_TENSORS);
    *n = (int)count;
    double all = 0;
    for (int i = 0; i < *n; i++) {
        weft_tensor *t = &out[i];
        snprintf(t->name, sizeof t->name, "%s", name[i]);
        t->at = weft_tensors_size(i, out);
        TRY(weft_h5_shape(f, path_of(t->name, f->mem), &t->nd, t->dims));
        double numbers = 1;
        for (int k = 0; k < t->nd; k++) numbers *= (double)t->dims[k];
        all += numbers;
        if (!(all <= MAX_WEIGHTS))
            return weft_fail(WEFT_EFILE,
                             "%s has tensors of %g numbers, which nothing holds; make it "
                             "again",
                             f->path, all);
    }
    return WEFT_OK;
}

static weft_status read_state(weft_winner *w, weft_h5 *f)
{
    TRY(weft_winner_tensors(f, &w->ntensor, w->tensor));
    real *state = WEFT_NEW(f->mem, real, weft_tensors_size(w->ntensor, w->tensor));
    w->state = state;
    for (int i = 0; i < w->ntensor; i++) {
        const weft_tensor *t = &w->tensor[i];
        TRY(weft_h5_read_rows(f, path_of(t->name, f->mem), REAL_TYPE,
                              t->dims[1] * t->dims[2] * t->dims[3], 0, t->dims[0],
                              state + t->at));
    }
    return WEFT_OK;
}

static weft_status read_winner(weft_winner *w, weft_h5 *f)
{
    TRY(weft_winner_check(f, 1));
    TRY(weft_h5_verify(f));
    TRY(weft_h5_read_attr(f, "/winner", "config", &w->config));
    TRY(weft_h5_read_attr(f, "/winner", "text", &w->text));
    TRY(weft_h5_read_num(f, "/winner", "size", &w->size));
    TRY(weft_h5_read_long(f, "/winner", "job", &w->job));
    TRY(weft_h5_read_long(f, "/winner", "trial", &w->trial));
    TRY(weft_h5_read_long(f, "/winner", "round", &w->round));
    TRY(weft_h5_read_long(f, "/winner", "id", &w->id));
    for (int i = 0; i < WEFT_NORIGIN; i++)
        TRY(weft_h5_read_attr(f, "/", origin[i], &w->origin[i]));
    if (!(w->size > 0 && w->size <= 1) || w->round < 0 || w->round > INT_MAX)
        return weft_fail(WEFT_EFILE,
                         "%s has a winner of size %g, trained %lld times; make it again",
                         f->path, w->size, (long long)w->round);
    TRY(weft_winner_scores(f, &w->scores, w->score));
    TRY(read_likeness(w, f));
    TRY(read_vocab(w, f));
    return read_state(w, f);
}

weft_status weft_winner_read(weft_winner *w, const char *path, weft_arena *mem)
{
    weft_h5 f;
    TRY(weft_run_file(&f, path, mem));
    weft_status st = read_winner(w, &f);
    weft_h5_close(&f);
    return st;
}

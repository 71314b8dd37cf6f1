/* The winner of a run, as stored in the run file and in an exported file: its weights and
 * all that is needed to use them, its confusion matrix, and what its clients keep: rows of
 * those that were ever trained, with their numbers, written and read in portions. */
#include "result.h"
#include "weft/base/random.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_WEIGHTS 0x1p40    /* of a winner, 4 TB */
#define FEW         (1 << 22) /* weights that are always compressed, which takes no second */

/* ---- the confusion matrix ---- */

enum { SHOWN = 12, WIDTH = 8 }; /* classes that are printed, at most; a column, at least */

static const char confusion_path[] = "/winner/confusion";

/* /winner/confusion, of the classes /winner/class; nothing where there is none. EFILE. */
static weft_status put_confusion(const weft_confusion *confusion, weft_h5 *file)
{
    int64_t dims[] = {confusion->classes, confusion->classes};
    if (confusion->classes == 0) return WEFT_OK;
    return weft_h5_put(file, confusion_path, WEFT_H5_F64, 2, dims, confusion->rows, 1,
                       "rows of the test part by their class, and by the class predicted",
                       "rows, or what they count");
}

weft_status weft_confusion_read(weft_confusion *confusion, weft_h5 *file)
{
    *confusion = (weft_confusion){0};
    if (!weft_h5_has(file, confusion_path)) return WEFT_OK;
    const char **name;
    int64_t n;
    int nd;
    int64_t dims[WEFT_H5_DIMS] = {0};
    TRY(weft_h5_read_texts(file, "/winner/class", &name, &n));
    TRY(weft_h5_shape(file, confusion_path, &nd, dims));
    if (nd != 2 || dims[0] != n || dims[1] != n)
        return weft_fail(WEFT_EFILE, "%s: %s is not of %lld classes; make the file again",
                         file->path, confusion_path, (long long)n);
    double *rows = WEFT_NEW(file->mem, double, n *n);
    TRY(weft_h5_read_rows(file, confusion_path, WEFT_H5_F64, n, 0, n, rows));
    *confusion = (weft_confusion){n, name, rows};
    return WEFT_OK;
}

const char *weft_confusion_guess(const weft_confusion *confusion, weft_arena *mem)
{
    double right = 0, spread = 0, seen = 0;
    for (int64_t k = 0; k < confusion->classes; k++) {
        const double *row = confusion->rows + k * confusion->classes;
        double n = 0;
        for (int64_t j = 0; j < confusion->classes; j++) n += row[j];
        if (!(n > 0)) continue;
        right += row[k] / n;
        spread += 1 / n;
        seen++;
    }
    double guess = 1 / seen, most = 0.02; /* few rows tell little: that is no guess */
    double chance = 1.96 * sqrt(guess * (1 - guess) * spread) / seen;
    right /= seen;
    if (seen < 2 || right > guess + fmin(chance, most)) return NULL;
    return weft_arena_text(mem,
                           "its balanced error of %.1f %% is not better than that of "
                           "guesses, %.1f %%",
                           100 * (1 - right), 100 * (1 - guess));
}

static int width_of(const char *name)
{
    int n = (int)strlen(name) + 1;
    return n > WIDTH ? n : WIDTH;
}

void weft_confusion_print(const weft_confusion *confusion)
{
    int classes = (int)confusion->classes, widest = 0;
    if (classes == 0 || classes > SHOWN) return;
    WEFT_SCRATCH(tmp);
    const char *name[SHOWN];
    for (int k = 0; k < classes; k++) {
        name[k] = weft_one_line(weft_arena_text(tmp, "%s", confusion->name[k]));
        if (width_of(name[k]) > widest) widest = width_of(name[k]);
    }
    printf("\n%-*s the class that is predicted of rows of the test part\n%-*s", widest,
           "class", widest, "");
    for (int k = 0; k < classes; k++) printf(" %*s", width_of(name[k]), name[k]);
    for (int k = 0; k < classes; k++) {
        printf("\n%-*s", widest, name[k]);
        for (int j = 0; j < classes; j++)
            printf(" %*.10g", width_of(name[j]), confusion->rows[k * classes + j]);
    }
    printf("\n");
}

/* ---- what clients keep ---- */

static const char kept_group[] = "/winner/kept", client_path[] = "/winner/kept/client",
                  row_path[] = "/winner/kept/row";

enum { PORTION = 1 << 22 }; /* bytes in memory */

static weft_status put_kept_rows(const weft_kept *kept, int64_t m, const int64_t *client,
                                 weft_h5 *file)
{
    int64_t each = weft_kept_each(kept),
            most = PORTION / (each * (int64_t)sizeof(real)) + 1;
    int64_t dims[] = {m, each};
    TRY(weft_h5_make(file, row_path, WEFT_REAL_TYPE, 2, dims,
                     "the turns that a client has finished, then what it keeps", "1"));
    WEFT_SCRATCH(tmp);
    real *x = WEFT_NEW(tmp, real, (most < m ? most : m) * each);
    weft_status st = WEFT_OK;
    for (int64_t i = 0, n; i < m && st == WEFT_OK; i += n) {
        n = m - i < most ? m - i : most;
        st = weft_kept_read(kept, n, client + i, x);
        if (st == WEFT_OK) st = weft_h5_put_rows(file, row_path, WEFT_REAL_TYPE, i, n, x);
    }
    return st;
}

static weft_status put_kept_table(const weft_kept *kept, int64_t m, const int64_t *client,
                                  weft_h5 *file)
{
    double mark[WEFT_KEPT_MARK];
    int64_t each = weft_kept_each(kept), sum;
    weft_kept_mark(kept, mark);
    memcpy(&sum, &mark[0], sizeof sum);
    TRY(weft_h5_put(file, client_path, WEFT_H5_I64, 1, &m, client, 1,
                    "clients that were ever trained, by number", "1"));
    TRY(weft_h5_put_long(file, kept_group, "clients", weft_kept_n(kept)));
    TRY(weft_h5_put_long(file, kept_group, "numbers", each));
    TRY(weft_h5_put_long(file, kept_group, "rows", m));
    TRY(weft_h5_put_num(file, kept_group, "bytes", weft_kept_bytes(m, each)));
    TRY(weft_h5_put_long(file, kept_group, "hash", sum));
    TRY(weft_h5_put_long(file, kept_group, "turns", (int64_t)mark[1]));
    return m > 0 ? put_kept_rows(kept, m, client, file) : WEFT_OK;
}

/* Writes a table in portions; kept NULL: nothing. EFILE. */
static weft_status put_kept(const weft_kept *kept, weft_h5 *file)
{
    if (!kept) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    int64_t m = weft_kept_count(kept);
    int64_t *client = WEFT_NEW(tmp, int64_t, m);
    weft_kept_clients(kept, 0, m, client);
    return put_kept_table(kept, m, client, file);
}

static weft_status damaged_rows(const char *path)
{
    return weft_fail(WEFT_EFILE,
                     "%s: what clients keep has not the rows that it should have; make the "
                     "file again",
                     path);
}

static weft_status read_clients(weft_stored *rows)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS], sum, turn;
    weft_h5 *file = &rows->file;
    TRY(weft_h5_read_long(file, kept_group, "clients", &rows->n));
    TRY(weft_h5_read_long(file, kept_group, "numbers", &rows->each));
    TRY(weft_h5_read_long(file, kept_group, "hash", &sum));
    TRY(weft_h5_read_long(file, kept_group, "turns", &turn));
    memcpy(&rows->mark[0], &sum, sizeof sum);
    rows->mark[1] = (double)turn;
    TRY(weft_h5_shape(file, client_path, &nd, dims));
    rows->m = dims[0];
    if (nd != 1 || rows->m < 0 || rows->m > rows->n || rows->each < 1)
        return damaged_rows(file->path);
    int64_t *client = WEFT_NEW(file->mem, int64_t, rows->m);
    TRY(weft_h5_read_rows(file, client_path, WEFT_H5_I64, 1, 0, rows->m, client));
    for (int64_t i = 0; i < rows->m; i++)
        if (client[i] < (i > 0 ? client[i - 1] + 1 : 0) || client[i] >= rows->n)
            return damaged_rows(file->path);
    rows->client = client;
    if (rows->m == 0) return WEFT_OK;
    TRY(weft_h5_set_open(&rows->set, file, row_path));
    if (rows->set.nd == 2 && rows->set.dims[0] == rows->m &&
        rows->set.dims[1] == rows->each)
        return WEFT_OK;
    weft_h5_set_close(&rows->set);
    return damaged_rows(file->path);
}

weft_status weft_stored_open(weft_stored **rows, const char *path, weft_arena *mem)
{
    weft_stored *own = WEFT_NEW(mem, weft_stored, 1);
    *rows = NULL;
    TRY(weft_h5_open(&own->file, path, mem));
    weft_status st = weft_h5_has(&own->file, client_path) ? read_clients(own)
                                                          : weft_h5_sound(&own->file);
    if (st == WEFT_OK && own->client) {
        *rows = own;
        return WEFT_OK;
    }
    weft_h5_close(&own->file);
    return st;
}

static weft_status read_kept_rows(void *self, int64_t first, int64_t count, real *to)
{
    weft_stored *rows = self;
    return weft_h5_set_rows(&rows->set, WEFT_REAL_TYPE, first, count, to);
}

void weft_stored_give(weft_stored *rows, const int64_t *client, weft_kept *kept)
{
    weft_kept_source(kept, rows->m, client ? client : rows->client, rows->mark,
                     read_kept_rows, rows);
}

weft_kept *weft_stored_table(weft_stored *rows, weft_arena *mem)
{
    if (!rows) return NULL;
    weft_kept *kept = weft_kept_new(rows->n, rows->each, mem);
    weft_stored_give(rows, NULL, kept);
    return kept;
}

void weft_stored_close(weft_stored *rows)
{
    if (!rows || !rows->client) return;
    if (rows->m > 0) weft_h5_set_close(&rows->set);
    weft_h5_close(&rows->file);
    rows->client = NULL;
}

/* ---- scores ---- */

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

static weft_status put_scores(const weft_winner *winner, weft_h5 *file)
{
    for (int p = 0; p < WEFT_NPART; p++)
        for (int i = 0; winner->scores && winner->scores[i].name; i++) {
            double x = winner->score[p].metric[i];
            const char *key = score_key(p, &winner->scores[i], file->mem);
            if (!isnan(x)) TRY(weft_h5_put_num(file, "/winner", key, x));
        }
    return weft_h5_put_attr(file, "/winner", "scores",
                            weft_metrics_text(winner->scores, file->mem));
}

weft_status weft_winner_scores(weft_h5 *file, const weft_metric **table,
                               weft_scores score[WEFT_NPART])
{
    const char *text;
    TRY(weft_h5_read_attr(file, "/winner", "scores", &text));
    const weft_metric *scores = *table = weft_metrics_parse(text, file->mem);
    for (int p = 0; p < WEFT_NPART; p++) {
        score[p] = weft_scores_none();
        for (int i = 0; i < WEFT_MAX_SCORES && scores[i].name; i++) {
            const char *key = score_key(p, &scores[i], file->mem);
            if (weft_h5_has(file, weft_arena_text(file->mem, "/winner@%s", key)))
                TRY(weft_h5_read_num(file, "/winner", key, &score[p].metric[i]));
        }
    }
    return WEFT_OK;
}

/* ---- the data that it was trained on ---- */

/* The integers of a weft_likeness, attributes of /winner. */
enum { NLIKE = 5 };
static const char *const like_key[NLIKE] = {"columns", "channels", "height", "width",
                                            "longest"};

static int64_t *like_at(weft_likeness *likeness, int i)
{
    int64_t *const at[NLIKE] = {&likeness->d, &likeness->channels, &likeness->height,
                                &likeness->width, &likeness->longest};
    return at[i];
}

static weft_status put_shifts(weft_h5 *file, const char *group, int64_t n,
                              const double *shift, const double *scale, const char *about)
{
    TRY(weft_h5_put(file, weft_arena_text(file->mem, "%s/shift", group), WEFT_H5_F64, 1, &n,
                    shift, 0, about, "as the column"));
    return weft_h5_put(file, weft_arena_text(file->mem, "%s/scale", group), WEFT_H5_F64, 1,
                       &n, scale, 0, about, "as the column");
}

/* What loss and error are of numbers, as reports say it. */
static weft_status put_measure(const weft_likeness *likeness, weft_h5 *file)
{
    const char *names = "";
    for (int64_t i = 0; i < likeness->classes; i++)
        names = weft_arena_text(file->mem, "%s%s%s", names, i ? ", " : "",
                                likeness->class_name[i]);
    const char *loss = weft_arena_text(
        file->mem,
        likeness->classes > 1 ? "loss and error: 1 - R2, on average of %s"
                              : "loss: mean squared error of %s; error: 1 - R2",
        names);
    return weft_h5_put_attr(file, "/winner", "measure", loss);
}

static const char ranks_path[] = "/winner/quantile";

static weft_status put_ranks(const weft_likeness *likeness, weft_h5 *file)
{
    if (likeness->ranks.n == 0) return WEFT_OK;
    return weft_h5_put(file, ranks_path, WEFT_H5_F64, 2,
                       (const int64_t[]){likeness->d, likeness->ranks.n},
                       likeness->ranks.quantile, 1,
                       "quantiles of each column, 0 .. 1, evenly spaced, among which its "
                       "numbers are ranked",
                       "as the column");
}

static weft_status read_ranks(weft_likeness *likeness, weft_h5 *file)
{
    int nd;
    int64_t dims[WEFT_H5_DIMS] = {0};
    if (!weft_h5_has(file, ranks_path)) return WEFT_OK;
    TRY(weft_h5_shape(file, ranks_path, &nd, dims));
    if (nd != 2 || dims[0] != likeness->d || dims[1] < 2 || dims[1] > WEFT_MOST_RANKS)
        return weft_fail(WEFT_EFILE,
                         "%s: the quantiles of %lld columns are expected; make the file "
                         "again",
                         file->path, (long long)likeness->d);
    double *quantile = WEFT_NEW(file->mem, double, dims[0] * dims[1]);
    likeness->ranks = (weft_ranks){dims[1], quantile};
    return weft_h5_read_rows(file, ranks_path, WEFT_H5_F64, dims[1], 0, dims[0], quantile);
}

static weft_status put_likeness(const weft_winner *winner, weft_h5 *file)
{
    weft_likeness likeness = winner->like;
    if (likeness.classes == 0) return WEFT_OK;
    TRY(weft_h5_put_texts(file, "/winner/class", likeness.class_name, likeness.classes,
                          likeness.target_scale
                              ? "names of the targets, in the order of the outputs"
                              : "names of the classes, in the order of the outputs"));
    if (likeness.target_scale) TRY(put_measure(&likeness, file));
    if (likeness.target_scale)
        TRY(put_shifts(file, "/winner/target", likeness.classes, likeness.target_shift,
                       likeness.target_scale,
                       "a target of the source is shift + scale times "
                       "the output"));
    if (likeness.column_name)
        TRY(weft_h5_put_texts(file, "/winner/column", likeness.column_name, likeness.d,
                              "names of the columns of the data"));
    if (likeness.shift)
        TRY(put_shifts(file, "/winner", likeness.d, likeness.shift, likeness.scale,
                       "numbers of the source are shift + scale times the data"));
    TRY(put_ranks(&likeness, file));
    if (likeness.table) TRY(weft_columns_put(file, "/winner", likeness.table));
    const weft_form_traits *form = weft_forms[likeness.form];
    if (form->put && likeness.own) TRY(form->put(file, "/winner", likeness.own));
    TRY(weft_h5_put_attr(file, "/winner", "form", form->name));
    if (*likeness.notation != '\0')
        TRY(weft_h5_put_attr(file, "/winner", "notation", likeness.notation));
    for (int i = 0; i < NLIKE; i++)
        TRY(weft_h5_put_long(file, "/winner", like_key[i], *like_at(&likeness, i)));
    return WEFT_OK;
}

static weft_status read_likeness(weft_winner *winner, weft_h5 *file)
{
    weft_likeness *likeness = &winner->like;
    *likeness = (weft_likeness){0};
    if (!weft_h5_has(file, "/winner/class")) return WEFT_OK;
    const char **name, *form;
    int64_t n;
    TRY(weft_h5_read_texts(file, "/winner/class", &name, &likeness->classes));
    likeness->class_name = name;
    TRY(weft_h5_read_attr(file, "/winner", "form", &form));
    likeness->notation = "";
    TRY(weft_h5_find_attr(file, "/winner", "notation", &likeness->notation));
    likeness->form = weft_form_find(form);
    int known = likeness->form != WEFT_NFORM;
    for (int i = 0; i < NLIKE; i++)
        TRY(weft_h5_read_long(file, "/winner", like_key[i], like_at(likeness, i)));
    if (weft_h5_has(file, "/winner/column")) {
        TRY(weft_h5_read_texts(file, "/winner/column", &name, &n));
        likeness->column_name = n == likeness->d ? name : NULL;
    }
    TRY(weft_columns_read(file, "/winner", &likeness->table));
    if (known && weft_forms[likeness->form]->get)
        TRY(weft_forms[likeness->form]->get(file, "/winner", likeness));
    TRY(read_ranks(likeness, file));
    TRY(weft_shifts_read(file, "/winner", likeness->d, &likeness->shift, &likeness->scale));
    TRY(weft_shifts_read(file, "/winner/target", likeness->classes, &likeness->target_shift,
                         &likeness->target_scale));
    int least = likeness->target_scale ? 1 : 2;
    if (!known || likeness->classes < least || likeness->classes > INT_MAX)
        return weft_fail(WEFT_EFILE,
                         "%s: the winner is of '%s' and %lld classes; make the "
                         "file again",
                         file->path, form, (long long)likeness->classes);
    return WEFT_OK;
}

/* ---- words ---- */

/* As in a packed file, there /vocab/TOKENIZER. */
static const char text_path[] = "/winner/vocab/text";
static const char offset_path[] = "/winner/vocab/text_offset";

static weft_status put_vocab(const weft_vocab *vocab, weft_h5 *file)
{
    int64_t n = vocab->n + 1;
    if (vocab->n == 0) return WEFT_OK;
    TRY(weft_h5_put(file, text_path, WEFT_H5_U8, 1, &vocab->offset[vocab->n], vocab->text,
                    1, "the words that the weights refer to by number, one after another",
                    "UTF-8 bytes"));
    return weft_h5_put(file, offset_path, WEFT_H5_I64, 1, &n, vocab->offset, 1,
                       "word i is text[offset[i] .. offset[i+1])", "bytes");
}

static weft_status read_vocab(weft_winner *winner, weft_h5 *file)
{
    weft_vocab *vocab = &winner->vocab;
    *vocab = (weft_vocab){0};
    if (winner->like.own || !weft_h5_has(file, text_path)) return WEFT_OK;
    TRY(weft_vocab_words(vocab, file, "/winner/vocab"));
    uint64_t *hash = WEFT_NEW(file->mem, uint64_t, vocab->n);
    for (int64_t i = 0; i < vocab->n; i++)
        hash[i] = weft_hash(vocab->text + vocab->offset[i],
                            (size_t)(vocab->offset[i + 1] - vocab->offset[i]), 0);
    vocab->hash = hash;
    return WEFT_OK;
}

/* ---- clients ---- */

static const char member_path[] = "/winner/client";

static weft_status put_members(const weft_winner *winner, weft_h5 *file)
{
    if (!winner->member) return WEFT_OK;
    return weft_h5_put_texts(file, member_path, winner->member, winner->nmember,
                             "names of all clients, by number");
}

static weft_status read_members(weft_winner *winner, weft_h5 *file)
{
    winner->member = NULL;
    if (!weft_h5_has(file, member_path)) return WEFT_OK;
    return weft_h5_read_texts(file, member_path, &winner->member, &winner->nmember);
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

weft_status weft_winner_put(const weft_winner *winner, weft_h5 *file)
{
    const char *name[WEFT_MAX_TENSORS];
    for (int i = 0; i < winner->ntensor; i++) {
        const weft_tensor *tensor = &winner->tensor[i];
        const real *x = winner->state + tensor->at;
        name[i] = tensor->name;
        TRY(weft_h5_put(file, path_of(tensor->name, file->mem), WEFT_REAL_TYPE, tensor->nd,
                        tensor->dims, x, is_packed(weft_tensors_size(1, tensor), x),
                        "of the winner, row-major", "1"));
    }
    TRY(weft_h5_put_texts(file, "/winner/tensors", name, winner->ntensor,
                          "names in /winner/state, in the order of the weight vector"));
    TRY(put_likeness(winner, file));
    TRY(put_confusion(&winner->confusion, file));
    if (winner->config) TRY(weft_h5_put_attr(file, "/winner", "config", winner->config));
    TRY(weft_h5_put_attr(file, "/winner", "text", winner->text));
    TRY(put_vocab(&winner->vocab, file));
    TRY(put_members(winner, file));
    TRY(put_kept(winner->kept, file));
    TRY(weft_h5_put_long(file, "/winner", "id", winner->id));
    if (winner->refitted > 0)
        TRY(weft_h5_put_long(file, "/winner", "refitted", (int64_t)winner->refitted));
    TRY(weft_h5_put_long(file, "/winner", "job", winner->job));
    TRY(weft_h5_put_long(file, "/winner", "trial", winner->trial));
    TRY(weft_h5_put_long(file, "/winner", "round", winner->round));
    return put_scores(winner, file);
}

weft_status weft_winner_export(const weft_winner *winner, const char *run, weft_h5 *file)
{
    TRY(weft_h5_put_attr(file, "/", "format", WEFT_WINNER_FORMAT));
    TRY(weft_h5_put_attr(file, "/", "version", WEFT_VERSION));
    TRY(weft_h5_put_attr(file, "/", "run", run));
    for (int i = 0; i < WEFT_NORIGIN; i++)
        TRY(weft_h5_put_attr(file, "/", origin[i], winner->origin[i]));
    return weft_winner_put(winner, file);
}

weft_status weft_winner_tensors(weft_h5 *file, int *n, weft_tensor out[WEFT_MAX_TENSORS])
{
    const char **name;
    int64_t count;
    TRY(weft_h5_read_texts(file, "/winner/tensors", &name, &count));
    if (count > WEFT_MAX_TENSORS)
        return weft_fail(WEFT_EFILE, "%s has %lld tensors, more than %d", file->path,
                         (long long)count, WEFT_MAX_TENSORS);
    *n = (int)count;
    double all = 0;
    for (int i = 0; i < *n; i++) {
        weft_tensor *tensor = &out[i];
        snprintf(tensor->name, sizeof tensor->name, "%s", name[i]);
        tensor->at = weft_tensors_size(i, out);
        TRY(weft_h5_shape(file, path_of(tensor->name, file->mem), &tensor->nd,
                          tensor->dims));
        double numbers = 1;
        for (int k = 0; k < tensor->nd; k++) numbers *= (double)tensor->dims[k];
        all += numbers;
        if (!(all <= MAX_WEIGHTS))
            return weft_fail(WEFT_EFILE,
                             "%s has tensors of %g numbers, which nothing holds; make it "
                             "again",
                             file->path, all);
    }
    return WEFT_OK;
}

static weft_status read_state(weft_winner *winner, weft_h5 *file)
{
    TRY(weft_winner_tensors(file, &winner->ntensor, winner->tensor));
    real *state =
        WEFT_NEW(file->mem, real, weft_tensors_size(winner->ntensor, winner->tensor));
    winner->state = state;
    for (int i = 0; i < winner->ntensor; i++) {
        const weft_tensor *tensor = &winner->tensor[i];
        TRY(weft_h5_read_rows(file, path_of(tensor->name, file->mem), WEFT_REAL_TYPE,
                              tensor->dims[1] * tensor->dims[2] * tensor->dims[3], 0,
                              tensor->dims[0], state + tensor->at));
    }
    return WEFT_OK;
}

static weft_status read_winner(weft_winner *winner, weft_h5 *file)
{
    TRY(weft_winner_check(file, 1));
    TRY(weft_h5_verify(file));
    TRY(weft_h5_read_attr(file, "/winner", "config", &winner->config));
    TRY(weft_h5_read_attr(file, "/winner", "text", &winner->text));
    TRY(weft_h5_read_long(file, "/winner", "job", &winner->job));
    TRY(weft_h5_read_long(file, "/winner", "trial", &winner->trial));
    TRY(weft_h5_read_long(file, "/winner", "round", &winner->round));
    TRY(weft_h5_read_long(file, "/winner", "id", &winner->id));
    for (int i = 0; i < WEFT_NORIGIN; i++)
        TRY(weft_h5_read_attr(file, "/", origin[i], &winner->origin[i]));
    if (winner->round < 0 || winner->round > INT_MAX)
        return weft_fail(WEFT_EFILE, "%s has a winner trained %lld times; make it again",
                         file->path, (long long)winner->round);
    TRY(weft_winner_scores(file, &winner->scores, winner->score));
    TRY(read_likeness(winner, file));
    TRY(weft_confusion_read(&winner->confusion, file));
    TRY(read_vocab(winner, file));
    TRY(read_members(winner, file));
    return read_state(winner, file);
}

weft_status weft_winner_read(weft_winner *winner, const char *path, weft_arena *mem)
{
    weft_h5 file;
    winner->rows = NULL;
    winner->kept = NULL;
    TRY(weft_run_file(&file, path, mem));
    weft_status st = read_winner(winner, &file);
    weft_h5_close(&file);
    return st == WEFT_OK ? weft_stored_open(&winner->rows, path, mem) : st;
}

void weft_winner_close(weft_winner *winner)
{
    weft_stored_close(winner->rows);
    winner->rows = NULL;
}

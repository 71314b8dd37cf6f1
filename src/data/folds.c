/* Folds: every rank reads all rows, and takes those that are dealt to it of each fold's. So
 * the rows of a fold and their order do not depend on the number of ranks. */
#include "weft/folds.h"
#include "answers.h"
#include "weft/par.h"

#include <stddef.h>
#include <string.h>

/* The part that row *i of both parts is in; *i becomes its place there. */
static const weft_rows *part_of(const weft_folds *folds, int64_t *i)
{
    const weft_rows *part = folds->all.part;
    if (*i < part[WEFT_TRAIN].n) return &part[WEFT_TRAIN];
    *i -= part[WEFT_TRAIN].n;
    return &part[WEFT_VALID];
}

/* ---- opening ---- */

/* The tokens of both parts, one after the other. */
static void join_tokens(weft_folds *folds, weft_tokenizer tok, weft_arena *mem)
{
    const weft_rows *part = folds->all.part;
    int64_t *offset = WEFT_NEW(mem, int64_t, folds->n + 1);
    for (int64_t i = 0; i < folds->n; i++) {
        int64_t at = i;
        const weft_rows *rows = part_of(folds, &at);
        offset[i + 1] = offset[i] + rows->end[tok][at] - rows->offset[tok][at];
    }
    uint32_t *token = WEFT_NEW(mem, uint32_t, offset[folds->n]), *to = token;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++) {
        int64_t n = part[p].offset[tok][part[p].n];
        if (n > 0) memcpy(to, part[p].token[tok], (size_t)n * sizeof *to);
        to += n;
    }
    folds->offset[tok] = offset;
    folds->token[tok] = token;
}

static weft_status open_all(weft_folds *folds, weft_arena *mem)
{
    weft_data *base = folds->base, *all = &folds->all;
    weft_likeness like = weft_data_likeness(base);
    TRY(weft_data_open(all, base->path, &folds->alone, mem));
    weft_data_bind(base, all);
    TRY(weft_data_match(all, &like, "the run"));
    folds->n = all->part[WEFT_TRAIN].n + all->part[WEFT_VALID].n;
    for (int tok = 0; tok < WEFT_NTOK && base->form == WEFT_TOKENS; tok++) {
        TRY(weft_data_tokens(all, (weft_tokenizer)tok));
        join_tokens(folds, (weft_tokenizer)tok, mem);
    }
    return weft_data_sound(all);
}

weft_status weft_folds_open(weft_folds *folds, weft_data *base, weft_arena *mem)
{
    *folds = (weft_folds){.base = base};
    folds->alone = weft_team_alone();
    TRY(weft_agree(open_all(folds, mem), base->team));
    for (int tok = 0; tok < WEFT_NTOK && base->form == WEFT_TOKENS; tok++)
        TRY(weft_data_tokens(base, (weft_tokenizer)tok));
    return WEFT_OK;
}

double weft_folds_bytes(const weft_folds *folds)
{
    const weft_rows *rows = &folds->all.part[WEFT_TRAIN];
    double row = rows->byte    ? (double)rows->d
                 : rows->value ? (double)rows->d * sizeof(float)
                               : 2.0 * WEFT_NTOK * sizeof(int64_t);
    if (rows->target) row += folds->all.classes * sizeof(double);
    return (row + sizeof(double)) * (double)folds->n / folds->base->team->size;
}

/* ---- the rows of a part ---- */

static const char *pointer_at(const weft_rows *rows, size_t member)
{
    const char *x;
    memcpy(&x, (const char *)rows + member, sizeof x);
    return x;
}

/* The entries of the rows row[n], of `bytes` each, of the member of weft_rows at offset
 * `member`; NULL where rows have none. */
static const void *take(const weft_folds *folds, size_t member, size_t bytes, int64_t n,
                        const int64_t *row, weft_arena *mem)
{
    if (!pointer_at(&folds->all.part[WEFT_TRAIN], member)) return NULL;
    char *copy = weft_arena_alloc(mem, (size_t)n, bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = row[i];
        const weft_rows *from = part_of(folds, &at);
        memcpy(copy + (size_t)i * bytes, pointer_at(from, member) + (size_t)at * bytes,
               bytes);
    }
    return copy;
}

static void take_tokens(const weft_folds *folds, const int64_t *row, weft_rows *to,
                        weft_arena *mem)
{
    for (int tok = 0; tok < WEFT_NTOK; tok++) {
        if (!folds->offset[tok]) continue;
        int64_t *offset = WEFT_NEW(mem, int64_t, to->n),
                *end = WEFT_NEW(mem, int64_t, to->n);
        for (int64_t i = 0; i < to->n; i++) {
            offset[i] = folds->offset[tok][row[i]];
            end[i] = folds->offset[tok][row[i] + 1];
        }
        to->offset[tok] = offset;
        to->end[tok] = end;
        to->token[tok] = folds->token[tok];
    }
}

/* This rank's of the `total` rows all[]. */
static weft_rows take_rows(const weft_folds *folds, int64_t total, const int64_t *all,
                           weft_arena *mem)
{
    const weft_team *team = folds->base->team;
    size_t d = (size_t)folds->all.part[WEFT_TRAIN].d, targets = (size_t)folds->all.classes;
    weft_rows to = {.total = total, .d = (int64_t)d};
    weft_deal(total, team->rank, team->size, &to.first, &to.n);
    const int64_t *row = all + to.first;
#define TAKE(name, width)                                                                  \
    to.name =                                                                              \
        take(folds, offsetof(weft_rows, name), (width) * sizeof *to.name, to.n, row, mem)
    TAKE(label, 1);
    TAKE(target, targets);
    TAKE(weight, 1);
    TAKE(byte, d);
    TAKE(value, d);
#undef TAKE
    take_tokens(folds, row, &to, mem);
    return to;
}

void weft_folds_take(const weft_folds *folds, int64_t fold, weft_data *data,
                     weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    int64_t *row[2], n[2] = {0};
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        row[p] = WEFT_NEW(tmp, int64_t, folds->n);
    for (int64_t i = 0; i < folds->n; i++) {
        int p = fold >= 0 && folds->held_by[i] == fold ? WEFT_VALID : WEFT_TRAIN;
        row[p][n[p]++] = i;
    }
    *data = *folds->base;
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++)
        data->part[p] = take_rows(folds, n[p], row[p], mem);
    weft_answers_count(data);
    weft_arena_free(tmp);
}

void weft_folds_sample(const weft_folds *folds, int64_t n, const int64_t *row,
                       weft_data *data, weft_arena *mem)
{
    data->part[WEFT_TRAIN] = take_rows(folds, n, row, mem);
    weft_answers_count(data);
}

/* Data sets of LEAF in JSON (Caldas et al., "LEAF: A benchmark for federated settings",
 * 2018): one file, or a directory of them, whose users are divided here, or a directory
 * with train/ and test/ (and valid/), as LEAF's own split makes them. Parser: leaf_json.c.
 *
 * Rows that are divided here are shuffled first, user by user, since stored ones may be
 * sorted by class. Windows of text, which LEAF writes out one by one, are put together
 * again: window i + 1 begins `stride` characters after window i, so that a text is stored
 * once. */
#include "leaf.h"
#include "reader.h"
#include "shares.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "weft/names.h"
#include "weft/shuffle.h"

#include <stdlib.h>
#include <string.h>

#define LEARN 2000 /* windows from which the stride is learnt */

typedef struct leaf {
    const char *shape, *unknown;
    int64_t classes, stride, seed;
    int vocabulary;
    weft_shares shares;
} leaf;

static const weft_opt options[] = {
    WEFT_REAL_OPT(
        "valid", leaf, shares.valid, "0.1", 0, 0.9,
        "share of each client's samples for validation; of text the last ones. It is of "
        "train/ where the source has that, and not read where it has valid/"),
    WEFT_REAL_OPT("test", leaf, shares.test, "0.1", 0, 0.9,
                  "share of each client's samples for the test; not read where the source "
                  "has train/"),
    WEFT_CHOICE_OPT("rule", leaf, shares.rule, "shares", "shares|leaf",
                    "leaf: train and test alone, the gap of text taken from the test"),
    WEFT_LONG_OPT("seed", leaf, seed, "0", 0, 9e15,
                  "seed of the shuffles that divide the rows of each client"),
    WEFT_TEXT_OPT("shape", leaf, shape, "", "CxHxW of rows that are images: 1x28x28"),
    WEFT_LONG_OPT("classes", leaf, classes, "0", 0, WEFT_MAX_CLASSES,
                  "classes of rows; 0: one more than the largest label"),
    WEFT_LONG_OPT("stride", leaf, stride, "0", 0, 100000,
                  "characters from one window of text to the next; 0: as the windows show"),
    WEFT_CHOICE_OPT("vocabulary", leaf, vocabulary, "leaf", WEFT_VOCAB_WORDS,
                    WEFT_VOCAB_ABOUT),
    WEFT_TEXT_OPT("unknown", leaf, unknown, "", WEFT_UNKNOWN_ABOUT),
    {0},
};

typedef struct job {
    const leaf *o;
    const char *source;
    weft_leaf_files part[WEFT_NPART]; /* all in TRAIN where they are not divided */
    int divided;                      /* by directories */
    weft_leaf_form form;
    weft_clients all;
    int most_label;
    int cut;       /* validation samples are taken from train/ */
    int64_t whole; /* users whose samples in train/ are too few for that */
    int64_t left;  /* users who are left out, a part being empty */
    weft_pack *p;
} job;

/* ---- windows ---- */

/* 1 if window i + 1 of the user begins `stride` characters after window i. */
static int follows(const weft_leaf_user *u, int64_t d, int64_t i, int64_t stride)
{
    const uint8_t *a = u->text + i * d, *b = a + d;
    if (stride > d) return 1; /* they share nothing */
    if (memcmp(a + stride, b, (size_t)(d - stride)) != 0) return 0;
    return u->next[i] == b[d - stride];
}

/* The text of which the user's windows are pieces, into text[(n - 1) stride + d + 1]. */
static weft_status join(const job *j, const weft_leaf_user *u, uint8_t *text)
{
    int64_t d = j->form.d, stride = j->all.stride;
    for (int64_t i = 0; i < u->n; i++) {
        if (i + 1 < u->n && !follows(u, d, i, stride))
            return weft_fail(WEFT_EDATA,
                             "%s: user '%s', x[%lld] does not begin %lld characters after "
                             "x[%lld], as those before it do; give the stride of the "
                             "windows, or stride = %lld to store each for itself",
                             u->file, u->name, (long long)(i + 1), (long long)stride,
                             (long long)i, (long long)(d + 1));
        memcpy(text + i * stride, u->text + i * d, (size_t)d);
        text[i * stride + d] = u->next[i];
    }
    return WEFT_OK;
}

/* Excludes strides that the windows of a user contradict. */
static void try_strides(const weft_leaf_user *u, int64_t d, char *wrong)
{
    for (int64_t i = 0; i + 1 < u->n; i++)
        for (int64_t s = 1; s <= d; s++)
            if (!wrong[s]) wrong[s] = !follows(u, d, i, s);
}

/* What samples are, from the first users: form, and the smallest stride that all their
 * windows allow. */
static weft_status learn(job *j)
{
    weft_pack *p = j->p;
    const weft_leaf_user *u;
    size_t mark = weft_arena_mark(p->scratch);
    weft_leaf *l = weft_leaf_open(j->part[WEFT_TRAIN].path, j->part[WEFT_TRAIN].n, 0,
                                  &j->form, p->scratch);
    weft_status st = weft_leaf_next(l, &u);
    while (st == WEFT_OK && u != NULL && u->n == 0) st = weft_leaf_next(l, &u);
    char *wrong = WEFT_NEW(p->mem, char, j->form.d + 2);
    for (int64_t n = 0; st == WEFT_OK && u != NULL && j->form.text && n < LEARN;) {
        try_strides(u, j->form.d, wrong);
        n += u->n;
        st = weft_leaf_next(l, &u);
    }
    weft_leaf_close(l);
    weft_arena_reset(p->scratch, mark);
    TRY(st);
    j->all.stride = 1;
    if (j->form.d == 0)
        return weft_fail(WEFT_EDATA, "%s has no user with samples", j->source);
    if (!j->form.text) return WEFT_OK;
    while (wrong[j->all.stride]) j->all.stride++;
    if (j->o->stride > 0) j->all.stride = j->o->stride;
    return WEFT_OK;
}

/* Windows between two parts: as many as would overlap; if each part has a text of its own,
 * as many as fit between the texts. */
static weft_status set_gap(job *j)
{
    int64_t d = j->form.d, stride = j->all.stride;
    if (!j->form.text) return WEFT_OK;
    if (stride > d + 1)
        return weft_fail(
            WEFT_ECONF,
            "stride = %lld leaves characters out between windows of %lld; give "
            "at most %lld, which stores each for itself",
            (long long)stride, (long long)d, (long long)(d + 1));
    j->all.gap = j->divided ? (d + stride) / stride - 1 : (d - 1) / stride;
    const weft_shares *s = &j->o->shares;
    if (stride <= d || j->divided || (s->valid <= 0 && s->test <= 0)) return WEFT_OK;
    return weft_fail(
        WEFT_EDATA,
        "%s: windows of a user do not follow one another, so that it cannot be "
        "seen which of them overlap; give valid=0 test=0, or a directory with "
        "train/ and test/",
        j->source);
}

/* ---- clients ---- */

/* Packs the client whose parts are user[], NULL where it has none. */
static weft_status put_text(job *j, const char *name, const weft_leaf_user *const *user,
                            const int64_t *count)
{
    weft_pack *p = j->p;
    size_t mark = weft_arena_mark(p->scratch);
    int64_t d = j->form.d, windows = 0, end = 0;
    for (int i = 0; i < WEFT_NPART; i++)
        if (user[i] != NULL) windows += user[i]->n + j->all.gap;
    uint8_t *text = WEFT_NEW(p->scratch, uint8_t, windows * j->all.stride + d + 1);
    weft_status st = WEFT_OK;
    for (int i = 0; i < WEFT_NPART && st == WEFT_OK; i++) {
        if (user[i] == NULL || user[i]->n == 0) continue;
        int64_t at = weft_client_place(count, i, j->all.gap) * j->all.stride;
        st = join(j, user[i], text + at);
        end = at + (user[i]->n - 1) * j->all.stride + d + 1;
    }
    if (st == WEFT_OK) st = weft_pack_client_text(p, name, count, text, end);
    weft_arena_reset(p->scratch, mark);
    return st;
}

/* The rows of a user to x and label; those that are divided here, of which `first` are the
 * first part, in an order that the seed and the user's name determine, so that each part is
 * drawn by chance. */
static void copy_rows(const job *j, const weft_leaf_user *user, int64_t first, double *x,
                      int32_t *label, weft_arena *tmp)
{
    size_t row = (size_t)j->form.d;
    int64_t *order = WEFT_NEW(tmp, int64_t, user->n);
    uint64_t who = weft_hash(user->name, strlen(user->name), 0);
    weft_rng4 key = weft_rng_at((uint64_t)j->o->seed, WEFT_RNG_SPLIT, who, 0, 1);
    for (int64_t i = 0; i < user->n; i++) order[i] = i;
    if (first < user->n) weft_shuffle(user->n, key.v[0], order, tmp);
    for (int64_t i = 0; i < user->n; i++) {
        memcpy(x + (size_t)i * row, user->x + (size_t)order[i] * row, row * sizeof *x);
        label[i] = user->label[order[i]];
    }
}

static weft_status put_rows(job *j, const char *name, const weft_leaf_user *const *user,
                            const int64_t *count)
{
    weft_pack *p = j->p;
    size_t mark = weft_arena_mark(p->scratch);
    int64_t d = j->form.d, n = 0, at = 0;
    for (int i = 0; i < WEFT_NPART; i++) n += user[i] != NULL ? user[i]->n : 0;
    double *x = WEFT_NEW(p->scratch, double, n *d);
    int32_t *label = WEFT_NEW(p->scratch, int32_t, n);
    for (int i = 0; i < WEFT_NPART; i++) {
        if (user[i] == NULL) continue;
        copy_rows(j, user[i], count[i], x + at * d, label + at, p->scratch);
        at += user[i]->n;
    }
    for (int64_t i = 0; i < n; i++)
        if (label[i] > j->most_label) j->most_label = label[i];
    weft_status st = WEFT_OK;
    if (j->o->classes > 0 && j->most_label >= j->o->classes)
        st = weft_fail(WEFT_EDATA, "%s: user '%s' has label %d where classes = %lld",
                       j->source, name, j->most_label, (long long)j->o->classes);
    if (st == WEFT_OK) st = weft_pack_client_rows(p, name, count, x, label);
    weft_arena_reset(p->scratch, mark);
    return st;
}

static weft_status put(job *j, const char *name, const weft_leaf_user *const *user,
                       const int64_t *count)
{
    if (count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST] == 0) {
        j->left++;
        return WEFT_OK;
    }
    return j->form.text ? put_text(j, name, user, count) : put_rows(j, name, user, count);
}

/* Users whose samples are divided here. */
static weft_status divide(job *j, weft_leaf *l)
{
    const weft_leaf_user *user[WEFT_NPART] = {NULL};
    TRY(weft_leaf_next(l, &user[0]));
    while (user[0] != NULL) {
        int64_t count[WEFT_NPART];
        if (weft_shares_count(&j->o->shares, user[0]->n, j->all.gap, count))
            TRY(put(j, user[0]->name, user, count));
        else
            j->left++;
        TRY(weft_leaf_next(l, &user[0]));
    }
    return WEFT_OK;
}

/* Takes samples in train/ for validation, where the source has no valid/. */
static void cut_valid(job *j, int64_t *count)
{
    weft_shares only = {.valid = j->o->shares.valid};
    int64_t part[WEFT_NPART], n = count[WEFT_TRAIN];
    if (!j->cut || n == 0) return;
    if (weft_shares_count(&only, n, j->all.gap, part))
        memcpy(count, part, (WEFT_VALID + 1) * sizeof *part);
    else
        j->whole++;
}

static int same_user(const weft_leaf_user *const *user, const weft_leaf *const *l)
{
    const weft_leaf_user *first = NULL;
    for (int i = 0; i < WEFT_NPART; i++) {
        if (l[i] == NULL) continue;
        if (user[i] == NULL) return 0;
        if (first == NULL) first = user[i];
        if (strcmp(first->name, user[i]->name) != 0) return 0;
    }
    return 1;
}

/* Users that are in every directory, at the same position. */
static weft_status merge(job *j, weft_leaf **l, const weft_leaf_user **user)
{
    for (;;) {
        int64_t count[WEFT_NPART];
        const weft_leaf_user *some = NULL;
        for (int i = 0; i < WEFT_NPART; i++) {
            count[i] = user[i] != NULL ? user[i]->n : 0;
            if (user[i] != NULL) some = user[i];
        }
        if (some == NULL) return WEFT_OK;
        if (!same_user(user, (const weft_leaf *const *)l))
            return weft_fail(
                WEFT_EDATA,
                "%s: user '%s' stands at another place in the other directory, "
                "or not at all; each must have the same users in the same "
                "order, or others altogether; leave out who has no samples in one of them",
                some->file, some->name);
        cut_valid(j, count);
        TRY(put(j, some->name, user, count));
        for (int i = 0; i < WEFT_NPART; i++)
            if (l[i] != NULL) TRY(weft_leaf_next(l[i], &user[i]));
    }
}

/* Users each of which is in one directory. */
static weft_status append(job *j, weft_leaf **l, const weft_leaf_user **user)
{
    weft_names seen = {.mem = j->p->mem};
    for (int i = 0; i < WEFT_NPART; i++) {
        while (user[i] != NULL) {
            const weft_leaf_user *only[WEFT_NPART] = {NULL};
            int64_t count[WEFT_NPART] = {0}, before = seen.n;
            only[i] = user[i];
            count[i] = user[i]->n;
            if (weft_names_find(&seen, user[i]->name) < before)
                return weft_fail(
                    WEFT_EDATA,
                    "%s: user '%s' stands in another directory too, at another "
                    "place; each must have the same users in the same order, or "
                    "others altogether; leave out who has no samples in one of them",
                    user[i]->file, user[i]->name);
            cut_valid(j, count);
            TRY(put(j, user[i]->name, only, count));
            TRY(weft_leaf_next(l[i], &user[i]));
        }
    }
    return WEFT_OK;
}

static weft_status hand_over(job *j, weft_leaf **l)
{
    const weft_leaf_user *user[WEFT_NPART] = {NULL};
    if (!j->divided) return divide(j, l[WEFT_TRAIN]);
    for (int i = 0; i < WEFT_NPART; i++)
        if (l[i] != NULL) TRY(weft_leaf_next(l[i], &user[i]));
    if (same_user(user, (const weft_leaf *const *)l)) return merge(j, l, user);
    return append(j, l, user);
}

/* ---- the reader ---- */

static weft_status set_shape(job *j)
{
    int side[3];
    if (*j->o->shape == '\0') return WEFT_OK;
    if (j->form.text)
        return weft_fail(WEFT_ECONF, "shape = %s where samples are characters",
                         j->o->shape);
    TRY(weft_shape_read(j->o->shape, j->form.d, side));
    j->all.channels = side[0];
    j->all.height = side[1];
    j->all.width = side[2];
    return WEFT_OK;
}

/* Classes of rows: 0, 1, ... */
static weft_status set_classes(job *j)
{
    int n = j->o->classes > 0 ? (int)j->o->classes : j->most_label + 1;
    if (n < 2 && weft_pack_clients_count(j->p) > 0)
        return weft_fail(WEFT_EDATA,
                         "%s: all labels are 0 where two classes or more are needed; check "
                         "y, or give classes = NUMBER",
                         j->source);
    if (n < 2) n = 2; /* there is no user; the packer reports it */
    weft_pack_numbered(j->p, n);
    return WEFT_OK;
}

/* How samples are divided, for the packed file. */
static const char *split_text(const job *j)
{
    weft_arena *mem = j->p->mem;
    long long gap = (long long)j->all.gap, seed = (long long)j->o->seed;
    double valid = j->o->shares.valid;
    if (j->divided && !j->cut) return "as the source is divided";
    if (!j->form.text && j->cut)
        return weft_arena_text(mem,
                               "as the source is divided, %g of the training samples of "
                               "each user, shuffled with seed %lld, for validation",
                               valid, seed);
    if (!j->form.text)
        return weft_arena_text(mem, "samples of each user shuffled with seed %lld", seed);
    if (j->cut)
        return weft_arena_text(mem,
                               "as the source is divided, the last %g of the training "
                               "samples of each user for validation, %lld left out between",
                               valid, gap);
    return weft_arena_text(
        mem, "samples of each user in stored order, %lld left out between two parts", gap);
}

static weft_status begin(job *j)
{
    weft_pack *p = j->p;
    TRY(weft_shares_check(&j->o->shares));
    TRY(weft_alphabet_setup(&j->form.alphabet, j->o->vocabulary, j->o->unknown));
    TRY(weft_leaf_find(j->source, j->part, &j->divided, p));
    TRY(learn(j));
    TRY(set_gap(j));
    TRY(set_shape(j));
    if (j->form.text) weft_alphabet_classes(j->o->vocabulary, p);
    j->all.d = j->form.d;
    j->all.symbols = j->form.text ? j->form.alphabet.n : 0;
    j->all.named = 1;
    const weft_shares *s = &j->o->shares;
    j->cut = j->divided && j->part[WEFT_VALID].n == 0 && s->rule != WEFT_RULE_LEAF &&
             s->valid > 0;
    if (j->cut && j->form.text && j->all.stride > j->form.d) {
        j->cut = 0;
        weft_log(WEFT_WARN,
                 "%s: windows of a user do not follow one another, so that none are taken "
                 "for validation: which overlap cannot be seen; give a directory valid/",
                 j->source);
    }
    weft_pack_split(p, split_text(j));
    return weft_pack_clients(p, j->form.text ? WEFT_CHARS : WEFT_REALS, &j->all);
}

static weft_status leaf_read(const void *self, const char *source, weft_pack *p)
{
    job j = {.o = self, .source = source, .p = p};
    weft_leaf *l[WEFT_NPART] = {NULL};
    TRY(begin(&j));
    for (int i = 0; i < WEFT_NPART; i++)
        if (j.part[i].n > 0)
            l[i] = weft_leaf_open(j.part[i].path, j.part[i].n, j.divided && i == WEFT_TEST,
                                  &j.form, p->mem);
    weft_status st = hand_over(&j, l);
    for (int i = 0; i < WEFT_NPART; i++) {
        if (l[i] == NULL) continue;
        if (st == WEFT_OK) weft_leaf_sources(l[i], p);
        weft_leaf_close(l[i]);
    }
    if (st == WEFT_OK && !j.form.text) st = set_classes(&j);
    if (st == WEFT_OK) weft_shares_log(j.left, j.all.gap);
    if (j.whole > 0)
        weft_log(WEFT_INFO, "%lld users have too few training samples for validation",
                 (long long)j.whole);
    return st;
}

extern const weft_reader weft_reader_leaf;
const weft_reader weft_reader_leaf = {
    .kind = {.name = "leaf",
             .about = "data sets of LEAF: users with rows or windows of text, in JSON",
             .size = sizeof(leaf),
             .opts = options},
    .read = leaf_read,
};

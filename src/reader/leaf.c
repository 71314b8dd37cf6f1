/* Data sets of LEAF in JSON (Caldas et al., "LEAF: A benchmark for federated settings",
 * 2018): one file, or a directory of them, whose users are divided here, or a directory
 * with train/ and test/ (and valid/), as LEAF's own split makes them. Parser: leaf_json.c.
 *
 * Rows that are divided here are shuffled first, user by user, since stored ones may be
 * sorted by class, and by wish every part gets its share of each class. Windows of text,
 * which LEAF writes out one by one, are put together again: window i + 1 begins `stride`
 * characters after window i, so that a text is stored once. */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/data/data.h"

#include <string.h>
#include <sys/stat.h>

#define LEARN 2000 /* windows from which the stride is learnt */

struct leaf {
    const char *shape;
    int64_t classes, text;
    weft_split split;
};

static const weft_opt options[] = {
    WEFT_SPLIT_OPTS(struct leaf, split, "samples of each client",
                    "; of text the last ones. It is of train/ where the source has that, "
                    "and not read where it has valid/",
                    "; not read where the source has train/"),
    WEFT_TEXT_OPT("shape", struct leaf, shape, "",
                  "CxHxW of rows that are images: 1x28x28"),
    WEFT_LONG_OPT("classes", struct leaf, classes, "0", 0, WEFT_MAX_CLASSES,
                  "classes of rows; 0: one more than the largest label"),
    WEFT_LONG_OPT(
        "text", struct leaf, text, "5", 1, 1000,
        "element, from 1, that is the text of samples that are lists of texts, as "
        "those of Sent140"),
    {0},
};

/* Files of a part, in the order of their names. */
struct leaf_files {
    const char **path; /* [n] */
    int64_t n, room;
};

struct reading {
    const struct leaf *options;
    const char *source;
    struct leaf_files part[WEFT_NPART]; /* all in TRAIN where they are not divided */
    int divided;                        /* by directories */
    weft_shares shares;                 /* by which users are divided here */
    weft_leaf_form form;
    weft_clients all;
    int most_label;
    int cut;       /* validation samples are taken from train/ */
    int64_t whole; /* users whose samples in train/ are too few for that */
    int64_t left;  /* users who are left out, a part being empty */
    weft_pack *pack;
};

/* ---- where the files are ---- */

static int is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void add_path(struct leaf_files *files, const char *path, weft_arena *mem)
{
    files->path = weft_grow(mem, files->path, sizeof *files->path, files->n, &files->room);
    files->path[files->n++] = path;
}

/* The *.json of a directory, by name. */
static weft_status list_files(const char *path, struct leaf_files *files, weft_pack *pack)
{
    const char **name;
    int64_t n = weft_dir_list(path, &name, pack->mem);
    if (n < 0) return weft_unreadable(path);
    for (int64_t i = 0; i < n; i++) {
        size_t length = strlen(name[i]);
        if (length > 5 && strcmp(name[i] + length - 5, ".json") == 0)
            add_path(files, weft_arena_text(pack->mem, "%s/%s", path, name[i]), pack->mem);
    }
    return WEFT_OK;
}

/* The *.json of a source: a file or a directory, all in part[WEFT_TRAIN]; *divided 1: a
 * directory that has train/, whose directories are the parts. EFILE: there are none. */
static weft_status find_files(const char *source, struct leaf_files part[WEFT_NPART],
                              int *divided, weft_pack *pack)
{
    int64_t n = 0;
    *divided = is_directory(weft_arena_text(pack->mem, "%s/train", source));
    if (*divided) {
        for (int i = 0; i < WEFT_NPART; i++) {
            const char *dir =
                weft_arena_text(pack->mem, "%s/%s", source, weft_part_name[i]);
            if (is_directory(dir)) TRY(list_files(dir, &part[i], pack));
        }
    } else if (is_directory(source)) {
        TRY(list_files(source, &part[WEFT_TRAIN], pack));
    } else {
        add_path(&part[WEFT_TRAIN], source, pack->mem);
    }
    for (int i = 0; i < WEFT_NPART; i++) n += part[i].n;
    if (n > 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s holds no *.json, nor do train/ and test/ in it; give a data "
                     "directory of LEAF's, such as data/all_data",
                     source);
}

/* ---- documents ---- */

/* Adds the documents of a user. */
static weft_status add_user(const weft_leaf_user *user, const weft_leaf_form *form,
                            weft_documents *documents, weft_arena *mem)
{
    const char *client = weft_arena_text(mem, "%s", user->name);
    documents->labels.path = user->file;
    for (int64_t i = 0; i < user->n; i++) {
        weft_document document = {.name =
                                      weft_arena_text(mem, "%s:%lld", client, (long long)i),
                                  .text = weft_arena_text(mem, "%s", user->document[i]),
                                  .n = strlen(user->document[i]),
                                  .client = client};
        const char *label = form->labelled == WEFT_LEAF_WORDS
                                ? form->labels.name[user->label[i]]
                                : weft_arena_text(mem, "%d", (int)user->label[i]);
        TRY(weft_documents_add(documents, document, 0, label, strlen(label), mem));
    }
    return WEFT_OK;
}

/* Packs the users' documents, each user a client. Those of leaf[part], NULL where there is
 * none, are of that part; those of the train part alone, or without a valid or test part of
 * their own, are divided within each user by the shares. EFILE, EDATA. */
static weft_status pack_documents(weft_leaf *const leaf[WEFT_NPART],
                                  const weft_leaf_form *form, const weft_split *split,
                                  const char *source, weft_pack *pack)
{
    weft_documents documents = {.labels = {.mem = pack->mem}};
    for (int p = 0; p < WEFT_NPART; p++) {
        const weft_leaf_user *user = NULL;
        if (leaf[p]) TRY(weft_leaf_next(leaf[p], &user));
        while (user) {
            TRY(add_user(user, form, &documents, pack->mem));
            TRY(weft_leaf_next(leaf[p], &user));
        }
        documents.end[p] = documents.n;
        if (p != WEFT_TRAIN && leaf[p]) documents.own[p] = weft_part_name[p];
    }
    return weft_documents_pack(&documents, source, split, pack);
}

/* ---- windows ---- */

/* 1 if window i + 1 of the user begins `stride` characters after window i. */
static int follows(const weft_leaf_user *user, int64_t d, int64_t i, int64_t stride)
{
    const uint8_t *a = user->text + i * d, *b = a + d;
    if (stride > d) return 1; /* they share nothing */
    if (memcmp(a + stride, b, (size_t)(d - stride)) != 0) return 0;
    return user->next[i] == b[d - stride];
}

/* The text of which the user's windows are pieces, into text[(n - 1) stride + d + 1]. */
static weft_status join_windows(const struct reading *reading, const weft_leaf_user *user,
                                uint8_t *text)
{
    int64_t d = reading->form.d, stride = reading->all.stride;
    for (int64_t i = 0; i < user->n; i++) {
        if (i + 1 < user->n && !follows(user, d, i, stride))
            return weft_fail(WEFT_EDATA,
                             "%s: user '%s', x[%lld] does not begin %lld characters after "
                             "x[%lld], as those before it do; put the windows of each "
                             "user in the order of its text",
                             user->file, user->name, (long long)(i + 1), (long long)stride,
                             (long long)i);
        memcpy(text + i * stride, user->text + i * d, (size_t)d);
        text[i * stride + d] = user->next[i];
    }
    return WEFT_OK;
}

/* Excludes strides that the windows of a user contradict. */
static void try_strides(const weft_leaf_user *user, int64_t d, char *wrong)
{
    for (int64_t i = 0; i + 1 < user->n; i++)
        for (int64_t s = 1; s <= d; s++)
            if (!wrong[s]) wrong[s] = !follows(user, d, i, s);
}

/* What samples are, from the first users: form, and the smallest stride that all their
 * windows allow. */
static weft_status learn(struct reading *reading)
{
    weft_pack *pack = reading->pack;
    const weft_leaf_user *user;
    size_t mark = weft_arena_mark(pack->scratch);
    weft_leaf *leaf =
        weft_leaf_open(reading->part[WEFT_TRAIN].path, reading->part[WEFT_TRAIN].n, 0,
                       &reading->form, pack->scratch);
    weft_status st = weft_leaf_next(leaf, &user);
    while (st == WEFT_OK && user != NULL && user->n == 0) st = weft_leaf_next(leaf, &user);
    char *wrong = WEFT_NEW(pack->mem, char, reading->form.d + 2);
    for (int64_t n = 0; st == WEFT_OK && user != NULL && reading->form.text && n < LEARN;) {
        try_strides(user, reading->form.d, wrong);
        n += user->n;
        st = weft_leaf_next(leaf, &user);
    }
    weft_leaf_close(leaf);
    weft_arena_reset(pack->scratch, mark);
    TRY(st);
    reading->all.stride = 1;
    if (reading->form.d == 0)
        return weft_fail(WEFT_EDATA, "%s has no user with samples", reading->source);
    if (!reading->form.text) return WEFT_OK;
    while (wrong[reading->all.stride]) reading->all.stride++;
    return WEFT_OK;
}

/* Windows between two parts: as many as would overlap; if each part has a text of its own,
 * as many as fit between the texts. */
static weft_status set_gap(struct reading *reading)
{
    int64_t d = reading->form.d, stride = reading->all.stride;
    if (!reading->form.text) return WEFT_OK;
    reading->all.gap = reading->divided ? (d + stride) / stride - 1 : (d - 1) / stride;
    const weft_shares *shares = &reading->shares;
    if (stride <= d || reading->divided || (shares->valid <= 0 && shares->test <= 0))
        return WEFT_OK;
    return weft_fail(
        WEFT_EDATA,
        "%s: windows of a user do not follow one another, so that it cannot be "
        "seen which of them overlap; give valid=0 test=0, or a directory with "
        "train/ and test/",
        reading->source);
}

/* ---- clients ---- */

/* Packs the client whose parts are user[], NULL where it has none. */
static weft_status put_text(struct reading *reading, const char *name,
                            const weft_leaf_user *const *user, const int64_t *count)
{
    weft_pack *pack = reading->pack;
    WEFT_REWIND(pack->scratch);
    int64_t d = reading->form.d, windows = 0, end = 0;
    for (int i = 0; i < WEFT_NPART; i++)
        if (user[i] != NULL) windows += user[i]->n + reading->all.gap;
    uint8_t *text = WEFT_NEW(pack->scratch, uint8_t, windows * reading->all.stride + d + 1);
    weft_status st = WEFT_OK;
    for (int i = 0; i < WEFT_NPART && st == WEFT_OK; i++) {
        if (user[i] == NULL || user[i]->n == 0) continue;
        int64_t at = weft_client_place(count, i, reading->all.gap) * reading->all.stride;
        st = join_windows(reading, user[i], text + at);
        end = at + (user[i]->n - 1) * reading->all.stride + d + 1;
    }
    if (st == WEFT_OK) st = weft_pack_client_text(pack, name, count, text, end);
    return st;
}

/* The rows of a user to x and label; those that are divided here, of which `first` are the
 * first part, in an order that the seed and the user's name determine, so that each part is
 * drawn by chance, unless the last ones are asked for. */
static void copy_rows(const struct reading *reading, const weft_leaf_user *user,
                      int64_t first, double *x, int32_t *label, weft_arena *tmp)
{
    size_t row = (size_t)reading->form.d;
    int64_t *order = WEFT_NEW(tmp, int64_t, user->n);
    uint64_t who = weft_hash(user->name, strlen(user->name), 0);
    weft_rng4 key =
        weft_rng_at((uint64_t)reading->options->split.seed, WEFT_RNG_SPLIT, who, 0, 1);
    for (int64_t i = 0; i < user->n; i++) order[i] = i;
    int how = first < user->n ? reading->options->split.shares : WEFT_FROM_END;
    if (how != WEFT_FROM_END) weft_shuffle(user->n, key.v[0], order, tmp);
    if (how == WEFT_BY_CLASS) weft_split_classes(user->n, order, NULL, user->label, tmp);
    for (int64_t i = 0; i < user->n; i++) {
        memcpy(x + (size_t)i * row, user->x + (size_t)order[i] * row, row * sizeof *x);
        label[i] = user->label[order[i]];
    }
}

static weft_status put_rows(struct reading *reading, const char *name,
                            const weft_leaf_user *const *user, const int64_t *count)
{
    weft_pack *pack = reading->pack;
    WEFT_REWIND(pack->scratch);
    int64_t d = reading->form.d, n = 0, at = 0;
    for (int i = 0; i < WEFT_NPART; i++) n += user[i] != NULL ? user[i]->n : 0;
    double *x = WEFT_NEW(pack->scratch, double, n *d);
    int32_t *label = WEFT_NEW(pack->scratch, int32_t, n);
    for (int i = 0; i < WEFT_NPART; i++) {
        if (user[i] == NULL) continue;
        copy_rows(reading, user[i], count[i], x + at * d, label + at, pack->scratch);
        at += user[i]->n;
    }
    for (int64_t i = 0; i < n; i++)
        if (label[i] > reading->most_label) reading->most_label = label[i];
    weft_status st = WEFT_OK;
    if (reading->options->classes > 0 && reading->most_label >= reading->options->classes)
        st = weft_fail(WEFT_EDATA, "%s: user '%s' has label %d where classes = %lld",
                       reading->source, name, reading->most_label,
                       (long long)reading->options->classes);
    if (st == WEFT_OK) st = weft_pack_client_rows(pack, name, count, x, label);
    return st;
}

/* Takes samples in train/ for validation, where the source has no valid/. */
static void cut_valid(struct reading *reading, int64_t *count)
{
    weft_shares only = {.valid = reading->shares.valid};
    int64_t part[WEFT_NPART], n = count[WEFT_TRAIN];
    if (!reading->cut || n == 0) return;
    if (weft_shares_count(&only, n, reading->all.gap, part))
        memcpy(count, part, (WEFT_VALID + 1) * sizeof *part);
    else
        reading->whole++;
}

/* Packs the client whose samples are user[], NULL where a directory has none of it. */
static weft_status put_user(struct reading *reading, const char *name,
                            const weft_leaf_user *const *user)
{
    int64_t count[WEFT_NPART];
    int wanted = 1;
    for (int i = 0; i < WEFT_NPART; i++) count[i] = user[i] != NULL ? user[i]->n : 0;
    if (reading->divided)
        cut_valid(reading, count);
    else
        wanted =
            weft_shares_count(&reading->shares, count[WEFT_TRAIN], reading->all.gap, count);
    if (!wanted || count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST] == 0) {
        reading->left++;
        return WEFT_OK;
    }
    return reading->form.text ? put_text(reading, name, user, count)
                              : put_rows(reading, name, user, count);
}

/* The users of the directories, those that several have together. */
static weft_status hand_over(struct reading *reading, weft_leaf **leaf)
{
    const weft_leaf_user *user[WEFT_NPART] = {NULL};
    weft_names seen = {.mem = reading->pack->mem};
    for (int i = 0; i < WEFT_NPART; i++)
        if (leaf[i] != NULL) TRY(weft_leaf_next(leaf[i], &user[i]));
    for (;;) {
        const weft_leaf_user *own[WEFT_NPART] = {NULL}, *first = NULL;
        int64_t before = seen.n;
        for (int i = 0; i < WEFT_NPART; i++) {
            if (first == NULL) first = user[i];
            if (user[i] != NULL && strcmp(user[i]->name, first->name) == 0)
                own[i] = user[i];
        }
        if (first == NULL) return WEFT_OK;
        if (weft_names_find(&seen, first->name) < before)
            return weft_fail(WEFT_EDATA,
                             "%s: user '%s' stands in another directory too, at another "
                             "place; users that several directories have must stand in the "
                             "same order",
                             first->file, first->name);
        TRY(put_user(reading, first->name, own));
        for (int i = 0; i < WEFT_NPART; i++)
            if (own[i] != NULL) TRY(weft_leaf_next(leaf[i], &user[i]));
    }
}

/* ---- the reader ---- */

/* The shape of rows. ECONF: what windows of text have not is asked for. */
static weft_status set_shape(struct reading *reading)
{
    const char *shape = reading->options->shape;
    int side[3];
    if (reading->form.text && reading->options->split.shares == WEFT_BY_CLASS)
        return weft_fail(WEFT_ECONF,
                         "%s: shares = class, where samples are windows of text, which are "
                         "divided in stored order; leave shares out",
                         reading->source);
    if (*shape == '\0') return WEFT_OK;
    if (reading->form.text)
        return weft_fail(WEFT_ECONF, "shape = %s where samples are characters", shape);
    TRY(weft_shape_read(shape, reading->form.d, side));
    reading->all.channels = side[0];
    reading->all.height = side[1];
    reading->all.width = side[2];
    return WEFT_OK;
}

/* Classes of rows: 0, 1, ... */
static weft_status set_classes(struct reading *reading)
{
    int words = reading->form.labelled == WEFT_LEAF_WORDS;
    int n = reading->options->classes > 0 ? (int)reading->options->classes
                                          : reading->most_label + 1;
    if (words && n >= 2) {
        weft_pack_classes(reading->pack, reading->form.labels.n, reading->form.labels.name);
        return WEFT_OK;
    }
    if (n < 2 && weft_pack_clients_count(reading->pack) > 0)
        return weft_fail(
            WEFT_EDATA,
            "%s: all labels are %s where two classes or more are needed; check y, or give "
            "classes = NUMBER",
            reading->source, words ? reading->form.labels.name[0] : "0");
    if (n < 2) n = 2; /* there is no user; the packer reports it */
    weft_pack_numbered(reading->pack, n);
    return WEFT_OK;
}

/* How samples are divided, for the packed file. */
static const char *split_text(const struct reading *reading)
{
    weft_arena *mem = reading->pack->mem;
    long long gap = (long long)reading->all.gap,
              seed = (long long)reading->options->split.seed;
    double valid = reading->shares.valid;
    if (reading->divided && !reading->cut) return "as the source is divided";
    const char *how = weft_arena_text(
        mem, "shuffled with seed %lld%s", seed,
        reading->options->split.shares == WEFT_BY_CLASS ? ", class by class" : "");
    if (reading->options->split.shares == WEFT_FROM_END) how = "in stored order";
    if (!reading->form.text && reading->cut)
        return weft_arena_text(mem,
                               "as the source is divided, %g of the training samples of "
                               "each user, %s, for validation",
                               valid, how);
    if (!reading->form.text) return weft_arena_text(mem, "samples of each user %s", how);
    if (reading->cut)
        return weft_arena_text(mem,
                               "as the source is divided, the last %g of the training "
                               "samples of each user for validation, %lld left out between",
                               valid, gap);
    return weft_arena_text(
        mem, "samples of each user in stored order, %lld left out between two parts", gap);
}

static weft_status begin(struct reading *reading)
{
    weft_pack *pack = reading->pack;
    TRY(weft_shares_check(&reading->shares));
    reading->form.alphabet = weft_alphabet_new();
    TRY(find_files(reading->source, reading->part, &reading->divided, pack));
    reading->form.column = reading->options->text - 1;
    reading->form.labels.mem = pack->mem;
    TRY(learn(reading));
    if (reading->form.documents) return WEFT_OK;
    TRY(set_shape(reading));
    TRY(set_gap(reading));
    if (reading->form.text) weft_alphabet_classes(pack);
    reading->all.d = reading->form.d;
    reading->all.symbols = reading->form.text ? WEFT_SYMBOLS : 0;
    reading->all.named = 1;
    const weft_shares *shares = &reading->shares;
    reading->cut =
        reading->divided && reading->part[WEFT_VALID].n == 0 && shares->valid > 0;
    if (reading->cut && reading->form.text && reading->all.stride > reading->form.d) {
        reading->cut = 0;
        weft_log(WEFT_WARN,
                 "%s: windows of a user do not follow one another, so that none are taken "
                 "for validation: which overlap cannot be seen; give a directory valid/",
                 reading->source);
    }
    weft_pack_split(pack, "%s", split_text(reading));
    return weft_pack_clients(pack, reading->form.text ? WEFT_CHARS : WEFT_REALS,
                             &reading->all);
}

static weft_status leaf_read(const void *self, const char *source, weft_pack *pack)
{
    const weft_split *split = &((const struct leaf *)self)->split;
    struct reading reading = {.options = self,
                              .source = source,
                              .shares = {.valid = split->valid, .test = split->test},
                              .pack = pack};
    weft_leaf *leaf[WEFT_NPART] = {NULL};
    TRY(begin(&reading));
    for (int i = 0; i < WEFT_NPART; i++)
        if (reading.part[i].n > 0)
            leaf[i] =
                weft_leaf_open(reading.part[i].path, reading.part[i].n,
                               reading.divided && i == WEFT_TEST, &reading.form, pack->mem);
    weft_status st = reading.form.documents
                         ? pack_documents(leaf, &reading.form, split, source, pack)
                         : hand_over(&reading, leaf);
    for (int i = 0; i < WEFT_NPART; i++) {
        if (leaf[i] == NULL) continue;
        for (int64_t k = 0; k < reading.part[i].n && st == WEFT_OK; k++)
            st = weft_pack_source(pack, reading.part[i].path[k]);
        weft_leaf_close(leaf[i]);
    }
    if (reading.form.documents) return st;
    if (st == WEFT_OK && !reading.form.text) st = set_classes(&reading);
    if (st == WEFT_OK) weft_shares_log(reading.left, reading.all.gap);
    if (reading.whole > 0)
        weft_log(WEFT_INFO, "%lld users have too few training samples for validation",
                 (long long)reading.whole);
    return st;
}

WEFT_PLUGIN(reader, leaf) = {
    .kind =
        WEFT_KIND("leaf", struct leaf, options,
                  "data sets of LEAF: users with rows, texts or windows of text, in JSON"),
    .read = leaf_read,
};

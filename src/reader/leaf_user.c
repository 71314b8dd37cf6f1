/* The users of LEAF's files as they are read: their names, lists and samples, all checked.
 * Error messages name file, user and sample. */
#include "leaf_json.h"
#include "reader.h"

#include <math.h>
#include <string.h>

/* ---- errors ---- */

const char *weft_leaf_where(const weft_leaf *leaf)
{
    const char *file = leaf->path[leaf->at], *text = file;
    if (leaf->in == LEAF_USERS || leaf->in == LEAF_NUMBERS)
        return weft_arena_text(
            leaf->mem, "%s: %s[%lld]", file,
            leaf->in == LEAF_USERS ? "users" : "num_samples",
            (long long)(leaf->in == LEAF_USERS ? leaf->users : leaf->numbers));
    if (leaf->in >= LEAF_USER && leaf->in <= LEAF_Y)
        text =
            weft_arena_text(leaf->mem, "%s: user '%s'", file, leaf->names.name[leaf->who]);
    if (leaf->in == LEAF_X || leaf->in == LEAF_ROW || leaf->in == LEAF_Y)
        text =
            weft_arena_text(leaf->mem, "%s, %s[%lld]", text, leaf->in == LEAF_Y ? "y" : "x",
                            (long long)(leaf->in == LEAF_Y ? leaf->nlabel : leaf->nx));
    return text;
}

/* Ends the parsing: what a callback returns. */
static int stop(weft_leaf *leaf, weft_status st)
{
    leaf->st = st;
    return 0;
}

int weft_leaf_unexpected(weft_leaf *leaf, const char *what)
{
    static const char *const wanted[] = {
        [LEAF_START] = "an object with users, num_samples and user_data",
        [LEAF_TOP] = "lists users and num_samples and an object user_data",
        [LEAF_USERS] = "a name",
        [LEAF_NUMBERS] = "a number of samples",
        [LEAF_DATA] = "an object with x and y",
        [LEAF_USER] = "lists x and y",
        [LEAF_X] = "a list of numbers or a text",
        [LEAF_ROW] = "a number or a text",
        [LEAF_Y] = "a number or a character",
        [LEAF_SKIP] = "anything",
        [LEAF_END] = "the end of the file"};
    return stop(leaf,
                weft_fail(WEFT_EDATA, "%s is %s where %s is expected; is this LEAF's JSON?",
                          weft_leaf_where(leaf), what, wanted[leaf->in]));
}

/* ---- users ---- */

static int64_t know(weft_leaf *leaf, const char *name)
{
    int64_t who = weft_names_find(&leaf->names, name);
    leaf->known =
        weft_grow(leaf->mem, leaf->known, sizeof *leaf->known, who, &leaf->known_room);
    weft_leaf_known *known = &leaf->known[who];
    if (known->file == NULL) *known = (weft_leaf_known){-1, -1, leaf->path[leaf->at]};
    return who;
}

static int twice(weft_leaf *leaf, int64_t who)
{
    return stop(leaf, weft_fail(WEFT_EDATA,
                                "%s: user '%s' stands twice, first in %s; make the users "
                                "distinct",
                                leaf->path[leaf->at], leaf->names.name[who],
                                leaf->known[who].file));
}

int weft_leaf_list(weft_leaf *leaf, const char *name)
{
    int64_t who = know(leaf, name);
    if (leaf->known[who].listed >= 0) return twice(leaf, who);
    leaf->known[who].listed = leaf->users;
    leaf->order = weft_grow(leaf->mem, leaf->order, sizeof *leaf->order, leaf->users,
                            &leaf->order_room);
    leaf->order[leaf->users++] = who;
    return 1;
}

int weft_leaf_number(weft_leaf *leaf, double samples)
{
    double most = 0x1p53; /* doubles beyond are not all whole numbers */
    if (!(samples >= 0 && samples <= most && floor(samples) >= samples))
        return stop(leaf,
                    weft_fail(WEFT_EDATA,
                              "%s: num_samples[%lld] is %g where a number of samples is "
                              "expected",
                              leaf->path[leaf->at], (long long)leaf->numbers, samples));
    leaf->number = weft_grow(leaf->mem, leaf->number, sizeof *leaf->number, leaf->numbers,
                             &leaf->number_room);
    leaf->number[leaf->numbers++] = (int64_t)samples;
    return 1;
}

int weft_leaf_begin(weft_leaf *leaf, const char *name)
{
    leaf->who = know(leaf, name);
    weft_leaf_known *known = &leaf->known[leaf->who];
    if (known->found >= 0 || known->file != leaf->path[leaf->at])
        return twice(leaf, leaf->who);
    weft_arena_reset(leaf->own, 0);
    leaf->x = NULL;
    leaf->label = NULL;
    leaf->text = leaf->next = NULL;
    leaf->x_room = leaf->label_room = leaf->text_room = leaf->next_room = 0;
    leaf->document = NULL;
    leaf->piece_text = NULL;
    leaf->document_room = leaf->cells = 0;
    leaf->wordy = 0;
    leaf->nx = leaf->nlabel = leaf->values = leaf->row = 0;
    return 1;
}

int weft_leaf_end(weft_leaf *leaf)
{
    if (leaf->nx != leaf->nlabel)
        return stop(leaf,
                    weft_fail(WEFT_EDATA,
                              "%s has %lld samples in x and %lld in y; they must be as "
                              "many",
                              weft_leaf_where(leaf), (long long)leaf->nx,
                              (long long)leaf->nlabel));
    if (leaf->nx > 0 && leaf->texts_y != leaf->form->text)
        return stop(leaf,
                    weft_fail(WEFT_EDATA,
                              "%s has %s in x and %s in y, where numbers go with numbers, "
                              "and a text with the character that follows",
                              weft_leaf_where(leaf), leaf->form->text ? "texts" : "numbers",
                              leaf->texts_y ? "texts" : "numbers"));
    leaf->known[leaf->who].found = leaf->nx;
    leaf->user = (weft_leaf_user){.name = leaf->names.name[leaf->who],
                                  .file = leaf->path[leaf->at],
                                  .n = leaf->nx,
                                  .x = leaf->x,
                                  .document = leaf->document,
                                  .label = leaf->label,
                                  .text = leaf->text,
                                  .next = leaf->next};
    leaf->whole = 1;
    return 1;
}

/* The lists of the file and its users must agree. */
weft_status weft_leaf_check(weft_leaf *leaf)
{
    const char *file = leaf->path[leaf->at];
    if (leaf->numbers != leaf->users)
        return weft_fail(WEFT_EDATA,
                         "%s lists %lld users and %lld num_samples; they must be as many",
                         file, (long long)leaf->users, (long long)leaf->numbers);
    for (int64_t i = 0; i < leaf->users; i++) {
        const weft_leaf_known *known = &leaf->known[leaf->order[i]];
        const char *name = leaf->names.name[leaf->order[i]];
        int64_t slip = leaf->gapped && leaf->form->text ? leaf->form->d - 1 : 0;
        if (known->found < 0)
            return weft_fail(WEFT_EDATA, "%s: users[%lld], '%s', is not in user_data", file,
                             (long long)i, name);
        if (leaf->number[i] != known->found && leaf->number[i] - known->found != slip)
            return weft_fail(
                WEFT_EDATA,
                "%s: users[%lld], '%s', has %lld samples where num_samples says "
                "%lld",
                file, (long long)i, name, (long long)known->found,
                (long long)leaf->number[i]);
    }
    for (int64_t who = leaf->older; who < leaf->names.n; who++)
        if (leaf->known[who].listed < 0 && leaf->known[who].found > 0)
            return weft_fail(WEFT_EDATA, "%s: user '%s' of user_data is not in users", file,
                             leaf->names.name[who]);
    return WEFT_OK;
}

/* ---- samples ---- */

/* The first sample of all says what samples are. */
static int check_sample(weft_leaf *leaf, int text, int64_t d)
{
    weft_leaf_form *form = leaf->form;
    if (form->d == 0 && d > 0) {
        form->d = d;
        form->text = text;
    }
    if (d == form->d && text == form->text && d > 0) return 1;
    return stop(leaf, weft_fail(WEFT_EDATA, "%s has %lld %s where %lld %s are expected",
                                weft_leaf_where(leaf), (long long)d,
                                text ? "characters" : "numbers",
                                (long long)(form->d > 0 ? form->d : 1),
                                form->text ? "characters" : "numbers"));
}

int weft_leaf_value(weft_leaf *leaf, double value)
{
    leaf->cells++;
    if (!isfinite((float)value))
        return stop(leaf, weft_fail(WEFT_EDATA,
                                    "%s[%lld] is %g where a finite number is expected",
                                    weft_leaf_where(leaf),
                                    (long long)(leaf->values - leaf->row), value));
    leaf->x = weft_grow(leaf->own, leaf->x, sizeof *leaf->x, leaf->values, &leaf->x_room);
    leaf->x[leaf->values++] = value;
    return 1;
}

int weft_leaf_word(weft_leaf *leaf, const char *text, size_t bytes)
{
    leaf->wordy = 1;
    if (leaf->cells++ == leaf->form->column)
        leaf->piece_text = weft_arena_text(leaf->own, "%.*s", (int)bytes, text);
    return 1;
}

/* Ends a sample that is a list with texts. */
static int end_document(weft_leaf *leaf)
{
    weft_leaf_form *form = leaf->form;
    if (form->d > 0 && (!form->documents || !leaf->wordy))
        return stop(leaf,
                    weft_fail(WEFT_EDATA, "%s has %s where %s are expected",
                              weft_leaf_where(leaf), leaf->wordy ? "texts" : "numbers",
                              form->documents ? "texts" : "numbers"));
    if (!leaf->piece_text)
        return stop(leaf, weft_fail(WEFT_EDATA,
                                    "%s has no text as element %lld of its %lld; text = "
                                    "NUMBER says which it is",
                                    weft_leaf_where(leaf), (long long)form->column + 1,
                                    (long long)leaf->cells));
    form->documents = 1;
    form->d = 1;
    leaf->document = weft_grow(leaf->own, leaf->document, sizeof *leaf->document, leaf->nx,
                               &leaf->document_room);
    leaf->document[leaf->nx++] = leaf->piece_text;
    leaf->values = leaf->row;
    return 1;
}

int weft_leaf_row(weft_leaf *leaf)
{
    int document = leaf->wordy || leaf->form->documents;
    if (document ? !end_document(leaf) : !check_sample(leaf, 0, leaf->values - leaf->row))
        return 0;
    leaf->piece_text = NULL;
    leaf->cells = 0;
    leaf->wordy = 0;
    leaf->row = leaf->values;
    leaf->nx += !document;
    return 1;
}

/* Symbols of a text to the end of *to, of *n. Returns how many, -1 after an error. */
static int64_t add_text(weft_leaf *leaf, const char *text, size_t bytes, uint8_t **to,
                        int64_t n, int64_t *room)
{
    size_t bad;
    *to = weft_grow(leaf->own, *to, 1, n + (int64_t)bytes, room);
    int64_t count = weft_alphabet_map(&leaf->form->alphabet, text, bytes, *to + n, &bad);
    if (bad == bytes) return count;
    const char *rest = weft_arena_text(leaf->own, "%.*s", (int)(bytes - bad), text + bad);
    const char *place = weft_arena_text(leaf->own, "%s, character %lld,",
                                        weft_leaf_where(leaf), (long long)count);
    leaf->st = weft_alphabet_fail(&leaf->form->alphabet, place, rest);
    return -1;
}

int weft_leaf_window(weft_leaf *leaf, const char *text, size_t bytes)
{
    int64_t d = add_text(leaf, text, bytes, &leaf->text, leaf->values, &leaf->text_room);
    if (d < 0 || !check_sample(leaf, 1, d)) return 0;
    leaf->values += d;
    leaf->nx++;
    return 1;
}

/* Adds a label, which is a number, or that of a word. */
static int add_label(weft_leaf *leaf, int32_t label, int labelled)
{
    if (leaf->form->labelled != WEFT_LEAF_OPEN && (int)leaf->form->labelled != labelled)
        return stop(leaf, weft_fail(WEFT_EDATA,
                                    "%s is a %s, where labels before it are %s; write all "
                                    "alike",
                                    weft_leaf_where(leaf),
                                    labelled == WEFT_LEAF_WORDS ? "word" : "number",
                                    labelled == WEFT_LEAF_WORDS ? "numbers" : "words"));
    leaf->form->labelled = labelled;
    leaf->label = weft_grow(leaf->own, leaf->label, sizeof *leaf->label, leaf->nlabel,
                            &leaf->label_room);
    leaf->label[leaf->nlabel++] = label;
    leaf->texts_y = 0;
    return 1;
}

int weft_leaf_label(weft_leaf *leaf, double value)
{
    if (!(value >= 0 && value < WEFT_MAX_CLASSES && value == floor(value)))
        return stop(leaf,
                    weft_fail(WEFT_EDATA, "%s is %g where a class 0, 1 ... %d is expected",
                              weft_leaf_where(leaf), value, WEFT_MAX_CLASSES - 1));
    return add_label(leaf, (int32_t)value, WEFT_LEAF_NUMBERS);
}

/* A label that is a word, of rows or documents. */
static int add_word(weft_leaf *leaf, const char *text, size_t bytes)
{
    int32_t label;
    leaf->form->labels.path = weft_leaf_where(leaf);
    leaf->st = weft_labels_find(&leaf->form->labels, 0, text, bytes, &label);
    return leaf->st == WEFT_OK ? add_label(leaf, label, WEFT_LEAF_WORDS) : 0;
}

int weft_leaf_follows(weft_leaf *leaf, const char *text, size_t bytes)
{
    if (leaf->form->d > 0 && !leaf->form->text) return add_word(leaf, text, bytes);
    int64_t n = add_text(leaf, text, bytes, &leaf->next, leaf->nlabel, &leaf->next_room);
    if (n < 0) return 0;
    if (n != 1)
        return stop(leaf, weft_fail(WEFT_EDATA,
                                    "%s has %lld characters where the one that follows is "
                                    "expected; words are labels where x stands before y",
                                    weft_leaf_where(leaf), (long long)n));
    leaf->nlabel++;
    leaf->texts_y = 1;
    return 1;
}

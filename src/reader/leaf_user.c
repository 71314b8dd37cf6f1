/* The users of LEAF's files as they are read: their names, lists and samples, all checked.
 * Error messages name file, user and sample. */
#include "leaf_json.h"
#include "reader.h"

#include <math.h>
#include <string.h>

/* ---- errors ---- */

const char *weft_leaf_where(const weft_leaf *l)
{
    const char *file = l->path[l->at], *text = file;
    if (l->in == LEAF_USERS || l->in == LEAF_NUMBERS)
        return weft_arena_text(l->mem, "%s: %s[%lld]", file,
                               l->in == LEAF_USERS ? "users" : "num_samples",
                               (long long)(l->in == LEAF_USERS ? l->users : l->numbers));
    if (l->in >= LEAF_USER && l->in <= LEAF_Y)
        text = weft_arena_text(l->mem, "%s: user '%s'", file, l->names.name[l->who]);
    if (l->in == LEAF_X || l->in == LEAF_ROW || l->in == LEAF_Y)
        text = weft_arena_text(l->mem, "%s, %s[%lld]", text, l->in == LEAF_Y ? "y" : "x",
                               (long long)(l->in == LEAF_Y ? l->nlabel : l->nx));
    return text;
}

/* Ends the parsing: what a callback returns. */
static int stop(weft_leaf *l, weft_status st)
{
    l->st = st;
    return 0;
}

int weft_leaf_unexpected(weft_leaf *l, const char *what)
{
    static const char *const wanted[] = {
        [LEAF_START] = "an object with users, num_samples and user_data",
        [LEAF_TOP] = "lists users and num_samples and an object user_data",
        [LEAF_USERS] = "a name",
        [LEAF_NUMBERS] = "a number of samples",
        [LEAF_DATA] = "an object with x and y",
        [LEAF_USER] = "lists x and y",
        [LEAF_X] = "a list of numbers or a text",
        [LEAF_ROW] = "a number",
        [LEAF_Y] = "a number or a character",
        [LEAF_SKIP] = "anything",
        [LEAF_END] = "the end of the file"};
    const char *hint = l->in == LEAF_ROW
                           ? "of samples that are lists of words and texts, as those of "
                             "sent140, write a line LABEL TAB TEXT each, for `weft pack "
                             "text FILE clients=NUMBER`"
                           : "is this LEAF's JSON?";
    return stop(l, weft_fail(WEFT_EDATA, "%s is %s where %s is expected; %s",
                             weft_leaf_where(l), what, wanted[l->in], hint));
}

/* ---- users ---- */

static int64_t know(weft_leaf *l, const char *name)
{
    int64_t who = weft_names_find(&l->names, name);
    l->known = weft_grow(l->mem, l->known, sizeof *l->known, who, &l->known_room);
    weft_leaf_known *k = &l->known[who];
    if (k->file == NULL) *k = (weft_leaf_known){-1, -1, l->path[l->at]};
    return who;
}

static int twice(weft_leaf *l, int64_t who)
{
    return stop(l, weft_fail(WEFT_EDATA,
                             "%s: user '%s' stands twice, first in %s; make the users "
                             "distinct",
                             l->path[l->at], l->names.name[who], l->known[who].file));
}

int weft_leaf_list(weft_leaf *l, const char *name)
{
    int64_t who = know(l, name);
    if (l->known[who].listed >= 0) return twice(l, who);
    l->known[who].listed = l->users;
    l->order = weft_grow(l->mem, l->order, sizeof *l->order, l->users, &l->order_room);
    l->order[l->users++] = who;
    return 1;
}

int weft_leaf_number(weft_leaf *l, double samples)
{
    double most = 0x1p53; /* doubles beyond are not all whole numbers */
    if (!(samples >= 0 && samples <= most && floor(samples) >= samples))
        return stop(l, weft_fail(WEFT_EDATA,
                                 "%s: num_samples[%lld] is %g where a number of samples is "
                                 "expected",
                                 l->path[l->at], (long long)l->numbers, samples));
    l->number =
        weft_grow(l->mem, l->number, sizeof *l->number, l->numbers, &l->number_room);
    l->number[l->numbers++] = (int64_t)samples;
    return 1;
}

int weft_leaf_begin(weft_leaf *l, const char *name)
{
    l->who = know(l, name);
    weft_leaf_known *k = &l->known[l->who];
    if (k->found >= 0 || k->file != l->path[l->at]) return twice(l, l->who);
    weft_arena_reset(l->own, 0);
    l->x = NULL;
    l->label = NULL;
    l->text = l->next = NULL;
    l->x_room = l->label_room = l->text_room = l->next_room = 0;
    l->nx = l->nlabel = l->values = l->row = 0;
    return 1;
}

int weft_leaf_end(weft_leaf *l)
{
    if (l->nx != l->nlabel)
        return stop(l,
                    weft_fail(WEFT_EDATA,
                              "%s has %lld samples in x and %lld in y; they must be as "
                              "many",
                              weft_leaf_where(l), (long long)l->nx, (long long)l->nlabel));
    if (l->nx > 0 && l->texts_y != l->form->text)
        return stop(l,
                    weft_fail(WEFT_EDATA,
                              "%s has %s in x and %s in y, where numbers go with numbers, "
                              "and a text with the character that follows",
                              weft_leaf_where(l), l->form->text ? "texts" : "numbers",
                              l->texts_y ? "texts" : "numbers"));
    l->known[l->who].found = l->nx;
    l->user = (weft_leaf_user){.name = l->names.name[l->who],
                               .file = l->path[l->at],
                               .n = l->nx,
                               .x = l->x,
                               .label = l->label,
                               .text = l->text,
                               .next = l->next};
    l->whole = 1;
    return 1;
}

/* The lists of the file and its users must agree. */
weft_status weft_leaf_check(weft_leaf *l)
{
    const char *file = l->path[l->at];
    if (l->numbers != l->users)
        return weft_fail(WEFT_EDATA,
                         "%s lists %lld users and %lld num_samples; they must be as many",
                         file, (long long)l->users, (long long)l->numbers);
    for (int64_t i = 0; i < l->users; i++) {
        const weft_leaf_known *k = &l->known[l->order[i]];
        const char *name = l->names.name[l->order[i]];
        int64_t slip = l->gapped && l->form->text ? l->form->d - 1 : 0;
        if (k->found < 0)
            return weft_fail(WEFT_EDATA, "%s: users[%lld], '%s', is not in user_data", file,
                             (long long)i, name);
        if (l->number[i] != k->found && l->number[i] - k->found != slip)
            return weft_fail(
                WEFT_EDATA,
                "%s: users[%lld], '%s', has %lld samples where num_samples says "
                "%lld",
                file, (long long)i, name, (long long)k->found, (long long)l->number[i]);
    }
    for (int64_t who = l->older; who < l->names.n; who++)
        if (l->known[who].listed < 0 && l->known[who].found > 0)
            return weft_fail(WEFT_EDATA, "%s: user '%s' of user_data is not in users", file,
                             l->names.name[who]);
    return WEFT_OK;
}

/* ---- samples ---- */

/* The first sample of all says what samples are. */
static int check_sample(weft_leaf *l, int text, int64_t d)
{
    weft_leaf_form *f = l->form;
    if (f->d == 0 && d > 0) {
        f->d = d;
        f->text = text;
    }
    if (d == f->d && text == f->text && d > 0) return 1;
    return stop(
        l, weft_fail(WEFT_EDATA, "%s has %lld %s where %lld %s are expected",
                     weft_leaf_where(l), (long long)d, text ? "characters" : "numbers",
                     (long long)(f->d > 0 ? f->d : 1), f->text ? "characters" : "numbers"));
}

int weft_leaf_value(weft_leaf *l, double value)
{
    if (!isfinite((float)value))
        return stop(
            l, weft_fail(WEFT_EDATA, "%s[%lld] is %g where a finite number is expected",
                         weft_leaf_where(l), (long long)(l->values - l->row), value));
    l->x = weft_grow(l->own, l->x, sizeof *l->x, l->values, &l->x_room);
    l->x[l->values++] = value;
    return 1;
}

int weft_leaf_row(weft_leaf *l)
{
    if (!check_sample(l, 0, l->values - l->row)) return 0;
    l->row = l->values;
    l->nx++;
    return 1;
}

/* Symbols of a text to the end of *to, of *n. Returns how many, -1 after an error. */
static int64_t add_text(weft_leaf *l, const char *text, size_t bytes, uint8_t **to,
                        int64_t n, int64_t *room)
{
    size_t bad;
    *to = weft_grow(l->own, *to, 1, n + (int64_t)bytes, room);
    int64_t count = weft_alphabet_map(&l->form->alphabet, text, bytes, *to + n, &bad);
    if (bad == bytes) return count;
    const char *rest = weft_arena_text(l->own, "%.*s", (int)(bytes - bad), text + bad);
    const char *place = weft_arena_text(l->own, "%s, character %lld,", weft_leaf_where(l),
                                        (long long)count);
    l->st = weft_alphabet_fail(&l->form->alphabet, place, rest);
    return -1;
}

int weft_leaf_window(weft_leaf *l, const char *text, size_t bytes)
{
    int64_t d = add_text(l, text, bytes, &l->text, l->values, &l->text_room);
    if (d < 0 || !check_sample(l, 1, d)) return 0;
    l->values += d;
    l->nx++;
    return 1;
}

int weft_leaf_label(weft_leaf *l, double value)
{
    if (!(value >= 0 && value < WEFT_MAX_CLASSES && value == floor(value)))
        return stop(l,
                    weft_fail(WEFT_EDATA, "%s is %g where a class 0, 1 ... %d is expected",
                              weft_leaf_where(l), value, WEFT_MAX_CLASSES - 1));
    l->label = weft_grow(l->own, l->label, sizeof *l->label, l->nlabel, &l->label_room);
    l->label[l->nlabel++] = (int32_t)value;
    l->texts_y = 0;
    return 1;
}

int weft_leaf_follows(weft_leaf *l, const char *text, size_t bytes)
{
    enum { SHOWN = 40 };
    if (l->form->d > 0 && !l->form->text)
        return stop(
            l, weft_fail(WEFT_EDATA,
                         "%s is the text '%.*s' where a class 0, 1 ... is expected, "
                         "as samples are numbers; number the classes",
                         weft_leaf_where(l), (int)(bytes < SHOWN ? bytes : SHOWN), text));
    int64_t n = add_text(l, text, bytes, &l->next, l->nlabel, &l->next_room);
    if (n < 0) return 0;
    if (n != 1)
        return stop(l, weft_fail(WEFT_EDATA,
                                 "%s has %lld characters where the one that follows is "
                                 "expected",
                                 weft_leaf_where(l), (long long)n));
    l->nlabel++;
    l->texts_y = 1;
    return 1;
}

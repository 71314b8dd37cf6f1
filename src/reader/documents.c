/* Texts on their way from files to the packer: labelled documents, their encoding, and
 * symbols of running text. */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/data/data.h"

#include <utf8proc.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

weft_status weft_documents_add(weft_documents *documents, weft_document document,
                               int64_t line, const char *label, size_t n_label,
                               weft_arena *mem)
{
    documents->document = weft_grow(mem, documents->document, sizeof document, documents->n,
                                    &documents->room);
    documents->label = weft_grow(mem, documents->label, sizeof *documents->label,
                                 documents->n, &documents->label_room);
    documents->document[documents->n] = document;
    return weft_labels_find(&documents->labels, line, label, n_label,
                            &documents->label[documents->n++]);
}

void weft_documents_drop(weft_documents *documents, int64_t i)
{
    int32_t class = documents->label[i];
    int kept = 0;
    documents->n--;
    for (int64_t k = i; k < documents->n; k++) {
        documents->document[k] = documents->document[k + 1];
        documents->label[k] = documents->label[k + 1];
    }
    for (int p = 0; p < WEFT_NPART; p++) documents->end[p] -= documents->end[p] > i;
    for (int64_t k = 0; k < documents->n; k++) kept |= documents->label[k] == class;
    if (kept) return;
    weft_labels *labels = &documents->labels;
    labels->n--;
    for (int c = class; c < labels->n; c++) labels->name[c] = labels->name[c + 1];
    for (int64_t k = 0; k < documents->n; k++)
        documents->label[k] -= documents->label[k] > class;
}

/* Packs `count` documents from the first on, in that order; order NULL: as read. */
static weft_status hand_over(const weft_documents *documents, weft_part part, int64_t first,
                             int64_t count, const int64_t *order, weft_pack *pack)
{
    for (int64_t i = first; i < first + count; i++) {
        int64_t row = order != NULL ? order[i] : i;
        const weft_document *document = &documents->document[row];
        TRY(weft_pack_document(pack, part, document->name, document->text, document->n,
                               documents->label[row]));
    }
    return WEFT_OK;
}

/* The documents of clients, part after part in a shuffled order. */
static weft_status pack_clients(const weft_documents *documents, const weft_split *split,
                                const weft_source_rows *rows, const weft_parts *parts,
                                weft_pack *pack)
{
    int64_t n = rows->n, *order = WEFT_NEW(pack->mem, int64_t, n), *of[WEFT_NPART];
    weft_shuffle(n, (uint64_t)split->seed, order, pack->mem);
    for (int p = 0; p < WEFT_NPART; p++) {
        int64_t *own = of[p] = WEFT_NEW(pack->mem, int64_t, parts->rows[p]);
        for (int64_t i = 0; i < n; i++) {
            if (parts->part[order[i]] != p) continue;
            *own++ = rows->owner[order[i]];
            TRY(hand_over(documents, (weft_part)p, i, 1, order, pack));
        }
    }
    weft_names_alike(rows->clients, rows->name, "clients", documents->labels.path, NULL);
    return weft_pack_owners(pack, rows->clients, rows->name, of);
}

weft_status weft_documents_pack(weft_documents *documents, const char *source,
                                const weft_split *split, weft_pack *pack)
{
    int64_t n = documents->n, at = 0;
    weft_names names = {.mem = pack->mem};
    weft_parts parts;
    if (split->shuffled && split->shares > WEFT_BY_CHANCE)
        return weft_fail(WEFT_ECONF,
                         "split = shuffled draws all parts by chance: shares goes with "
                         "split = bydate");
    TRY(weft_labels_close(&documents->labels, source, documents->label, n, pack));
    weft_source_rows rows = {.n = n, .source = source, .label = documents->label};
    memcpy(rows.end, documents->end, sizeof rows.end);
    memcpy(rows.own, documents->own, sizeof rows.own);
    if (documents->document[0].client) {
        int64_t *owner = WEFT_NEW(pack->mem, int64_t, n);
        for (int64_t i = 0; i < n; i++)
            owner[i] = weft_names_find(&names, documents->document[i].client);
        rows.owner = owner;
        rows.clients = names.n;
        rows.name = names.name;
    }
    TRY(weft_divide(split, &rows, &parts, pack));
    if (rows.clients > 0) return pack_clients(documents, split, &rows, &parts, pack);
    for (int p = 0; p < WEFT_NPART; at += parts.rows[p++])
        TRY(hand_over(documents, (weft_part)p, at, parts.rows[p], parts.order, pack));
    return WEFT_OK;
}

/* ---- texts to be scored ---- */

static weft_status read_like(weft_h5 *file, const char ***class_name, int64_t *classes,
                             int *federated)
{
    const char *group;
    weft_form form;
    TRY(weft_form_read(file, &group, &form));
    if (form != WEFT_TOKENS)
        return weft_fail(WEFT_EDATA, "like = %s is not of texts, nor trained on any",
                         file->path);
    TRY(weft_like_federated(file, federated));
    return weft_h5_read_texts(file, weft_arena_text(file->mem, "%s/class", group),
                              class_name, classes);
}

/* 1: the text begins, or ends, with the name and what may separate columns. */
static int has_class(const weft_document *document, const char *name, int blank)
{
    size_t n = strlen(name);
    if (document->n <= n) return 0;
    const char *text = document->text, *end = text + document->n;
    int first =
        memcmp(text, name, n) == 0 && (text[n] == '\t' || (blank && text[n] == ' '));
    int last = memcmp(end - n, name, n) == 0 &&
               (end[-(ptrdiff_t)n - 1] == '\t' || (blank && end[-(ptrdiff_t)n - 1] == ' '));
    return first || last;
}

/* Warns of texts without labels that seem to have them within. */
static void tell_classes(const weft_documents *documents, int64_t classes,
                         const char *const *class_name)
{
    enum { ENOUGH = 10 }; /* that a class is no word of the texts by chance */
    int64_t found = 0;
    for (int64_t i = 0; i < documents->n; i++) {
        int64_t c = 0;
        while (c < classes &&
               !has_class(&documents->document[i], class_name[c], documents->n >= ENOUGH))
            c++;
        found += c < classes;
    }
    if (2 * found > documents->n)
        weft_log(WEFT_WARN,
                 "%s: %lld of %lld texts begin or end with the name of a class; if that is "
                 "their label, label = first, last or NAME leaves it out",
                 documents->labels.path, (long long)found, (long long)documents->n);
}

/* Whose the texts are: nobody's, where that is not told. */
static weft_status score_clients(const weft_documents *documents, weft_pack *pack)
{
    int64_t *of[WEFT_NPART];
    weft_names names = {.mem = pack->mem};
    for (int p = 0; p < WEFT_NPART; p++) of[p] = WEFT_NEW(pack->mem, int64_t, documents->n);
    for (int64_t i = 0; i < documents->n; i++) {
        const char *client = documents->document[i].client;
        of[WEFT_TEST][i] = weft_names_find(&names, client ? client : "");
    }
    return weft_pack_owners(pack, names.n, names.name, of);
}

weft_status weft_documents_score(weft_documents *documents, const char *like,
                                 weft_pack *pack)
{
    weft_h5 file;
    const char **class_name = NULL;
    int64_t classes = 0;
    int federated = 0;
    TRY(weft_h5_open(&file, like, pack->mem));
    weft_status st = read_like(&file, &class_name, &classes, &federated);
    weft_h5_close(&file);
    TRY(st);
    TRY(weft_labels_match(&documents->labels, (int)classes, class_name, documents->label,
                          documents->n));
    int labelled = documents->labels.n > 1 || *documents->labels.name[0] != '\0';
    if (!labelled) tell_classes(documents, classes, class_name);
    weft_pack_classes(pack, (int)classes, class_name);
    weft_pack_split(pack, "all texts are to be scored");
    weft_pack_scored(pack, labelled);
    if (federated) TRY(score_clients(documents, pack));
    return hand_over(documents, WEFT_TEST, 0, documents->n, NULL, pack);
}

/* ---- encoding ---- */

/* What Windows-1252 has at 0x80..0x9f: Microsoft's bestfit1252.txt. */
static const uint16_t cp1252[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

int weft_text_decode(weft_encoding encoding, char **text, size_t *n, weft_arena *mem)
{
    enum { WIDEST = 3 };
    const unsigned char *from = (const unsigned char *)*text;
    int odd = encoding == WEFT_ENC_AUTO && weft_utf8_check(*text, *n) < *n;
    int windows = odd || encoding == WEFT_ENC_CP1252;
    if (!windows && encoding != WEFT_ENC_LATIN1) return 0;
    size_t high = 0, made = 0;
    for (size_t i = 0; i < *n; i++) high += from[i] >= 0x80;
    char *to = WEFT_NEW(mem, char, *n + (WIDEST - 1) * high + 1);
    for (size_t i = 0; i < *n; i++) {
        int32_t c =
            windows && from[i] >= 0x80 && from[i] < 0xa0 ? cp1252[from[i] - 0x80] : from[i];
        made += (size_t)utf8proc_encode_char(c, (utf8proc_uint8_t *)to + made);
    }
    *text = to;
    *n = made;
    return odd;
}

/* ---- symbols of running text ---- */

static const char symbols[] = "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]"
                              "abcdefghijklmnopqrstuvwxyz}";
_Static_assert(sizeof symbols == WEFT_SYMBOLS + 1, "LEAF has so many symbols");

weft_alphabet weft_alphabet_new(void)
{
    weft_alphabet alphabet;
    memset(alphabet.symbol, -1, sizeof alphabet.symbol);
    for (int i = 0; i < WEFT_SYMBOLS; i++)
        alphabet.symbol[(unsigned char)symbols[i]] = (int8_t)i;
    return alphabet;
}

int64_t weft_alphabet_map(const weft_alphabet *alphabet, const char *text, size_t n,
                          uint8_t *out, size_t *bad)
{
    int64_t count = 0;
    for (*bad = 0; *bad < n; (*bad)++) {
        int8_t symbol = alphabet->symbol[(unsigned char)text[*bad]];
        if (symbol < 0) break;
        out[count++] = (uint8_t)symbol;
    }
    return count;
}

weft_status weft_alphabet_fail(const char *where, const char *text)
{
    char shown[8] = "";
    unsigned char c = (unsigned char)*text;
    int n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0x80 ? 2 : 1;
    if (n > 1 || isprint(c))
        snprintf(shown, sizeof shown, "%.*s", n, text);
    else
        snprintf(shown, sizeof shown, "\\x%02x", c);
    return weft_fail(WEFT_EDATA,
                     "%s has the character '%s', which is none of LEAF's %d symbols; "
                     "replace it by one of them",
                     where, shown, WEFT_SYMBOLS);
}

void weft_alphabet_classes(weft_pack *pack)
{
    char text[WEFT_SYMBOLS][2] = {{0}};
    const char *name[WEFT_SYMBOLS] = {"\\n"};
    for (int i = 1; i < WEFT_SYMBOLS; i++) {
        text[i][0] = symbols[i];
        name[i] = text[i];
    }
    weft_pack_classes(pack, WEFT_SYMBOLS, name);
}

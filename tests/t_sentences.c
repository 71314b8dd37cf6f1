/* Sentences in several languages: what is packed is what the source has, part by part and
 * direction by direction; batches; options; sources and files that are refused.
 * RUN: np=1 np=2 */
#include "scratch.h"
#include "weft/data/translations.h"

enum { LINES = 600, LANGUAGES = 3, LONG_WORDS = 60 };
static const char *const names[LANGUAGES] = {"en", "de", "pt-BR"};
enum { EN, DE, PT };

static const weft_reader *const reader = &weft_reader_translations;
static const char *cell[LINES][LANGUAGES]; /* "": a gap */
static weft_data packed_data;
static weft_translations tr; /* of it */

/* ---- a source ---- */

/* A sentence of words of that language; the same number, the same sentence. */
static const char *sentence(int language, int number)
{
    static const char *const word[LANGUAGES][5] = {
        {"the file", "is opened,", "(or) closed", "now", "again..."},
        {"die Datei", "wird ge\u00f6ffnet,", "\u00bbzu\u00ab", "jetzt", "gro\u00df"},
        {"o arquivo", "\u00e9 aberto,", "n\u00e3o", "agora", "outra vez?"}};
    uint64_t state = weft_hash(&number, sizeof number, (uint64_t)language);
    int words = number == 0 ? LONG_WORDS : 2 + (int)(state % 5);
    const char *text = "";
    for (int i = 0; i < words; i++, state = state * 6364136223846793005u + 1)
        text = printed("%s%s%s", text, i > 0 ? " " : "", word[language][(state >> 33) % 5]);
    return printed("%s %d", text, number);
}

/* Lines i and i + 300 are equal in English; German and Portuguese have gaps, English one in
 * fifty. */
static const char *write_source(const char *name)
{
    const char *text = "program\ten\tde\tpt-BR\n";
    for (int i = 0; i < LINES; i++) {
        cell[i][EN] = i % 50 == 7 ? "" : sentence(EN, i % 300);
        cell[i][DE] = i % 3 == 2 ? "" : sentence(DE, i);
        cell[i][PT] = i % 5 == 1 || (i % 50 == 7 && i % 3 != 2) ? "" : sentence(PT, i);
    }
    size_t n = strlen(text), room = 1 << 20;
    char *all = WEFT_NEW(mem, char, room);
    memcpy(all, text, n);
    for (int i = 0; i < LINES; i++)
        n += (size_t)snprintf(all + n, room - n, "tool%d\t%s\t%s\t%s\n", i % 7, cell[i][EN],
                              cell[i][DE], cell[i][PT]);
    return write_bytes(name, all, n);
}

static int opened(const char *name)
{
    weft_status st = weft_data_open(&packed_data, at(name), &world, mem);
    if (st == WEFT_OK) tr = *weft_translations_of(&packed_data);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK;
}

static int packed(const char *source, const char *options)
{
    weft_status st = pack(reader, source, "t.h5", options);
    if (st != WEFT_OK) fprintf(stderr, "# %s\n", weft_error());
    return st == WEFT_OK && opened("t.h5");
}

/* The lines of the source, from 0, that the lines of a part are. */
static const int64_t *lines_of(int part)
{
    int64_t *line = WEFT_NEW(mem, int64_t, tr.lines[part]);
    const char *name = printed("/line/%s", weft_part_name[part]);
    must(weft_h5_read_rows(tr.file, name, WEFT_H5_I64, 1, 0, tr.lines[part], line));
    for (int64_t i = 0; i < tr.lines[part]; i++) line[i] -= 2;
    return line;
}

/* ---- what is packed ---- */

/* The part that the rule gives to a line. */
static int part_of(int i, double valid, double test, uint64_t seed)
{
    int c = EN;
    while (*cell[i][c] == '\0') c++;
    double u =
        (double)weft_hash(cell[i][c], strlen(cell[i][c]), seed) / 18446744073709551616.0;
    return u < test ? WEFT_TEST : u < test + valid ? WEFT_VALID : WEFT_TRAIN;
}

/* Single blanks in place of white space. */
static int is_text(const weft_bpe *bpe, const uint32_t *token, int n, const char *text)
{
    return strcmp(weft_bpe_decode(bpe, token, n, mem), text) == 0;
}

static void test_packed(const char *source)
{
    int found[LINES][LANGUAGES] = {{0}}, wrong_part = 0, wrong_text = 0, wrong_pieces = 0;
    ok(packed(source, "drop=program valid=0.2 test=0.2 seed=3 longest=0") &&
           tr.n == LANGUAGES && tr.directions == LANGUAGES * (LANGUAGES - 1) && !tr.joint,
       "all columns but one are languages, in all directions");
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *line = lines_of(p);
        for (int64_t i = 0; i < tr.lines[p]; i++)
            wrong_part += part_of((int)line[i], 0.2, 0.2, 3) != p;
        for (int c = 0; c < LANGUAGES; c++) {
            const weft_sentences *own = &tr.language[c].part[p];
            for (int32_t k = 0; k < own->n; k++) {
                const uint32_t *token;
                int length, i = (int)line[own->row[k]];
                found[i][c]++;
                wrong_text += strcmp(weft_sentence_text(own, k, mem), cell[i][c]) != 0;
                weft_sentences_take(own, 1, &k, &token, &length);
                wrong_pieces += !is_text(tr.language[c].bpe, token, length, cell[i][c]);
            }
        }
    }
    int wrong = 0;
    for (int i = 0; i < LINES; i++)
        for (int c = 0; c < LANGUAGES; c++) wrong += found[i][c] != (*cell[i][c] != '\0');
    ok(wrong == 0, "every sentence is there once, and no gap");
    ok(wrong_part == 0, "each line is in the part of its first sentence's hash");
    ok(wrong_text == 0, "texts are those of the source");
    ok(wrong_pieces == 0, "and so are the pieces");
    digest(weft_hash(packed_data.digest, strlen(packed_data.digest), 0));
}

static void test_pairs(void)
{
    int wrong = 0, wrong_distinct = 0;
    int64_t all = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *line = lines_of(p);
        for (int64_t d = 0; d < tr.directions; d++) {
            weft_direction way = tr.direction[d];
            const weft_sentences *from = &tr.language[way.source].part[p],
                                 *to = &tr.language[way.target].part[p];
            weft_pairs pairs = weft_translations_pairs(&tr, (weft_part)p, way, mem);
            weft_names texts = {.mem = mem};
            int64_t both = 0;
            for (int64_t i = 0; i < tr.lines[p]; i++) {
                if (!*cell[line[i]][way.source] || !*cell[line[i]][way.target]) continue;
                wrong += both >= pairs.n || from->row[pairs.source[both]] != i ||
                         to->row[pairs.target[both]] != i;
                weft_names_find(&texts, cell[line[i]][way.target]);
                both++;
            }
            wrong += both != pairs.n;
            wrong_distinct +=
                weft_sentences_distinct(to, pairs.n, pairs.target, mem) != texts.n;
            all += both;
        }
    }
    ok(wrong == 0 && all > 1000,
       "the pairs of a direction are the lines that have both: %lld", (long long)all);
    ok(wrong_distinct == 0, "different references are counted");
}

static void test_batch(void)
{
    enum { BATCH = 7 };
    const weft_sentences *own = &tr.language[DE].part[WEFT_TRAIN];
    int32_t which[BATCH];
    const uint32_t *word[BATCH];
    int length[BATCH], good = 0;
    for (int k = 0; k < BATCH; k++) which[k] = (int32_t)((k * 37 + 5) % own->n);
    weft_sentences_take(own, BATCH, which, word, length);
    for (int k = 0; k < BATCH; k++)
        good += is_text(tr.language[DE].bpe, word[k], length[k],
                        weft_sentence_text(own, which[k], mem));
    ok(good == BATCH && weft_data_sound(&packed_data) == WEFT_OK,
       "a batch has the sentences asked for");
}

/* Parts by lines of the source: -1 where a line is in none. */
static void parts_of(int *part)
{
    for (int i = 0; i < LINES; i++) part[i] = -1;
    for (int p = 0; p < WEFT_NPART; p++) {
        const int64_t *line = lines_of(p);
        for (int64_t i = 0; i < tr.lines[p]; i++) part[line[i]] = p;
    }
}

static void test_same_part(const char *source)
{
    int all[LINES], some[LINES], moved = 0, apart = 0;
    parts_of(all);
    weft_data_close(&packed_data);
    ok(packed(source,
              "drop=program languages=pt-BR,de directions=pt-BR-de valid=0.2 test=0.2 "
              "seed=3"),
       "some of the languages are taken");
    ok(tr.n == 2 && strcmp(tr.language[0].name, "pt-BR") == 0 && tr.directions == 1 &&
           tr.direction[0].source == 0 && tr.direction[0].target == 1,
       "in the order given, in one direction");
    parts_of(some);
    for (int i = 0; i < LINES; i++) moved += some[i] >= 0 && some[i] != all[i];
    for (int i = 0; i < LINES / 2; i++)
        apart += *cell[i][EN] != '\0' && all[i] != all[i + LINES / 2];
    ok(moved == 0, "a line is in the same part with any languages");
    int english = 0;
    for (int i = 0; i < LINES; i++) english += some[i] < 0;
    ok(english > 10, "%d lines that have neither are left out", english);
    ok(apart == 0, "lines of equal English text are in one part");
    weft_data_close(&packed_data);
}

/* ---- options ---- */

static void test_directions(const char *source)
{
    static const struct {
        const char *option;
        int64_t n;
        weft_direction first, last;
    } rows[] = {{"en-*", 2, {EN, DE}, {EN, PT}},
                {"*-en", 2, {DE, EN}, {PT, EN}},
                {"*-*", 6, {EN, DE}, {PT, DE}},
                {"de-pt-BR,pt-BR-de,de-*", 3, {DE, PT}, {DE, EN}},
                {"en-en,pt-BR-pt-BR", 2, {EN, EN}, {PT, PT}}};
    for (size_t i = 0; i < LEN(rows); i++) {
        const char *options =
            printed("drop=program directions=%s valid=0.2 test=0", rows[i].option);
        int good = packed(source, options) && tr.directions == rows[i].n &&
                   tr.lines[WEFT_TEST] == 0;
        const weft_direction *way = tr.direction, *first = &rows[i].first,
                             *last = &rows[i].last;
        ok(good && way[0].source == first->source && way[0].target == first->target &&
               way[rows[i].n - 1].source == last->source &&
               way[rows[i].n - 1].target == last->target,
           "directions = %s are %lld, from %s-%s on", rows[i].option, (long long)rows[i].n,
           names[first->source], names[first->target]);
        weft_data_close(&packed_data);
    }
}

static void test_vocabulary(const char *source)
{
    ok(packed(source, "drop=program joint=yes vocabulary=150 valid=0.2 longest=0") &&
           tr.joint && tr.language[EN].bpe == tr.language[PT].bpe &&
           tr.language[EN].bpe->n == 150,
       "one vocabulary of all languages has the pieces asked for");
    weft_data_close(&packed_data);
    ok(packed(source, "drop=program vocabulary=100 valid=0.2 longest=0") &&
           tr.language[EN].bpe != tr.language[DE].bpe && tr.language[DE].bpe->n == 100,
       "or each language has its own");
    int64_t sentences[WEFT_NPART][LANGUAGES], over = 0;
    enum { LONGEST = 15 };
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; c < LANGUAGES; c++) {
            const weft_sentences *own = &tr.language[c].part[p];
            sentences[p][c] = own->n;
            for (int64_t k = 0; k < own->n && p == WEFT_TRAIN; k++) {
                int longer = own->offset[k + 1] - own->offset[k] > LONGEST;
                sentences[p][c] -= longer;
                over += longer;
            }
        }
    weft_data_close(&packed_data);
    int good =
        packed(source, "drop=program vocabulary=100 valid=0.2 longest=15") && over > 20;
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; c < LANGUAGES; c++)
            good &= tr.language[c].part[p].n == sentences[p][c];
    ok(good, "%lld training sentences of more than %d pieces are left out, no others",
       (long long)over, LONGEST);
    weft_data_close(&packed_data);
}

/* ---- what is refused ---- */

static void refused(const char *text, const char *options, weft_status want, const char *a,
                    const char *b, const char *what)
{
    const char *source = write_text("bad.tsv", text);
    fails(pack(reader, source, "bad.h5", options), want, a, b, what);
}

static void test_sources(void)
{
    const char *good = "en\tde\na b\tc d\nb a\td c\na\tc\n";
    refused("", "", WEFT_EDATA, "bad.tsv is empty", "", "an empty file");
    refused("en\tde\n", "", WEFT_EDATA, "no sentences", "bad.tsv", "one without sentences");
    refused("en\tde\n \t\n\n", "", WEFT_EDATA, "no sentences", "bad.tsv", "one of gaps");
    refused("en\n", "", WEFT_ECONF, "1 of its 1 columns", "TAB", "a single column");
    refused("en\tde\ten\n", "", WEFT_EDATA, "columns 1 and 3", "'en'", "equal names");
    refused("en\t\n", "", WEFT_EDATA, "line 1", "column 2", "a column without a name");
    refused("en\ta/b\n", "", WEFT_EDATA, "'a/b'", "without /", "a name with a slash");
    refused("en\tde\na\tb\tc\n", "", WEFT_EDATA,
            "line 2 has 3 columns where line 1 names 2", "TAB",
            "a line with too many columns");
    refused("en\tde\na\tb\nx\t\xff\n", "", WEFT_EDATA, "line 3: byte 2 (0xff)", "UTF-8",
            "a byte that is not UTF-8");
    refused(good, "languages=en,dee", WEFT_ECONF, "'dee' is no column", "did you mean 'de'",
            "a language that is no column");
    refused(good, "drop=xx", WEFT_ECONF, "'xx' is no column", "bad.tsv",
            "a dropped one that is none");
    refused(good, "drop=de languages=en,de", WEFT_ECONF, "'de'", "languages and in drop",
            "a language that is dropped");
    refused(good, "drop=de", WEFT_ECONF, "1 of its 2 columns", "two or more",
            "one language");
    refused(good, "directions=en-fr", WEFT_ECONF, "'en-fr'", "did you mean 'en-",
            "a direction of another language");
    refused(good, "directions=ende", WEFT_ECONF, "'ende'", "SOURCE-TARGET",
            "a word that is no direction");
    refused(good, "directions=,", WEFT_ECONF, "names none", "all", "no direction");
    refused(good, "valid=0", WEFT_ECONF, "valid = 0", "above 0", "no validation part");
    refused(good, "valid=0.5 test=0.5", WEFT_ECONF, "test = 0.5", "below 1",
            "no training part");
    refused(good, "vocabulary=4 valid=0.5", WEFT_ECONF,
            "vocabulary = 4, but 5 to 1000000 pieces are expected", "or a file",
            "a vocabulary without room");
    refused(good, "vocabulary=nothing.h5 valid=0.5", WEFT_EFILE, "nothing.h5", "nothing",
            "a vocabulary of a file that is not there");
    refused(good, "vocabulary=5 valid=0.5", WEFT_ECONF,
            "vocabulary en: 5 pieces are too few", "give", "too few pieces");
    refused(good, "clients=2", WEFT_ECONF, "clients", "leave out clients", "clients");
    refused(good, "valid=1e-9 test=0", WEFT_EDATA, "no sentence in en is in the valid part",
            "larger", "a part without text");
    ok(access(at("bad.h5"), F_OK) != 0, "none of them leaves a file");
}

/* 200 lines: English with German or with Czech, never both. */
static void test_empty_direction(void)
{
    char *text = WEFT_NEW(mem, char, 1 << 14);
    size_t n = (size_t)sprintf(text, "en\tde\tcs\ttool\n");
    for (int i = 0; i < 200; i++)
        n += (size_t)sprintf(text + n, i % 2 ? "a b %d\tc d %d\n" : "a b %d\t\te f %d\tx\n",
                             i, i);
    const char *source = write_bytes("apart.tsv", text, n);
    const char *shares = "drop=tool valid=0.2 test=0.2";
    fails(pack(reader, source, "x.h5", printed("%s directions=en-de,de-cs", shares)),
          WEFT_EDATA, "direction de-cs has no sentence in both languages in the train part",
          "leave it out", "an empty direction");
    ok(packed(source, shares) && tr.directions == 4, "among all directions it is left out");
    weft_data_close(&packed_data);
    fails(pack(reader, source, "x.h5", "valid=0.2"), WEFT_EDATA,
          "column 'tool' has 1 different texts in 100 lines", "drop = tool",
          "a column that is no language");
}

/* Languages that are called like datasets of the file. */
static void test_names(void)
{
    char *text = WEFT_NEW(mem, char, 1 << 14);
    size_t n = (size_t)sprintf(text, "line\tjoint\ttrain\n");
    for (int i = 0; i < 200; i++)
        n += (size_t)sprintf(text + n, "a %d\tb %d\tc %d\n", i, i, i);
    ok(packed(write_bytes("names.tsv", text, n), "valid=0.2") && tr.n == 3 &&
           strcmp(tr.language[2].name, "train") == 0 && tr.directions == 6,
       "a language may have any name");
    weft_data_close(&packed_data);
}

/* ---- files that another program made ---- */

/* A file of two languages with one sentence in each part, in which one thing is wrong. */
enum {
    GOOD,
    ROW,
    ROW_TWICE,
    OFFSET,
    OFFSET_FALLS,
    TOKEN,
    TEXT,
    TEXT_BYTE,
    PIECE_BYTE,
    MERGE,
    PIECE,
    DIRECTION,
    WRONGS
};

static weft_status put(weft_h5 *file, const char *name, weft_h5type type, int64_t n,
                       int width, const void *data)
{
    return weft_h5_put(file, name, type, width > 1 ? 2 : 1, (const int64_t[]){n, width},
                       data, 0, "a", "b");
}

static weft_status put_language(weft_h5 *file, const char *part, const char *name,
                                int wrong)
{
    const char *group = printed("/%s/%s", part, name);
    const int32_t row[] = {0, wrong == ROW_TWICE ? 0 : wrong == ROW ? 2 : 1};
    const int64_t offset[] = {0, wrong == OFFSET_FALLS ? 3 : 1, wrong == OFFSET ? 1 : 2};
    const int64_t text[] = {0, 1, wrong == TEXT ? 3 : 2};
    const uint32_t token[] = {4, wrong == TOKEN ? 7 : 6};
    TRY(put(file, printed("%s/row", group), WEFT_H5_I32, 2, 1, row));
    TRY(put(file, printed("%s/offset", group), WEFT_H5_I64, 3, 1, offset));
    TRY(put(file, printed("%s/token", group), WEFT_H5_U32, 2, 1, token));
    TRY(put(file, printed("%s/text_offset", group), WEFT_H5_I64, 3, 1, text));
    return put(file, printed("%s/text", group), WEFT_H5_U8, 2, 1,
               wrong == TEXT_BYTE ? "a\xff" : "aa");
}

static weft_status put_pieces(weft_h5 *file, const char *name, int wrong)
{
    const char *group = printed("/vocab/%s", name);
    const int64_t offset[] = {0, 3, 3, 3, 4, 5, 7, wrong == PIECE ? 9 : 10};
    const uint32_t merge[] = {4, wrong == MERGE ? 4 : 5, 6};
    TRY(put(file, printed("%s/text", group), WEFT_H5_U8, offset[7], 1,
            wrong == PIECE_BYTE ? "\ufffd a\xff\xff a\xff " : "\ufffd aa aa "));
    TRY(put(file, printed("%s/text_offset", group), WEFT_H5_I64, 8, 1, offset));
    return put(file, printed("%s/merge", group), WEFT_H5_U32, 1, 3, merge);
}

static weft_status put_all(weft_h5 *file, int wrong)
{
    static const char *const name[] = {"en", "de"};
    const int32_t direction[] = {0, wrong == DIRECTION ? 2 : 1};
    const int64_t line[] = {2, 3};
    for (int p = 0; p < WEFT_NPART; p++) {
        const char *part = weft_part_name[p];
        TRY(put(file, printed("/line/%s", part), WEFT_H5_I64, 2, 1, line));
        for (int c = 0; c < 2; c++)
            TRY(put_language(file, part, name[c], p == WEFT_TEST && c == 1 ? wrong : GOOD));
    }
    for (int c = 0; c < 2; c++) TRY(put_pieces(file, name[c], wrong));
    TRY(put(file, "/direction", WEFT_H5_I32, 1, 2, direction));
    TRY(weft_h5_put_texts(file, "/language", name, 2, "a"));
    TRY(weft_h5_put_long(file, "/", "joint", 0));
    TRY(weft_h5_put_attr(file, "/", "form", "sentences"));
    TRY(weft_h5_put_attr(file, "/", "digest", "0"));
    return weft_h5_put_attr(file, "/", "format", WEFT_DATA_FORMAT);
}

static const char *make(const char *name, int wrong)
{
    weft_h5 file;
    weft_status st = WEFT_OK;
    if (world.rank == 0) {
        st = weft_h5_create(&file, at(name), mem);
        if (st == WEFT_OK) st = put_all(&file, wrong);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
    }
    must(weft_agree(st, &world));
    return at(name);
}

static void test_files(void)
{
    static const char *const what[WRONGS] = {
        [ROW] = "/test/de/row does not go",   [ROW_TWICE] = "/test/de/row does not go",
        [OFFSET] = "/test/de/token does not", [OFFSET_FALLS] = "/test/de/token does not",
        [TOKEN] = "/test/de/token does not",  [TEXT] = "/test/de/text does not",
        [TEXT_BYTE] = "/test/de/text does",   [PIECE_BYTE] = "pieces and merges",
        [MERGE] = "pieces and merges",        [PIECE] = "pieces and merges",
        [DIRECTION] = "/direction does not"};
    make("good.h5", GOOD);
    ok(opened("good.h5") &&
           strcmp(weft_sentence_text(&tr.language[1].part[2], 1, mem), "a") == 0,
       "a file that another program made is opened");
    ok(packed_data.form == WEFT_SENTENCES && tr.n == 2 &&
           strcmp(packed_data.class_name[2], "vocabulary") > 0,
       "its classes are the languages and their vocabulary");
    weft_data_close(&packed_data);
    for (int wrong = ROW; wrong < WRONGS; wrong++) {
        const char *path = make(printed("wrong%d.h5", wrong), wrong);
        weft_status st = weft_data_open(&packed_data, path, &world, mem);
        fails(st, WEFT_EDATA, what[wrong], path,
              printed("wrong value %d of a file", wrong));
    }
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    const char *source = write_source("all.tsv");
    test_packed(source);
    test_pairs();
    test_batch();
    test_same_part(source);
    test_directions(source);
    test_vocabulary(source);
    return TESTS(test_sources, test_empty_direction, test_names, test_files);
}

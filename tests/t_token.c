/* Tokens, stop words and lower case against Python and NLTK: texts and all characters of
 * tests/gold/tokens.tsv (tokens.py), and the IMDB reviews by the digests of
 * imdb_tokens.tsv (imdb_tokens.py).
 * RUN: np=1
 * `t_token TOKENIZER aclImdb` prints the tokens of all reviews instead. */
#include "weft/text/text.h"

#include <ctype.h>
#include <dirent.h>

#include "tap.h"

enum { BLOCK = 1000, ROOM = 1 << 16, MAX_FIELDS = 5, MAX_CODE = 64 };
enum { BIG = KEEPS_FREED ? 1000000 : 10000000 };

/* ---- where tokens go ---- */

/* What is done with the tokens of a text. */
struct sink {
    char *text; /* [ROOM] appended, separated by spaces; NULL: not */
    FILE *out;  /* printed, each with a newline; NULL: not */
    size_t length;
    long tokens;
    size_t bytes;
    const uint32_t *table; /* [256] of CRC-32 */
    uint32_t crc;          /* of the tokens, each with a newline */
};

/* CRC-32 as zlib computes it: polynomial 0xedb88320, complemented before and after. */
static const uint32_t *crc_table(void)
{
    uint32_t *table = WEFT_NEW(mem, uint32_t, 256);
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    return table;
}

static void add_crc(struct sink *sink, const char *bytes, size_t n)
{
    uint32_t crc = ~sink->crc;
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ sink->table[(crc ^ (unsigned char)bytes[i]) & 0xff];
    sink->crc = ~crc;
}

static void add_digest(void *ctx, const char *token, size_t n)
{
    struct sink *sink = ctx;
    sink->tokens++;
    add_crc(sink, token, n);
    add_crc(sink, "\n", 1);
}

static void add_text(void *ctx, const char *token, size_t n)
{
    struct sink *sink = ctx;
    weft_check(sink->length + n + 1 < ROOM, "a text of more than %d bytes", ROOM);
    if (sink->tokens++ > 0) sink->text[sink->length++] = ' ';
    memcpy(sink->text + sink->length, token, n);
    sink->length += n;
}

static void count(void *ctx, const char *token, size_t n)
{
    struct sink *sink = ctx;
    sink->tokens++;
    (void)token;
    sink->bytes += n;
}

static void print(void *ctx, const char *token, size_t n)
{
    struct sink *sink = ctx;
    fwrite(token, 1, n, sink->out);
    fputc('\n', sink->out);
}

/* ---- what Python says ---- */

/* A field of tokens.tsv. */
struct field {
    char *s;
    size_t n;
};

/* Replaces \xHH by the byte. */
static struct field unescape(char *s)
{
    struct field field = {s, 0};
    for (; *s; field.n++) {
        unsigned byte = (unsigned char)*s;
        int escaped = *s == '\\' && sscanf(s, "\\x%2x", &byte) == 1;
        field.s[field.n] = (char)byte;
        s += escaped ? 4 : 1;
    }
    return field;
}

static int split_line(char *line, struct field *field)
{
    int n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *next; line && n < MAX_FIELDS; line = next, n++) {
        next = strchr(line, '\t');
        if (next) *next++ = 0;
        field[n] = unescape(line);
    }
    return n;
}

static int is_same(struct field field, const char *s, size_t n)
{
    return field.n == n && memcmp(field.s, s, n) == 0;
}

/* Whether tokenizer k gives the tokens; says which it gives if not. */
static int is_text(struct field text, weft_tokenizer k, struct field tokens, char *room)
{
    struct sink sink = {.text = room};
    weft_tokenize(k, text.s, text.n, add_text, &sink, mem);
    if (is_same(tokens, sink.text, sink.length)) return 1;
    note("%s: %.*s", weft_tok_name[k], (int)text.n, text.s);
    note("   is %.*s", (int)sink.length, sink.text);
    note("  not %.*s", (int)tokens.n, tokens.s);
    return 0;
}

static size_t encode(unsigned code, char *s)
{
    const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6) s[i] = (char)(0x80 | (code & 0x3f));
    s[0] = (char)(n == 1 ? code : lead[n] | code);
    return n;
}

/* Writes the pattern with the character in place of each %; returns the bytes. */
static size_t fill(const char *pattern, const char *c, size_t n, char *out)
{
    size_t length = 0;
    for (; *pattern; pattern++) {
        memcpy(out + length, *pattern == '%' ? c : pattern, *pattern == '%' ? n : 1);
        length += *pattern == '%' ? n : 1;
    }
    return length;
}

enum { PYTHON = WEFT_TOK_KIM }; /* tokenizers that have a model in Python */

/* Adds tokens.py's digest of a character: tokens and lower case of texts with it. */
static void add_code(struct sink *sink, unsigned code)
{
    const char *const words[] = {"%", "A\xce\xa3%", "%\xce\xa3"};
    char c[4], text[MAX_CODE], lower[MAX_CODE];
    size_t n = encode(code, c);
    size_t length = fill("a%b ,% '% :%.\"%'%", c, n, text);
    for (int k = 0; k < PYTHON; k++)
        weft_tokenize((weft_tokenizer)k, text, length, add_digest, sink, mem);
    for (size_t k = 0; k < LEN(words); k++) {
        length = fill(words[k], c, n, text);
        add_digest(sink, lower, weft_lower(text, length, lower, sizeof lower));
    }
}

static int are_ranges(const struct field *field, const uint32_t *table)
{
    struct sink sink = {.table = table};
    unsigned first, last;
    int n = 0;
    for (const char *s = field[1].s; sscanf(s, "%x-%x%n", &first, &last, &n) == 2;
         s += n + (s[n] == ','))
        for (unsigned code = first; code <= last; code++) add_code(&sink, code);
    int good = sink.crc == strtoul(field[2].s, NULL, 16);
    if (!good) note("characters U+%s", field[1].s);
    return good;
}

/* Whether a word is on the list if and only if it stands between the blanks of `all`. */
static int is_told(const char *all, const char *word)
{
    int listed = strstr(all, printed(" %s ", word)) != NULL;
    int good = weft_is_stop(word, strlen(word)) == listed;
    if (!good) note("%s", word);
    return good;
}

/* Words that are listed, and beside each its capitals, a letter more and one less. */
static void test_stops(const char *words)
{
    const char *all = printed(" %s ", words);
    char *rest, *list = printed("%s", words);
    int listed = 0, good = 0, near = 0;
    for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *upper = printed("%s", word);
        for (char *c = upper; *c; c++) *c = (char)toupper((unsigned char)*c);
        listed++;
        good += is_told(all, word);
        near += is_told(all, upper) + is_told(all, printed("%sx", word)) +
                is_told(all, printed("%.*s", (int)strlen(word) - 1, word));
    }
    ok(good == listed && listed > 300, "%d of %d stop words are NLTK's", good, listed);
    ok(near == 3 * listed, "%d of %d words near them are so where NLTK's are", near,
       3 * listed);
    ok(!weft_is_stop("", 0) && !weft_is_stop("\0", 1) && !weft_is_stop("a\0", 2) &&
           !weft_is_stop("\xc4\xb0", 2) && !weft_is_stop("yourselvesyourselves", 20),
       "no other bytes are");
}

static void test_gold(void)
{
    enum { TEXT, LOWER, CHARS, STOP, NKIND };
    const char *const kind[NKIND] = {"text", "lower", "chars", "stop"};
    int good[PYTHON] = {0}, total[NKIND] = {0}, right[NKIND] = {0};
    const uint32_t *table = crc_table();
    char *room = WEFT_NEW(mem, char, ROOM), *line = NULL;
    size_t size = 0;
    FILE *gold = gold_of("tokens.tsv");
    while (getline(&line, &size, gold) > 0) {
        struct field field[MAX_FIELDS];
        int k = 0, n = split_line(line, field);
        while (k < NKIND && strcmp(field[0].s, kind[k]) != 0) k++;
        weft_check(k < NKIND && n >= 2, "tests/gold/tokens.tsv: odd line");
        total[k]++;
        if (k == TEXT)
            for (int t = 0; t < PYTHON; t++)
                good[t] += is_text(field[1], (weft_tokenizer)t, field[2 + t], room);
        if (k == LOWER)
            right[k] +=
                is_same(field[2], room, weft_lower(field[1].s, field[1].n, room, ROOM));
        if (k == CHARS) right[k] += are_ranges(field, table);
        if (k == STOP) test_stops(field[1].s);
    }
    fclose(gold);
    free(line);
    for (int t = 0; t < PYTHON; t++)
        ok(good[t] == total[TEXT] && good[t] > 300, "%s: %d of %d texts are Python's",
           weft_tok_name[t], good[t], total[TEXT]);
    for (int k = LOWER; k < STOP; k++)
        ok(right[k] == total[k] && total[k] > 40, "%s: %d of %d are Python's", kind[k],
           right[k], total[k]);
    ok(total[STOP] == 1, "there is a list of stop words");
}

/* ---- edges ---- */

/* Ten megabytes of one byte, and one under a sanitizer: tokens by all tokenizers. */
static void test_big(void)
{
    const struct {
        char byte;
        long tokens[WEFT_NTOK];
    } all[] = {{'a', {1, 1, 1, 1}},        {' ', {0, 0, 0, 0}},   {'.', {0, 1, 1, 0}},
               {'\'', {0, 1, BIG / 2, 1}}, {'"', {0, 1, BIG, 0}}, {'\0', {1, 1, 1, 0}}};
    char *text = WEFT_NEW(mem, char, BIG);
    for (size_t i = 0; i < LEN(all); i++) {
        int good = 0;
        memset(text, all[i].byte, BIG);
        for (int k = 0; k < WEFT_NTOK; k++) {
            struct sink sink = {.tokens = 0};
            weft_tokenize((weft_tokenizer)k, text, BIG, count, &sink, mem);
            good += sink.tokens == all[i].tokens[k];
        }
        ok(good == WEFT_NTOK, "megabytes of byte %d have %ld, %ld, %ld and %ld tokens",
           all[i].byte, all[i].tokens[0], all[i].tokens[1], all[i].tokens[2],
           all[i].tokens[3]);
    }
}

static void test_memory(void)
{
    size_t used = weft_arena_held(mem);
    struct sink sink = {.tokens = 0};
    for (int k = 0; k < WEFT_NTOK; k++)
        weft_tokenize((weft_tokenizer)k, "a-b c", 5, count, &sink, mem);
    ok(sink.tokens == 2 + 4 + 2 + 3 && sink.bytes == 3 + 4 + 4 + 3,
       "tokens have their lengths");
    ok(weft_arena_held(mem) == used, "scratch memory is given back");
}

/* NLTK cuts the period that only signs which close something follow. */
static void test_final_period(void)
{
    static const char *const sign[] = {
        "]", ")", "}", ">", "\xc2\xbb", "\xe2\x80\x9d", "\xe2\x80\x99"};
    char room[MAX_CODE];
    for (size_t i = 0; i < LEN(sign); i++) {
        struct sink sink = {.text = room};
        const char *text = printed("a.b c.%s", sign[i]),
                   *want = printed("a.b c . %s", sign[i]);
        weft_tokenize(WEFT_TOK_TREEBANK, text, strlen(text), add_text, &sink, mem);
        ok(sink.length == strlen(want) && memcmp(room, want, sink.length) == 0,
           "the last period is cut before %s", sign[i]);
    }
}

static void test_lower_room(void)
{
    char out[8] = "#######";
    size_t n = weft_lower("ABC\xc4\xb0", 5, out, 4);
    ok(n == 6 && memcmp(out, "abci#", 5) == 0, "lower case stops where the room ends");
}

/* ---- the IMDB reviews ---- */

static char *read_review(const char *folder, const char *name, char *room, size_t *n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    weft_check(file, "cannot read %s", path);
    *n = fread(room, 1, ROOM, file);
    weft_check(*n < ROOM, "%s is longer than %d bytes", path, ROOM);
    fclose(file);
    return room;
}

static int is_review(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Calls fn for each review, in the order of imdb_tokens.py. */
static void each_review(const char *root, void (*fn)(void *ctx, const char *text, size_t n),
                        void *ctx)
{
    const char *const part[] = {"train/neg", "train/pos", "test/neg", "test/pos"};
    char *room = WEFT_NEW(mem, char, ROOM), folder[2048];
    for (size_t k = 0; k < LEN(part); k++) {
        struct dirent **entry;
        size_t n;
        snprintf(folder, sizeof folder, "%s/%s", root, part[k]);
        int files = scandir(folder, &entry, is_review, alphasort);
        weft_check(files >= 0, "cannot read the directory %s", folder);
        for (int i = 0; i < files; i++) {
            const char *text = read_review(folder, entry[i]->d_name, room, &n);
            fn(ctx, text, n);
            free(entry[i]);
        }
        free(entry);
    }
}

/* The reviews so far, and the digests that those of the present block must have. */
struct check {
    FILE *gold;
    struct sink sum[PYTHON];
    double seconds[PYTHON], bytes;
    int reviews, blocks, good[PYTHON];
    weft_arena *mem;
};

static void end_block(struct check *check)
{
    check->blocks++;
    for (int k = 0; k < PYTHON; k++) {
        long tokens = -1;
        uint32_t crc = 0;
        int read = fscanf(check->gold, "%ld %" SCNx32, &tokens, &crc);
        int good = read == 2 && tokens == check->sum[k].tokens && crc == check->sum[k].crc;
        if (!good)
            note("%s: reviews %d to %d differ: %ld tokens, not %ld", weft_tok_name[k],
                 check->reviews - BLOCK + 1, check->reviews, check->sum[k].tokens, tokens);
        check->good[k] += good;
        check->sum[k].tokens = 0;
        check->sum[k].crc = 0;
    }
}

static void check_review(void *ctx, const char *text, size_t n)
{
    struct check *check = ctx;
    for (int k = 0; k < PYTHON; k++) {
        struct sink speed = {.tokens = 0};
        double start = weft_now();
        weft_tokenize((weft_tokenizer)k, text, n, count, &speed, check->mem);
        check->seconds[k] += weft_now() - start;
        weft_tokenize((weft_tokenizer)k, text, n, add_digest, &check->sum[k], check->mem);
        add_crc(&check->sum[k], "\f", 1);
    }
    check->bytes += (double)n;
    if (++check->reviews % BLOCK == 0) end_block(check);
}

static void test_imdb(void)
{
    const char *data = getenv("WEFT_DATA");
    if (!data) {
        skip(PYTHON, "WEFT_DATA is not set");
        return;
    }
    struct check check = {.mem = mem};
    const uint32_t *table = crc_table();
    for (int k = 0; k < PYTHON; k++) check.sum[k].table = table;
    check.gold = gold_of("imdb_tokens.tsv");
    each_review(printed("%s/aclImdb", data), check_review, &check);
    fclose(check.gold);
    for (int k = 0; k < PYTHON; k++) {
        ok(check.good[k] == check.blocks && check.reviews == 50000,
           "%s: %d of %d reviews are Python's", weft_tok_name[k], check.good[k] * BLOCK,
           check.reviews);
        note("%s: %.0f MB/s", weft_tok_name[k], check.bytes / check.seconds[k] * 1e-6);
    }
}

/* ---- all tokens, for imdb_tokens.py ---- */

struct printer {
    weft_tokenizer tok;
    struct sink sink;
    weft_arena *mem;
};

static void print_review(void *ctx, const char *text, size_t n)
{
    struct printer *printer = ctx;
    weft_tokenize(printer->tok, text, n, print, &printer->sink, printer->mem);
    fputc('\f', printer->sink.out);
}

static int print_all(const char *name, const char *root)
{
    int k = 0;
    while (k < WEFT_NTOK && strcmp(name, weft_tok_name[k]) != 0) k++;
    weft_check(k < WEFT_NTOK, "no tokenizer is named %s", name);
    struct printer printer = {
        .tok = (weft_tokenizer)k, .sink = {.out = stdout}, .mem = mem};
    each_review(root, print_review, &printer);
    return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
    tap_begin();
    if (argc == 3) return print_all(argv[1], argv[2]);
    return TESTS(test_gold, test_big, test_memory, test_final_period, test_lower_room,
                 test_imdb);
}

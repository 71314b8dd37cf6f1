/* IMDB reviews: the official aclImdb directory, {train,test}/{pos,neg}/NUMBER_RATING.txt.
 * The training part is `train`; `test` is divided in halves by keyed random numbers: test
 * and validation. Rows are in the order of the numbers, negative before positive, so that
 * classes alternate. `unsup` is not read. Maas et al., "Learning word vectors for sentiment
 * analysis", ACL 2011. */
#include "reader.h"
#include "weft/base/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct imdb {
    int64_t seed;
};

static const weft_opt options[] = {
    WEFT_LONG_OPT("seed", struct imdb, seed, "0", 0, 9e15,
                  "seed of the shuffle that divides the test reviews"),
    {0},
};

struct review {
    const char *name; /* "test/pos/17_9.txt" */
    long number;
    int label;
};

struct reviews {
    struct review *review; /* [n] */
    int64_t n, room;
    weft_digest *digest[2]; /* of the class directories */
    int64_t bytes[2];
};

static const char *const class_name[2] = {"neg", "pos"};

static int by_number(const void *a, const void *b)
{
    const struct review *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->label != y->label) return x->label - y->label;
    return strcmp(x->name, y->name);
}

/* The numbers of a class are 0, 1 ... without gaps, so that an archive that was unpacked
 * only in part is noticed. */
static weft_status check_class(const char *path, const struct review *review, int64_t n)
{
    long last = -1;
    for (int64_t i = 0; i < n; i++)
        last = review[i].number > last ? review[i].number : last;
    if (last == n - 1) return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     "%s holds %lld reviews (*.txt), and their numbers go to %ld where "
                     "they should go to %lld; unpack the archive again",
                     path, (long long)n, last, (long long)n - 1);
}

/* Lists the reviews of one class: all names that end in ".txt". */
static weft_status list_class(const char *source, const char *side, int label,
                              struct reviews *reviews, weft_pack *pack)
{
    const char *path =
        weft_arena_text(pack->mem, "%s/%s/%s", source, side, class_name[label]);
    const char **name;
    int64_t before = reviews->n, names = weft_dir_list(path, &name, pack->mem);
    if (names < 0)
        return weft_fail(
            WEFT_EFILE,
            "cannot read the directory %s: %s; give the directory aclImdb of the archive",
            path, strerror(errno));
    for (int64_t i = 0; i < names; i++) {
        size_t n = strlen(name[i]);
        if (n < 5 || *name[i] == '.' || strcmp(name[i] + n - 4, ".txt") != 0) continue;
        reviews->review = weft_grow(pack->mem, reviews->review, sizeof *reviews->review,
                                    reviews->n, &reviews->room);
        reviews->review[reviews->n++] =
            (struct review){.name = weft_arena_text(pack->mem, "%s/%s/%s", side,
                                                    class_name[label], name[i]),
                            .number = strtol(name[i], NULL, 10),
                            .label = label};
    }
    if (reviews->n == before)
        return weft_fail(WEFT_EDATA,
                         "%s holds no reviews (*.txt); unpack the archive again", path);
    TRY(check_class(path, reviews->review + before, reviews->n - before));
    reviews->digest[label] = weft_digest_new(pack->mem);
    return WEFT_OK;
}

static weft_status list_side(const char *source, const char *side, struct reviews *reviews,
                             weft_pack *pack)
{
    for (int label = 0; label < 2; label++)
        TRY(list_class(source, side, label, reviews, pack));
    qsort(reviews->review, (size_t)reviews->n, sizeof *reviews->review, by_number);
    return WEFT_OK;
}

static weft_status read_review(const char *source, const struct review *review,
                               weft_part part, struct reviews *reviews, weft_pack *pack)
{
    WEFT_REWIND(pack->scratch);
    size_t n;
    char *text;
    const char *path = weft_arena_text(pack->scratch, "%s/%s", source, review->name);
    TRY(weft_pack_apart(pack, path));
    TRY(weft_read_all(path, pack->scratch, &text, &n));
    weft_digest_add(reviews->digest[review->label], review->name, strlen(review->name) + 1);
    weft_digest_add(reviews->digest[review->label], text, n);
    reviews->bytes[review->label] += (int64_t)n;
    return weft_pack_document(pack, part, review->name, text, n, review->label);
}

/* Reads all reviews of a side; part[i] is where review i goes, WEFT_TRAIN where part is
 * NULL. */
static weft_status read_side(const char *source, const char *side, struct reviews *reviews,
                             const uint8_t *part, weft_pack *pack)
{
    for (int64_t i = 0; i < reviews->n; i++)
        TRY(read_review(source, &reviews->review[i],
                        part != NULL ? (weft_part)part[i] : WEFT_TRAIN, reviews, pack));
    for (int label = 0; label < 2; label++)
        weft_pack_source_sum(
            pack, weft_arena_text(pack->mem, "%s/%s/%s", source, side, class_name[label]),
            reviews->digest[label], reviews->bytes[label]);
    return WEFT_OK;
}

static weft_status imdb_read(const void *self, const char *source, weft_pack *pack)
{
    const struct imdb *imdb = self;
    struct reviews train = {0}, test = {0};
    weft_pack_classes(pack, 2, class_name);
    TRY(list_side(source, "train", &train, pack));
    TRY(list_side(source, "test", &test, pack));
    TRY(read_side(source, "train", &train, NULL, pack));

    int64_t *order = WEFT_NEW(pack->mem, int64_t, test.n);
    uint8_t *part = WEFT_NEW(pack->mem, uint8_t, test.n);
    weft_shuffle(test.n, (uint64_t)imdb->seed, order, pack->scratch);
    for (int64_t i = 0; i < test.n; i++)
        part[order[i]] = i < test.n / 2 ? WEFT_TEST : WEFT_VALID;
    TRY(read_side(source, "test", &test, part, pack));
    weft_pack_split(pack,
                    "train is train; test shuffled with seed %lld: the first half test, "
                    "the rest valid; rows by number, neg before pos",
                    (long long)imdb->seed);
    return WEFT_OK;
}

WEFT_PLUGIN(reader, imdb) = {
    .kind = WEFT_KIND("imdb", struct imdb, options, "IMDB reviews, directory aclImdb"),
    .read = imdb_read,
};

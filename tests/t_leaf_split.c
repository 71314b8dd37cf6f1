/* How rows of LEAF's users are divided: by chance, for each user by itself, so that sorted
 * ones give every part all classes.
 * RUN: np=1 */
#include "leaf.h"

enum { SORTED = 200, CLASSES = 5 };

/* User `name` with SORTED rows [10 class + part of the row], sorted by class. */
static const char *sorted_user(const char *name)
{
    char *text = WEFT_NEW(mem, char, 40 * SORTED), *to = text;
    to += sprintf(to, "\"%s\": {\"x\": [", name);
    for (int i = 0; i < SORTED; i++) to += sprintf(to, "%s[%d]", i ? "," : "", i);
    to += sprintf(to, "], \"y\": [");
    for (int i = 0; i < SORTED; i++)
        to += sprintf(to, "%s%d", i ? "," : "", i * CLASSES / SORTED);
    sprintf(to, "]}");
    return text;
}

static void write_sorted(const char *file, const char *a, const char *b)
{
    write_text(file, printed("{\"users\": [\"%s\", \"%s\"], \"num_samples\": [%d, %d], "
                             "\"user_data\": {%s, %s}}",
                             a, b, SORTED, SORTED, sorted_user(a), sorted_user(b)));
}

/* 1: every class is in that part of client c, and rows have kept their labels. */
static int has_all(int64_t c, weft_part part)
{
    int count[CLASSES] = {0}, good = 1;
    weft_samples s = samples(c, part);
    for (int64_t i = 0; i < s.n; i++) {
        good &= s.label[i] == (int)s.x[i] * CLASSES / SORTED;
        count[s.label[i]]++;
    }
    for (int k = 0; k < CLASSES; k++) good &= count[k] > 0;
    return good;
}

/* The sum of the rows that client c is tested by, squared: which they are. */
static double tested(int64_t c)
{
    weft_samples s = samples(c, WEFT_TEST);
    double sum = 0;
    for (int64_t i = 0; i < s.n; i++) sum += (double)s.x[i] * (double)s.x[i];
    return sum;
}

static void test_sorted(void)
{
    write_sorted("ab.json", "ann", "bob");
    write_sorted("ba.json", "bob", "ann");
    if (!ok(taken(at("ab.json"), "valid=0.2 test=0.2"), "sorted rows are packed")) return;
    int good = 1;
    for (int c = 0; c < 2; c++)
        good &= has_all(c, WEFT_TRAIN) && has_all(c, WEFT_VALID) && has_all(c, WEFT_TEST);
    ok(good, "each part of a client has every class, and rows their labels");
    double ann = tested(0), bob = tested(1);
    ok(ann != bob, "clients are divided differently");
    ok(taken(at("ba.json"), "valid=0.2 test=0.2") && tested(0) == bob && tested(1) == ann,
       "whatever the order of the file");
    ok(taken(at("ba.json"), "valid=0.2 test=0.2 seed=1") && tested(0) != bob,
       "and by the seed");
    mkdir(at("st"), 0777);
    mkdir(at("st/train"), 0777);
    mkdir(at("st/test"), 0777);
    write_sorted("st/train/a.json", "ann", "bob");
    write_sorted("st/test/a.json", "ann", "bob");
    ok(taken(at("st"), "") && has_all(1, WEFT_TRAIN) && has_all(1, WEFT_VALID) &&
           samples(0, WEFT_TEST).x[0] == 0 && samples(0, WEFT_TEST).x[SORTED - 1] == 199,
       "and validation rows out of train/, while test/ stays as it is");
}

/* ---- by class ---- */

/* 1: of class k, of n[k] rows, part p of client c has share[p] but for one row, and a class
 * of one row is for training. */
static int is_even(int64_t c, int classes, const int *n, const double *share)
{
    int good = 1;
    for (int p = 0; p < WEFT_NPART; p++) {
        int count[CLASSES] = {0};
        weft_samples s = samples(c, (weft_part)p);
        for (int64_t i = 0; i < s.n; i++) count[s.label[i]]++;
        for (int k = 0; k < classes; k++)
            good &= n[k] == 1 ? count[k] == (p == WEFT_TRAIN)
                              : fabs(count[k] - share[p] * n[k]) <= 1;
    }
    return good;
}

/* A user with 60 rows of class 0, 12 of class 1 and one of class 2. */
static const char *rare_user(const char *name)
{
    const char *x = "", *y = "";
    for (int i = 0; i < 73; i++) {
        x = printed("%s%s[%d]", x, i ? "," : "", i);
        y = printed("%s%s%d", y, i ? "," : "", i < 60 ? 0 : i < 72 ? 1 : 2);
    }
    return printed("\"%s\": {\"x\": [%s], \"y\": [%s]}", name, x, y);
}

static void test_classes(void)
{
    static const int sorted[] = {40, 40, 40, 40, 40}, rare[] = {60, 12, 1};
    static const double share[] = {0.5, 0.25, 0.25};
    const char *options = "valid=0.25 test=0.25 shares=class";
    write_text("r.json", printed("{\"users\": [\"ann\", \"bob\"], \"num_samples\": [73, "
                                 "73], \"user_data\": {%s, %s}}",
                                 rare_user("ann"), rare_user("bob")));
    if (!ok(taken(at("ab.json"), options), "rows are divided by class")) return;
    ok(is_even(0, CLASSES, sorted, share) && is_even(1, CLASSES, sorted, share),
       "each part has its share of each class");
    double ann = tested(0), bob = tested(1);
    ok(ann != bob, "by chance within it, for each client by itself");
    ok(taken(at("ab.json"), "valid=0.25 test=0.25 shares=class seed=1") &&
           is_even(0, CLASSES, sorted, share) && tested(0) != ann,
       "by the seed");
    ok(taken(at("r.json"), options) && is_even(0, 3, rare, share) &&
           is_even(1, 3, rare, share),
       "so do rare classes; one of a single row is trained on");
    ok(taken(at("ab.json"), "valid=0.25 test=0.25 shares=end") &&
           samples(0, WEFT_TEST).x[0] == 150 && samples(0, WEFT_TEST).x[49] == 199,
       "the last rows, by wish, are those for the test");
}

MAIN(scratch, test_sorted, test_classes)

/* Measures of predictions: against scikit-learn (tests/gold/measure.py), by hand, and what
 * is refused. */
#include "tap.h"
#include "weft/space/scores.h"

enum { N = 97, C = 3, TARGETS = 2, GOLD = 5, RARE = 4, RARE_GOLD = 4 };

static int32_t label[N], two[N], here[N];
static double score[N][C], pair[N][2], rare[N][RARE], flat[N][TARGETS], target[N][TARGETS],
    said[N][TARGETS], weight[N];

static void make(void)
{
    for (int i = 0; i < N; i++) {
        double sum = 0;
        label[i] = (i * i + i / 3) % 5 % 3;
        two[i] = label[i] > 0;
        here[i] = label[i] % 2;
        for (int k = 0; k < RARE; k++)
            rare[i][k] = k < C ? (i * 7 + k * 13) % 5 + 2 * (here[i] == k) : -1;
        weight[i] = 1 + i % 4 / 2.0;
        for (int k = 0; k < C; k++)
            sum += score[i][k] = 1 + (i * 7 + k * 13) % 11 + 3 * (label[i] == k);
        for (int k = 0; k < C; k++) score[i][k] /= sum;
        pair[i][1] = score[i][1];
        pair[i][0] = 1 - score[i][1];
        for (int k = 0; k < TARGETS; k++) {
            target[i][k] = (i * i + 5 * k) % 23 / 8.0;
            said[i][k] = target[i][k] + (i * 5 + 3 * k) % 7 / 9.0 - 0.3;
            flat[i][k] = k == 0 ? target[i][0] : 3;
        }
    }
}

static weft_predictions predictions(int64_t n, int classes, double *from)
{
    return (weft_predictions){.n = n, .classes = classes, .score = from};
}

static void compare(const double *gold, const double *own, const char *what)
{
    weft_predictions three = predictions(N, C, score[0]),
                     pairs = predictions(N, 2, pair[0]),
                     numbers = predictions(N, TARGETS, said[0]);
    weft_truth of_three = {.label = label, .weight = own},
               of_two = {.label = two, .weight = own},
               of_numbers = {.target = target[0], .weight = own};
    weft_quality quality = weft_quality_of(&three, &of_three, mem);
    is_near(quality.balanced, gold[0], 1e-12, "%s: balanced error", what);
    is_near(quality.f1, gold[1], 1e-12, "%s: F1", what);
    is_near(quality.auc, gold[2], 1e-12, "%s: AUC of three classes", what);
    ok(isnan(quality.r2), "%s: no R2 of classes", what);
    is_near(weft_measure_of(WEFT_BY_BALANCED, &three, &of_three), gold[0], 1e-12,
            "%s: what is minimised is the balanced error", what);
    is_near(weft_measure_of(WEFT_BY_F1, &three, &of_three), 1 - gold[1], 1e-12,
            "%s: or 1 - F1", what);
    is_near(weft_measure_of(WEFT_BY_AUC, &three, &of_three), 1 - gold[2], 1e-12,
            "%s: or 1 - AUC", what);
    is_near(weft_measure_of(WEFT_BY_AUC, &pairs, &of_two), 1 - gold[3], 1e-12,
            "%s: of two classes, too", what);
    is_near(weft_measure_of(WEFT_BY_R2, &numbers, &of_numbers), 1 - gold[4], 1e-12,
            "%s: or 1 - R2", what);
    double all = 0, want = 0;
    for (int i = 0; i < C * C; i++) all += quality.confusion[i];
    for (int i = 0; i < N; i++) want += own ? own[i] : 1;
    is_near(all, want, 1e-12, "%s: the confusion matrix has all rows", what);
    quality = weft_quality_of(&numbers, &of_numbers, mem);
    ok(isnan(quality.balanced) && isnan(quality.f1) && isnan(quality.auc) &&
           !quality.confusion,
       "%s: numbers have R2 alone", what);
}

/* Scores that tie; class 2 is said of rows that are none, class 3 of no row; a target that
 * does not vary. Weights of any unit. */
static void compare_rare(const double *gold, const double *own, const char *what)
{
    double small[N];
    for (int i = 0; own && i < N; i++) small[i] = own[i] / 1024;
    weft_predictions four = predictions(N, RARE, rare[0]),
                     numbers = predictions(N, TARGETS, said[0]);
    weft_truth of_four = {.label = here, .weight = own ? small : NULL},
               of_numbers = {.target = flat[0], .weight = own ? small : NULL};
    weft_quality quality = weft_quality_of(&four, &of_four, mem);
    double told[4];
    weft_quality_put(&quality, told);
    for (int i = 0; i < 3; i++)
        is_near(told[i], gold[i], 1e-12, "%s: of ties and rare classes, measure %d", what,
                i);
    is_near(weft_measure_of(WEFT_BY_BALANCED, &four, &of_four), gold[0], 1e-12,
            "%s: what is minimised, too: the balanced error", what);
    is_near(weft_measure_of(WEFT_BY_F1, &four, &of_four), 1 - gold[1], 1e-12,
            "%s: or 1 - F1 of them", what);
    is_near(weft_measure_of(WEFT_BY_AUC, &four, &of_four), 1 - gold[2], 1e-12,
            "%s: or 1 - AUC of them", what);
    is_near(weft_measure_of(WEFT_BY_R2, &numbers, &of_numbers), 1 - gold[3], 1e-12,
            "%s: R2 is the mean over the targets that vary", what);
}

/* Class 0: scores 1, 2, 2; class 1: 2, 3. Of 6 pairs 4 are in order, 2 tied: 5 / 6. */
static void test_hand(void)
{
    double own[5][2] = {{0, 1}, {0, 2}, {0, 2}, {0, 2}, {0, 3}}, same[5][2] = {{0}};
    int32_t of[5] = {0, 0, 0, 1, 1}, one[5] = {1, 1, 1, 1, 1};
    weft_predictions five = predictions(5, 2, own[0]), equal = predictions(5, 2, same[0]);
    weft_truth truth = {.label = of}, single = {.label = one};
    is_near(weft_measure_of(WEFT_BY_AUC, &five, &truth), 1. / 6, 1e-15,
            "ties count half in AUC");
    is_near(weft_measure_of(WEFT_BY_AUC, &equal, &truth), 0.5, 0, "equal scores have 0.5");
    is_near(weft_measure_of(WEFT_BY_AUC, &five, &single), 0.5, 0,
            "as have rows of one class");
    is_near(weft_measure_of(WEFT_BY_BALANCED, &five, &truth), 0.5, 0,
            "all rows said to be of one of two classes: half");
    is_near(weft_measure_of(WEFT_BY_BALANCED, &five, &single), 0, 0,
            "a class without rows does not count in the balanced error");
    is_near(weft_measure_of(WEFT_BY_F1, &five, &truth), 1 - 2. / 7, 1e-15,
            "F1 of a class that is never said is 0");
    five.n = 0;
    ok(isnan(weft_measure_of(WEFT_BY_F1, &five, &truth)), "no rows have no measure");
    double constant[4] = {2, 2, 2, 2}, any[4] = {1, 2, 3, 4};
    weft_predictions four = predictions(4, 1, any);
    weft_truth level = {.target = constant};
    is_near(weft_measure_of(WEFT_BY_R2, &four, &level), 1, 0,
            "targets that are all equal have 1 - R2 = 1");
    own[2][1] = NAN;
    five.n = 5;
    is_near(weft_measure_of(WEFT_BY_AUC, &five, &truth), 1. / 12, 1e-15,
            "a score that is not a number is below all");
}

static void refused(weft_measure measure, const int64_t *count, weft_status st,
                    const char *said_so, const char *what)
{
    static const char *const name[] = {"a", "b", "c"};
    weft_status got = weft_measure_check(measure, "fmap.score", "F.h5", C, count, name);
    ok(got == st && (st == WEFT_OK || says(said_so)), "%s%s%s", what,
       st == WEFT_OK ? "" : ": ", st == WEFT_OK ? "" : weft_error());
}

static void test_refusals(void)
{
    const int64_t all[C] = {3, 4, 5}, some[C] = {3, 0, 5}, one[C] = {0, 9, 0};
    refused(WEFT_BY_R2, all, WEFT_ECONF, "fmap.score = r2 is of numbers", "R2 of classes");
    refused(WEFT_BY_AUC, NULL, WEFT_ECONF, "fmap.score = auc is of classes",
            "AUC of numbers");
    refused(WEFT_BY_LOG_ERROR, NULL, WEFT_ECONF, "log_error is of classes",
            "log of the error of numbers");
    refused(WEFT_BY_F1, one, WEFT_EDATA, "rows of 1 of 3 classes", "rows of one class");
    refused(WEFT_BY_BALANCED, some, WEFT_OK, "", "a class without rows is warned of");
    refused(WEFT_BY_ACCURACY, one, WEFT_OK, "", "accuracy takes any rows");
    refused(WEFT_BY_R2, NULL, WEFT_OK, "", "R2 is for numbers");
}

int main(void)
{
    tap_begin();
    double gold[2][GOLD], of_rare[2][RARE_GOLD];
    weft_log_set(WEFT_ERROR, 0);
    FILE *file = gold_of("measure.txt");
    for (int i = 0; i < 2 * GOLD; i++)
        if (fscanf(file, "%lf", &gold[i / GOLD][i % GOLD]) != 1) return EXIT_FAILURE;
    for (int i = 0; i < 2 * RARE_GOLD; i++)
        if (fscanf(file, "%lf", &of_rare[i / RARE_GOLD][i % RARE_GOLD]) != 1)
            return EXIT_FAILURE;
    fclose(file);
    make();
    compare(gold[0], NULL, "rows alike");
    compare(gold[1], weight, "weighted rows");
    compare_rare(of_rare[0], NULL, "rows alike");
    compare_rare(of_rare[1], weight, "weighted rows");
    return TESTS(test_hand, test_refusals);
}

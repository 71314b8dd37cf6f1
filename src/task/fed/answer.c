/* What a worker answers to a turn: checked, and turned into the client's result. */
#include "answer.h"
#include "score.h"

#include <yajl/yajl_tree.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An answer that is read. */
struct answer {
    const fed_task *fed;
    const fed_turns *turns;
    int64_t j;
    const fed_asked *asked;
    yajl_val json;
    fed_client_result *out;
};

static weft_status is_wrong(const struct answer *answer, const char *what)
{
    return weft_link_fail(answer->asked->link, WEFT_EDATA,
                          "answered the turn of client %lld with %s",
                          (long long)answer->turns->client[answer->j].client, what);
}

static yajl_val find(yajl_val in, const char *key)
{
    const char *path[] = {key, NULL};
    return YAJL_IS_OBJECT(in) ? yajl_tree_get(in, path, yajl_t_any) : NULL;
}

/* A number; null is NAN. 0 if there is none. */
static int number(yajl_val value, double *out)
{
    *out = NAN;
    if (!value || (!YAJL_IS_NUMBER(value) && !YAJL_IS_NULL(value))) return 0;
    if (YAJL_IS_NUMBER(value)) *out = YAJL_GET_DOUBLE(value);
    return 1;
}

/* [loss, wrong, count] of a stage: sums over predictions. A loss that is no number is one
 * of a client that diverged. */
static weft_status read_stage(const struct answer *answer, int stage)
{
    enum { LOSS, WRONG, COUNT, N };
    const char *key = stage == FED_BEFORE ? "before" : "after";
    yajl_val list = find(answer->json, key);
    double x[N];
    int good = YAJL_IS_ARRAY(list) && list->u.array.len == N;
    for (int i = 0; good && i < N; i++) good = number(list->u.array.values[i], &x[i]);
    if (!good)
        return is_wrong(answer, "no \"before\" or \"after\" that was asked for, which is "
                                "[sum of losses, wrong answers, predictions]");
    int counted =
        x[COUNT] >= 0 && x[COUNT] <= INT32_MAX && x[WRONG] >= 0 && x[WRONG] <= x[COUNT];
    if (!counted)
        return is_wrong(answer, "counts of wrong answers and predictions that are none");
    if (answer->turns->client[answer->j].valid > 0 && !(x[COUNT] > 0))
        return is_wrong(answer, "no predictions, though the client has samples");
    if (x[COUNT] > 0 && !isfinite(x[LOSS])) answer->out->diverged = 1;
    fed_settle_score((weft_score){x[LOSS], floor(x[WRONG]), floor(x[COUNT])},
                     answer->turns->turn, stage, answer->out);
    return WEFT_OK;
}

/* That the course's fixed tensors are as they were, by the change of the weights. */
static weft_status check_fixed(const struct answer *answer)
{
    const fed_task *fed = answer->fed;
    const weft_course *course = answer->turns->course;
    for (int i = 0; course && course->fixed && i < fed->ntensor; i++) {
        const weft_tensor *tensor = &fed->tensor[i];
        int64_t end = tensor->at + weft_tensors_size(1, tensor);
        for (int64_t e = tensor->at; course->fixed[i] && e < end; e++) {
            if (fed->work.g[e] == 0) continue;
            char what[192];
            snprintf(what, sizeof what,
                     "other numbers of tensor %s, which is not among the \"tensors\" to be "
                     "trained",
                     tensor->name);
            return is_wrong(answer, what);
        }
    }
    return WEFT_OK;
}

/* work.g = the change of the weights, which a course's w become. A client with a number
 * that is not finite diverged, or with one beyond max_change; of courses visit.c decides
 * that by what they change together. */
static weft_status read_weights(const struct answer *answer)
{
    const fed_task *fed = answer->fed;
    const fed_client *client = &answer->turns->client[answer->j];
    yajl_val n = find(answer->json, "weights"), change = find(answer->json, "change");
    int64_t told = n && YAJL_IS_INTEGER(n) ? YAJL_GET_INTEGER(n) : 0;
    if (told != fed->nweight) {
        char what[128];
        snprintf(what, sizeof what, "%lld weights where %lld are expected", (long long)told,
                 (long long)fed->nweight);
        return is_wrong(answer, what);
    }
    const weft_course *course = answer->turns->course;
    real *g = fed->work.g, *w = course ? course->w : NULL;
    const float *given = answer->asked->given;
    const real *from = answer->turns->from;
    const real most = course ? WEFT_REAL_MAX : (real)client->options.max_change;
    int good = 1, is_change = change && YAJL_IS_TRUE(change);
    for (int64_t i = 0; i < fed->nweight; i++) {
        g[i] = is_change ? (real)given[i] : (real)given[i] - from[i];
        good &= (g[i] <= most) & (g[i] >= -most);
        if (w) w[i] = is_change ? from[i] + g[i] : (real)given[i];
    }
    if (!good) answer->out->diverged = 1;
    return check_fixed(answer);
}

static weft_status read_training(const struct answer *answer)
{
    fed_client_result *out = answer->out;
    double x;
    TRY(read_weights(answer));
    if (!number(find(answer->json, "steps"), &out->steps) || !(out->steps >= 0) ||
        !isfinite(out->steps))
        return is_wrong(answer, "no \"steps\", the number of samples that it trained on");
    if (!number(find(answer->json, "train_loss"), &x)) x = NAN;
    if (isfinite(x)) {
        out->train_loss = x * out->steps;
        out->train_count = out->steps;
    }
    return WEFT_OK;
}

/* The worker's own metrics, those that it has of this client. */
static void read_own(const struct answer *answer)
{
    const fed_described *described = answer->asked->described;
    yajl_val own = find(answer->json, "metrics");
    for (int i = 0; i < described->nmetric; i++)
        number(find(own, described->metric[i]), &answer->out->own[i]);
}

static weft_status read_all(struct answer *answer, const char *line)
{
    const fed_turn *turn = answer->turns->turn;
    yajl_val error = find(answer->json, "error"), id = find(answer->json, "turn");
    if (!answer->json)
        return weft_link_fail(answer->asked->link, WEFT_EDATA,
                              "sent a line that is not JSON: %.200s", line);
    if (error)
        return weft_link_fail(answer->asked->link, WEFT_EDATA,
                              "has a bug in the turn of client %lld: %.200s",
                              (long long)answer->turns->client[answer->j].client,
                              YAJL_IS_STRING(error) ? YAJL_GET_STRING(error) : "");
    if (!YAJL_IS_INTEGER(id) || YAJL_GET_INTEGER(id) != answer->asked->turn)
        return is_wrong(answer, "the number of another turn");
    read_own(answer);
    if (turn->before) TRY(read_stage(answer, FED_BEFORE));
    if (turn->train) TRY(read_training(answer));
    if (turn->after && answer->out->diverged > 0)
        fed_settle_failure(answer->fed, &answer->turns->client[answer->j], turn,
                           answer->out);
    else if (turn->after)
        TRY(read_stage(answer, FED_AFTER));
    return WEFT_OK;
}

weft_status fed_answer_read(const fed_task *fed, const fed_turns *turns, int64_t j,
                            const fed_asked *asked, const char *line)
{
    struct answer answer = {
        fed, turns, j, asked, yajl_tree_parse(line, NULL, 0), &turns->told[j]};
    weft_status st = read_all(&answer, line);
    yajl_tree_free(answer.json);
    return st;
}

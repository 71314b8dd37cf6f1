/* Fits of single maps that are computed before their jobs: the same bits as in the order
 * of jobs, every rank computes some, and only fits that run on one rank are computed
 * early.
 * RUN: np=1 np=2 np=3 */
#include "task/fmap/fmap.h"

#include "in_memory.h"
#include "measured.h"
#include "results.h"

enum { DOCS = 240, VALID = 60, LONG = 30, WORDS = 90, K = 6, SEED = 3 };

static const weft_task *const task = &weft_task_fmap;

/* ---- documents ---- */

static uint32_t draw(int64_t i, int64_t j, uint32_t n)
{
    weft_rng4 rng = weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)j, 0);
    return (uint32_t)(rng.v[0] % n);
}

/* Words of a class are those of its third more often than others. */
static void take_part(weft_data *data, weft_part part, int64_t from, int64_t n)
{
    weft_rows *rows = deal_rows(data, part, n, 0);
    int32_t *label = WEFT_NEW(mem, int32_t, rows->n);
    int64_t *offset = WEFT_NEW(mem, int64_t, rows->n + 1);
    uint32_t *token = WEFT_NEW(mem, uint32_t, rows->n * LONG);
    for (int64_t i = 0; i < rows->n; i++) {
        int64_t doc = from + rows->first + i;
        label[i] = (int32_t)draw(doc, -1, (uint32_t)data->classes);
        for (int64_t j = 0; j < LONG; j++) {
            uint32_t any = draw(doc, j, WORDS);
            uint32_t third = (uint32_t)label[i] % 3 * (WORDS / 3);
            token[i * LONG + j] = j % 4 ? any : third + any / 3;
        }
        offset[i + 1] = (i + 1) * LONG;
    }
    rows->label = label;
    for (int k = 0; k < WEFT_NTOK; k++) {
        rows->offset[k] = offset;
        rows->end[k] = offset + 1;
        rows->token[k] = token;
    }
}

static void make_data(weft_data *data, int classes)
{
    *data = (weft_data){.form = WEFT_TOKENS,
                        .classes = classes,
                        .path = "test",
                        .mem = mem,
                        .team = &world};
    uint64_t *hash = WEFT_NEW(mem, uint64_t, WORDS);
    uint8_t *stop = WEFT_NEW(mem, uint8_t, WORDS);
    for (int i = 0; i < WORDS; i++) hash[i] = weft_hash(&i, sizeof i, 0);
    for (int k = 0; k < WEFT_NTOK; k++)
        data->vocab[k] =
            (weft_vocab){.n = WORDS, .hash = hash, .lower = hash, .stop = stop};
    take_part(data, WEFT_TRAIN, 0, DOCS);
    take_part(data, WEFT_VALID, DOCS, VALID);
}

/* ---- the task ---- */

struct stand {
    weft_data data;
    fmap_task *task;
    weft_conf conf;
    weft_space space;
    weft_job job[K];
    const weft_job *line[K];
};

static struct stand *stand_up(const char *model, int classes, double memory)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    make_data(&stand->data, classes);
    stand->task = weft_arena_alloc(mem, 1, task->kind.size);
    weft_conf_init(&stand->conf, mem);
    must(weft_conf_text(
        &stand->conf, "test",
        printed("[fmap]\nfeature = ngram\nmodel = %s\n[ngram]\nbins = 512\n"
                "order = 1 .. 3\nalpha = log 1e-3 .. 10\nweights = nb | sif\n"
                "[space]\nconfigs = %d\n",
                model, K)));
    must(open_task(task, stand->task, &stand->conf, &stand->space,
                   (weft_env){.team = &world,
                              .data = &stand->data,
                              .seed = SEED,
                              .memory = memory,
                              .mem = mem}));
    for (int i = 0; i < K; i++) {
        weft_mix mix = weft_mix_new(1, stand->space.dim, mem);
        stand->job[i] = weft_job_new(i, 1, &mix);
        stand->job[i].id = 10 + i;
        weft_space_config(&stand->space, i, stand->job[i].mix.conf);
        stand->job[i].mix.id[0] = i;
        stand->line[i] = &stand->job[i];
    }
    return stand;
}

/* Ranks that fitted a map which waits. */
static int owners(const struct stand *stand)
{
    int has[64] = {0}, n = 0;
    for (const fmap_early *early = stand->task->early; early; early = early->next)
        if (early->job >= 0) has[early->owner] = 1;
    for (int r = 0; r < world.size; r++) n += has[r];
    return n;
}

/* Hash of the state and the result of a job. */
static uint64_t run(struct stand *stand, int i)
{
    const weft_job *job = &stand->job[i];
    weft_state state = weft_state_new(task, stand->task, job, mem);
    weft_result res = result_of(task, 1);
    must(task->step(stand->task, job, 0, &state, NULL, &res));
    return result_hash(&res, weft_state_hash(&state));
}

/* Jobs whose fits wait for them, of all K. */
static int waiting(const struct stand *stand)
{
    int n = 0;
    for (const fmap_early *early = stand->task->early; early; early = early->next)
        n += early->job >= 0;
    return n;
}

/* ---- tests ---- */

static void test_same(const char *model, int classes)
{
    struct stand *turn = stand_up(model, classes, 1e9),
                 *ahead = stand_up(model, classes, 1e9);
    int same = 1, once = 1;
    uint64_t key = 0;
    task->ahead(ahead->task, K, ahead->line);
    int early = waiting(ahead), ranks = owners(ahead);
    for (int i = K; i-- > 0;) { /* not the order in which they were shown */
        uint64_t one = run(turn, i), other = run(ahead, i);
        same &= one == other;
        key = weft_hash(&one, sizeof one, key);
        once &= early == 0 || waiting(ahead) == i;
    }
    ok(same, "%s, %d classes: a fit ahead of its job has the bits of one in its turn",
       model, classes);
    digest(key);
    ok(early == (world.size > 1 ? K : 0) && once,
       "%s, %d classes: several ranks fit all %d maps ahead, one none; each is taken once",
       model, classes, K);
    ok(world.size == 1 || ranks == world.size, "%s, %d classes: every rank has some", model,
       classes);
}

/* Where memory is short, as many as there is room for, and the rest in later calls. */
static void test_memory(void)
{
    struct stand *turn = stand_up("logistic", 2, 1e9),
                 *ahead = stand_up("logistic", 2, 1e9);
    int same = 1, most = 0;
    ahead->task->env.memory = 1e6;
    for (int i = 0; i < K; i++) {
        task->ahead(ahead->task, K - i, ahead->line + i);
        int now = waiting(ahead);
        most = now > most ? now : most;
        same &= run(turn, i) == run(ahead, i);
    }
    ok(same && waiting(ahead) == 0, "with little memory the bits are the same");
    ok(world.size == 1 || (most > 1 && most < K),
       "and fewer fits are done at once (%d of %d)", most, K);
}

/* Jobs that no rank does alone are left to their turn. */
static void test_others(void)
{
    struct stand *stand = stand_up("ridge", 2, 1e9);
    task->ahead(stand->task, K, stand->line);
    ok(waiting(stand) == 0, "fits that all ranks do together are not done ahead");
    stand = stand_up("logistic", 2, 1e9);
    stand->job[0].resource = 0;
    task->ahead(stand->task, K, stand->line);
    ok(waiting(stand) == 0, "nor is anything while the next job is another");
    task->ahead(stand->task, 1, stand->line + 1);
    ok(waiting(stand) == 0, "nor one job alone");
    stand->job[2].resource = 0;
    task->ahead(stand->task, K - 1, stand->line + 1);
    ok(waiting(stand) == (world.size > 1 ? K - 2 : 0),
       "a job that does not fit is passed over");
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    test_same("logistic", 2);
    test_same("logistic", 5);
    test_same("svm", 2);
    return TESTS(test_memory, test_others);
}

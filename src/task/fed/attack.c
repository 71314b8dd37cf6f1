/* Clients that do harm. Who attacks is a function of the seed and the client, what is sent
 * one of the change, the round and the client. */
#include "attack.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdlib.h>

static const weft_opt attack_opts[] = {
    WEFT_CHOICE_OPT("kind", struct fed_attack, kind, "none", "none|labels|sign|scale|noise",
                    "what attackers do: train on turned labels, send the change times "
                    "-strength, times strength, or noise"),
    WEFT_REAL_OPT("share", struct fed_attack, share, "0.1", 0, 1,
                  "share of the clients that attack"),
    WEFT_REAL_OPT("strength", struct fed_attack, strength, "1", 0, 1e6,
                  "sign, scale: factor; noise: standard deviation, as a multiple of the "
                  "root mean square of the change"),
    {0},
};

const weft_kind fed_attack_kind =
    WEFT_KIND("attack", struct fed_attack, attack_opts, "task fed: clients that do harm");

/* ---- set-up ---- */

static uint64_t number_of(const fed_task *fed, int64_t client)
{
    return weft_rng_at(fed->env.seed, WEFT_RNG_ATTACK, UINT64_MAX, (uint64_t)client, 0)
        .v[0];
}

static int rising(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Determines who attacks. */
static void choose(const fed_task *fed, struct fed_attack *attack)
{
    const fed_group *all = &fed->old;
    int64_t some = (int64_t)floor(attack->share * (double)all->n + 0.5);
    WEFT_SCRATCH(tmp);
    uint64_t *number = WEFT_NEW(tmp, uint64_t, all->n);
    for (int64_t i = 0; i < all->n; i++)
        number[i] = number_of(fed, all->client ? all->client[i] : i);
    qsort(number, (size_t)all->n, sizeof *number, rising);
    attack->below = some == 0 ? 0 : some < all->n ? number[some] : UINT64_MAX;
    weft_log(WEFT_INFO, "%lld of %lld clients attack", (long long)some, (long long)all->n);
}

static weft_status check_labels(const fed_task *fed)
{
    const char *lacks = !fed->net->grad ? "a worker has its samples to itself"
                                        : weft_forms[fed->env.data->form]->unclassed;
    if (!lacks) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "attack.kind = labels turns the classes of samples, and %s; choose "
                     "sign, scale or noise",
                     lacks);
}

weft_status fed_attack_setup(fed_task *fed)
{
    static const char *const keys[] = {"share", "strength"};
    struct fed_attack *attack = WEFT_NEW(fed->env.mem, struct fed_attack, 1);
    fed->modes.attack = NULL;
    TRY(weft_conf_bind(fed->env.conf, &fed_attack_kind, attack));
    for (int i = 0; i < 2; i++) {
        int used = attack->kind != FED_NO_ATTACK && (i == 0 || attack->kind != FED_LABELS);
        if (!used && weft_conf_find(fed->env.conf, "attack", keys[i]))
            weft_log(WEFT_WARN, "attack.%s has no effect with this attack.kind", keys[i]);
    }
    if (attack->kind == FED_NO_ATTACK || fed->env.scoring) return WEFT_OK;
    if (attack->kind == FED_LABELS) TRY(check_labels(fed));
    if (attack->kind == FED_SCALE && !(fabs(attack->strength - 1) > 0))
        return weft_fail(WEFT_ECONF, "attack.strength = 1 changes nothing with attack.kind "
                                     "= scale; give another, such as 10");
    choose(fed, attack);
    fed->modes.attack = attack;
    return WEFT_OK;
}

/* ---- rounds ---- */

int fed_attacks(const fed_task *fed, const fed_turn *turn, int64_t client)
{
    const struct fed_attack *attack = fed->modes.attack;
    return attack && turn->round != FED_EVALUATION &&
           number_of(fed, client) < attack->below;
}

int fed_attack_uploads(const fed_task *fed)
{
    return fed->modes.attack && fed->modes.attack->kind != FED_LABELS;
}

void fed_attack_labels(fed_visiting *visiting)
{
    const fed_task *fed = visiting->fed;
    weft_samples *own = &visiting->own;
    if (!fed->modes.attack || fed->modes.attack->kind != FED_LABELS ||
        !fed_attacks(fed, visiting->turn, visiting->client->client))
        return;
    int32_t *turned = WEFT_NEW(fed->work.tmp, int32_t, own->n);
    for (int64_t i = 0; i < own->n; i++)
        turned[i] = fed->env.data->classes - 1 - own->label[i];
    own->label = turned;
}

/* change[n] = sigma times normal numbers. */
static void draw_noise(const fed_visiting *visiting, double sigma, real *change)
{
    const fed_task *fed = visiting->fed;
    for (int64_t i = 0; i < fed->nweight; i += 4) {
        weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_ATTACK, visiting->turn->round,
                                    (uint64_t)visiting->client->client, (uint64_t)(i / 4));
        double z[4];
        weft_rng_normal(&rng, z);
        for (int64_t e = i; e < fed->nweight && e < i + 4; e++)
            change[e] = (real)(sigma * z[e - i]);
    }
}

void fed_attack_change(fed_visiting *visiting)
{
    const fed_task *fed = visiting->fed;
    const struct fed_attack *attack = fed->modes.attack;
    if (!fed_attack_uploads(fed) ||
        !fed_attacks(fed, visiting->turn, visiting->client->client))
        return;
    int64_t n = fed->nweight;
    real *change = visiting->visit.change,
         most = (real)visiting->client->options.max_change;
    double square = 0,
           factor = attack->kind == FED_SIGN ? -attack->strength : attack->strength;
    for (int64_t i = 0; i < n; i++) square += (double)change[i] * (double)change[i];
    if (attack->kind == FED_NOISE)
        draw_noise(visiting, attack->strength * sqrt(square / (double)n), change);
    else
        for (int64_t i = 0; i < n; i++) change[i] = (real)(factor * (double)change[i]);
    for (int64_t i = 0; i < n; i++) {
        change[i] = change[i] > most ? most : change[i];
        change[i] = change[i] < -most ? -most : change[i];
    }
}

/* Clients with equal distributions: windows of all roles, pooled and dealt. Each role is
 * divided into parts first, with the gaps between them, and each part is pooled separately:
 * so no client trains on a window that contains a test target of another client.
 * Neighbouring windows go to different clients, so each is stored with its own characters,
 * a window after the other. */
#include "reader.h"
#include "shakespeare.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "weft/shuffle.h"

#include <math.h>
#include <string.h>

/* The windows of a part, of all users, in random order. */
struct pool {
    const uint8_t **window; /* [n] */
    int64_t n, room;
};

static void add_windows(const weft_shakespeare *shakespeare, const weft_user *user,
                        const int64_t *count, struct pool *part, weft_arena *mem)
{
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t at = weft_client_place(count, i, weft_bard_gap(shakespeare));
        for (int64_t w = at; w < at + count[i]; w++) {
            struct pool *to = &part[i];
            to->window = weft_grow(mem, to->window, sizeof *to->window, to->n, &to->room);
            to->window[to->n++] = user->text + w * shakespeare->stride;
        }
    }
}

/* Draws a share of the windows without replacement. */
static void shuffle(const weft_shakespeare *shakespeare, int part, struct pool *from,
                    weft_arena *mem)
{
    const uint8_t **drawn = WEFT_NEW(mem, const uint8_t *, from->n);
    int64_t *order = WEFT_NEW(mem, int64_t, from->n);
    weft_shuffle(from->n, weft_hash(&part, sizeof part, (uint64_t)shakespeare->seed), order,
                 mem);
    for (int64_t i = 0; i < from->n; i++) drawn[i] = from->window[order[i]];
    from->window = drawn;
    from->n = (int64_t)floor(shakespeare->fraction * (double)from->n);
}

/* Client c of n; its parts are as even as they can be, and cut to `most` samples. */
static weft_status deal(const weft_shakespeare *shakespeare, const struct pool *part,
                        int64_t c, int64_t n, weft_pack *pack)
{
    size_t mark = weft_arena_mark(pack->scratch), width = (size_t)shakespeare->length + 1;
    int64_t from[WEFT_NPART], count[WEFT_NPART], sum = 0, at = 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        from[i] = c * part[i].n / n;
        count[i] = (c + 1) * part[i].n / n - from[i];
        sum += count[i];
    }
    for (int i = 0; i < WEFT_NPART && shakespeare->most > 0 && sum > shakespeare->most; i++)
        count[i] = count[i] * shakespeare->most / sum;
    sum = count[0] + count[1] + count[2];
    uint8_t *text = WEFT_NEW(pack->scratch, uint8_t, (size_t)sum * width);
    for (int i = 0; i < WEFT_NPART; i++)
        for (int64_t j = 0; j < count[i]; j++, at++)
            memcpy(text + (size_t)at * width, part[i].window[from[i] + j], width);
    weft_status st = WEFT_OK;
    if (sum >= shakespeare->least)
        st = weft_pack_client_text(pack,
                                   weft_arena_text(pack->scratch, "%lld", (long long)c),
                                   count, text, sum * (int64_t)width);
    weft_arena_reset(pack->scratch, mark);
    return st;
}

weft_status weft_bard_pool(const weft_shakespeare *shakespeare, const weft_user *user,
                           int64_t n, int symbols, weft_pack *pack)
{
    struct pool part[WEFT_NPART] = {{0}};
    int64_t clients = llround(shakespeare->iid_users * (double)n), left = 0;
    if (clients < 1) clients = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t count[WEFT_NPART];
        if (weft_shares_count(&shakespeare->shares, user[i].windows,
                              weft_bard_gap(shakespeare), count))
            add_windows(shakespeare, &user[i], count, part, pack->mem);
        else
            left++;
    }
    for (int i = 0; i < WEFT_NPART; i++) shuffle(shakespeare, i, &part[i], pack->mem);
    if (left > 0)
        weft_log(WEFT_INFO, "%lld users are left out, for a part would be empty",
                 (long long)left);
    weft_pack_split(
        pack, weft_arena_text(pack->mem,
                              "samples of each user in the order of its text, %lld "
                              "left out between two parts; then each part is pooled "
                              "and dealt to %lld clients",
                              (long long)weft_bard_gap(shakespeare), (long long)clients));
    TRY(weft_pack_clients(pack, WEFT_CHARS,
                          &(weft_clients){.d = shakespeare->length,
                                          .stride = shakespeare->length + 1,
                                          .symbols = symbols,
                                          .named = 1}));
    for (int64_t c = 0; c < clients; c++) TRY(deal(shakespeare, part, c, clients, pack));
    return WEFT_OK;
}

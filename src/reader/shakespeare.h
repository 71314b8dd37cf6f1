/* What the parts of the reader of Shakespeare share. Private to it. */
#ifndef WEFT_READER_SHAKESPEARE_H
#define WEFT_READER_SHAKESPEARE_H

#include "alphabet.h"
#include "shares.h"

typedef struct weft_shakespeare {
    int64_t length, stride, least, most;
    int sampling, split, vocabulary;
    double fraction, iid_users;
    weft_shares shares;
    const char *unknown;
    int64_t seed;
} weft_shakespeare;

/* What a role says, in symbols. */
typedef struct weft_user {
    const char *name;
    const uint8_t *text; /* [n] */
    int64_t n;
    int64_t windows; /* those that are taken: the first ones */
} weft_user;

/* Windows that would overlap if no characters were left out between two parts. */
static inline int64_t weft_bard_gap(const weft_shakespeare *shakespeare)
{
    return (shakespeare->length - 1) / shakespeare->stride;
}

/* Pools the windows of all users, part by part, and deals them to new clients. */
WEFT_CHECKED weft_status weft_bard_pool(const weft_shakespeare *shakespeare,
                                        const weft_user *user, int64_t n, int symbols,
                                        weft_pack *pack);

#endif

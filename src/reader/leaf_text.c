/* Documents of LEAF's users, as those of Sent140, whose samples are lists with a text. */
#include "documents.h"
#include "leaf.h"

#include <string.h>

/* Adds the documents of a user. */
static weft_status add_user(const weft_leaf_user *user, const weft_leaf_form *form,
                            weft_documents *documents, weft_arena *mem)
{
    const char *client = weft_arena_text(mem, "%s", user->name);
    documents->labels.path = user->file;
    for (int64_t i = 0; i < user->n; i++) {
        weft_document document = {.name =
                                      weft_arena_text(mem, "%s:%lld", client, (long long)i),
                                  .text = weft_arena_text(mem, "%s", user->document[i]),
                                  .n = strlen(user->document[i]),
                                  .client = client};
        const char *label = form->labelled == WEFT_LEAF_WORDS
                                ? form->labels.name[user->label[i]]
                                : weft_arena_text(mem, "%d", (int)user->label[i]);
        TRY(weft_documents_add(documents, document, 0, label, strlen(label), mem));
    }
    return WEFT_OK;
}

weft_status weft_leaf_documents(weft_leaf *const leaf[WEFT_NPART],
                                const weft_leaf_form *form, const weft_split *split,
                                const char *source, weft_pack *pack)
{
    weft_documents documents = {.labels = {.mem = pack->mem}};
    for (int p = 0; p < WEFT_NPART; p++) {
        const weft_leaf_user *user = NULL;
        if (leaf[p]) TRY(weft_leaf_next(leaf[p], &user));
        while (user) {
            TRY(add_user(user, form, &documents, pack->mem));
            TRY(weft_leaf_next(leaf[p], &user));
        }
        documents.end[p] = documents.n;
        if (p != WEFT_TRAIN && leaf[p]) documents.own[p] = weft_part_name[p];
    }
    return weft_documents_pack(&documents, source, *split, pack);
}

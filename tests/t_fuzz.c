/* Every reader takes any bytes: it reads them or refuses them by one line. Each file of
 * fuzz/corpus/TARGET is given to its target. Built by `make fuzz` (WEFT_FUZZ) this is a
 * libFuzzer program; FUZZ names the target.
 * RUN: np=1 */
#ifdef WEFT_FUZZ
/* libFuzzer looks for new code in weft, not in its tests. */
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

#include "fuzz/fuzz.h"

#include "fuzz/packs.h"

#include "fuzz/files.h"
#include "fuzz/runs.h"
#include "fuzz/values.h"

#include <dirent.h>

static const struct target targets[] = {{"conf", run_conf},
                                        {"list", run_list},
                                        {"options", run_options},
                                        {"printed", run_printed},
                                        {"devices", run_devices},
                                        {"vectors", run_vectors},
                                        {"text", run_text},
                                        {"translations", run_translations},
                                        {"dense", run_dense},
                                        {"shakespeare", run_shakespeare},
                                        {"leaf", run_leaf},
                                        {"leaf_parts", run_leaf_parts},
                                        {"idx", run_idx},
                                        {"idx_gzip", run_idx_gzip},
                                        {"folder", run_folder},
                                        {"lines", run_lines},
                                        {"imdb", run_imdb},
                                        {"cifar", run_cifar},
                                        {"journal", run_journal},
                                        {"record", run_record},
                                        {"trace", run_trace},
                                        {"checkpoint", run_checkpoint},
                                        {"state", run_state},
                                        {"h5_images", run_h5_images},
                                        {"h5_documents", run_h5_documents},
                                        {"h5_federation", run_h5_federation},
                                        {"h5_sentences", run_h5_sentences},
                                        {"h5_run", run_h5_run},
                                        {"images_values", run_images_values},
                                        {"documents_values", run_documents_values},
                                        {"federation_values", run_federation_values},
                                        {"sentences_values", run_sentences_values},
                                        {"run_values", run_run_values},
                                        {0}};

static void fuzz_begin(int *argc, char ***argv)
{
    setenv("OMPI_MCA_opal_signal", "", 1); /* signals are libFuzzer's */
    ranks_begin(argc, argv);
    weft_die_hook(NULL);
    scratch_in_memory();
    scratch_new();
}

/* With an arena of its own. */
static void run_target(const struct target *target, struct input in)
{
    weft_arena *before = mem;
    mem = weft_arena_new();
    target->run(in);
    weft_arena_free(mem);
    mem = before;
}

#ifdef WEFT_FUZZ

static const struct target *chosen_target;
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void fuzz_end(void)
{
    if (system(printed("rm -rf %s", scratch)) != 0)
        fprintf(stderr, "# cannot remove %s\n", scratch);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ");
    for (const struct target *t = targets; t->name && name; t++)
        if (strcmp(t->name, name) == 0) chosen_target = t;
    if (!chosen_target) {
        fprintf(stderr, "FUZZ must be one of:");
        for (const struct target *t = targets; t->name; t++)
            fprintf(stderr, " %s", t->name);
        fprintf(stderr, "\n");
        exit(2);
    }
    fuzz_begin(argc, argv);
    atexit(fuzz_end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    run_target(chosen_target, (struct input){data, n});
    return 0;
}

#pragma clang attribute pop

#else

/* Gives each file of the directory to the target; how many there are. */
static int replay(const struct target *target, const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct stat info;
        const char *path = printed("%s/%s", dir, entry->d_name);
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        size_t bytes = (size_t)info.st_size;
        uint8_t *data = malloc(bytes > 0 ? bytes : 1); /* no byte more: sanitizers see */
        weft_check(data && weft_file_load(path, data, bytes) == WEFT_OK, "%s",
                   weft_error());
        run_target(target, (struct input){data, bytes});
        free(data);
        n++;
    }
    if (d) closedir(d);
    return n;
}

int main(int argc, char **argv)
{
    fuzz_begin(&argc, &argv);
    for (const struct target *target = targets; target->name; target++) {
        run_target(target, (struct input){NULL, 0});
        int n = replay(target, printed("tests/fuzz/corpus/%s", target->name));
        ok(n > 0, "%s: %d inputs are read or refused", target->name, n);
    }
    return tap_end();
}

#endif

/* Where the JSON files of a data set of LEAF are: one file, those of a directory, or those
 * of train/, valid/ and test/ in it. */
#include "leaf.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_path(weft_leaf_files *files, const char *path, weft_arena *mem)
{
    files->path = weft_grow(mem, files->path, sizeof *files->path, files->n, &files->room);
    files->path[files->n++] = path;
}

/* The *.json of a directory, by name. */
static weft_status list_files(const char *path, weft_leaf_files *files, weft_pack *pack)
{
    DIR *dir = opendir(path);
    if (dir == NULL) return weft_unreadable(path);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0)
            add_path(files, weft_arena_text(pack->mem, "%s/%s", path, entry->d_name),
                     pack->mem);
    }
    closedir(dir);
    if (files->n > 0) qsort(files->path, (size_t)files->n, sizeof *files->path, by_text);
    return WEFT_OK;
}

weft_status weft_leaf_find(const char *source, weft_leaf_files part[WEFT_NPART],
                           int *divided, weft_pack *pack)
{
    int64_t n = 0;
    *divided = is_directory(weft_arena_text(pack->mem, "%s/train", source));
    if (*divided) {
        for (int i = 0; i < WEFT_NPART; i++) {
            const char *dir =
                weft_arena_text(pack->mem, "%s/%s", source, weft_part_name[i]);
            if (is_directory(dir)) TRY(list_files(dir, &part[i], pack));
        }
    } else if (is_directory(source)) {
        TRY(list_files(source, &part[WEFT_TRAIN], pack));
    } else {
        add_path(&part[WEFT_TRAIN], source, pack->mem);
    }
    for (int i = 0; i < WEFT_NPART; i++) {
        n += part[i].n;
        for (int64_t k = 0; k < part[i].n; k++) TRY(weft_pack_apart(pack, part[i].path[k]));
    }
    if (n > 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s holds no *.json, nor do train/ and test/ in it; give a data "
                     "directory of LEAF's, such as data/all_data",
                     source);
}

/* Tells files of other versions of weft from files of other kinds: the head of a journal,
 * and the formats of run files and exported winners. */
#include "formats.h"
#include "place.h"
#include "weft/file.h"
#include "weft/job.h"
#include "weft/journal.h"
#include "weft/real.h"

#include <string.h>

#define REMEDY                                                                             \
    "use the version of weft that wrote it, or begin the run anew by `weft tune --force`"

/* ---- journals ---- */

static const weft_opt about_opts[] = {
    WEFT_TEXT_OPT("data", weft_about, data, "", ""),
    WEFT_LONG_OPT("began", weft_about, began, "0", 0, 9e15, ""),
    WEFT_INT_OPT("real_bytes", weft_about, real_bytes, "0", 0, 16, ""),
    WEFT_TEXT_OPT("records", weft_about, records, "", ""),
    WEFT_TEXT_OPT("version", weft_about, version, "", ""),
    {0},
};

static const weft_kind about_kind = {
    .name = "journal", .about = "notes", .size = sizeof(weft_about), .opts = about_opts};

const char *weft_about_text(const char *data, int64_t began, weft_arena *mem)
{
    return weft_arena_text(
        mem, "[%s]\ndata = %s\nbegan = %lld\nreal_bytes = %d\nrecords = %d\nversion = %s\n",
        about_kind.name, data, (long long)began, (int)sizeof(real), WEFT_RECORD_FORMAT,
        WEFT_VERSION);
}

/* What another version says of itself may have any keys. */
static const char *note(const weft_conf *conf, const char *key, const char *usual)
{
    const weft_entry *entry = weft_conf_find(conf, about_kind.name, key);
    return entry ? entry->value : usual;
}

weft_status weft_about_read(const char *dir, const char *text, weft_about *out,
                            weft_arena *mem)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, weft_arena_text(mem, "%s/journal", dir), text));
    const char *records = note(&conf, "records", "0");
    if (strcmp(records, weft_arena_text(mem, "%d", WEFT_RECORD_FORMAT)) != 0)
        return weft_fail(WEFT_EFILE,
                         "%s/journal has job records of format %s, written by weft %s, and "
                         "weft " WEFT_VERSION " reads format %d; " REMEDY,
                         dir, records, note(&conf, "version", "of another version"),
                         WEFT_RECORD_FORMAT);
    return weft_conf_bind(&conf, &about_kind, out);
}

/* ---- run files ---- */

/* 1 if both are the same up to the number at the end. */
static int is_kind(const char *format, const char *wanted)
{
    size_t n = strlen(wanted) - 1;
    return strncmp(format, wanted, n) == 0;
}

weft_status weft_run_format(weft_h5 *file, int exported)
{
    const char *format = "", *version = "of another version";
    TRY(weft_h5_find_attr(file, "/", "format", &format));
    if (strcmp(format, WEFT_RUN_FORMAT) == 0) return WEFT_OK;
    if (exported && strcmp(format, WEFT_WINNER_FORMAT) == 0) return WEFT_OK;
    int run = is_kind(format, WEFT_RUN_FORMAT);
    if (!run && !(exported && is_kind(format, WEFT_WINNER_FORMAT)))
        return weft_fail(WEFT_EFILE,
                         "%s is not a run file%s (format \"%s\", expected \"%s\"); "
                         "`weft info` tells what it is",
                         file->path, exported ? " or an exported winner" : "", format,
                         WEFT_RUN_FORMAT);
    TRY(weft_h5_find_attr(file, "/", "version", &version));
    return weft_fail(WEFT_EFILE,
                     "%s has format \"%s\", written by weft %s, and weft " WEFT_VERSION
                     " reads \"%s\"; " REMEDY,
                     file->path, format, version,
                     run ? WEFT_RUN_FORMAT : WEFT_WINNER_FORMAT);
}

weft_status weft_winner_check(weft_h5 *file, int exported)
{
    const char *why;
    TRY(weft_run_format(file, exported));
    if (weft_h5_has(file, "/@unfinished"))
        return weft_fail(WEFT_EFILE,
                         "%s is a report of an unfinished run, whose winner is not known "
                         "yet: end that run by `weft resume`",
                         file->path);
    if (!weft_h5_has(file, "/@no_winner")) return WEFT_OK;
    TRY(weft_h5_read_attr(file, "/", "no_winner", &why));
    return weft_fail(WEFT_ENONE, "%s has no winner: %s", file->path, why);
}

weft_status weft_winner_find(const char *path, weft_arena *mem)
{
    weft_h5 file;
    TRY(weft_h5_open(&file, path, mem));
    weft_status st = weft_winner_check(&file, 0);
    weft_h5_close(&file);
    return st;
}

int weft_run_is_unfinished(const char *path)
{
    weft_arena *tmp = weft_arena_new();
    const char *journal = weft_arena_text(tmp, "%s/journal", weft_place_dir(path, tmp));
    int unfinished = !weft_file_is(path) && weft_journal_is(journal);
    weft_arena_free(tmp);
    return unfinished;
}

weft_status weft_run_file(weft_h5 *file, const char *path, weft_arena *mem)
{
    if (weft_run_is_unfinished(path))
        return weft_fail(WEFT_EFILE, "%s is unfinished; go on with it by `weft resume %s`",
                         path, path);
    return weft_h5_open(file, path, mem);
}

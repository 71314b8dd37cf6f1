/* What the fuzz targets share: files to be read, options, and what must hold of a failure.
 * A target takes any bytes; it may refuse them by one line, and must do nothing else that
 * is bad. Included by t_fuzz.c alone. */
#ifndef WEFT_FUZZ_H
#define WEFT_FUZZ_H

#include "../tap.h"
#include "result/result.h"

#include <fcntl.h>
#include <sys/stat.h>

struct input {
    const uint8_t *at;
    size_t n;
};

struct target {
    const char *name;
    void (*run)(struct input in);
};

/* ---- arenas that are used again (ld --wrap): most of an execution would be calloc ---- */

static _Thread_local weft_arena *idle[8]; /* a ring: what was freed is not at once in use */
weft_arena *__real_weft_arena_new(void);
weft_arena *__wrap_weft_arena_new(void);
void __real_weft_arena_free(weft_arena *arena);
void __wrap_weft_arena_free(weft_arena *arena);

weft_arena *__wrap_weft_arena_new(void)
{
    static _Thread_local int next;
    weft_arena *arena = idle[next];
    idle[next] = NULL;
    next = (next + 1) % WEFT_COUNT(idle);
    return arena ? arena : __real_weft_arena_new();
}

void __wrap_weft_arena_free(weft_arena *arena)
{
    size_t most = 1 << 20;
    if (arena) weft_arena_reset(arena, 0);
    int i = 0;
    while (i < WEFT_COUNT(idle) && idle[i]) i++;
    if (arena && i < WEFT_COUNT(idle) && weft_arena_held(arena) <= most)
        idle[i] = arena;
    else
        __real_weft_arena_free(arena);
}

/* ---- inputs ---- */

/* Takes one byte as a number below `most`; 0 at the end. */
static inline int pick(struct input *in, int most)
{
    if (in->n == 0) return 0;
    in->n--;
    return *in->at++ % most;
}

/* Takes what stands before the next byte `mark`, or all that is left. */
static inline struct input piece(struct input *in, int mark)
{
    const uint8_t *end = in->n > 0 ? memchr(in->at, mark, in->n) : NULL;
    struct input head = {in->at, end ? (size_t)(end - in->at) : in->n};
    in->at += head.n + (end != NULL);
    in->n -= head.n + (end != NULL);
    return head;
}

static inline const char *text_of(struct input in)
{
    return printed("%.*s", (int)in.n, (const char *)in.at);
}

/* Makes an empty file, and the directories above it. */
static inline int make_file(char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (char *c = path + strlen(scratch) + 1; fd < 0 && (c = strchr(c, '/')); *c++ = '/') {
        *c = '\0';
        mkdir(path, 0777);
    }
    return fd >= 0 ? fd : open(path, O_WRONLY | O_CREAT, 0666);
}

/* The file, which stays open from one input to the next: to make it anew would take longer
 * than much of what is tested. It is made anew where it was removed or replaced. */
static inline int kept_file(const char *name, char *path, off_t *size)
{
    static struct {
        const char *name; /* a literal */
        int fd;
    } kept[64];
    static int n;
    int i = 0;
    while (i < n && strcmp(kept[i].name, name) != 0) i++;
    struct stat info;
    *size = 0;
    if (i < n && fstat(kept[i].fd, &info) == 0 && info.st_nlink > 0) {
        *size = info.st_size;
        return kept[i].fd;
    }
    if (i < n) close(kept[i].fd);
    if (i == n) n++;
    weft_check(n <= WEFT_COUNT(kept), "%d files", n);
    kept[i].name = name;
    kept[i].fd = make_file(path);
    return kept[i].fd;
}

/* Makes a file of these bytes. */
static inline const char *fuzz_file(const char *name, struct input in)
{
    char *path = printed("%s/%s", scratch, name);
    off_t size;
    int fd = kept_file(name, path, &size);
    weft_check(fd >= 0 && (in.n == 0 || pwrite(fd, in.at, in.n, 0) == (ssize_t)in.n) &&
                   (size <= (off_t)in.n || ftruncate(fd, (off_t)in.n) == 0),
               "%s", path);
    return path;
}

/* Files one after the other, a byte 0x1e between two; an empty one is not there. */
static inline void fuzz_files(struct input in, const char *const *name, int n)
{
    for (int i = 0; i < n; i++) {
        struct input file = piece(&in, 0x1e);
        if (file.n > 0)
            fuzz_file(name[i], file);
        else
            unlink(at(name[i]));
    }
}

/* Takes two bytes as a place below n. */
static inline size_t fuzz_place(struct input *in, size_t n)
{
    size_t high = (size_t)pick(in, 256) << 8, low = (size_t)pick(in, 256);
    return n <= 65536 ? (high | low) % n : (high | low) * 37 % n;
}

/* Changes bytes[n]: two bytes of the input say where, modulo n, one which bits. */
static inline void fuzz_change(struct input *in, uint8_t *bytes, size_t n)
{
    while (in->n > 0 && n > 0) {
        size_t place = fuzz_place(in, n);
        bytes[place] = (uint8_t)(bytes[place] ^ pick(in, 256));
    }
}

/* A failure is told in one line that can be printed. */
static inline void fuzz_told(weft_status st)
{
    if (st == WEFT_OK) return;
    const char *text = weft_error();
    weft_check(*text != '\0', "status %d without a message", (int)st);
    for (const char *c = text; *c; c++)
        weft_check((unsigned char)*c >= ' ' && *c != 127, "byte %d in the message: %s", *c,
                   text);
}

#endif

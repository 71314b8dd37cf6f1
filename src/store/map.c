/* Rows of a dataset, used in place. The file is mapped into memory, so that all ranks of a
 * node share what the system has read of it, and rows are taken without a call to HDF5 or
 * to the system: HDF5 is asked once for the place of each piece, whose checksums are then
 * compared. Called for data that are read again and again, in small parts, and for parts
 * that all ranks of a node have, whole.
 *
 * If another program cuts the file short, or the disk cannot read it, access to a page
 * would end the process by a signal: a handler puts a page of zeros there, and
 * weft_h5_sound reports it. */
#include "h5.h"
#include "weft/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE_BYTES (1 << 16) /* of a dataset without chunks */

/* ---- the mapped file ---- */

/* The mapped files, global because a signal handler has no argument for them. */
enum { MAX_VIEWS = 16 };
static struct {
    char *volatile base; /* NULL: free */
    size_t bytes;
    volatile sig_atomic_t lost;
} view[MAX_VIEWS];
static size_t page;    /* bytes; 0: the handler is not there yet */
static int zeros = -1; /* /dev/zero */
static struct sigaction before;

/* Puts a page of zeros in place of a page of a mapped file that cannot be read. */
static void on_lost(int number, siginfo_t *info, void *context)
{
    (void)context;
    char *at = info->si_addr;
    for (int i = 0; i < MAX_VIEWS; i++) {
        if (!view[i].base || at < view[i].base || at >= view[i].base + view[i].bytes)
            continue;
        char *start = at - (uintptr_t)at % page;
        view[i].lost = 1;
        if (mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, zeros, 0) != MAP_FAILED)
            return;
    }
    sigaction(number, &before, NULL); /* the access fails again, without this handler */
}

static void catch_lost(void)
{
    if (page > 0) return;
    struct sigaction action = {.sa_sigaction = on_lost, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    page = (size_t)sysconf(_SC_PAGESIZE);
    sigaction(SIGBUS, &action, &before);
}

/* Maps the sealed bytes of the file, once. 0, or the errno. */
static int map_file(weft_h5 *file)
{
    if (file->view >= 0) return 0;
    int i = 0;
    while (i < MAX_VIEWS && view[i].base) i++;
    if (i == MAX_VIEWS) return EMFILE;
    catch_lost();
    void *base =
        mmap(NULL, (size_t)file->io->seal->bytes, PROT_READ, MAP_SHARED, file->io->fd, 0);
    if (base == MAP_FAILED) return errno;
    view[i].bytes = (size_t)file->io->seal->bytes;
    view[i].lost = 0;
    view[i].base = base;
    file->view = i;
    return 0;
}

void weft_h5_unmap(weft_h5 *file)
{
    if (file->view < 0) return;
    munmap(view[file->view].base, view[file->view].bytes);
    view[file->view].base = NULL;
    file->view = -1;
}

weft_status weft_h5_view_sound(const weft_h5 *file)
{
    if (file->view < 0 || !view[file->view].lost) return WEFT_OK;
    return weft_fail(
        WEFT_EFILE,
        "%s was cut short, or could not be read, while it was in use; make the "
        "file again, or check the file system",
        file->path);
}

/* The system lists each mapping, "from-to ...", with its sizes below, "Rss: 12 kB". */
double weft_h5_mapped(void)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    double sum = 0;
    char line[256];
    int own = 0;
    while (file && fgets(line, sizeof line, file)) {
        uintptr_t from, to;
        long kilobytes;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            for (int i = own = 0; i < MAX_VIEWS; i++)
                own |= view[i].base && from >= (uintptr_t)view[i].base &&
                       from < (uintptr_t)view[i].base + view[i].bytes;
        if (own && sscanf(line, "Rss: %ld", &kilobytes) == 1)
            sum += 1024 * (double)kilobytes;
    }
    if (file) fclose(file);
    return sum;
}

/* Bytes of the mapped file, compared with their checksums; *out stays where the file is
 * shorter. */
static weft_status see_bytes(const weft_h5 *file, int64_t at, int64_t bytes,
                             const char **out)
{
    if (at > file->io->seal->bytes - bytes) return WEFT_OK;
    int good = weft_seal_check(file->io->seal, view[file->view].base, at, bytes);
    TRY(weft_h5_view_sound(file));
    if (!good) return weft_seal_fail(file->io->seal);
    *out = view[file->view].base + at;
    return WEFT_OK;
}

/* ---- places of pieces ---- */

/* Rows of a piece; 0 if pieces cannot be used in the mapped file: numbers of another type,
 * or filters. */
static int64_t rows_of_piece(const weft_h5map *map)
{
    hid_t list = H5Dget_create_plist(map->set.set), own = H5Dget_type(map->set.set);
    const H5D_layout_t layout = H5Pget_layout(list);
    hsize_t chunk[WEFT_H5_DIMS] = {0};
    int64_t rows = 0;
    if (H5Tequal(own, weft_h5_type(map->type)) > 0 && H5Pget_nfilters(list) == 0) {
        if (layout == H5D_CONTIGUOUS)
            rows = map->row < PIECE_BYTES ? (int64_t)(PIECE_BYTES / map->row) : 1;
        else if (layout == H5D_CHUNKED &&
                 H5Pget_chunk(list, WEFT_H5_DIMS, chunk) == map->set.nd)
            rows = (int64_t)chunk[0];
        for (int i = 1; i < map->set.nd && layout == H5D_CHUNKED; i++)
            if ((int64_t)chunk[i] != map->set.dims[i]) rows = 0;
    }
    weft_h5_drop(own);
    weft_h5_drop(list);
    return rows;
}

weft_status weft_h5_map_open(weft_h5map *map, weft_h5 *file, const char *name,
                             weft_h5type type, weft_h5_check check, const void *self)
{
    *map = (weft_h5map){.type = type, .check = check, .self = self};
    TRY(weft_h5_set_open(&map->set, file, name));
    map->row = weft_h5_size(type);
    for (int i = 1; i < map->set.nd; i++) map->row *= (size_t)map->set.dims[i];
    if (map->row == 0) {
        weft_h5_set_close(&map->set);
        return weft_fail(WEFT_EFILE, "%s of %s has rows of no numbers; make the file again",
                         name, file->path);
    }
    map->per = rows_of_piece(map);
    map->seen = map->per > 0 && file->io->seal && file->io->seal->bytes > 0;
    if (map->seen) {
        int err = map_file(file);
        if (err != 0)
            weft_log(WEFT_WARN,
                     "%s cannot be mapped into memory (%s), so each rank keeps what it "
                     "reads of it",
                     file->path, strerror(err));
        map->seen = err == 0;
    }
    if (map->per == 0)
        map->per = map->row < PIECE_BYTES ? (int64_t)(PIECE_BYTES / map->row) : 1;
    map->own = weft_arena_new();
    map->at = WEFT_NEW(map->own, const char *, map->set.dims[0] / map->per + 1);
    return WEFT_OK;
}

void weft_h5_map_close(weft_h5map *map)
{
    weft_h5_set_close(&map->set);
    weft_arena_free(map->own);
    map->own = NULL;
}

/* Offset of the first row in the file; -1: the rows are not one after the other there. */
static int64_t place_of_all(const weft_h5map *map)
{
    haddr_t whole = H5Dget_offset(map->set.set);
    int usable = whole != HADDR_UNDEF && rows_of_piece(map) > 0;
    return usable && whole % weft_h5_size(map->type) == 0 ? (int64_t)whole : -1;
}

weft_status weft_h5_map_part(weft_h5 *file, const char *name, weft_h5type type,
                             int64_t first, int64_t count, const void **rows)
{
    weft_h5map map = {.type = type};
    *rows = NULL;
    if (!file->io->seal || file->io->seal->bytes == 0 || first < 0 || count < 1)
        return WEFT_OK;
    TRY(weft_h5_set_open(&map.set, file, name));
    map.row = weft_h5_size(type);
    for (int i = 1; i < map.set.nd; i++) map.row *= (size_t)map.set.dims[i];
    int64_t at = map.row > 0 ? place_of_all(&map) : -1, n = map.set.dims[0];
    weft_h5_set_close(&map.set);
    if (at < 0 || first > n - count || map_file(file) != 0) return WEFT_OK;
    at += first * (int64_t)map.row;
    int64_t bytes = count * (int64_t)map.row;
    const char *seen = NULL;
    TRY(see_bytes(file, at, bytes, &seen));
    *rows = seen;
    return WEFT_OK;
}

static int64_t rows_in(const weft_h5map *map, int64_t piece)
{
    int64_t left = map->set.dims[0] - piece * map->per;
    return left < map->per ? left : map->per;
}

/* The place from which seal.c read a row for HDF5, -1 if it did not read it in one piece;
 * HDF5 (1.10) looks through all chunks when it is asked for the place of one. */
static weft_status place_of_row(const weft_h5map *map, int64_t row, int64_t *at)
{
    weft_h5 *file = map->set.file;
    WEFT_SCRATCH(tmp);
    file->io->raw_at = -1;
    file->io->raw = 0;
    weft_status st =
        weft_h5_set_rows(&map->set, map->type, row, 1, weft_arena_alloc(tmp, 1, map->row));
    *at = file->io->raw == map->row ? file->io->raw_at : -1;
    return st;
}

/* Offset of a piece in the file; -1: it has none. */
static weft_status place_of(const weft_h5map *map, int64_t piece, int64_t *at)
{
    haddr_t whole = H5Dget_offset(map->set.set);
    int64_t first = piece * map->per, last = first + rows_in(map, piece) - 1;
    int64_t end;
    *at = (int64_t)whole + first * (int64_t)map->row;
    if (whole != HADDR_UNDEF) return WEFT_OK;
    TRY(place_of_row(map, first, at));
    TRY(place_of_row(map, last, &end));
    if (end != *at + (last - first) * (int64_t)map->row) *at = -1;
    return WEFT_OK;
}

/* The piece in the mapped file, compared with its checksums; NULL: it cannot be used there,
 * for instance because its numbers are not aligned. */
static weft_status see(const weft_h5map *map, int64_t piece, const char **out)
{
    weft_h5 *file = map->set.file;
    int64_t bytes = rows_in(map, piece) * (int64_t)map->row;
    int64_t at;
    *out = NULL;
    TRY(place_of(map, piece, &at));
    if (at < 0 || at % (int64_t)weft_h5_size(map->type) != 0) return WEFT_OK;
    return see_bytes(file, at, bytes, out);
}

/* Sets map->at[piece]. */
static weft_status look_up(const weft_h5map *map, int64_t piece)
{
    int64_t first = piece * map->per, n = rows_in(map, piece);
    const char *data = NULL;
    if (map->seen) TRY(see(map, piece, &data));
    if (!data) {
        char *copy = weft_arena_alloc(map->own, (size_t)n, map->row);
        TRY(weft_h5_set_rows(&map->set, map->type, first, n, copy));
        data = copy;
    }
    if (map->check) TRY(map->check(map->self, first, n, data));
    map->at[piece] = data;
    return WEFT_OK;
}

weft_status weft_h5_map_rows(const weft_h5map *map, int64_t first, int64_t count,
                             const void **rows, weft_arena *mem)
{
    if (first < 0 || count < 0 || first > map->set.dims[0] - count)
        return weft_h5_no_rows(&map->set, first, count);
    *rows = NULL;
    if (count == 0) return WEFT_OK;
    int64_t piece = first / map->per, last = (first + count - 1) / map->per;
    size_t whole = (size_t)map->per * map->row;
    int straight = 1; /* the pieces follow each other in memory */
    for (int64_t i = piece; i <= last; i++) {
        if (!map->at[i]) TRY(look_up(map, i));
        straight &= i == piece || map->at[i] == map->at[i - 1] + whole;
    }
    size_t skip = (size_t)(first - piece * map->per) * map->row;
    *rows = map->at[piece] + skip;
    if (straight) return WEFT_OK;
    char *copy = weft_arena_alloc(mem, (size_t)count, map->row), *to = copy;
    size_t left = (size_t)count * map->row, in = skip;
    for (int64_t i = piece; i <= last; i++, in = 0) {
        size_t n = whole - in < left ? whole - in : left;
        memcpy(to, map->at[i] + in, n);
        to += n;
        left -= n;
    }
    *rows = copy;
    return WEFT_OK;
}

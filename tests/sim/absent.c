/* What a simulated run is without: HDF5, ScaLAPACK and the readers of data. A run file is
 * written as text to stdout, a line for each number or short list of numbers: "name value
 * ...". Linked into weft-sim in place of src/store/h5.c and its like. */
#include "data/data.h"
#include "weft/data/data.h"
#include "weft/pack/pack.h"
#include "weft/registry.h"
#include "weft/store/h5.h"

#include <stdio.h>

enum { SHOWN = 65536 }; /* numbers of a dataset, at most */

static void absent(const char *what)
{
    weft_die("%s: a simulated run has no HDF5 and no ScaLAPACK", what);
}

#define READER(n) const weft_reader weft_reader_##n = {.kind = {.name = #n}};
WEFT_READERS(READER)

/* ---- a run file --------------------------------------------------------------------- */

weft_status weft_h5_create(weft_h5 *file, const char *path, weft_arena *mem)
{
    *file = (weft_h5){.path = weft_arena_text(mem, "%s", path), .mem = mem};
    return WEFT_OK;
}

/* The directory of a simulated run is new. */
weft_status weft_h5_replace(const char *path, const char *format, int force)
{
    (void)path, (void)format, (void)force;
    return WEFT_OK;
}

weft_status weft_h5_commit(weft_h5 *file)
{
    (void)file;
    fflush(stdout);
    return WEFT_OK;
}

void weft_h5_close(weft_h5 *file)
{
    (void)file;
}

weft_status weft_h5_put(weft_h5 *file, const char *name, weft_h5type type, int nd,
                        const int64_t *dims, const void *data, int packed,
                        const char *about, const char *unit)
{
    int64_t n = 1;
    for (int i = 0; i < nd; i++) n *= dims[i];
    (void)file, (void)packed, (void)about, (void)unit;
    if (n > SHOWN || (type != WEFT_H5_F64 && type != WEFT_H5_I64)) return WEFT_OK;
    const double *x = data;
    const int64_t *k = data;
    printf("%s", name);
    for (int64_t i = 0; i < n; i++)
        if (type == WEFT_H5_F64)
            printf(" %.9g", x[i]);
        else
            printf(" %lld", (long long)k[i]);
    printf("\n");
    return WEFT_OK;
}

weft_status weft_h5_put_texts(weft_h5 *file, const char *name, const char *const *text,
                              int64_t n, const char *about)
{
    (void)file, (void)name, (void)text, (void)n, (void)about;
    return WEFT_OK;
}

weft_status weft_h5_put_attr(weft_h5 *file, const char *name, const char *key,
                             const char *text)
{
    (void)file, (void)name, (void)key, (void)text;
    return WEFT_OK;
}

weft_status weft_h5_put_num(weft_h5 *file, const char *name, const char *key, double x)
{
    (void)file;
    printf("%s@%s %.9g\n", name, key, x);
    return WEFT_OK;
}

weft_status weft_h5_put_long(weft_h5 *file, const char *name, const char *key, int64_t x)
{
    (void)file;
    printf("%s@%s %lld\n", name, key, (long long)x);
    return WEFT_OK;
}

double weft_h5_mapped(void)
{
    return 0;
}

/* ---- what is never called ----------------------------------------------------------- */

#define ABSENT(name, ...)                                                                  \
    weft_status name(__VA_ARGS__)                                                          \
    {                                                                                      \
        absent(#name);                                                                     \
        return WEFT_OK;                                                                    \
    }
#define UNUSED __attribute__((unused))

ABSENT(weft_h5_open, UNUSED weft_h5 *f, UNUSED const char *path, UNUSED weft_arena *mem)
ABSENT(weft_h5_sealed, UNUSED const weft_h5 *f)
ABSENT(weft_h5_sound, UNUSED const weft_h5 *f)
ABSENT(weft_h5_verify, UNUSED weft_h5 *f)
ABSENT(weft_h5_shape, UNUSED weft_h5 *f, UNUSED const char *name, UNUSED int *nd,
       UNUSED int64_t *dims)
ABSENT(weft_h5_length, UNUSED weft_h5 *f, UNUSED const char *name, UNUSED int64_t *n)
ABSENT(weft_h5_read_rows, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED weft_h5type type, UNUSED int64_t width, UNUSED int64_t first,
       UNUSED int64_t count, UNUSED void *data)
ABSENT(weft_h5_read_all, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED weft_h5type type, UNUSED int64_t width, UNUSED void **rows, UNUSED int64_t *n)
ABSENT(weft_h5_map_part, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED weft_h5type type, UNUSED int64_t first, UNUSED int64_t n,
       UNUSED const void **rows)
ABSENT(weft_h5_read_texts, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED const char ***text, UNUSED int64_t *n)
ABSENT(weft_h5_read_attr, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED const char *key, UNUSED const char **text)
ABSENT(weft_h5_read_num, UNUSED weft_h5 *f, UNUSED const char *name, UNUSED const char *key,
       UNUSED double *x)
ABSENT(weft_h5_read_long, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED const char *key, UNUSED int64_t *x)
ABSENT(weft_h5_set_open, UNUSED weft_h5set *s, UNUSED weft_h5 *f, UNUSED const char *name)
ABSENT(weft_h5_set_rows, UNUSED const weft_h5set *s, UNUSED weft_h5type type,
       UNUSED int64_t first, UNUSED int64_t count, UNUSED void *data)
ABSENT(weft_h5_make, UNUSED weft_h5 *f, UNUSED const char *name, UNUSED weft_h5type type,
       UNUSED int nd, UNUSED const int64_t *dims, UNUSED const char *about,
       UNUSED const char *unit)
ABSENT(weft_h5_put_rows, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED weft_h5type type, UNUSED int64_t first, UNUSED int64_t count,
       UNUSED const void *data)
ABSENT(weft_h5_set_text, UNUSED const weft_h5set *s, UNUSED int64_t row,
       UNUSED const char **text, UNUSED weft_arena *mem)
ABSENT(weft_h5_map_open, UNUSED weft_h5map *m, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED weft_h5type type, UNUSED weft_h5_check check, UNUSED const void *self)
ABSENT(weft_h5_map_rows, UNUSED const weft_h5map *m, UNUSED int64_t first,
       UNUSED int64_t count, UNUSED const void **rows, UNUSED weft_arena *mem)

ABSENT(weft_h5_find_attr, UNUSED weft_h5 *f, UNUSED const char *name,
       UNUSED const char *key, UNUSED const char **text)

ABSENT(weft_shifts_read, UNUSED weft_h5 *f, UNUSED const char *group, UNUSED int64_t d,
       UNUSED const double **shift, UNUSED const double **scale)

int weft_h5_has(weft_h5 *file, const char *name)
{
    (void)file;
    absent(name);
    return 0;
}

size_t weft_h5_size(weft_h5type type)
{
    (void)type;
    absent("weft_h5_size");
    return 0;
}

void weft_h5_set_close(weft_h5set *set)
{
    (void)set;
}

void weft_h5_map_close(weft_h5map *map)
{
    (void)map;
}

double weft_grid_bytes(int64_t n, int size)
{
    (void)n, (void)size;
    absent("weft_grid_bytes");
    return 0;
}

weft_grid *weft_grid_factor(weft_team *team, int64_t n, weft_block_fn panel, void *ctx,
                            weft_arena *mem, int64_t *minor)
{
    (void)team, (void)n, (void)panel, (void)ctx, (void)mem, (void)minor;
    absent("weft_grid_factor");
    return NULL;
}

void weft_grid_solve(weft_grid *grid, int c, real *b)
{
    (void)grid, (void)c, (void)b;
    absent("weft_grid_solve");
}

void weft_grid_free(weft_grid *grid)
{
    (void)grid;
}

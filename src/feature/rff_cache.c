/* Products of rows with random matrices that are kept from one request to the next. A
 * search asks for the same rows again and again, each time by other maps, whose products
 * differ only where kernel or view do: a row that meets a random matrix again is not
 * multiplied again while its products are here. Called by rff.c, rff_project.c, rff_view.c.
 */
#include "rff.h"

#include <math.h>

/* A tenth of the memory is left to solvers. Random matrices may take a quarter of what the
 * features and the data leave, if all types need so much; Cauchy entries in the tail, two
 * in a hundred, take 8 bytes more. */
void rff_caches(rff_shared *own)
{
    const weft_rows *part = own->data->part;
    double cell = own->data->form == WEFT_BYTES ? 1 : sizeof(float);
    double columns = (double)own->columns, row = columns * sizeof(int32_t);
    double most = 0, data = 0;
    for (int p = 0; p < WEFT_NPART; p++) {
        most = fmax(most, (double)part[p].n);
        data += cell * (double)(part[p].n * part[p].d);
    }
    double room = fmax(0.9 * own->memory - data - most * (columns + 64), 0);
    double entry = cell > 1 ? sizeof(real) : 1.2;
    own->pool_size = (size_t)fmin(room / 4, 2 * RFF_VIEWS * entry * own->d * columns + 1e6);
    own->pool = weft_arena_alloc(own->mem, 1, own->pool_size);
    own->kept = (double)own->pool_size;
    room -= own->kept;
    double all = fmax((double)(part[WEFT_TRAIN].n + part[WEFT_VALID].n), 1);
    int slots = (int)fmax(1, fmin(floor(room / (all * row)), 2 * RFF_VIEWS));
    for (int p = WEFT_TRAIN; p <= WEFT_VALID; p++) {
        rff_cache *kept = &own->cache[p];
        kept->rows = (int64_t)fmin(room / row, (double)part[p].n);
        kept->room = own->columns;
        kept->slots = slots;
        int64_t cells = kept->rows * slots;
        kept->type = WEFT_NEW(own->mem, uint8_t, cells);
        kept->filled = WEFT_NEW(own->mem, int64_t, cells);
        kept->product =
            weft_arena_alloc(own->mem, (size_t)(cells * kept->room), sizeof(int32_t));
        own->kept += (double)cells * row;
        room -= (double)cells * row;
    }
}

void rff_forget(rff_shared *own)
{
    own->blocks = NULL;
    own->pool_used = 0;
    for (int part = 0; part < WEFT_NPART; part++) {
        const rff_cache *kept = &own->cache[part];
        for (int64_t i = 0; i < kept->rows * kept->slots; i++) kept->filled[i] = 0;
    }
}

/* Where the products of a row are that is kept, in units of a slot. */
static int64_t slot_of(const rff_matrix *m, int64_t row)
{
    const rff_cache *kept = &m->own->cache[m->part];
    return row * kept->slots + m->own->order[m->type[row]] % kept->slots;
}

void *rff_place(const rff_matrix *m, int64_t row, int64_t j0)
{
    const rff_cache *kept = &m->own->cache[m->part];
    if (row >= kept->rows) return NULL;
    int64_t at = slot_of(m, row) * kept->room + j0;
    return (char *)kept->product + (size_t)at * sizeof(int32_t);
}

int rff_is_there(const rff_matrix *m, int64_t row)
{
    const rff_cache *kept = &m->own->cache[m->part];
    if (row >= kept->rows) return 0;
    int64_t at = slot_of(m, row);
    return kept->type[at] == m->type[row] && kept->filled[at] >= m->d;
}

void rff_note_made(const rff_matrix *m, int64_t i0, int64_t i1)
{
    const rff_cache *kept = &m->own->cache[m->part];
    for (int64_t i = i0; i < i1 && i < kept->rows; i++) {
        int64_t at = slot_of(m, i);
        if (kept->type[at] != m->type[i] || kept->filled[at] < m->d)
            kept->filled[at] = m->d;
        kept->type[at] = m->type[i];
    }
}

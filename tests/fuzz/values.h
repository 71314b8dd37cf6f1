/* Fuzz targets: packed data and run files in which values and names were changed and the
 * checksums made anew, as if another program had written them so: weft refuses what it
 * cannot use by one line. HDF5's own structures stay as they are: HDF5 (1.10) crashes on
 * wrong ones, which checksums keep from it. */
#ifndef WEFT_FUZZ_VALUES_H
#define WEFT_FUZZ_VALUES_H

#include "files.h"
#include "weft/report/report.h"

#include <ctype.h>
#include <hdf5.h>

/* Bytes of a file that may be changed. */
struct places {
    const struct whole *w;
    uint8_t *may; /* [w->body] 1: it may */
    size_t *at;   /* [n] those that may */
    size_t n;
};

static void let(struct places *places, size_t from, size_t n)
{
    for (size_t i = from; i < from + n && i < places->w->body; i++) places->may[i] = 1;
}

/* Names, and texts: wherever four letters follow one another. */
static void let_texts(struct places *places)
{
    for (size_t i = 0, n = 0; i < places->w->body; i++) {
        n = isprint(places->w->at[i]) ? n + 1 : 0;
        if (n >= 4) let(places, i + 1 - n, n);
    }
}

/* A number of an attribute stands up to 96 bytes behind its name. */
static herr_t let_number(hid_t object, const char *name, const H5A_info_t *info, void *to)
{
    enum { FAR = 96, SIZE = 8 };
    (void)info;
    struct places *places = to;
    char value[SIZE] = {0};
    hid_t attr = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attr);
    if (H5Tget_class(type) != H5T_STRING && H5Tget_size(type) == SIZE &&
        H5Aread(attr, type, value) >= 0)
        for (size_t i = 0; i + strlen(name) + FAR < places->w->body; i++)
            if (strcmp((const char *)places->w->at + i, name) == 0)
                for (size_t k = i + strlen(name); k < i + FAR; k++)
                    if (memcmp(places->w->at + k, value, SIZE) == 0) let(places, k, SIZE);
    H5Tclose(type);
    H5Aclose(attr);
    return 0;
}

static void let_rows(struct places *places, hid_t set)
{
    haddr_t all = H5Dget_offset(set);
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hsize_t chunks = 0;
    if (H5Tget_class(type) == H5T_STRING) { /* places of texts, which HDF5 believes */
    } else if (all != HADDR_UNDEF) {
        let(places, (size_t)all, (size_t)H5Dget_storage_size(set));
    } else if (H5Dget_num_chunks(set, space, &chunks) >= 0) {
        for (hsize_t i = 0; i < chunks; i++) {
            hsize_t first[WEFT_H5_DIMS], bytes;
            haddr_t at;
            if (H5Dget_chunk_info(set, space, i, first, NULL, &at, &bytes) >= 0)
                let(places, (size_t)at, (size_t)bytes);
        }
    }
    H5Sclose(space);
    H5Tclose(type);
}

static herr_t let_object(hid_t group, const char *name, const H5L_info_t *info, void *to)
{
    (void)info;
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, let_number, to);
    if (H5Iget_type(object) == H5I_DATASET) let_rows(to, object);
    H5Oclose(object);
    return 0;
}

static struct places find_places(const struct whole *whole)
{
    struct places places = {.w = whole,
                            .may = calloc(whole->body, 1),
                            .at = calloc(whole->body, sizeof *places.at)};
    weft_h5 file;
    must(weft_h5_open(&file, at(whole->name), mem));
    let_texts(&places);
    let_object(file.file, "/", NULL, &places);
    H5Lvisit(file.file, H5_INDEX_NAME, H5_ITER_NATIVE, let_object, &places);
    weft_h5_close(&file);
    for (size_t i = 0; i < whole->body; i++)
        if (places.may[i]) places.at[places.n++] = i;
    return places;
}

/* What is printed is not looked at. Returns where it went, for the next call. */
static int print_to(int out)
{
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    dup2(out, STDOUT_FILENO);
    close(out);
    return before;
}

/* A report takes most of the time, so it is of one form or the other. */
static void read_all_of(int which, const char *path, int form)
{
    uint64_t sum;
    weft_winner winner;
    fuzz_told(wholes[which].read(path, &sum));
    int out = print_to(open("/dev/null", O_WRONLY));
    fuzz_told(weft_info(path));
    if (which == SEARCHED) {
        fuzz_told(weft_winner_read(&winner, path, mem));
        weft_winner_close(&winner);
        for (int trials = 0; trials < 2; trials++)
            fuzz_told(weft_report(&path, 1, form ? WEFT_CSV : WEFT_JSON, trials));
    }
    close(print_to(out));
}

static void run_values(int which, struct input in)
{
    static struct places all[WEFT_COUNT(wholes)];
    if (!wholes[0].at) make_wholes();
    const struct whole *whole = &wholes[which];
    struct places *places = &all[which];
    if (!places->w) *places = find_places(whole);
    uint8_t *bytes = WEFT_NEW(mem, uint8_t, whole->body);
    int form = in.n % 2;
    memcpy(bytes, whole->at, whole->body);
    while (in.n > 0) {
        size_t place = places->at[fuzz_place(&in, places->n)];
        bytes[place] = (uint8_t)(bytes[place] ^ pick(&in, 256));
    }
    const char *path = fuzz_file("values.h5", (struct input){bytes, whole->body});
    weft_check(weft_seal_append(path) == 0, "%s", path);
    read_all_of(which, path, form);
}

/* The two targets of a file. */
#define TARGETS(name, which)                                                               \
    static void run_h5_##name(struct input in)                                             \
    {                                                                                      \
        run_file(which, in);                                                               \
    }                                                                                      \
    static void run_##name##_values(struct input in)                                       \
    {                                                                                      \
        run_values(which, in);                                                             \
    }
TARGETS(images, IMAGES)
TARGETS(documents, DOCUMENTS)
TARGETS(federation, FEDERATION)
TARGETS(sentences, SENTENCES)
TARGETS(run, SEARCHED)

#endif

/* HDF5 files, datasets and lists of texts. A file is written under a temporary name and
 * renamed when complete; HDF5's own error report is replaced by a message of one line. */
#include "h5.h"
#include "file.h"
#include "weft/store/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES (1 << 20)
#define GROW_BYTES  (1 << 16) /* chunks of what grows: the last one is partly empty */
#define DEFLATE     1
#define ALIGNED     1024 /* data of so many bytes begin at multiples of ALIGN */
#define ALIGN       64

/* Layout of a dataset in the file. */
typedef enum layout { WHOLE, PACKED, GROWING } layout;

/* ---- files ---- */

/* Access to a file that is not being changed: no locks, which network file systems may
 * lack, and no handle survives the file. */
static hid_t access_list(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    weft_check(list >= 0, "HDF5 does not start");
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    H5Pset_file_locking(list, 0, 1);
    return list;
}

static weft_h5 closed(const char *path, weft_arena *mem)
{
    return (weft_h5){.file = -1,
                     .view = -1,
                     .path = weft_arena_text(mem, "%s", path),
                     .io = WEFT_NEW(mem, weft_h5io, 1),
                     .mem = mem};
}

static weft_status open_once(weft_h5 *file, const char *path, weft_arena *mem)
{
    *file = closed(path, mem);
    struct stat info;
    if (stat(path, &info) != 0) return weft_file_fail("open", path, errno);
    if (S_ISDIR(info.st_mode)) return weft_file_fail("open", path, EISDIR);
    if (access(path, R_OK) != 0) return weft_file_fail("open", path, errno);
    TRY(weft_seal_open(path, &file->io->seal, mem));
    hid_t list = access_list();
    weft_h5_driver(list, file->io);
    weft_status st = WEFT_OK;
    if (H5Fis_hdf5(path) == 0) {
        st = weft_fail(WEFT_EFILE,
                       "%s is not an HDF5 file (%lld bytes); check the name, or make "
                       "the file again",
                       path, (long long)info.st_size);
    } else {
        file->file = H5Fopen(path, H5F_ACC_RDONLY, list);
        if (file->file < 0) st = weft_h5_fail(file, "open", "");
    }
    weft_h5_drop(list);
    if (file->io->seal) close(file->io->seal->fd);
    return st;
}

/* A file that is replaced between the two looks at it, as that of a run which is made
 * longer, is opened again. */
weft_status weft_h5_open(weft_h5 *file, const char *path, weft_arena *mem)
{
    weft_status st = open_once(file, path, mem);
    while (file->io->replaced) {
        weft_h5_close(file);
        st = open_once(file, path, mem);
    }
    return st;
}

/* What is in a file, for a message: its format, or "" for one that weft did not write. */
static const char *format_of(const char *path, weft_arena *mem)
{
    const char *format = "";
    struct stat info;
    weft_h5 file;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return "";
    weft_status st = weft_h5_open(&file, path, mem);
    if (st == WEFT_OK) st = weft_h5_find_attr(&file, "/", "format", &format);
    weft_h5_close(&file);
    return st == WEFT_OK ? format : "";
}

weft_status weft_h5_replace(const char *path, const char *format, int force)
{
    TRY(weft_file_name(path));
    struct stat info;
    if (lstat(path, &info) != 0) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    const char *found = format_of(path, tmp);
    const int kind = (int)strcspn(format, "0123456789") - 1; /* "weft run 2": "weft run" */
    weft_status st = WEFT_OK;
    if (strncmp(found, format, (size_t)kind) != 0)
        st =
            weft_fail(WEFT_EFILE,
                      "%s exists and is not replaced by a file of format \"%.*s\", being "
                      "%s%s%s; choose another name by -o, or move it away",
                      path, kind, format, *found ? "of format \"" : "no whole file of weft",
                      found, *found ? "\"" : "");
    else if (!force)
        st = weft_fail(WEFT_EFILE,
                       "%s exists; choose another name by -o, or replace it by --force",
                       path);
    return st;
}

weft_status weft_h5_create(weft_h5 *file, const char *path, weft_arena *mem)
{
    *file = closed(path, mem);
    TRY(weft_file_name(path));
    weft_file_sweep(path, 0);
    file->temp = weft_file_temp(path, mem);
    hid_t list = access_list();
    H5Pset_alignment(list, ALIGNED,
                     ALIGN); /* so that they can be used in the mapped file */
    weft_h5_driver(list, file->io);
    file->file = H5Fcreate(file->temp, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    weft_status st = file->file < 0 ? weft_h5_fail(file, "write", "") : WEFT_OK;
    weft_h5_drop(list);
    return st;
}

weft_status weft_h5_commit(weft_h5 *file)
{
    if (H5Fflush(file->file, H5F_SCOPE_GLOBAL) < 0 || H5Fclose(file->file) < 0 ||
        file->io->error != 0) {
        weft_status st = weft_h5_fail(file, "write", "");
        weft_h5_close(file);
        return st;
    }
    file->file = -1;
    int err = weft_seal_append(file->temp);
    if (err == 0) return weft_file_publish(file->temp, file->path);
    unlink(file->temp);
    return weft_file_fail("write", file->path, err);
}

void weft_h5_close(weft_h5 *file)
{
    int begun = file->file >= 0;
    if (begun) weft_h5_unmap(file);
    if (begun && H5Iis_valid(file->file) > 0) H5Fclose(file->file);
    if (begun && file->temp != NULL) unlink(file->temp);
    file->file = -1;
}

/* ---- checksums ---- */

weft_status weft_h5_sealed(const weft_h5 *file)
{
    if (file->io->seal != NULL) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s has no checksums, having been changed by "
                     "another program; make it again",
                     file->path);
}

weft_status weft_h5_sound(const weft_h5 *file)
{
    if (file->io == NULL) return WEFT_OK; /* it was never opened */
    TRY(weft_h5_view_sound(file));
    return file->io->seal != NULL && file->io->seal->bad >= 0
               ? weft_seal_fail(file->io->seal)
               : WEFT_OK;
}

weft_status weft_h5_verify(weft_h5 *file)
{
    if (file->io->seal == NULL)
        weft_log(WEFT_WARN,
                 "%s has no checksums, having been changed by another "
                 "program: damage to it would not be seen",
                 file->path);
    if (file->io->seal == NULL) return WEFT_OK;
    int err = weft_seal_verify(file->io->seal, file->io->fd);
    TRY(weft_h5_sound(file));
    return err == 0 ? WEFT_OK : weft_file_fail("read", file->path, err);
}

/* ---- writing datasets ---- */

/* Chunks of about CHUNK_BYTES, cut from the slowest dimension on, shuffled and deflated. */
static void compress(hid_t list, int nd, const hsize_t *dims, size_t size)
{
    hsize_t chunk[WEFT_H5_DIMS], bytes = size;
    for (int i = 0; i < nd; i++) {
        chunk[i] = dims[i];
        bytes *= dims[i];
    }
    if (bytes == 0) return;
    for (int i = 0; i < nd && bytes > CHUNK_BYTES; i++) {
        hsize_t rest = bytes / chunk[i];
        chunk[i] = rest >= CHUNK_BYTES ? 1 : CHUNK_BYTES / rest;
        bytes = rest * chunk[i];
    }
    H5Pset_chunk(list, nd, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, DEFLATE);
}

/* Chunks of at most GROW_BYTES for rows of dims[1..nd-1]; a power of two of rows. */
static void let_grow(hid_t list, int nd, const hsize_t *dims, size_t size)
{
    hsize_t chunk[WEFT_H5_DIMS], bytes = size;
    for (int i = 1; i < nd; i++) {
        chunk[i] = dims[i];
        bytes *= dims[i];
    }
    for (chunk[0] = 1; 2 * chunk[0] * bytes <= GROW_BYTES;) chunk[0] *= 2;
    H5Pset_chunk(list, nd, chunk);
}

/* Makes a dataset, with the groups above it; gives its handle. */
static weft_status make(const weft_h5 *file, const char *name, hid_t type, int nd,
                        const int64_t *dims, layout lay, hid_t *set)
{
    weft_check(nd >= 1 && nd <= WEFT_H5_DIMS, "dataset %s of %d dimensions", name, nd);
    hsize_t size[WEFT_H5_DIMS] = {0}, most[WEFT_H5_DIMS];
    for (int i = 0; i < nd; i++) most[i] = size[i] = (hsize_t)dims[i];
    if (lay == GROWING) most[0] = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(nd, size, most);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(list, 0); /* equal contents, equal bytes */
    if (lay == PACKED) compress(list, nd, size, H5Tget_size(type));
    if (lay == GROWING) let_grow(list, nd, size, H5Tget_size(type));
    *set = H5Dcreate2(file->file, name, type, space, links, list, H5P_DEFAULT);
    weft_status st = *set < 0 ? weft_h5_fail(file, "write", name) : WEFT_OK;
    weft_h5_drop(list);
    weft_h5_drop(links);
    weft_h5_drop(space);
    return st;
}

/* Writes the whole dataset (nothing if data is NULL), adds its attributes and closes it. */
static weft_status fill(const weft_h5 *file, const char *name, hid_t set, hid_t type,
                        const void *data, const char *about, const char *unit)
{
    weft_status st = weft_h5_text_attr(file, set, "about", about);
    if (st == WEFT_OK) st = weft_h5_text_attr(file, set, "unit", unit);
    if (st == WEFT_OK && data != NULL &&
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        st = weft_h5_fail(file, "write", name);
    if ((weft_h5_drop(set) < 0 || file->io->error != 0) && st == WEFT_OK)
        st = weft_h5_fail(file, "write", name);
    return st;
}

/* Makes, fills, describes and closes a dataset. */
static weft_status put(const weft_h5 *file, const char *name, weft_h5type type, int nd,
                       const int64_t *dims, const void *data, layout lay, const char *about,
                       const char *unit)
{
    hid_t kind = weft_h5_type(type), set;
    TRY(make(file, name, kind, nd, dims, lay, &set));
    return fill(file, name, set, kind, data, about, unit);
}

weft_status weft_h5_put(weft_h5 *file, const char *name, weft_h5type type, int nd,
                        const int64_t *dims, const void *data, int packed,
                        const char *about, const char *unit)
{
    int64_t count = 1;
    for (int i = 0; i < nd; i++) count *= dims[i];
    return put(file, name, type, nd, dims, count > 0 ? data : NULL, packed ? PACKED : WHOLE,
               about, unit);
}

weft_status weft_h5_make(weft_h5 *file, const char *name, weft_h5type type, int nd,
                         const int64_t *dims, const char *about, const char *unit)
{
    return put(file, name, type, nd, dims, NULL, WHOLE, about, unit);
}

weft_status weft_h5_grow(weft_h5 *file, const char *name, weft_h5type type, int64_t width,
                         const char *about, const char *unit)
{
    const int64_t dims[2] = {0, width};
    return put(file, name, type, width > 0 ? 2 : 1, dims, NULL, GROWING, about, unit);
}

weft_status weft_h5_put_texts(weft_h5 *file, const char *name, const char *const *text,
                              int64_t n, const char *about)
{
    return put(file, name, WEFT_H5_TEXT, 1, &n, n > 0 ? text : NULL, WHOLE, about, "text");
}

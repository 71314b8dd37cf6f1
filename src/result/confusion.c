/* The confusion matrix of a winner. */
#include "confusion.h"
#include "weft/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 12, WIDTH = 8 }; /* classes that are printed, at most; a column, at least */

static const char path[] = "/winner/confusion";

weft_status weft_confusion_put(const weft_confusion *confusion, weft_h5 *file)
{
    int64_t dims[] = {confusion->classes, confusion->classes};
    if (confusion->classes == 0) return WEFT_OK;
    return weft_h5_put(file, path, WEFT_H5_F64, 2, dims, confusion->rows, 1,
                       "rows of the test part by their class, and by the class predicted",
                       "rows, or what they count");
}

weft_status weft_confusion_read(weft_confusion *confusion, weft_h5 *file)
{
    *confusion = (weft_confusion){0};
    if (!weft_h5_has(file, path)) return WEFT_OK;
    const char **name;
    int64_t n;
    int nd;
    int64_t dims[WEFT_H5_DIMS] = {0};
    TRY(weft_h5_read_texts(file, "/winner/class", &name, &n));
    TRY(weft_h5_shape(file, path, &nd, dims));
    if (nd != 2 || dims[0] != n || dims[1] != n)
        return weft_fail(WEFT_EFILE, "%s: %s is not of %lld classes; make the file again",
                         file->path, path, (long long)n);
    double *rows = WEFT_NEW(file->mem, double, n *n);
    TRY(weft_h5_read_rows(file, path, WEFT_H5_F64, n, 0, n, rows));
    *confusion = (weft_confusion){n, name, rows};
    return WEFT_OK;
}

const char *weft_confusion_guess(const weft_confusion *confusion, weft_arena *mem)
{
    double right = 0, spread = 0, seen = 0;
    for (int64_t k = 0; k < confusion->classes; k++) {
        const double *row = confusion->rows + k * confusion->classes;
        double n = 0;
        for (int64_t j = 0; j < confusion->classes; j++) n += row[j];
        if (!(n > 0)) continue;
        right += row[k] / n;
        spread += 1 / n;
        seen++;
    }
    double guess = 1 / seen, most = 0.02; /* few rows tell little: that is no guess */
    double chance = 1.96 * sqrt(guess * (1 - guess) * spread) / seen;
    right /= seen;
    if (seen < 2 || right > guess + fmin(chance, most)) return NULL;
    return weft_arena_text(mem,
                           "its balanced error of %.1f %% is not better than that of "
                           "guesses, %.1f %%",
                           100 * (1 - right), 100 * (1 - guess));
}

static int width_of(const char *name)
{
    int n = (int)strlen(name) + 1;
    return n > WIDTH ? n : WIDTH;
}

void weft_confusion_print(const weft_confusion *confusion)
{
    int classes = (int)confusion->classes, widest = 0;
    if (classes == 0 || classes > SHOWN) return;
    weft_arena *tmp = weft_arena_new();
    const char *name[SHOWN];
    for (int k = 0; k < classes; k++) {
        name[k] = weft_one_line(weft_arena_text(tmp, "%s", confusion->name[k]));
        if (width_of(name[k]) > widest) widest = width_of(name[k]);
    }
    printf("\n%-*s the class that is predicted of rows of the test part\n%-*s", widest,
           "class", widest, "");
    for (int k = 0; k < classes; k++) printf(" %*s", width_of(name[k]), name[k]);
    for (int k = 0; k < classes; k++) {
        printf("\n%-*s", widest, name[k]);
        for (int j = 0; j < classes; j++)
            printf(" %*.10g", width_of(name[j]), confusion->rows[k * classes + j]);
    }
    printf("\n");
    weft_arena_free(tmp);
}

/* The classes of the clients of a packed federation: as counts, and as a picture, an SVG
 * with a row for each client, a column for each class, and a bar for the client's samples.
 */
#include "report.h"
#include "weft/base/base.h"
#include "weft/par/par.h"
#include "weft/report/report.h"
#include "weft/store/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBERS (1 << 28) /* approximate number of samples read */
#define LEAST       5         /* clients that are read, at least */

/* ---- counts ---- */

const weft_clients *weft_clients_of(const weft_data *data)
{
    return data->clients ? data->clients : data->owners;
}

/* The client of row i of count. */
static int64_t client_of(const weft_clients *clients, const weft_histograms *histograms,
                         int64_t i)
{
    return i * clients->n / histograms->clients;
}

weft_status weft_histograms_read(const weft_data *data, int64_t most,
                                 weft_histograms *histograms)
{
    const weft_clients *clients = weft_clients_of(data);
    double numbers = (double)data->part[WEFT_TRAIN].total / (double)clients->n;
    if (data->form != WEFT_TOKENS) numbers *= (double)clients->d;
    histograms->clients =
        data->form == WEFT_CHARS ? most : (int64_t)(MAX_NUMBERS / numbers);
    if (histograms->clients < LEAST) histograms->clients = LEAST;
    if (histograms->clients > most) histograms->clients = most;
    if (histograms->clients > clients->n) histograms->clients = clients->n;
    histograms->n = data->classes;
    histograms->count = WEFT_NEW(data->mem, int64_t, histograms->clients * histograms->n);
    histograms->all = WEFT_NEW(data->mem, int64_t, histograms->n);
    for (int64_t i = 0; i < histograms->clients; i++) {
        WEFT_REWIND(data->mem);
        weft_samples samples;
        TRY(weft_client_read(clients, client_of(clients, histograms, i), WEFT_TRAIN,
                             &samples, data->mem));
        for (int64_t j = 0; j < samples.n; j++) {
            int label = samples.label ? samples.label[j]
                                      : samples.text[j * clients->stride + clients->d];
            histograms->count[i * histograms->n + label]++;
            histograms->all[label]++;
        }
    }
    return WEFT_OK;
}

/* ---- the picture ---- */

enum {
    MOST = 200,      /* rows and columns */
    SPAN = 640,      /* pixels, about, of all rows or columns that fit */
    THIN = 3,        /* pixels of a row or column, at least */
    HIGH = 20,       /* of a row, at most */
    WIDE = 48,       /* of a column, at most */
    LETTER = 12,     /* that a line of letters takes */
    LEFT = 130,      /* to the left of the cells: names of clients */
    TOP = 70,        /* above them: the title */
    SLANT = 17,      /* pixels between two names that are slanted */
    FOOT = 62,       /* below these: the legend */
    BAR = 120,       /* the longest bar */
    BAR_NUMBER = 70, /* room for its number */
    LEGEND = 470,    /* what the text of the legend takes */
    NAME = 17        /* letters of a name, at most */
};

struct picture {
    FILE *to;
    const weft_data *data;
    const weft_clients *clients;
    weft_histograms histograms; /* of the clients that are drawn */
    int rows, columns;          /* that are drawn */
    int high, wide;             /* pixels of a cell */
    int width, height;
    int slanted, below; /* 1: names of classes are slanted; pixels that they take */
    int64_t most;       /* samples of a client that is drawn, at least 1 */
};

/* Bytes of the letter at `at`; 0: it is no UTF-8. */
static int picture_letter(const char *at)
{
    unsigned char first = (unsigned char)*at;
    int n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (int i = 1; i < n; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80) return 0;
    return first < 0xf5 ? n : 0;
}

/* Text of at most so many letters as XML has it; letters beyond become an ellipsis, and
 * what is no letter a question mark. */
static void picture_text(FILE *to, const char *text, int letters)
{
    for (int n = 1; *text != '\0'; n++) {
        int bytes = picture_letter(text);
        if (n == letters && text[bytes > 0 ? bytes : 1] != '\0') {
            fputs("&#8230;", to);
            return;
        }
        if (bytes == 0 || (unsigned char)*text < 0x20 || *text == 0x7f)
            fputc('?', to);
        else if (strchr("&<>", *text))
            fputs(*text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;", to);
        else
            fwrite(text, 1, (size_t)bytes, to);
        text += bytes > 0 ? bytes : 1;
    }
}

/* Deepest blue where all samples of a client are of the class; by the root of the share, so
 * that few samples are seen, too. */
static void picture_colour(FILE *to, double share)
{
    double t = sqrt(share);
    fprintf(to, "#%02x%02x%02x", (int)(232 - 224 * t), (int)(240 - 192 * t),
            (int)(250 - 143 * t));
}

static int at_least(int x, int least)
{
    return x > least ? x : least;
}

static int at_most(int x, int most)
{
    return x < most ? x : most;
}

/* Every so many rows or columns of so many pixels have their name. */
static int names_apart(int pixels, int room)
{
    return (room + pixels - 1) / pixels;
}

/* Whether names of classes are slanted, and the room for the longest. */
static void measure_names(struct picture *picture)
{
    int longest = 0;
    for (int k = 0; k < picture->columns; k++)
        longest = at_least(longest, (int)strlen(picture->data->class_name[k]));
    picture->slanted = longest * LETTER / 2 >= picture->wide;
    picture->below = 2 * LETTER + (picture->slanted ? at_most(longest, NAME) * 5 : 0);
}

static void measure(struct picture *picture)
{
    const weft_histograms *histograms = &picture->histograms;
    picture->rows = (int)histograms->clients;
    picture->columns = at_most(histograms->n, MOST);
    picture->high = at_most(at_least(SPAN / picture->rows, THIN), HIGH);
    picture->wide = at_most(at_least(SPAN / picture->columns, THIN), WIDE);
    measure_names(picture);
    picture->width =
        LEFT + at_least(picture->columns * picture->wide + 2 * LETTER + BAR + BAR_NUMBER,
                        LEGEND + 6 * WIDE);
    picture->height = TOP + picture->rows * picture->high + picture->below + FOOT;
    picture->most = 1;
    for (int64_t i = 0; i < histograms->clients; i++) {
        int64_t c = client_of(picture->clients, histograms, i);
        int64_t n = weft_client_count(picture->clients, c, WEFT_TRAIN);
        if (n > picture->most) picture->most = n;
    }
}

/* The cells of row i, of which each says what it shows where a pointer rests on it. */
static void draw_cells(const struct picture *picture, int i, const char *name, int64_t n)
{
    FILE *to = picture->to;
    const int64_t *count = picture->histograms.count + (int64_t)i * picture->histograms.n;
    int y = TOP + i * picture->high, told = picture->wide >= 34 && picture->high >= LETTER;
    for (int k = 0; k < picture->columns; k++) {
        if (count[k] == 0) continue;
        int x = LEFT + k * picture->wide;
        double share = (double)count[k] / (double)n;
        fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"", x, y,
                picture->wide, picture->high);
        picture_colour(to, share);
        fputs("\"><title>client ", to);
        picture_text(to, name, INT32_MAX);
        fputs(", class ", to);
        picture_text(to, picture->data->class_name[k], INT32_MAX);
        fprintf(to, ": %lld</title></rect>\n", (long long)count[k]);
        if (told)
            fprintf(to,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%lld"
                    "</text>\n",
                    x + picture->wide / 2, y + picture->high / 2 + 4,
                    share > 0.3 ? "#fff" : "#222", (long long)count[k]);
    }
}

static weft_status draw_row(const struct picture *picture, int i, weft_arena *tmp)
{
    FILE *to = picture->to;
    const char *name;
    int64_t c = client_of(picture->clients, &picture->histograms, i);
    int64_t n = weft_client_count(picture->clients, c, WEFT_TRAIN);
    int y = TOP + i * picture->high, x = LEFT + picture->columns * picture->wide + LETTER;
    int middle = y + picture->high / 2 + 4;
    double bar = BAR * (double)n / (double)picture->most;
    TRY(weft_client_name(picture->clients, c, &name, tmp));
    draw_cells(picture, i, name, n);
    fprintf(to,
            "<rect x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%.1f\" fill=\"#999\">"
            "<title>client ",
            x, y, bar, picture->high > 2 * THIN ? picture->high - 2.0 : picture->high);
    picture_text(to, name, INT32_MAX);
    fprintf(to, ": %lld</title></rect>\n", (long long)n);
    if (i % names_apart(picture->high, LETTER) == 0) {
        fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 6, middle);
        picture_text(to, name, NAME);
        fputs("</text>\n", to);
    }
    if (picture->high >= LETTER)
        fprintf(to, "<text x=\"%.1f\" y=\"%d\">%lld</text>\n", x + bar + 4, middle,
                (long long)n);
    return WEFT_OK;
}

/* Names of classes, below their columns, and what rows and columns are. */
static void draw_names(const struct picture *picture)
{
    FILE *to = picture->to;
    int y = TOP + picture->rows * picture->high + LETTER;
    int apart = picture->slanted ? names_apart(picture->wide, SLANT) : 1;
    for (int k = 0; k < picture->columns; k += apart) {
        int x = LEFT + k * picture->wide + picture->wide / 2;
        if (picture->slanted)
            fprintf(to, "<text transform=\"translate(%d %d) rotate(45)\">", x - 3, y);
        else
            fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x, y + 2);
        picture_text(to, picture->data->class_name[k], NAME);
        fputs("</text>\n", to);
    }
    fprintf(to,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#777\">client</text>\n"
            "<text x=\"%d\" y=\"%d\" fill=\"#777\">class</text>\n"
            "<text x=\"%d\" y=\"%d\" fill=\"#777\">samples</text>\n",
            LEFT - 6, TOP - 6, LEFT, TOP - 6,
            LEFT + picture->columns * picture->wide + LETTER, TOP - 6);
}

static void draw_legend(const struct picture *picture)
{
    static const int share[] = {1, 5, 10, 25, 50, 100};
    FILE *to = picture->to;
    int y = picture->height - FOOT + LETTER;
    fprintf(to,
            "<text x=\"12\" y=\"%d\">colour: share of the class in the training samples of "
            "the client; bars: these samples, at most %lld</text>\n",
            y, (long long)picture->most);
    for (int i = 0; i < 6; i++) {
        int x = 12 + i * 70;
        fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"24\" height=\"12\" fill=\"", x,
                y + 10);
        picture_colour(to, share[i] / 100.0);
        fprintf(to, "\"/><text x=\"%d\" y=\"%d\">%d %%</text>\n", x + 28, y + 20, share[i]);
    }
    if (picture->rows == picture->clients->n && picture->columns == picture->data->classes)
        return;
    fprintf(to, "<text x=\"12\" y=\"%d\">drawn:", y + 40);
    if (picture->rows < picture->clients->n)
        fprintf(to, " %d of %lld clients, evenly spread%s", picture->rows,
                (long long)picture->clients->n,
                picture->columns < picture->data->classes ? ";" : "");
    if (picture->columns < picture->data->classes)
        fprintf(to, " %d of %d classes, the first", picture->columns,
                picture->data->classes);
    fputs("</text>\n", to);
}

/* The title, and the rule by which rows were dealt. */
static weft_status draw_title(const struct picture *picture, weft_h5 *file,
                              const char *path)
{
    FILE *to = picture->to;
    const char *split = "", *base = strrchr(path, '/');
    TRY(weft_h5_find_attr(file, "/", "split", &split));
    const char *dealt = strstr(split, "dealt to ");
    fputs("<text x=\"12\" y=\"26\" font-size=\"16\">", to);
    picture_text(to, base ? base + 1 : path, 4 * NAME);
    fprintf(to, ": %lld clients, %d classes, %lld training samples</text>\n",
            (long long)picture->clients->n, picture->data->classes,
            (long long)picture->clients->size[WEFT_TRAIN].total);
    if (!dealt) return WEFT_OK;
    fputs("<text x=\"12\" y=\"46\">", to);
    picture_text(to, dealt, INT32_MAX);
    fputs("</text>\n", to);
    return WEFT_OK;
}

static weft_status draw(struct picture *picture, weft_h5 *file, const char *path)
{
    FILE *to = picture->to;
    measure(picture);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
            "stroke=\"#bbb\"/>\n",
            picture->width, picture->height, picture->width, picture->height,
            picture->width, picture->height, LEFT, TOP, picture->columns * picture->wide,
            picture->rows * picture->high);
    TRY(draw_title(picture, file, path));
    for (int i = 0; i < picture->rows; i++) {
        WEFT_REWIND(picture->data->mem);
        TRY(draw_row(picture, i, picture->data->mem));
    }
    draw_names(picture);
    draw_legend(picture);
    fputs("</svg>\n", to);
    return WEFT_OK;
}

/* The picture of an open file as text, to be freed: *text[*n]. */
static weft_status picture_make(weft_data *data, const char *path, char **text, size_t *n)
{
    struct picture picture = {.data = data, .clients = weft_clients_of(data)};
    *text = NULL;
    if (!picture.clients || data->classes == 0)
        return weft_fail(WEFT_ECONF,
                         "%s: its rows belong to no clients, whom --plot draws; pack it "
                         "with clients = N",
                         path);
    TRY(weft_histograms_read(data, MOST, &picture.histograms));
    picture.to = open_memstream(text, n);
    weft_check(picture.to != NULL, "out of memory");
    weft_status st = draw(&picture, &data->file, path);
    weft_check(fclose(picture.to) == 0, "out of memory");
    return st == WEFT_OK ? weft_data_sound(data) : st;
}

weft_status weft_picture_check(const char *out, int force)
{
    char begin[5] = "";
    FILE *file = fopen(out, "r");
    if (!file) return WEFT_OK;
    size_t n = fread(begin, 1, 4, file);
    fclose(file);
    if (n < 4 || strcmp(begin, "<svg") != 0)
        return weft_fail(WEFT_EFILE,
                         "%s exists, and is no picture of weft; choose another name", out);
    if (force) return WEFT_OK;
    return weft_fail(WEFT_EFILE, "%s exists already; --force replaces it", out);
}

weft_status weft_picture(const char *path, const char *out)
{
    weft_team self = weft_team_alone();
    WEFT_SCRATCH(mem);
    weft_data data;
    char *text = NULL;
    size_t n = 0;
    weft_status st = weft_data_open(&data, path, &self, mem);
    if (st == WEFT_OK) {
        st = picture_make(&data, path, &text, &n);
        weft_data_close(&data);
    }
    if (st == WEFT_OK) st = weft_file_put(out, text, n);
    free(text);
    return st;
}

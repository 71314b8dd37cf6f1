/* `weft report --csv` and `--json`. */
#include "print.h"
#include "weft/csv.h"

#include <math.h>

/* A fact as it was read; "" and NAN are nothing. */
static weft_cell cell_of(int type, const weft_value *value)
{
    weft_cell cell = {0};
    if (type == TEXT && value->text)
        cell = (weft_cell){.is = WEFT_CELL_TEXT, .text = value->text};
    if (type == WHOLE && value->known)
        cell = (weft_cell){.is = WEFT_CELL_WHOLE, .whole = value->whole};
    if (type == NUMBER && !isnan(value->number))
        cell = (weft_cell){.is = WEFT_CELL_NUMBER, .number = value->number};
    return cell;
}

/* "12 3;4 5": a row for each class. */
static void csv_confusion(const weft_confusion *confusion)
{
    int64_t m = confusion->classes;
    putchar(',');
    for (int64_t i = 0; i < m * m; i++)
        printf("%s%.17g", i == 0 ? "" : i % m == 0 ? ";" : " ", confusion->rows[i]);
}

/* One line per run; numbers in full precision, empty where there is none. */
void weft_report_csv(const weft_summary *summary, int n, const weft_methods *methods,
                     weft_arena *tmp)
{
    const weft_metric *score = weft_summary_scores(summary, n, tmp);
    printf("run,settings");
    for (int c = 0; c < WEFT_NFACT; c++) printf(",%s", weft_facts[c].name);
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; score[c].name; c++)
            printf(",%s_%s", weft_part_name[p], score[c].name);
    printf(",confusion");
    for (int t = 0; t < WEFT_NTIME; t++)
        printf(",%s_min,%s_mean,%s_max", weft_time_names[t], weft_time_names[t],
               weft_time_names[t]);
    printf("\n");
    for (int i = 0; i < n; i++) {
        weft_csv_quote(stdout, summary[i].path);
        putchar(',');
        weft_csv_quote(stdout, weft_methods_settings(methods, i));
        for (int c = 0; c < WEFT_NFACT; c++) {
            putchar(',');
            weft_csv_cell(cell_of(weft_facts[c].type, &summary[i].value[c]));
        }
        for (int p = 0; p < WEFT_NPART; p++)
            for (int c = 0; score[c].name; c++) {
                double x = weft_summary_score(&summary[i], p, score[c].name);
                if (isnan(x))
                    putchar(',');
                else
                    printf(",%.17g", x);
            }
        csv_confusion(&summary[i].confusion);
        for (int t = 0; t < WEFT_NTIME; t++)
            printf(",%.17g,%.17g,%.17g", summary[i].times[t][0], summary[i].times[t][1],
                   summary[i].times[t][2]);
        printf("\n");
    }
}

/* The classes, and an array of rows for each. */
static void json_confusion(yajl_gen g, const weft_confusion *confusion)
{
    int64_t m = confusion->classes;
    if (m == 0) return;
    weft_json_text(g, "classes");
    yajl_gen_array_open(g);
    for (int64_t k = 0; k < m; k++) weft_json_text(g, confusion->name[k]);
    yajl_gen_array_close(g);
    weft_json_text(g, "confusion");
    yajl_gen_array_open(g);
    for (int64_t k = 0; k < m; k++) {
        yajl_gen_array_open(g);
        for (int64_t j = 0; j < m; j++) weft_json_number(g, confusion->rows[k * m + j]);
        yajl_gen_array_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_facts(yajl_gen g, const weft_summary *summary, const char *settings)
{
    weft_json_text(g, "run");
    weft_json_text(g, summary->path);
    weft_json_text(g, "settings");
    weft_json_text(g, settings);
    for (int c = 0; c < WEFT_NFACT; c++) {
        weft_json_text(g, weft_facts[c].name);
        weft_json_cell(g, cell_of(weft_facts[c].type, &summary->value[c]));
    }
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; c < WEFT_MAX_SCORES && summary->scores[c].name; c++) {
            char name[128];
            snprintf(name, sizeof name, "%s_%s", weft_part_name[p],
                     summary->scores[c].name);
            weft_json_text(g, name);
            weft_json_number(g, summary->score[p].metric[c]);
        }
    json_confusion(g, &summary->confusion);
    weft_json_text(g, "times");
    yajl_gen_map_open(g);
    for (int t = 0; t < WEFT_NTIME; t++) {
        weft_json_text(g, weft_time_names[t]);
        yajl_gen_array_open(g);
        for (int i = 0; i < 3; i++) weft_json_number(g, summary->times[t][i]);
        yajl_gen_array_close(g);
    }
    yajl_gen_map_close(g);
}

/* Numbers that a job does not have are null. */
static void json_jobs(yajl_gen g, const weft_jobs *jobs)
{
    const struct {
        const char *name;
        const int64_t *whole;
        const double *number;
    } member[] = {
        {"job", jobs->job, NULL},         {"trial", jobs->trial, NULL},
        {"rounds", jobs->rounds, NULL},   {"resource", NULL, jobs->resource},
        {"loss", NULL, jobs->loss},       {"bound", NULL, jobs->bound},
        {"seconds", NULL, jobs->seconds},
    };
    weft_json_text(g, "jobs_done");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < jobs->n; i++) {
        yajl_gen_map_open(g);
        for (size_t m = 0; m < sizeof member / sizeof *member; m++) {
            weft_json_text(g, member[m].name);
            if (member[m].whole) yajl_gen_integer(g, member[m].whole[i]);
            if (member[m].number) weft_json_number(g, member[m].number[i]);
        }
        for (int m = 0; jobs->metrics[m].name; m++) {
            weft_json_text(g, jobs->metrics[m].name);
            weft_json_number(g, jobs->metric[m][i]);
        }
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_arms(yajl_gen g, const weft_summary *summary)
{
    weft_json_text(g, "arms");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < summary->arms.n; i++) {
        yajl_gen_map_open(g);
        weft_json_text(g, "job");
        yajl_gen_integer(g, summary->arms.job[i]);
        weft_json_text(g, "config");
        yajl_gen_integer(g, summary->arms.config[i]);
        weft_json_text(g, "text");
        weft_json_text(g, weft_summary_config(summary, summary->arms.config[i]));
        weft_json_text(g, "p");
        weft_json_number(g, summary->arms.p[i]);
        weft_json_text(g, "after");
        weft_json_number(g, summary->arms.after[i]);
        weft_json_text(g, "loss");
        weft_json_number(g, summary->arms.loss[i]);
        weft_json_text(g, "error");
        weft_json_number(g, summary->arms.error[i]);
        weft_json_text(g, "count");
        weft_json_number(g, summary->arms.count[i]);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

/* An array with one object a run. */
void weft_report_json(const weft_summary *summary, int n, const weft_methods *methods)
{
    yajl_gen g = weft_json_begin();
    for (int i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        json_facts(g, &summary[i], weft_methods_settings(methods, i));
        json_jobs(g, &summary[i].jobs);
        json_arms(g, &summary[i]);
        yajl_gen_map_close(g);
    }
    weft_json_end(g);
}

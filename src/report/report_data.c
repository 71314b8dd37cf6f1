/* `weft report --csv` and `--json`. */
#include "summary.h"

#include <stdio.h>
#include <yajl/yajl_gen.h>

#include <math.h>
#include <string.h>

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    putchar('"');
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
    for (int t = 0; t < WEFT_NTIME; t++)
        printf(",%s_min,%s_mean,%s_max", weft_time_names[t], weft_time_names[t],
               weft_time_names[t]);
    printf("\n");
    for (int i = 0; i < n; i++) {
        print_quoted(summary[i].path);
        putchar(',');
        print_quoted(weft_methods_settings(methods, i));
        for (int c = 0; c < WEFT_NFACT; c++) {
            const weft_value *v = &summary[i].value[c];
            putchar(',');
            if (weft_facts[c].type == TEXT && v->text) print_quoted(v->text);
            if (weft_facts[c].type == WHOLE && v->known)
                printf("%lld", (long long)v->whole);
            if (weft_facts[c].type == NUMBER && !isnan(v->number))
                printf("%.17g", v->number);
        }
        for (int p = 0; p < WEFT_NPART; p++)
            for (int c = 0; score[c].name; c++) {
                double x = weft_summary_score(&summary[i], p, score[c].name);
                if (isnan(x))
                    putchar(',');
                else
                    printf(",%.17g", x);
            }
        for (int t = 0; t < WEFT_NTIME; t++)
            printf(",%.9g,%.9g,%.9g", summary[i].times[t][0], summary[i].times[t][1],
                   summary[i].times[t][2]);
        printf("\n");
    }
}

static void json_text(yajl_gen g, const char *text)
{
    if (text)
        yajl_gen_string(g, (const unsigned char *)text, strlen(text));
    else
        yajl_gen_null(g);
}

/* JSON has no NAN and no infinity: null. */
static void json_number(yajl_gen g, double x)
{
    if (isfinite(x))
        yajl_gen_double(g, x);
    else
        yajl_gen_null(g);
}

static void json_facts(yajl_gen g, const weft_summary *summary, const char *settings)
{
    json_text(g, "run");
    json_text(g, summary->path);
    json_text(g, "settings");
    json_text(g, settings);
    for (int c = 0; c < WEFT_NFACT; c++) {
        json_text(g, weft_facts[c].name);
        if (weft_facts[c].type == TEXT) json_text(g, summary->value[c].text);
        if (weft_facts[c].type == WHOLE && summary->value[c].known)
            yajl_gen_integer(g, summary->value[c].whole);
        if (weft_facts[c].type == WHOLE && !summary->value[c].known) yajl_gen_null(g);
        if (weft_facts[c].type == NUMBER) json_number(g, summary->value[c].number);
    }
    for (int p = 0; p < WEFT_NPART; p++)
        for (int c = 0; c < WEFT_MAX_SCORES && summary->scores[c].name; c++) {
            char name[128];
            snprintf(name, sizeof name, "%s_%s", weft_part_name[p],
                     summary->scores[c].name);
            json_text(g, name);
            json_number(g, summary->score[p].metric[c]);
        }
    json_text(g, "times");
    yajl_gen_map_open(g);
    for (int t = 0; t < WEFT_NTIME; t++) {
        json_text(g, weft_time_names[t]);
        yajl_gen_array_open(g);
        for (int i = 0; i < 3; i++) json_number(g, summary->times[t][i]);
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
    json_text(g, "jobs_done");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < jobs->n; i++) {
        yajl_gen_map_open(g);
        for (size_t m = 0; m < sizeof member / sizeof *member; m++) {
            json_text(g, member[m].name);
            if (member[m].whole) yajl_gen_integer(g, member[m].whole[i]);
            if (member[m].number) json_number(g, member[m].number[i]);
        }
        for (int m = 0; jobs->metrics[m].name; m++) {
            json_text(g, jobs->metrics[m].name);
            json_number(g, jobs->metric[m][i]);
        }
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_arms(yajl_gen g, const weft_summary *summary)
{
    json_text(g, "arms");
    yajl_gen_array_open(g);
    for (int64_t i = 0; i < summary->arms.n; i++) {
        yajl_gen_map_open(g);
        json_text(g, "job");
        yajl_gen_integer(g, summary->arms.job[i]);
        json_text(g, "config");
        yajl_gen_integer(g, summary->arms.config[i]);
        json_text(g, "text");
        json_text(g, weft_summary_config(summary, summary->arms.config[i]));
        json_text(g, "p");
        json_number(g, summary->arms.p[i]);
        json_text(g, "after");
        json_number(g, summary->arms.after[i]);
        json_text(g, "loss");
        json_number(g, summary->arms.loss[i]);
        json_text(g, "error");
        json_number(g, summary->arms.error[i]);
        json_text(g, "count");
        json_number(g, summary->arms.count[i]);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void json_print(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stdout);
}

/* An array with one object a run. */
void weft_report_json(const weft_summary *summary, int n, const weft_methods *methods)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    weft_check(g != NULL, "no memory for JSON");
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_print_callback, json_print, NULL);
    yajl_gen_array_open(g);
    for (int i = 0; i < n; i++) {
        yajl_gen_map_open(g);
        json_facts(g, &summary[i], weft_methods_settings(methods, i));
        json_jobs(g, &summary[i].jobs);
        json_arms(g, &summary[i]);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_free(g);
}

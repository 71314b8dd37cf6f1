/* Section [parameters], whose keys the user chooses: what the programs and workers of a
 * search are given. */
#include "parameters.h"

#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

const weft_kind weft_parameters_kind = {
    .name = WEFT_PARAMETERS,
    .about = "what a program or a worker is given, any names",
    .size = 1,
    .opts = weft_own_keys};

/* The axis of a parameter, or -1. */
static int axis_of(const weft_space *space, const char *key)
{
    for (int a = 0; a < space->dim; a++)
        if (strcmp(space->axis[a].section, WEFT_PARAMETERS) == 0 &&
            strcmp(space->axis[a].opt->name, key) == 0)
            return a;
    return -1;
}

static const char *unquoted(const char *value, weft_arena *mem)
{
    if (!weft_is_quoted(value)) return value;
    return weft_arena_text(mem, "%.*s", (int)strlen(value) - 2, value + 1);
}

void weft_parameters(const weft_conf *input, const weft_space *space, const double *conf,
                     int *n, const char ***name, const char ***value, weft_arena *mem)
{
    *n = 0;
    *name = WEFT_NEW(mem, const char *, input->n);
    *value = WEFT_NEW(mem, const char *, input->n);
    for (int i = 0; i < input->n; i++) {
        const weft_entry *entry = &input->entry[i];
        if (strcmp(entry->section, WEFT_PARAMETERS) != 0) continue;
        int a = axis_of(space, entry->key);
        const char *text = unquoted(entry->value, mem);
        if (a < 0 && weft_clause(entry->value, "when")) continue; /* it never exists */
        if (a >= 0 && isnan(conf[a])) continue;
        if (a >= 0) {
            enum { MOST = 1024 };
            char *shown = WEFT_NEW(mem, char, MOST);
            weft_opt_show(space->axis[a].opt, conf[a], shown, MOST);
            text = shown;
        }
        (*name)[*n] = entry->key;
        (*value)[(*n)++] = text;
    }
}

const char *weft_parameter_variable(const char *name, weft_arena *mem)
{
    char *text = weft_arena_text(mem, "PARAM_%s", name);
    for (char *c = text; *c; c++)
        if (*c == '-' || *c == '.') *c = '_';
    return text;
}

/* ---- JSON ---- */

/* 1 if the text is true, false or a number in JSON, without blanks around it. */
static int is_plain(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (!*text || !strchr("-0123456789tf", *text) || strpbrk(text, " \t\r\n")) return 0;
    yajl_handle json = yajl_alloc(NULL, NULL, NULL);
    weft_check(json != NULL, "no memory for JSON");
    int plain = yajl_parse(json, bytes, strlen(text)) == yajl_status_ok &&
                yajl_complete_parse(json) == yajl_status_ok;
    yajl_free(json);
    return plain;
}

static void put_text(yajl_gen json, const char *text)
{
    yajl_gen_string(json, (const unsigned char *)text, strlen(text));
}

const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    weft_check(json != NULL, "no memory for JSON");
    yajl_gen_map_open(json);
    for (int i = 0; i < n; i++) {
        put_text(json, name[i]);
        if (is_plain(value[i]))
            yajl_gen_number(json, value[i], strlen(value[i])); /* as it is written */
        else
            put_text(json, value[i]);
    }
    yajl_gen_map_close(json);
    const unsigned char *text;
    size_t size;
    yajl_gen_get_buf(json, &text, &size);
    const char *copy = weft_arena_text(mem, "%.*s", (int)size, (const char *)text);
    yajl_gen_free(json);
    return copy;
}

/* The environment of a program: its parameters, each in a variable and all together,
 * without the variables of MPI's launcher, so that the program can use MPI itself. Called
 * by command.c. */
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* 1 for a variable by which MPI's launcher speaks to its processes. */
static int is_launcher(const char *variable)
{
    static const char *const prefix[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "OPAL_"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (begins(variable, prefix[i])) return 1;
    return 0;
}

static int is_replaced(const char *variable, int n, const char *const *name)
{
    for (int i = 0; i < n; i++)
        if (begins(variable, name[i]) && variable[strlen(name[i])] == '=') return 1;
    return 0;
}

char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem)
{
    int old = 0, at = 0;
    while (environ[old]) old++;
    char **env = WEFT_NEW(mem, char *, old + n + 1);
    for (int i = 0; i < old; i++)
        if (!is_launcher(environ[i]) && !is_replaced(environ[i], n, name))
            env[at++] = environ[i];
    for (int i = 0; i < n; i++)
        env[at++] = weft_arena_text(mem, "%s=%s", name[i], value[i]);
    return env;
}

/* ---- parameters --------------------------------------------------------------------- */

/* The axis of a parameter, or -1. */
static int axis_of(const weft_space *sp, const char *key)
{
    for (int a = 0; a < sp->dim; a++)
        if (strcmp(sp->axis[a].section, WEFT_PARAMETERS) == 0 &&
            strcmp(sp->axis[a].opt->name, key) == 0)
            return a;
    return -1;
}

void weft_parameters(const weft_conf *c, const weft_space *sp, const double *conf, int *n,
                     const char ***name, const char ***value, weft_arena *mem)
{
    *n = 0;
    *name = WEFT_NEW(mem, const char *, c->n);
    *value = WEFT_NEW(mem, const char *, c->n);
    for (int i = 0; i < c->n; i++) {
        const weft_entry *e = &c->entry[i];
        if (strcmp(e->section, WEFT_PARAMETERS) != 0) continue;
        int a = axis_of(sp, e->key);
        const char *text = e->value;
        if (a < 0 && weft_clause(e->value, "when")) continue; /* it never exists */
        if (a >= 0 && isnan(conf[a])) continue;
        if (a >= 0) {
            enum { MOST = 1024 };
            char *shown = WEFT_NEW(mem, char, MOST);
            weft_opt_show(sp->axis[a].opt, conf[a], shown, MOST);
            text = shown;
        }
        (*name)[*n] = e->key;
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

/* ---- JSON --------------------------------------------------------------------------- */

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* 1 if the text is a number of JSON: no other is as strict. */
static int is_number(const char *text)
{
    const char *at = text + (*text == '-'), *digits = at;
    at = skip_digits(at);
    if (at == digits || (*digits == '0' && at > digits + 1)) return 0;
    if (*at == '.') {
        digits = at + 1;
        at = skip_digits(digits);
        if (at == digits) return 0;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        digits = at + (*at == '+' || *at == '-');
        at = skip_digits(digits);
        if (at == digits) return 0;
    }
    return *at == '\0';
}

static const char *quoted(const char *text, weft_arena *mem)
{
    enum { LONGEST = 6 }; /* \u0001 */
    char *out = WEFT_NEW(mem, char, LONGEST *strlen(text) + 3), *at = out;
    *at++ = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ') {
            at += snprintf(at, LONGEST + 1, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\') *at++ = '\\';
        *at++ = *text;
    }
    *at = '"';
    return out;
}

const char *weft_parameters_json(int n, const char *const *name, const char *const *value,
                                 weft_arena *mem)
{
    const char *text = "{";
    for (int i = 0; i < n; i++) {
        const char *v = value[i];
        int plain = is_number(v) || strcmp(v, "true") == 0 || strcmp(v, "false") == 0;
        text = weft_arena_text(mem, "%s%s%s: %s", text, i ? ", " : "", quoted(name[i], mem),
                               plain ? v : quoted(v, mem));
    }
    return weft_arena_text(mem, "%s}", text);
}

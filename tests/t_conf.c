/* Room base: options and input files.
 * RUN: np=1 np=2 */
#include "tap.h"

struct plugin {
    int order, kernel, binary;
    int64_t bins;
    double gamma;
    const char *file;
};

static const weft_opt plugin_opts[] = {
    WEFT_INT_OPT("order", struct plugin, order, "1", 1, 9, "", .role = WEFT_PER_SAMPLE),
    WEFT_CHOICE_OPT("kernel/map", struct plugin, kernel, "none",
                    "none/None|l2/normalize|minmax", "", .role = WEFT_PER_SAMPLE),
    WEFT_BOOL_OPT("binary", struct plugin, binary, "no", "", .role = WEFT_PER_SAMPLE),
    WEFT_LONG_OPT("bins", struct plugin, bins, "2^20", 1, 1e12, ""),
    WEFT_REAL_OPT("gamma", struct plugin, gamma, "0.5", 0, 10, "", .words = "auto",
                  .role = WEFT_PER_SAMPLE),
    WEFT_TEXT_OPT("file", struct plugin, file, "", ""),
    {0},
};
static const weft_kind plugin_kind =
    WEFT_KIND("rff", struct plugin, plugin_opts, "for the test");

static const weft_opt *option(const char *name)
{
    const weft_opt *opt = plugin_opts;
    while (opt->name && !weft_opt_is(opt, name)) opt++;
    return opt;
}

/* What the option reads from the text; NAN for an error. */
static double parsed(const char *name, const char *text)
{
    double x;
    return weft_opt_parse(option(name), text, &x) == WEFT_OK ? x : NAN;
}

static int refused(const char *name, const char *text, const char *part)
{
    return isnan(parsed(name, text)) && says(part);
}

static int prints(const char *name, double value, const char *expected)
{
    char text[32];
    weft_opt_show(option(name), value, text, sizeof text);
    return strcmp(text, expected) == 0;
}

static void test_options(void)
{
    ok(parsed("bins", "1e6") == 1e6 && parsed("bins", "2^20") == 1048576,
       "1e6 and 2^20 are integers");
    ok(parsed("gamma", "1e-3") == 1e-3 && parsed("gamma", "10^-2") == 0.01,
       "10^-2 is a number");
    ok(parsed("gamma", "Auto") == 0 && prints("gamma", 0, "auto") &&
           prints("gamma", 2, "2"),
       "a number's lower bound may be a word");
    ok(refused("gamma", "ten", "'ten' is not a number"), "ten is not a number");
    ok(refused("gamma", "1 2", "is not a number") &&
           refused("gamma", "", "is not a number") &&
           refused("gamma", "nan", "is not a number") &&
           refused("gamma", "2^", "is not a number"),
       "nor are two numbers, nothing, nan and half a power");
    ok(refused("order", "1.5", "not an integer"), "1.5 is not an integer");
    ok(refused("order", "10", "from 1 to 9"), "a bound is named");
    ok(refused("bins", "1e15", "from 1 to 1000000000000"), "and written out");
    ok(refused("gamma", "1e400", "out of bounds") && refused("gamma", "1e-400", "number") &&
           refused("gamma", "2^-5000", "number") && refused("gamma", "1 2", "number") &&
           refused("gamma", "1,5", "number") && refused("gamma", "", "number"),
       "a number that is too large, too small, or more than one");
    ok(!signbit(parsed("gamma", "-0")), "minus zero is zero");
}

static void test_words(void)
{
    ok(parsed("binary", "Yes") == 1 && parsed("binary", "ON") == 1 &&
           parsed("binary", "1") == 1 && parsed("binary", "true") == 1 &&
           parsed("binary", "False") == 0 && parsed("binary", "off") == 0 &&
           parsed("binary", "no") == 0 && parsed("binary", "0") == 0,
       "eight words are booleans in any case");
    ok(refused("binary", "maybe", "neither yes nor no"), "maybe is not");
    ok(parsed("kernel", "L2") == 1 && parsed("kernel", "normalize") == 1 &&
           parsed("kernel", "None") == 0 && parsed("kernel", "minmax") == 2,
       "choices have synonyms and no case");
    ok(refused("kernel", "minmix", "none, l2, minmax; did you mean minmax?"),
       "an unknown choice is answered with all and the nearest");
    ok(prints("binary", 1, "true") && prints("kernel", 1, "l2") &&
           prints("gamma", 0.1, "0.1") && prints("bins", 1048576, "1048576") &&
           prints("gamma", 1.0 / 3, "0.3333333333333333"),
       "values are shown as a user would write them");
    ok(weft_opt_is(option("map"), "kernel") && !weft_opt_is(option("map"), "Kernel") &&
           !weft_opt_is(option("map"), "ker"),
       "an option is known by its synonyms, with case");
    ok(weft_is_range("1 .. 3") && weft_is_range("a|b") && !weft_is_range("1.5"),
       "ranges are known");
    struct plugin self;
    int same = 1;
    for (const weft_opt *opt = plugin_opts; opt->type != WEFT_TEXT; opt++) {
        weft_opt_set(opt, &self, 1);
        same = same && weft_opt_value(opt, &self) == 1;
    }
    ok(same && self.order == 1 && self.bins == 1 && self.gamma == 1,
       "members of all types are kept");
}

static const char *const input = "; a comment\n"
                                 "[run]\n"
                                 "  data = a;b#c.h5   ; indented, and a comment\n"
                                 "\n"
                                 "[rff] # another\n"
                                 "gamma = log 1e-3 .. 10\n"
                                 "binary=no\r\n"
                                 "map : normalize\n"
                                 "order = 3\n"
                                 "file = ../x.h5\n";

static const char *value(weft_conf *conf, const char *section, const char *key)
{
    const weft_entry *entry = weft_conf_find(conf, section, key);
    return entry ? entry->value : "(none)";
}

static void test_reading(void)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    ok(weft_conf_text(&conf, "x.ini", input) == WEFT_OK && conf.n == 6, "an input is read");
    ok(strcmp(value(&conf, "run", "data"), "a;b#c.h5") == 0,
       "comments begin after a blank, lines may be indented");
    ok(strcmp(value(&conf, "rff", "kernel/map"), "normalize") == 0,
       "entries are found by synonym");
    const weft_entry *order = weft_conf_find(&conf, "rff", "order");
    ok(order && strcmp(order->value, "3") == 0 && order->line == 9 &&
           strcmp(order->file, "x.ini") == 0,
       "an entry knows its line");
}

static void test_marks(void)
{
    struct plugin self;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    ok(weft_conf_text(&conf, "x.ini", "\xef\xbb\xbf[rff]\r\norder\t=\t2\t; two\r\n") ==
               WEFT_OK &&
           weft_conf_bind(&conf, &plugin_kind, &self) == WEFT_OK && self.order == 2,
       "a byte order mark, tabs and CRLF are taken off");
    weft_conf_default(&conf, "rff", "order", "3");
    weft_conf_default(&conf, "run", "tuner", "sha");
    ok(strcmp(value(&conf, "rff", "order"), "3") == 0 &&
           weft_conf_is_default(weft_conf_find(&conf, "run", "tuner")) &&
           !weft_conf_is_typed(weft_conf_find(&conf, "run", "tuner")),
       "a default is an entry");
    weft_conf_drop(&conf, "rff", NULL);
    ok(conf.n == 1 && strcmp(value(&conf, "run", "tuner"), "sha") == 0,
       "sections can be dropped");
}

static void test_binding(void)
{
    struct plugin self;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    ok(weft_conf_text(&conf, "x.ini", input) == WEFT_OK &&
           weft_conf_bind(&conf, &plugin_kind, &self) == WEFT_OK,
       "an input is bound");
    ok(self.order == 3 && self.kernel == 1 && strcmp(self.file, "../x.h5") == 0,
       "values are set");
    ok(self.gamma == 0.5 && self.bins == 1048576 && self.binary == 0,
       "a range and what is not given leave the default");
}

static int broken(const char *text, const char *part)
{
    struct plugin self;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_status st = weft_conf_text(&conf, "x.ini", text);
    if (st == WEFT_OK) st = weft_conf_bind(&conf, &plugin_kind, &self);
    static const char *const sections[] = {"run", "rff", "ridge"};
    if (st == WEFT_OK) st = weft_conf_unused(&conf, sections, 3);
    return st == WEFT_ECONF && says(part);
}

static void test_mistakes(void)
{
    ok(broken("[rff]\n\ngama = 1\n", "x.ini:3: rff.gama = 1: ") &&
           says("did you mean gamma?"),
       "a wrong key: file, line and the nearest");
    ok(broken("[rff]\ngamma = 11\n", "x.ini:2: rff.gamma = 11: 11 is out of bounds") &&
           says("from 0 to 10"),
       "a number out of bounds: file, line, key and bounds");
    ok(broken("[rff]\nmap = l3\n", "x.ini:2: rff.map = l3: 'l3'") &&
           says("did you mean l2?"),
       "a wrong choice: the nearest");
    ok(broken("[rff]\nbins = 1 .. 3\n", "x.ini:2: rff.bins = 1 .. 3: a range"),
       "a range where none is allowed");
    ok(broken("[rff]\nmap=l2\n[rff]\nkernel=l2\n",
              "x.ini:4: rff.kernel = l2: is the same as map"),
       "an option given by two names");
    ok(broken("[rf]\na = 1\n", "x.ini:2: rf.a = 1: ") && says("did you mean [rff]?"),
       "a wrong section: the nearest");
    const char *longer = "a123456789b123456789c123456789d123456789e123456789";
    ok(broken(printed("[rff]\n[%s]\na = 1\n", longer),
              "x.ini:2: there is no section [a123456789b12345...]: names have at most 49"),
       "a section with a long name");
    ok(broken(printed("[rff]\n%s%s%s%s%s = 1\n", longer, longer, longer, longer, longer),
              "x.ini:2: a name has at most 63 bytes, and \"a123456789b12345...\" 250"),
       "a key with a name that is longer than a line of inih");
    ok(broken("[ridge]\na = 1\n", "x.ini:2: ridge.a = 1: nothing in this run reads it"),
       "a section that is not used");
    ok(broken("[rff]\norder = 1\nnonsense\n[open\n", "x.ini:3: expected \"[section]\""),
       "a line that is none: the first");
    ok(broken("order = 1\n", "x.ini:1: expected \"key = value\" below a [section]"),
       "a key before any section");
    ok(broken("[rff]\n = 1\n", "x.ini:2: expected \"key = value\""),
       "a value without a key");
    ok(broken("[rff]\norder = 1\n[run]\n[rff]\norder = 1\n",
              "x.ini:5: rff.order = 1: is given in line 2 already"),
       "a key that is given twice, also in another place");
    ok(broken("[rff] order = 3\n", "x.ini:1: expected nothing behind \"[rff]\""),
       "a key behind the head of its section");
    ok(broken("[rff]\norder =\n", "x.ini:2: rff.order = : '' is not an integer"),
       "a key without a value");
}

static void test_unreadable(void)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    ok(weft_conf_read(&conf, "/nonexistent/x.ini") == WEFT_EFILE &&
           says("/nonexistent/x.ini") && says("No such file"),
       "an input file that is not there");
    ok(weft_conf_read(&conf, "/") == WEFT_EFILE && says("cannot read /"),
       "a folder for an input file");
    ok(weft_conf_read(&conf, "/dev/zero") == WEFT_EFILE && says("not an input file"),
       "bytes for an input file");
}

static void test_arguments(void)
{
    struct plugin self;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    ok(weft_conf_text(&conf, "x.ini", input) == WEFT_OK &&
           weft_conf_set(&conf, "rff.order=7") == WEFT_OK &&
           weft_conf_set(&conf, "rff.binary=on") == WEFT_OK &&
           weft_conf_bind(&conf, &plugin_kind, &self) == WEFT_OK && self.order == 7 &&
           self.binary == 1,
       "arguments replace what the file says");
    ok(weft_conf_set(&conf, "rff.file=a=b.c") == WEFT_OK &&
           strcmp(value(&conf, "rff", "file"), "a=b.c") == 0,
       "a value may hold = and .");
    ok(weft_conf_set(&conf, "rff.bins =  4 ") == WEFT_OK &&
           strcmp(value(&conf, "rff", "bins"), "4") == 0,
       "outer blanks do not count");
    ok(weft_conf_set(&conf, "rff.bins=5") == WEFT_ECONF &&
           says("command line: rff.bins = 5: is given twice"),
       "an argument is given once");
    ok(weft_conf_set(&conf, "order=1") == WEFT_ECONF &&
           says("command line: 'order=1' is not section.key"),
       "an argument without section is refused");
    ok(weft_conf_set(&conf, "rff.=1") == WEFT_ECONF &&
           weft_conf_set(&conf, "rff.order") == WEFT_ECONF &&
           weft_conf_set(&conf, ".a=1") == WEFT_ECONF,
       "so is one without key, value or name of the section");
    ok(weft_conf_set(&conf, "rff.a:b=1") == WEFT_ECONF &&
           weft_conf_set(&conf, "rff.#a=1") == WEFT_ECONF &&
           weft_conf_set(&conf, "r]ff.a=1") == WEFT_ECONF &&
           weft_conf_set(&conf, "a123456789b123456789c123456789d123456789e123456789.a=1") ==
               WEFT_ECONF,
       "and one whose names a file would give otherwise");
    ok(weft_conf_set(&conf, "rff.file=a #b") == WEFT_ECONF &&
           weft_conf_set(&conf, "rff.file=a\nb") == WEFT_ECONF,
       "and one that a file could not hold");
    ok(weft_conf_set(&conf, "rff.orders=1") == WEFT_OK &&
           weft_conf_bind(&conf, &plugin_kind, &self) == WEFT_ECONF &&
           says("command line: rff.orders = ") && says("did you mean order?"),
       "a wrong key of an argument is said to be one");
}

static void test_echo(void)
{
    char path[1000];
    memset(path, 'p', sizeof path);
    memcpy(path, "rff.file=", 9);
    path[sizeof path - 1] = '\0';
    weft_conf c, d;
    weft_conf_init(&c, mem);
    weft_conf_init(&d, mem);
    ok(weft_conf_text(&c, "x.ini", input) == WEFT_OK &&
           weft_conf_set(&c, path) == WEFT_OK &&
           weft_conf_set(&c, "run.seed=3") == WEFT_OK &&
           weft_conf_set(&c, "run.output=") == WEFT_OK,
       "values may be long or empty");
    ok(weft_conf_text(&d, "echo", weft_conf_echo(&c, mem)) == WEFT_OK && d.n == c.n,
       "the echo reads back");
    int same = 1;
    for (int i = 0; i < c.n; i++)
        same = same &&
               strcmp(value(&d, c.entry[i].section, c.entry[i].key), c.entry[i].value) == 0;
    ok(same, "with the same values, whatever their length");
    ok(strcmp(weft_conf_echo(&d, mem), weft_conf_echo(&c, mem)) == 0,
       "and gives the same echo");
}

MAIN(ranks, test_options, test_words, test_reading, test_marks, test_binding, test_mistakes,
     test_unreadable, test_arguments, test_echo)

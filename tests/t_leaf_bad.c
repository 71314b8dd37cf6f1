/* Reader of LEAF's JSON: each invalid file gives one line, which says where and what.
 * RUN: np=1 */
#include "leaf.h"

/* Users, their numbers of samples, and their data. */
#define USERS(names, samples, data)                                                        \
    "{\"users\": [" names "], \"num_samples\": [" samples "], \"user_data\": {" data
#define A "\"a\": {\"x\": [[1]], \"y\": [1]}"

static const struct {
    const char *text, *options, *a, *b, *what; /* a, b: words of the message */
} bad[] = {
    {ONE("3", "[1,2],[3,4]", "0,1"), "", "users[0], 'ann', has 2", "says 3",
     "a wrong num_samples"},
    {ONE("2", "[1,2],[3]", "0,1"), "", "user 'ann', x[1] has 1 numbers", "2 numbers",
     "ragged rows"},
    {ONE("2", "[1,2],[]", "0,1"), "", "user 'ann', x[1] has 0 numbers", "2 numbers",
     "an empty row"},
    {ONE("2", "[1,2],[3,NaN]", "0,1"), "", "user 'ann', x[1]", "NaN", "a NaN"},
    {ONE("2", "[1,2],[3,-NaN]", "0,1"), "", "user 'ann', x[1]", "NaN", "one with a sign"},
    {ONE("2", "[1,2],[3,1e99]", "0,1"), "", "user 'ann', x[1][1]", "finite",
     "a number too large"},
    {ONE("2", "[1,2],[3,[4]]", "0,1"), "", "user 'ann', x[1] is a list", "a number",
     "a nested row"},
    {ONE("2", "[1,2],[3,null]", "0,1"), "", "user 'ann', x[1] is null", "a number",
     "a missing number"},
    {ONE("2", "[1,2],[3,4]", "0"), "", "user 'ann' has 2 samples in x", "1 in y",
     "x and y of different lengths"},
    {ONE("2", "[1,2],[3,4]", "0,-1"), "", "user 'ann', y[1] is -1", "a class",
     "a negative label"},
    {ONE("2", "[1,2],[3,4]", "0,0.5"), "", "user 'ann', y[1] is 0.5", "a class",
     "a broken label"},
    {ONE("2", "[1,2],[3,4]", "\"a\",1"), "", "user 'ann', y[1] is a number",
     "labels before it are words", "rows with words and numbers as labels"},
    {ONE("2", "[1,2],[3,4]", "\"a\",\"a\""), "valid=0 test=0", "all labels are a",
     "two classes", "one word"},
    {USERS("\"ann\"", "1", "\"ann\": {\"y\": [\"a\"], \"x\": [[1]]}}}"), "",
     "user 'ann' has numbers in x", "texts in y", "the same, labels before rows"},
    {ONE("1", "[\"1467\", \"Mon Apr 06\", \"is upset\"]", "0"), "",
     "user 'ann', x[0] has no text as element 5 of its 3", "text = NUMBER",
     "lists of texts that are too short"},
    {ONE("2", "[1,2],[3,\"a\"]", "0,1"), "", "user 'ann', x[1] has texts",
     "numbers are expected", "rows of numbers and texts"},
    {ONE("2", "[1,\"a\"],[3,4]", "0,1"), "text=2", "user 'ann', x[1] has numbers",
     "texts are expected", "texts and rows of numbers"},
    {ONE("2", "\"ab\",\"bc\"", "1,2"), "", "user 'ann' has texts in x", "numbers in y",
     "windows with numbers"},
    {ONE("2", "\"ab\",\"bcd\"", "\"c\",\"e\""), "", "user 'ann', x[1] has 3 characters",
     "2 characters", "windows of different lengths"},
    {ONE("2", "\"ab\",\"bc\"", "\"c\",\"de\""), "", "user 'ann', y[1] has 2 characters",
     "the one that follows", "two characters that follow"},
    {ONE("2", "\"ab\",\"b{\"", "\"{\",\"d\""), "", "user 'ann', x[1], character 1,", "'{'",
     "an unknown character"},
    {ONE("2", "\"ab\",\"xy\"", "\"c\",\"d\""), "", "do not follow one another",
     "valid=0 test=0", "windows out of order"},
    {ONE("2", "\"ab\",\"bc\"", "\"c\",\"d\""), "shares=class", "shares = class",
     "leave shares out", "windows of text by class"},
    {ONE("0", "", ""), "", "no user with samples", "bad.json", "no samples at all"},
    {ONE("2", "[1,2],[3,4]", "0,0"), "valid=0 test=0", "all labels are 0", "two classes",
     "one class"},
    {ONE("2", "[1,2],[3,4]", "0,3"), "classes=3 valid=0 test=0", "label 3", "classes = 3",
     "a label beyond the classes"},
    {ONE("2", "[1,2],[3,4]", "0,1"), "shape=1x2x2", "shape = 1x2x2 has 4", "have 2",
     "another shape"},
    {ONE("2", "[1,2],[3,4]", "0,1"), "shape=1x2", "shape = 1x2", "CHANNELSxHEIGHTxWIDTH",
     "a broken shape"},
    {ONE("2", "[1,2],[3,4]", "0,1"), "", "no client has training", "split",
     "too few samples for three parts"},
    {"\x1f\x8b\x08 gzip", "", "bad.json is compressed by gzip", "gunzip",
     "a compressed file"},
    {USERS("\"a\", \"b\"", "1, 1", A "}}"), "valid=0 test=0",
     "users[1], 'b', is not in user_data", "bad.json", "a listed user without data"},
    {USERS("\"a\"", "1", A ", \"b\": {\"x\": [[1]], \"y\": [1]}}}"), "valid=0 test=0",
     "user 'b' of user_data is not in users", "bad.json", "a user that is not listed"},
    {USERS("\"a\"", "1, 2", A "}}"), "valid=0 test=0", "1 users and 2 num_samples",
     "bad.json", "lists of two lengths"},
    {USERS("\"a\", \"a\"", "1, 1", A "}}"), "", "user 'a' stands twice", "bad.json",
     "a user listed twice"},
    {USERS("\"a\"", "1", A ", " A "}}"), "", "user 'a' stands twice", "bad.json",
     "a user's data twice"},
    {USERS("\"a\"", "1", "\"a\": {\"x\": [[1"), "",
     "bad.json: user 'a', x[0]: no JSON near byte 6", "whole", "JSON cut in half"},
    {"", "", "bad.json: no JSON near byte", "whole", "an empty file"},
    {"{}", "", "no user with samples", "bad.json", "no users"},
    {"[1, 2]", "", "a list where an object", "LEAF's JSON", "another JSON"},
    {"{\"users\": {}}", "", "an object where lists users", "LEAF's JSON",
     "users that are no list"},
    {"{\"users\": [1]}", "", "users[0] is a number", "a name", "a user without name"},
    {"To be, or not to be", "", "bad.json: no JSON near byte", "whole", "no JSON"},
    {ONE("1", "[1]", "1") "{", "valid=0 test=0", "no JSON near", "whole", "two JSONs"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < LEN(bad); i++)
        fails(pack(&weft_reader_leaf, write_text("bad.json", bad[i].text), "x.h5",
                   bad[i].options),
              strncmp(bad[i].options, "s", 1) == 0 && strncmp(bad[i].a, "s", 1) == 0
                  ? WEFT_ECONF
                  : WEFT_EDATA,
              bad[i].a, bad[i].b, bad[i].what);
}

MAIN(scratch, test_bad)

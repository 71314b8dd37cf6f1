/* The sum of a directory: equal for equal names and bytes, however they came there, another
 * after any change of them.
 * RUN: np=1 */
#include "disk.h"
#include "weft/base/files.h"
#include "weft/store/file.h"

enum { PIECE = 1 << 20, LONG = PIECE + 9 };

static uint64_t sum_of(const char *path)
{
    uint64_t sum = 1;
    must(weft_tree_sum(path, &sum));
    return sum;
}

static void write_text(const char *dir, const char *name, const char *text)
{
    must(weft_file_put(printed("%s/%s", dir, name), text, strlen(text)));
}

static const char *directory(const char *name)
{
    const char *dir = printed("%s/%s", scratch, name);
    ok(mkdir(dir, 0777) == 0 && mkdir(printed("%s/in", dir), 0777) == 0, "%s is made",
       name);
    return dir;
}

static void test_equal(void)
{
    const char *one = directory("one"), *two = directory("two");
    write_text(one, "a", "first");
    write_text(one, "in/b", "second");
    write_text(two, "in/b", "second");
    write_text(two, "a", "first");
    uint64_t sum = sum_of(one);
    ok(sum != 0 && sum_of(two) == sum, "two directories with the same files have one sum");
    ok(chmod(printed("%s/a", two), 0600) == 0 && sum_of(two) == sum, "modes do not count");
    const char *copy = printed("%s/copy", scratch);
    must(weft_tree_copy(one, copy));
    ok(sum_of(copy) == sum, "a copy has it, too");
    const char *link = printed("%s/link", scratch);
    ok(symlink(one, link) == 0 && sum_of(link) == sum, "and a link to it");
    ok(sum_of(printed("%s/none", scratch)) == 0, "what is not there has the sum 0");
}

static void test_changed(void)
{
    const char *dir = directory("changed");
    write_text(dir, "a", "first");
    write_text(dir, "in/b", "second");
    ok(symlink("a", printed("%s/link", dir)) == 0, "a link is made");
    uint64_t sum = sum_of(dir);
    write_text(dir, "a", "firsT");
    ok(sum_of(dir) != sum, "another byte is another sum");
    write_text(dir, "a", "second");
    write_text(dir, "in/b", "first");
    ok(sum_of(dir) != sum, "as are two files that changed places");
    write_text(dir, "a", "first");
    write_text(dir, "in/b", "second");
    ok(sum_of(dir) == sum, "as it was, it has the first sum again");
    write_text(dir, "in/c", "");
    uint64_t more = sum_of(dir);
    ok(more != sum, "an empty file more");
    ok(rename(printed("%s/in/c", dir), printed("%s/in/d", dir)) == 0 &&
           sum_of(dir) != more && unlink(printed("%s/in/d", dir)) == 0,
       "another name of it");
    ok(mkdir(printed("%s/d", dir), 0777) == 0 && sum_of(dir) != sum &&
           rmdir(printed("%s/d", dir)) == 0,
       "an empty directory");
    ok(rename(printed("%s/in/b", dir), printed("%s/b", dir)) == 0 && sum_of(dir) != sum &&
           rename(printed("%s/b", dir), printed("%s/in/b", dir)) == 0,
       "a file that moved");
    ok(unlink(printed("%s/link", dir)) == 0 && sum_of(dir) != sum, "a link that is lost");
    ok(symlink("in/b", printed("%s/link", dir)) == 0 && sum_of(dir) != sum,
       "or leads elsewhere");
}

static void test_long(void)
{
    char *bytes = WEFT_NEW(mem, char, LONG);
    const char *path = printed("%s/long", scratch);
    memset(bytes, 0, LONG);
    must(weft_file_put(path, bytes, LONG));
    uint64_t sum = sum_of(path);
    const size_t at[] = {0, PIECE - 1, PIECE, LONG - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        bytes[at[i]] = 1;
        must(weft_file_put(path, bytes, LONG));
        ok(sum_of(path) != sum, "byte %zu of a long file counts", at[i]);
        bytes[at[i]] = 0;
    }
    must(weft_file_put(path, bytes, LONG - 1));
    ok(sum_of(path) != sum, "a zero less at its end");
    const char *link = printed("%s/to", scratch);
    ok(symlink(path, link) == 0 && sum_of(link) == sum_of(path),
       "a link to a file has its sum");
}

MAIN(disk, test_equal, test_changed, test_long)

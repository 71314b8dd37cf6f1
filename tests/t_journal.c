/* The journal and other files: what is written is read back; an incomplete record at the
 * end is cut off; a flipped bit costs one record and is reported; a file that cannot be
 * written is found before the search.
 * RUN: np=1 */
#include "disk.h"
#include "weft/store/file.h"

#include <sys/wait.h>

/* ---- journal ---- */

#define RECORDS 5

/* Record i is i * 7 bytes of value i under tag 10 + i. */
static int is_record(const weft_record *record, int64_t i)
{
    if (record->tag != 10 + (uint64_t)i || record->bytes != (size_t)(i * 7) ||
        record->data == NULL)
        return 0;
    for (size_t k = 0; k < record->bytes; k++)
        if (((const char *)record->data)[k] != (char)i) return 0;
    return 1;
}

static int right(const weft_record *rec, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!is_record(&rec[i], i)) return 0;
    return 1;
}

static weft_status add(weft_journal *journal, int i)
{
    char data[64];
    memset(data, i, sizeof data);
    return weft_journal_add(journal, 10 + (uint64_t)i, data, (size_t)i * 7);
}

static void test_journal(void)
{
    weft_journal journal;
    weft_record *rec;
    int64_t n = -1;
    const char *path = at("a.journal");
    weft_status st = weft_journal_open(&journal, path, &rec, &n, mem);
    ok(st == WEFT_OK && n == 0, "a new journal is empty");
    for (int i = 0; i < RECORDS && st == WEFT_OK; i++) st = add(&journal, i);
    if (st == WEFT_OK) st = weft_journal_sync(&journal);
    weft_journal_close(&journal);
    ok(st == WEFT_OK, "records are added");
    st = weft_journal_open(&journal, path, &rec, &n, mem);
    ok(st == WEFT_OK && n == RECORDS && right(rec, n), "all records come back");
    ok(((uintptr_t)rec[4].data & 15) == 0, "aligned for any type");
    weft_journal_close(&journal);
}

enum { MAGIC = 8, HEAD = 32 }; /* bytes of a journal, of a record, before what they hold */

/* The journal cut after any byte of its last record gives all records but the last, and
 * goes on from there. */
static void test_torn(void)
{
    const char *path = at("a.journal"), *torn = at("torn.journal");
    size_t size = size_of(path), last = HEAD + (RECORDS - 1) * 7, tried = 0;
    int cut = 1, on = 1;
    for (size_t end = size - last; end < size; end++, tried++) {
        weft_journal journal;
        weft_record *rec;
        int64_t n;
        copy(path, torn, end);
        cut &= weft_journal_open(&journal, torn, &rec, &n, mem) == WEFT_OK &&
               n == RECORDS - 1 && right(rec, n) && size_of(torn) == size - last;
        on &= add(&journal, RECORDS - 1) == WEFT_OK;
        weft_journal_close(&journal);
        on &= weft_journal_open(&journal, torn, &rec, &n, mem) == WEFT_OK && n == RECORDS &&
              right(rec, n);
        weft_journal_close(&journal);
    }
    ok(cut && tried == last, "a journal torn at any of %zu bytes gives its whole records",
       tried);
    ok(on, "and goes on after them");
    int header = 1;
    for (size_t end = 0; end < MAGIC; end++) {
        weft_journal journal;
        weft_record *rec;
        int64_t n;
        copy(path, torn, end);
        header &= weft_journal_open(&journal, torn, &rec, &n, mem) == WEFT_OK && n == 0;
        header &= add(&journal, 0) == WEFT_OK;
        weft_journal_close(&journal);
        header &= weft_journal_open(&journal, torn, &rec, &n, mem) == WEFT_OK && n == 1 &&
                  right(rec, n);
        weft_journal_close(&journal);
    }
    ok(header, "a journal torn in its head begins anew");
}

static void flip(const char *path, size_t at_, int bit)
{
    int fd = open(path, O_RDWR);
    char byte = 0;
    weft_check(pread(fd, &byte, 1, (off_t)at_) == 1, "read");
    byte = (char)(byte ^ (1 << bit));
    weft_check(pwrite(fd, &byte, 1, (off_t)at_) == 1, "write");
    close(fd);
}

/* What a journal says in which bit `bit` of byte `at_` of record i was flipped: all other
 * records; of this one its tag, where its head is whole. */
static int is_told(const char *path, size_t size, int64_t i, int head)
{
    weft_journal journal;
    weft_record *rec;
    int64_t n, cut = head && i == RECORDS - 1;
    int good =
        weft_journal_open(&journal, path, &rec, &n, mem) == WEFT_OK && n == RECORDS - cut;
    for (int64_t k = 0; k < n && good; k++)
        good = k != i ? is_record(&rec[k], k)
                      : rec[k].data == NULL && rec[k].tag == (head ? 0 : 10 + (uint64_t)i);
    weft_journal_close(&journal);
    return good && (cut || size_of(path) == size);
}

/* Any bit of a journal is flipped. */
static void test_flipped(void)
{
    const char *path = at("a.journal"), *flipped = at("flipped.journal");
    size_t size = size_of(path), tried = MAGIC;
    weft_journal journal;
    weft_record *rec;
    int64_t n;
    int refused = 1, told = 1, stays = 1;
    for (size_t byte = 0; byte < MAGIC; byte++) {
        copy(path, flipped, size);
        flip(flipped, byte, (int)byte);
        refused &= weft_journal_open(&journal, flipped, &rec, &n, mem) == WEFT_EFILE &&
                   size_of(flipped) == size;
    }
    ok(refused, "a journal whose first bytes are damaged is refused, not touched");
    for (int64_t i = 0; i < RECORDS; i++)
        for (size_t byte = 0; byte < HEAD + (size_t)i * 7; byte++, tried++)
            for (int bit = 0; bit < 8; bit++) {
                copy(path, flipped, size);
                flip(flipped, tried, bit);
                told &= is_told(flipped, size, i, byte < HEAD);
            }
    ok(told && tried == size, "a bit flipped in any of %zu bytes costs its record alone",
       tried);
    copy(path, flipped, size);
    flip(flipped, MAGIC + HEAD + 1, 0); /* the head of the second record */
    stays &= weft_journal_open(&journal, flipped, &rec, &n, mem) == WEFT_OK;
    stays &= weft_journal_add(&journal, 99, "on", 2) == WEFT_OK;
    weft_journal_close(&journal);
    stays &= weft_journal_open(&journal, flipped, &rec, &n, mem) == WEFT_OK &&
             n == RECORDS + 1 && rec[1].tag == 0 && rec[n - 1].tag == 99 &&
             is_record(&rec[2], 2);
    ok(stays, "a damaged journal goes on");
    stays = weft_journal_clear(&journal) == WEFT_OK;
    weft_journal_close(&journal);
    stays &= weft_journal_open(&journal, flipped, &rec, &n, mem) == WEFT_OK && n == 0;
    ok(stays && weft_journal_is(flipped) && !weft_journal_is(at("text")),
       "and can be emptied");
    weft_journal_close(&journal);
}

/* Appends the first `bytes` bytes of the records of a journal to a file. */
static void append_records(const char *from, const char *to, size_t bytes)
{
    char *data = WEFT_NEW(mem, char, MAGIC + bytes);
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_APPEND);
    weft_check(read(in, data, MAGIC + bytes) == (ssize_t)(MAGIC + bytes) &&
                   write(out, data + MAGIC, bytes) == (ssize_t)bytes,
               "copy");
    close(in);
    close(out);
}

/* A record whose payload lacks its end stands before whole ones. What is added is found
 * again, also where it begins within what the payload should have taken. */
static void test_short(void)
{
    enum { LONG = 300, LEFT = 10, MORE = 10 };
    const char *path = at("a.journal"), *torn = at("short.journal");
    char data[LONG] = {0};
    weft_journal journal;
    weft_record *rec;
    int64_t n, all = RECORDS + 1 + 2;
    copy(path, torn, size_of(path));
    int found = weft_journal_open(&journal, torn, &rec, &n, mem) == WEFT_OK &&
                weft_journal_add(&journal, 50, data, LONG) == WEFT_OK;
    weft_journal_close(&journal);
    weft_check(truncate(torn, (off_t)(size_of(torn) - LONG + LEFT)) == 0, "cut");
    append_records(path, torn, HEAD + HEAD + 7);
    for (int i = 0; i < MORE; i++, all++) {
        found &= weft_journal_open(&journal, torn, &rec, &n, mem) == WEFT_OK && n == all &&
                 right(rec, RECORDS) && rec[RECORDS].data == NULL &&
                 right(rec + RECORDS + 1, 2) && (i == 0 || rec[n - 1].tag == 99) &&
                 weft_journal_add(&journal, 99, "on", 2) == WEFT_OK;
        weft_journal_close(&journal);
    }
    ok(found, "a payload cut short takes no record that follows it");
}

/* ---- names ---- */

static void test_names(void)
{
    char *name = WEFT_NEW(mem, char, 256), *shorter = WEFT_NEW(mem, char, 256);
    memset(name, 'x', 255);
    memset(shorter, 'x', 245); /* alone it fits, with its temporary ending it does not */
    int64_t before = entries();
    ok(weft_file_try(at("new")) == WEFT_OK && entries() == before,
       "a file that can be written is tried without a trace");
    fails(weft_file_try(""), "empty", "give one", "an empty name");
    fails(weft_file_try(scratch), scratch, "directory", "a directory's name");
    fails(weft_file_try(at(name)), "xxx", "File name too long", "a name too long");
    fails(weft_file_try(at(shorter)), "xxx", "File name too long", "a temporary one");
    fails(weft_file_try(at("no/x")), "no/x", "No such file", "a missing directory");
    weft_check(symlink(at("a.journal"), at("symbolic")) == 0 &&
                   link(at("a.journal"), at("hard")) == 0,
               "link");
    ok(weft_file_same(at("a.journal"), at("symbolic")) &&
           weft_file_same(at("hard"), at("symbolic")) &&
           !weft_file_same(at("hard"), at("text")) &&
           !weft_file_same(at("hard"), at("missing")),
       "links lead to one file");
}

/* Opens the journal in another process; its status. */
static int open_elsewhere(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        weft_journal journal;
        weft_record *rec;
        int64_t n;
        _exit((int)weft_journal_open(&journal, path, &rec, &n, mem));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_journal_errors(void)
{
    weft_journal journal;
    weft_record *rec;
    int64_t n;
    fails(weft_journal_open(&journal, at("text"), &rec, &n, mem), "text", "not a journal",
          "another file as a journal");
    fails(weft_journal_open(&journal, at("no/a.journal"), &rec, &n, mem), "no/a.journal",
          "No such file", "a journal in a missing directory");
    fails(weft_journal_open(&journal, "/dev/full", &rec, &n, mem), "/dev/full",
          "No space left", "a journal on a full disk");
    weft_check(weft_journal_open(&journal, at("a.journal"), &rec, &n, mem) == WEFT_OK,
               "open");
    size_t size = size_of(at("a.journal"));
    ok(open_elsewhere(at("a.journal")) == WEFT_EFILE,
       "two processes do not share a journal");
    set_limit(RLIMIT_FSIZE, size + 20);
    weft_status st = add(&journal, 6);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    fails(st, "a.journal", "free space", "a record on a full disk");
    ok(size_of(at("a.journal")) == size, "and leaves no torn record");
    ok(add(&journal, 5) == WEFT_OK, "the journal goes on when there is space");
    weft_journal_close(&journal);
    ok(weft_journal_open(&journal, at("a.journal"), &rec, &n, mem) == WEFT_OK &&
           n == RECORDS + 1 && right(rec, n),
       "with all its records");
    weft_journal_close(&journal);
    ok(open_elsewhere(at("a.journal")) == WEFT_OK, "a closed journal is free again");
}

static void put_text(void)
{
    must(weft_file_put(at("text"), "hello", 5));
}

MAIN(disk, files_closed, put_text, test_journal, test_torn, test_flipped, test_short,
     test_names, test_journal_errors, files_closed)

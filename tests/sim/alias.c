/* Preloaded into a simulation of many ranks: the interior of every block that holds an
 * array of ALIAS_WORDS floats or int64 (and up to 64 KB or 4 MB more) is the same memory,
 * since only the time that its transfers take is wanted. First and last pages are the
 * block's own. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MORE_LONG = 4 << 20, MORE_SHORT = 1 << 16, SLOTS = 1 << 16 };

static size_t words, slot; /* of the array; bytes of a slot */
static int shared = -1;
static char *first;       /* [SLOTS][slot] addresses, reserved */
static int unused[SLOTS]; /* [nunused] slots that were freed */
static int nunused, used;

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
void __libc_free(void *);

static void __attribute__((constructor)) start(void)
{
    const char *text = getenv("ALIAS_WORDS");
    if (!text) return;
    size_t n = strtoul(text, NULL, 10);
    slot = (8 * n + MORE_LONG + PAGE) / PAGE * PAGE;
    shared = memfd_create("alias", 0);
    first = mmap(NULL, slot * SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (shared >= 0 && first != MAP_FAILED && ftruncate(shared, (off_t)(8 * n)) == 0)
        words = n;
}

/* Bytes of the array in a block of n bytes; 0: it holds none. */
static size_t interior(size_t n)
{
    if (words && n >= 8 * words && n < 8 * words + MORE_LONG) return 8 * words;
    if (words && n >= 4 * words && n < 4 * words + MORE_SHORT) return 4 * words;
    return 0;
}

static void *block(size_t n)
{
    size_t in = interior(n) / PAGE * PAGE - 2 * PAGE;
    if (nunused == 0 && used == SLOTS) abort();
    char *p = first + slot * (size_t)(nunused > 0 ? unused[--nunused] : used++);
    int both = PROT_READ | PROT_WRITE;
    if (mmap(p, n, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
        mmap(p + PAGE, in, both, MAP_SHARED | MAP_FIXED, shared, 0) == MAP_FAILED)
        abort();
    return p;
}

void *malloc(size_t n)
{
    return interior(n) ? block(n) : __libc_malloc(n);
}

void *calloc(size_t m, size_t n)
{
    return interior(m * n) ? block(m * n) : __libc_calloc(m, n);
}

void free(void *p)
{
    char *at = p;
    if (!words || at < first || at >= first + slot * SLOTS) {
        __libc_free(p);
        return;
    }
    if (mmap(at, slot, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        abort();
    unused[nunused++] = (int)((size_t)(at - first) / slot);
}

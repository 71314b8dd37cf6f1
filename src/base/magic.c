/* Files that are no text, known by their first bytes. */
#include "weft/magic.h"

#include <string.h>

#define GZIP   "unpack it by gunzip"
#define TABLE  "write it as text, as analysis/totable.py or pandas' to_csv does"
#define ARRAY  "write it as text, as numpy.savetxt does"
#define PACKED "unpack it"

static const struct {
    const char *bytes;
    int n, at; /* bytes, and where in the file they stand */
    const char *kind, *remedy;
} known[] = {
    {"\x1f\x8b", 2, 0, "compressed by gzip", GZIP},
    {"1AY&SY", 6, 4, "compressed by bzip2", "unpack it by bunzip2"},
    {"\xfd"
     "7zXZ",
     5, 0, "compressed by xz", "unpack it by unxz"},
    {"\x28\xb5\x2f\xfd", 4, 0, "compressed by zstd", "unpack it by unzstd"},
    {"PK\x03\x04", 4, 0, "a zip archive (.zip, .npz, .xlsx)",
     "unpack it, or write its table as text"},
    {"7z\xbc\xaf", 4, 0, "a 7z archive", PACKED},
    {"ustar", 5, 257, "a tar archive", "unpack it by tar xf"},
    {"\x89HDF\r\n", 6, 0, "an HDF5 file",
     "write its arrays as text; a file that weft packed is read as it is, by run.data"},
    {"\x93NUMPY", 6, 0, "an array of NumPy (.npy)", ARRAY},
    {"\x80\x02", 2, 0, "a pickle of Python", TABLE},
    {"\x80\x03", 2, 0, "a pickle of Python", TABLE},
    {"\x80\x04", 2, 0, "a pickle of Python", TABLE},
    {"\x80\x05", 2, 0, "a pickle of Python", TABLE},
    {"PAR1", 4, 0, "a Parquet file", TABLE},
    {"ARROW1", 6, 0, "an Arrow file", TABLE},
    {"SQLite format 3", 16, 0, "a data base of SQLite", "write its table as text"},
    {"%PDF-", 5, 0, "a PDF document", "write its text to a file"},
    {"\xba\x16\x4f\x2f", 4, 0, "a model of fastText (.bin)", "give its vectors, the .vec"},
    {"\xff\xfe", 2, 0, "text in UTF-16", "convert it by iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, 0, "text in UTF-16", "convert it by iconv -f UTF-16 -t UTF-8"}};

weft_status weft_text_only(const char *path, const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t at = (size_t)known[i].at, end = at + (size_t)known[i].n;
        if (n < end || memcmp(text + at, known[i].bytes, end - at) != 0) continue;
        return weft_fail(WEFT_EDATA, "%s is %s where text in UTF-8 is expected; %s", path,
                         known[i].kind, known[i].remedy);
    }
    return WEFT_OK;
}

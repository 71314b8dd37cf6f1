/* What the compiler checks, and its name. */
#ifndef WEFT_COMPILER_H
#define WEFT_COMPILER_H

#define WEFT_CHECKED      __attribute__((warn_unused_result))
#define WEFT_PRINTF(a, b) __attribute__((format(printf, a, b)))

#ifdef __clang__
#define WEFT_COMPILER "clang " __clang_version__
#else
#define WEFT_COMPILER "gcc " __VERSION__
#endif

#endif

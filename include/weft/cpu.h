/* The CPU: which kernels it runs, and how fast it is. */
#ifndef WEFT_CPU_H
#define WEFT_CPU_H

/* "avx512", "avx2" or "plain": the kernels in use, the widest that this CPU supports, or
 * those that WEFT_KERNEL in the environment names. All give the same bits. */
const char *weft_cpu_kernel(void);
double weft_cpu_sgemm(double seconds);  /* measured GFLOP/s of OpenBLAS sgemm, 1 thread */
double weft_cpu_peak(double seconds);   /* measured GFLOP/s of the kernel in registers */
double weft_cpu_stream(double seconds); /* measured GB/s of a read of 64 MB */

/* The variable by which a process tells itself, started once more, that it has chosen
 * kernels of OpenBLAS by the other: both are for it alone. */
#define WEFT_CORE        "OPENBLAS_CORETYPE"
#define WEFT_CORE_CHOSEN "WEFT_CORE_CHOSEN"

#endif

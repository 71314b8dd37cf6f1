/* The loops of kernel.h over whole vectors, written once for all widths. Included by the
 * kernel_*.c after they have defined
 *   V, W                   vector of W reals
 *   LOAD STORE ZERO SET FMA(a, b, c) = a b + c, SUM(v) = sum of its numbers
 *   BYTES(p)               vector of p[i] - 128
 *   F, FW                  vector of FW floats
 *   FLOAD FSTORE FADD FSUB FSET, FFMA(a, b, c) = a b + c
 *   KEEP(v)                makes the compiler hold v in a register from here on
 *   SHORT_STAGES(v)        the stages of the Walsh-Hadamard transform within one vector
 */

enum {
    PIECE = 256,   /* columns taken at a time by times: w stays in the first-level cache */
    BAND = 32,     /* rows taken at a time by times */
    GROUP = 10,    /* classes taken at a time by times */
    ROWS = 128,    /* rows taken at a time by trans */
    STRIP = 2 * W, /* columns of a tile of trans */
    MOST = 5       /* classes of a tile */
};

/* part[rows][GROUP], vectors to be summed, += x w^T over d columns of x[rows][PIECE]. */
#define TIMES_TILE(rows, classes)                                                          \
    static void times_##rows##_##classes(int d, const real *x, const real *w, size_t ldw,  \
                                         V *part)                                          \
    {                                                                                      \
        V sum[rows][classes];                                                              \
        for (int r = 0; r < rows; r++)                                                     \
            for (int j = 0; j < classes; j++) sum[r][j] = part[r * GROUP + j];             \
        for (int k = 0; k < d; k += W) {                                                   \
            V xk[rows];                                                                    \
            for (int r = 0; r < rows; r++) xk[r] = LOAD(x + r * PIECE + k);                \
            for (int j = 0; j < classes; j++) {                                            \
                V wk = LOAD(w + (size_t)j * ldw + k);                                      \
                KEEP(wk); /* in a register: loads are as scarce as multiplications */      \
                for (int r = 0; r < rows; r++) sum[r][j] = FMA(xk[r], wk, sum[r][j]);      \
            }                                                                              \
        }                                                                                  \
        for (int r = 0; r < rows; r++)                                                     \
            for (int j = 0; j < classes; j++) part[r * GROUP + j] = sum[r][j];             \
    }
TIMES_TILE(1, 1)
TIMES_TILE(1, 2)
TIMES_TILE(1, 3)
TIMES_TILE(1, 4)
TIMES_TILE(1, 5)
TIMES_TILE(2, 1)
TIMES_TILE(2, 2)
TIMES_TILE(2, 3)
TIMES_TILE(2, 4)
TIMES_TILE(2, 5)

/* How many of c classes the next tile takes: the last two share evenly. */
static int share(int c)
{
    return c <= MOST ? c : c < 2 * MOST ? (c + 1) / 2 : MOST;
}

/* One piece of columns for one or two rows: bytes to reals, then tiles of classes. */
static void times_piece(int rows, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                        size_t ldw, V *part)
{
    static void (*const tile[2][MOST])(int, const real *, const real *, size_t, V *) = {
        {times_1_1, times_1_2, times_1_3, times_1_4, times_1_5},
        {times_2_1, times_2_2, times_2_3, times_2_4, times_2_5}};
    real x[2 * PIECE];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < d; k += W)
            STORE(x + r * PIECE + k, BYTES(q + (size_t)r * ldq + k));
    for (int j = 0, m; j < c; j += m) {
        m = share(c - j);
        tile[rows - 1][m - 1](d, x, w + (size_t)j * ldw, ldw, part + j);
    }
}

/* Up to BAND rows by up to GROUP classes. */
static void times_group(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                        size_t ldw, real *z, size_t ldz)
{
    V part[BAND * GROUP];
    const int even = d / W * W;
    for (int e = 0; e < BAND * GROUP; e++) part[e] = ZERO;
    for (int k = 0; k < even; k += PIECE)
        for (int i = 0; i < n; i += 2)
            times_piece(i + 1 < n ? 2 : 1, even - k < PIECE ? even - k : PIECE,
                        q + (size_t)i * ldq + k, ldq, c, w + k, ldw, part + i * GROUP);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < c; j++) {
            real sum = SUM(part[i * GROUP + j]);
            for (int k = even; k < d; k++)
                sum += (real)(q[(size_t)i * ldq + k] - 128) * w[(size_t)j * ldw + k];
            z[(size_t)j * ldz + i] = sum;
        }
}

static void times(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                  size_t ldw, real *z, size_t ldz)
{
    for (int j = 0; j < c; j += GROUP)
        for (int i = 0; i < n; i += BAND)
            times_group(n - i < BAND ? n - i : BAND, d, q + (size_t)i * ldq, ldq,
                        c - j < GROUP ? c - j : GROUP, w + (size_t)j * ldw, ldw,
                        z + (size_t)j * ldz + i, ldz);
}

/* g[j][0..STRIP) += sum over n rows x[n][STRIP] z[j][i]. */
#define TRANS_TILE(classes)                                                                \
    static void trans_##classes(int n, const real *x, const real *z, size_t ldz, real *g,  \
                                size_t ldg)                                                \
    {                                                                                      \
        V sum[classes][2];                                                                 \
        for (int j = 0; j < classes; j++)                                                  \
            for (int v = 0; v < 2; v++) sum[j][v] = LOAD(g + (size_t)j * ldg + v * W);     \
        for (int i = 0; i < n; i++) {                                                      \
            const V x0 = LOAD(x + i * STRIP), x1 = LOAD(x + i * STRIP + W);                \
            for (int j = 0; j < classes; j++) {                                            \
                const V zi = SET(z[(size_t)j * ldz + i]);                                  \
                sum[j][0] = FMA(x0, zi, sum[j][0]);                                        \
                sum[j][1] = FMA(x1, zi, sum[j][1]);                                        \
            }                                                                              \
        }                                                                                  \
        for (int j = 0; j < classes; j++)                                                  \
            for (int v = 0; v < 2; v++) STORE(g + (size_t)j * ldg + v * W, sum[j][v]);     \
    }
TRANS_TILE(1)
TRANS_TILE(2)
TRANS_TILE(3)
TRANS_TILE(4)
TRANS_TILE(5)

static void trans(int n, int d, const uint8_t *q, size_t ldq, int c, const real *z,
                  size_t ldz, real *g, size_t ldg)
{
    static void (*const tile[MOST])(int, const real *, const real *, size_t, real *,
                                    size_t) = {trans_1, trans_2, trans_3, trans_4, trans_5};
    real x[ROWS * STRIP];
    const int even = d / STRIP * STRIP;
    for (int i = 0; i < n; i += ROWS) {
        const int rows = n - i < ROWS ? n - i : ROWS;
        for (int k = 0; k < even; k += STRIP) {
            for (int r = 0; r < rows; r++)
                for (int v = 0; v < STRIP; v += W)
                    STORE(x + r * STRIP + v, BYTES(q + (size_t)(i + r) * ldq + k + v));
            for (int j = 0, m; j < c; j += m) {
                m = share(c - j);
                tile[m - 1](rows, x, z + (size_t)j * ldz + i, ldz, g + (size_t)j * ldg + k,
                            ldg);
            }
        }
    }
    for (int j = 0; j < c; j++)
        for (int k = even; k < d; k++)
            for (int i = 0; i < n; i++)
                g[(size_t)j * ldg + k] +=
                    (real)(q[(size_t)i * ldq + k] - 128) * z[(size_t)j * ldz + i];
}

/* Two stages at once, of strides h and 2h, h >= FW. */
static void fwht_pair(int n, int h, float *x)
{
    for (int at = 0; at < n; at += 4 * h)
        for (int i = at; i < at + h; i += FW) {
            const F a = FLOAD(x + i), b = FLOAD(x + i + h);
            const F c = FLOAD(x + i + 2 * h), d = FLOAD(x + i + 3 * h);
            const F s = FADD(a, b), t = FSUB(a, b), u = FADD(c, d), v = FSUB(c, d);
            FSTORE(x + i, FADD(s, u));
            FSTORE(x + i + h, FADD(t, v));
            FSTORE(x + i + 2 * h, FSUB(s, u));
            FSTORE(x + i + 3 * h, FSUB(t, v));
        }
}

static void fwht_stage(int n, int h, float *x)
{
    for (int at = 0; at < n; at += 2 * h)
        for (int i = at; i < at + h; i += FW) {
            const F a = FLOAD(x + i), b = FLOAD(x + i + h);
            FSTORE(x + i, FADD(a, b));
            FSTORE(x + i + h, FSUB(a, b));
        }
}

static void fwht(int n, float *x)
{
    if (n < FW) { /* shorter than a vector */
        for (int h = 1; h < n; h *= 2)
            for (int i = 0; i < n; i++)
                if ((i & h) == 0) {
                    const float a = x[i], b = x[i + h];
                    x[i] = a + b;
                    x[i + h] = a - b;
                }
        return;
    }
    for (int i = 0; i < n; i += FW) FSTORE(x + i, SHORT_STAGES(FLOAD(x + i)));
    int h = FW;
    for (; 4 * h <= n; h *= 4) fwht_pair(n, h, x);
    if (h < n) fwht_stage(n, h, x);
}

static void gather16(int n, const uint32_t *at, const float *value, const float *x,
                     float *sum)
{
    F s[16 / FW];
    for (int v = 0; v < 16 / FW; v++) s[v] = FLOAD(sum + v * FW);
    for (int e = 0; e < n; e++) {
        const F a = FSET(value[e]);
        for (int v = 0; v < 16 / FW; v++)
            s[v] = FFMA(a, FLOAD(x + (size_t)at[e] * 16 + v * FW), s[v]);
    }
    for (int v = 0; v < 16 / FW; v++) FSTORE(sum + v * FW, s[v]);
}

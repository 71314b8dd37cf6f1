/* Cosines, written once for all widths. Included by the kernel_*.c after they have defined
 *   F, FSET, FFMA, FMAX  as for kernel_cell.h
 *   FROUND(v)            to the nearest whole number, ties to even
 *
 * The argument is in turns, reduced to [-1/2, 1/2] by two FMAs, then cos(2 pi r) = sin(2 pi
 * (1/4 - |r|)) by an odd polynomial of degree 7 (minimax on [-1/4, 1/4], error 6e-7), its
 * coefficients times 127. */

/* A scale in two floats, so that products with it are reduced as if by a double. */
struct turns {
    F high, low;
};

INLINE struct turns turns_of(double scale)
{
    float high = (float)scale;
    return (struct turns){FSET(high), FSET((float)(scale - (double)high))};
}

/* 127 cos(2 pi (x scale + offset)). */
INLINE F cosine(F x, struct turns turns, F offset)
{
    const F whole = FROUND(x * turns.high);
    F r = FFMA(x, turns.high, -whole) + FFMA(x, turns.low, offset);
    r = r - FROUND(r);
    const F z = FSET(0.25f) - FMAX(r, -r), y = z * z;
    F p = FFMA(FSET(-9016.16603f), y, FSET(10330.2776f));
    p = FFMA(p, y, FSET(-5249.81708f));
    p = FFMA(p, y, FSET(797.961834f));
    return p * z;
}

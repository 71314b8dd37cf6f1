/* More functions whose least value is known, on which no default of a sampler was chosen:
 * many axes, many levels, whole numbers of wide ranges, losses that are infinite, three
 * levels of conditional axes, steps, an optimum in a corner. Included by functions.h;
 * tests/gold/functions.py has the same. */
#include <stdint.h>

static inline double rastrigin6(const double *v)
{
    double s = 60;
    for (int j = 0; j < 6; j++) s += v[j] * v[j] - 10 * cos(2 * PI * v[j]);
    return s;
}
static inline double griewank8(const double *v)
{
    double s = 1, p = 1;
    for (int j = 0; j < 8; j++) {
        s += v[j] * v[j] / 4000;
        p *= cos(v[j] / sqrt(j + 1));
    }
    return s - p;
}
static inline double michalewicz5(const double *v)
{
    double s = 0;
    for (int j = 0; j < 5; j++) s -= sin(v[j]) * pow(sin((j + 1) * v[j] * v[j] / PI), 20);
    return s;
}
static inline double camel6(const double *v)
{
    double x = v[0], y = v[1], a = x * x;
    return (4 - 2.1 * a + a * a / 3) * a + x * y + (4 * y * y - 4) * y * y;
}
static inline double goldprice(const double *v)
{
    double x = v[0], y = v[1], a = x + y + 1, b = 2 * x - 3 * y;
    return (1 + a * a * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)) *
           (30 + b * b * (18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y));
}
static inline double schwefel4(const double *v)
{
    double s = 418.9828872724339 * 4;
    for (int j = 0; j < 4; j++) s -= v[j] * sin(sqrt(fabs(v[j])));
    return s;
}
static inline double sphere20(const double *v)
{
    double s = 0;
    for (int j = 0; j < 20; j++) {
        double d = v[j] - 3 * sin(j + 1.);
        s += d * d;
    }
    return s;
}
static inline double ridge6(const double *v)
{
    double s = 0, m = v[0] / 6;
    for (int j = 1; j < 6; j++) {
        s += 20 * (v[j] - v[j - 1]) * (v[j] - v[j - 1]);
        m += v[j] / 6;
    }
    return s + 4 * (m - .7) * (m - .7);
}
static inline double hashed(int j, int a, int b)
{
    uint64_t k = (uint64_t)(a * 31 + b * 17 + j * 101 + 7);
    return (double)((k * k * 2654435761u) % 4294967296u) / 4294967296.;
}
static inline double cat6(const double *v)
{
    double s = 0;
    for (int j = 0; j < 6; j++) {
        s += hashed(j, (int)v[j], 0);
        s += hashed(j + 6, (int)v[j], (int)v[(j + 1) % 6]);
    }
    return s;
}
static inline double int5(const double *v)
{
    double a = (v[0] - 14) / 20, b = (v[1] - 33) / 100, d = (v[3] + 7) / 20,
           e = (v[4] - 700) / 1000;
    return a * a + 2 * b * b + .1 * fabs(v[2] - 4) + d * d +
           (((int)v[3] + 10) % 3 ? .05 : 0) + e * e + .5 * a * e;
}
static inline double diverge4(const double *v)
{
    double u[4];
    for (int j = 0; j < 4; j++) u[j] = log10(v[j]);
    if (u[0] > -3 && u[1] > -3) return INFINITY;
    if (u[2] > -2) return 1;
    double s = .1 * (u[0] + 3.5) * (u[0] + 3.5) + .1 * (u[1] + 2.2) * (u[1] + 2.2) +
               .2 * (u[2] + 4) * (u[2] + 4) + .05 * (u[3] + 1) * (u[3] + 1);
    return fmin(1, s);
}
/* x0 x1 x2 x3 x4 i0 a b c d */
static inline double tree3(const double *v)
{
    static const double level[4] = {.4, .3, .05, .35};
    if (v[6] < 1) {
        if (v[7] < 1) return .2 + (v[0] - .3) * (v[0] - .3);
        double u = log10(v[1]) + 2;
        return .15 * u * u + .02 * fabs(v[5] - 7);
    }
    if (v[6] > 1) return .12 + .3 * (v[4] - .6) * (v[4] - .6);
    if (v[8] < 1) return .1 + .5 * (v[2] - .8) * (v[2] - .8);
    int d = (int)v[9];
    return level[d] + (d == 2 ? 2 * (v[3] - .2) * (v[3] - .2) : 0);
}
static inline double steps5(const double *v)
{
    static const double c[5] = {.2, .45, .6, .8, .35};
    double s = 0;
    for (int j = 0; j < 5; j++) s += floor(8 * fabs(v[j] - c[j])) / 8;
    return s;
}
/* x0 x1 x2, x3 log, i0 */
static inline double corner5(const double *v)
{
    double a = 1 - v[0], b = v[1], c = 1 - v[2], d = (log10(v[3]) + 4) / 4,
           e = (50 - v[4]) / 50;
    return a + b + c + d + e + 2 * a * b;
}
static inline double heavy4(const double *v)
{
    return 4 * ((v[0] - .3) * (v[0] - .3) + (v[1] - .7) * (v[1] - .7) +
                (v[2] - .5) * (v[2] - .5)) +
           .2 * v[3];
}
/* x0 rate, x1 momentum, x2 decay, i0 units, i1 layers, a */
static inline double net6(const double *v)
{
    static const double level[3] = {.05, 0, .1};
    double e = log10(v[0] / (1 - v[1])) + 2 + .1 * (v[4] - 3), w = log10(v[2]) + 4,
           n = log(v[3]) / log(2.) - 8;
    return .2 * e * e + .0125 * n * n + .03 * fabs(v[4] - 3) + level[(int)v[5]] +
           .01 * w * w;
}
static inline double arms16(const double *v)
{
    int m = (int)v[1];
    double d = v[0] - hashed(3, m, 1);
    return hashed(2, m, 0) + d * d;
}
static inline double forrester1(const double *v)
{
    double a = 6 * v[0] - 2;
    return a * a * sin(12 * v[0] - 4);
}

static const struct function more_functions[] = {
    {"rastrigin6",
     "x0 = -5.12 .. 5.12\nx1 = -5.12 .. 5.12\nx2 = -5.12 .. 5.12\nx3 = -5.12 .. 5.12\nx4 = "
     "-5.12 .. 5.12\nx5 = -5.12 .. 5.12\n",
     rastrigin6, 0, 0},
    {"griewank8",
     "x0 = -600 .. 600\nx1 = -600 .. 600\nx2 = -600 .. 600\nx3 = -600 .. 600\nx4 = -600 .. "
     "600\nx5 = -600 .. 600\nx6 = -600 .. 600\nx7 = -600 .. 600\n",
     griewank8, 0, 0},
    {"michalewicz5",
     "x0 = 0 .. 3.14159265358979\nx1 = 0 .. 3.14159265358979\nx2 = 0 .. "
     "3.14159265358979\nx3 = 0 .. 3.14159265358979\nx4 = 0 .. 3.14159265358979\n",
     michalewicz5, -4.687658179, 0},
    {"camel6", "x0 = -3 .. 3\nx1 = -2 .. 2\n", camel6, -1.0316284534898774, 0},
    {"goldprice", "x0 = -2 .. 2\nx1 = -2 .. 2\n", goldprice, 3, 0},
    {"schwefel4",
     "x0 = -500 .. 500\nx1 = -500 .. 500\nx2 = -500 .. 500\nx3 = -500 .. 500\n", schwefel4,
     0, 0},
    {"sphere20",
     "x0 = -5 .. 5\nx1 = -5 .. 5\nx2 = -5 .. 5\nx3 = -5 .. 5\nx4 = -5 .. 5\nx5 = -5 .. "
     "5\nx6 = -5 .. 5\nx7 = -5 .. 5\nx8 = -5 .. 5\nx9 = -5 .. 5\nx10 = -5 .. 5\nx11 = -5 "
     ".. 5\nx12 = -5 .. 5\nx13 = -5 .. 5\nx14 = -5 .. 5\nx15 = -5 .. 5\nx16 = -5 .. 5\nx17 "
     "= -5 .. 5\nx18 = -5 .. 5\nx19 = -5 .. 5\n",
     sphere20, 0, 0},
    {"ridge6",
     "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\nx3 = 0 .. 1\nx4 = 0 .. 1\nx5 = 0 .. 1\n",
     ridge6, 0, 0},
    {"cat6",
     "e = a | b | c | d\nf = a | b | c | d | e\ng = a | b | c | d | e | f\nh = a | b | c | "
     "d | e | f | g\nk = a | b | c | d | e | f | g | h\nl = a | b | c | d\n",
     cat6, 2.12940804194659, 0},
    {"int5", "i0 = 1 .. 20\ni1 = 0 .. 100\ni2 = 1 .. 5\ni3 = -10 .. 10\ni4 = 0 .. 1000\n",
     int5, 0, 0},
    {"diverge4",
     "x0 = log 1e-6 .. 1\nx1 = log 1e-6 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-6 .. 1\n",
     diverge4, 0, 0},
    {"tree3",
     "x0 = 0 .. 1 when b = p\nx1 = log 1e-4 .. 1 when b = q\nx2 = 0 .. 1 when c = p\nx3 = "
     "0 .. 1 when d = r\nx4 = 0 .. 1 when a = r\ni0 = 1 .. 20 when b = q\na = p | q | r\nb "
     "= p | q when a = p\nc = p | q when a = q\nd = p | q | r | s when c = q\n",
     tree3, 0, 0},
    {"steps5", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\nx3 = 0 .. 1\nx4 = 0 .. 1\n", steps5,
     0, 0},
    {"corner5", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\nx3 = log 1e-4 .. 1\ni0 = 1 .. 50\n",
     corner5, 0, 0},
    {"heavy4", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\na = p | q | r\n", heavy4, 0, 1},
    {"net6",
     "x0 = log 1e-5 .. 1\nx1 = 0 .. 0.99\nx2 = log 1e-7 .. 0.1\ni0 = log 8 .. 1024\ni1 = 1 "
     ".. 8\na = p | q | r\n",
     net6, 0, 0},
    {"arms16",
     "x0 = 0 .. 1\nm = a | b | c | d | e | f | g | h | i | j | k | l | m | n | o | p\n",
     arms16, 0.0073746005073189735, 0},
    {"forrester1", "x0 = 0 .. 1\n", forrester1, -6.020740055767083, 0},
};
enum { NMORE = LEN(more_functions) };

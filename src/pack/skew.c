/* Images that differ by client, when they are dealt.
 *
 * noise      client c of N, from 0, gets normal noise of mean 0 and variance noise (c + 1)
 * / N on each pixel. Li, Diao, Chen, He, "Federated learning on non-IID data silos: an
 * experimental study", ICDE 2022 (NIID-Bench; their program takes noise c / (N
 *            - 1) as the deviation, and draws anew in each epoch).
 * rotations  client c is turned counterclockwise by c mod R of R equal turns. Ghosh, Chung,
 *            Yin, Ramchandran, "An efficient framework for clustered federated learning",
 *            NeurIPS 2020: R = 4 of MNIST, R = 2 of CIFAR-10.
 *
 * Both are of all parts: a client is tested on what its device sees. Noise is a function of
 * seed, part and row, and comes after the turn. */
#include "pack.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

/* First counter of WEFT_RNG_CLIENT: (NOISE, part and row, block of four pixels). */
#define NOISE ((uint64_t)-3)

enum { WHITE = 255 };

weft_status weft_skew_check(const weft_pack *pack)
{
    const weft_packing *own = pack->own;
    const int *image = own->layout.image;
    int ways = weft_partition_ways(&own->over);
    if (own->over.noise > 0 && image[0] == 0)
        return weft_fail(WEFT_ECONF,
                         "noise = %g is of images, which %s has not; leave it out",
                         own->over.noise, own->from);
    if (ways > 1 && image[0] == 0)
        return weft_fail(WEFT_ECONF,
                         "rotations = %d is of images, which %s has not; leave it out",
                         ways, own->from);
    if (ways < 4 || image[1] == image[2]) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "rotations = %d is of square images, and those of %s are %d x %d; "
                     "give rotations=2, or leave it out",
                     ways, own->from, image[1], image[2]);
}

/* The pixel that comes to place (y, x) when an image, by an odd number of quarters a square
 * one, is turned by so many quarters. */
static int64_t turned_from(int quarters, int64_t height, int64_t width, int64_t y,
                           int64_t x)
{
    if (quarters == 1) return x * height + height - 1 - y;
    if (quarters == 2) return (height - 1 - y) * width + width - 1 - x;
    if (quarters == 3) return (width - 1 - x) * height + y;
    return y * width + x;
}

static void turn(const weft_pack_layout *layout, int quarters, const char *from, char *to)
{
    const int *image = layout->image;
    int64_t pixels = (int64_t)image[1] * image[2], each = (int64_t)layout->row / layout->d;
    for (int64_t plane = 0; plane < image[0]; plane++)
        for (int64_t i = 0; i < pixels; i++) {
            int64_t at =
                turned_from(quarters, image[1], image[2], i / image[2], i % image[2]);
            memcpy(to + (plane * pixels + i) * each, from + (plane * pixels + at) * each,
                   (size_t)each);
        }
}

static void add_noise(const weft_packing *own, double deviation, uint64_t row, void *x)
{
    uint8_t *byte = x;
    float *number = x;
    double z[4];
    for (int64_t i = 0; i < own->layout.d; i++) {
        if (i % 4 == 0) {
            weft_rng4 rng = weft_rng_at((uint64_t)own->over.seed, WEFT_RNG_CLIENT, NOISE,
                                        row, (uint64_t)(i / 4));
            weft_rng_normal(&rng, z);
        }
        double more = deviation * z[i % 4];
        if (own->layout.form == WEFT_BYTES)
            byte[i] = (uint8_t)fmin(fmax(rint(byte[i] + WHITE * more), 0), WHITE);
        else
            number[i] = (float)((double)number[i] + more);
    }
}

void weft_skew_row(const weft_pack *pack, int64_t c, weft_part part, int64_t row,
                   const void *from, void *to)
{
    const weft_packing *own = pack->own;
    int ways = weft_partition_ways(&own->over), quarters = (int)(c % ways) * (4 / ways);
    if (quarters == 0)
        memcpy(to, from, own->layout.row);
    else
        turn(&own->layout, quarters, from, to);
    if (own->over.noise > 0)
        add_noise(own, sqrt(own->over.noise * (double)(c + 1) / (double)own->over.clients),
                  (uint64_t)part << 60 | (uint64_t)row, to);
}

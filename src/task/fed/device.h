/* Devices of clients: how long a turn takes, and who is lost. */
#ifndef WEFT_TASK_FED_DEVICE_H
#define WEFT_TASK_FED_DEVICE_H

#include "task/parts.h"

/* Properties of a device. */
enum { WEFT_SPEED, WEFT_UP, WEFT_DOWN, WEFT_AVAILABLE, WEFT_DROPOUT, WEFT_PROFILE };

/* Section [device]. */
typedef struct weft_device {
    int speed;                 /* constant, exponential, lognormal or trace */
    double sigma;              /* lognormal: s.d. of the logarithm */
    double sample_seconds;     /* to train on one sample at speed 1 */
    double flops;              /* operations a second at speed 1; 0: any */
    double up, down;           /* bytes a second; 0: any */
    double latency;            /* seconds, once down and once up */
    double available, dropout; /* probabilities, a round */
    double power;              /* watt while it computes */
    double byte_energy;        /* joule per byte, up or down */
    double deadline;           /* virtual seconds of a round; 0: none */
    double over;               /* devices started per device needed, >= 1 */
    const char *file;          /* of speed trace */
    /* set by weft_device_setup */
    uint64_t seed;
    int64_t rows;      /* of the trace; 0: none */
    int keyed;         /* 1: row c is client c; 0: rows are drawn, as speeds are */
    const double *row; /* [rows][WEFT_PROFILE] */
} weft_device;

extern const weft_kind weft_device_kind; /* section [device] */

/* What a device is asked to do in a round. */
typedef struct weft_work {
    double samples;  /* seen in training: samples x epochs */
    double flops;    /* operations of that */
    double down, up; /* bytes received and sent */
} weft_work;

/* The status of a device in a round. AWAY and DROPPED are random; LATE depends on the
 * device, its work and the deadline, SURPLUS also on the other devices drawn. */
typedef enum weft_turn_status {
    WEFT_AVERAGED, /* answered in time and among the first m */
    WEFT_AWAY,     /* not available: did not start */
    WEFT_DROPPED,  /* dropped out during the round */
    WEFT_LATE,     /* would have answered after the deadline */
    WEFT_SURPLUS   /* would have answered in time, but after the m-th: over-selection */
} weft_turn_status;

/* What one device does in a round. */
typedef struct weft_turn {
    weft_turn_status status; /* LATE and SURPLUS are set by weft_device_close alone */
    double seconds;          /* from the start of the round until it answers or is lost */
    double energy;           /* joule until then */
    double bytes;            /* received and sent until then */
} weft_turn;

/* The end of a round. */
typedef struct weft_closing {
    int away, dropped, late, surplus; /* number of devices with these statuses; the
                                         others are averaged */
    double seconds;                   /* virtual time of the round */
    double energy, bytes;             /* of all devices of the round, until its end */
} weft_closing;

/* Checks the options and reads the trace: a table separated by TABs or commas with the
 * columns, in any order, speed, up, down, availability, dropout, client; what has no column
 * keeps the section's value. With a column client, 0 .. clients-1, each client has one row;
 * without it, a client is given a row at random. ECONF, also if no device can ever answer;
 * EFILE; EDATA: file and line. Every rank reads the file; the caller calls weft_agree. */
WEFT_CHECKED weft_status weft_device_setup(weft_device *device, int64_t clients,
                                           uint64_t seed, weft_arena *mem);

/* Reads the trace of device->file, as weft_device_setup does. */
WEFT_CHECKED weft_status weft_device_trace(weft_device *device, int64_t clients,
                                           weft_arena *mem);

/* 1: devices have speeds or delays; else a round is a virtual second. */
int weft_device_timed(const weft_device *device);

/* Devices to be started so that m answer: ceil(m over), at most `clients`. */
int64_t weft_device_started(const weft_device *device, int64_t m, int64_t clients);

/* What client c does in a round (any number that names it):
 *     seconds = 2 latency + down / rate + (samples sample_seconds + operations / flops) /
 *               speed + up / rate.
 * A device that drops out does so after a uniform share of that, and has spent as much of
 * its energy and bytes. */
weft_turn weft_device_turn(const weft_device *device, int64_t client, int64_t round,
                           const weft_work *work);

/* 1: client c is available in this round, as in weft_device_turn. */
int weft_device_is_there(const weft_device *device, int64_t client, int64_t round);
/* 1: some device may not be. */
int weft_device_leaves(const weft_device *device);

/* Ends a round that needs m answers, with the m-th of turn[n] (ties: by their order), at
 * the deadline if that is earlier, or when no device is left to wait for. One that has not
 * answered by then is SURPLUS, or LATE if it would have missed the deadline too; it stops,
 * and its energy and bytes are reduced in proportion to its time. Cost O(n log n). */
weft_closing weft_device_close(const weft_device *device, int m, int n, weft_turn *turn,
                               weft_arena *tmp);

#endif

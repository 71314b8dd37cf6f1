/* /timeline of the run file: worker and team of each job, and when they did it, in virtual
 * and in real time, with the shares of the time that they were busy. */
#include "timeline.h"
#include "columns.h"

typedef struct timeline_row {
    int64_t job, trial, parent, worker, team;
    double start, end, began, ended;
} timeline_row;

static const weft_column columns[] = {
    WEFT_WHOLE(timeline_row, job, "job: row of /events", "id"),
    WEFT_WHOLE(timeline_row, trial, "trial: whose weights were trained", "id"),
    WEFT_WHOLE(timeline_row, parent,
               "job after which its weights were continued or copied; -1: new weights",
               "id"),
    WEFT_WHOLE(timeline_row, worker, "simulated worker that did it", "id"),
    WEFT_WHOLE(timeline_row, team, "team of ranks that did it", "id"),
    WEFT_NUMBER(timeline_row, start, "virtual time at which the worker asked for it",
                "virtual s"),
    WEFT_NUMBER(timeline_row, end, "virtual time at which its result was told",
                "virtual s"),
    WEFT_NUMBER(timeline_row, began,
                "real time at which the team started it, since the start of the "
                "search, over all sessions",
                "s"),
    WEFT_NUMBER(timeline_row, ended, "real time at which the team finished it", "s"),
};

weft_status weft_put_timeline(weft_h5 *f, const weft_history *h)
{
    timeline_row *row = WEFT_NEW(f->mem, timeline_row, h->n);
    double busy = 0, real_busy = 0;
    for (int64_t i = 0; i < h->n; i++) {
        const weft_job_record *e = &h->record[i];
        row[i] = (timeline_row){.job = e->job.id,
                                .trial = e->job.trial,
                                .parent = e->parent,
                                .worker = e->worker,
                                .team = e->team,
                                .start = e->start,
                                .end = e->end,
                                .began = e->began,
                                .ended = e->began + e->seconds};
        busy += e->end - e->start - h->overhead;
        real_busy += e->seconds;
    }
    TRY(weft_put_columns(f, "timeline", columns, WEFT_COUNT(columns), row, sizeof *row,
                         h->n));
    TRY(weft_h5_put_long(f, "/timeline", "workers", h->workers));
    TRY(weft_h5_put_long(f, "/timeline", "most_teams", h->starts.most));
    TRY(weft_h5_put_num(f, "/timeline", "overhead", h->overhead));
    TRY(weft_h5_put_num(f, "/timeline", "makespan", h->makespan));
    TRY(weft_h5_put_num(f, "/timeline", "utilisation",
                        h->makespan > 0 ? busy / ((double)h->workers * h->makespan) : 0));
    return weft_h5_put_num(f, "/timeline", "team_utilisation",
                           h->seconds > 0 ? real_busy / h->starts.team_seconds : 0);
}

/* /timeline of the run file: worker and team of each job, and when they did it, in virtual
 * and in real time, with the shares of the time that they were busy. */
#include "timeline.h"
#include "columns.h"

typedef struct timeline_row {
    int64_t job, trial, parent, worker, team;
    double start, end, began, ended;
} timeline_row;

static const weft_field columns[] = {
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

weft_status weft_put_timeline(weft_h5 *file, const weft_history *history)
{
    timeline_row *row = WEFT_NEW(file->mem, timeline_row, history->n);
    double busy = 0, real_busy = 0;
    for (int64_t i = 0; i < history->n; i++) {
        const weft_job_record *record = &history->record[i];
        row[i] = (timeline_row){.job = record->job.id,
                                .trial = record->job.trial,
                                .parent = record->parent,
                                .worker = record->worker,
                                .team = record->team,
                                .start = record->start,
                                .end = record->end,
                                .began = record->began,
                                .ended = record->began + record->seconds};
        busy += record->end - record->start - history->overhead;
        real_busy += record->seconds;
    }
    TRY(weft_put_columns(file, "timeline", columns, WEFT_COUNT(columns), row, sizeof *row,
                         history->n));
    TRY(weft_h5_put_long(file, "/timeline", "workers", history->workers));
    TRY(weft_h5_put_long(file, "/timeline", "most_teams", history->starts.most));
    TRY(weft_h5_put_num(file, "/timeline", "overhead", history->overhead));
    TRY(weft_h5_put_num(file, "/timeline", "makespan", history->makespan));
    TRY(weft_h5_put_num(
        file, "/timeline", "utilisation",
        history->makespan > 0 ? busy / ((double)history->workers * history->makespan) : 0));
    /* of jobs that are done elsewhere, how many are at once */
    return weft_h5_put_num(file, "/timeline", "team_utilisation",
                           history->seconds > 0 ? real_busy / history->starts.team_seconds
                                                : 0);
}

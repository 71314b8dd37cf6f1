/* Section [run] of an input file. */
#include "options.h"

static const weft_opt run_opts[] = {
    {.name = "task",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, task),
     .def = "fmap",
     .about = "what is tuned; `weft list tasks`"},
    {.name = "tuner",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, tuner),
     .def = "auto",
     .about = "schedule: which trial gets how much resource; `weft list tuners`; auto: "
              "ws_sha for fmap, "
              "sha for fed, asha for sgd and replay, else random, as where no option has a "
              "range"},
    {.name = "sampler",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, sampler),
     .def = "space",
     .about = "how the configurations of new trials are chosen; `weft list samplers`"},
    {.name = "mixing",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, mixing),
     .def = "none",
     .about = "mixture of configurations that the clients of a trial draw from; `weft list "
              "mixings`"},
    {.name = "data",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, data),
     .def = "",
     .about = "packed data set, made by `weft pack`",
     .role = WEFT_PER_SESSION},
    {.name = "output",
     .type = WEFT_TEXT,
     .at = offsetof(weft_run_opts, output),
     .def = "run.h5",
     .about = "run file; -o on the command line"},
    {.name = "seed",
     .type = WEFT_LONG,
     .at = offsetof(weft_run_opts, seed),
     .def = "1",
     .lo = 0,
     .hi = 9007199254740992.0,
     .about = "seed of all random numbers"},
    {.name = "memory",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, memory),
     .def = "2",
     .lo = 0.001,
     .hi = 1e6,
     .about = "GB (1e9 bytes) a rank may use for features and states",
     .role = WEFT_PER_SESSION},
    {.name = "disk",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, disk),
     .def = "0",
     .lo = 0,
     .hi = 1e9,
     .about =
         "GB (1e9 bytes) on disk for the states of waiting trials; beyond it those with "
         "the highest losses are removed, and recomputed, with the same bits, if their "
         "trials continue; 0: no limit",
     .role = WEFT_PER_SESSION},
    {.name = "time_limit",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, time_limit),
     .def = "0",
     .lo = 0,
     .hi = 1e9,
     .about =
         "seconds after which the run stops, though not before a first round or fit; `weft "
         "resume` continues it; 0: none",
     .role = WEFT_PER_SESSION},
    {.name = "target",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, target),
     .def = "0",
     .lo = 0,
     .hi = 1e9,
     .about = "loss (score = loss) or error rate that ends the search once a trial that "
              "may win reaches it (not a fit shared by maps); 0: none"},
    {.name = "checkpoint",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, checkpoint),
     .def = "60",
     .lo = 0,
     .hi = 1e6,
     .about =
         "seconds between checkpoints of a job made of rounds: what a kill can lose of it",
     .role = WEFT_PER_SESSION},
    {.name = "watchdog",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, watchdog),
     .def = "600",
     .lo = 0,
     .hi = 1e9,
     .about = "seconds without progress after which a warning names the ranks that the "
              "others wait for, and what they do; 0: none",
     .role = WEFT_PER_SESSION},
    {.name = "teams",
     .type = WEFT_INT,
     .at = offsetof(weft_run_opts, teams),
     .def = "1",
     .lo = 1,
     .hi = 1e6,
     .about = "number of teams of ranks, which do jobs in parallel; the result does not "
              "depend on it",
     .role = WEFT_PER_SESSION},
    {.name = "workers",
     .type = WEFT_LONG,
     .at = offsetof(weft_run_opts, workers),
     .def = "8",
     .lo = 1,
     .hi = 1e9,
     .about =
         "number of simulated workers, each with one job at a time; their virtual time "
         "determines the order in which results are told, so that the search depends on "
         "their number, but not on ranks and teams; tuners that wait for the results they "
         "need have as many workers as they ask for"},
    {.name = "clock",
     .type = WEFT_CHOICE,
     .at = offsetof(weft_run_opts, clock),
     .def = "virtual",
     .words = "virtual|wall",
     .about =
         "virtual: results are told in the order of virtual time, which is the same on any "
         "ranks and teams; wall: in the order in which they arrive, for jobs of "
         "unpredictable duration: no team waits for a result, and the run can be repeated "
         "only from its journals, as a resume does"},
    {.name = "overhead",
     .type = WEFT_REAL,
     .at = offsetof(weft_run_opts, overhead),
     .def = "0",
     .lo = 0,
     .hi = 1e6,
     .about =
         "virtual seconds that a worker needs for asking and telling, in addition to each "
         "job's own"},
    {.name = "test",
     .type = WEFT_BOOL,
     .at = offsetof(weft_run_opts, test),
     .def = "yes",
     .about = "score the winner on the test part, once, at the end"},
    {0}};

const weft_kind weft_run_kind = {.name = "run",
                                 .about = "a run: what is tuned, how, and on which data",
                                 .size = sizeof(weft_run_opts),
                                 .opts = run_opts};

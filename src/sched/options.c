/* Section [run] of an input file. */
#include "options.h"

static const weft_opt run_opts[] = {
    WEFT_TEXT_OPT("task", weft_run_opts, task, "fmap", "what is tuned; `weft list tasks`"),
    WEFT_TEXT_OPT("tuner", weft_run_opts, tuner, "auto",
                  "schedule: which trial gets how much resource; `weft list tuners`. auto: "
                  "the task's own, or random where no option has a range"),
    WEFT_TEXT_OPT("sampler", weft_run_opts, sampler, "space",
                  "how the configurations of new trials are chosen; `weft list samplers`"),
    WEFT_TEXT_OPT("mixing", weft_run_opts, mixing, "none",
                  "mixture of configurations that the clients of a trial draw from; `weft "
                  "list mixings`"),
    WEFT_TEXT_OPT("data", weft_run_opts, data, "", "packed data set, made by `weft pack`",
                  .role = WEFT_PER_SESSION),
    WEFT_CHOICE_OPT(
        "scale", weft_run_opts, scale, "auto", "auto|none|standard|minmax|quantile",
        "columns of numbers before a model sees them: standard to mean 0 and "
        "deviation 1, minmax to 0 .. 1 of the training rows, quantile to the rank among "
        "them, 0 .. 1; auto: standard for networks whose columns differ much"),
    WEFT_CHOICE_OPT("class_weights", weft_run_opts, balanced, "none", "none|balanced",
                    "weights of classes in training, not in scores: none, or balanced: a "
                    "sample counts n / (K n_c), of n samples in K classes and n_c in its "
                    "own, times its own weight where it has one"),
    WEFT_TEXT_OPT(
        "start", weft_run_opts, start, "",
        "run file or exported winner, of the same network, with whose weights new "
        "trials begin; none: drawn from the seed"),
    WEFT_TEXT_OPT("output", weft_run_opts, output, "run.h5",
                  "run file; -o on the command line"),
    WEFT_LONG_OPT("seed", weft_run_opts, seed, "1", 0, 9007199254740992.0,
                  "seed of all random numbers"),
    WEFT_REAL_OPT("memory", weft_run_opts, memory, "2", 0.001, 1e6,
                  "GB (1e9 bytes) a rank may use for features and states",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("disk", weft_run_opts, disk, "0", 0, 1e9,
                  "GB (1e9 bytes) on disk for states of waiting trials; 0: no limit. "
                  "Beyond it the worst are removed, and computed again, with the same "
                  "bits, if their trials continue",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("time_limit", weft_run_opts, time_limit, "0", 0, 1e9,
                  "seconds after which the run stops, though not before a first round or "
                  "fit; `weft resume` continues it; 0: none",
                  .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("target", weft_run_opts, target, "0", 0, 1e9,
                  "score, such as the error rate, that ends the search once a trial that "
                  "may win reaches it; 0: none"),
    WEFT_REAL_OPT(
        "checkpoint", weft_run_opts, checkpoint, "60", 0, 1e6,
        "seconds between checkpoints of a job made of rounds: what a kill can lose of it",
        .role = WEFT_PER_SESSION),
    WEFT_REAL_OPT("watchdog", weft_run_opts, watchdog, "600", 0, 1e9,
                  "seconds without progress after which a warning names the ranks that the "
                  "others wait for, and what they do; 0: none",
                  .role = WEFT_PER_SESSION),
    WEFT_INT_OPT("teams", weft_run_opts, teams, "1", 1, 1e6,
                 "number of teams of ranks, which do jobs in parallel; the result does not "
                 "depend on it",
                 .role = WEFT_PER_SESSION),
    WEFT_LONG_OPT(
        "workers", weft_run_opts, workers, "8", 1, 1e9,
        "simulated workers, each with one job at a time. Their virtual time orders the "
        "results: the search depends on their number, not on ranks and teams. Schedules "
        "that wait for the results they need have as many as they ask for"),
    WEFT_CHOICE_OPT("clock", weft_run_opts, clock, "virtual", "virtual|wall",
                    "virtual: results are told in the order of virtual time, the same on "
                    "any ranks and teams. wall: in the order in which they arrive, so that "
                    "no team waits; only a resume repeats the run"),
    WEFT_REAL_OPT("overhead", weft_run_opts, overhead, "0", 0, 1e6,
                  "virtual seconds that a worker needs for each job beside the job's own"),
    WEFT_BOOL_OPT("refit", weft_run_opts, refit, "no",
                  "train the winner once more, on the train and valid parts together, "
                  "before it is tested and kept"),
    WEFT_BOOL_OPT("test", weft_run_opts, test, "yes",
                  "score the winner on the test part, once, at the end"),
    {0},
};

const weft_kind weft_run_kind = {.name = "run",
                                 .about = "a run: what is tuned, how, and on which data",
                                 .size = sizeof(weft_run_opts),
                                 .opts = run_opts};

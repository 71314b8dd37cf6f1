/* What is said of ranks on several hosts.
 * RUN: np=1 */
#include "host/host.h"
#include "tap.h"

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    const weft_placement ranks[] = {{.host = "n1", .cores = "0", .share = 0.9},
                                    {.host = "n1", .cores = "1-3", .share = 0.2},
                                    {.host = "n2", .cores = "2", .share = 0.6},
                                    {.host = "n2", .cores = "0", .share = 0.2}};
    ok(weft_placement_first(ranks, 0) && !weft_placement_first(ranks, 1) &&
           weft_placement_first(ranks, 2),
       "the first rank of each host is known");
    ok(weft_placement_ranks(ranks, 4, 3) == 2, "and the number of its ranks");
    ok(strcmp(weft_hosts(ranks, 4, mem), "n1 (cores 0-3) n2 (cores 0,2)") == 0,
       "hosts have the cores of all their ranks");
    ok(weft_placement_busiest(ranks, 4) == 1 && weft_placement_busiest(ranks, 1) == 0,
       "the rank with the least of a core is found, of equal ones the first");
    return tap_end();
}

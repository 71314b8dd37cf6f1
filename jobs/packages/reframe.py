"""ReFrame tests of an installed weft: reframe -C SITE.py -c jobs/packages/reframe.py -r

The digest of a search is the same on 1, 2 and 4 ranks; how long it takes is kept; `weft doctor`
comes to a verdict, which on a shared node may be a warning. `-S weft=PATH` names a program that is not in PATH.
"""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable


class WeftBase(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    weft = variable(str, value="weft")
    num_cpus_per_task = 1
    env_vars = {"OPENBLAS_NUM_THREADS": "1"}

    @run_before("run")
    def set_program(self):
        self.executable = self.weft


@rfm.simple_test
class WeftSearch(WeftBase):
    """A search on built-in documents."""

    descr = "weft tune: the same digest on any ranks"
    ranks = parameter([1, 2, 4])
    sourcesdir = "../../inputs"
    executable_opts = ["tune", "demo.ini", "run.data=documents.h5", "-o", "run.h5"]

    @run_before("run")
    def set_ranks(self):
        self.num_tasks = self.ranks
        self.prerun_cmds = [
            f"{self.weft} pack synthetic documents -o documents.h5",
            f"{self.weft} tune demo.ini run.data=documents.h5 -o one.h5 >one.txt"]

    @sanity_function
    def same_digest(self):
        one = sn.extractsingle(r"^digest +(\w+)", "one.txt", 1)
        return sn.assert_eq(sn.extractsingle(r"^digest +(\w+)", self.stdout, 1), one)

    @performance_function("s")
    def search(self):
        return sn.extractsingle(r"^seconds: .* search ([0-9.]+),", self.stdout, 1, float)


@rfm.simple_test
class WeftDoctor(WeftBase):
    """What the machine is like."""

    descr = "weft doctor: a verdict"
    sourcesdir = None
    num_tasks = 2
    executable_opts = ["doctor"]

    @sanity_function
    def nothing_to_mend(self):
        return sn.assert_found(r"^verdict +\S", self.stdout)

    @performance_function("us")
    def latency(self):
        return sn.extractsingle(r"^trip .*: ([0-9.e+-]+) us, ", self.stdout, 1, float)

    @performance_function("GB/s")
    def bandwidth(self):
        return sn.extractsingle(r"^trip .* us, ([0-9.e+-]+) GB/s", self.stdout, 1, float)

    @performance_function("GFLOP/s")
    def sgemm(self):
        return sn.extractsingle(r"^rate +sgemm ([0-9.e+]+)", self.stdout, 1, float)

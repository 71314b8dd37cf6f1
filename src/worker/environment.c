/* The environment of a program: the one of this process, without the variables that bind it
 * to the job of its launcher, so that the program can use MPI itself. */
#include "weft/cpu.h"
#include "weft/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static int begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int begins_any(const char *text, const char *const *with)
{
    for (; *with; with++)
        if (begins(text, *with)) return 1;
    return 0;
}

/* 1 for a variable by which a launcher tells a process its place in a job: Open MPI 4 and
 * 5, PMI of any kind, srun. With these a program would be taken for a rank of weft's job.
 * What a user sets for all of them, such as OMPI_MCA_btl, PMIX_MCA_gds or the nodes of an
 * allocation, is no such variable. */
static int is_launcher(const char *variable)
{
    static const char *const own[] = {"PMIX_MCA_",
                                      "PMIX_PREFIX=", "PMIX_INSTALL_PREFIX=", NULL};
    static const char *const bound[] = {"PMI_",
                                        "PMI2_",
                                        "PMIX_",
                                        "PRTE_LAUNCHED=",
                                        "OMPI_COMM_WORLD_",
                                        "OMPI_WORLD_",
                                        "OMPI_UNIVERSE_SIZE=",
                                        "OMPI_APP_",
                                        "OMPI_NUM_APP_CTX=",
                                        "OMPI_FIRST_RANKS=",
                                        "OMPI_FILE_LOCATION=",
                                        "OMPI_COMMAND=",
                                        "OMPI_ARGV=",
                                        "OMPI_MCA_initial_wdir=",
                                        "OMPI_MCA_num_procs=",
                                        "OMPI_MCA_ess=",
                                        "OMPI_MCA_ess_base_",
                                        "OMPI_MCA_pmix=^s1,s2,cray",
                                        "OMPI_MCA_mpi_oversubscribe=",
                                        "OMPI_MCA_shmem_RUNTIME_QUERY_hint=",
                                        "OMPI_MCA_orte_app_num=",
                                        "OMPI_MCA_orte_bound_at_launch=",
                                        "OMPI_MCA_orte_cpu_",
                                        "OMPI_MCA_orte_ess_",
                                        "OMPI_MCA_orte_hnp_uri=",
                                        "OMPI_MCA_orte_jobfam_session_dir=",
                                        "OMPI_MCA_orte_launch=",
                                        "OMPI_MCA_orte_local_daemon_uri=",
                                        "OMPI_MCA_orte_num_nodes=",
                                        "OMPI_MCA_orte_parent_uri=",
                                        "OMPI_MCA_orte_precondition_transports=",
                                        "OMPI_MCA_orte_top_session_dir=",
                                        "SLURM_PROCID=",
                                        "SLURM_LOCALID=",
                                        "SLURM_NODEID=",
                                        "SLURM_TASK_PID=",
                                        "SLURM_GTIDS=",
                                        "SLURM_NTASKS=",
                                        "SLURM_NPROCS=",
                                        "SLURM_STEP",
                                        "SLURM_SRUN_COMM_",
                                        "SLURM_LAUNCH_NODE_IPADDR=",
                                        "SLURM_CPU_BIND",
                                        "SLURM_MEM_BIND",
                                        NULL};
    return begins_any(variable, bound) && !begins_any(variable, own);
}

/* The environment that this process was started with, ended by NULL: MPI and weft have
 * since added to it for themselves. Where the system does not tell it, the one of now. */
static char **first_environment(weft_arena *mem)
{
    char *line = NULL, **env = NULL;
    size_t size = 0;
    int64_t n = 0, room = 0;
    FILE *in = fopen("/proc/self/environ", "r");
    if (!in) return environ;
    while (getdelim(&line, &size, '\0', in) > 0) {
        env = weft_grow(mem, env, sizeof *env, n, &room);
        env[n++] = weft_arena_text(mem, "%s", line);
    }
    free(line);
    fclose(in);
    env = weft_grow(mem, env, sizeof *env, n, &room);
    env[n] = NULL;
    return env;
}

static int is_replaced(const char *variable, int n, const char *const *name)
{
    for (int i = 0; i < n; i++)
        if (begins(variable, name[i]) && variable[strlen(name[i])] == '=') return 1;
    return 0;
}

/* 1 for what this process has told itself alone. */
static int is_own(const char *variable, int chosen)
{
    return chosen &&
           (begins(variable, WEFT_CORE "=") || begins(variable, WEFT_CORE_CHOSEN "="));
}

char **weft_environment(int n, const char *const *name, const char *const *value,
                        weft_arena *mem)
{
    char **old = first_environment(mem);
    int count = 0, at = 0, chosen = 0;
    for (; old[count]; count++) chosen |= begins(old[count], WEFT_CORE_CHOSEN "=");
    char **env = WEFT_NEW(mem, char *, count + n + 1);
    for (int i = 0; i < count; i++)
        if (!is_launcher(old[i]) && !is_own(old[i], chosen) &&
            !is_replaced(old[i], n, name))
            env[at++] = old[i];
    for (int i = 0; i < n; i++)
        env[at++] = weft_arena_text(mem, "%s=%s", name[i], value[i]);
    return env;
}

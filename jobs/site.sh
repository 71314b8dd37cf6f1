# The settings of this cluster: the one file here that is made to be edited. Every job reads it,
# and so do you on the login node, before you build and submit:
#   . jobs/site.sh && make && sbatch jobs/maps.sbatch
# What is empty is not used, and a variable that is set already keeps its value.

# The modules that weft is built with and runs with, as `module avail` writes them:
# "gcc/13 openmpi/5.0 openblas scalapack hdf5/1.14-mpi".
: "${SITE_MODULES=}"
# Or what Spack has built: an environment (`spack env list`), and packages to be loaded: "weft".
: "${SITE_SPACK_ENV=}"
: "${SITE_SPACK=}"

# What sbatch is to know beside the first lines of a job: its variables, `man sbatch`.
#export SBATCH_ACCOUNT=project SBATCH_PARTITION=standard

# What starts the ranks; if unset, srun by PMIx where it has that, else mpirun.
#LAUNCH="srun --mpi=pmix_v4"   # of MPICH and Intel MPI: "srun --mpi=pmi2"

# ---- nothing to be edited below -----------------------------------------------------------

if [ -n "$SITE_MODULES" ]; then
    # A batch shell does not always know `module`.
    for profile in /etc/profile.d/{modules,lmod,z00_lmod}.sh; do
        command -v module >/dev/null || [ ! -r "$profile" ] || . "$profile"
    done
    # shellcheck disable=SC2086
    module load $SITE_MODULES || { echo "jobs/site.sh: SITE_MODULES: no such modules here" >&2; exit 2; }
fi
if [ -n "$SITE_SPACK_ENV$SITE_SPACK" ]; then
    command -v spack >/dev/null || . "${SPACK_ROOT:-$HOME/spack}/share/spack/setup-env.sh" || exit 2
    [ -z "$SITE_SPACK_ENV" ] || spack env activate "$SITE_SPACK_ENV" || exit 2
    # shellcheck disable=SC2086
    [ -z "$SITE_SPACK" ] || spack load $SITE_SPACK || exit 2
fi

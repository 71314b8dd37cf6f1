# weft. `make help` lists the targets; config.mk, if there is one, is read first and may set
# any variable below that is assigned with ?=.
-include config.mk

VERSION := 0.1.0
VARIANT ?= opt
REAL    ?= float
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
HERE    := $(DESTDIR)$(PREFIX)
PYTHON  ?= $(firstword $(foreach p,python3 /usr/bin/python3,$(if $(shell \
    $p -c 'import h5py, matplotlib' 2>/dev/null && echo yes),$p)) python3)
ifeq ($(origin CC),default)
CC := gcc
endif

# ---- what weft stands on ------------------------------------------------------------------

exists = $(shell pkg-config --exists $1 2>/dev/null && echo $1)
either = $(or $(firstword $(foreach p,$1,$(call exists,$p))),$(firstword $1))
# The MPI is that of MPICC: Open MPI, or one of MPICH's kind. MPIRUN starts its ranks, also in tests.
MPICC ?= mpicc
MPIRUN ?= $(if $(findstring mpicc,$(MPICC)),$(subst mpicc,mpirun,$(MPICC)),mpirun)
HASH := \#
MPI := $(if $(findstring mpich,$(MPICC))$(shell echo '$(HASH)include <mpi.h>' | \
    $(MPICC) -E -dM -x c - 2>/dev/null | grep 'define MPICH_'),mpich,openmpi)
# HDF5 may be serial or parallel: nothing uses MPI-IO.
PKGS := $(call either,scalapack-$(MPI) scalapack) openblas $(call either,hdf5-$(MPI) hdf5-serial hdf5) \
    inih libutf8proc libxxhash yajl zlib
HEADERS := Random123/philox.h csv.h
TOOLS := $(MPICC) $(MPIRUN) pkg-config prove
# A variant may have settings of its own, and rules: smpi is that of simulated ranks.
-include tests/sim/$(VARIANT).mk

header = $(shell echo '$(HASH)include <$1>' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo $1)
tool = $(shell command -v $1 2>/dev/null)
MISSING := $(foreach t,$(TOOLS) $(CC),$(if $(call tool,$t),,$t)) \
    $(foreach p,$(PKGS),$(if $(call exists,$p),,$p.pc)) \
    $(foreach h,$(HEADERS),$(if $(call header,$h),,$h))
ifneq ($(filter demo,$(MAKECMDGOALS)),)
MISSING += $(if $(shell $(PYTHON) -c 'import h5py, matplotlib' 2>/dev/null && echo yes),,\
    h5py matplotlib)
endif
MISSING := $(strip $(MISSING))
# `make deps` installs no other compiler.
NO_CC := $(filter-out gcc,$(filter $(CC),$(MISSING)))

# ---- flags --------------------------------------------------------------------------------

CC_VERSION := $(shell $(CC) --version 2>/dev/null | head -1)
CLANG := $(findstring clang,$(CC_VERSION))
ARCH := $(shell $(CC) -dumpmachine 2>/dev/null)

on = $(filter-out 0,$1)
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Wold-style-definition -Wwrite-strings -Wcast-qual -Wpointer-arith -Wundef -Wformat=2 \
    -Wimplicit-fallthrough -Wredundant-decls -Wnull-dereference -Wconversion \
    -Wno-sign-conversion
WARN_gcc := -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wvla-larger-than=1
WARN_clang := -Wmissing-variable-declarations -Wcomma -Wunreachable-code-aggressive
# MPICH's constant for no statuses is an array of which gcc says that it has no room.
WARN_gcc += $(if $(filter mpich,$(MPI)),-Wno-stringop-overflow)
WARN := $(filter-out $(NOT_WARN),$(WARN)) $(WARN_$(or $(CLANG),gcc)) $(if $(call on,$(WERROR)),-Werror)

# Contraction to FMA is off, so that a result does not depend on the compiler.
OPT_opt := -O3 -g -fno-math-errno
OPT_debug := -O0 -g
OPT_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
OPT_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
# For clang: as asan, and libFuzzer learns which code an input reaches.
OPT_fuzz := $(OPT_asan) -O2 -fsanitize=fuzzer-no-link -DWEFT_FUZZ
OPT := $(OPT_$(VARIANT)) -ffp-contract=off
$(if $(OPT_$(VARIANT)),,$(error VARIANT=$(VARIANT): must be opt, debug, asan, tsan or fuzz))
$(if $(filter float double,$(REAL)),,$(error REAL=$(REAL): must be float or double))

# Kernels for one kind of CPU, chosen at run time, have flags by the name of their file.
ifneq ($(filter x86_64%,$(ARCH)),)
OPT += -march=x86-64-v2
FLAGS_kernel_avx2 := -mavx2 -mfma -mbmi2
FLAGS_kernel_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma
else
LEFT_OUT += math/kernel_avx2 math/kernel_avx512
endif
ifneq ($(filter aarch64% arm64%,$(ARCH)),)
# gcc 12 breaks down where it makes vectors of the largest of floats in double.
OPT += $(if $(CLANG),,-fno-builtin-fmax -fno-builtin-fmin)
else
LEFT_OUT += math/kernel_neon
endif
# Gathering single numbers into vectors takes longer than adding them one by one.
FLAGS_sparse := -fno-tree-vectorize
# For libFuzzer: how memory is given out, messages are written and numbers are looked at tells
# nothing of an input.
ifeq ($(VARIANT),fuzz)
FLAGS_arena := -fno-sanitize=fuzzer-no-link
FLAGS_log := $(FLAGS_arena)
FLAGS_numbers := $(FLAGS_arena)
endif
# For the record in run files.
FLAGS_output := -DWEFT_FLAGS='"$(strip $(OPT) $(CPPFLAGS) $(CFLAGS))"'

comma := ,
# Other people's headers are system headers: they are not ours to warn of.
ifeq ($(MISSING),)
# MPICC alone says where MPICH is: Debian's scalapack-mpich.pc names Open MPI.
NOT_LINKED := -llapack -lblas $(if $(filter mpich,$(MPI)),-lmpi -L%/openmpi/lib -I%/openmpi/include -I%/openmpi/include/openmpi)
SYSTEM := $(filter-out $(NOT_LINKED),$(shell pkg-config --cflags $(PKGS))) $(filter -I%,$(shell $(MPICC) -show 2>/dev/null))
LIB_CFLAGS := $(sort $(patsubst -I%,-isystem%,$(filter-out -I/usr/include/%-linux-gnu,$(SYSTEM))))
# OpenBLAS first: it serves ScaLAPACK too.
LIB_LIBS := $(shell pkg-config --libs openblas) \
    $(filter-out $(NOT_LINKED),$(shell pkg-config --libs $(PKGS))) -lcsv -lm
RPATH := $(patsubst -L%,-Wl$(comma)-rpath$(comma)%,$(filter-out -L/usr/%,$(filter -L%,$(LIB_LIBS))))
endif

DEFS := -D_POSIX_C_SOURCE=200809L -DWEFT_VERSION='"$(VERSION)"' \
    $(if $(filter double,$(REAL)),-DWEFT_DOUBLE)
ALL_CFLAGS := -std=c11 $(OPT) $(WARN) $(DEFS) -Iinclude -Isrc $(LIB_CFLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS := $(OPT) $(LDFLAGS) $(RPATH)
export OMPI_CC := $(CC)
export MPICH_CC := $(CC)

# ---- files --------------------------------------------------------------------------------

B := $(BUILD)/$(VARIANT)$(if $(filter double,$(REAL)),-double)
SRC := $(filter-out $(LEFT_OUT:%=src/%.c),$(wildcard src/*.c src/*/*.c src/*/*/*.c))
MAIN := $(filter src/cli/main.c,$(SRC))
PLANS := $(sort $(wildcard inputs/plans/*.ini))
OBJ := $(patsubst src/%.c,$B/obj/%.o,$(filter-out $(MAIN),$(SRC))) $B/obj/plans.o
LIB := $B/libweft.a
BIN := $(if $(MAIN),$B/weft)
TESTS ?= $(sort $(basename $(notdir $(wildcard tests/t_*.c tests/t_*.sh))))
SCRIPTS := $(wildcard $(patsubst %,tests/%.sh,$(TESTS:.sh=)))
TWICE := $(filter $(wildcard tests/t_*.c),$(patsubst %.sh,%.c,$(wildcard tests/t_*.sh)))
$(if $(TWICE),$(error $(TWICE): a script has the same name, and would run in its place; rename one))
PROGS := $(addprefix $B/tests/,$(filter-out $(SCRIPTS:tests/%.sh=%),$(TESTS:.sh=)))
BENCHES := $(patsubst tests/%.c,$B/tests/%,$(wildcard tests/b_*.c))
SOURCES := $(wildcard src/*.[ch] src/*/*.[ch] src/*/*/*.[ch] include/weft/*.h include/weft/*/*.h tests/*.[ch] tests/*/*.h tests/sim/*.c)
quote = '$(subst ','\'',$1)'
Q := $(if $(call on,$V),,@)
say = $(if $(call on,$V),,@echo '  $1')

# Every rank has one BLAS thread; ranks may be more than cores, and root may run them: for Open
# MPI 4, and for 5, whose launcher is PRRTE.
export OPENBLAS_NUM_THREADS := 1
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export OMPI_MCA_hwloc_base_binding_policy := none
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe
export PRTE_MCA_hwloc_default_binding_policy := none
unexport OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
ifneq ($(DATA),)
export WEFT_DATA := $(abspath $(DATA))
endif
export WEFT := $(BIN)
export MPICC MPIRUN

.PHONY: hooks all demo check check-kills valgrind check-slurm check-mpich check-aarch64 fuzz bench deps data vectors dist format tidy install uninstall help \
    clean info FORCE
.DELETE_ON_ERROR:
.SECONDARY:

# ---- targets ------------------------------------------------------------------------------

ifneq ($(MISSING),)
# Nothing can be built: the two commands of the README install what is missing and start again.
ifneq ($(WEFT_DEPS),)
$(error still missing after `make deps`: $(MISSING))
endif
lacking = @echo '$(if $(NO_CC),CC=$(CC): there is no $(NO_CC) here,$(strip \
    missing: $(MISSING); `make deps` installs it or says how))' >&2; exit 1
all bench check-slurm check-mpich check-aarch64 fuzz data install $(if $(NO_CC),demo check):
	$(lacking)
$B/%:
	$(lacking)
ifeq ($(NO_CC),)
demo check:
	@echo 'missing: $(MISSING)'
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory WEFT_DEPS=tried $@
endif
else

all: $(LIB) $(BIN) ## the library and the program, build/VARIANT/weft (default)

# Files that change when these texts do.
FLAGS := $(CC_VERSION) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIB_LIBS) \
    $(foreach v,$(sort $(filter FLAGS_%,$(.VARIABLES))),$v: $($v))
written = @mkdir -p $(@D); echo $(call quote,$1) | cmp -s - $@ || echo $(call quote,$1) >$@
$B/flags: FORCE
	$(call written,$(FLAGS))
$B/objects: FORCE
	$(call written,$(OBJ))
$B/plans: FORCE
	$(call written,$(PLANS))

define compile
$(call say,CC $<)
@mkdir -p $(@D)
$Q$(MPICC) $(ALL_CFLAGS) $(FLAGS_$(basename $(notdir $<))) -MMD -MP -c -o $@ $<
endef
$B/obj/%.o: src/%.c $B/flags
	$(compile)

# The plans as texts of the program: a string literal for each of their lines.
$B/plans.c: $(PLANS) $B/plans Makefile
	@{ echo '#include "run/run.h"'; echo; echo 'const weft_plan weft_plans[] = {'; \
	    for plan in $(PLANS); do \
	        echo "    {\"$$(basename $$plan .ini)\","; \
	        sed 's/[\\"]/\\&/g; s/.*/     "&\\n"/' $$plan; \
	        echo '    },'; \
	    done; echo '    {0}};'; } >$@
$B/obj/plans.o: $B/plans.c $B/flags
	$(compile)

$(LIB): $(OBJ) $B/objects Makefile
	$(call say,AR $@)
	@rm -f $@
	$Q$(AR) rcs $@ $(OBJ)

$B/weft: $B/obj/cli/main.o $(LIB)
	$(call say,LD $@)
	$Q$(MPICC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LIBS)

# t_fuzz packs to nowhere: it stands in for the functions that write HDF5 files.
HDF5_WRITES := create commit close put make put_rows grow append put_texts put_attr put_num put_long
LDFLAGS_t_fuzz := $(patsubst %,-Wl$(comma)--wrap=weft_%,$(HDF5_WRITES:%=h5_%) arena_new arena_free) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer)

# t_quota: calls that a full quota lets fail, and a clock that jumps.
LDFLAGS_t_quota := $(patsubst %,-Wl$(comma)--wrap=%,open write pwrite fsync close rename mkdir time)

$B/tests/%: tests/%.c $(LIB) $B/flags
	$(call say,LD $@)
	@mkdir -p $(@D)
	$Q$(MPICC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) $(ALL_LDFLAGS) $(LDFLAGS_$*) $(LIB_LIBS)

-include tests/sim/$(VARIANT)-rules.mk $(OBJ:.o=.d) $B/obj/cli/main.d $(PROGS:=.d) $(BENCHES:=.d)

# All tests, or those alone that TESTS names. The longest are first, so that none of them is left
# alone at the end; half as many again as there are cores, as many of them wait.
ALL_TESTS := $(filter file,$(origin TESTS))
LONG := t_jobs t_sgd t_worker t_same t_translate t_longer t_private t_inputs t_kills t_serve t_worker_own \
    t_tables t_analysis t_tuners t_export t_formats t_objectives t_kill t_cases t_gp t_beside t_logistic t_classes
FIRST := $(foreach t,$(LONG),$(filter %/$t %/$t.sh,$(SCRIPTS) $(PROGS)))
check: $(if $(ALL_TESTS)$(SCRIPTS),all) $(if $(ALL_TESTS),$(BENCHES)) $(PROGS) ## the tests; DATA=DIR adds those on real data, TESTS="t_a t_b" takes some
	@rm -f $B/counts
	@WEFT_COUNTS=$B/counts prove -j$(shell echo $$(($$(nproc) * 3 / 2))) $(if $(call on,$V),-v) --exec tests/run $(if $(ALL_TESTS),tests/layers) \
	    $(FIRST) $(filter-out $(FIRST),$(SCRIPTS) $(PROGS)); st=$$?; \
	awk '{ p += $$1; f += $$2; s += $$3 } END { print p+0 " passed, " f+0 " failed, " s+0 \
	    " skipped" }' $B/counts; exit $$st

# Memcheck has no AVX-512: weft and OpenBLAS choose kernels for AVX2 then. All tests would take
# hours, so these are of what reads and writes files and keeps memory.
MEMCHECK := t_base t_commit t_conf t_data t_federation t_folder t_idx t_journal t_leaf t_leaf_bad t_map t_par t_quota \
    t_readers t_run t_share t_space t_store t_vectors
# allregs: the handler of SIGBUS (t_map) returns to code whose registers memcheck must have kept.
valgrind: ## some C tests, or TESTS="t_a t_b", on 1 rank under valgrind's memcheck
	@NP=1 UNDER='valgrind -q --error-exitcode=9 --vex-iropt-register-updates=allregs-at-mem-access' $(MAKE) --no-print-directory check \
	    TESTS='$(if $(ALL_TESTS),$(MEMCHECK),$(TESTS))'

check-kills: all ## a kill at every place where weft changes files, of every kind of run; hours
	@prove -v --exec tests/run tests/kills

check-slurm: all ## the jobs in a SLURM of four virtual nodes that it starts here; 2 minutes
	@TIMEOUT=$${TIMEOUT:-400} prove -v --exec tests/run tests/slurm

check-mpich: all ## builds with MPICH, too: the same digests as with Open MPI, refusals, waiting; 3 minutes
	@prove -v --exec tests/run tests/mpich

CROSS := aarch64-linux-gnu-gcc qemu-aarch64 apt-get
check-aarch64: ## builds for 64-bit ARM and runs it under qemu: the digests of x86-64; Debian, 600 MB in build
	@for t in $(CROSS); do command -v $$t >/dev/null || \
	    { echo "missing: $$t (on Debian: apt-get install gcc-aarch64-linux-gnu qemu-user)" >&2; exit 1; }; done
	@prove -v --exec tests/run tests/aarch64

# A crash is left as build/fuzz/NAME.crash-...: mend it, and keep the input in tests/fuzz/corpus/NAME.
# Inputs that reached new code stay in build/fuzz/corpus, with a line of each start in counts: a
# long test can be done in pieces.
FUZZ ?= $(notdir $(wildcard tests/fuzz/corpus/*))
RUNS ?= 100000
ifeq ($(VARIANT),fuzz)
fuzz: $B/tests/t_fuzz
	@for t in $(FUZZ); do mkdir -p $B/corpus/$$t; ok=1; \
	    FUZZ=$$t ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=4:malloc_context_size=2:allocator_may_return_null=1:max_allocation_size_mb=512 \
	        $B/tests/t_fuzz -runs=$(RUNS) -max_len=1024 -timeout=60 -print_final_stats=1 \
	        -artifact_prefix=$B/$$t. $B/corpus/$$t tests/fuzz/corpus/$$t >$B/$$t.log 2>&1 || ok=; \
	    awk -v t=$$t '/^stat::number_of_exec/ { print t, $$2 }' $B/$$t.log >>$B/corpus/counts; \
	    awk -v t=$$t '$$1 == t { n += $$2; last = $$2 } END { printf "%s: %d executions, %d in all\n", t, last, n }' \
	        $B/corpus/counts; \
	    test $$ok || { tail -20 $B/$$t.log; echo "$$t: failed, see $B/$$t.log"; exit 1; }; done
else
fuzz: ## inputs at random to every reader, until one breaks (clang); FUZZ="conf leaf" takes some, RUNS=n of each
	@$(MAKE) --no-print-directory CC=clang VARIANT=fuzz fuzz
endif

bench: all $(BENCHES) ## measured rates: name,size,seconds,rate
	@for b in $(BENCHES); do tests/run $$b || exit 1; done

DEMO := outputs/demo
# $(call demo_tune,RANKS,INPUT,SETTINGS,NAME of the run): what it says goes to a file
demo_tune = { $(MPIRUN) -n $1 $(BIN) tune inputs/$2.ini $(strip $3) -o $(DEMO)-$4.h5 >$(DEMO).log 2>&1 || \
    { cat $(DEMO).log; false; }; }
# $(call demo_seeds,TEXT,INPUT,SETTINGS,NAME): the same for each of ten seeds; prints them
demo_seeds = @printf '%-58s' '$1'; for seed in 1 2 3 4 5 6 7 8 9 10; do \
    $(call demo_tune,2,$2,run.seed=$$seed $3,$4-$$seed) || exit; printf ' %s' $$seed; done; echo
SHARED := ws_sha.switch=1
# 200 rounds
CLIENTS := run.data=$(DEMO)-clients.h5
SINGLE := $(CLIENTS) run.tuner=random random.resource=200 space.configs=1 client.lr=0.1
ALONE := run.tuner=random random.resource=40 space.configs=5
HALVED := run.tuner=sha run.mixing=fedex fedex.k=9 space.configs=9 sha.eliminations=2 sha.budget=200 sha.max_resource=40
LAST := server.average=none server.momentum=0
WIDE := "client.lr=log 0.001 .. 10" "client.momentum=0 .. 0.9" "client.epochs=1 | 2" $(LAST)
demo: ## builds; on built-in data weft beside simple searches and the defaults, over ten seeds
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@mkdir -p outputs && rm -rf $(DEMO)*
	$(BIN) pack synthetic documents rows=20000 -o $(DEMO)-documents.h5
	$(BIN) pack synthetic images rows=10000 -o $(DEMO)-images.h5
	$(BIN) pack synthetic images rows=10000 clients=100 partition=dirichlet alpha=0.3 -o $(DEMO)-clients.h5
	@$(call demo_tune,1,demo,$(SHARED),documents-rank)
	@printf '\n%-58s seeds\n' 'searches on two ranks'
	$(call demo_seeds,documents: shared fits of 64 maps,demo,$(SHARED),documents-shared)
	$(call demo_seeds,documents: each map by itself,demo,run.tuner=random,documents-sweep)
	$(call demo_seeds,images: shared fits of 64 maps,demo-images,$(SHARED),images-shared)
	$(call demo_seeds,images: each map by itself,demo-images,run.tuner=random,images-sweep)
	$(call demo_seeds,200 rounds of a federation: the defaults,one,$(SINGLE) $(LAST),defaults)
	$(call demo_seeds,... with momentum and average of the server,one,$(SINGLE),average)
	$(call demo_seeds,... random search,one,$(CLIENTS) $(ALONE) $(WIDE),random)
	$(call demo_seeds,... FedEx in successive halving,one,$(CLIENTS) $(HALVED) $(WIDE),fedex)
	$(call demo_seeds,... one training that finds its rate,one,$(CLIENTS) one.resource=200 one.each=4,one)
	@echo
	@$(PYTHON) analysis/demo.py $(DEMO)

# Shell text that downloads an official archive into data/: $(call fetch,FROM,FILE,MD5,UNPACKED)
fetch = test -e data/$4 || { test -e data/$2 || { curl -fL --retry 3 -o data/$2.part $1/$2 || \
    wget -O data/$2.part $1/$2; } && mv data/$2.part data/$2; } && \
    echo '$3  data/$2' | md5sum -c - && tar -xzf data/$2 -C data; }
CIFAR := cifar-10-batches-bin
CIFAR_FROM := https://www.cs.toronto.edu/~kriz
CIFAR_MD5 := c32a1d4ab5d03f1284b67883e8d87530
IMDB_FROM := https://ai.stanford.edu/~amaas/data/sentiment
IMDB_MD5 := 7c2ac02c03563afcf9b574c7e56c153a
PLAYS := shakespeare/raw_data.txt
TEXT_FROM := https://www.gutenberg.org/files/100/old
TEXT_MD5 := 21d2a191f34fc0ff1c9a6873d4fa6738
RAW := $(or $(DATA),data)
# Packs $(RAW)/$1, if it is there, by the reader $2 into data/$3.h5 with the options $4.
there = test ! -e '$(RAW)/$1' || \
    $(MPIRUN) -n 1 $(BIN) pack $2 '$(RAW)/$1' -o data/$3.h5 --force $4
data: all ## CIFAR-10, IMDB and Shakespeare, downloaded or those in DATA=DIR, packed into data/*.h5
	@mkdir -p data
ifeq ($(DATA),)
	@$(call fetch,$(CIFAR_FROM),cifar-10-binary.tar.gz,$(CIFAR_MD5),$(CIFAR)/test_batch.bin)
	@$(call fetch,$(IMDB_FROM),aclImdb_v1.tar.gz,$(IMDB_MD5),aclImdb/test/pos)
	@mkdir -p data/shakespeare
	@test -e data/$(PLAYS) || { curl -fL --retry 3 -o data/plays.zip $(TEXT_FROM)/1994-01-100.zip && \
	    $(PYTHON) -m zipfile -e data/plays.zip data/shakespeare && \
	    mv data/shakespeare/100.txt data/$(PLAYS); }
	@echo '$(TEXT_MD5)  data/$(PLAYS)' | md5sum -c -
endif
	@there= lacks=; for f in $(CIFAR) aclImdb $(PLAYS); do \
	    if test -e '$(RAW)'/$$f; then there=yes; else lacks="$$lacks $$f"; fi; done; \
	test -z "$$lacks" || echo "$(RAW) lacks$$lacks (archives are to be unpacked)" >&2; \
	test -n "$$there"
	$(call there,$(CIFAR),cifar,cifar10)
	$(call there,aclImdb,imdb,imdb)
	$(call there,$(PLAYS),shakespeare,shakespeare,least=10)
	$(call there,$(PLAYS),shakespeare,shakespeare-small,stride=80 most=64 least=10)
	$(call there,rt-polaritydata,folder,mr,documents=lines test=0)

# Kim's cleaning of sentences, as tokenizer kim has it; reviews have marks of line ends.
CLEAN := s/<br \/>/ /g; s/[^A-Za-z0-9(),!?'`]/ /g; s/'(s|ve|re|d|ll)/ &/g; s/n't/ &/g; s/[(),!?]/ & /g
VECTORS ?= -dim 300 -epoch 5 -minCount 1 -minn 0 -maxn 0 -thread 1
vectors: ## word vectors, by fasttext out of the training texts of IMDB and rt-polarity in DATA=DIR: data/vectors.vec
	@command -v fasttext >/dev/null || { echo 'missing: fasttext (apt-get install fasttext)' >&2; exit 1; }
	@test -e '$(RAW)/aclImdb/train/pos' -o -e '$(RAW)/rt-polaritydata' || \
	    { echo '$(RAW) has neither aclImdb nor rt-polaritydata; make vectors DATA=DIR' >&2; exit 1; }
	@mkdir -p data
	@find '$(RAW)/aclImdb/train/pos/' '$(RAW)/aclImdb/train/neg/' '$(RAW)/rt-polaritydata/' \
	    -type f ! -name '.*' 2>/dev/null | LC_ALL=C sort | tr '\n' '\0' | LC_ALL=C xargs -0 \
	    sed -E $(call quote,$(CLEAN)) | LC_ALL=C tr A-Z a-z >data/words.txt
	fasttext skipgram -input data/words.txt -output data/vectors $(VECTORS)
	@rm -f data/words.txt data/vectors.bin

install: all ## program, library, headers, Python modules, man page, completion, weft.pc, modulefile: PREFIX, DESTDIR
	install -d $(HERE)/bin $(HERE)/lib/pkgconfig $(HERE)/include/weft $(HERE)/share/man/man1 \
	    $(HERE)/share/bash-completion/completions $(HERE)/share/weft $(HERE)/share/modulefiles/weft
	install -m 755 $(BIN) $(HERE)/bin/weft
	install -m 644 $(LIB) $(HERE)/lib/libweft.a
	cd include && find weft -name '*.h' -exec install -D -m 644 {} $(HERE)/include/{} ';'
	install -m 644 python/*.py $(HERE)/share/weft
	install -m 644 src/cli/weft.1 $(HERE)/share/man/man1/weft.1
	install -m 644 src/cli/weft.bash $(HERE)/share/bash-completion/completions/weft
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@REQUIRES@|$(filter-out scalapack-mpich,$(PKGS))|' \
	    -e 's|@SCALAPACK@|$(patsubst %,-l%,$(filter scalapack-mpich,$(PKGS)))|' \
	    -e 's|@DEFS@|$(if $(filter double,$(REAL)),-DWEFT_DOUBLE)|' src/cli/weft.pc.in \
	    >$(HERE)/lib/pkgconfig/weft.pc
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' src/cli/weft.module.in >$(HERE)/share/modulefiles/weft/$(VERSION)
	$(call sbom,$(foreach p,$(PKGS),$p=$(shell pkg-config --modversion $p)) random123 \
	    $(call by_macros,libcsv,CSV_MAJOR.CSV_MINOR.CSV_RELEASE,csv.h) $(call by_macros,$(MPI),$(MPI_VERSION),mpi.h)) \
	    >$(HERE)/share/weft/weft.cdx.json
endif

# The bill of materials: of packages NAME or NAME=VERSION; $(call by_macros,NAME,MACRO.MACRO,HEADER) is one of them.
sbom = jobs/packages/sbom.sh $(VERSION) $1
by_macros = $1=$(shell printf '$(HASH)include <$3>\n=$2\n' | $(MPICC) $(CPPFLAGS) -E -P -x c - 2>/dev/null | \
    sed -n 's/[" ]//g; s/^=\([0-9][0-9.a-z]*\)$$/\1/p')
MPI_VERSION := $(if $(filter mpich,$(MPI)),MPICH_VERSION,OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION)

uninstall: ## removes what install put there
	rm -f $(HERE)/bin/weft $(HERE)/lib/libweft.a $(HERE)/lib/pkgconfig/weft.pc \
	    $(HERE)/share/man/man1/weft.1 $(HERE)/share/bash-completion/completions/weft \
	    $(HERE)/share/modulefiles/weft/$(VERSION)
	rm -rf $(HERE)/include/weft $(HERE)/share/weft

# A bill without versions: the tarball contains none of these libraries, and has the same bytes wherever it is made.
DIST := weft-$(VERSION)
dist: ## build/weft-VERSION.tar.gz of the last commit with its bill of materials, always the same bytes; builds without git
	@git rev-parse HEAD >/dev/null 2>&1 || { echo 'make dist archives the last commit of git: there is none here' >&2; exit 1; }
	@mkdir -p $(BUILD)
	@$(call sbom,$(PKGS) random123 libcsv $(MPI)) >$(BUILD)/weft.cdx.json
	@git -c tar.umask=0002 archive --prefix=$(DIST)/ --add-file=$(BUILD)/weft.cdx.json -o $(BUILD)/$(DIST).tar HEAD
	@gzip -nf $(BUILD)/$(DIST).tar
	@echo $(BUILD)/$(DIST).tar.gz

APT := gcc libc6-dev make pkg-config perl $(if $(filter mpich,$(MPI)),mpich,openmpi-bin) lib$(MPI)-dev \
    libscalapack-$(MPI)-dev libopenblas-dev libhdf5-$(MPI)-dev librandom123-dev libinih-dev libutf8proc-dev \
    libxxhash-dev libcsv-dev libyajl-dev zlib1g-dev python3-numpy python3-h5py python3-matplotlib curl \
    ca-certificates
deps: ## installs what weft stands on with apt, or prints the names elsewhere
	@if command -v apt-get >/dev/null; then \
	    sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	    $$sudo apt-get update -q && \
	    $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(APT); \
	else printf '%s\n' 'There is no apt-get here. What weft stands on:' \
	    '  dnf:     gcc make pkgconf perl-Test-Harness openmpi-devel scalapack-openmpi-devel' \
	    '           openblas-devel hdf5-devel Random123-devel inih-devel utf8proc-devel' \
	    '           xxhash-devel libcsv-devel yajl-devel zlib-devel python3-h5py python3-matplotlib,' \
	    '           then: module load mpi/openmpi-x86_64' \
	    '  spack:   openmpi netlib-scalapack openblas hdf5 random123 utf8proc xxhash yajl zlib' \
	    '           py-h5py py-matplotlib, then: spack load; from their sources: inih, libcsv' \
	    '  modules: OpenMPI ScaLAPACK OpenBLAS HDF5 (parallel) h5py matplotlib; the rest by spack' \
	    'Anything in another place: CPPFLAGS=-I... LDFLAGS=-L... PKG_CONFIG_PATH=...' >&2; exit 1; fi

format: ## clang-format of all sources, and the picture of the rooms
	@clang-format -i $(SOURCES)
	@$(PYTHON) src/rooms.py

compile_commands.json: FORCE ## how each source is compiled, for editors
	@$(PYTHON) -c 'import json, sys; here, command, *files = sys.argv[1:]; json.dump([{"directory": here, \
	    "file": f, "command": command + " -c " + f} for f in files], sys.stdout, indent=0)' \
	    '$(CURDIR)' $(call quote,$(MPICC) $(ALL_CFLAGS)) $(filter src/%.c,$(SOURCES)) >$@

hooks: ## a commit checks format and walls first
	@printf '%s\n' '#!/bin/sh' 'exec tests/layers | grep -v "^ok" | { ! grep "^not ok" -A9; }' >.git/hooks/pre-commit
	@chmod +x .git/hooks/pre-commit

tidied = clang-tidy --quiet --checks='-*,bugprone-*,clang-analyzer-*,$(    -std=c11 $(DEFS) -Iinclude -Isrc $(LIB_CFLAGS) $2
tidy: ## clang-tidy of all sources
	$(call tidied,$(filter-out %_avx2.c %_avx512.c %_neon.c,$(filter src/%.c,$(SOURCES))))
	$(call tidied,src/math/kernel_avx2.c,$(FLAGS_kernel_avx2))
	$(call tidied,src/math/kernel_avx512.c,$(FLAGS_kernel_avx512))

help: ## this
	@awk -F ':.*## ' '/^[a-z_.-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
	@echo '  VARIANT=opt|debug|asan|tsan|fuzz  REAL=float|double  CC=gcc|clang  WERROR=1  V=1  BUILD=DIR'

info: ## what the build found
	@printf '%-9s %s\n' variant '$(VARIANT) $(REAL)' compiler '$(CC) $(CLANG) $(ARCH)' \
	    packages '$(PKGS)' missing '$(or $(MISSING),nothing)' flags $(call quote,$(ALL_CFLAGS)) \
	    libs '$(LIB_LIBS)' python '$(PYTHON)'

clean: ## removes what was built
	rm -rf $(BUILD)

print-%:
	@echo $(call quote,$($*))

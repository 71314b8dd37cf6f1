# Rules of make VARIANT=smpi: the program, with what stands in for what it leaves out.
SIM := $(patsubst tests/sim/%.c,$B/obj/sim/%.o,$(filter-out tests/sim/alias.c,$(wildcard tests/sim/*.c)))
SIM_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,open rename pthread_create weft_cpu_sgemm weft_par_start \
    rff_make_bytes rff_blocks_keep rff_matrix_vtable)

all: $B/weft-sim $B/alias.so

$B/obj/sim/%.o: tests/sim/%.c $B/flags
	$(call say,CC $<)
	@mkdir -p $(@D)
	$Q$(MPICC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$B/alias.so: tests/sim/alias.c
	$(call say,LD $@)
	$Q$(CC) -O2 -shared -fPIC -fno-builtin $(WARN) -o $@ $<

$B/weft-sim: $(SIM) $(LIB)
	$(call say,LD $@)
	$Qsmpicc $(ALL_LDFLAGS) -s $(SIM_WRAP) -o $@ $^ $(LIB_LIBS)

-include $(SIM:.o=.d)

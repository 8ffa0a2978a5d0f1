# Ratios measured side by side in one run. Stock Valgrind cannot run clwb, so its side of the comparison is built without
# it (the _none programs), which makes the ratio harder for us; libpmemobj chooses by CPUID.
BENCH_BIN := $(addprefix $(B)/bench/,compute compute_none persist persist_none pmemobj_list pmemobj_list_none sparse sparse_none read_speed model_speed check_speed crash_runner crash_recovery hashmap)

$(B)/bench/%_none: bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra -O2 -g -I. -fno-tree-vectorize -fno-tree-slp-vectorize -DNO_CLWB -o $@ $< $(if $(findstring pmemobj,$*),-lpmemobj)

$(B)/bench/%: bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra -O2 -g -I. -fno-tree-vectorize -fno-tree-slp-vectorize -o $@ $< $(if $(findstring pmemobj,$*),-lpmemobj)

# With PMDK's example, as Debian's libpmemobj-dev has it.
PMDK_HASHMAP := $(SYSROOT)/usr/share/doc/libpmemobj-dev/examples/hashmap
$(B)/bench/hashmap: bench/hashmap.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -w -O2 -g -I$(PMDK_HASHMAP) -o $@ $< $(PMDK_HASHMAP)/hashmap_tx.c -lpmemobj

# These measure parts of pmend alone.
$(addprefix $(B)/bench/,read_speed model_speed check_speed crash_runner): $(B)/bench/%: bench/%.c $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -o $@ $^ $(LIBS)

# The table of bench/representative, in the frame of the mutants.
$(B)/bench/table-any: bench/table.c $(MT_DRIVER) $(MT_HEADERS)
	@mkdir -p $(@D)
	$(CC) -O1 $(MT_CFLAGS) -I$(MT_SRC) -DMUTANT_AT_RUN_TIME -o $@ bench/table.c $(MT_DRIVER)

bench: ; @$(MAKE) --no-print-directory setup && $(MAKE) --no-print-directory -j2 all mutants $(BENCH_BIN) $(B)/tests/crash/undecided && $(RUN) bench/run.sh

.PHONY: bench-representative
bench-representative: ; @$(MAKE) --no-print-directory setup && $(MAKE) --no-print-directory -j2 mutants $(B)/bench/table-any && $(RUN) bench/representative

# Takes a while; an interrupted one goes on where it was.
.PHONY: bench-mutants
bench-mutants: ; @$(MAKE) --no-print-directory setup && $(MAKE) --no-print-directory -j2 mutants && $(RUN) bench/mutants

# Mends those mutants; takes long, too. bench-fix: time and memory of `pmend fix` on a large program.
.PHONY: bench-explore
bench-explore: ; @$(MAKE) --no-print-directory setup && $(MAKE) --no-print-directory -j2 all $(EXPLORE_TESTS) $(B)/bench/compute_none && $(RUN) bench/explore

.PHONY: bench-fix-mutants bench-fix
bench-fix-mutants: ; @$(MAKE) --no-print-directory setup && $(MAKE) --no-print-directory -j2 mutants && $(RUN) bench/fix_mutants
bench-fix: ; @$(MAKE) --no-print-directory setup && $(MAKE) --no-print-directory -j2 all && $(RUN) bench/fix

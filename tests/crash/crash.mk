# Crash exploration: laziness against the model, and `pmend crash` on whole programs (run.py).
CRASH_PROGRAMS := $(addprefix $(B)/tests/crash/,cases causes unlogged cases_static breadth groups nasty acks store pools ported synced metas wal journal twice between beside chains library own undecided undecided_static large assure assure_static reopen goes_on odd places ranks answers shown midway hidden rebuilt marked handed device cut shorts short_syncs private named seldom creation created locked filed filed_stores quorum chained gone oneline kinds torn making served folders)
CRASH_TESTS := $(B)/tests/crash/test_lazy $(B)/tests/crash/test_litmus $(B)/tests/crash/reader $(CRASH_PROGRAMS) $(B)/bench/table-any

$(B)/tests/crash/unlogged $(B)/tests/crash/rebuilt $(B)/tests/crash/handed: CRASH_LIBS := -lpmemobj
$(B)/tests/crash/unlogged $(B)/tests/crash/rebuilt: CRASH_CFLAGS += -Wno-clobbered # TX_BEGIN is setjmp

$(B)/tests/crash/shorts $(B)/tests/crash/short_syncs: CRASH_CFLAGS += -Wno-sizeof-pointer-memaccess -Wno-sizeof-pointer-div

# This architecture's instructions.
$(B)/tests/crash/beside: CRASH_CFLAGS += -Itests/crash/$(ARCH)
$(B)/tests/crash/beside: tests/crash/$(ARCH)/loads.h

# Its own functions are found by everything in its process.
$(B)/tests/crash/own: CRASH_CFLAGS += -rdynamic -fno-builtin -Wno-unused-parameter

# Programs that run.py records, and whose recovery it runs.
CRASH_CFLAGS = -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -Iinclude -I. -pthread -fno-optimize-sibling-calls
$(filter-out %_static,$(CRASH_PROGRAMS)): $(B)/tests/crash/%: tests/crash/%.c tests/crash/pm.h tests/machine.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) $(CRASH_CFLAGS) -o $@ $< $(CRASH_LIBS)

$(B)/tests/crash/%_static: tests/crash/%.c tests/crash/pm.h tests/machine.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) $(CRASH_CFLAGS) -static -o $@ $<

$(B)/tests/crash/filed $(B)/tests/crash/filed_stores: tests/crash/filed.h

$(B)/tests/crash/reader: tests/crash/reader.c tests/crash/script.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -o $@ $<

$(B)/tests/crash/test_lazy $(B)/tests/crash/test_litmus: $(B)/tests/crash/%: $(B)/obj/tests/crash/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

-include $(wildcard $(B)/obj/tests/crash/*.d)

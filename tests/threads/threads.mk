# Programs whose threads share persistent memory, correct and broken. tests/threads/run.py runs a few schedules of them, bench/threads many.
THREADED := cache hashmap list log queue seqlock server stack tree tx workers
THREADS_TESTS := $(foreach p,$(THREADED),$(B)/tests/threads/$(p) $(B)/tests/threads/$(p)-broken)

$(THREADS_TESTS): tests/threads/threads.h tests/crash/pm.h tests/machine.h include/pmend.h
$(B)/tests/threads/tx $(B)/tests/threads/tx-broken: THREADS_LIBS := -lpmemobj
$(B)/tests/threads/%-broken: THREADS_FLAGS := -DBROKEN

THREADS_CC = $(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -Iinclude -I. -pthread -fno-optimize-sibling-calls $(THREADS_FLAGS)
$(B)/tests/threads/%-broken: tests/threads/%.c
	@mkdir -p $(@D)
	$(THREADS_CC) -o $@ $< $(THREADS_LIBS)
$(B)/tests/threads/%: tests/threads/%.c
	@mkdir -p $(@D)
	$(THREADS_CC) -o $@ $< $(THREADS_LIBS)

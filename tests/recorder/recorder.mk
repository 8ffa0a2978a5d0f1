# Programs under test for the recorder; run.py, in the same folder, records and judges them.
RT := $(B)/tests/recorder
RT_CFLAGS = -g -Wall -Wextra -D_GNU_SOURCE -Iinclude -I. -pthread -MMD -MP -MF $@.dep
RT_ARCH_arm64 := -march=armv8.4-a # with atomics as instructions, not as calls
RT_NOW := -Wl,-z,now # no lazy binding: its locked instructions are fences when something is pending
RT_PLAIN := libc syscalls files mappings followed fork kill annotations pmdk handed sync
RT_ARCHED := stores direct flushes loads # a program for each architecture: its own instructions

RT_STACKS := $(RT)/stacks_O0 $(RT)/stacks_O2
RT_EXCEPTIONS := $(RT)/exceptions_O0 $(RT)/exceptions_O2
RT_BINARIES := $(addprefix $(RT)/binaries_,nopie static staticpie stripped)

RECORDER_TESTS := $(addprefix $(RT)/,$(RT_PLAIN) $(RT_ARCHED)) $(RT_STACKS) $(RT_EXCEPTIONS) $(RT_BINARIES) $(RT)/sync_static

$(RT)/pmdk: RT_LIBS := -lpmem -lpmemobj
$(addprefix $(RT)/,$(RT_PLAIN)): $(RT)/%: tests/recorder/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O0 $(RT_CFLAGS) $(RT_NOW) -o $@ $< $(RT_LIBS)

$(RT)/sync_static: tests/recorder/sync.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O0 $(RT_CFLAGS) -static -o $@ $<

$(addprefix $(RT)/,$(RT_ARCHED)): $(RT)/%: tests/recorder/$(ARCH)/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O0 $(RT_CFLAGS) $(RT_ARCH_$(ARCH)) $(RT_NOW) -o $@ $<

$(RT_STACKS): $(RT)/stacks_%: tests/recorder/stacks.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -$* $(RT_CFLAGS) -Wl,-z,lazy -o $@ $<

$(RT_EXCEPTIONS): $(RT)/exceptions_%: tests/recorder/exceptions.cc
	@mkdir -p $(@D)
	$(CXX) -$* $(RT_CFLAGS) -o $@ $<

$(RT)/binaries_nopie: RT_KIND := -O0 -no-pie -fno-pie
$(RT)/binaries_static: RT_KIND := -O2 -static -no-pie -fno-pie
$(RT)/binaries_staticpie: RT_KIND := -O2 -static-pie -fPIE
$(RT)/binaries_stripped: RT_KIND := -O2 -s
$(RT_BINARIES): $(RT)/binaries_%: tests/recorder/binaries.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(RT_CFLAGS) $(RT_KIND) $(RT_NOW) -o $@ $<

-include $(RECORDER_TESTS:=.dep)

# Programs that the command line's tests record or run.
CLI_TESTS := $(addprefix $(B)/tests/cli/,pool candidates schedules schedules_files annotated annotated_cc runtime_probe.so \
	commits howto_oracle.so oracle_probe.so oracle_other_abi.so oracle_unnamed.so \
	ids ids_moved loop maps dies flag write_trace whose linked linked_static linked_static_pie partly callers opener synced synced_libpmem server) $(addprefix $(B)/examples/,append_log append_log_buggy)

$(B)/tests/cli/pool: tests/cli/pool.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

$(B)/tests/cli/candidates: tests/cli/candidates.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

$(B)/tests/cli/schedules: tests/cli/schedules.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -pthread -o $@ $<

$(B)/tests/cli/schedules_files: tests/cli/schedules_files.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -pthread -o $@ $<

$(B)/tests/cli/annotated: tests/cli/annotated.c include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O2 -g -Iinclude -o $@ $<

$(B)/tests/cli/annotated_cc: tests/cli/annotated.c include/pmend.h
	@mkdir -p $(@D)
	$(CXX) -x c++ -Wall -Wextra -O2 -g -Iinclude -o $@ $<

$(B)/tests/cli/runtime_probe.so: tests/cli/runtime_probe.c include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O2 -fPIC -shared -Iinclude -o $@ $<

$(B)/tests/cli/commits: tests/cli/commits.c tests/machine.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -I. -Iinclude -o $@ $<

$(B)/tests/cli/synced: tests/cli/synced.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

$(B)/tests/cli/synced_libpmem: tests/cli/synced.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -DWITH_LIBPMEM -I. -o $@ $< -lpmem

# The oracle that the document builds, as it stands there.
$(B)/tests/cli/howto_oracle.c: docs/howto-add-oracle.md
	@mkdir -p $(@D)
	awk '/^```c$$/ { on = 1; next } /^```$$/ { on = 0 } on' $< >$@

$(B)/tests/cli/howto_oracle.so: $(B)/tests/cli/howto_oracle.c include/pmend_oracle.h
	$(CC) -std=c11 $(WARN) -O2 -fPIC -shared -Iinclude -o $@ $<

$(B)/tests/cli/oracle_other_abi.so: ORACLE_FLAGS := -DABI=999
$(B)/tests/cli/oracle_unnamed.so: ORACLE_FLAGS := -DNAME='"No Name"'
$(addprefix $(B)/tests/cli/,oracle_probe.so oracle_other_abi.so oracle_unnamed.so): tests/cli/oracle_probe.c include/pmend_oracle.h
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) -O2 -fPIC -shared -Iinclude $(ORACLE_FLAGS) -o $@ $<

# One program twice, the second time with ten lines more above; nobody finds its source.
IDS_CFLAGS = -std=gnu11 -O0 -g -D_GNU_SOURCE -Iinclude -I. -Itests/corpus -pthread

$(B)/tests/cli/ids $(B)/tests/cli/ids_moved: tests/corpus/missing_flush_fence.c tests/corpus/corpus.h tests/machine.h include/pmend.h
	@mkdir -p $@.src
	(test $(@F) = ids || seq -f '/* %g */' 10; cat $<) >$@.src/ids.c
	$(CC) $(IDS_CFLAGS) -ffile-prefix-map=$@.src=/gone -o $@ $@.src/ids.c

$(B)/tests/cli/loop: tests/cli/loop.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -I. -o $@ $<

$(B)/tests/cli/maps: tests/cli/maps.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

$(B)/tests/cli/dies: tests/cli/dies.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -pthread -o $@ $<

$(B)/tests/cli/flag: tests/cli/flag.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

$(B)/tests/cli/server: tests/cli/server.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

# As a project builds it: without optimisation, so that the C++ library's functions are frames of their own.
$(B)/tests/cli/whose: tests/cli/whose.cc tests/machine.h
	@mkdir -p $(@D)
	$(CXX) -Wall -Wextra -O0 -g -I. -o $@ $<

# The same program with the C library in it.
$(addprefix $(B)/tests/cli/,linked linked_static linked_static_pie): tests/cli/linked.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. $(if $(filter %_static,$@),-static) $(if $(filter %_pie,$@),-static-pie) -o $@ $< -pthread

$(B)/tests/cli/partly: tests/cli/partly.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -DPART -c -o $@.part.o $<
	$(CC) -std=gnu11 $(WARN) -O1 -g -static -o $@ $< $@.part.o

$(B)/tests/cli/callers: tests/cli/callers.c tests/cli/vendor/pmalloc.c tests/cli/vendor/pmalloc.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -I. -fno-optimize-sibling-calls -o $@ $(filter %.c,$^) -lpmemobj

$(B)/tests/cli/opener: tests/cli/opener.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -o $@ $< -lpmemobj

$(B)/tests/cli/write_trace: $(B)/obj/tests/cli/write_trace.o $(patsubst %,$(B)/obj/%.o,trace/chunks trace/files trace/kinds trace/owner trace/reader trace/stream trace/tables trace/writer util/alloc util/alloc_die util/error util/sysroot)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^

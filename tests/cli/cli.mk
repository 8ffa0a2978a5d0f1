# Programs that the command line's tests record or run.
CLI_TESTS := $(addprefix $(B)/tests/cli/,pool annotated annotated_cc runtime_probe.so)

$(B)/tests/cli/pool: tests/cli/pool.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -o $@ $<

$(B)/tests/cli/annotated: tests/cli/annotated.c include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O2 -g -Iinclude -o $@ $<

$(B)/tests/cli/annotated_cc: tests/cli/annotated.c include/pmend.h
	@mkdir -p $(@D)
	$(CXX) -x c++ -Wall -Wextra -O2 -g -Iinclude -o $@ $<

$(B)/tests/cli/runtime_probe.so: tests/cli/runtime_probe.c include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O2 -fPIC -shared -Iinclude -o $@ $<

# Programs that the command line's tests record or run.
CLI_TESTS := $(addprefix $(B)/tests/cli/,pool annotated annotated_cc runtime_probe.so \
	commits howto_oracle.so oracle_probe.so oracle_other_abi.so oracle_unnamed.so)

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

$(B)/tests/cli/commits: tests/cli/commits.c include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -mclwb -Iinclude -o $@ $<

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

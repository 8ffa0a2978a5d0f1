# Small programs for `pmend crash --races`; run.py says what must be found in each.
RACES_NAMES := mechanisms snapshot figure1 figure2 semantic regions declared trust uninitialised slots letters atomic fresh shared creation killed noise sums lots obj
RACES_TESTS := $(RACES_NAMES:%=$(B)/tests/races/%)

$(B)/tests/races/%: tests/races/%.c tests/races/pm.h tests/machine.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -Iinclude -I. -o $@ $< $(RACES_LDFLAGS) -pthread

# By its name, a library of PMDK's.
$(B)/tests/races/libpmemtrust.so: tests/races/trust.c tests/races/pm.h tests/machine.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -Iinclude -I. -DTRUST_LIBRARY -fPIC -shared -o $@ $<

$(B)/tests/races/obj: RACES_LDFLAGS := -lpmemobj
$(B)/tests/races/trust: $(B)/tests/races/libpmemtrust.so
$(B)/tests/races/trust: RACES_LDFLAGS := -L$(B)/tests/races -lpmemtrust -Wl,-rpath,'$$ORIGIN'

# Small programs for `pmend crash --races`; run.py says what must be found in each.
RACES_NAMES := mechanisms figure1 figure2
RACES_TESTS := $(RACES_NAMES:%=$(B)/tests/races/%)

$(B)/tests/races/%: tests/races/%.c tests/races/pm.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -Iinclude -mclwb -o $@ $<

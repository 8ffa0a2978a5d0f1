# Programs with bugs behind conditions on their input, and one that computes in all ways with it; run.py says what must come of them.
EXPLORE_TESTS := $(addprefix $(B)/tests/explore/,programs ops obj)

$(B)/tests/explore/ops: EXPLORE_FLAGS := -O2 -mno-red-zone -mmovbe -mssse3 -mpopcnt
$(B)/tests/explore/programs: EXPLORE_FLAGS := -O1
$(B)/tests/explore/obj: EXPLORE_FLAGS := -O1
$(B)/tests/explore/obj: EXPLORE_LIBS := -lpmemobj
$(EXPLORE_TESTS): $(B)/tests/explore/%: tests/explore/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -g -D_GNU_SOURCE $(EXPLORE_FLAGS) -o $@ $< $(EXPLORE_LIBS)

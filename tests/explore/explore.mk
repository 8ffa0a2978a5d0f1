# Programs with bugs behind conditions on their input, one that computes in all ways with it, and one that tries what chance does; run.py says what must
# come of them.
EXPLORE_TESTS := $(addprefix $(B)/tests/explore/,programs fresh ops obj small talks threads tries)

EXPLORE_OPS_amd64 := -mno-red-zone -mmovbe -mssse3 -mpopcnt
$(B)/tests/explore/ops: EXPLORE_FLAGS := -O2 $(EXPLORE_OPS_$(ARCH))
$(B)/tests/explore/programs $(B)/tests/explore/fresh $(B)/tests/explore/tries: EXPLORE_FLAGS := -O1 -Iinclude
$(B)/tests/explore/obj $(B)/tests/explore/small $(B)/tests/explore/talks $(B)/tests/explore/threads: EXPLORE_FLAGS := -O1 -pthread
$(B)/tests/explore/obj: EXPLORE_LIBS := -lpmemobj
$(EXPLORE_TESTS): $(B)/tests/explore/%: tests/explore/%.c tests/explore/pm.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -g -D_GNU_SOURCE -I. $(EXPLORE_FLAGS) -o $@ $< $(EXPLORE_LIBS)
$(B)/tests/explore/tries: tests/explore/programs.c

# Parsers in the styles that servers and tools use, each with one bug; parsers/NAME-correct has none.
EXPLORE_PARSERS := $(patsubst tests/explore/parsers/%.c,$(B)/tests/explore/parsers/%,$(wildcard tests/explore/parsers/*.c))
EXPLORE_CORRECT := $(addsuffix -correct,$(EXPLORE_PARSERS))
EXPLORE_TESTS += $(EXPLORE_PARSERS) $(EXPLORE_CORRECT)
$(EXPLORE_PARSERS): $(B)/tests/explore/parsers/%: tests/explore/parsers/%.c tests/explore/parsers/parser.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -g -D_GNU_SOURCE -I. -O1 -o $@ $<
$(EXPLORE_CORRECT): $(B)/tests/explore/parsers/%-correct: tests/explore/parsers/%.c tests/explore/parsers/parser.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -g -D_GNU_SOURCE -DCORRECT -I. -O1 -o $@ $<

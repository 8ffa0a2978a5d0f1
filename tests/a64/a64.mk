# What a64/ makes of instruction words, for tests/a64/run.py.
A64_TESTS := $(B)/tests/a64/dump

$(B)/tests/a64/dump: $(B)/obj/tests/a64/dump.o $(patsubst %.c,$(B)/obj/%.o,$(wildcard a64/*.c))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^

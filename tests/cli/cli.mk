# The program that the command line's tests record.
CLI_TESTS := $(B)/tests/cli/pool

$(B)/tests/cli/pool: tests/cli/pool.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -o $@ $<

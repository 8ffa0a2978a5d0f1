# A program that stores to PM in many ways; run.py, in the same folder, records it and explores its crashes.
STORES_TESTS := $(B)/tests/stores/stores

$(STORES_TESTS): tests/stores/stores.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -Iinclude -I. -pthread -fno-optimize-sibling-calls -o $@ $<

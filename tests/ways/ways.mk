# One program with a table of ways to read PM, and the same linked statically (run.py).
WAYS_TESTS := $(B)/tests/ways/ways $(B)/tests/ways/ways_static
WAYS_SOURCES := $(wildcard tests/ways/*.c) tests/ways/$(ARCH)/insns.c

$(WAYS_TESTS): $(WAYS_SOURCES) tests/ways/ways.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -pthread -fno-optimize-sibling-calls $(if $(filter %_static,$@),-static) -o $@ $(WAYS_SOURCES)

# Crash exploration: laziness against the model, and `pmend crash` on whole programs (run.py).
CRASH_TESTS := $(B)/tests/crash/test_lazy $(B)/tests/crash/reader

$(B)/tests/crash/reader: tests/crash/reader.c tests/crash/script.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -o $@ $<

$(B)/tests/crash/test_lazy: $(B)/obj/tests/crash/test_lazy.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

-include $(wildcard $(B)/obj/tests/crash/*.d)

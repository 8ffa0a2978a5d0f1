# Everything `tests/run.py` runs.
-include tests/unit/unit.mk
-include tests/recorder/recorder.mk

tests: $(UNIT_TESTS) $(UNIT_ASAN_TESTS) $(FUZZ_BIN) $(RECORDER_TESTS)

fuzz: all tests
	$(RUN) $(FUZZ_BIN)

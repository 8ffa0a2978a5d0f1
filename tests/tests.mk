# Everything `tests/run.py` runs.
include tests/unit/unit.mk
include tests/fuzz/fuzz.mk
include tests/a64/a64.mk
include tests/cli/cli.mk
include tests/recorder/recorder.mk
include tests/runtime/runtime.mk
include tests/crash/crash.mk
include tests/ways/ways.mk
include tests/stores/stores.mk
include tests/corpus/corpus.mk
include tests/mutants/mutants.mk
include tests/races/races.mk
include tests/fix/fix.mk
include tests/explore/explore.mk
include tests/places/places.mk
include tests/faults/faults.mk
include tests/slurm/slurm.mk
include tests/threads/threads.mk

tests: $(filter-out $(MISSING_FILES),$(UNIT_TESTS) $(UNIT_ASAN_TESTS) $(FUZZ_BIN) $(A64_TESTS) $(CLI_TESTS) $(RECORDER_TESTS) $(RUNTIME_TESTS) $(CRASH_TESTS) $(WAYS_TESTS) $(STORES_TESTS) $(CORPUS_TESTS) \
	$(MUTANTS_TESTS) $(RACES_TESTS) $(FIX_TESTS) $(EXPLORE_TESTS) $(FAULTS_TESTS) $(PLACES_TESTS) $(THREADS_TESTS))

# What `make check-next` runs on another Debian.
.PHONY: tests-next
tests-next: $(UNIT_TESTS) $(RECORDER_TESTS) $(CORPUS_TESTS) $(CRASH_TESTS) $(FX)/write_tx

fuzz: all $(FUZZ_BIN)
	$(RUN) tests/fuzz/run.py $(if $(SECONDS),--seconds $(SECONDS)) $(TARGET)

# One libFuzzer program with all that is fuzzed, of pmend's own sources (clang, sanitizers). tests/fuzz/run.py runs it.
FUZZ_BIN := $(B)/tests/fuzz
FUZZ_SRC := $(wildcard tests/fuzz/*.c) tests/unit/sample.c $(LIB_SRC) $(CMD_SRC)
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(B)/obj-fuzz/%.o)
# What commands.c has instead.
FUZZ_WRAP := exit options_parse recorder_folder fork posix_spawn execve execvp \
	tempdir_open recording_run exploring_begin crashing_explore runner_new source_load set_aside_begin dlopen

$(B)/obj-fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(ALL_CFLAGS) $(ASAN) -g1 -fsanitize=fuzzer-no-link -c -o $@ $<

$(B)/obj-fuzz/cmd/main.o: ALL_CFLAGS += -Dmain=pmend_main -Wno-missing-prototypes

$(FUZZ_BIN): $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(CLANG) $(CFLAGS) $(ASAN) -fsanitize=fuzzer $(FUZZ_WRAP:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

-include $(FUZZ_OBJ:.o=.d)

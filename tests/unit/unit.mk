# Unit tests (cmocka), once as they are and once with sanitizers.
#   UNIT_TESTS, UNIT_ASAN_TESTS   programs that exit with 0 when all is well: run each with $(RUN)

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_TESTS := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
UNIT_ASAN_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit-asan/%,$(filter-out %_contain.c %_alias.c %_types.c %_vex.c,$(UNIT_SRC))) # the first mostly waits, others are LLVM, the last has Valgrind's own code

ASAN := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined

$(UNIT_TESTS): $(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(B)/obj/tests/unit/sample.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS) -lcmocka

$(B)/obj-asan/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ASAN) -c -o $@ $<

$(UNIT_ASAN_TESTS): $(B)/tests/unit-asan/%: $(B)/obj-asan/tests/unit/%.o $(B)/obj-asan/tests/unit/sample.o \
		$(LIB_OBJ:$(B)/obj/%=$(B)/obj-asan/%)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(ASAN) -o $@ $^ $(LIBS) -lcmocka

# The points-to analysis, which is not in the command itself.
ALIAS_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(filter-out %/bitcode.c,$(wildcard source/alias/*.c)))
ALIAS_SOLVER := $(patsubst %.c,%.o,$(wildcard source/alias/set.c source/alias/solve*.c))
$(B)/obj/tests/unit/test_alias.o $(ALIAS_OBJ): ALL_CFLAGS += $(LLVM_CFLAGS)
$(B)/tests/unit/test_alias: $(ALIAS_OBJ)
$(B)/tests/unit/test_alias_solver: $(addprefix $(B)/obj/,$(ALIAS_SOLVER))
$(B)/tests/unit-asan/test_alias_solver: $(addprefix $(B)/obj-asan/,$(ALIAS_SOLVER))
$(B)/tests/unit/test_alias: LIBS += $(LLVM_LIBS)

$(filter %/test_report %/test_report_formats %/test_report_causes,$(UNIT_TESTS)): $(B)/obj/tests/unit/report_sample.o
$(filter %/test_report %/test_report_formats %/test_report_causes,$(UNIT_ASAN_TESTS)): $(B)/obj-asan/tests/unit/report_sample.o

# The tracer's operations beside VEX's, which has no position-independent code.
$(B)/obj/tests/unit/test_vex.o: ALL_CFLAGS += -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -isystem $(SYSROOT)/usr/include/valgrind
$(B)/tests/unit/test_vex: $(patsubst %,$(B)/obj/valgrind/tracer/value/%.o,value word_symbols rows ops vector arch/amd64/flags)
$(B)/tests/unit/test_vex: LIBS += -no-pie $(VG_LIB)/libvex-amd64-linux.a

# The decoder of the runtime for amd64.
$(B)/obj/tests/unit/test_evex.o $(B)/obj-asan/tests/unit/test_evex.o: ALL_CFLAGS += -Iruntime

# What the tracer loads into a program has names that only Valgrind's header makes.
$(B)/obj/tests/unit/test_numbers.o $(B)/obj-asan/tests/unit/test_numbers.o: ALL_CFLAGS += $(VG_DEFINES) -isystem $(SYSROOT)/usr/include/valgrind


# The search's tests read the code of a program.
$(filter %/test_explore,$(UNIT_TESTS) $(UNIT_ASAN_TESTS)): | $(B)/tests/explore/programs

# Z3 comes in the shared object that `all` builds.
$(filter %/test_expr,$(UNIT_TESTS) $(UNIT_ASAN_TESTS)): | $(B)/libexec/pmend/libpmend_solver.so

# The row that a page of the documentation shows is compiled as it stands there.
$(B)/tests/howto_platform.inc: docs/howto-add-platform.md
	@mkdir -p $(@D)
	awk '/^```c$$/ { on = 1; next } /^```/ { on = 0 } on' $< >$@
$(B)/obj/tests/unit/test_howto_platform.o $(B)/obj-asan/tests/unit/test_howto_platform.o: $(B)/tests/howto_platform.inc
$(B)/obj/tests/unit/test_howto_platform.o $(B)/obj-asan/tests/unit/test_howto_platform.o: ALL_CFLAGS += -iquote $(B)/tests

# The runner's tests run programs that do what recovery may do, with the runtime that `all` builds.
RUNNER_TARGETS := $(addprefix $(B)/tests/crash/,target target_static target_bad bad_library.so thread_library.so missing_library.so)
$(filter %/test_runner %/test_runner_contain,$(UNIT_TESTS)): $(B)/obj/tests/unit/runner_fixture.o | $(RUNNER_TARGETS)
$(filter %/test_runner,$(UNIT_ASAN_TESTS)): $(B)/obj-asan/tests/unit/runner_fixture.o | $(RUNNER_TARGETS)

$(B)/tests/crash/target_static: TARGET_FLAGS := -static
$(B)/tests/crash/target_bad: TARGET_FLAGS := -DBAD_CONSTRUCTOR
$(B)/tests/crash/missing_library.so: TARGET_FLAGS := -DMISSING -fPIC -shared -Wl,-z,lazy
$(B)/tests/crash/thread_library.so: TARGET_FLAGS := -DTHREAD_CONSTRUCTOR -fPIC -shared
$(B)/tests/crash/bad_library.so: TARGET_FLAGS := -DBAD_CONSTRUCTOR -fPIC -shared
$(RUNNER_TARGETS): tests/crash/target.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE $(TARGET_FLAGS) -o $@ $<

# Stores of every form, by both compilers, for which test_types knows the answers.
# On arm64, atomics as instructions of the program and not as calls of libgcc's.
TYPES_CFLAGS_arm64 := -mno-outline-atomics
TYPES_PROGRAMS := $(addprefix $(B)/tests/types/,forms-gcc-O0 forms-gcc-O2 forms-clang-O0 forms-clang-O2 forms_cxx-O0 forms_cxx-O2)
$(filter %/test_types,$(UNIT_TESTS)): $(B)/obj/tests/unit/types_fixture.o | $(TYPES_PROGRAMS) $(B)/libexec/pmend/libpmend_source.so

$(B)/tests/types/forms-gcc-%: tests/types/forms.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -Wno-missing-prototypes -Wno-strict-aliasing -g -$* $(TYPES_CFLAGS_$(ARCH)) -o $@ $<
$(B)/tests/types/forms-clang-%: tests/types/forms.c
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 $(WARN) -Wno-missing-prototypes -g -$* $(TYPES_CFLAGS_$(ARCH)) -c -o $@.o $<
	$(CC) -o $@ $@.o
$(B)/tests/types/forms_cxx-%: tests/types/forms_cxx.cpp
	@mkdir -p $(@D)
	$(CXX) -Wall -Wextra -g -$* $(TYPES_CFLAGS_$(ARCH)) -fPIC -shared -o $@ $<

# Prints what the stores of a trace were found to write.
$(B)/tests/types_dump: tests/types/dump.c $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -o $@ $^ $(LIBS)

.SECONDARY: $(UNIT_SRC:%.c=$(B)/obj/%.o) $(UNIT_SRC:%.c=$(B)/obj-asan/%.o)

-include $(ALIAS_OBJ:.o=.d) $(wildcard $(B)/obj/tests/unit/*.d $(B)/obj-asan/*/*.d $(B)/obj-asan/*/*/*.d $(B)/obj-asan/*/*/*/*/*.d)

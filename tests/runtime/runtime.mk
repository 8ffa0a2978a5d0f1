# The preloaded runtime: one program, driver and readers.
# And objects that its readers load.
RUNTIME_OBJECTS := $(patsubst tests/runtime/$(ARCH)/objects/%.c,$(B)/tests/runtime/%.so,$(wildcard tests/runtime/$(ARCH)/objects/*.c))
RUNTIME_TESTS := $(B)/tests/runtime/runtime $(B)/tests/runtime/runtime_static $(RUNTIME_OBJECTS)

# What of the runtime can be run under ThreadSanitizer; it is the same on all architectures, and cross compilers have no library for it.
RUNTIME_TSAN_amd64 := $(B)/tests/runtime/maps_tsan
RUNTIME_TESTS += $(RUNTIME_TSAN_$(ARCH))

$(B)/tests/runtime/maps_tsan: tests/runtime/tsan/maps.c runtime/maps.c runtime/pm.h runtime/internal.h runtime/arch.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -Iinclude -Iruntime -fsanitize=thread -pthread -o $@ $(filter %.c,$^)

# Code that it asks by itself: the stubs of detours.
RUNTIME_ASKED_arm64 := runtime/arch/arm64/detour_emit.c

$(RUNTIME_OBJECTS): $(B)/tests/runtime/%.so: tests/runtime/$(ARCH)/objects/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -shared -fPIC -o $@ $<

$(B)/tests/runtime/runtime: $(wildcard tests/runtime/*.c tests/runtime/$(ARCH)/*.c a64/*.c) $(RUNTIME_ASKED_$(ARCH)) $(wildcard runtime/arch/$(ARCH)/*.h) tests/runtime/run.h $(wildcard tests/runtime/$(ARCH)/*.h) tests/machine.h include/pmend_run.h include/pmend.h $(RUNTIME_OBJECTS) $(B)/libexec/pmend/libpmend_rt.so
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -Wno-missing-field-initializers -O1 -g -D_GNU_SOURCE -I. -Iinclude -Itests -Itests/runtime -Iruntime -pthread -o $@ $(filter %.c,$^)

# A program that the dynamic loader has no part in.
$(B)/tests/runtime/runtime_static:
	@mkdir -p $(@D)
	echo 'int main(void) { return 0; }' | $(CC) -static -x c -o $@ -

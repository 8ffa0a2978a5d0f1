# The preloaded runtime: one program, driver and readers.
RUNTIME_TESTS := $(B)/tests/runtime/runtime $(B)/tests/runtime/runtime_static

# Code that it asks by itself: the stubs of detours.
RUNTIME_ASKED_arm64 := runtime/arch/arm64/detour_emit.c

$(B)/tests/runtime/runtime: $(wildcard tests/runtime/*.c tests/runtime/$(ARCH)/*.c a64/*.c) $(RUNTIME_ASKED_$(ARCH)) $(wildcard runtime/arch/$(ARCH)/*.h) tests/runtime/run.h $(wildcard tests/runtime/$(ARCH)/*.h) tests/machine.h include/pmend_run.h include/pmend.h $(B)/libexec/pmend/libpmend_rt.so
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -Wno-missing-field-initializers -O1 -g -D_GNU_SOURCE -I. -Iinclude -Itests -Itests/runtime -Iruntime -pthread -o $@ $(filter %.c,$^)

# A program that the dynamic loader has no part in.
$(B)/tests/runtime/runtime_static:
	@mkdir -p $(@D)
	echo 'int main(void) { return 0; }' | $(CC) -static -x c -o $@ -

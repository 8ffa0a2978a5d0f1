# The library that is preloaded into recovery. Nothing in it may be interposed or bound late: it runs in signal handlers.
RUNTIME_ARCH := runtime/arch/$(ARCH)
RUNTIME_CFLAGS := -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -I. -Iinclude -Iruntime -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fno-stack-protector -fasynchronous-unwind-tables -fno-omit-frame-pointer -MMD -MP
RUNTIME_LIBS :=
RUNTIME_LENT :=
RUNTIME_IMPORTS := runtime/imports.txt $(wildcard $(RUNTIME_ARCH)/imports.txt)
-include $(RUNTIME_ARCH)/arch.mk

RUNTIME_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(call chosen,$(wildcard runtime/*.c runtime/calls/*.c $(RUNTIME_ARCH)/*.c)))
RUNTIME_SHOWN := $(B)/obj/runtime/strings.o # functions for the program: the rest of the library does not call them

# What pmend has, too, as a part of this library: the serving side (serve/), and what the architecture needs (RUNTIME_LENT).
RUNTIME_LENT_OBJ := $(patsubst %.c,$(B)/obj/runtime-%.o,serve/processes.c serve/reap.c serve/sandbox.c serve/serve.c $(RUNTIME_LENT))

# must not become calls of the functions that they define, nor vectors
$(B)/obj/runtime/strings.o $(B)/obj/runtime/libc.o: RUNTIME_CFLAGS += -O1 -fno-builtin

$(RUNTIME_OBJ): $(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

$(RUNTIME_LENT_OBJ): $(B)/obj/runtime-%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

# All but what is shown, with libgcc's unwinder, as one object in which memcpy and the like are our own (libc.c) and nobody else's.
$(B)/obj/runtime-whole.o: $(filter-out $(RUNTIME_SHOWN),$(RUNTIME_OBJ)) $(RUNTIME_LENT_OBJ) $(B)/without
	$(CC) -r -nostdlib -o $@ $(filter %.o,$^) -lgcc_eh -lgcc
	$(shell $(CC) -print-prog-name=objcopy) --keep-global-symbol=__libc_start_main --keep-global-symbol=pmend_rt_annotate $@

# It is initialised before all other libraries: threads that their constructors start, and calls that these make, are part of the run.
# What it needs of the process must be in imports.txt, or the architecture's own.
$(B)/libexec/pmend/libpmend_rt.so: $(B)/obj/runtime-whole.o $(RUNTIME_SHOWN) $(RUNTIME_IMPORTS)
	@mkdir -p $(@D)
	$(CC) -shared -static-libgcc -Wl,-z,now,-z,relro,-z,defs,-z,initfirst,--exclude-libs=ALL -o $@.new $(filter %.o,$^) $(RUNTIME_LIBS)
	$(shell $(CC) -print-prog-name=nm) -D --undefined-only $@.new | awk 'FILENAME != "-" { known[$$1] = 1; next } { sub("@.*", "", $$2) } \
		!($$2 in known) { print "libpmend_rt.so needs " $$2 ", which runtime/imports.txt does not name" > "/dev/stderr"; bad = 1 } END { exit bad }' \
		$(RUNTIME_IMPORTS) -
	mv $@.new $@
	echo "built $@"

-include $(RUNTIME_OBJ:.o=.d) $(RUNTIME_LENT_OBJ:.o=.d)

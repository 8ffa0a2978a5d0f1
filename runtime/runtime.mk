# The library that is preloaded into recovery. Nothing in it may be interposed or bound late: it runs in signal handlers.
ARCH_OF_x86_64 := amd64
ARCH_OF_aarch64 := arm64
RUNTIME_ARCH := runtime/arch/$(ARCH_OF_$(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))
RUNTIME_CFLAGS := -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -I. -Iinclude -Iruntime -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fno-stack-protector -fasynchronous-unwind-tables -fno-omit-frame-pointer -MMD -MP
RUNTIME_LIBS :=
include $(RUNTIME_ARCH)/arch.mk

RUNTIME_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard runtime/*.c $(RUNTIME_ARCH)/*.c))

# The serving side, which pmend has, too (serve/), as a part of this library.
RUNTIME_SERVE_OBJ := $(patsubst %,$(B)/obj/runtime-serve/%.o,processes reap serve)

# must not become calls of the functions that it defines, nor vectors
$(B)/obj/runtime/strings.o: RUNTIME_CFLAGS += -O1 -fno-builtin

$(RUNTIME_OBJ): $(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

$(RUNTIME_SERVE_OBJ): $(B)/obj/runtime-serve/%.o: serve/%.c
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

$(B)/libexec/pmend/libpmend_rt.so: $(RUNTIME_OBJ) $(RUNTIME_SERVE_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared -static-libgcc -Wl,-z,now,-z,relro,-z,defs,--exclude-libs=ALL -o $@ $^ $(RUNTIME_LIBS)
	echo "built $@"

-include $(RUNTIME_OBJ:.o=.d) $(RUNTIME_SERVE_OBJ:.o=.d)

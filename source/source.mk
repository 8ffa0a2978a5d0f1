# libpmend_source.so: what needs libclang and LLVM, which take a moment to load and so are opened only by those who read sources.
CLANG_LIB := $(SYSROOT)/usr/lib/llvm-14
SOURCE_SRC := $(wildcard source/clang/*.c source/alias/*.c source/library/*.c) source/layout.c source/writers.c $(patsubst %,util/%.c,alloc alloc_die error map proc sysroot tempdir)
SOURCE_CFLAGS = -fPIC -fvisibility=hidden -isystem $(CLANG_LIB)/include -DCLANG_RESOURCE_DIR='"/usr/lib/llvm-14/lib/clang/14.0.6"'

$(B)/obj/source-so/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SOURCE_CFLAGS) -c -o $@ $<

$(B)/libexec/pmend/libpmend_source.so: $(SOURCE_SRC:%.c=$(B)/obj/source-so/%.o)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -Wl,-z,defs -o $@ $^ -L$(CLANG_LIB)/lib -lclang-14 -lLLVM-14
	echo "built $@"

-include $(SOURCE_SRC:%.c=$(B)/obj/source-so/%.d)

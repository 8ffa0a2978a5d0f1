# libpmend_source.so: what needs libclang and LLVM, which take a moment to load and so are opened only by those who read sources.
SOURCE_SRC := $(wildcard source/clang/*.c source/alias/*.c source/library/*.c) source/layout.c source/writers.c $(patsubst %,util/%.c,alloc alloc_die error map proc sysroot tempdir)
LLVM_CFLAGS := -isystem $(LLVM_DIR)/include -DLLVM_HOME='"$(LLVM_HOME)"'
LLVM_LIBS := -L$(LLVM_DIR)/lib -lclang-$(LLVM) -lLLVM-$(LLVM)
SOURCE_CFLAGS = -fPIC -fvisibility=hidden $(LLVM_CFLAGS)

$(B)/obj/source-so/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SOURCE_CFLAGS) -c -o $@ $<

$(B)/libexec/pmend/libpmend_source.so: $(SOURCE_SRC:%.c=$(B)/obj/source-so/%.o)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -Wl,-z,defs -o $@ $^ $(LLVM_LIBS)
	echo "built $@"

-include $(SOURCE_SRC:%.c=$(B)/obj/source-so/%.d)

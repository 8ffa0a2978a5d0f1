# The second Valgrind tool, for `pmend explore`, with the expressions that it shares with it, and what it loads into the traced program.
TRACER_FOLDERS := valgrind/tracer $(addprefix valgrind/tracer/,value value/arch/$(ARCH) path shadow blocks)
TRACER_SRC := $(wildcard $(addsuffix /*.c,$(TRACER_FOLDERS)))
TRACER_OBJ := $(TRACER_SRC:%.c=$(B)/obj/%.o) $(VG_COMMON_OBJ) $(EXPR_SRC:%.c=$(B)/obj/tracer-tool/%.o)
TRACER := $(B)/libexec/pmend/pmend-trace-$(ARCH)-linux
TRACER_PRELOAD := $(B)/libexec/pmend/vgpreload_pmend-trace-$(ARCH)-linux.so

# Operations of VEX that Valgrind 3.27 no longer has.
$(B)/obj/valgrind/tracer/value/ops.o: VG_CFLAGS += $(if $(shell grep -sw Iop_Clz64 $(SYSROOT)/usr/include/valgrind/libvex_ir.h),-DVEX_HAS_CLZ)

$(B)/obj/tracer-tool/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(VG_CFLAGS) -c -o $@ $<

# the folder's links to Valgrind's own files are the recorder's
$(TRACER): $(TRACER_OBJ) | $(B)/libexec/pmend/pmend-$(ARCH)-linux
	@mkdir -p $(@D)
	$(CC) $(VG_LDFLAGS) -o $@ $^ $(VG_LDLIBS)
	echo "built $@"

$(TRACER_PRELOAD): valgrind/tracer/preload/replace.c valgrind/tracer/preload/numbers.c include/pmpath.h
	@mkdir -p $(@D)
	$(CC) -O1 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector \
		-fPIC -shared -nodefaultlibs $(VG_DEFINES) -Iinclude -I$(SYSROOT)/usr/include/valgrind -o $@ $(filter %.c,$^)
	echo "built $@"

-include $(TRACER_OBJ:.o=.d)

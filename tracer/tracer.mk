# The second Valgrind tool, for `pmend explore`: linked as the recorder is (recorder/recorder.mk), with what it shares with it.
# Its files for another machine's condition codes (*_arm64.c) are for developers there; see docs/explore.md.
TRACER_SRC := $(filter-out %_arm64.c,$(wildcard tracer/*.c)) recorder/debuginfo.c recorder/decode.c \
	$(patsubst %,explore/%.c,expr expr_compute expr_simplify)
TRACER_OBJ := $(TRACER_SRC:%.c=$(B)/obj/tracer-tool/%.o)
TRACER := $(B)/libexec/pmend/pmend-trace-amd64-linux
TRACER_PRELOAD := $(B)/libexec/pmend/vgpreload_pmend-trace-amd64-linux.so

$(B)/obj/tracer-tool/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(VG_CFLAGS) -I. -Itracer -Irecorder -c -o $@ $<

# the folder's links to Valgrind's own files are the recorder's
$(TRACER): $(TRACER_OBJ) | $(B)/libexec/pmend/pmend-amd64-linux
	@mkdir -p $(@D)
	$(CC) $(VG_LDFLAGS) -o $@ $^ $(VG_LIB)/libcoregrind-amd64-linux.a $(VG_LIB)/libvex-amd64-linux.a -lgcc \
		$(VG_LIB)/libgcc-sup-amd64-linux.a
	echo "built $@"

$(TRACER_PRELOAD): tracer/preload/replace.c tracer/preload/numbers.c include/pmpath.h
	@mkdir -p $(@D)
	$(CC) -O1 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector \
		-fPIC -shared -nodefaultlibs -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -Iinclude -I$(SYSROOT)/usr/include/valgrind -o $@ $(filter %.c,$^)
	echo "built $@"

-include $(TRACER_OBJ:.o=.d)

# The two Valgrind tools, linked out of tree against Debian's static core. Freestanding: no libc.
comma := ,
VG_LIB := $(SYSROOT)/usr/lib/$(TRIPLET)/valgrind
VG_CFLAGS_amd64 := -mno-red-zone
VG_CFLAGS_arm64 := -mno-outline-atomics
VG_CFLAGS := -O2 -g -std=gnu11 -Wall -Wextra -Wshadow -Wno-unused-parameter -fno-stack-protector -fno-builtin \
	-fomit-frame-pointer -fno-strict-aliasing -fno-pie -ffreestanding $(VG_CFLAGS_$(ARCH)) $(VG_DEFINES) \
	-I$(SYSROOT)/usr/include/valgrind -I. -Iinclude -MMD -MP
VG_LDFLAGS := -static -no-pie -nodefaultlibs -nostartfiles -u _start -Wl,-Ttext-segment=0x58000000 -Wl,--build-id=none
# common/debuginfo.c
VG_LDFLAGS += $(addprefix -Wl$(comma)--wrap=,vgModuleLocal_img_from_local_file vgModuleLocal_read_debuginfo_dwarf3 \
	vgModuleLocal_read_callframe_info_dwarf3 vgPlain_getenv)
VG_LDLIBS := $(VG_LIB)/libcoregrind-$(ARCH)-linux.a $(VG_LIB)/libvex-$(ARCH)-linux.a -lgcc $(VG_LIB)/libgcc-sup-$(ARCH)-linux.a

# What both tools are made of. Of the arch/ folders, those of the processor that the tools are for.
VG_COMMON_SRC := $(wildcard valgrind/common/*.c valgrind/common/arch/$(ARCH)/*.c)
VG_LENT_arm64 := $(wildcard a64/*.c)
VG_LENT := serve/sandbox.c $(VG_LENT_$(ARCH)) # what pmend has, too
VG_COMMON_OBJ := $(VG_COMMON_SRC:%.c=$(B)/obj/%.o) $(VG_LENT:%.c=$(B)/obj/valgrind-tool/%.o)

$(B)/obj/valgrind/%.o: valgrind/%.c
	@mkdir -p $(@D)
	$(CC) $(VG_CFLAGS) -c -o $@ $<

$(B)/obj/valgrind-tool/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(VG_CFLAGS) -c -o $@ $<

include valgrind/recorder/recorder.mk
include valgrind/tracer/tracer.mk

-include $(VG_COMMON_OBJ:.o=.d)

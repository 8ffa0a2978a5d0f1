# The Valgrind tool, linked out of tree against Debian's static core. Freestanding: no libc.
comma := ,
VG_LIB := $(SYSROOT)/usr/lib/x86_64-linux-gnu/valgrind
VG_CFLAGS := -O2 -g -std=gnu11 -Wall -Wextra -Wshadow -Wno-unused-parameter -fno-stack-protector -fno-builtin \
	-fomit-frame-pointer -fno-strict-aliasing -fno-pie -ffreestanding -mno-red-zone -DVGA_amd64=1 -DVGO_linux=1 \
	-DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -I$(SYSROOT)/usr/include/valgrind -Iinclude -MMD -MP
VG_LDFLAGS := -static -no-pie -nodefaultlibs -nostartfiles -u _start -Wl,-Ttext-segment=0x58000000 -Wl,--build-id=none
# recorder/debuginfo.c
VG_LDFLAGS += $(addprefix -Wl$(comma)--wrap=,vgModuleLocal_img_from_local_file vgModuleLocal_read_debuginfo_dwarf3 \
	vgModuleLocal_read_callframe_info_dwarf3 vgPlain_getenv)

REC_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard recorder/*.c))
VG_SUPPORT := default.supp vgpreload_core-amd64-linux.so 64bit-core.xml

$(B)/obj/recorder/%.o: recorder/%.c
	@mkdir -p $(@D)
	$(CC) $(VG_CFLAGS) -c -o $@ $<

$(B)/libexec/pmend/pmend-amd64-linux: $(REC_OBJ)
	@mkdir -p $(@D)
	$(CC) $(VG_LDFLAGS) -o $@ $^ $(VG_LIB)/libcoregrind-amd64-linux.a $(VG_LIB)/libvex-amd64-linux.a -lgcc \
		$(VG_LIB)/libgcc-sup-amd64-linux.a
	@for f in $(SYSROOT)/usr/libexec/valgrind/*.xml $(SYSROOT)/usr/libexec/valgrind/*.supp \
		$(SYSROOT)/usr/libexec/valgrind/vgpreload_core-amd64-linux.so; do \
		ln -sf /usr/libexec/valgrind/$${f##*/} $(@D)/; done
	echo "built $@"

-include $(REC_OBJ:.o=.d)

# The recorder, with links to Valgrind's own files beside it.
RECORDER_SRC := $(wildcard valgrind/recorder/*.c valgrind/recorder/*/*.c)
RECORDER_OBJ := $(RECORDER_SRC:%.c=$(B)/obj/%.o) $(VG_COMMON_OBJ)

$(B)/libexec/pmend/pmend-$(ARCH)-linux: $(RECORDER_OBJ)
	@mkdir -p $(@D)
	$(CC) $(VG_LDFLAGS) -o $@ $^ $(VG_LDLIBS)
	@for f in $(SYSROOT)/usr/libexec/valgrind/*.xml $(SYSROOT)/usr/libexec/valgrind/*.supp \
		$(SYSROOT)/usr/libexec/valgrind/vgpreload_core-$(ARCH)-linux.so; do \
		ln -sf /usr/libexec/valgrind/$${f##*/} $(@D)/; done
	echo "built $@"

-include $(RECORDER_OBJ:.o=.d)

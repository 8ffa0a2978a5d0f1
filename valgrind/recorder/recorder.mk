# The recorder, with links to Valgrind's own files beside it.
RECORDER_SRC := $(wildcard valgrind/recorder/*.c valgrind/recorder/*/*.c)
# schedule/turns.c
RECORDER_LDFLAGS := $(addprefix -Wl$(comma)--wrap=,vgModuleLocal_acquire_sched_lock vgModuleLocal_release_sched_lock)
RECORDER_OBJ := $(RECORDER_SRC:%.c=$(B)/obj/%.o) $(VG_COMMON_OBJ)

$(B)/libexec/pmend/pmend-$(ARCH)-linux: $(RECORDER_OBJ)
	@mkdir -p $(@D)
	$(CC) $(VG_LDFLAGS) $(RECORDER_LDFLAGS) -o $@ $^ $(VG_LDLIBS)
	@for f in $(SYSROOT)/usr/libexec/valgrind/*.xml $(SYSROOT)/usr/libexec/valgrind/*.supp \
		$(SYSROOT)/usr/libexec/valgrind/vgpreload_core-$(ARCH)-linux.so; do \
		ln -sf /usr/libexec/valgrind/$${f##*/} $(@D)/; done
	echo "built $@"

-include $(RECORDER_OBJ:.o=.d)

# pmend: `make help` lists what can be made. Everything built lands in build/.
# `make ARCH=arm64 ...` on amd64, or the other way round, builds for the other architecture in build/ARCH (tools/arch.mk).

PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0
.DEFAULT_GOAL := all

include tools/arch.mk
include tools/llvm.mk
include tools/parts.mk

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=gnu11 $(WARN) $(CFLAGS) -D_GNU_SOURCE -DPMEND_VERSION='"$(VERSION)"' -DPMEND_ARCH='"$(ARCH)"' -DLLVM_NUMBER='"$(LLVM)"' -I. -Iinclude -MMD -MP
LIBS := -ldw -lelf -ljansson -lzstd $(if $(filter zydis,$(PARTS)),$(call with_part,zydis,-lZydis)) -lstdc++ -lm -ldl

LIB_SRC := $(call chosen,$(wildcard $(addsuffix /*.c,util serve a64 trace model check bundle report report/text report/html source source/arch/$(ARCH) explore explore/expr explore/path explore/graph explore/graph/arch/$(ARCH) \
	repair repair/edit repair/plan repair/idiom repair/effects repair/durability repair/amend repair/files repair/tx \
	crash crash/shadow crash/states crash/index crash/run crash/representative crash/search crash/races crash/findings crash/workers crash/files pools pools/unseen record crash/setup account account/causes account/evidence session \
	distribute/packing distribute/shard distribute/spread doctor explore/session repair/verify)))
CMD_SRC := $(wildcard cmd/show/*.c cmd/talk/*.c cmd/project/*.c cmd/completion/*.c cmd/fix/*.c cmd/distribute/*.c cmd/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(B)/obj/%.o)

ifndef V # make V=1 shows the commands
.SILENT:
endif

.PHONY: all setup setup-tests demo check check-long check-other check-suites check-next tests bench fuzz help clean man
all: $(B)/pmend $(filter-out $(MISSING_FILES),$(addprefix $(B)/libexec/pmend/,pmend-$(ARCH)-linux libpmend_rt.so $(call with_part,llvm,libpmend_source.so) \
	$(call with_part,z3,libpmend_solver.so) pmend-trace-$(ARCH)-linux vgpreload_pmend-trace-$(ARCH)-linux.so))
	$(tell_absent)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/pmend: $(CMD_OBJ) $(LIB_OBJ) $(B)/without
	$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
	echo "built $@"

include report/report.mk
include runtime/runtime.mk
include source/source.mk
include explore/explore.mk
include valgrind/valgrind.mk
include tests/tests.mk
include bench/bench.mk
include docs/docs.mk
include tools/install.mk

demo:
	@$(MAKE) --no-print-directory setup-build
	@$(MAKE) --no-print-directory -j2 $(B)/examples/append_log $(B)/examples/append_log_buggy all
	@$(RUN) examples/demo.sh

check:
	@$(MAKE) --no-print-directory setup $(if $(RUN),,setup-tests)
	@$(MAKE) --no-print-directory -j2 all tests
	@tests/all.sh $(if $(RUN),$(ARCH))

# The sweeps, too: an hour and more.
check-long: ; @LONG=1 $(MAKE) --no-print-directory check

setup-tests: ; @tools/apt-install $$(tools/packages browser)

check-other: ; @$(MAKE) --no-print-directory ARCH=$(OTHER) check

# Other Debians than this machine's: all tests of each, or in short those of the other stable one.
check-suites: ; @tools/check-suites
check-next: ; @tools/check-suites --short $$(tools/on --other)

$(B)/examples/%_buggy: examples/%.c examples/flush.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra -g -O1 -Iinclude -DFORGET_FLUSH -o $@ $<

$(B)/examples/%: examples/%.c examples/flush.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra -g -O1 -Iinclude -o $@ $<

help:
	@echo "make                     build build/pmend, which runs in place"
	@echo "make demo                install what is missing, build, record, judge and crash a bundled example"
	@echo "make check               install what is missing, build, run all tests"
	@echo "make check-long          the same, with sweeps that take an hour and more"
	@echo "make check-other         the same for the other architecture ($(OTHER)), in an emulated machine"
	@echo "make check-suites        all tests, and the Debian package, on other versions of Debian, in folders of their own"
	@echo "make check-next          the other stable version only, in short"
	@echo "make check-slurm         install Slurm, test pmend submit against it"
	@echo "make ARCH=$(OTHER) ...     build for it in build/$(OTHER)"
	@echo "make bench               measure, as ratios in one run"
	@echo "make fuzz                fuzz what pmend reads until interrupted; TARGET=NAME, SECONDS=N"
	@echo "make install PREFIX=...  install (default: /usr/local)"
	@echo "make uninstall           remove exactly that"
	@echo "make deb                 a Debian package in build/deb"
	@echo "make man                 man pages in build/man"
	@echo "make clean               remove build/"
	@echo "make V=1 ...             show the commands"

clean:
	rm -rf $(B)

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)

# Parts that pmend can be built without: those whose headers are not installed, and those that `make WITHOUT="llvm z3 zydis"` names. In place of the files
# that need a part, a stub is built: without/PART.c of their folder. ABSENT: the parts that are left out.
NEED_llvm := source/load.c
NEED_z3 := explore/path/solver.c
NEED_zydis := source/arch/amd64/insn.c explore/graph/arch/amd64/insn.c $(addprefix runtime/arch/amd64/,zydis.c insn.c text.c detour.c detour_scan.c detour_emit.c)
LOST_llvm := 'pmend fix' does not work, and 'pmend crash --strategy representative' knows less
LOST_z3 := 'pmend explore' does not work
LOST_zydis := 'pmend explore' does not work, and 'pmend crash' needs more and slower runs of recovery

# Zydis 3, whose decoder has another interface, has no Disassembler.h.
PARTS := $(strip llvm z3 $(PARTS_$(ARCH)))
INSTALLED_PARTS := $(if $(LLVM),llvm) $(shell { printf '\043if __has_include(<%s>)\n%s\n\043endif\n' z3.h z3 Zydis/Disassembler.h zydis | \
	$(CC) -E -P -xc -; } 2>/dev/null)
ABSENT := $(filter-out $(filter-out $(WITHOUT),$(INSTALLED_PARTS)),$(PARTS))
$(if $(filter-out $(PARTS),$(WITHOUT)),$(error WITHOUT: pmend on $(ARCH) has the parts $(PARTS), not $(filter-out $(PARTS),$(WITHOUT))))
with_part = $(if $(filter $(1),$(ABSENT)),,$(2))

# $(call chosen,FILES): stubs in place of those that cannot be built.
left_out = $(foreach p,$(ABSENT),$(NEED_$(p)))
chosen = $(filter-out $(left_out),$(1)) $(sort $(foreach p,$(ABSENT),$(patsubst %,%without/$(p).c,$(dir $(filter $(NEED_$(p)),$(1))))))

# A stub says which packages bring its part.
part_packages = $(shell tools/packages --arch $(ARCH) $(1))
define stub_flags
$(B)/%/without/$(1).o: ALL_CFLAGS += -DPACKAGES='"$(call part_packages,$(1))"'
$(B)/%/without/$(1).o: RUNTIME_CFLAGS += -DPACKAGES='"$(call part_packages,$(1))"'
endef
$(foreach p,$(ABSENT),$(eval $(call stub_flags,$(p))))

# The parts that the build folder is without; tests read it, too. What is linked of files and stubs is linked anew when that changes.
.PHONY: FORCE
FORCE:
$(B)/without: FORCE
	@mkdir -p $(@D)
	[ -f $@ ] && [ "$$(cat $@)" = "$(strip $(ABSENT))" ] || { rm -f $(foreach p,$(ABSENT),$(LIBRARY_$(p):%=$(B)/libexec/pmend/%)); echo "$(strip $(ABSENT))" >$@; }
LIBRARY_llvm := libpmend_source.so
LIBRARY_z3 := libpmend_solver.so

# What is not built, or not tested: patterns of files. By architecture, and by part that is absent.
MISSING := $(shell sed -n 's/^\([a-z][^: ]*\):.*/\1/p' $(wildcard $(patsubst %,tests/missing-%.txt,$(ARCH) $(ABSENT))) </dev/null)
# An emulated machine leaves out whole groups; what they need takes a third of the time to build.
MISSING_FILES := $(foreach m,$(MISSING) $(if $(RUN),$(shell sed -n 's/^\([a-z][^:/ ]*\):.*/\1/p' tests/emulated.txt)),$(addprefix $(B)/,$(m) $(m)/% tests/$(m) tests/$(m)/%))

# A line per part, for whoever reads what make says.
tell_absent = $(foreach p,$(ABSENT),echo "built without $(p): $(LOST_$(p)). To have it: apt-get install $(call part_packages,$(p)), then make";)

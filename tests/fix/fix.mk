# What `pmend fix` must make of the sources of this folder builds without warnings.
FX := $(B)/tests/fix
FX_MACHINE_amd64 := -mclwb
FX_FLAGS = $(if $(filter %.c,$<),-std=gnu11,-std=c++17) -Wall -Wextra -Wshadow -Werror -I. $(FX_MACHINE_$(ARCH)) -fsyntax-only
# intrinsics are amd64's
FX_FOREIGN_arm64 := $(shell grep -l immintrin.h tests/fix/fixed/*)
FX_SOURCES := $(notdir $(filter-out $(FX_FOREIGN_$(ARCH)),$(wildcard tests/fix/fixed/*))) $(addprefix hoist/,$(notdir $(wildcard tests/fix/hoist/fixed/*.c))) $(addprefix copies/,$(notdir $(wildcard tests/fix/copies/fixed/*.c))) $(addprefix ways/,$(notdir $(wildcard tests/fix/ways/fixed/*))) $(addprefix amend/,$(notdir $(wildcard tests/fix/amend/fixed/*)))
FX_ORDER := $(filter-out %.h,$(notdir $(wildcard tests/fix/order/fixed/*)))
FIX_TESTS := $(FX_SOURCES:%=$(FX)/%.gcc) $(FX_SOURCES:%=$(FX)/%.clang) $(FX_ORDER:%=$(FX)/order/%.gcc) $(FX_ORDER:%=$(FX)/order/%.clang) $(FX)/write_tx $(FX)/judge

$(FX)/write_tx $(FX)/judge: $(FX)/%: $(B)/obj/tests/fix/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

# Transactions jump: what compilers say about that, they say when they optimise. gcc's -Wclobbered cannot see that nobody looks at a variable after
# an abort, which ends the program. gcc 12 for arm64 breaks off ("SSA corruption") over such a jump in order/logs.c, above -O1.
FX_ORDER_LEVEL_GCC := $(if $(filter arm64,$(ARCH)),-O1,-O2)
FX_ORDER_FLAGS = $(if $(filter %.c,$<),-std=gnu11,-std=c++17) -Wall -Wextra -Werror $(FX_MACHINE_$(ARCH)) -I. -Iinclude -Itests/fix/order -S -o /dev/null
$(FX)/order/%.gcc: tests/fix/order/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_ORDER_LEVEL_GCC) $(FX_ORDER_FLAGS) -Wno-clobbered $< && touch $@

$(FX)/order/%.clang: tests/fix/order/fixed/%
	@mkdir -p $(@D)
	$(CLANG) -O2 $(FX_ORDER_FLAGS) $< && touch $@

$(FX)/hoist/%.gcc: tests/fix/hoist/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) -Wmissing-prototypes $< && touch $@

$(FX)/hoist/%.clang: tests/fix/hoist/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) -Wmissing-prototypes $< && touch $@

$(FX)/copies/%.gcc: tests/fix/copies/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) $< && touch $@

$(FX)/copies/%.clang: tests/fix/copies/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) $< && touch $@

$(FX)/ways/%.gcc: tests/fix/ways/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) $< && touch $@

$(FX)/ways/%.clang: tests/fix/ways/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) $< && touch $@

$(FX)/amend/%.gcc: tests/fix/amend/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) $< && touch $@

$(FX)/amend/%.clang: tests/fix/amend/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) $< && touch $@

$(FX)/%.gcc: tests/fix/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) $< && touch $@

$(FX)/%.clang: tests/fix/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) $< && touch $@

-include $(wildcard $(B)/obj/tests/fix/*.d)

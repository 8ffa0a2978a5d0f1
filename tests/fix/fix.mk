# What `pmend fix` must make of the sources of this folder builds without warnings.
FX := $(B)/tests/fix
FX_FLAGS = $(if $(filter %.c,$<),-std=gnu11,-std=c++17) -Wall -Wextra -Wshadow -Werror -mclwb -fsyntax-only
FX_SOURCES := $(notdir $(wildcard tests/fix/fixed/*)) $(addprefix hoist/,$(notdir $(wildcard tests/fix/hoist/fixed/*.c)))
FIX_TESTS := $(FX_SOURCES:%=$(FX)/%.gcc) $(FX_SOURCES:%=$(FX)/%.clang)

$(FX)/hoist/%.gcc: tests/fix/hoist/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) -Wmissing-prototypes $< && touch $@

$(FX)/hoist/%.clang: tests/fix/hoist/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) -Wmissing-prototypes $< && touch $@

$(FX)/%.gcc: tests/fix/fixed/%
	@mkdir -p $(@D)
	$(CC) $(FX_FLAGS) $< && touch $@

$(FX)/%.clang: tests/fix/fixed/%
	@mkdir -p $(@D)
	$(CLANG) $(FX_FLAGS) $< && touch $@

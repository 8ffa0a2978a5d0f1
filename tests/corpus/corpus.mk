# Buggy and correct programs for `pmend check`; run.py, in the same folder, runs it on them. Those of amd64/ and arm64/ are about that one's instructions.
CT := $(B)/tests/corpus
CT_CFLAGS = -std=gnu11 -g -Wall -Wextra -D_GNU_SOURCE -Iinclude -I. -pthread -MMD -MP -MF $@.dep $(CT_FRAMES)
CT_FRAMES := -fno-optimize-sibling-calls # a tail call leaves no frame: the line would be that of the caller
CT_SOURCES := $(wildcard tests/corpus/*.c tests/corpus/*.cc tests/corpus/$(ARCH)/*.c)
CT_LEVELS := O0 O2

CORPUS_TESTS := $(foreach level,$(CT_LEVELS),$(addprefix $(CT)/,$(addsuffix _$(level),$(basename $(notdir $(CT_SOURCES))))))

$(CT)/pmem%: CT_LIBS := -lpmem
$(CT)/obj%: CT_LIBS := -lpmemobj -lpmem
$(CT)/log%: CT_LIBS := -lpmemlog
$(CT)/blk%: CT_LIBS := -lpmemblk
$(CT)/obj%: CT_CFLAGS += -Wno-clobbered # TX_BEGIN is setjmp
$(CT)/log% $(CT)/blk%: CT_CFLAGS += -Wno-deprecated-declarations # PMDK 1.13 deprecates both libraries; programs use them

# $(1): a source, $(2): a level.
define corpus_rule
$(CT)/$(basename $(notdir $(1)))_$(2): $(1)
	@mkdir -p $$(@D)
	$(if $(filter %.cc,$(1)),$$(CXX) -$(2) $$(filter-out -std=%,$$(CT_CFLAGS)),$$(CC) -$(2) $$(CT_CFLAGS)) -o $$@ $$< $$(CT_LIBS)
endef
$(foreach source,$(CT_SOURCES),$(foreach level,$(CT_LEVELS),$(eval $(call corpus_rule,$(source),$(level)))))

-include $(CORPUS_TESTS:=.dep)

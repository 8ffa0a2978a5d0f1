# Buggy and correct programs for `pmend check`; run.py, in the same folder, runs it on them.
CT := $(B)/tests/corpus
CT_CFLAGS = -std=gnu11 -g -Wall -Wextra -D_GNU_SOURCE -Iinclude -pthread -mclwb -mclflushopt -MMD -MP -MF $@.d $(CT_FRAMES)
CT_FRAMES := -fno-optimize-sibling-calls # a tail call leaves no frame: the line would be that of the caller
CT_NAMES := $(patsubst tests/corpus/%.c,%,$(wildcard tests/corpus/*.c))

CORPUS_TESTS := $(foreach name,$(CT_NAMES),$(CT)/$(name)_O0 $(CT)/$(name)_O2)

$(CT)/pmem%: CT_LIBS := -lpmem
$(CT)/obj%: CT_LIBS := -lpmemobj -lpmem
$(CT)/log%: CT_LIBS := -lpmemlog
$(CT)/blk%: CT_LIBS := -lpmemblk
$(CT)/obj%: CT_CFLAGS += -Wno-clobbered # TX_BEGIN is setjmp

$(filter %_O0,$(CORPUS_TESTS)): $(CT)/%_O0: tests/corpus/%.c
	@mkdir -p $(@D)
	$(CC) -O0 $(CT_CFLAGS) -o $@ $< $(CT_LIBS)

$(filter %_O2,$(CORPUS_TESTS)): $(CT)/%_O2: tests/corpus/%.c
	@mkdir -p $(@D)
	$(CC) -O2 $(CT_CFLAGS) -o $@ $< $(CT_LIBS)

-include $(CORPUS_TESTS:=.d)

# Five correct data structures and their mutants. $(B)/mutants/NAME-O0, NAME-O2: the originals; NAME-K, K a number that `NAME-O0 mutants`
# lists: without that flush, fence or TX_ADD; NAME-any: the number is taken from the environment (mutant.h). several, several_obj: programs with
# more than one bug.
MT := $(B)/mutants
MT_NAMES := log hash radix btree list
MT_SRC := tests/mutants
MT_CFLAGS = -std=gnu11 -g $(WARN) -D_GNU_SOURCE -Iinclude -Itests -fno-optimize-sibling-calls
MT_DRIVER := $(MT_SRC)/driver.c

MUTANTS_TESTS := $(foreach name,$(MT_NAMES),$(MT)/$(name)-O0 $(MT)/$(name)-O2 $(MT)/$(name)-any) $(MT)/log-5 $(MT)/several $(MT)/several_obj # run.py tries one that is built with the flag

$(MT)/radix-%: MT_LIBS := -lpmem
$(MT)/btree-% $(MT)/list-%: MT_LIBS := -lpmemobj -lpmem
$(MT)/btree-% $(MT)/list-%: MT_CFLAGS += -Wno-clobbered # TX_BEGIN is setjmp

# $(1): options. The source is what comes before the last dash of the target.
define mutant_build
	@mkdir -p $(@D)
	$(CC) $(1) $(MT_CFLAGS) -o $@ $(MT_SRC)/$(firstword $(subst -, ,$(@F))).c $(MT_DRIVER) $(MT_LIBS)
endef

MT_HEADERS := $(wildcard $(MT_SRC)/*.h) tests/machine.h include/pmend.h

$(filter %-O0,$(MUTANTS_TESTS)): $(MT)/%-O0: $(MT_SRC)/%.c $(MT_DRIVER) $(MT_HEADERS)
	$(call mutant_build,-O0)

$(filter %-O2,$(MUTANTS_TESTS)): $(MT)/%-O2: $(MT_SRC)/%.c $(MT_DRIVER) $(MT_HEADERS)
	$(call mutant_build,-O2)

$(filter %-any,$(MUTANTS_TESTS)): $(MT)/%-any: $(MT_SRC)/%.c $(MT_DRIVER) $(MT_HEADERS)
	$(call mutant_build,-O1 -DMUTANT_AT_RUN_TIME)

define mutant_rule
$(MT)/$(1)-%: $(MT_SRC)/$(1).c $(MT_DRIVER) $(MT_HEADERS)
	$$(call mutant_build,-O1 -DMUTANT=$$*)
endef
$(foreach name,$(MT_NAMES),$(eval $(call mutant_rule,$(name))))

# Several bugs at once.
$(MT)/several_obj: MT_CFLAGS += -Wno-clobbered
$(MT)/several_obj: MT_LIBS := -lpmemobj
$(MT)/several $(MT)/several_obj: $(MT)/%: $(MT_SRC)/%.c tests/crash/pm.h tests/machine.h include/pmend.h
	@mkdir -p $(@D)
	$(CC) -O1 $(MT_CFLAGS) -I. -pthread -o $@ $< $(MT_LIBS)

.PHONY: mutants
mutants: all $(MUTANTS_TESTS)

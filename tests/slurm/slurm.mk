# `make check-slurm`: pmend submit against Slurm's own daemons, all on this machine.
SLURM_TESTS := $(B)/tests/slurm/steps

$(SLURM_TESTS): $(B)/tests/slurm/%: tests/slurm/%.c tests/machine.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I. -o $@ $<

.PHONY: check-slurm
check-slurm:
	@$(MAKE) --no-print-directory setup
	@tools/apt-install $$(tools/packages slurm)
	@$(MAKE) --no-print-directory -j2 all $(SLURM_TESTS)
	@$(RUN) tests/slurm/run.py

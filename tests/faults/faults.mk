# Preloaded into pmend: lets a call fail.
FAULTS_TESTS := $(B)/tests/faults/fault.so

$(FAULTS_TESTS): tests/faults/fault.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) -Wno-missing-prototypes -O1 -g -D_GNU_SOURCE -fPIC -shared -o $@ $< -lgcc_s

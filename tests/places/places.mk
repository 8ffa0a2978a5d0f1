# Programs that tests/places/run.py records and recovers. What musl's and Rust's compilers make, and what needs a crate, is there where these are; the rows say so where they are not.
PLACES := $(B)/tests/places
PLACES_TESTS := $(addprefix $(PLACES)/,plain habits plugin.so throws bare docker untraced)
CRATES := /usr/share/cargo/registry# Debian's packages of crates
PLACES_CFLAGS = -std=gnu11 $(WARN) -O1 -g -D_GNU_SOURCE -I.

ifeq ($(ARCH),$(NATIVE))
PLACES_TESTS += $(if $(shell command -v musl-gcc),$(addprefix $(PLACES)/,musl musl_static)) $(if $(shell command -v rustc),$(PLACES)/rust)
PLACES_TESTS += $(if $(and $(wildcard /usr/bin/cargo),$(wildcard $(CRATES)/memmap2-*)),$(PLACES)/memmap2)
endif

$(PLACES)/plain $(PLACES)/habits $(PLACES)/docker $(PLACES)/untraced: $(PLACES)/%: tests/places/%.c tests/places/pool.h tests/places/plugin.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) $(PLACES_CFLAGS) -pthread -o $@ $< -ldl

$(PLACES)/plugin.so: tests/places/plugin.c tests/places/pool.h tests/places/plugin.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) $(PLACES_CFLAGS) -fPIC -shared -o $@ $<

$(PLACES)/throws: tests/places/throws.cc tests/places/pool.h tests/machine.h
	@mkdir -p $(@D)
	$(CXX) -Wall -Wextra -O1 -g -I. -pthread -o $@ $<

$(PLACES)/bare: tests/places/bare.c tests/places/pool.h tests/machine.h
	@mkdir -p $(@D)
	$(CC) $(PLACES_CFLAGS) -static -nostdlib -nostartfiles -ffreestanding -fno-stack-protector -o $@ $<

$(PLACES)/musl $(PLACES)/musl_static: tests/places/plain.c tests/places/pool.h tests/machine.h
	@mkdir -p $(@D)
	musl-gcc $(PLACES_CFLAGS) $(if $(filter %_static,$@),-static) -o $@ $<

$(PLACES)/rust: tests/places/rust.rs
	@mkdir -p $(@D)
	MAKEFLAGS= rustc -g -C opt-level=1 -o $@ $<

# Offline, with Debian's compiler and crates.
$(PLACES)/memmap2: tests/places/memmap2.rs
	@mkdir -p $@.crate
	printf '%s\n' '[package]' 'name = "places"' 'version = "0.0.0"' 'edition = "2021"' '[[bin]]' 'name = "places"' 'path = "$(CURDIR)/$<"' \
		'[dependencies]' 'memmap2 = "*"' '[workspace]' >$@.crate/Cargo.toml
	MAKEFLAGS= CARGO_HOME="$(CURDIR)/$@.crate/home" RUSTC=/usr/bin/rustc /usr/bin/cargo build -q --offline --manifest-path $@.crate/Cargo.toml --target-dir $@.crate/target \
		--config 'source.crates-io.replace-with="debian"' --config 'source.debian.directory="$(CRATES)"'
	cp $@.crate/target/debug/places $@

# What depends on the architecture, in one place. ARCH is amd64 or arm64, Debian's names; this machine's own unless it is given. The native build is in
# build/ and runs as it is. The other one is in build/ARCH or build/ARCH-SUITE: a cross compiler makes it with the emulated machine's root, and that machine runs it (tools/guest).
ARCH_OF_x86_64 := amd64
ARCH_OF_aarch64 := arm64
OTHER_OF_amd64 := arm64
OTHER_OF_arm64 := amd64
TRIPLET_OF_amd64 := x86_64-linux-gnu
TRIPLET_OF_arm64 := aarch64-linux-gnu

# Zydis decodes x86-64; instructions of arm64 are regular enough for a table of our own (a64/).
PARTS_amd64 := zydis

NATIVE := $(ARCH_OF_$(shell uname -m))
ARCH ?= $(NATIVE)
OTHER := $(OTHER_OF_$(NATIVE))
TRIPLET := $(TRIPLET_OF_$(ARCH))
$(if $(NATIVE),,$(error pmend runs on x86-64 and on arm64 (aarch64), not on $(shell uname -m)))
$(if $(TRIPLET),,$(error ARCH is amd64 or arm64, not $(ARCH)))

# What Valgrind's headers want to know.
VG_DEFINES := -DVGA_$(ARCH)=1 -DVGO_linux=1 -DVGP_$(ARCH)_linux=1 -DVGPV_$(ARCH)_linux_vanilla=1

ifeq ($(ARCH),$(NATIVE))
B := build
CC := gcc
CXX := g++
CLANG := clang
RUN :=
SYSROOT :=
setup: ; @tools/apt-install $$(tools/packages build test)
setup-build: ; @tools/apt-install $$(tools/packages build)
# who begins with a plain `make` is told what is missing, not which header
$(if $(filter-out all,$(or $(MAKECMDGOALS),all)),,$(if $(shell printf '\043include <jansson.h>\n' | $(CC) -E -xc - >/dev/null 2>&1 && echo yes),,$(error pmend needs some packages that are not installed: first 'make setup', which installs them)))
else
# SUITE: of another Debian than this machine's.
export PMEND_SUITE := $(filter-out $(shell sed -n 's/^VERSION_CODENAME=//p' /etc/os-release),$(SUITE))
B := build/$(ARCH)$(PMEND_SUITE:%=-%)
SYSROOT := $(shell PMEND_SUITE=$(PMEND_SUITE) tools/guest $(ARCH) path)
# The cross compiler's own libraries of C and C++ come first otherwise, and are too old for a newer suite's libraries.
CROSS_FLAGS := --sysroot=$(SYSROOT) -B$(SYSROOT)/usr/lib/$(TRIPLET)/ -L$(SYSROOT)/usr/lib/$(TRIPLET) \
	$(if $(PMEND_SUITE),$(addprefix -L,$(wildcard $(SYSROOT)/usr/lib/gcc/$(TRIPLET)/*)))
CC := $(TRIPLET)-gcc $(CROSS_FLAGS)
CXX := $(TRIPLET)-g++ $(CROSS_FLAGS)
CLANG = clang --target=$(TRIPLET) --sysroot=$(SYSROOT) -resource-dir $(LLVM_RESOURCES)
RUN := tools/guest $(ARCH) once
setup setup-build: ; @tools/guest $(ARCH) root >/dev/null
$(if $(wildcard $(SYSROOT))$(filter setup setup-build clean help check check-other demo bench bench-%,$(or $(MAKECMDGOALS),all)),,$(error first: make ARCH=$(ARCH)$(PMEND_SUITE:%= SUITE=%) setup))
endif

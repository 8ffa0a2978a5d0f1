# The LLVM that pmend reads sources with: the newest from 14 on of which headers, libclang, libLLVM and clang are installed. All four have the same
# number, because an older LLVM does not read a newer clang's bitcode. A cross build looks into the other machine's root, where it can run nothing.
# LLVM: its number, empty if there is none. LLVM_DIR: its folder. LLVM_HOME: that folder at run time.
llvm_headers = clang-c/Index.h llvm-c/Core.h
llvm_parts = $(addprefix include/,$(llvm_headers)) lib/libclang-$(1).so lib/libLLVM-$(1).so bin/clang
llvm_is_whole = $(if $(filter 5,$(words $(wildcard $(addprefix $(SYSROOT)/usr/lib/llvm-$(1)/,$(call llvm_parts,$(1)))))),$(1))
LLVM_NUMBERS := $(shell ls -d $(SYSROOT)/usr/lib/llvm-[0-9]* 2>/dev/null | sed -n 's/.*llvm-\([0-9]*\)$$/\1/p' | sort -rn | awk '$$1 >= 14')
LLVM := $(firstword $(foreach n,$(LLVM_NUMBERS),$(call llvm_is_whole,$(n))))
LLVM_HOME := /usr/lib/llvm-$(LLVM)
LLVM_DIR := $(SYSROOT)$(LLVM_HOME)

# Headers and libraries of clang's own: lib/clang/14.0.6, but lib/clang/19.
LLVM_RESOURCES := $(if $(LLVM),$(if $(SYSROOT),$(firstword $(wildcard $(LLVM_DIR)/lib/clang/*)),$(shell $(LLVM_DIR)/bin/clang -print-resource-dir)))

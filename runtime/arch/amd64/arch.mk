# Of the runtime for amd64: it must leave vector registers alone that a signal frame may not have; Zydis decodes. It is not for shadow stacks (catch.c).
RUNTIME_CFLAGS += -mno-avx -fcf-protection=none
RUNTIME_LIBS += $(call with_part,zydis,-lZydis)

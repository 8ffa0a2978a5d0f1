# Of the runtime for amd64: it must leave vector registers alone that a signal frame may not have; Zydis decodes.
RUNTIME_CFLAGS += -mno-avx
RUNTIME_LIBS += -lZydis

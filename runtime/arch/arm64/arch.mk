# Of the runtime for arm64: atomic operations in line, without libgcc's functions, which ask the C library what the processor can do; the decoder.
RUNTIME_CFLAGS += -mno-outline-atomics
RUNTIME_LENT += $(wildcard a64/*.c)

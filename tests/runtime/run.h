/* A test of the preloaded runtime: a reader, run as recovery on a pool "pool" in the working
 * folder, and what must come of it. driver.c builds the region by hand, runs the same program again
 * as the reader, and compares output, end and decisions. */
#ifndef TESTS_RUNTIME_RUN_H
#define TESTS_RUNTIME_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_BYTES (16u * 4096u)
#define RECORDED_VA 0x100000000000ul
#define ALL 0xffu
/* Two words of one line, stored one after the other; the contents are (0,0), (A,0), (A,B). */
#define PAIR(offset) { offset, { { 0, 8, 0x1111111111111111 }, { 8, 8, 0x2222222222222222 } } }
#define UNKNOWN "an instruction that accesses PM in an unknown way"

/* Stores to one line: content 0 has none of them, content i the first i. */
struct store {
	uint32_t at, len_bytes;
	uint64_t value;
};

struct line {
	uint64_t offset;
	struct store stores[4];
	uint64_t watch; /* bytes */
};

struct expected {
	uint32_t line, at;
	uint64_t mask;
	uint32_t nvalues;
};

enum test_flags {
	ABSENT = 1,	/* neither the pool nor its image exists */
	ALL_READS = 2,
	NO_KEYS_UNSOUND = 4, /* without protection keys the run does not count */
	SECOND = 8,	/* a second pool "other", 4096 bytes of 'o' */
	UNORDERED = 16, /* decisions may come in any order */
	HARD_LINK = 32, /* the user's pool is also called "hard" */
	NOT_LAZY = 64,
	BY_NAME = 128,	/* runs only when named */
	NEEDS_WIDE = 256,	/* uses vectors that not every processor has */
	NEEDS_ATOMICS = 512, /* uses atomics that not every processor has */
	/* without syscall user dispatch, the program's handlers run on the runtime's stack: no such
	 * test */
	CALLED_BY_OURS = 2048,
	KEYS_UNSOUND = 4096,   /* with protection keys the run does not count */
	/* also run with a kernel that reports shadow stacks; that run does not count */
	SHADOW = 16384,
	BAD_KEYS = 8192,       /* also run with a kernel that opens keys at signals */
	NO_DISPATCH_UNSOUND = 1024, /* without syscall user dispatch the run does not count */
};

struct test {
	const char *name;
	int (*reader)(void); /* gives its exit status */
	struct line lines[5];
	struct expected decisions[12];
	const char *output;
	int signal;   /* signal that kills it */
	unsigned flags;
	const char *unsound; /* the beginning of why the run does not count */
};

extern const struct test access_tests[], insn_tests[], wide_tests[], call_tests[], code_tests[], path_tests[], process_tests[], signal_tests[], machine_tests[], cost_tests[];
void cost_native(void);
/* Run in this process: a tracer then answers whether shadow stacks are on. */
bool machine_filter_shadow(void);
bool machine_say_shadow(int pid); /* Run in the tracer: says that they are. */
bool machine_open_keys(int pid); /* Opens the keys of a process that is traced and stopped. */
/* what the test needs and this processor lacks; NULL if nothing */
const char *machine_lack(unsigned flags);

/* For readers: */
char *map_pool(void);
void *map_code(int flags); /* a function that writes (machine.h), in a file */
char *map_file(const char *path, int prot, int flags);
extern char **g_argv;

#define WORD(p, at) (*(volatile uint64_t *)((p) + (at)))

#endif

/* Every way in which arm64 loads something, for beside.c: load_all(p, i) reads word i, and some of those near it; LOAD_HALVES(v, p) the
 * upper half of the word at p and the lower half of the next, and changes nothing else, whatever happens meanwhile. */
#define LOAD_HALVES(v, p)                                                                                    \
	do {                                                                                                 \
		uint64_t sp_, changed_;                                                                      \
		__asm__ volatile("mov x9, #9\n\tmov x10, #10\n\tmov %1, sp\n\tldur %0, [%3, #4]\n\t"             \
				 "mov x11, sp\n\teor %2, x11, %1\n\tmov sp, %1\n\tsub x9, x9, #9\n\tsub x10, x10, #10\n\torr %2, %2, x9\n\torr %2, %2, x10" \
				 : "=&r"(v), "=&r"(sp_), "=&r"(changed_) : "r"(p) : "x9", "x10", "x11", "memory"); \
		EXPECT("registers after a load across words", changed_, 0);                                  \
	} while (0)

/* Gives its return address. */
uint64_t return_address(void);
__asm__(".text\n.type return_address, %function\nreturn_address:\n\tmov x0, x30\n\tret\n.size return_address, . - return_address");

/* A call right after a load. */
static void load_and_call(const uint64_t *p, uint32_t i)
{
	uint64_t v, wanted, is, flag;

	__asm__ volatile("cmp xzr, xzr\n\tldr %0, [%4]\n\tbl return_address\n1:\n\tmov %2, x0\n\tcset %3, eq\n\tadr %1, 1b"
			 : "=&r"(v), "=&r"(wanted), "=&r"(is), "=&r"(flag) : "r"(p + i) : "x0", "x30", "cc");
	EXPECT("ldr and a call", v, pattern(i));
	EXPECT("where it returned to", is, wanted);
	EXPECT("ldr and a call, zero flag", flag, 1);
}

static void no_fault(int sig)
{
	(void)sig;
	_exit(1);
}

/* The lowest address of a stack, where nothing can be pushed. Signals have a stack of their own. */
static char *stack_end(void)
{
	static char signals[65536];
	const stack_t s = { .ss_sp = signals, .ss_size = sizeof signals };
	const struct sigaction a = { .sa_handler = no_fault, .sa_flags = SA_ONSTACK };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static char *memory;

	if (memory)
		return memory + page;
	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED && mprotect(memory, page, PROT_NONE) == 0 && sigaltstack(&s, NULL) == 0 && sigaction(SIGSEGV, &a, NULL) == 0);
	return memory + page;
}

static void load_on_stack(const uint64_t *p, uint32_t i)
{
	char *stack = i == 1 ? stack_end() : NULL;
	uint64_t v, is;

	__asm__ volatile("mov x9, sp\n\tcmp %3, #0\n\tcsel x10, x9, %3, eq\n\tmov sp, x10\n\tldr %0, [%2]\n\tmov %1, sp\n\tmov sp, x9\n\tsub %1, %1, x10"
			 : "=&r"(v), "=&r"(is) : "r"(p + i), "r"(stack) : "x9", "x10", "cc");
	EXPECT("ldr with little stack", v, pattern(i));
	EXPECT("ldr with little stack, the stack pointer", is, 0);
}

/* Tests what else must not change: the base, unless it is written back, and flags. */
#define LOAD(insn, base, wanted)                                                                             \
	do {                                                                                                 \
		uint64_t v_, base_, flag_;                                                                   \
		__asm__ volatile("mov x9, %3\n\tcmp xzr, xzr\n\t" insn "\n\tcset %2, eq\n\tmov %0, x10\n\tmov %1, x9" \
				 : "=&r"(v_), "=&r"(base_), "=&r"(flag_)                                     \
				 : "r"(base), "r"((uint64_t)i)                                               \
				 : "x9", "x10", "x11", "v0", "v1", "v2", "v3", "cc", "memory");              \
		EXPECT(insn, v_, wanted);                                                                    \
		EXPECT(insn ", its base", base_, (uint64_t)(base));                                          \
		EXPECT(insn ", flags", flag_, 1);                                                            \
	} while (0)

/* The same for a base that is moved by 8. */
#define LOAD_MOVING(insn, base, wanted)                                                                      \
	do {                                                                                                 \
		uint64_t v_, base_;                                                                          \
		__asm__ volatile("mov x9, %2\n\t" insn "\n\tmov %0, x10\n\tmov %1, x9"                 \
				 : "=&r"(v_), "=&r"(base_) : "r"(base) : "x9", "x10", "x11", "memory");      \
		EXPECT(insn, v_, wanted);                                                                    \
		EXPECT(insn ", its base", base_, (uint64_t)(base) + 8);                                      \
	} while (0)

static void load_words(const uint64_t *p, uint32_t i)
{
	const uint64_t w = pattern(i);
	const char *at = (const char *)(p + i);

	LOAD("ldr x10, [x9]", at, w);
	LOAD("ldr w10, [x9, #4]", at, w >> 32);
	LOAD("ldrh w10, [x9, #2]", at, (uint16_t)(w >> 16));
	LOAD("ldrb w10, [x9, #3]", at, (uint8_t)(w >> 24));
	LOAD("ldrsb x10, [x9, #7]", at, (int64_t)(int8_t)(w >> 56));
	LOAD("ldrsb w10, [x9, #7]", at, (uint32_t)(int8_t)(w >> 56));
	LOAD("ldrsh x10, [x9, #6]", at, (int64_t)(int16_t)(w >> 48));
	LOAD("ldrsw x10, [x9]", at, (int64_t)(int32_t)w);
	LOAD("ldur x10, [x9, #-8]", at + 8, w);
	LOAD("ldurb w10, [x9, #-1]", at + 8, w >> 56);
	LOAD("ldr x10, [x9, %4, lsl #3]", p, w);
	LOAD("ldr x10, [x9, %w4, uxtw #3]", p, w);
	LOAD("ldar x10, [x9]", at, w);
	LOAD("ldtr x10, [x9]", at, w);
	LOAD_MOVING("ldr x10, [x9], #8", at, w);
	LOAD_MOVING("ldr x10, [x9, #8]!", at - 8, w);
	if (i + 1 < WORD - 1) {
		LOAD("ldp x10, x11, [x9]; eor x10, x10, x11", at, w ^ pattern(i + 1));
		LOAD("ldp w10, w11, [x9, #4]; eor x10, x10, x11", at, (w >> 32) ^ (uint32_t)pattern(i + 1));
		LOAD("ldnp x11, x10, [x9]", at, pattern(i + 1));
		LOAD("ldpsw x11, x10, [x9]", at, (int64_t)(int32_t)(w >> 32));
		LOAD("ldur x10, [x9, #3]", at, w >> 24 | pattern(i + 1) << 40);
	}
}

static void load_vectors(const uint64_t *p, uint32_t i)
{
	const uint64_t w = pattern(i), next = pattern(i + 1);
	const char *at = (const char *)(p + i);

	LOAD("ldr d0, [x9]; fmov x10, d0", at, w);
	LOAD("ldr s0, [x9, #4]; fmov w10, s0", at, w >> 32);
	LOAD("ldr b0, [x9, #1]; umov w10, v0.b[0]", at, (uint8_t)(w >> 8));
	LOAD("ldr q0, [x9]; umov x10, v0.d[1]", at, next);
	LOAD("ldp d0, d1, [x9]; fmov x10, d1", at, next);
	LOAD("ld1 {v0.16b}, [x9]; umov x10, v0.d[0]", at, w);
	LOAD("ld1 {v0.d}[1], [x9]; umov x10, v0.d[1]", at, w);
	LOAD("ld1r {v0.2d}, [x9]; umov x10, v0.d[1]", at, w);
	LOAD("ld2 {v0.2s, v1.2s}, [x9]; umov w10, v1.s[0]", at, w >> 32);
}

static void load_all(const uint64_t *p, uint32_t i)
{
	load_words(p, i);
	load_and_call(p, i);
	load_on_stack(p, i);
	if (i + 1 < WORD - 1)
		load_vectors(p, i);
}

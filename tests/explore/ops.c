/* Computes with bytes read from a file in every way that compilers do: run under the tracer with --check, where each value is compared with its
 * expression's. The file's bytes are the operands, 32 for each turn. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURN_BYTES 32

static uint64_t sink;
static void use(uint64_t v)
{
	sink = sink * 31 + v;
}

/* ---- in C: what the compiler makes of it ---- */

#define WIDTH(type, stype)                                                                        \
	static __attribute__((noinline)) void c_##type(type a, type b)                            \
	{                                                                                         \
		stype sa = (stype)a, sb = (stype)b;                                               \
		unsigned bits = 8 * sizeof a, n = b % bits;                                       \
                                                                                                  \
		use((type)(a + b)), use((type)(a - b)), use((type)(a * b)), use(a & b), use(a | b), use(a ^ b);  \
		use((type)~a), use((type)-a);                                                     \
		use((type)(a << n)), use((type)(a >> n)), use((type)(sa >> n));                   \
		use((type)(a << n | a >> (bits - n) % bits));                                     \
		if (b)                                                                            \
			use(a / b), use(a % b), use(a / 10), use(a % 7);                          \
		if (b && !(sb == -1 && a == (type)((type)1 << (bits - 1))))                       \
			use((type)(sa / sb)), use((type)(sa % sb)), use((type)(sa / 10));         \
		use(a < b), use(a <= b), use(a == b), use(sa < sb), use(sa <= sb), use(sa >= 0);  \
		use(a < b ? a : b), use(sa < sb ? a : b);                                         \
		if (a < b)                                                                        \
			use(1);                                                                   \
		if (sa > sb)                                                                      \
			use(2);                                                                   \
		use((uint64_t)(int64_t)sa), use((uint64_t)a * 3), use((type)(a == 0 ? 5 : b));    \
	}
WIDTH(uint8_t, int8_t)
WIDTH(uint16_t, int16_t)
WIDTH(uint32_t, int32_t)
WIDTH(uint64_t, int64_t)

static __attribute__((noinline)) void c_wide(uint64_t a, uint64_t b)
{
	unsigned __int128 u = (unsigned __int128)a * b;
	__int128 s = (__int128)(int64_t)a * (int64_t)b;

	use((uint64_t)u), use((uint64_t)(u >> 64)), use((uint64_t)(s >> 64));
	u += a;
	u -= b;
	use((uint64_t)(u >> 64));
	if (a)
		use((uint64_t)__builtin_clzll(a)), use((uint64_t)__builtin_ctzll(a));
	if ((uint32_t)a)
		use((uint64_t)__builtin_clz((uint32_t)a)), use((uint64_t)__builtin_ctz((uint32_t)a));
	use((uint64_t)__builtin_popcountll(a)), use(__builtin_bswap64(a)), use(__builtin_bswap32((uint32_t)a));
	use((a << 32) / ((b | 1) & 0xffffffff)), use((uint64_t)((double)(a & 0xffff) * 2));
}

static __attribute__((noinline)) void c_strings(const unsigned char *p)
{
	char text[TURN_BYTES + 1] = { 0 }, copy[TURN_BYTES + 1] = { 0 };
	static const char hex[] = "0123456789abcdef";

	memcpy(text, p, TURN_BYTES);
	memmove(copy, text + 1, TURN_BYTES - 1);
	use(strlen(text)), use((uint64_t)memcmp(text, copy, 16)), use(strcmp(text, copy) > 0), use((uint64_t)hex[p[3] & 15]);
	use((uint64_t)strtol(text, NULL, 10)), use(strchr(text, 'x') != NULL);
	for (unsigned i = 0; i < TURN_BYTES; i++)
		copy[i] = (char)(text[i] ^ 0x20);
	use((uint64_t)copy[9]);
}

/* ---- instructions, for flags that are set in one block and used in another ---- */
#ifdef __x86_64__
static uint8_t out[32];

#define CONDITIONS \
	"seto 0(%[o])\n setno 1(%[o])\n setb 2(%[o])\n setnb 3(%[o])\n setz 4(%[o])\n setnz 5(%[o])\n setbe 6(%[o])\n setnbe 7(%[o])\n" \
	"sets 8(%[o])\n setns 9(%[o])\n setp 10(%[o])\n setnp 11(%[o])\n setl 12(%[o])\n setnl 13(%[o])\n setle 14(%[o])\n setnle 15(%[o])\n"
#define LATER "jmp 9f\n9:\n" CONDITIONS "pushfq\n popq 16(%[o])\n cmovl %[x], %[y]\n adc %[x], %[y]\n"

/* carry comes in from bit 0 of c */
#define RUN(code, type)                                                                                              \
	do {                                                                                                         \
		type d = (type)a, s = (type)b;                                                                       \
		uint64_t x = a, y = b;                                                                               \
                                                                                                                     \
		__asm__ volatile("bt $0, %[c]\n" code "\n" CONDITIONS                                                \
				 : [d] "+q"(d), [y] "+r"(y) : [s] "q"(s), [c] "r"(c), [x] "r"(x), [o] "r"(out) : "cc", "memory", "rcx"); \
		d = (type)a;                                                                                         \
		__asm__ volatile("bt $0, %[c]\n" code "\n" LATER                                                     \
				 : [d] "+q"(d), [y] "+r"(y) : [s] "q"(s), [c] "r"(c), [x] "r"(x), [o] "r"(out) : "cc", "memory", "rcx"); \
		use(d), use(y), use(out[3]);                                                                         \
	} while (0)
#define FOUR(insn)                                \
	RUN(insn "b %[s], %[d]", uint8_t);        \
	RUN(insn "w %[s], %[d]", uint16_t);       \
	RUN(insn "l %[s], %[d]", uint32_t);       \
	RUN(insn "q %[s], %[d]", uint64_t)
#define FOUR_UNARY(insn)                          \
	RUN(insn "b %[d]", uint8_t);              \
	RUN(insn "w %[d]", uint16_t);             \
	RUN(insn "l %[d]", uint32_t);             \
	RUN(insn "q %[d]", uint64_t)
#define FOUR_SHIFT(insn)                                                                                             \
	RUN(insn "b $1, %[d]", uint8_t); RUN(insn "w $3, %[d]", uint16_t); RUN(insn "l $7, %[d]", uint32_t);         \
	RUN("mov %k[x], %%ecx\n or $1, %%ecx\n" insn "q %%cl, %[d]", uint64_t)
#define RUN3(insn) RUN(insn "w %[s], %[d]", uint16_t); RUN(insn "l %[s], %[d]", uint32_t); RUN(insn "q %[s], %[d]", uint64_t)

static __attribute__((noinline)) void asm_flags(uint64_t a, uint64_t b, uint64_t c)
{
	FOUR("add");
	FOUR("sub");
	FOUR("adc");
	FOUR("sbb");
	FOUR("and");
	FOUR("or");
	FOUR("xor");
	FOUR("cmp");
	FOUR("test");
	FOUR_UNARY("inc");
	FOUR_UNARY("dec");
	FOUR_UNARY("neg");
	FOUR_SHIFT("shl");
	FOUR_SHIFT("shr");
	FOUR_SHIFT("sar");
	FOUR_SHIFT("rol");
	FOUR_SHIFT("ror");
	RUN3("imul");
	RUN3("xadd");
	RUN("mov %[d], %%cl\n mov %[s], %%al\n mul %%cl\n", uint8_t);
}

static __attribute__((noinline)) void asm_wide(uint64_t a, uint64_t b)
{
	uint64_t low = a, high = 0;

	__asm__ volatile("mulq %[b]\n seto 0(%[o])" : "+a"(low), "=d"(high) : [b] "r"(b), [o] "r"(out) : "cc", "memory");
	use(low), use(high);
	low = a, high = 0;
	__asm__ volatile("imulq %[b]\n setc 0(%[o])" : "+a"(low), "=d"(high) : [b] "r"(b), [o] "r"(out) : "cc", "memory");
	use(low), use(high);
	low = a, high = b;
	__asm__ volatile("shldq $13, %1, %0\n shrdq $5, %0, %1\n bswap %0\n movbe 0(%2), %1" : "+r"(low), "+r"(high) : "r"(out) : "cc", "memory");
	use(low), use(high);
	__asm__ volatile("bsf %1, %0\n cmovz %1, %0" : "+r"(low) : "r"(a) : "cc");
	__asm__ volatile("bsr %1, %0\n cmovz %1, %0" : "+r"(high) : "r"(a) : "cc");
	use(low), use(high);
	__asm__ volatile("movsbl %b1, %k0\n movzwl %w1, %k0\n movslq %k1, %0\n cltq" : "+a"(low) : "q"(b));
	__asm__ volatile("lock cmpxchgq %2, %1\n lock xaddq %2, %1\n xchgq %2, %1" : "+a"(low), "+m"(sink), "+r"(high) : : "cc", "memory");
	use(low), use(high);
}

#define VECTOR(insn)                                                        \
	do {                                                                \
		__asm__ volatile(insn " %1, %0" : "+x"(x) : "x"(y));        \
		use((uint64_t)x[0]), use((uint64_t)x[1]);                   \
	} while (0)
#define SHIFT(insn)                                                         \
	do {                                                                \
		__asm__ volatile(insn " $3, %0" : "+x"(x));                 \
		use((uint64_t)x[1]);                                        \
	} while (0)

static __attribute__((noinline)) void asm_vectors(const unsigned char *p)
{
	typedef long long vector __attribute__((vector_size(16)));
	unsigned mask;
	vector x, y;

	memcpy(&x, p, 16);
	memcpy(&y, p + 16, 16);
	VECTOR("paddb"); VECTOR("paddw"); VECTOR("paddd"); VECTOR("paddq");
	VECTOR("psubb"); VECTOR("psubw"); VECTOR("psubd"); VECTOR("psubq");
	VECTOR("pand"); VECTOR("por"); VECTOR("pxor"); VECTOR("pandn"); VECTOR("paddb");
	VECTOR("pminub"); VECTOR("pmaxub"); VECTOR("pminsw"); VECTOR("pmaxsw"); VECTOR("paddd");
	VECTOR("pmullw"); VECTOR("pmulhw"); VECTOR("pmulhuw"); VECTOR("paddq");
	VECTOR("punpcklbw"); VECTOR("punpckhwd"); VECTOR("punpckldq"); VECTOR("punpckhqdq"); VECTOR("paddq");
	VECTOR("pshufb"); VECTOR("paddb");
	SHIFT("psllw"); SHIFT("psrlw"); SHIFT("psraw"); SHIFT("pslld"); SHIFT("psrld"); SHIFT("psrad"); SHIFT("psllq"); SHIFT("psrlq");
	SHIFT("pslldq"); VECTOR("paddb"); SHIFT("psrldq"); VECTOR("paddb");
	__asm__ volatile("pshufd $0x1b, %1, %0\n pshuflw $0x39, %0, %0\n pshufhw $0x39, %0, %0" : "=x"(x) : "x"(x));
	VECTOR("paddb"); VECTOR("pcmpeqb");
	__asm__ volatile("pmovmskb %1, %0" : "=r"(mask) : "x"(x));
	use(mask);
	memcpy(&x, p, 16);
	VECTOR("pcmpgtb"); VECTOR("pcmpeqw"); VECTOR("paddw"); VECTOR("pcmpgtw"); VECTOR("paddw"); VECTOR("pcmpeqd"); VECTOR("paddw"); VECTOR("pcmpgtd");
	__asm__ volatile("movd %1, %0\n" : "=x"(x) : "r"(mask));
	VECTOR("movss"); VECTOR("movsd");
}
#elif defined(__aarch64__)
static uint8_t out[32];

#define SET(n, condition) "cset %w[t], " condition "\n strb %w[t], [%[o], #" #n "]\n"
#define CONDITIONS                                                                                                                       \
	SET(0, "eq") SET(1, "ne") SET(2, "cs") SET(3, "cc") SET(4, "mi") SET(5, "pl") SET(6, "vs") SET(7, "vc") SET(8, "hi") SET(9, "ls") \
	SET(10, "ge") SET(11, "lt") SET(12, "gt") SET(13, "le")
#define LATER "b 9f\n9:\n" CONDITIONS "mrs %[t], nzcv\n str %[t], [%[o], #16]\n csel %[d], %[d], %[s], lt\n adc %[d], %[d], %[s]\n"

/* carry comes in from bit 0 of c */
#define RUN(code)                                                                                                                                   \
	do {                                                                                                                                        \
		uint64_t d = a, t;                                                                                                                  \
                                                                                                                                                    \
		__asm__ volatile("cmp %[c], #1\n" code "\n" CONDITIONS                                                                              \
				 : [d] "+&r"(d), [t] "=&r"(t) : [s] "r"(b), [c] "r"(c & 1), [o] "r"(out) : "cc", "memory");                        \
		use(d), use(out[3]);                                                                                                                \
		d = a;                                                                                                                              \
		__asm__ volatile("cmp %[c], #1\n" code "\n" LATER                                                                                   \
				 : [d] "+&r"(d), [t] "=&r"(t) : [s] "r"(b), [c] "r"(c & 1), [o] "r"(out) : "cc", "memory");                        \
		use(d), use(t), use(out[3]);                                                                                                        \
		if (out[10] && out[8])                                                                                                              \
			use(1);                                                                                                                     \
	} while (0)
#define TWO(insn) RUN(insn " %w[d], %w[d], %w[s]"); RUN(insn " %[d], %[d], %[s]")

static __attribute__((noinline)) void asm_flags(uint64_t a, uint64_t b, uint64_t c)
{
	TWO("adds"); TWO("subs"); TWO("adcs"); TWO("sbcs"); TWO("ands"); TWO("bics");
	RUN("cmp %[d], %[s]\n ccmp %[s], %[d], #5, hi"); RUN("cmp %w[d], %w[s]\n ccmn %w[s], #7, #10, le"); RUN("ccmp %[d], #3, #0, cs");
	RUN("negs %w[d], %w[s]"); RUN("subs %[d], %[d], %w[s], sxtb #2"); RUN("adds %[d], %[d], %[s], asr #7"); RUN("tst %[d], #0xff00");
}

static __attribute__((noinline)) void asm_wide(uint64_t a, uint64_t b)
{
	uint64_t x, y = a;

	__asm__ volatile("umulh %0, %1, %2" : "=r"(x) : "r"(a), "r"(b)); use(x);
	__asm__ volatile("smulh %0, %1, %2" : "=r"(x) : "r"(a), "r"(b)); use(x);
	__asm__ volatile("umaddl %0, %w1, %w2, %1" : "=r"(x) : "r"(a), "r"(b)); use(x);
	__asm__ volatile("smsubl %0, %w1, %w2, %2" : "=r"(x) : "r"(a), "r"(b)); use(x);
	__asm__ volatile("extr %0, %1, %2, #13\n rev16 %0, %0\n rbit %0, %0\n cls %0, %0" : "=&r"(x) : "r"(a), "r"(b)); use(x);
	__asm__ volatile("bfi %0, %1, #5, #17\n bfxil %0, %1, #40, #9\n sbfx %0, %0, #3, #50" : "+r"(y) : "r"(b)); use(y);
	__asm__ volatile("rorv %0, %0, %1\n asrv %w0, %w0, %w1" : "+r"(y) : "r"(b)); use(y);
	__asm__ volatile("csinc %0, %1, %2, eq\n csinv %0, %0, %1, lt\n csneg %0, %0, %2, hi" : "=&r"(x) : "r"(a), "r"(b)); use(x);
}

#define VECTOR(insn)                                                                  \
	do {                                                                          \
		__asm__ volatile(insn : "+w"(x) : "w"(y));                            \
		__asm__ volatile("umov %0, %1.d[1]" : "=r"(part) : "w"(x)); use(part); \
		__asm__ volatile("fmov %0, %d1" : "=r"(part) : "w"(x)); use(part);    \
	} while (0)

static __attribute__((noinline)) void asm_vectors(const unsigned char *p)
{
	__attribute__((vector_size(16))) unsigned char x, y;
	uint64_t part;

	memcpy(&x, p, 16);
	memcpy(&y, p + 16, 16);
	VECTOR("add %0.16b, %0.16b, %1.16b"); VECTOR("sub %0.8h, %0.8h, %1.8h"); VECTOR("cmeq %0.16b, %0.16b, %1.16b"); VECTOR("eor %0.16b, %0.16b, %1.16b");
	VECTOR("orr %0.16b, %0.16b, %1.16b"); VECTOR("bic %0.16b, %0.16b, %1.16b"); VECTOR("cmhi %0.4s, %0.4s, %1.4s"); VECTOR("cmgt %0.2d, %0.2d, %1.2d");
	VECTOR("umaxp %0.16b, %0.16b, %1.16b"); VECTOR("uminp %0.16b, %0.16b, %1.16b"); VECTOR("addp %0.16b, %0.16b, %1.16b"); VECTOR("zip1 %0.16b, %0.16b, %1.16b");
	VECTOR("ext %0.16b, %0.16b, %1.16b, #3"); VECTOR("rev64 %0.16b, %1.16b"); VECTOR("shl %0.4s, %1.4s, #5"); VECTOR("ushr %0.8h, %1.8h, #3");
	VECTOR("shrn %0.8b, %1.8h, #4"); VECTOR("bif %0.16b, %1.16b, %0.16b"); VECTOR("dup %0.16b, %1.b[2]"); VECTOR("ins %0.d[0], %1.d[1]");
}
#else
#error "which instructions does this machine have?"
#endif

static void turn(const unsigned char *p)
{
	uint64_t a, b, c;

	memcpy(&a, p, 8);
	memcpy(&b, p + 8, 8);
	memcpy(&c, p + 16, 8);
	c_uint8_t((uint8_t)a, (uint8_t)b);
	c_uint16_t((uint16_t)a, (uint16_t)b);
	c_uint32_t((uint32_t)a, (uint32_t)b);
	c_uint64_t(a, b);
	c_wide(a, b);
	c_strings(p);
	asm_flags(a, b, c);
	asm_wide(a, b);
	asm_vectors(p);
}

int main(int argc, char **argv)
{
	unsigned char p[TURN_BYTES];
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0)
		return 2;
	while (read(fd, p, sizeof p) == sizeof p)
		turn(p);
	printf("%llx\n", (unsigned long long)sink);
	return 0;
}

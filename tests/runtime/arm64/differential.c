/* One instruction at a time, with random registers: a small function loads all registers from memory, jumps to the instruction, and stores them again. x18, x28 and x29 are its own. The
 * instruction is 64 KiB before the memory that it accesses, so that it can also name it relative to itself. */
#include "differential.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "a64/a64.h"
#include "run.h"

#define CODE_BEFORE 0x10000ul
#define NATIVE_VA 0x200000000000ul
#define FIRST 512u /* what is before is undecided */

_Static_assert(offsetof(struct registers, v) == 256 && offsetof(struct registers, z) == 768 && offsetof(struct registers, p) == 8960 &&
		       offsetof(struct registers, ffr) == 9472,
	       "the assembly knows them");

void run_code(struct registers *r, const void *code, bool is_scalable);

#define EACH_31(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(30)
#define EACH_16(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define EACH_32(f) EACH_16(f) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)
#define LOAD_X(n) "	ldr x" #n ", [x28, #8*" #n "]\n"
#define STORE_X(n) "	str x" #n ", [x28, #8*" #n "]\n"
#define LOAD_V(n) "	ldr q" #n ", [x28, #256+16*" #n "]\n"
#define STORE_V(n) "	str q" #n ", [x28, #256+16*" #n "]\n"
#define LOAD_Z(n) "	ldr z" #n ", [x0, #" #n ", mul vl]\n"
#define STORE_Z(n) "	str z" #n ", [x0, #" #n ", mul vl]\n"
#define LOAD_P(n) "	ldr p" #n ", [x0, #" #n ", mul vl]\n"
#define STORE_P(n) "	str p" #n ", [x0, #" #n ", mul vl]\n"
#define AT(offset) "	mov x0, #" #offset "\n	add x0, x28, x0\n"

__asm__(".text\n"
	".arch armv8-a+sve\n"
	".globl run_code\n"
	".p2align 4\n"
	"run_code:\n"
	"	stp x29, x30, [sp, #-176]!\n"
	"	stp x19, x20, [sp, #16]\n	stp x21, x22, [sp, #32]\n	stp x23, x24, [sp, #48]\n	stp x25, x26, [sp, #64]\n	stp x27, x28, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	str w2, [sp, #160]\n"
	"	mov x28, x0\n"
	"	mov x18, x1\n"
	EACH_32(LOAD_V)
	"	cbz w2, 1f\n"
	AT(768) EACH_32(LOAD_Z)
	AT(9472) "	ldr p0, [x0]\n	wrffr p0.b\n"
	AT(8960) EACH_16(LOAD_P)
	"1:	ldr x0, [x28, #248]\n"
	"	msr nzcv, x0\n"
	"	adr x29, 2f\n"
	EACH_31(LOAD_X)
	"	br x18\n"
	"2:\n"
	EACH_31(STORE_X)
	"	mrs x0, nzcv\n"
	"	str x0, [x28, #248]\n"
	"	ldr w2, [sp, #160]\n"
	"	cbz w2, 3f\n"
	AT(8960) EACH_16(STORE_P)
	AT(9472) "	rdffr p0.b\n	str p0, [x0]\n"
	AT(768) EACH_32(STORE_Z)
	"3:\n"
	EACH_32(STORE_V)
	"	ldp x19, x20, [sp, #16]\n	ldp x21, x22, [sp, #32]\n	ldp x23, x24, [sp, #48]\n	ldp x25, x26, [sp, #64]\n	ldp x27, x28, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	ldp x29, x30, [sp], #176\n"
	"	ret\n");

uint64_t random_word(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint32_t random_of_form(const char *bits)
{
	uint64_t r = random_word();
	uint32_t word = 0;

	for (int i = 0; i < 32; i++)
		word = word << 1 | (bits[i] == '?' ? r >> i & 1 : bits[i] == '1');
	return word;
}

static uint32_t vector_bytes(void)
{
	uint64_t n;

	__asm__(".arch armv8-a+sve\n	rdvl %0, #1" : "=r"(n));
	return (uint32_t)n;
}

static bool is_own(unsigned reg)
{
	return reg == 18 || reg == 28 || reg == 29;
}

/* Can be run as it is, and the processor says what comes of it. */
static bool is_usable(const struct a64 *a)
{
	const bool writes_back = a->mode == A64_PRE || a->mode == A64_POST, is_pair = a->nregs == 2 && !a->is_structure;

	if (a->kind == A64_OTHER || a->kind == A64_LOAD_EXCLUSIVE || a->kind == A64_STORE_EXCLUSIVE)
		return false;
	if (a->mode != A64_LITERAL && (is_own(a->rn) || a->rn == A64_ZERO))
		return false;
	if (a->has_index && (is_own(a->rm) || a->rm == a->rn))
		return false;
	if (a->kind == A64_ATOMIC && (is_own(a->rs) || (is_pair && is_own(a->rs + 1))))
		return false;
	if (a->kind == A64_ATOMIC && is_pair && (a->rs == 30 || a->rt == 30)) /* casp with zero as the second one: QEMU 7.2 crashes */
		return false;
	if (a->kind == A64_LOAD && is_pair && a->rt == a->rt2)
		return false;
	if (a->file != A64_GENERAL || a->nregs == 0)
		return true;
	if (is_own(a->rt) || (is_pair && is_own(a->rt2)))
		return false;
	if (a->kind == A64_ATOMIC && (a->rs == a->rn || (is_pair && a->rs + 1 == a->rn)))
		return false;
	/* the base has another value on each side: it is not stored */
	return (!writes_back && a->kind == A64_LOAD) || (a->rt != a->rn && (!is_pair || a->rt2 != a->rn));
}

struct side side_make(char *area)
{
	uint32_t *code = mmap(area - CODE_BEFORE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (code != (uint32_t *)(area - CODE_BEFORE))
		printf("no memory before %p ", (void *)area);
	return (struct side){ area, code };
}

/* Registers with which the instruction accesses `target` bytes behind the area's start. */
static void aim(struct registers *r, const struct a64 *a, const struct side *s, uint32_t target)
{
	const uint32_t vl = a->is_vector_multiple ? vector_bytes() : 0;
	uint64_t base = (uint64_t)s->area + target, index = a->has_index ? r->x[a->rm] : 0;

	if (a->rm == A64_ZERO)
		index = 0;
	if (a->mode == A64_INDEX)
		base -= (a->extend == 2 ? (uint32_t)index : a->extend == 6 ? (uint64_t)(int32_t)index : index) << a->shift;
	else if (a->mode != A64_POST)
		base -= (uint64_t)(a->is_vector_multiple ? a->offset * a64_bytes(a, vl, 0) : a->offset);
	if (a->mode != A64_LITERAL)
		r->x[a->rn] = base;
}

void side_run(const struct side *s, struct registers *r, const struct trial *t, uint32_t word, bool is_scalable)
{
	aim(r, &t->in, s, t->target);
	s->code[0] = word;
	s->code[1] = 0xd61f03a0; /* br x29 */
	__builtin___clear_cache((char *)s->code, (char *)(s->code + SIDE_WORDS));
	run_code(r, s->code, is_scalable);
}

const char *registers_difference(const struct registers *a, const struct registers *b, const struct trial *t, uint64_t delta, bool is_scalable)
{
	static char text[100];
	const unsigned base = t->in.mode == A64_LITERAL ? 32 : t->in.rn;

	for (unsigned i = 0; i < 31; i++) {
		if (is_own(i) || a->x[i] == b->x[i] || (i == base && a->x[i] + delta == b->x[i]))
			continue;
		snprintf(text, sizeof text, "x%u is %lx, not %lx", i, b->x[i], a->x[i]);
		return text;
	}
	for (unsigned i = 0; i < 32; i++)
		if (memcmp(a->v[i], b->v[i], 16) != 0) {
			snprintf(text, sizeof text, "v%u is %lx %lx, not %lx %lx", i, b->v[i][1], b->v[i][0], a->v[i][1], a->v[i][0]);
			return text;
		}
	if (is_scalable && (memcmp(a->z, b->z, sizeof a->z) != 0 || memcmp(a->p, b->p, sizeof a->p) != 0 || memcmp(a->ffr, b->ffr, sizeof a->ffr) != 0))
		return "a register of SVE";
	return a->flags == b->flags ? NULL : "the flags";
}

void registers_make(struct registers *r)
{
	uint64_t *words = (uint64_t *)r;

	for (size_t i = 0; i < sizeof *r / 8; i++)
		words[i] = random_word();
	for (unsigned i = 0; i < 31; i++)
		if (random_word() % 2)
			r->x[i] %= 1024; /* atomics compare, and an index need not be far away */
	r->flags = (random_word() & 0xf) << 28;
	memset(r->ffr, 0xff, sizeof r->ffr);
}

struct trial trial_make(const struct form *f, bool is_scalable)
{
	struct trial t = { .target = FIRST + 256 + (uint32_t)(random_word() % (4096 - FIRST - 256)) };

	do {
		t.word = random_of_form(f->bits);
		a64_decode(&t.in, t.word);
	} while (!is_usable(&t.in));
	if (random_word() % 8 == 0)
		t.target = 4096 - (uint32_t)(random_word() % 32); /* into the next page, or just not */
	t.bytes = a64_bytes(&t.in, is_scalable ? vector_bytes() : 0, 64);
	t.target &= f->is_aligned ? ~(t.bytes - 1) : t.in.mode == A64_LITERAL ? ~3u : ~0u;
	if (t.in.mode == A64_LITERAL)
		t.word = (t.word & 0xff00001f) | ((uint32_t)((CODE_BEFORE + t.target) / 4) << 5);
	return t;
}

void compare_forms(const struct form *forms, int each, bool is_scalable)
{
	static struct registers start, native, closed;
	struct side native_side = side_make(mmap((void *)NATIVE_VA, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	struct side pool_side = side_make(map_pool());
	static char is[AREA_BYTES];
	int n = 0, nwrong = 0, fd;

	fd = open("pool", O_RDWR);
	for (uint32_t i = FIRST; i < AREA_BYTES; i++)
		native_side.area[i] = (char)random_word();
	if (pwrite(fd, native_side.area + FIRST, AREA_BYTES - FIRST, FIRST) != AREA_BYTES - FIRST)
		printf("no image ");
	for (const struct form *f = forms; f->bits; f++)
		for (int i = 0; i < each; i++) {
			const struct trial t = trial_make(f, is_scalable);
			const char *why;

			registers_make(&start);
			native = closed = start;
			side_run(&native_side, &native, &t, t.word, is_scalable);
			side_run(&pool_side, &closed, &t, t.word, is_scalable);
			why = registers_difference(&native, &closed, &t, (uint64_t)pool_side.area - (uint64_t)native_side.area, is_scalable);
			if (!why && (pread(fd, is, AREA_BYTES - FIRST, FIRST) != AREA_BYTES - FIRST || memcmp(is, native_side.area + FIRST, AREA_BYTES - FIRST) != 0))
				why = "memory";
			n++;
			if (why && !nwrong++)
				printf("%08x (%s) at %u: %s; ", t.word, f->bits, t.target, why);
			if (why && pwrite(fd, native_side.area + FIRST, AREA_BYTES - FIRST, FIRST) < 0)
				break;
		}
	close(fd);
	printf("%d wrong of %d", nwrong, n);
}

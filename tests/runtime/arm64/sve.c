/* SVE: all contiguous forms are compared with what the processor does on open pages; which bytes a predicate leaves out. Gathers end the run. */
#include <stdio.h>
#include <sys/auxv.h>

#include "differential.h"
#include "run.h"

static const struct form forms[] = {
	{ "1000010110??????0?0?????????????", false }, /* ldr z, p */
	{ "1110010110??????0?0?????????????", false }, /* str z, p */
	{ "1000010??1??????1???????????????", false }, /* ld1r */
	{ "1010010????0????101?????????????", false }, /* ld1 */
	{ "1010010?????????010?????????????", false },
	{ "1010010?????????011?????????????", false }, /* ldff1 */
	{ "1010010????0????111?????????????", false }, /* ldnt1, ld2 … ld4 */
	{ "1010010?????????110?????????????", false },
	{ "1010010??000????001?????????????", false }, /* ld1rq */
	{ "1010010??00?????000?????????????", false },
	{ "1110010????0????111?????????????", false }, /* st1 */
	{ "1110010?????????010?????????????", false },
	{ "1110010????1????111?????????????", false }, /* stnt1, st2 … st4 */
	{ "1110010?????????011?????????????", false },
	{ NULL, false },
};

static int contiguous(void)
{
	compare_forms(forms, 40, true);
	return 0;
}

#define SVE(code) ".arch armv8-a+sve\n" code

/* The predicate has the second word only. */
static int masked_load(void)
{
	char *p = map_pool();
	uint64_t w[32];

	__asm__ volatile(SVE("	ptrue p0.d, vl2\n	ptrue p1.d, vl1\n	eor p0.b, p0/z, p0.b, p1.b\n	ld1d z3.d, p0/z, [%1]\n	str z3, [%0]")
			 : : "r"(w), "r"(p) : "p0", "p1", "v3", "memory");
	printf("%lx %lx", w[0], w[1]);
	return 0;
}

static int masked_store(void)
{
	char *p = map_pool();

	__asm__ volatile(SVE("	ptrue p0.d, vl2\n	ptrue p1.d, vl1\n	eor p0.b, p0/z, p0.b, p1.b\n	mov z3.d, #7\n	st1d z3.d, p0, [%0]")
			 : : "r"(p) : "p0", "p1", "v3", "memory");
	printf("%lx %lx", WORD(p, 0), WORD(p, 8));
	return 0;
}

/* 32 bits of each element are stored. */
static int narrow_store(void)
{
	char *p = map_pool();

	__asm__ volatile(SVE("	ptrue p0.d, vl2\n	mov z3.d, #7\n	st1w z3.d, p0, [%0]") : : "r"(p) : "p0", "v3", "memory");
	printf("%lx %lx", WORD(p, 0), WORD(p, 8));
	return 0;
}

static int gather(void)
{
	char *p = map_pool();

	__asm__ volatile(SVE("	ptrue p0.d\n	mov z4.d, #0\n	ld1d z3.d, p0/z, [%0, z4.d, lsl #3]") : : "r"(p) : "p0", "v3", "v4", "memory");
	return 0;
}

#define ATOMICS (1ul << 8 | 1ul << 15 | 1ul << 26 | 1ul << 30) /* LSE, ldapr, ldapur; signed addresses came with them */
#define SCALABLE (1ul << 22)

const char *machine_lack(unsigned flags)
{
	const unsigned long has = getauxval(AT_HWCAP);

	if (flags & NEEDS_WIDE && !(has & SCALABLE))
		return "SVE";
	return flags & NEEDS_ATOMICS && (has & ATOMICS) != ATOMICS ? "LSE, RCPC or PAC" : NULL;
}

const struct test wide_tests[] = {
	{ "sve-contiguous", contiguous, { PAIR(0) }, { { 0 } }, "0 wrong of 560", 0, NEEDS_WIDE, NULL },
	{ "sve-detours", detours_scalable, { PAIR(0) }, { { 0 } }, "0 wrong of 480", 0, NEEDS_WIDE, NULL },
	{ "sve-masked-load", masked_load, { PAIR(0) }, { { 0, 8, ALL, 2 } }, "0 2222222222222222", 0, NEEDS_WIDE, NULL },
	{ "sve-masked-store", masked_store, { PAIR(0) }, { { 0, 0, ALL, 2 } }, "1111111111111111 7", 0, NEEDS_WIDE, NULL },
	{ "sve-narrow-store", narrow_store, { PAIR(0) }, { { 0, 8, ALL, 2 } }, "700000007 2222222222222222", 0, NEEDS_WIDE, NULL },
	{ "sve-gather", gather, { PAIR(0) }, { { 0 } }, NULL, 0, NEEDS_WIDE, UNKNOWN },
	{ 0 },
};

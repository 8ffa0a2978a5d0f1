/* String instructions: what one of them stores becomes visible in any order, but not before what was stored earlier, nor after what is stored later. */
#include "tests/corpus/corpus.h"

#define WORD(i) (p->text + 8 * (i)) /* of one line */

static void fill(const char *how, void *to, uint64_t n)
{
	if (*how == 'b')
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"('x') : "memory");
	else
		__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(7ul) : "memory");
}

static void words(struct pm *p)
{
	fill("q", WORD(1), 6);
	persist(p->text, 64);
	PMEND_ASSERT_ORDERED(WORD(1), 8, WORD(2), 8); /* BUG: assert-ordered */
	PMEND_ASSERT_ORDERED(WORD(1), 4, WORD(1) + 4, 4);
}

static void bytes(struct pm *p)
{
	fill("b", p->text, 16);
	persist(p->text, 64);
	PMEND_ASSERT_ORDERED(p->text, 1, p->text + 1, 1); /* BUG: assert-ordered */
}

static void around(struct pm *p)
{
	*(volatile uint64_t *)WORD(0) = 1;
	fill("q", WORD(1), 6);
	*(volatile uint64_t *)WORD(7) = 1;
	persist(p->text, 64);
	PMEND_ASSERT_ORDERED(WORD(0), 8, WORD(1), 48);
	PMEND_ASSERT_ORDERED(WORD(1), 48, WORD(7), 8);
}

static void two(struct pm *p)
{
	fill("b", p->text, 8);
	fill("b", p->text + 8, 8);
	persist(p->text, 64);
	PMEND_ASSERT_ORDERED(p->text, 8, p->text + 8, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, words, bytes, around, two);
}

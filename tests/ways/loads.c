/* Loads that every processor has, by instructions of the compiler's and of the C library. */
#include "ways.h"

static uint64_t plain(void)
{
	return load(WORD);
}

static uint64_t by_bytes(void)
{
	uint64_t w = 0;

	for (int i = 7; i >= 0; i--)
		w = w << 8 | *(const volatile unsigned char *)(WORD + i);
	return w;
}

/* Half of it lies on the page before. */
static uint64_t across_pages(void)
{
	uint64_t low, high;

	memcpy(&low, WORD - 4, 8);
	memcpy(&high, WORD + 4, 8);
	return low >> 32 | high << 32;
}

static uint64_t unaligned(void)
{
	uint64_t low, high;

	__asm__ volatile("" ::: "memory");
	memcpy(&low, WORD - 3, 8);
	memcpy(&high, WORD + 5, 8);
	return low >> 24 | high << 40;
}

static uint64_t by_memcpy(void)
{
	static char copy[3 * PAGE_AT];
	uint64_t w;

	memcpy(copy, g_pool + PAGE_AT, sizeof copy);
	memcpy(&w, copy + WORD_AT - PAGE_AT, 8);
	return w;
}

static uint64_t by_memmove(void)
{
	memmove(WORD + 24, WORD, 64);
	return load(WORD + 24);
}

static uint64_t by_memcmp(void)
{
	return word_if(memcmp(WORD, WORD_TEXT, 8) == 0);
}

static uint64_t by_memmem(void)
{
	return word_if(memmem(WORD - 100, 300, WORD_TEXT, 8) != NULL);
}

static uint64_t by_memchr(void)
{
	return word_if(memchr(WORD - 64, 'v', 128) == WORD + 3);
}

static uint64_t by_strlen(void)
{
	return word_if(strlen(WORD) == 7);
}

static uint64_t by_strcpy(void)
{
	char copy[16] = { 0 };
	uint64_t w;

	strncpy(copy, WORD, 15);
	memcpy(&w, copy, 8);
	return w;
}

static uint64_t by_strpbrk(void)
{
	char *const found = strpbrk(WORD, "x:i");

	return word_if(found == WORD + 4);
}

static uint64_t compared_and_swapped(void)
{
	uint64_t w = 1;

	__atomic_compare_exchange_n((uint64_t *)WORD, &w, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return w;
}

static uint64_t exchanged(void)
{
	return __atomic_exchange_n((uint64_t *)WORD, 5, __ATOMIC_ACQ_REL);
}

static uint64_t added_to(void)
{
	return __atomic_fetch_add((uint64_t *)WORD, 1, __ATOMIC_SEQ_CST);
}

static uint64_t acquired(void)
{
	return __atomic_load_n((uint64_t *)WORD, __ATOMIC_ACQUIRE);
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = load(a), y = load(b);

	return x < y ? -1 : x > y;
}

static uint64_t sorted(void)
{
	qsort(WORD, 8, 8, compare);
	return load(WORD + 56);
}

/* It moves to another place of the pool, and is read there. */
static uint64_t copied_inside(void)
{
	memcpy(g_pool + ROOM_AT, WORD, 256);
	return load(g_pool + ROOM_AT);
}

static uint64_t half_overwritten(void)
{
	*(volatile uint32_t *)WORD = 0;
	return load(WORD) | (uint32_t)word_kept();
}

const struct way ways_loads[] = {
	{ "load.plain", plain, 0 },
	{ "load.bytes", by_bytes, 0 },
	{ "load.across_pages", across_pages, 0 },
	{ "load.unaligned", unaligned, 0 },
	{ "load.memcpy", by_memcpy, 0 },
	{ "load.memmove", by_memmove, 0 },
	{ "load.memcmp", by_memcmp, 0 },
	{ "load.memmem", by_memmem, 0 },
	{ "load.memchr", by_memchr, 0 },
	{ "load.strlen", by_strlen, 0 },
	{ "load.strncpy", by_strcpy, 0 },
	{ "load.strpbrk", by_strpbrk, 0 },
	{ "load.compare_exchange", compared_and_swapped, 0 },
	{ "load.exchange", exchanged, 0 },
	{ "load.fetch_add", added_to, 0 },
	{ "load.acquire", acquired, 0 },
	{ "load.qsort", sorted, 0 },
	{ "load.copied_inside", copied_inside, 0 },
	{ "load.half_overwritten", half_overwritten, 0 },
	{ 0 },
};

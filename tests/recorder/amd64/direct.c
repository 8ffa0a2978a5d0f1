/* Direct stores, which Valgrind cannot decode and many processors lack: they run under the recorder all the same. */
#include "tests/recorder/expect.h"

int main(int argc, char **argv)
{
	static char line[64] __attribute__((aligned(64)));
	uint64_t wide = 0x1122334455667788;
	uint32_t narrow = 0xaabbccdd;
	char *p;

	CHECK(argc == 2);
	p = pool_map(pool_path(argv[1], "pool"), 4096);
	for (int i = 0; i < 64; i++)
		line[i] = (char)(i + 1);
	STORE_NT(p + 128, 64, __asm__ volatile("movdir64b (%1), %0" ::"r"(p + 128), "r"(line) : "memory"));
	STORE_NT(p + 8, 8, __asm__ volatile("movdiri %1, (%0)" ::"r"(p + 8), "r"(wide) : "memory"));
	STORE_NT(p + 20, 4, __asm__ volatile("movdiri %1, 4(%0)" ::"r"(p + 16), "r"(narrow) : "memory"));
	__asm__ volatile("cldemote (%0)" ::"r"(p)); /* a hint: no event */
	FENCE("sfence", __asm__ volatile("sfence"));
	CHECK(memcmp(p + 128, line, 64) == 0 && memcmp(p + 8, &wide, 8) == 0 && memcmp(p + 20, &narrow, 4) == 0);
	return 0;
}

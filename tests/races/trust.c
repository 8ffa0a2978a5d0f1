/* A library whose name says that it is one of PMDK's reads what was never written back. The finding is at the line that calls it.
 *	trust POOL run|recover */
#include "pm.h"

#ifdef TRUST_LIBRARY
uint64_t trust_read(const volatile uint64_t *word);
uint64_t trust_read(const volatile uint64_t *word)
{
	return *word;
}
#else
uint64_t trust_read(const volatile uint64_t *word);

int main(int argc, char **argv)
{
	volatile uint64_t *word = pm_map(argv[1], 4096);

	(void)argc;
	if (strcmp(argv[2], "run") == 0)
		*word = 1;
	else
		printf("%lu\n", trust_read(word)); /* RACE: trust */
	return 0;
}
#endif

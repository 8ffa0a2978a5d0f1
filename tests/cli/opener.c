/* Makes a pool, or opens one and says nothing if it cannot.
 *	opener make|open POOL */
#include <libpmemobj.h>
#include <string.h>

int main(int argc, char **argv)
{
	int is_made = argc == 3 && strcmp(argv[1], "make") == 0;
	PMEMobjpool *pop = argc != 3 ? NULL : is_made ? pmemobj_create(argv[2], "opener", PMEMOBJ_MIN_POOL, 0600) : pmemobj_open(argv[2], "opener");

	if (pop)
		pmemobj_close(pop);
	return is_made && !pop ? 2 : 0;
}

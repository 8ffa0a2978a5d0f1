/* What the runs of one fork server know from earlier ones: memory that the server shares with them. Whoever is no run of a server has its own.
 * Runs follow each other, and the processes of one run come here with the region's lock held, or do not mind what others do at the same time. */
#include <sys/mman.h>

#include "internal.h"

static struct warm g_own;
struct warm *g_warm = &g_own;

void warm_share(void)
{
	void *at = mmap(NULL, sizeof *g_warm, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		g_warm = at;
}

void warm_note_read(uint64_t pc)
{
	for (uint32_t i = 0; i < WARM_PROBES; i++) {
		struct warm_read *r = &g_warm->reads[((pc ^ pc >> 8) + i) % WARM_READS];

		if (r->pc == 0)
			r->pc = pc;
		if (r->pc != pc)
			continue;
		r->n++;
		return;
	}
}

/* What the runs of one fork server know from earlier ones: memory that the server shares with them.
 * Whoever is no run of a server has its own. Runs follow each other, and the processes of one run
 * come here with the region's lock held, or do not mind what others do at the same time. */
#include <sys/mman.h>

#include "internal.h"

#define READS_MIN 3u /* so many faults make an instruction worth a detour */

static struct warm g_own;
struct warm *g_warm = &g_own;

void warm_share(void)
{
	long at = CALL6(SYS_mmap, 0, sizeof *g_warm, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!IS_ERROR(at))
		g_warm = (struct warm *)at;
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

/* By address: where a detour also takes what follows, the first one of neighbours decides. */
uint64_t warm_next_read(void)
{
	struct warm_read *next = NULL;

	for (uint32_t i = 0; i < WARM_READS; i++) {
		struct warm_read *r = &g_warm->reads[i];

		if (r->n >= READS_MIN && !r->is_tried && (!next || r->pc < next->pc))
			next = r;
	}
	if (!next)
		return 0;
	next->is_tried = true;
	return next->pc;
}

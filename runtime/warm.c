/* Keeps what runs of one fork server learn from earlier runs, in memory that they share with the
 * server. A process that is no run of a server has memory of its own for this. Runs follow each
 * other. The processes of one run hold the region's lock here, or can bear the others' changes. */
#include <sys/mman.h>

#include "internal.h"

#define READS_MIN 3u /* an instruction with this many faults is worth a detour */

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

/* Returns a load that deserves a detour, the lowest address first. A detour may also replace the
 * instructions behind its load; so of loads that are neighbours, the first one decides. */
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

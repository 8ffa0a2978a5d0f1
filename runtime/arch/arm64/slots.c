/* Slots. Each makes one particular system call of the program by `svc #0` and branches back behind
 * the call. No register is free at a call, so each call needs a slot of its own, and a branch
 * reaches 128 MiB. Most slots are in this library, near the C library, with call frame information
 * for unwinders. For calls elsewhere, memory is mapped near them. */
#include <sys/mman.h>

#include "gate.h"
#include "internal.h"
#include "near.h"

#define SLOT_WORDS 3u
#define OWN_SLOTS "2048"
#define AREA_BYTES NEAR_STEP
#define MAX_AREAS 16u
#define ADD_SP_16 0x910043ffu /* add sp, sp, #16 */

/* The frame address is sp + 16. The return address is at sp (gate_pass() stores it there); as in
 * signal frames, it belongs to a column that is no register. */
__asm__(".text\n"
	".p2align 4\n"
	".globl rt_slots, rt_slots_end\n"
	".hidden rt_slots, rt_slots_end\n"
	"	nop\n"
	"rt_slots:\n"
	"	.cfi_startproc\n"
	"	.cfi_return_column 96\n"
	"	.cfi_def_cfa sp, 16\n"
	"	.cfi_offset 96, -16\n"
	"	.fill " OWN_SLOTS " * 3, 4, 0xd503201f\n" /* nop */
	"	.cfi_endproc\n"
	"rt_slots_end:\n");
extern uint32_t rt_slots[], rt_slots_end[];

struct area {
	uint32_t *next, *end;
	uint32_t *start;
};

struct slot g_slots[MAX_SLOTS];
uint32_t g_nslots = 1;
static struct area g_areas[MAX_AREAS];
static uint32_t g_nareas;
static bool g_is_open;

static bool protect(const struct area *a, int prot)
{
	const uint64_t start = PAGE_DOWN((uint64_t)a->start), end = PAGE_UP((uint64_t)a->end);

	return CALL3(SYS_mprotect, start, end - start, PROT_READ | PROT_EXEC | prot) == 0;
}

bool slots_open(void)
{
	if (g_nareas == 0)
		g_areas[g_nareas++] = (struct area){ rt_slots, rt_slots_end, rt_slots };
	g_is_open = true;
	for (uint32_t i = 0; i < g_nareas; i++)
		if (!protect(&g_areas[i], PROT_WRITE))
			return false;
	return true;
}

void slots_close(void)
{
	for (uint32_t i = 0; i < g_nareas; i++) {
		protect(&g_areas[i], 0);
		__builtin___clear_cache((char *)g_areas[i].start, (char *)g_areas[i].next);
	}
	g_is_open = false;
}

static struct area *area_map(uint64_t site)
{
	uint32_t *words;

	if (g_nareas >= MAX_AREAS ||
	    !(words = (uint32_t *)near_map(site, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC)))
		return NULL;
	g_areas[g_nareas] = (struct area){ words, words + AREA_BYTES / 4, words };
	return &g_areas[g_nareas++];
}

static struct area *area_for(uint64_t site)
{
	for (uint32_t i = 0; i < g_nareas; i++)
		if (g_areas[i].next + SLOT_WORDS <= g_areas[i].end &&
		    near_reaches((uint64_t)g_areas[i].next, site))
			return &g_areas[i];
	return area_map(site);
}

bool slots_are_at(uint64_t addr)
{
	for (uint32_t i = 0; i < g_nareas; i++)
		if (addr - (uint64_t)g_areas[i].start <
		    (uint64_t)(g_areas[i].end - g_areas[i].start) * 4)
			return true;
	return false;
}

/* Finds the slot for this site; 0: there is none. (Another object may have been mapped at this
 * address before, and have left the slot.) */
static uint32_t slot_of(uint64_t site)
{
	uint32_t i = g_nslots - 1;

	while (i > 0 && g_slots[i].back != site + 4)
		i--;
	return i;
}

uint32_t slots_make(uint64_t site)
{
	const uint32_t old = slot_of(site);
	struct area *a;
	uint32_t *code;

	if (old)
		return old;
	if (g_nslots >= MAX_SLOTS || (!g_is_open && !slots_open()))
		return 0;
	a = area_for(site);
	if (!a)
		return 0;
	code = a->next;
	a->next += SLOT_WORDS;
	code[0] = SVC;
	code[1] = ADD_SP_16;
	code[2] = near_branch((uint64_t)&code[2], site + 4);
	g_slots[g_nslots] = (struct slot){ code, site + 4 };
	return g_nslots++;
}

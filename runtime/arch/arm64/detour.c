/* Decides which loads get a detour (detour.h), finds memory for its stub, and handles faults in it.
 * The program is changed only between runs, in the server, one word at a time, so its code is
 * executable at any moment. */
#include "detour.h"

#include <sys/mman.h>

#include "a64/a64.h"
#include "exclusive.h"
#include "internal.h"
#include "near.h"

#define AREAS 8u
#define AREA_BYTES (2 * NEAR_STEP)
#define STUB_BYTES (STUB_WORDS * 4)
/* before the stubs is a page, of whatever size, for the lead */
#define STUBS (NEAR_STEP / STUB_BYTES)

struct area {
	uint64_t at;
	uint32_t n;
	struct stub stubs[STUBS];
};

static struct area g_areas[AREAS];
static uint32_t g_nareas;

static struct lead *area_lead(const struct area *a)
{
	return (struct lead *)a->at;
}

static uint64_t area_code(const struct area *a)
{
	return a->at + PAGE;
}

/* ---- in a run ---- */

/* Finds the stub whose code contains pc, and in *word the number of the word in this code. NULL: no
 * stub contains it. */
static const struct stub *stub_of(uint64_t pc, uint32_t *word)
{
	for (uint32_t i = 0; i < g_nareas; i++) {
		const uint64_t at = pc - area_code(&g_areas[i]);

		*word = (uint32_t)(at % STUB_BYTES / 4);
		if (at < g_areas[i].n * STUB_BYTES)
			return &g_areas[i].stubs[at / STUB_BYTES];
	}
	return NULL;
}

uint64_t detour_original(uint64_t pc)
{
	uint32_t word;
	const struct stub *s = stub_of(pc, &word);

	return s ? s->original : pc;
}

/* Handles a fault in a stub: lets the program execute the original load. This also happens after a
 * fault at the first word of a stub, which means that the stub has no room on the stack. */
bool detour_leave(ucontext_t *uc)
{
	mcontext_t *m = &uc->uc_mcontext;
	uint32_t word;
	const struct stub *s = stub_of(m->pc, &word);

	if (!s || (word != 0 && word != s->fast))
		return false;
	if (word == s->fast) {
		m->regs[s->address] = *(const uint64_t *)m->sp;
		m->sp += 16;
	}
	m->pc += 4 * (uint64_t)s->slow - 4 * word;
	return true;
}

bool detours_exist(void)
{
	return g_nareas > 0;
}

void detours_lead(const struct window *w)
{
	for (uint32_t i = 0; i < g_nareas; i++) {
		struct lead *lead = area_lead(&g_areas[i]);

		lead->len_bytes = 0; /* set first, so that no load is redirected meanwhile */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		lead->start = w->start;
		lead->map = w->map;
		lead->there = w->start + w->delta;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		lead->len_bytes = w->len_bytes;
	}
}

/* ---- in the server ---- */

struct eh_bases {
	void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *pc, struct eh_bases *bases);

/* Asks whether the instruction is between an exclusive load and its store. A stub there would store
 * to the stack, and so make the exclusive store fail. */
static bool is_exclusive(uint64_t pc, uint64_t function)
{
	struct a64 a;

	for (uint64_t n = 1; n < EXCLUSIVE_MAX && pc - 4 * n >= function; n++) {
		a64_decode(&a, ((const uint32_t *)pc)[-(long)n]);
		if (a.kind == A64_LOAD_EXCLUSIVE || a.kind == A64_STORE_EXCLUSIVE)
			return a.kind == A64_LOAD_EXCLUSIVE;
	}
	return false;
}

static struct area *area_near(uint64_t pc)
{
	uint64_t at;

	for (uint32_t i = 0; i < g_nareas; i++)
		if (g_areas[i].n < STUBS && near_reaches(g_areas[i].at, pc))
			return &g_areas[i];
	if (g_nareas == AREAS || !(at = near_map(pc, AREA_BYTES, PROT_READ | PROT_WRITE)))
		return NULL;
	g_areas[g_nareas] = (struct area){ .at = at };
	return &g_areas[g_nareas++];
}

/* Writes the stub and the branch that leads to it, both in private copies of the pages. */
static bool place(struct area *a, uint64_t pc)
{
	uint32_t *code = (uint32_t *)(area_code(a) + a->n * STUB_BYTES), *word = (uint32_t *)pc;
	const uint64_t code_bytes = AREA_BYTES - PAGE;
	bool is_placed;

	if (CALL3(SYS_mprotect, area_code(a), code_bytes, PROT_READ | PROT_WRITE) != 0)
		return false;
	is_placed = stub_emit(&a->stubs[a->n], code, area_lead(a), pc, *word);
	__builtin___clear_cache((char *)code, (char *)(code + STUB_WORDS));
	if (CALL3(SYS_mprotect, area_code(a), code_bytes, PROT_READ | PROT_EXEC) != 0 || !is_placed)
		return false;
	if (CALL3(SYS_mprotect, PAGE_DOWN(pc), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	__atomic_store_n(word, near_branch(pc, (uint64_t)code), __ATOMIC_RELAXED);
	__builtin___clear_cache((char *)word, (char *)(word + 1));
	CALL3(SYS_mprotect, PAGE_DOWN(pc), PAGE, PROT_READ | PROT_EXEC);
	a->n++;
	return true;
}

/* Gives the load at pc a detour, if that is possible. Call frame information must say that pc is
 * code, and to which function it belongs. Stubs themselves have no such information. */
void detour_make(uint64_t pc)
{
	struct eh_bases bases = { 0 };
	struct area *a;

	if (_Unwind_Find_FDE((void *)pc, &bases) && !is_exclusive(pc, (uint64_t)bases.function) &&
	    (a = area_near(pc)))
		place(a, pc);
}

/* Replaces all code that decodes instructions if pmend is built without Zydis. No program can be
 * watched then: recovery runs on whole images. */
#include <string.h>

#include "../gate.h"
#include "internal.h"
#include "patch.h"

const char *arch_refusal(void)
{
	/* this text fits why_unsound */
	return "pmend was built without Zydis, which watches recovery: apt-get install " PACKAGES
	       ", then build it again";
}

void arch_init(void)
{
	catch_choose();
}

void insn_decode(struct insn *out, const ucontext_t *uc)
{
	(void)uc;
	memset(out, 0, sizeof *out);
	out->kind = INSN_UNKNOWN;
}

/* Fails for all code: without decoding, calls cannot be distinguished from data. */
static bool replace_none(struct patch_place *p, uint64_t start, uint64_t end)
{
	(void)p, (void)start, (void)end;
	return false;
}

const struct patch_table calls_table = { .replace = replace_none };

/* ---- there are no detours ---- */

void detour_make(uint64_t pc)
{
	(void)pc;
}

bool detours_exist(void)
{
	return false;
}

void detours_lead(const struct window *w)
{
	(void)w;
}

uint64_t detour_original(uint64_t pc)
{
	return pc;
}

bool detour_leave(ucontext_t *uc)
{
	(void)uc;
	return false;
}
